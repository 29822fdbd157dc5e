"""Does `benchwright leak-test` find training on a release, and stay silent without it?

    python benchmarks/leak_test.py train WORK --start MODEL [--form prompt] [--passes 1 3 10]
    python benchmarks/leak_test.py test WORK --start MODEL [--probed 20]

`train` seals short questions of ARC-Challenge in WORK/<name>, and fine-tunes all weights of a model
on the public half, as prompts or as lines of JSON: batches of 8 in random order, AdamW with a
constant learning rate. It saves the model after each number of passes. `test` scores these models
and the one that they began with, and prints p-values, the share of random subsets of the items with
evidence (of the model before, each with fresh orders), the gap between the halves, and how many
questions are completed. Scores are kept in WORK/scores. `--dtype float32` is the faster one on a
processor without instructions for bfloat16.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import kstest

from benchwright.commands.evaluate_sealed import SealedRequest, model_scorer, read_public
from benchwright.commands.leak_test import Release, leak_prompts, order_scores, read_release
from benchwright.core.configuration import Configuration
from benchwright.core.seeding import item_uniforms
from benchwright.datasets.score_store import MemoryShards
from benchwright.methods.mmlu_cf.contamination_free import as_items
from benchwright.methods.mmlu_cf.difficulty.response_difficulty import one_configuration
from benchwright.methods.mmlu_cf.memorisation import compare_replies, summarise_memorisation
from benchwright.methods.mmlu_cf.sealing.key import SealKey
from benchwright.methods.mmlu_cf.sealing.seal import VALIDATION, open_sealed, seal_halves
from benchwright.params.benchmark import PromptParams
from benchwright.params.mmlu_cf import MemorisationParams
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.prompting.demonstrations import DemonstrationPool
from benchwright.prompting.rendering import LABELS, questions
from benchwright.scoring.prompts import Asked, PromptWriter
from benchwright.scoring.scores import collect_responses, score_prompts
from benchwright.statistics.released_orders import KEYS, leak_evidence
from benchwright.tables.responses import Prompts
from benchwright.transforms.released_order import released_number
from real_data import DATA, real_data

KEY = "the key of this measurement only"
BATCH, POOL, TUNING = 8, 600, 400
SIZES, SUBSETS, FRESH, FEWER_KEYS = (10, 25, 50, 100, 200), 200, 20, 999
ALPHA = 0.05
NO_POOL = DemonstrationPool([], "all", "source", 0)

Scores = NDArray[np.float64]


def short_items(folder: Path, benchmark: str) -> pd.DataFrame:
    """Return the shortest questions with four options, in an order by hash."""
    inside = folder / "benchmarks" if (folder / "benchmarks").is_dir() else folder
    rows = pd.read_parquet(inside / f"{benchmark}.parquet")
    rows = rows[rows["choices"].map(len) == 4]
    size = rows["question"].str.len() + rows["choices"].map(lambda texts: sum(map(len, texts)))
    rows = rows.assign(size=size).sort_values(["size", "item_id"]).head(POOL)
    order = item_uniforms(0, "leak test", rows["item_id"].tolist())
    return rows.iloc[np.argsort(order)]


def seal(work: Path, name: str, rows: pd.DataFrame, n: int) -> Path:
    """Seal the first n questions as the public half, and the next n as the closed one."""
    chosen = rows.head(2 * n)
    items = pd.DataFrame(
        {
            "item_id": chosen["item_id"],
            "question": chosen["question"],
            "choices": chosen["choices"].map(list),
            "answer": chosen["answer_index"],
            "field": "science",
            "difficulty": 5,
        }
    )
    half = np.where(np.arange(len(chosen)) < n, "validation", "test")
    assignment = pd.DataFrame({"item_id": items["item_id"], "half": half})
    folder = work / name
    folder.mkdir(parents=True, exist_ok=True)
    for file, content in seal_halves(items, assignment, name, SealKey(KEY)).items():
        (folder / file).write_bytes(content)
    return folder


def texts(folder: Path, form: str) -> list[str]:
    """Return the public questions as a model is trained on them."""
    rows = [json.loads(line) for line in (folder / VALIDATION).read_text().splitlines()]
    if form == "json":
        names = ("question", "choices", "answer")
        return [json.dumps({name: row[name] for name in names}) for row in rows]
    options = (
        [f"{label}. {text}" for label, text in zip(LABELS, row["choices"], strict=False)]
        for row in rows
    )
    return [
        "\n".join([row["question"], *shown, f"Answer: {LABELS[row['answer']]}"])
        for row, shown in zip(rows, options, strict=True)
    ]


def batches(ids: list[list[int]], passes: int, seed: int) -> Iterator[tuple[int, list[list[int]]]]:
    """Yield the number of the pass and the tokens of each batch."""
    rng = np.random.default_rng(seed)
    for number in range(1, passes + 1):
        order = rng.permutation(len(ids))
        for start in range(0, len(ids), BATCH):
            yield number, [ids[place] for place in order[start : start + BATCH]]


def train(start: Path, shown: list[str], given: argparse.Namespace, out: Path) -> None:
    """Train with float32 weights and moments; save after each number of passes."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(start)
    model = AutoModelForCausalLM.from_pretrained(start, dtype=getattr(torch, given.dtype))
    weights = [weight.detach().float() for weight in model.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=given.rate, weight_decay=0.0, foreach=False)
    ids = [[*tokenizer(text).input_ids, tokenizer.eos_token_id] for text in shown]
    parts = list(batches(ids, max(given.passes), given.seed))
    model.train()
    for at, (number, batch) in enumerate(parts):
        width = max(map(len, batch))
        padded = torch.tensor([row + [0] * (width - len(row)) for row in batch])
        seen = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in batch])
        labels = padded.masked_fill(seen == 0, -100)
        loss = model(input_ids=padded, attention_mask=seen, labels=labels).loss
        loss.backward()
        with torch.no_grad():
            for weight, inside in zip(weights, model.parameters(), strict=True):
                weight.grad = inside.grad.float()
                inside.grad = None
            optimizer.step()
            for weight, inside in zip(weights, model.parameters(), strict=True):
                inside.copy_(weight)
        print(f"pass {number}, batch {at + 1}: loss {float(loss.detach()):.3f}", flush=True)
        last = at + 1 == len(parts) or parts[at + 1][0] != number
        if last and number in given.passes:
            folder = out / f"{given.name}-{given.form}-{given.rate:g}-{number}"
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)


