"""Training data of estimators: responses of other models to the whole benchmark."""

from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.estimation.item_predictions import ItemPredictor
from benchwright.params.sampling import EstimationParams
from benchwright.statistics.item_response import ItemResponse, fit_2pl, probability

Float = NDArray[np.float64]
Rows = NDArray[np.bool_]

# Models that answered a smaller share of the items do not serve as truth for estimates.
_NEARLY_ALL = 0.95


_ABILITY_REACH = 6.0
_FEWEST_NODES = 241
_CURVE_BLOCK = 1 << 21


class Expected(NamedTuple):
    """Expected responses to the items outside a subset."""

    mean: Float  # (r,) posterior mean of the mean response to them, 0–1
    se: Float  # (r,) its standard error under the model, from the ability and the responses


class ItemCurves(NamedTuple):
    """σ(aθ + d) of n items on an even grid of abilities."""

    slope: Float  # (n,) a; 0 where unknown
    intercept: Float  # (n,) d
    known: NDArray[np.bool_]  # (n,) items that some model answered
    nodes: Float  # (q,) abilities from −6 to 6
    total: Float  # (2, q) sums over known items of P and of P(1 − P)
    reason: str = ""  # why there is no model, or ""

    @classmethod
    def of(cls, fit: ItemResponse) -> Self:
        """Compute the sums of the curves of a fitted model over items."""
        known = ~np.isnan(fit.discrimination)
        a = np.where(known, fit.discrimination, 0)
        d = np.where(known, -fit.discrimination * fit.difficulty, 0)
        nodes = np.linspace(-_ABILITY_REACH, _ABILITY_REACH, max(fit.nodes, _FEWEST_NODES))
        total = np.zeros((2, len(nodes)))
        different, count = np.unique(
            np.stack([a[known], d[known]], axis=1), axis=0, return_counts=True
        )
        step = max(1, _CURVE_BLOCK // len(nodes))
        for start in range(0, len(different), step):
            part = slice(start, start + step)
            total += _sums(different[part, 0], different[part, 1], nodes, count[part])
        return cls(a, d, known, nodes, total, "" if known.any() else fit.reason)

    def expected(self, places: NDArray[np.intp], responses: Float) -> Expected:
        """Predict the items outside `places` (k,) from complete responses (r, k).

        The posterior of the ability is computed on the grid, with prior N(0, 1). Fractions are
        fractional correct responses. Items without training responses are assumed to be like the
        others.
        """
        inside = places[self.known[places]]
        rest = int(self.known.sum()) - len(inside)
        if self.reason or not rest:
            blank = np.full(len(responses), np.nan)
            return Expected(blank, blank)
        weight = self._posterior(inside, responses[:, self.known[places]])
        seen = _sums(self.slope[inside], self.intercept[inside], self.nodes)
        curve, spread = (self.total - seen) / rest
        mean = weight @ curve
        doubt = np.maximum(weight @ curve**2 - mean**2, 0) + weight @ spread / rest
        return Expected(mean, np.sqrt(np.maximum(doubt, 0)))

    def _posterior(self, places: NDArray[np.intp], responses: Float) -> Float:
        """Return the posterior weights (r, q) of the abilities."""
        a, d = self.slope[places], self.intercept[places]
        shared = -0.5 * self.nodes**2
        shared -= np.logaddexp(0, a[:, None] * self.nodes + d[:, None]).sum(axis=0)
        log = (responses @ a)[:, None] * self.nodes + (responses @ d)[:, None] + shared
        weight = np.exp(log - log.max(axis=1, keepdims=True))
        return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _sums(a: Float, d: Float, nodes: Float, count: NDArray[np.integer] | None = None) -> Float:
    """Return sums (2, q) of P and of P(1 − P) over items (n,), weighted by `count` (n,)."""
    if not len(a):
        return np.zeros((2, len(nodes)))
    slope = np.maximum(a, 1e-12)
    p = probability(nodes, slope, -d / slope)
    times = np.ones(len(a)) if count is None else count
    return np.stack([p @ times, (p * (1 - p)) @ times])


class Training(NamedTuple):
    """Responses of m training models to the n items of a benchmark."""

    correct: NDArray[np.floating]  # (m, n) float in [0, 1], NaN if missing
    # (n,) cluster numbers of items that share a passage; None: no clusters.
    clusters: NDArray[np.integer] | None = None
    # (m,) family numbers; models of a family are left out together when errors are measured. None:
    # only models with equal responses form a family.
    families: NDArray[np.integer] | None = None


class PreparedTraining:
    """Training models with cached results that subsets and estimators share.

    The two-parameter fits to all models, without each fold and without the best models are cached.

    Raises:
        InputError: the responses are not an (m, n) matrix in [0, 1], or the number of labels is
            wrong.
    """

    def __init__(self, training: Training, params: EstimationParams | None = None) -> None:
        self.training = _checked(training)
        self.params = params or EstimationParams()
        self._curves: dict[bytes, ItemCurves] = {}
        # tuned once per number of items, kind of draw and seed
        self.predictors: dict[tuple[int, bool, int], ItemPredictor] = {}

    @property
    def items(self) -> int:
        return int(self.training.correct.shape[1])

    @cached_property
    def filled(self) -> NDArray[np.float32]:
        """Responses (m, n); a missing one is the item's mean plus the lead of the model."""
        values = np.asarray(self.training.correct, dtype=np.float32)
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
        known = ~np.isnan(self.training.correct)
        asked = max(int(known.any(axis=0).sum()), 1)
        return np.asarray(known.sum(axis=1) >= _NEARLY_ALL * asked)

    @cached_property
    def best(self) -> Rows:
        """The best models (m,): at least one and never all; none of fewer than two models."""
        m = len(self.scores)
        out = np.zeros(m, dtype=np.bool_)
        if m > 1:
            count = min(max(1, round(m * self.params.forward_share)), m - 1)
            cut = np.sort(self.scores)[-count]
            out = self.scores >= cut
        return out if not out.all() else np.zeros(m, dtype=np.bool_)

    def curves(self, rows: Rows | None = None) -> ItemCurves:
        """Return the two-parameter model fitted to some or all of the models."""
        chosen = np.ones(len(self.scores), dtype=np.bool_) if rows is None else rows
        key = np.packbits(chosen).tobytes()
        if key not in self._curves:
            self._curves[key] = ItemCurves.of(fit_2pl(self.training.correct[chosen], errors=False))
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
        folds = min(self.params.folds, groups)
        generator = stage_generator(seed, "estimation folds")
        fold_of = np.concatenate(
            [generator.permutation(folds) for _ in range(-(-groups // folds))]
        )[:groups]
        return np.asarray(fold_of[family], dtype=np.intp)

    @cached_property
    def _family_groups(self) -> NDArray[np.intp]:
        """Family groups (m,), numbered from the weakest to the strongest in any order of rows."""
        values = self.filled.astype(np.float64)
        item = values.mean(axis=0)
        # Sums that do not depend on the order of items; models equal in all three are one group.
        keys = np.round(np.stack([values.sum(axis=1), values @ item, values @ item**2], axis=1), 6)
        if self.training.families is not None:
            _, family = np.unique(self.training.families, return_inverse=True)
            sizes = np.bincount(family)
            keys = np.stack([np.bincount(family, keys[:, c]) / sizes for c in range(3)], axis=1)
            keys = np.round(keys, 6)
            order = np.empty(len(sizes), dtype=np.intp)
            order[np.lexsort(keys.T[::-1])] = np.arange(len(sizes))
            return order[family]
        _, group = np.unique(keys, axis=0, return_inverse=True)
        return np.asarray(group.ravel(), dtype=np.intp)


def _checked(training: Training) -> Training:
    correct = np.asarray(training.correct)
    if correct.ndim != 2 or not correct.shape[1]:
        raise InputError(
            f"training responses have the shape {correct.shape}; it must be (models, items)"
        )
    outside = (correct < 0) | (correct > 1)
    if outside.any():
        model, item = np.argwhere(outside)[0]
        raise InputError(
            f"training responses: model {model}, item {item} has {correct[model, item]}; "
            "values must be from 0 to 1 or NaN"
        )
    for name, labels, count in (
        ("clusters", training.clusters, correct.shape[1]),
        ("families", training.families, correct.shape[0]),
    ):
        if labels is not None and len(labels) != count:
            raise InputError(f"training {name} has {len(labels)} labels; {count} are required")
    return training._replace(correct=correct)
