"""Standard errors of scores, and of differences between scores, on random items.

With S² the variance of one response over the n items, the mean of k random items has the standard
error √(S²(1/k − 1/n)) relative to the mean of all n, whatever clusters the items form (Cochran
1977, section 2.6). Relative to an ability, the n items are themselves a sample: the error is
√(S²/k · (1 + d·(k − 1)/(n − 1))), where 1 + d is the design effect of the whole benchmark, its
clustered variance over S²/n (Miller 2024, arXiv:2411.00640, section 2.2).
"""

from typing import Literal, NamedTuple, get_args

import numpy as np

from benchwright.core.array_types import AnyFloats, Floats, Integers, Places
from benchwright.core.seeding import stage_generator
from benchwright.statistics.paired_differences import clustered_se

Target = Literal["benchmark", "ability"]
"""What a score estimates: the score on all n items, or on all such items."""

TARGETS: tuple[Target, ...] = get_args(Target)
MOST_PAIRS = 20_000
_BLOCK_BYTES = 1 << 26


class AnswerVariance(NamedTuple):
    """The variances behind the standard errors of r means over items."""

    single: Floats  # (r,) S², the variance of one response or of one difference, in shares²
    whole: Floats  # (r,) variance of the mean of all n items as a sample of whole clusters
    n: int  # items

    def standard_error(self, k: int, target: Target) -> Floats:
        """Return the standard errors (r,) in shares of means of k of the n items, 1 ≤ k ≤ n."""
        if target == "benchmark":
            return np.sqrt(self.single * (1 / k - 1 / self.n))
        excess = self.whole - self.single / self.n
        shared = (k - 1) * self.n / (k * (self.n - 1)) if self.n > 1 else 1.0
        return np.sqrt(np.maximum(self.single / k + excess * shared, 0))


def variance_of_scores(values: AnyFloats, clusters: Integers) -> AnswerVariance:
    """Compute the variances of rows (r, n) of responses or differences; NaN is left out.

    Rows with fewer than two clusters have NaN.
    """
    n = values.shape[1]
    alone = clustered_se(values, np.arange(n))
    answered = np.count_nonzero(~np.isnan(values), axis=1)
    single = alone**2 * answered
    # Responses are assumed to be missing at random: scale to all n items.
    whole = clustered_se(values, clusters) ** 2 * answered / max(n, 1)
    return AnswerVariance(single, whole, n)


def pairs_of_models(m: int, seed: int) -> tuple[Places, Places]:
    """Return all pairs of m models, or `MOST_PAIRS` random ones if there are more."""
    if m * (m - 1) // 2 <= MOST_PAIRS:
        first, second = np.triu_indices(m, 1)
        return first, second
    generator = stage_generator(seed, "plan/pairs")
    first = generator.integers(0, m, MOST_PAIRS)
    second = (first + generator.integers(1, m, MOST_PAIRS)) % m
    return first, second


def variance_of_differences(correct: AnyFloats, clusters: Integers, seed: int) -> AnswerVariance:
    """Compute the variances of the models' differences, in the order of `pairs_of_models`."""
    first, second = pairs_of_models(len(correct), seed)
    n = correct.shape[1]
    step = max(1, _BLOCK_BYTES // (8 * max(n, 1)))
    single = np.empty(len(first))
    whole = np.empty(len(first))
    for start in range(0, len(first), step):
        rows = slice(start, start + step)
        gaps = correct[first[rows]].astype(np.float64) - correct[second[rows]]
        found = variance_of_scores(gaps, clusters)
        single[rows] = found.single
        whole[rows] = found.whole
    return AnswerVariance(single, whole, n)
