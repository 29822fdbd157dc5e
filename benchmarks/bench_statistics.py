"""Time and memory of the random-subset random_comparison: `python benchmarks/bench_statistics.py`.

Draws 1,000 subsets of half of 803 items, answered by 5,000 simulated models, and compares each
subset with all items. Each contender runs in a process of its own. SciPy takes the subsets one by
one and is timed on some of them; its time is extrapolated in proportion to the subsets.
"""

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SUBSETS, MODELS, ITEMS, SIZE = 1_000, 5_000, 803, 402
MIB = 1 << 20


class Cost(NamedTuple):
    """Seconds of one run, and memory in MiB beyond that of the loaded libraries and the input."""

    seconds: float
    mebibytes: float
    result: NDArray[np.float64]


class Contender(NamedTuple):
    """A function below, how many subsets it gets, and what it computes."""

    name: str
    subsets: int
    what: str


CONTENDERS = (
    Contender("our_tau_b", SUBSETS, "scores and tau-b"),
    Contender("scipy_tau_b", 40, "scores and tau-b, a loop over kendalltau"),
    Contender("our_metrics", SUBSETS, "all eight metrics, two of them tau-b"),
    Contender("our_intervals", SUBSETS, "bootstrap of four metrics over items and over models"),
)


def answers(models: int) -> NDArray[np.float32]:
    rng = np.random.default_rng(0)
    ability, difficulty = rng.normal(size=(models, 1)), rng.normal(size=ITEMS)
    chance = 1 / (1 + np.exp(difficulty - ability))
    return (rng.random((models, ITEMS)) < chance).astype(np.float32)


def masks(subsets: int, drawn: int = SUBSETS) -> NDArray[np.bool_]:
    from benchwright.statistics.random_subsets import draw_subsets

    return draw_subsets(ITEMS, SIZE, drawn, np.random.default_rng(1))[:subsets]


def scores(correct: NDArray[np.float32], drawn: NDArray[np.bool_]) -> NDArray[np.float64]:
    """What a reader would write: exact means, one subset at a time."""
    return np.stack([correct[:, mask].mean(axis=1, dtype=np.float64) for mask in drawn])


def our_tau_b(correct: NDArray[np.float32], drawn: NDArray[np.bool_]) -> NDArray[np.float64]:
    from benchwright.statistics.rank_agreement import kendall_tau_b_rows
    from benchwright.statistics.subset_scores import subset_scores

    full = subset_scores(correct, np.ones((1, correct.shape[1]), dtype=np.bool_))[0]
    return kendall_tau_b_rows(full, subset_scores(correct, drawn))


def scipy_tau_b(correct: NDArray[np.float32], drawn: NDArray[np.bool_]) -> NDArray[np.float64]:
    from scipy.stats import kendalltau

    full = correct.mean(axis=1, dtype=np.float64)
    return np.array([kendalltau(full, row).statistic for row in scores(correct, drawn)])


def our_metrics(correct: NDArray[np.float32], drawn: NDArray[np.bool_]) -> NDArray[np.float64]:
    from benchwright.statistics.subset_scores import subset_metrics

    return subset_metrics(correct, drawn).kendall_tau_b


def our_intervals(correct: NDArray[np.float32], drawn: NDArray[np.bool_]) -> NDArray[np.float64]:
    from benchwright.statistics.bootstrap import rank_agreement_intervals

    clusters = np.arange(correct.shape[1])
    generator = np.random.default_rng(2)
    intervals = rank_agreement_intervals(correct, drawn[0], clusters, len(drawn), generator)
    return np.array([interval[:2] for both in intervals for interval in both.values()]).ravel()


def measure(name: str, correct: NDArray[np.float32], drawn: NDArray[np.bool_]) -> Cost:
    """Run in this process, after a small run that loads what is loaded once."""
    run: Callable[..., NDArray[np.float64]] = globals()[name]
    run(correct[:50], drawn[:3])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    result = run(correct, drawn)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Cost(seconds, (peak - before) * 1024 / MIB, result)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smallest", action="store_true", help="few models, in this process")
    smallest = parser.parse_args().smallest
    models, drawn = (60, 4) if smallest else (MODELS, SUBSETS)
    correct = answers(models)
    print(f"{drawn:,} subsets of {SIZE} of {ITEMS} items, {models:,} models")
    ours: Cost | None = None
    for name, most, what in CONTENDERS:
        subsets = min(most, drawn)
        if smallest:
            cost = measure(name, correct, masks(subsets, drawn))
        else:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                cost = pool.apply(measure, (name, correct, masks(subsets)))
        total = cost.seconds * drawn / subsets
        note = "" if subsets == drawn else f" (from {subsets} subsets, in proportion)"
        print(f"{name:14} {total:8.2f} s {cost.mebibytes:6.0f} MiB  {what}{note}", flush=True)
        if ours is None:
            ours = cost
        elif name.endswith("tau_b"):
            difference = np.abs(cost.result - ours.result[:subsets]).max()
            print(
                f"{'':14} {total / ours.seconds:8.1f} times as long; "
                f"largest difference {difference:.0e}"
            )


if __name__ == "__main__":
    main()
