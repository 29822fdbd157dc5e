"""What a plan promises, beside what models that it has not seen show.

    python benchmarks/plan_promises.py <folder with responses/> [--halves 20] [--subsets 400]

The plan is made from a random half of the models. Of the other half, random subsets of the planned
size: the root mean squared error of a model's score (median over models) beside the promised
standard error; the share of true differences found, where a shift of the planned size is what a
paired z-test looks for; the median tau-b beside the wanted one.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.methods.dele.planning.plan import Responses, Wanted, make_plan
from benchwright.statistics.preservation import preservation
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.statistics.subset_scores import subset_scores
from real_data import real_data

BENCHMARKS = ("arc_challenge", "arc_challenge_803", "mmlu_23")
WANTED = {"arc_challenge": (0.03, 0.85), "arc_challenge_803": (0.03, 0.85), "mmlu_23": (0.02, 0.9)}
MOST_MODELS = 400


def read(folder: Path, name: str) -> NDArray[np.float32]:
    if name == "mmlu_23":
        wide = pd.read_parquet(folder / "mmlu_correct_23models.parquet").set_index("item_id")
        correct = wide.astype("Float32").T.to_numpy(np.float32, na_value=np.nan)
        return correct[:, ~np.isnan(correct).any(axis=0)]
    wide = pd.read_parquet(folder / f"leaderboard_v1_{name.removesuffix('_803')}.parquet")
    correct = wide.drop_duplicates("model").set_index("model").to_numpy(np.float32, na_value=np.nan)
    if not name.endswith("_803"):
        gaps, counts = np.unique(np.isnan(correct), axis=0, return_counts=True)
        correct = correct[:, ~gaps[counts.argmax()]]
    return correct[~np.isnan(correct).any(axis=1)]


def one_half(
    correct: NDArray[np.float32], error: float, tau: float, number: int, subsets: int
) -> dict[str, float]:
    rng = np.random.default_rng(number)
    order = rng.permutation(len(correct))[:MOST_MODELS]
    seen, unseen = correct[order[::2]], correct[order[1::2]]
    n = correct.shape[1]
    answers = Responses(seen, np.arange(n))
    wanted = Wanted((error,), (), (tau,), (), subsets=200, seed=number)
    rows = {(row.goal, row.whose, row.target): row for row in make_plan(answers, wanted).rows}
    out: dict[str, float] = {}
    truth = unseen.mean(axis=1, dtype=np.float64)
    for whose, of in (("median model", np.median), ("worst model", np.max)):
        size = rows["standard_error", whose, "benchmark"].items or n
        masks = draw_subsets(n, size, subsets, rng)
        missed = subset_scores(unseen, masks) - truth
        out[f"se {whose}: items"] = size
        out[f"se {whose}: observed"] = of(np.sqrt((missed**2).mean(axis=0)))
    for whose, share in (("half of subsets", 0.5), ("95% of subsets", 0.05)):
        size = rows["tau_b", whose, "benchmark"].items or n
        taus = preservation(unseen, draw_subsets(n, size, subsets, rng).astype(np.float64)).tau_b
        out[f"tau {whose}: items"] = size
        out[f"tau {whose}: observed"] = float(np.quantile(taus, share))
        out[f"tau {whose}: share that reach it"] = float(np.mean(taus >= tau))
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--benchmarks", nargs="*", default=BENCHMARKS, choices=BENCHMARKS)
    parser.add_argument("--halves", type=int, default=20)
    parser.add_argument("--subsets", type=int, default=400)
    given = parser.parse_args()
    folder = real_data(given.folder)
    folder = folder / "responses" if (folder / "responses").is_dir() else folder
    for name in given.benchmarks:
        correct = read(folder, name)
        error, tau = WANTED[name]
        results = pd.DataFrame(
            [one_half(correct, error, tau, i, given.subsets) for i in range(given.halves)]
        )
        print(f"\n{name}: {correct.shape[0]:,} models × {correct.shape[1]:,} items", flush=True)
        print(f"  promised: standard error {error}, tau-b {tau}")
        for column in results:
            values = results[column]
            print(
                f"  {column:42} mean {values.mean():8.4f}  [{values.min():.4f}, {values.max():.4f}]"
            )


if __name__ == "__main__":
    main()