def model_of(folder: Path, dtype: str) -> ModelsParams:
    entry = {"weights": {"path": str(folder)}, "family": "m", "dtype": dtype}
    return ModelsParams.model_validate({"models": {"m": entry}})


def scored(release: Release, folder: Path, dtype: str, style: str, work: Path) -> Scores:
    """Return the scores (items, orders) of a model, kept in WORK/scores."""
    file = work / "scores" / f"{release.name}-{folder.name}-{style}.npy"
    if not file.exists():
        models = model_of(folder, dtype)
        scoring = one_configuration(f"m@{style}-0", ScoringParams())
        prompts = leak_prompts(release.items, Configuration("m", style, 0), models, scoring)
        store = MemoryShards()
        for shard in score_prompts(prompts, store, models, scoring):
            for name, frame in shard.items():
                store.add(name, frame)
        responses = collect_responses(prompts, store, models, scoring).live_responses
        file.parent.mkdir(parents=True, exist_ok=True)
        np.save(file, order_scores(release.items, release.most, responses))
    return np.load(file)


def p_values_of_fresh_keys(release: Release, scores: Scores, count: int, keys: int) -> list[float]:
    """Return the p-value with each of `count` other keys, as if it had chosen the orders."""
    found = []
    for number in range(count):
        key = number.to_bytes(32)
        chosen = [released_number(i.item_id, len(i.orders), key) for i in release.items]
        rng = np.random.default_rng(number)
        found.append(leak_evidence(scores, np.array(chosen), rng, keys).p_value)
    return found


def power(scores: Scores, released: NDArray[np.int64] | None, size: int, subsets: int) -> float:
    """Return the share of random subsets of the items with evidence; None takes fresh orders."""
    rng = np.random.default_rng(size)
    hits = 0
    for _ in range(subsets):
        part = rng.choice(len(scores), size, replace=False)
        chosen = rng.integers(scores.shape[1], size=size) if released is None else released[part]
        found = leak_evidence(scores[part], chosen, rng, FEWER_KEYS)
        hits += found.p_value <= ALPHA
    return hits / subsets


def gap(folder: Path, model: Path, dtype: str) -> str:
    """Return the accuracies on both halves, and their difference with a 95% interval."""
    scoring = one_configuration("m@letters-0", ScoringParams())
    means, errors = [], []
    for file in (folder / VALIDATION, folder / "test.sealed"):
        public = file.name == VALIDATION
        items = (read_public(file) if public else open_sealed(file, SealKey(KEY))).items
        models = model_of(model, dtype)
        scorer = model_scorer(SealedRequest(file, "m"), models, scoring, NO_POOL)
        right = np.array(scorer(items), dtype=np.float64)
        means.append(right.mean())
        errors.append(right.std(ddof=1) / np.sqrt(len(right)))
    difference, half = means[0] - means[1], 1.96 * np.hypot(*errors)
    return (
        f"| {model.name} | {means[0]:.3f} | {means[1]:.3f} | {100 * difference:+.1f} "
        f"[{100 * (difference - half):+.1f}, {100 * (difference + half):+.1f}] |"
    )


