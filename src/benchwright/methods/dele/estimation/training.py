"""Training data of estimators: responses of other models to the whole benchmark."""

from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.estimation.item_predictions import ItemPredictor
from benchwright.statistics.item_response import ItemResponse, fit_2pl, probability

Float = NDArray[np.float64]
Rows = NDArray[np.bool_]

_NEARLY_ALL = 0.95  # models that answered less of the items do not serve as truth for estimates
_FOLDS = 5  # of the training models
_BEST_SHARE = 0.3  # of the training models, for the errors on better models
_ABILITY_REACH = 6.0
_FEWEST_NODES = 241
_CURVE_BLOCK = 1 << 21


class ItemCurves(NamedTuple):
    """σ(aθ + d) of n items on an even grid of abilities."""

    slope: Float  # (n,) a; 0 where unknown
    intercept: Float  # (n,) d
    known: NDArray[np.bool_]  # (n,) items that some model answered
    nodes: Float  # (q,) abilities from −6 to 6
    total: Float  # (q,) sums of P over known items
    reason: str = ""  # why there is no model, or ""

    @classmethod
    def of(cls, fit: ItemResponse) -> Self:
        """Compute the sums of the curves of a fitted model over items."""
        known = ~np.isnan(fit.discrimination)
        a = np.where(known, fit.discrimination, 0)
        d = np.where(known, -fit.discrimination * fit.difficulty, 0)
        nodes = np.linspace(-_ABILITY_REACH, _ABILITY_REACH, max(fit.nodes, _FEWEST_NODES))
        total = np.zeros(len(nodes))
        different, count = np.unique(
            np.stack([a[known], d[known]], axis=1), axis=0, return_counts=True
        )
        step = max(1, _CURVE_BLOCK // len(nodes))
        for start in range(0, len(different), step):
            part = slice(start, start + step)
            total += _sums(different[part, 0], different[part, 1], nodes, count[part])
        return cls(a, d, known, nodes, total, "" if known.any() else fit.reason)

    def expected(self, places: NDArray[np.intp], responses: Float) -> Float:
        """Predict the mean (r,) of the items outside `places` (k,) from complete responses (r, k).

        The posterior of the ability is computed on the grid, with prior N(0, 1). Fractions are
        fractional correct responses. Items without training responses are assumed to be like the
        others.
        """
        inside = places[self.known[places]]
        rest = int(self.known.sum()) - len(inside)
        if self.reason or not rest:
            return np.full(len(responses), np.nan)
        weight = self._posterior(inside, responses[:, self.known[places]])
        seen = _sums(self.slope[inside], self.intercept[inside], self.nodes)
        return np.asarray(weight @ ((self.total - seen) / rest))

    def _posterior(self, places: NDArray[np.intp], responses: Float) -> Float:
        """Return the posterior weights (r, q) of the abilities."""
        a, d = self.slope[places], self.intercept[places]
        shared = -0.5 * self.nodes**2
        shared -= np.logaddexp(0, a[:, None] * self.nodes + d[:, None]).sum(axis=0)
        log = (responses @ a)[:, None] * self.nodes + (responses @ d)[:, None] + shared
        weight = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _sums(a: Float, d: Float, nodes: Float, count: NDArray[np.integer] | None = None) -> Float:
    """Return sums (q,) of P over items (n,), weighted by `count` (n,)."""
    if not len(a):
        return np.zeros(len(nodes))
    slope = np.maximum(a, 1e-12)
    p = probability(nodes, slope, -d / slope)
    return np.asarray(p @ (np.ones(len(a)) if count is None else count))


class Training:
    """Responses of m training models to the n items, with results that estimators share.

    Two-parameter fits to all models, without each fold and without the best models are cached.

    Attributes:
        correct: (m, n) in [0, 1], NaN if missing.
        clusters: (n,) numbers of items that share a passage, or None.
        families: (m,) numbers; models of a family are left out together when errors are measured.
            None: only models with equal responses form a family.
    """

    def __init__(
        self,
        correct: NDArray[np.floating],
        clusters: NDArray[np.integer] | None = None,
        families: NDArray[np.integer] | None = None,
    ) -> None:
        self.correct, self.clusters, self.families = correct, clusters, families
        self._curves: dict[bytes, ItemCurves] = {}
        # tuned once per number of items, kind of draw and seed
        self.predictors: dict[tuple[int, bool, int], ItemPredictor] = {}

    @property
    def items(self) -> int:
        return int(self.correct.shape[1])

    @cached_property
    def filled(self) -> NDArray[np.float32]:
        """Responses (m, n); a missing one is the item's mean plus the lead of the model."""
        values = np.asarray(self.correct, dtype=np.float32)
        known = ~np.isnan(values)
        if known.all():
            return values
        zeros = np.where(known, values, 0)
        overall = zeros.sum() / max(known.sum(), 1)
        asked = known.sum(axis=0)
        item = np.where(asked > 0, zeros.sum(axis=0) / np.maximum(asked, 1), overall)
        lead = (zeros - np.where(known, item, 0)).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
        guess = np.clip(item + lead[:, None], 0, 1)
        return np.where(known, values, guess).astype(np.float32)

    @cached_property
    def scores(self) -> Float:
        """Scores (m,): means over all items."""
        return np.asarray(self.filled.mean(axis=1, dtype=np.float64))

    @cached_property
    def item_means(self) -> Float:
        """Mean responses (n,) to each item; NaN without models."""
        if not len(self.filled):
            return np.full(self.items, np.nan)
        return np.asarray(self.filled.mean(axis=0, dtype=np.float64))

    @cached_property
    def nearly_complete(self) -> Rows:
        """Models (m,) that answered nearly all items; their scores are the truth for estimates.

        Items that no model answered do not count.
        """
        known = ~np.isnan(self.correct)
        asked = max(int(known.any(axis=0).sum()), 1)
        return np.asarray(known.sum(axis=1) >= _NEARLY_ALL * asked)

    @cached_property
    def best(self) -> Rows:
        """The best models (m,): at least one and never all; none of fewer than two models."""
        m = len(self.scores)
        out = np.zeros(m, dtype=np.bool_)
        if m > 1:
            count = min(max(1, round(m * _BEST_SHARE)), m - 1)
            out = self.scores >= np.sort(self.scores)[-count]
        return out if not out.all() else np.zeros(m, dtype=np.bool_)

    def curves(self, rows: Rows | None = None) -> ItemCurves:
        """Return the two-parameter model fitted to some or all of the models."""
        chosen = np.ones(len(self.scores), dtype=np.bool_) if rows is None else rows
        key = np.packbits(chosen).tobytes()
        if key not in self._curves:
            self._curves[key] = ItemCurves.of(fit_2pl(self.correct[chosen]))
        return self._curves[key]

    def folds(self, seed: int) -> NDArray[np.intp]:
        """Return the fold (m,) of each model; families stay together, folds mix weak and strong.

        All are −1 if there is only one family, since then no fold can be left out.
        """
        if not len(self.scores):
            return np.empty(0, dtype=np.intp)
        family = self._family_groups
        groups = int(family.max()) + 1
        if groups < 2:
            return np.full(len(family), -1, dtype=np.intp)
        folds = min(_FOLDS, groups)
        generator = stage_generator(seed, "estimation folds")
        rounds = [generator.permutation(folds) for _ in range(-(-groups // folds))]
        return np.asarray(np.concatenate(rounds)[family], dtype=np.intp)

    @cached_property
    def _family_groups(self) -> NDArray[np.intp]:
        """Family groups (m,), numbered from the weakest to the strongest in any order of rows."""
        values = self.filled.astype(np.float64)
        item = values.mean(axis=0)
        # Sums that do not depend on the order of items; models equal in all three are one group.
        keys = np.round(np.stack([values.sum(axis=1), values @ item, values @ item**2], axis=1), 6)
        if self.families is None:
            return np.unique(keys, axis=0, return_inverse=True)[1].ravel().astype(np.intp)
        _, family = np.unique(self.families, return_inverse=True)
        sizes = np.bincount(family)
        means = np.stack([np.bincount(family, keys[:, c]) / sizes for c in range(3)], axis=1)
        order = np.empty(len(sizes), dtype=np.intp)
        order[np.lexsort(np.round(means, 6).T[::-1])] = np.arange(len(sizes))
        return order[family]
