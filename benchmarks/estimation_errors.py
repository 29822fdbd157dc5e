"""Errors and coverage of estimated scores on real answers of models that were held out.

    python benchmarks/estimation_errors.py <folder with responses/> [--benchmarks …] [--subsets 5]

Of each benchmark the items that most models answered, and the models that answered all of them.
100 items, a quarter where there are fewer than 400. Held-out models are whole families
(architecture and size), or the best 30% by score. Anchor points are chosen by the training models.
A metric is the mean over held-out models, subsets and splits; coverage is of the 95% interval.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.weighted_subset import WeightedSubset
from benchwright.methods.dele.estimation.fitted import Estimates
from benchwright.methods.dele.estimation.registry import ESTIMATORS
from benchwright.methods.dele.estimation.training import PreparedTraining, Training
from benchwright.methods.dele.evidence.panels import split_by_family, split_forward
from benchwright.methods.dele.samplers.anchor_points import anchor_points_sampler
from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.params.sampling import AnchorParams, EstimationParams
from benchwright.statistics.rank_agreement import kendall_tau_b_rows
from real_data import real_data

BENCHMARKS = ("arc_challenge", "arc_challenge_803", "gsm8k", "winogrande", "mmlu", "mmlu_23")
OWN = ", own"  # the model's own interval in place of the calibrated one
CHOICES = (*ESTIMATORS, "p_irt" + OWN)
SHARE = 0.7
SPLITS = {"families": 2, "best": 1}


class Answers(NamedTuple):
    """Complete answers (m, n) of models with their names and families."""

    correct: NDArray[np.float32]
    models: list[str]
    families: list[str]


def read(folder: Path, name: str) -> Answers:
    if name == "mmlu_23":
        wide = pd.read_parquet(folder / "mmlu_correct_23models.parquet").set_index("item_id")
        correct = wide.astype("Float32").T.to_numpy(np.float32, na_value=np.nan)
        correct = correct[:, ~np.isnan(correct).any(axis=0)]
        return Answers(correct, list(wide.columns), list(wide.columns))
    wide = pd.read_parquet(folder / f"leaderboard_v1_{name.removesuffix('_803')}.parquet")
    wide = wide.drop_duplicates("model").set_index("model")
    correct = wide.to_numpy(np.float32, na_value=np.nan)
    if not name.endswith("_803"):
        gaps, counts = np.unique(np.isnan(correct), axis=0, return_counts=True)
        correct = correct[:, ~gaps[counts.argmax()]]
    whole = ~np.isnan(correct).any(axis=1)
    models = wide.index[whole]
    facts = pd.read_parquet(folder / "leaderboard_v1_models.parquet").drop_duplicates("name")
    facts = facts.set_index("name").reindex(models)
    sizes = facts["size"].round(1).astype(str)
    families = facts["arch"].astype(str) + "/" + sizes
    return Answers(correct[whole], list(models), list(families))


def splits(answers: Answers, how: str) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    for number in range(SPLITS[how]):
        if how == "families":
            yield split_by_family(answers.models, answers.families, SHARE, number)
        else:
            yield split_forward(answers.models, answers.correct.mean(axis=1), SHARE)


def subsets(
    correct: NDArray[np.float32], size: int, count: int, seed: int
) -> Iterator[tuple[str, WeightedSubset]]:
    n = correct.shape[1]
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield "random", WeightedSubset.equal(rng.permutation(n)[:size])
    ids = tuple(f"{place:06d}" for place in range(n))
    pool = SamplingPool(ids, ("",) * n, ("",) * n, correct=correct)
    start = time.perf_counter()
    anchors = anchor_points_sampler(AnchorParams())(pool, seed)(size)
    print(f"  anchor points of {len(correct)} models: {time.perf_counter() - start:.1f} s")
    yield "anchors", anchors


def measured(estimates: Estimates, truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean absolute error, mean error, coverage, mean width and tau-b of estimates and scores."""
    error = estimates.score - truth
    inside = (estimates.low - 1e-9 <= truth) & (truth <= estimates.high + 1e-9)
    width = (estimates.high - estimates.low).mean()
    tau = kendall_tau_b_rows(truth, estimates.score[None])[0]
    return np.array([np.abs(error).mean(), error.mean(), inside.mean(), width, tau])


def report(name: str, answers: Answers, count: int, chosen: Sequence[str]) -> None:
    n = answers.correct.shape[1]
    size = min(100, n // 4)
    kin = np.unique(answers.families, return_inverse=True)[1]
    estimators = {
        each: ESTIMATORS[each.removesuffix(OWN)].make(
            EstimationParams(interval="model" if each.endswith(OWN) else "calibrated")
        )
        for each in chosen
    }
    print(f"\n{name}: {size} of {n} items, {len(answers.models)} models, {len(set(kin))} families")
    for how in SPLITS:
        print(f"  held out {how}: about {round(SHARE * len(answers.models))} training models")
        results: dict[tuple[str, str], list[NDArray[np.float64]]] = defaultdict(list)
        spent: dict[str, float] = defaultdict(float)
        for number, (train, test) in enumerate(splits(answers, how)):
            families = None if name == "mmlu_23" else kin[train]
            prepared: PreparedTraining = PreparedTraining(
                Training(answers.correct[train], families=families)
            )
            truth = answers.correct[test].mean(axis=1, dtype=np.float64)
            for kind, subset in subsets(answers.correct[train], size, count, number):
                for each, estimator in estimators.items():
                    start = time.perf_counter()
                    fitted = estimator(prepared, subset, 0)
                    estimates = fitted(answers.correct[np.ix_(test, subset.positions)])
                    spent[each] += time.perf_counter() - start
                    results[kind, each].append(measured(estimates, truth))
        for (kind, each), metrics in results.items():
            error, bias, coverage, width, tau = np.mean(metrics, axis=0)
            print(
                f"  {how:9} {kind:8} {each:11} error {error:.4f}  bias {bias:+.4f}  "
                f"coverage {coverage:.3f}  width {width:.3f}  "
                f"tau-b {tau:.3f}",
                flush=True,
            )
        print("  seconds: " + ", ".join(f"{each} {total:.1f}" for each, total in spent.items()))


def main() -> None:
    """Print a line for each benchmark, split, kind of subset and estimator."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--benchmarks", nargs="+", default=BENCHMARKS, choices=BENCHMARKS)
    parser.add_argument("--subsets", type=int, default=5, help="random subsets of each split")
    parser.add_argument("--estimators", nargs="+", default=CHOICES, choices=CHOICES)
    arguments = parser.parse_args()
    for name in arguments.benchmarks:
        answers = read(real_data(arguments.folder) / "responses", name)
        report(name, answers, arguments.subsets, arguments.estimators)


if __name__ == "__main__":
    main()
