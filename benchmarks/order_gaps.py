"""How far apart two models must be for a random subset to order them as all items do.

    python benchmarks/order_gaps.py [FOLDER with responses/] [--benchmarks …] [--subsets 200]

A row per benchmark and budget: the least gap at which 80% of the pairs of models and subsets are in
the right order (MDAD, in points) with its middle 95% over families of models, the same by the
formula, and the same where the order and the gap are those on the items outside the subset; the
share in the right order for gaps of 1, 3 and 5 points by replay and by formula. Of more than 800
models, 800 random ones.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.statistics.order_curve import order_curve, right_order
from benchwright.statistics.paired_differences import paired_se
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.statistics.subset_scores import subset_scores
from estimation_errors import Answers
from estimation_errors import read as read_answers
from real_data import DATA, real_data

BENCHMARKS = ("arc_challenge_803", "mmlu_23", "mmlu", "gsm8k", "winogrande", "medqa")
BUDGETS = (0.025, 0.05, 0.1)
GAPS = (0.01, 0.03, 0.05)
MOST_MODELS, OUTSIDE = 800, 60


def read(folder: Path, name: str) -> Answers:
    inside = folder / "responses" if (folder / "responses").is_dir() else folder
    if name != "medqa":
        return read_answers(inside, name)
    letters = pd.read_parquet(folder / "responses_2" / "medqa_letters_23models.parquet")
    items = pd.read_parquet(folder / "responses_2" / "medqa_items.parquet").set_index("item_id")
    letters = letters.set_index("item_id")
    key = next(name for name in ("answer", "gold", "key") if name in items)
    right = letters.eq(items[key].reindex(letters.index), axis=0)
    return Answers(right.T.to_numpy(np.float32), list(letters), list(letters))


def rows_of(name: str, answers: Answers, subsets: int, resamples: int) -> list[str]:
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.permutation(len(answers.correct))[:MOST_MODELS])
    correct, families = answers.correct[chosen], np.array(answers.families)[chosen]
    m, n = correct.shape
    whole = subset_scores(correct, np.ones((1, n)))[0]
    first, second = np.triu_indices(m, 1)
    variance = paired_se(correct, np.arange(n))[first, second].astype(np.float64) ** 2 * n
    gaps = np.abs(whole[first] - whole[second])
    rows = []
    for budget in BUDGETS:
        size = max(1, round(budget * n))
        masks = draw_subsets(n, size, subsets, rng)
        parts = subset_scores(correct, masks)
        found = order_curve(whole, parts, families, resamples, rng)
        outside = order_curve(subset_scores(correct, ~masks[:OUTSIDE]), parts[:OUTSIDE])
        errors = np.sqrt(variance * (1 / size - 1 / n))

        def formula(gap: float, errors: NDArray[np.float64] = errors) -> float:
            near = np.argsort(np.abs(gaps - gap), kind="stable")[: max(30, len(gaps) // 10)]
            return float(right_order(gap, errors[near]).mean())

        grid = np.arange(0.001, 1, 0.001 if m < 100 else 0.002)
        least = next((gap for gap in grid if formula(gap) >= 0.8), np.inf)
        shares = " | ".join(
            f"{found.at(gap):.0%}, {formula(gap):.0%}" if gap <= gaps.max() else "–" for gap in GAPS
        )
        rows.append(
            f"| {name} ({n:,} × {m:,}) | {budget:.1%} | {size:,} | {100 * found.least:.1f} "
            f"[{100 * found.least_low:.1f}, {100 * found.least_high:.1f}] | "
            f"{100 * least:.1f} | {100 * outside.least:.1f} | {shares} |"
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=DATA)
    names = (*BENCHMARKS, "arc_challenge")
    parser.add_argument("--benchmarks", nargs="*", default=BENCHMARKS, choices=names)
    parser.add_argument("--subsets", type=int, default=200)
    parser.add_argument("--resamples", type=int, default=200)
    given = parser.parse_args()
    folder = real_data(given.folder)
    head = ("budget", "items", "least gap", "formula", "outside", "1 point", "3 points", "5 points")
    print(f"| benchmark (items × models) | {' | '.join(head)} |")
    print("|---" * (1 + len(head)) + "|")
    for name in given.benchmarks:
        for row in rows_of(name, read(folder, name), given.subsets, given.resamples):
            print(row, flush=True)


if __name__ == "__main__":
    main()
