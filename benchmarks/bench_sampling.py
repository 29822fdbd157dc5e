"""How fast are samplers judged? Metrics of many subsets of simulated answers, beside SciPy.

    python benchmarks/bench_sampling.py [--models 5000] [--items 803] [--samplers 20] [--tau]

100 rates × so many samplers × 20 repeats. SciPy computes the same metrics subset by subset; it is
timed on some subsets and its time for all of them extrapolated.
"""

import argparse
import resource
import time

import numpy as np
from numpy.typing import NDArray

from benchwright.statistics.preservation import preservation

RATES, REPEATS = 100, 20
SCIPY_SUBSETS = 60


def simulated(models: int, items: int, generator: np.random.Generator) -> NDArray[np.float32]:
    ability = generator.normal(size=(models, 1))
    difficulty = generator.normal(size=items)
    noise = generator.logistic(size=(models, items))
    return (ability - difficulty + noise > 0).astype(np.float32)


def draw_weights(items: int, generator: np.random.Generator) -> NDArray[np.float64]:
    """One repeat of one sampler at all rates."""
    order = generator.permutation(items)
    sizes = np.maximum(np.arange(1, RATES + 1) * items // 100, 1)
    weights = np.zeros((RATES, items))
    for row, size in zip(weights, sizes, strict=True):
        row[order[:size]] = 1 / size
    return weights


def by_scipy(correct: NDArray[np.float32], weights: NDArray[np.float64], tau: bool) -> list[tuple]:
    from scipy.stats import kendalltau, pearsonr, spearmanr, wasserstein_distance

    whole = correct.mean(axis=1, dtype=np.float64)
    rows = []
    for row in weights:
        part = np.round(correct @ row, 12)  # else rounding breaks ties
        error = np.abs(part - whole).mean(), (part - whole).mean()
        ranks = spearmanr(whole, part).statistic, pearsonr(whole, part).statistic
        distance = wasserstein_distance(whole, part)
        rows.append((*ranks, distance, *error, kendalltau(whole, part).statistic if tau else 0))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=5_000)
    parser.add_argument("--items", type=int, default=803)
    parser.add_argument("--samplers", type=int, default=20)
    parser.add_argument("--tau", action="store_true")
    given = parser.parse_args()
    generator = np.random.default_rng(0)
    correct = simulated(given.models, given.items, generator)
    draws = given.samplers * REPEATS
    spent = 0.0
    for draw in range(draws):
        weights = draw_weights(given.items, generator)
        start = time.perf_counter()
        ours = preservation(correct, weights, tau=given.tau)
        spent += time.perf_counter() - start
        if draw == 0:
            places = np.linspace(0, RATES - 1, SCIPY_SUBSETS).astype(int)
            start = time.perf_counter()
            theirs = by_scipy(correct, weights[places], given.tau)
            scipy = (time.perf_counter() - start) / len(places)
            gap = np.abs(np.array(theirs)[:, 0] - ours.spearman[places]).max()
    subsets = draws * RATES
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    kind = "with tau-b" if given.tau else "without tau-b"
    print(f"{subsets:,} subsets of {given.items:,} items, {given.models:,} models, {kind}")
    each = 1000 * spent / subsets
    print(f"  preservation: {spent:.1f} s ({each:.2f} ms each), {memory:,.0f} MiB")
    print(f"  SciPy: {1000 * scipy:.2f} ms each, {scipy * subsets:,.0f} s for all")
    print(f"  largest difference in Spearman: {gap:.1e}")


if __name__ == "__main__":
    main()
