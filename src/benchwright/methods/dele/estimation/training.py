"""Training data of estimators: responses of other models to the whole benchmark."""

from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from benchwright.core.array_types import AnyFloats, Bools, Floats, Integers, Places
from benchwright.core.seeding import stage_generator
from benchwright.methods.dele.estimation.item_predictions import ItemPredictor, tuned_predictor
from benchwright.statistics.item_response import ItemResponse, fit_2pl, probability

_NEARLY_ALL = 0.95  # models that answered less of the items do not serve as truth for estimates
_FOLDS = 5  # of the training models
_BEST_SHARE = 0.3  # of the training models, for the errors on better models
_ABILITY_REACH = 6.0
_FEWEST_NODES = 241
_CURVE_BLOCK = 1 << 21


class ItemCurves(NamedTuple):
    """Probabilities of right answers to n items, and a grid of abilities."""

    fit: ItemResponse
    nodes: Floats  # (q,) abilities from −6 to 6
    total: Floats  # (q,) sums of the probabilities over the items that some model answered

    @classmethod
    def of(cls, fit: ItemResponse) -> Self:
        """Compute the sums of the curves of a fitted model over items."""
        nodes = np.linspace(-_ABILITY_REACH, _ABILITY_REACH, max(fit.nodes, _FEWEST_NODES))
        return cls(fit, nodes, _sums(fit, np.flatnonzero(~np.isnan(fit.discrimination)), nodes))

    @property
    def reason(self) -> str:
        """Why there is no model, or ""."""
        return self.fit.reason if np.isnan(self.fit.discrimination).all() else ""

    def expected(self, places: Places, responses: Floats) -> Floats:
        """Predict the mean (r,) of the items outside `places` (k,) from complete responses (r, k).

        The posterior of the ability is computed on the grid, with prior N(0, 1). Fractions are
        fractional correct responses. Items without training responses are assumed to be like the
        others.
        """
        known = ~np.isnan(self.fit.discrimination)
        inside = places[known[places]]
        rest = known.sum() - len(inside)
        if self.reason or not rest:
            return np.full(len(responses), np.nan)
        a = self.fit.discrimination[inside]
        d = -a * self.fit.difficulty[inside]
        right = responses[:, known[places]]
        shared = -0.5 * self.nodes**2
        shared -= np.logaddexp(0, a[:, None] * self.nodes + d[:, None]).sum(axis=0)
        log = (right @ a)[:, None] * self.nodes + (right @ d)[:, None] + shared
        weight = np.exp(log - log.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        return weight @ ((self.total - _sums(self.fit, inside, self.nodes)) / rest)


def _sums(fit: ItemResponse, places: Places, nodes: Floats) -> Floats:
    """Return sums (q,) of the probabilities over the items at `places`."""
    total = np.zeros(len(nodes))
    step = max(1, _CURVE_BLOCK // len(nodes))
    for start in range(0, len(places), step):
        part = places[start : start + step]
        total += probability(nodes, fit.discrimination[part], fit.difficulty[part]).sum(axis=1)
    return total


class Training:
    """Responses of m training models to the n items, with results that estimators share.

    Two-parameter fits to all models, without each fold and without the best models are cached.

    Attributes:
        correct: (m, n) in [0, 1], NaN if missing.
        clusters: (n,) numbers, equal for items that share a passage; all differ by default.
        families: (m,) numbers; models of a family are left out together when errors are measured.
            None: only models with equal responses form a family.
    """

    def __init__(
        self,
        correct: AnyFloats,
        clusters: Integers | None = None,
        families: Integers | None = None,
    ) -> None:
        self.correct = correct
        self.clusters = np.arange(correct.shape[1]) if clusters is None else clusters
        self.families = families
        self._curves: dict[bytes, ItemCurves] = {}
        self._predictors: dict[tuple[int, bool, int], ItemPredictor] = {}

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
        leads = (zeros - np.where(known, item, 0)).sum(axis=1)
        lead = leads / np.maximum(known.sum(axis=1), 1)
        guess = np.clip(item + lead[:, None], 0, 1)
        return np.where(known, values, guess).astype(np.float32)

    @cached_property
    def scores(self) -> Floats:
        """Scores (m,): means over all items."""
        return np.asarray(self.filled.mean(axis=1, dtype=np.float64))

    @cached_property
    def item_means(self) -> Floats:
        """Mean responses (n,) to each item; NaN without models."""
        if not len(self.filled):
            return np.full(self.items, np.nan)
        return np.asarray(self.filled.mean(axis=0, dtype=np.float64))

    @cached_property
    def nearly_complete(self) -> Bools:
        """Models (m,) that answered nearly all items; their scores are the truth for estimates.

        Items that no model answered do not count.
        """
        known = ~np.isnan(self.correct)
        asked = max(int(known.any(axis=0).sum()), 1)
        return known.sum(axis=1) >= _NEARLY_ALL * asked

    @cached_property
    def best(self) -> Bools:
        """The best models (m,): at least one and never all; none of fewer than two models."""
        m = len(self.scores)
        nobody = np.zeros(m, dtype=bool)
        if m < 2:
            return nobody
        count = max(1, round(m * _BEST_SHARE))
        best = self.scores >= np.sort(self.scores)[-count]
        return nobody if best.all() else best

    def curves(self, rows: Bools | None = None) -> ItemCurves:
        """Return the two-parameter model fitted to some or all of the models."""
        chosen = np.ones(len(self.scores), dtype=np.bool_) if rows is None else rows
        key = np.packbits(chosen).tobytes()
        if key not in self._curves:
            self._curves[key] = ItemCurves.of(fit_2pl(self.correct[chosen]))
        return self._curves[key]

    def predictor(self, k: int, unequal: bool, seed: int) -> ItemPredictor:
        """Return the predictor for k items, tuned once per number and kind of draw."""
        key = (k, unequal, seed)
        if key not in self._predictors:
            self._predictors[key] = tuned_predictor(
                self.filled,
                self.nearly_complete,
                [*self.folds(seed), self.best],
                k=max(k, 2),
                unequal=unequal,
                seed=seed,
            )
        return self._predictors[key]

    def folds(self, seed: int) -> list[Bools]:
        """Return masks (m,) of models; families stay together, folds mix weak and strong.

        There are none if there is only one family, since then no fold can be left out.
        """
        if not len(self.scores):
            return []
        family = self._family_groups
        groups = family.max() + 1
        if groups < 2:
            return []
        folds = min(_FOLDS, groups)
        generator = stage_generator(seed, "estimation folds")
        rounds = [generator.permutation(folds) for _ in range(-(-groups // folds))]
        fold = np.concatenate(rounds)[family]
        return [fold == number for number in range(folds)]

    @cached_property
    def _family_groups(self) -> Places:
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
