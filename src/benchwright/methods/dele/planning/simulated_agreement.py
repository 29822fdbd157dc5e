"""Simulated rank agreement of random subsets with all items."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.statistics.preservation import preservation
from benchwright.statistics.random_subsets import draw_subsets
from benchwright.statistics.rank_agreement import Float

_FEWEST_RANKED = 3
_HALVES = 20  # of the models
Agreement = Literal["tau_b", "spearman"]


class Agreements(NamedTuple):
    """Metrics of s random subsets of one size with all items, each (s,), in [−1, 1]."""

    tau_b: Float
    spearman: Float


class RandomSubsets:
    """Random subsets of a benchmark, and their rank agreement with all items.

    Every size has its own random generator, so its metrics do not depend on other sizes.
    `metrics` holds the metrics computed so far, by size.
    """

    def __init__(
        self,
        correct: NDArray[np.floating],
        draws: int,
        seed: int,
        strata: NDArray[np.integer] | None = None,
    ) -> None:
        """Draw subsets of the items of responses (m, n) in [0, 1], NaN if missing.

        `strata` are n labels, or None.
        """
        self._correct, self._strata = correct, strata
        self._draws, self._seed = draws, seed
        self.metrics: dict[int, Agreements] = {}

    def at(self, size: int) -> Agreements:
        """Return the metrics of random subsets of one size."""
        if size not in self.metrics:
            results = preservation(self._correct, self._masks(size))
            self.metrics[size] = Agreements(results.tau_b, results.spearman)
        return self.metrics[size]

    def by_halves(
        self, size: int, agreement: Agreement, share: float
    ) -> tuple[float, float] | None:
        """Return the 5% and 95% points of `quantile` over random halves of the models.

        Halves vary around all models about as much as all models vary around their population.
        None if a half has fewer than three models.
        """
        m = len(self._correct)
        if m // 2 < _FEWEST_RANKED:
            return None
        generator = stage_generator(self._seed, f"plan/halves/{size}")
        masks = self._masks(size)
        values = []
        for _ in range(_HALVES):
            half = self._correct[np.sort(generator.permutation(m)[: m // 2])]
            metrics = getattr(preservation(half, masks, tau=agreement == "tau_b"), agreement)
            values.append(np.quantile(np.where(np.isnan(metrics), -1, metrics), share))
        low, high = np.quantile(values, (0.05, 0.95))
        return float(low), float(high)

    def _masks(self, size: int) -> Float:
        name = "random" if self._strata is None else "stratified"
        generator = stage_generator(self._seed, f"plan/{name}/{size}")
        n = self._correct.shape[1]
        masks = draw_subsets(n, size, self._draws, generator, self._strata)
        return masks.astype(np.float64)

    def quantile(self, size: int, agreement: Agreement, share: float) -> float:
        """Return the quantile `share` over the subsets; undefined metrics count as −1."""
        metrics: Float = getattr(self.at(size), agreement)
        return float(np.quantile(np.where(np.isnan(metrics), -1, metrics), share))


def grid_of_sizes(n: int, points: int = 16) -> list[int]:
    """Return logarithmically spaced sizes from about n/100 (at least 5) to n."""
    first = min(max(5, n // 100), n)
    return sorted({round(size) for size in np.geomspace(first, n, points)})
