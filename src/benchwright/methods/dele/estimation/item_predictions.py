"""Predicted responses to items, and the estimate that asked items correct.

A new model's responses are predicted as the items' mean training responses plus a combination of
the training models' deviations from those means (ridge regression). The difference estimator then
adds the residuals of the asked items, each divided by the known probability π that the item was
asked (Särndal, Swensson & Wretman 1992, chapter 6; for language models: 2403.03208, 2601.20251):

    score = [Σ g_j + Σ_asked (y_j − g_j)/π_j] / n.

The prediction g_j of an asked item is fitted without its own response. With independent draws the
score is then exactly unbiased, however bad the predictions are.
"""

from typing import NamedTuple, Self

import numpy as np

from benchwright.core.array_types import AnyFloats, Bools, Floats, Places
from benchwright.core.seeding import stage_generator
from benchwright.statistics.unequal_draws import (
    UNIFORM_SHARE,
    inclusion_probabilities,
    response_spread,
    systematic_draw,
)

# Responses have a variance of at most ¼, so 10 nearly gives the items' means.
PENALTIES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
# The training models' variance counts like four answers (as in Agresti & Coull 1998).
_PRIOR = 4.0
_BLOCK = 1 << 22


class ItemPredictor(NamedTuple):
    """Ridge regression of responses on features of the items."""

    offset: Floats  # (n,) prediction without any response
    features: Floats  # (m, n) features of the items
    penalty: float  # of the squared coefficients
    ratio: float = 1.0  # variance of residuals of left-out training models, in units of p(1 − p)

    @classmethod
    def of(cls, responses: AnyFloats, penalty: float, ratio: float = 1.0) -> Self:
        """Create the predictor from responses (m, n) of training models, none missing."""
        values = np.asarray(responses, dtype=np.float64)
        means = values.mean(axis=0)
        features = (values - means) / np.sqrt(len(values))
        if len(features) > len(means):  # as many features as items have the same products
            squared, vectors = np.linalg.eigh(features.T @ features)
            features = np.sqrt(np.maximum(squared, 0))[:, None] * vectors.T
        return cls(means, features, penalty, ratio)

    @classmethod
    def constant(cls, n: int) -> Self:
        """Create the predictor that predicts the mean of the model's other responses."""
        return cls(np.full(n, 0.5), np.ones((1, n)), 1e-6)

    def left_out(self, places: Places, responses: Floats) -> tuple[Floats, Floats]:
        """Predict asked items (r, k), each without its own response, and the others' sum (r,).

        `responses` (r, k) are to the items at `places` (k,). Predictions are limited to [0, 1].
        """
        seen = self.features[:, places]
        basis, strength = _basis(seen)
        gap = responses - self.offset[places]
        smooth = _smooth(basis, strength / (strength + self.penalty), gap)
        slope = (smooth[0] / self.penalty) @ seen.T
        total = np.zeros(len(responses))
        step = max(1, _BLOCK // len(self.offset))
        for start in range(0, len(responses), step):
            rows = slice(start, start + step)
            predicted = np.clip(self.offset + slope[rows] @ self.features, 0, 1)
            predicted[:, places] = 0
            total[rows] = predicted.sum(axis=1)
        return np.clip(responses - smooth[1], 0, 1), total


def _basis(seen: Floats) -> tuple[Floats, Floats]:
    """Return orthonormal vectors (k, q) of the rows of `seen` (m, k) and their squared lengths."""
    m, k = seen.shape
    squared, vectors = np.linalg.eigh(seen.T @ seen if k <= m else seen @ seen.T)
    kept = squared > 1e-10 * max(squared[-1], 1e-10)
    squared = squared[kept]
    vectors = vectors[:, kept]
    if k > m:
        vectors = seen.T @ vectors / np.sqrt(squared)
    return vectors, squared


def _smooth(basis: Floats, shrunk: Floats, gap: Floats) -> tuple[Floats, Floats]:
    """Return residuals (r, k) of the ridge, and those of regressions that leave the item out."""
    residual = gap - ((gap @ basis) * shrunk) @ basis.T
    return residual, residual / (1 - (basis**2 * shrunk).sum(axis=1))


def variance_parts(residual: Floats, inclusion: Floats) -> Floats:
    """Return what each item (r, k) adds to the variance of Σ e/π, for a draw of fixed size.

    Zero for one item. Source: Hájek 1964, with the correction k/(k − 1).
    """
    k = residual.shape[1]
    left = 1 - inclusion
    if k < 2 or left.sum() <= 0:
        return np.zeros(residual.shape)
    scaled = residual / inclusion
    centred = scaled - (scaled @ left / left.sum())[:, None]
    return k / (k - 1) * left * centred**2


def _freedom(parts: Floats) -> Floats:
    """Return the degrees of freedom (r,) of sums of `parts` (r, k), from 1 to k − 1.

    The fewer items make up the variance, the less is known of it: 2/(κ − 1) per item with the
    kurtosis κ of the residuals (Satterthwaite 1946).
    """
    k = parts.shape[1]
    total = parts.sum(axis=1)
    heavy = np.divide((parts**2).sum(axis=1), total**2, out=np.ones(len(parts)), where=total > 0)
    most = max(k - 1, 1)
    return np.clip(2 / np.maximum(heavy - 1 / k, 2 / most), 1, most)


class DesignEstimate(NamedTuple):
    """Scores (r,), standard errors (r,) and the degrees of freedom (r,) of their t intervals."""

    score: Floats
    se: Floats
    freedom: Floats

    def reach(self, level: float) -> Floats:
        """Return half the widths (r,) of the intervals at a level."""
        from scipy.special import stdtrit

        return stdtrit(self.freedom, (1 + level) / 2) * self.se


def difference_estimate(
    predictor: ItemPredictor,
    places: Places,
    inclusion: Floats,
    responses: Floats,
    cautious: bool = True,
) -> DesignEstimate:
    """Estimate the scores of r models from responses (r, k) to the items at `places` (k,).

    `inclusion` (k,) are the probabilities in (0, 1] that these items were asked. The variance is
    that of a draw of fixed size. The fewer right or wrong responses there are, or the fewer
    residuals make it up, the more it is mixed with the one expected from the training models, which
    counts like four responses: a model with equal responses has residuals near 0. `cautious` does
    not let this make it smaller: training models predict a stronger model worse than each other.
    """
    n = len(predictor.offset)
    k = len(inclusion)
    inside, outside = predictor.left_out(places, responses)
    residual = responses - inside
    score = (outside + inside.sum(axis=1) + residual @ (1 / inclusion)) / n
    parts = variance_parts(residual, inclusion)
    own = parts.sum(axis=1) / n**2
    freedom = _freedom(parts)
    right = responses.sum(axis=1)
    known = np.minimum(np.minimum(right, k - right), freedom)
    centre = (np.clip(score, 0, 1) * k + _PRIOR / 2) / (k + _PRIOR)
    spread = ((1 - inclusion) / inclusion**2).sum() / n**2
    expected = predictor.ratio * centre * (1 - centre) * spread
    squared = (known * own + _PRIOR * expected) / (known + _PRIOR)
    if cautious:
        squared = np.maximum(own, squared)
    return DesignEstimate(score, np.sqrt(squared), freedom + _PRIOR)


def same_order(values: AnyFloats) -> Places:
    """Return an order (n,) of the items of responses (m, n) that both axes' orders leave as is."""
    means = values.mean(axis=0, dtype=np.float64)
    return np.lexsort((np.round(values @ means @ values, 6), np.round(means, 9)))


def tuned_predictor(
    values: AnyFloats,
    complete: Bools,
    groups: list[Bools],
    k: int,
    unequal: bool,
    seed: int,
) -> ItemPredictor:
    """Choose the penalty with the least variance of the scores of left-out training models.

    The models are asked k items of draws of their own, by the spread of responses where `unequal`,
    so the choice does not depend on the items that new models are asked. If the mean of a model's
    other responses predicts better than all penalties, it is the predictor.

    `values` are responses (m, n), none missing; `complete` (m,) marks models that answered nearly
    all items; `groups` are masks (m,) of models to leave out together, the last of which counts
    like all others.
    """
    n = values.shape[1]
    spread = response_spread(values) if unequal else np.ones(n)
    inclusion = inclusion_probabilities(spread, k, UNIFORM_SHARE)
    lead = values.mean(axis=1, dtype=np.float64)
    order = same_order(values)
    starts = stage_generator(seed, "estimation.penalty").random(min(8, -(-200 // k)))
    groups = [out for out in groups if (out & complete).any() and not out.all()]
    weights = np.ones(len(groups))
    weights[-1:] = max(len(groups) - 1, 1)
    losses = np.zeros(len(PENALTIES) + 1)
    truth = 0.0
    for start in starts:
        places = systematic_draw(inclusion, order, start)
        own = inclusion[places]
        scale = ((1 - own) / own**2).sum()
        for weight, out in zip(weights, groups, strict=True):
            asked = values[np.ix_(out & complete, places)].astype(np.float64)
            learnt = values[np.ix_(~out, places)].astype(np.float64)
            losses += weight * _variances(asked, learnt, own)
            score = lead[out & complete]
            truth += weight * (score * (1 - score)).mean() * scale
    best = np.argmin(losses)
    if truth <= 0 or best == len(PENALTIES):
        return ItemPredictor.constant(n)
    return ItemPredictor.of(values, PENALTIES[best], losses[best] / truth)


def _variances(asked: Floats, learnt: Floats, inclusion: Floats) -> Floats:
    """Return the mean variance of the sums of `asked` (r, k) by each penalty, and by means.

    `learnt` (m, k) are the responses of the other models. The last number is that of the mean of a
    model's other responses as prediction.
    """
    offset = learnt.mean(axis=0)
    basis, strength = _basis((learnt - offset) / np.sqrt(len(learnt)))
    predictions = []
    for penalty in PENALTIES:
        residual = _smooth(basis, strength / (strength + penalty), asked - offset)[1]
        predictions.append(np.clip(asked - residual, 0, 1))
    predictions.append((asked.sum(axis=1, keepdims=True) - asked) / (asked.shape[1] - 1))
    parts = [variance_parts(asked - inside, inclusion) for inside in predictions]
    return np.array([each.sum(axis=1).mean() for each in parts])
