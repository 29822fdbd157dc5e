"""Intervals from the errors of an estimator on left-out training models.

Each fold of training models is estimated from the others with the same subset. The quantiles of the
errors, in units of √(p(1 − p)), bound those on similar new models (Barber et al. 2021, CV+).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.methods.dele.estimation.training import Rows, Training

Float = NDArray[np.float64]
Predict = Callable[[Float], Float]
Rule = Callable[[Training, Rows | None, NDArray[np.intp]], Predict]
"""A fit of scores (r,) from responses (r, k) at k places, to some or all training models."""

_NEIGHBOURS = 200  # training models with the nearest estimates, whose errors give an interval
_AT_THE_TOP = "the score is above 90% of the training models; the interval may be too narrow"


class Errors(NamedTuple):
    """Estimates (c,) of c models and truth minus estimate (c,)."""

    estimate: Float
    error: Float


class PastErrors(NamedTuple):
    """Errors on left-out training models: across folds, and on the best models.

    `rare` is the 90% quantile of the training models' scores, `ceiling` the highest score.
    """

    across: Errors
    forward: Errors
    rare: float
    ceiling: float


def possible(responses: Float, n: int) -> tuple[Float, Float]:
    """Return the lowest and highest possible scores (r,) over n items given responses (r, k)."""
    right = responses.sum(axis=1)
    return right / n, (right + n - responses.shape[1]) / n


def past_errors(training: Training, places: NDArray[np.intp], seed: int, rule: Rule) -> PastErrors:
    """Compute the errors on left-out training models, from the items at `places`."""
    fold = training.folds(seed)

    def errors(groups: list[Rows]) -> Errors:
        estimate = np.full(len(fold), np.nan)
        for left_out in groups:
            new = training.filled[np.ix_(left_out, places)].astype(np.float64)
            predicted = rule(training, ~left_out, places)(new)
            estimate[left_out] = np.clip(predicted, *possible(new, training.items))
        rows = training.nearly_complete & ~np.isnan(estimate)
        return Errors(estimate[rows], training.scores[rows] - estimate[rows])

    rare, ceiling = np.quantile(training.scores, [0.9, 1]) if len(fold) else (np.nan, np.nan)
    across = errors([fold == part for part in np.unique(fold[fold >= 0])])
    forward = errors([training.best] if training.best.any() else [])
    return PastErrors(across, forward, float(rare), float(ceiling))


def calibrated_reach(
    past: PastErrors, estimate: Float, n: int, level: float
) -> tuple[Float, Float, list[str]]:
    """Return half the widths (r,) of intervals at `level`, standard errors (r,), and r notes.

    The half width is the quantile `level` (corrected for their number) of the errors of the 200
    nearest past estimates. Above the best training model, the errors on the left-out best training
    models are used if they are larger. With too few past errors for the level, Student's t replaces
    the quantile.
    """
    if len(past.across.error) < 2:
        blank = np.full(len(estimate), np.nan)
        why = "too few training models to estimate an interval"
        return blank, blank, [why] * len(estimate)
    scale = _scale(estimate, n)
    size = np.abs(past.across.error) / _scale(past.across.estimate, n)
    order = np.argsort(past.across.estimate, kind="stable")
    near, se = _near(past.across.estimate[order], size[order], estimate, level)
    few = ""
    if int(np.ceil((len(size) + 1) * level)) > len(size):
        few = f"the interval assumes normal errors, from only {len(size)} training models"
    above = [_AT_THE_TOP if top else "" for top in estimate > past.rare]
    note = ["; ".join(filter(None, (few, top))) for top in above]
    beyond = estimate > past.ceiling
    if beyond.any() and len(past.forward.error) >= 2:
        ahead = np.abs(past.forward.error) / _scale(past.forward.estimate, n)
        near[beyond] = np.maximum(near[beyond], _quantile(np.sort(ahead)[None], level)[0])
        se[beyond] = np.maximum(se[beyond], np.sqrt(np.mean(ahead**2)))
    return near * scale, se * scale, note


def _near(past: Float, size: Float, estimate: Float, level: float) -> tuple[Float, Float]:
    """Return the quantile and the root mean square of the errors nearest to each estimate."""
    window = min(_NEIGHBOURS, len(past))
    centre = (np.searchsorted(past, estimate) + np.searchsorted(past, estimate, "right")) // 2
    start = np.clip(centre - window // 2, 0, len(past) - window)
    starts, back = np.unique(start, return_inverse=True)
    sizes = np.sort(size[starts[:, None] + np.arange(window)], axis=1)
    return _quantile(sizes, level)[back], np.sqrt((sizes**2).mean(axis=1))[back]


def _quantile(sizes: Float, level: float) -> Float:
    """Return the ⌈(c + 1)·level⌉-th of sorted sizes (r, c), or t times their spread."""
    count = sizes.shape[1]
    rank = int(np.ceil((count + 1) * level))
    if rank <= count:
        return np.asarray(sizes[:, rank - 1])
    from scipy.special import stdtrit

    spread = np.sqrt((sizes**2).mean(axis=1) * (1 + 1 / count))
    return np.asarray(stdtrit(count - 1, (1 + level) / 2) * spread)


def _scale(estimate: Float, n: int) -> Float:
    p = (estimate * n + 1) / (n + 2)
    return np.asarray(np.sqrt(p * (1 - p)))
