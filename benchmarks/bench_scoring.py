"""How much faster shared, packed, batched scoring is than one text at a time, in one process.

python benchmarks/bench_scoring.py --model smollm2-135m-instruct --shots 5

Reads ARC from the folder of real benchmarks (BENCHWRIGHT_SHARED_DATA), else questions made up here;
ratios mean more than rates, which depend on what else the machine does.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from benchwright.language_models.hf_transformers import TransformersModel
from benchwright.language_models.loading import load_model
from benchwright.language_models.protocol import PromptText
from benchwright.params.benchmark import PromptParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.scoring.rendering import (
    Question,
    continuations,
    render_demonstration,
    render_prompt,
)
from real_data import DATA

REPOSITORY = Path(__file__).resolve().parents[1]


def questions(count: int) -> tuple[list[Question], list[Question]]:
    """Demonstrations and items."""
    file = DATA / "benchmarks/arc.parquet"
    if file.exists():
        rows = pd.read_parquet(file).query("subset == 'ARC-Easy'")
        made = [
            Question(item_id, "science", text, tuple(choices), int(answer), item_id)
            for item_id, text, choices, answer in zip(
                rows["item_id"],
                rows["question"],
                rows["choices"],
                rows["answer_index"],
                strict=True,
            )
        ]
        train = rows["split"].eq("train").tolist()
        shown = [q for q, used in zip(made, train, strict=True) if used][:10]
        return shown, [q for q, used in zip(made, train, strict=True) if not used][:count]
    made = [
        Question(
            str(i),
            "numbers",
            f"Which number is {i} plus {i % 7}, if one counts from zero?",
            tuple(str(i + i % 7 + d) for d in (0, 1, 5, 9)),
            0,
            str(i),
        )
        for i in range(count + 10)
    ]
    return made[:10], made[10:]


def prompts(style: str, shots: int, count: int) -> tuple[list[PromptText], list[int]]:
    """Prompts and their gold."""
    shown, items = questions(count)
    words = PromptParams()
    texts = [render_demonstration(q, style, "question", words, True) for q in shown[:shots]]
    made = []
    for item in items:
        rendered = render_prompt(item, texts, style, "question", words)
        made.append(PromptText(*rendered, continuations(item, style, True)))
    return made, [item.answer for item in items]


def timed(model: TransformersModel, asked: list[PromptText]) -> tuple[float, np.ndarray]:
    """Prompts per second, and the log-likelihoods (padded with NaN)."""
    start = time.perf_counter()
    scores = model.score(asked)
    rate = len(asked) / (time.perf_counter() - start)
    width = max(len(prompt.continuations) for prompt in asked)
    table = np.full((len(asked), width), np.nan)
    for row, score in zip(table, scores, strict=True):
        row[: len(score.logprobs or ())] = score.logprobs
    return rate, table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="smollm2-135m-instruct")
    parser.add_argument("--shots", type=int, nargs="+", default=[0, 5])
    parser.add_argument("--prompts", type=int, default=128)
    parser.add_argument("--plain", type=int, default=16, help="prompts scored one by one")
    parser.add_argument("--batch-tokens", type=int, nargs="+", default=[2048])
    parser.add_argument("--dtype", default="auto")
    parser.add_argument("--styles", nargs="+", default=["letters", "cloze"])
    given = parser.parse_args()
    conf = yaml.safe_load((REPOSITORY / "conf/base/parameters/models.yml").read_text())
    params = ModelsParams.model_validate(conf["models"]).models[given.model]
    model = load_model(given.model, params, ScoringParams(dtype=given.dtype))
    assert isinstance(model, TransformersModel)
    print(f"{given.model} {model.model.dtype} shares={model.shares}")
    for style in given.styles:
        for shots in given.shots:
            asked, gold = prompts(style, shots, given.prompts)
            timed(model, asked[:4])  # warm up
            model.shares = False
            plain_rate, plain = timed(model, asked[: given.plain])
            model.shares = True
            for batch_tokens in given.batch_tokens:
                model.batch_tokens = batch_tokens
                rate, table = timed(model, asked)
                accuracy = np.mean(np.nanargmax(table, axis=1) == gold)
                apart = np.nanmax(np.abs(table[: given.plain, : plain.shape[1]] - plain))
                print(
                    f"{style:7} {shots}-shot batch {batch_tokens:5}: shared {rate:6.1f}/s, "
                    f"one by one {plain_rate:5.2f}/s, ratio {rate / plain_rate:5.1f}, "
                    f"accuracy {accuracy:.3f}, largest difference {apart:.2g}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
