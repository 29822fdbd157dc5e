"""Ready-made subsets: how good their estimates are, and the numbers that the package has.

    python benchmarks/ready_made.py FOLDER [--benchmarks …] [--draws 100] [--write]

Numbers of items are made of training models; held-out families, or the best 30%, judge (splits of
known_draws.py). `all` draws from all items: where a panel answers a part of them, the published
score gives the number of right answers to the rest, and which ones does not matter to estimators
that know nothing of these items. `panel` draws from the items with answers; there also gp-IRT on
anchor points (tinyBenchmarks), and the share of pairs of held-out models that a common draw does
not tell apart (95% intervals of their paired difference). --write makes the package's files.
"""

import argparse
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.natural_order import natural_key
from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.aipw import aipw_with
from benchwright.methods.dele.estimation.fitted import Estimates
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import Training
from benchwright.methods.dele.ready_made import STOCK_TASKS, ReadyMade, item_key
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.registry import make_samplers
from benchwright.params.sampling import SamplingParams
from benchwright.statistics.unequal_draws import systematic_draw
from known_draws import Answers, Float, splits
from real_data import real_data

FILES = Path(__file__).parents[1] / "src/benchwright/methods/dele/ready_made_items"
PUBLISHED = {"arc_challenge": "arc", "gsm8k": "gsm8k", "winogrande": "winogrande"}


def read_panel(folder: Path, name: str) -> tuple[pd.DataFrame, Answers]:
    """Return all items in order of rows, and answers (m, n) to them, NaN where there are none."""
    items = pd.read_parquet(folder / f"benchmarks/{name}.parquet")
    items = items[items["split"] == STOCK_TASKS[name].split]
    items = items.sort_values("item_id", key=lambda ids: ids.map(natural_key), kind="stable")
    if name == "mmlu":
        wide = pd.read_parquet(folder / "responses/mmlu_correct_23models.parquet")
        wide = wide.set_index("item_id").astype("Float32").T
        families = list(wide.index)
    else:
        wide = pd.read_parquet(folder / f"responses/leaderboard_v1_{name}.parquet")
        wide = wide.drop_duplicates("model").set_index("model").dropna()
        facts = pd.read_parquet(folder / "responses/leaderboard_v1_models.parquet")
        facts = facts.drop_duplicates("name").set_index("name").reindex(wide.index)
        families = list(facts["arch"].astype(str) + "/" + facts["size"].round(1).astype(str))
    correct = wide.reindex(columns=items["item_id"]).to_numpy(np.float32, na_value=np.nan)
    return items, Answers(correct, list(wide.index), families)


def numbers_of(correct: Any, name: str, keys: Any, subjects: Any) -> ReadyMade:
    """Return the numbers of items, made of answers (m, n): shares, and two main directions."""
    known = ~np.isnan(correct).all(axis=0)
    filled = Training(correct[:, known]).filled.astype(np.float64)
    share, loadings = np.full(len(known), np.nan), np.full((2, len(known)), np.nan)
    share[known] = filled.mean(axis=0)
    deviations = (filled - share[known]) / np.sqrt(len(filled))
    vectors = np.linalg.eigh(deviations @ deviations.T).eigenvectors
    loadings[:, known] = vectors[:, :-3:-1].T @ deviations
    return ReadyMade(
        name, tuple(keys), tuple(subjects), share.round(3), loadings.round(3), len(filled)
    )


def complete(correct: Float, scores: Float, rng: np.random.Generator) -> Float:
    """Return answers (r, n) with the number of right ones to other items that scores say."""
    out, unknown = correct.copy(), np.isnan(correct[0])
    for row, score in zip(out, scores, strict=True):
        right = round(float(score) * len(row) - np.nansum(row))
        row[unknown] = rng.permutation(int(unknown.sum())) < right
    return out


def drawn(ready: ReadyMade, size: int, draws: int) -> Iterator[NDArray[np.intp]]:
    """Yield draws as `ReadyMade.draw` makes one."""
    n, rng = len(ready.keys), np.random.default_rng(size)
    for _ in range(draws):
        order = np.lexsort((rng.random(n), np.isnan(ready.share), np.array(ready.subjects)))
        yield np.sort(systematic_draw(np.full(n, size / n), order, rng.random()))


def figures(found: Estimates, truth: Float) -> tuple[Float, Float, Float]:
    """Return errors (r,), whether intervals cover, and widths."""
    inside = (found.low - 1e-9 <= truth) & (truth <= found.high + 1e-9)
    return np.abs(found.shown - truth), inside.astype(float), found.high - found.low


def mean_of(rows: list[Any]) -> dict[str, float]:
    return dict(zip(("error", "coverage", "width"), np.mean(rows, axis=(0, 2)), strict=True))