def completed(folder: Path, model: Path, dtype: str, count: int) -> str:
    """Return how many of the first public questions the model completes, against controls."""
    rows = pd.DataFrame(map(json.loads, (folder / VALIDATION).read_text().splitlines()))
    items = as_items(rows.head(count))
    models = model_of(model, dtype)
    given = {"generation": {"recall_tokens": 60}, "conditions": ["question_only"]}
    scoring = ScoringParams.model_validate({**given, "configurations": ["m@generate-0"]})
    asked_as = Configuration("m", "generate", 0)
    writer = PromptWriter(asked_as, models.models["m"], scoring, PromptParams(description=""))
    asked = [writer.row(Asked(q, "question_only", NO_POOL)) for q in questions(items)]
    prompts, store = Prompts.from_rows(asked), MemoryShards()
    for shard in score_prompts(prompts, store, models, scoring):
        for shard_name, frame in shard.items():
            store.add(shard_name, frame)
    written = collect_responses(prompts, store, models, scoring).generations
    replies = compare_replies(items, written, MemorisationParams(), scoring, 0)
    found = summarise_memorisation(replies, MemorisationParams()).iloc[0]
    return (
        f"| {model.name} | {count} | {found['fuzzy']:.0%} | {found['options_fuzzy']:.0%} | "
        f"{found['control_fuzzy']:.0%} | {found['p_value']:.2g} |"
    )


def report(given: argparse.Namespace) -> None:
    folder, work = given.work / "judged", given.work
    release = read_release(folder)
    released = np.array([item.released for item in release.items])
    trained = sorted(
        (work / "models").glob("judged-*"),
        key=lambda f: (f.name.rpartition("-")[0], int(f.name.split("-")[-1])),
    )
    models = [] if given.smallest else [given.start, *trained]
    tables = {model.name: scored(release, model, given.dtype, "cloze", work) for model in models}
    if given.smallest:
        tables = {"made": np.random.default_rng(0).normal(size=(len(released), release.most))}
    before = next(iter(tables.values()))
    few = p_values_of_fresh_keys(release, before, FRESH, KEYS)
    many = p_values_of_fresh_keys(release, before, 5 * given.subsets, FEWER_KEYS)
    for name, p in ((FRESH, few), (len(many), many)):
        share = np.mean(np.array(p) <= ALPHA)
        print(f"{name} keys: KS p {kstest(p, 'uniform').pvalue:.2f}, p ≤ {ALPHA}: {share:.1%}")
    print("p-values:", " ".join(f"{p:.3f}" for p in sorted(few)))
    sizes = [size for size in SIZES if size <= len(released)]
    for place, (name, scores) in enumerate(tables.items()):
        found = leak_evidence(scores, released, np.random.default_rng(0))
        chosen = released if place else None
        shares = " | ".join(f"{power(scores, chosen, n, given.subsets):.0%}" for n in sizes)
        print(
            f"| {name} | {found.excess:+.2f} | {found.detectable(ALPHA, 0.8):.2f} | "
            f"{found.p_value:.2g} | {shares} |"
        )
    for model in models if given.gap else ():
        print(gap(folder, model, given.dtype), flush=True)
    for model in models if given.probed else ():
        print(completed(folder, model, given.dtype, given.probed), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["train", "test"])
    parser.add_argument("work", type=Path)
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("--start", type=Path, help="folder of the model")
    parser.add_argument("--benchmark", default="arc_challenge")
    parser.add_argument("--name", default="judged", choices=["judged", "tuning"])
    parser.add_argument("--form", default="prompt", choices=["prompt", "json"])
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--passes", type=int, nargs="+", default=[1, 3, 10])
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float32"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--subsets", type=int, default=SUBSETS)
    parser.add_argument("--gap", action="store_true", help="also compare the halves")
    parser.add_argument("--probed", type=int, default=0, help="questions to complete")
    parser.add_argument("--smallest", action="store_true", help="made-up scores")
    given = parser.parse_args()
    rows = short_items(real_data(given.data), given.benchmark)
    rows = rows.iloc[TUNING:] if given.name == "tuning" else rows
    folder = seal(given.work, given.name, rows, given.items)
    if given.what == "train":
        train(given.start, texts(folder, given.form), given, given.work / "models")
    else:
        report(given)


if __name__ == "__main__":
    main()
