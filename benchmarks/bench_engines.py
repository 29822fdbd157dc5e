"""Prompts per second and peak memory of four ways to score the same prompts, one after another.

python benchmarks/bench_engines.py --model smollm2-135m-instruct --items 500

Ways: `one_by_one` (Transformers, one joint text per forward pass), `transformers` and `vllm` (this
project's backends), `vllm_direct` (the same requests given to vLLM by hand), `lm_eval`
(lm-evaluation-harness, `--model hf`, batch size auto). Each runs in a process of its own, whose
memory, with that of its children, is watched; loading and warming up are not timed. Log-likelihoods
are compared with those of one by one. vLLM runs in an environment of its own (`make vllm`).

Items are MMLU's test items from the folder of real benchmarks (BENCHWRIGHT_SHARED_DATA): drawn at
random from all subjects (`--subjects 0`) or from so many whole subjects.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from real_data import real_data

REPOSITORY = Path(__file__).resolve().parents[1]
WAYS = ("one_by_one", "transformers", "lm_eval", "vllm", "vllm_direct")


def mmlu_prompts(items: int, subjects: int, shots: int, style: str, seed: int) -> list[list[Any]]:
    """Prompts as JSON rows: prefix, text, continuations."""
    import pandas as pd

    from benchwright.params.benchmark import PromptParams
    from benchwright.prompting.rendering import (
        Question,
        continuations,
        render_demonstration,
        render_prompt,
    )

    rows = pd.read_parquet(real_data() / "benchmarks/mmlu.parquet")
    if subjects:
        sizes = rows[rows["split"] == "test"].groupby("subject").size().sort_index()
        chosen = np.random.default_rng(seed).permutation(sizes.index[sizes >= items // subjects])
        rows = rows[rows["subject"].isin(chosen[:subjects])]
    test = rows[rows["split"] == "test"]
    if subjects:
        test = test.groupby("subject").head(items // subjects)
    else:
        test = test.iloc[sorted(np.random.default_rng(seed).permutation(len(test))[:items])]

    def questions(table: pd.DataFrame) -> list[Question]:
        columns = ("item_id", "subject", "question", "choices", "answer_index")
        return [
            Question(item, subject, text, tuple(choices), int(gold), item)
            for item, subject, text, choices, gold in zip(
                *(table[name] for name in columns), strict=True
            )
        ]

    words = PromptParams()
    shown: dict[str, list[str]] = {}
    for question in questions(rows[rows["split"] == "dev"]):
        text = render_demonstration(question, style, "question", words, True)
        shown.setdefault(question.subject, []).append(text)
    return [
        [
            *render_prompt(q, shown.get(q.subject, [])[:shots], style, "question", words),
            continuations(q, style, True),
        ]
        for q in questions(test)
    ]


def score_one_by_one(folder: str, prompts: list[Any]) -> Callable[[Sequence[Any]], list[Any]]:
    from benchwright.language_models.hf_transformers import TransformersModel
    from benchwright.language_models.weights import ModelSource

    model = TransformersModel.load(ModelSource(folder), "bfloat16", context=8192)
    model.shares = False
    return lambda asked: [score.logprobs for score in model.score(asked)]


def score_transformers(folder: str, prompts: list[Any]) -> Callable[[Sequence[Any]], list[Any]]:
    from benchwright.language_models.hf_transformers import TransformersModel
    from benchwright.language_models.weights import ModelSource

    model = TransformersModel.load(ModelSource(folder), "bfloat16", context=8192)

    def run(asked: Sequence[Any]) -> list[Any]:
        by_prefix: dict[str, list[int]] = {}
        for i, prompt in enumerate(asked):
            by_prefix.setdefault(prompt.prefix, []).append(i)
        out: list[Any] = [None] * len(asked)
        for members in by_prefix.values():
            for i, score in zip(members, model.score([asked[i] for i in members]), strict=True):
                out[i] = score.logprobs
        return out

    return run


def score_lm_eval(folder: str, prompts: list[Any]) -> Callable[[Sequence[Any]], list[Any]]:
    from lm_eval.api.instance import Instance
    from lm_eval.models.huggingface import HFLM

    # On a processor nothing stops `auto` before memory is gone: it is given a ceiling.
    most = int(os.environ["BENCHWRIGHT_LM_EVAL_BATCH"])
    model = HFLM(
        pretrained=folder,
        dtype="bfloat16",
        batch_size="auto",
        max_batch_size=most,
        max_length=8192,
        device="cpu",
    )

    def run(asked: Sequence[Any]) -> list[Any]:
        requests = [
            Instance("loglikelihood", {}, (prompt.prefix + prompt.text, continuation), n)
            for prompt in asked
            for n, continuation in enumerate(prompt.continuations)
        ]
        values = iter(model.loglikelihood(requests, disable_tqdm=True))
        return [[next(values)[0] for _ in prompt.continuations] for prompt in asked]

    return run


def score_vllm(folder: str, prompts: list[Any]) -> Callable[[Sequence[Any]], list[Any]]:
    from benchwright.language_models.vllm_engine import VllmModel
    from benchwright.language_models.weights import ModelSource
    from benchwright.params.scoring import VllmParams

    model = VllmModel.load(ModelSource(folder), "bfloat16", "cpu", 4096, VllmParams())
    batches = lambda asked: [asked[i : i + 64] for i in range(0, len(asked), 64)]  # noqa: E731

    def run(asked: Sequence[Any]) -> list[Any]:
        by_prefix = sorted(range(len(asked)), key=lambda i: asked[i].prefix)
        scored: Iterable[Any] = (
            score.logprobs
            for batch in model.score_batches(batches([asked[i] for i in by_prefix]), lambda _: None)
            for score in batch
        )
        out: list[Any] = [None] * len(asked)
        for i, values in zip(by_prefix, scored, strict=True):
            out[i] = values
        return out

    return run


def score_vllm_direct(folder: str, prompts: list[Any]) -> Callable[[Sequence[Any]], list[Any]]:
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "4")
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    from vllm import LLM, SamplingParams

    model = LLM(
        folder, dtype="bfloat16", max_model_len=4096, enable_prefix_caching=True, block_size=32
    )
    tokenizer = model.get_tokenizer()

    def run(asked: Sequence[Any]) -> list[Any]:
        labels = [
            [tokenizer(text, add_special_tokens=False).input_ids[-1] for text in p.continuations]
            for p in asked
        ]
        sampling = [SamplingParams(max_tokens=1, logprob_token_ids=ids) for ids in labels]
        texts = [p.prefix + p.text for p in asked]
        done = model.generate(texts, sampling, use_tqdm=False)
        return [
            [output.outputs[0].logprobs[0][token].logprob for token in ids]
            for output, ids in zip(done, labels, strict=True)
        ]

    return run


def worker(way: str, folder: str, file: Path, out: Path) -> None:
    """Score the prompts of a file; write seconds and log-likelihoods."""
    from benchwright.language_models.protocol import PromptText

    rows = json.loads(file.read_text())
    asked = [PromptText(prefix, text, tuple(scored)) for prefix, text, scored in rows]
    run = globals()[f"score_{way}"](folder, asked)
    # A prefix of its own: warming up must not put the others' prefixes into a cache.
    warm = [p._replace(prefix="Warming up." + p.prefix[:300]) for p in asked[:4]]
    run(warm)
    start = time.perf_counter()
    values = run(asked)
    out.write_text(json.dumps({"seconds": time.perf_counter() - start, "logprobs": values}))


def watched(command: list[str]) -> tuple[int, float, str]:
    """Run a command; its exit code, the peak memory of its process tree in GiB, and its words."""
    import psutil

    started = subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=REPOSITORY
    )
    peak, words = 0, []

    def read() -> None:
        words.extend(started.stdout or ())

    reader = threading.Thread(target=read)
    reader.start()
    parent = psutil.Process(started.pid)
    while started.poll() is None:
        try:
            tree = [parent, *parent.children(recursive=True)]
            peak = max(peak, sum(p.memory_info().rss for p in tree))
        except psutil.NoSuchProcess:
            pass
        time.sleep(0.2)
    reader.join()
    return started.returncode, peak / 2**30, "".join(words)


def converted(name: str) -> str:
    """The folder of a packaged model's weights in Transformers' format."""
    import yaml

    from benchwright.language_models.weights import model_source
    from benchwright.params.scoring import ModelsParams

    conf = yaml.safe_load((REPOSITORY / "conf/base/parameters/models.yml").read_text())
    weights = ModelsParams.model_validate(conf["models"]).models[name].weights
    assert weights is not None
    return model_source(weights, "bfloat16").name_or_path


def largest_difference(values: list[Any], plain: list[Any]) -> float:
    return max(
        float(np.abs(np.subtract(values_here, other)).max())
        for values_here, other in zip(values, plain, strict=True)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", nargs=4, metavar=("WAY", "FOLDER", "PROMPTS", "OUT"))
    parser.add_argument("--model", default="smollm2-135m-instruct")
    parser.add_argument("--items", type=int, default=500)
    parser.add_argument("--subjects", type=int, default=0)
    parser.add_argument("--shots", type=int, default=5)
    parser.add_argument("--style", default="letters", choices=["letters", "cloze"])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=WAYS)
    parser.add_argument(
        "--fewer", nargs="*", default=[], help="way=number of prompts, for slow ways"
    )
    parser.add_argument("--lm-eval-batch", default="8", help="ceiling of its batch size auto")
    parser.add_argument("--seed", type=int, default=0)
    vllm = os.environ.get("BENCHWRIGHT_VLLM_PYTHON", str(REPOSITORY / ".venv-vllm/bin/python"))
    given = parser.parse_args()
    if given.worker:
        way, folder, file, out = given.worker
        worker(way, folder, Path(file), Path(out))
        return
    os.environ["BENCHWRIGHT_LM_EVAL_BATCH"] = given.lm_eval_batch
    folder = converted(given.model)
    rows = mmlu_prompts(given.items, given.subjects, given.shots, given.style, given.seed)
    n_prefixes = len({row[0] for row in rows})
    print(f"{given.model}, {len(rows)} prompts with {n_prefixes} prefixes, {given.style}")
    fewer = {way: int(n) for way, n in (word.split("=") for word in given.fewer)}
    # Fewer prompts are still a sample of all of them.
    drawn = np.random.default_rng(given.seed).permutation(len(rows)).tolist()
    plain: dict[int, Any] = {}
    plain_rate = 0.0
    with tempfile.TemporaryDirectory() as temporary:
        for way in given.ways:
            chosen = sorted(drawn[: fewer.get(way, len(rows))])
            file, out = Path(temporary) / "prompts.json", Path(temporary) / f"{way}.json"
            file.write_text(json.dumps([rows[i] for i in chosen]))
            python = vllm if way.startswith("vllm") else sys.executable
            if not Path(python).exists():
                print(f"{way:12} not run: no vLLM at {python} (make vllm)")
                continue
            command = [python, __file__, "--worker", way, folder, str(file), str(out)]
            code, memory, words = watched(command)
            if code:
                print(f"{way:12} failed: {words.strip().splitlines()[-1:]}")
                continue
            measured = json.loads(out.read_text())
            rate = len(chosen) / measured["seconds"]
            values = dict(zip(chosen, measured["logprobs"], strict=True))
            plain = plain or values
            plain_rate = plain_rate or rate
            both = sorted(set(plain) & set(values))
            apart = largest_difference([values[i] for i in both], [plain[i] for i in both])
            print(
                f"{way:12} {len(chosen):4} prompts {rate:7.2f}/s  {rate / plain_rate:5.2f}×  "
                f"peak {memory:5.2f} GiB  largest difference {apart:.3f} over {len(both)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