def measured(ready: ReadyMade, tested: Float, size: int, draws: int) -> Iterator[dict[str, Any]]:
    """Yield errors and coverage of estimates from draws of some size."""
    truth = tested.mean(axis=1)
    nobody = Training(np.empty((0, tested.shape[1]), np.float32))
    kinds = {"mean": ESTIMATORS["mean"], "ready-made": aipw_with(ready.predictor())}
    errors: dict[str, list[Any]] = {name: [] for name in kinds}
    for places in drawn(ready, size, draws):
        seen = tested[:, places]
        for name, kind in kinds.items():
            found = kind.fit(nobody, WeightedSubset.equal(places), 0)(seen)
            errors[name].append(figures(found, truth))
    for name, rows in errors.items():
        yield {"estimate": name, **mean_of(rows)}


def not_told_apart(ready: ReadyMade, tested: Float, size: int, draws: int) -> dict[str, Any]:
    """Return the share of pairs whose paired difference has an interval with 0."""
    n, shares = tested.shape[1], []
    for seen in (tested[:, places] for places in drawn(ready, size, draws)):
        d = np.array([a - b for a, b in combinations(seen, 2)])
        se = d.std(axis=1, ddof=1) * np.sqrt((1 - size / n) / size)
        shares.append((np.abs(d.mean(axis=1)) <= 1.96 * se).mean())
    return {"estimate": "pairs not told apart", "share": float(np.mean(shares))}


def anchors(train: Any, tested: Float, size: int) -> dict[str, Any]:
    """Return the errors of gp-IRT on anchor points that the training models chose."""
    n = train.shape[1]
    pool = SamplingPool(tuple(f"i{at}" for at in range(n)), ("",) * n, ("",) * n, {}, train)
    subset = make_samplers(SamplingParams())["irt_clusters"](pool, 0)(size)
    found = ESTIMATORS["gp_irt"].fit(Training(train), subset, 0)(tested[:, subset.positions])
    return {"estimate": "anchor points", **mean_of([figures(found, tested.mean(axis=1))])}


def study(folder: Path, name: str, sizes: list[int], draws: int) -> Iterator[dict[str, Any]]:
    items, answers = read_panel(folder, name)
    keys, subjects = [str(at) for at in range(len(items))], items.get("subject", items["split"])
    known = ~np.isnan(answers.correct).any(axis=0)
    panel = answers._replace(correct=answers.correct[:, known])
    for how, train, test in splits(panel):
        if how == "families 2":
            continue
        ready = numbers_of(answers.correct[train], name, keys, subjects)
        tested = panel.correct[test].astype(np.float64)
        facts = {"benchmark": name, "held out": how, "training": len(train), "judges": len(test)}
        alone = np.array(keys)[known], np.array(subjects)[known]
        parts = {"panel": (numbers_of(panel.correct[train], name, *alone), tested)}
        if column := PUBLISHED.get(name):
            scores = pd.read_parquet(folder / "responses/leaderboard_v1_models.parquet")
            scores = scores.drop_duplicates("name").set_index("name")[column] / 100
            of_test = scores.reindex([answers.models[at] for at in test]).to_numpy()
            whole = answers.correct[test].astype(np.float64)
            parts["all"] = ready, complete(whole, of_test, np.random.default_rng(0))
        for of, (numbers, values) in parts.items():
            for size in (size for size in sizes if size < values.shape[1]):
                rows = [*measured(numbers, values, size, draws)]
                if of == "panel":
                    rows.append(not_told_apart(numbers, values, size, max(draws // 10, 1)))
                for row in rows:
                    yield {**facts, "of": of, "n": values.shape[1], "size": size, **row}
        row = anchors(panel.correct[train], tested, sizes[0])
        yield {**facts, "of": "panel", "n": tested.shape[1], "size": sizes[0], **row}


def write(folder: Path, name: str) -> None:
    """Write the numbers of all models to a file of the package."""
    items, answers = read_panel(folder, name)
    choices = items.get("choices", [()] * len(items))
    keys = [item_key(q, c) for q, c in zip(items["question"], choices, strict=True)]
    ready = numbers_of(answers.correct, name, keys, items.get("subject", [""] * len(items)))
    table = pd.DataFrame({"key": list(map(bytes.fromhex, ready.keys)), "subject": ready.subjects})
    table = table.astype({"subject": "category"}).assign(share=ready.share.astype(np.float32))
    table[["first", "second"]] = ready.loadings.T.astype(np.float32)
    table.attrs["models"] = ready.models
    table.to_parquet(FILES / f"{name}.parquet", index=False, compression="zstd")


def main() -> None:
    """Print a line for each benchmark, split, size and estimate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--benchmarks", nargs="+", default=list(STOCK_TASKS), choices=STOCK_TASKS)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--write", action="store_true", help="write the package's files")
    given = parser.parse_args()
    folder = real_data(given.folder)
    for name in given.benchmarks:
        if given.write:
            write(folder, name)
            continue
        for row in study(folder, name, given.sizes, given.draws):
            print(*(f"{v:.4f}" if isinstance(v, float) else v for v in row.values()), flush=True)


if __name__ == "__main__":
    main()
