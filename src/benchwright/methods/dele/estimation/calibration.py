"""Intervals from the errors of an estimator on left-out training models.

Each fold of training models is estimated from the others with the same subset. The quantiles of the
errors, in units of √(p(1 − p)), bound those on similar new models (Barber et al. 2021, CV+).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchwright.core.array_types import Bools, Floats, Places
from benchwright.methods.dele.estimation.training import Training

Predict = Callable[[Floats], Floats]
Rule = Callable[[Training, Bools | None, Places], Predict]
"""A fit of scores (r,) from responses (r, k) at k places, to some or all training models."""

_NEIGHBOURS = 200  # training models with the nearest estimates, whose errors give an interval
_AT_THE_TOP = "the score is above 90% of the training models; the interval may be too narrow"


class Errors(NamedTuple):
    """Estimates (c,) of c models and truth minus estimate (c,)."""

    estimate: Floats
    error: Floats

    def sizes(self, n: int) -> Floats:
        """Return the sizes (c,) of the errors over n items, in units of √(p(1 − p))."""
        return np.abs(self.error) / _scale(self.estimate, n)


class PastErrors(NamedTuple):
    """Errors on left-out training models: across folds, and on the best models.

    `rare` is the 90% quantile of the training models' scores, `ceiling` the highest score.
    """

    across: Errors
    forward: Errors
    rare: float
    ceiling: float


def join_notes(*notes: str) -> str:
    """Return the notes that are not empty, separated by semicolons."""
    return "; ".join(filter(None, notes))


def possible(responses: Floats, n: int) -> tuple[Floats, Floats]:
    """Return the lowest and highest possible scores (r,) over n items given responses (r, k)."""
    right = responses.sum(axis=1)
    return right / n, (right + n - responses.shape[1]) / n


def past_errors(training: Training, places: Places, seed: int, rule: Rule) -> PastErrors:
    """Compute the errors on left-out training models, from the items at `places`."""
    across = _errors(training, places, rule, training.folds(seed))
    forward = _errors(training, places, rule, [training.best] if training.best.any() else [])
    if not len(training.scores):
        return PastErrors(across, forward, np.nan, np.nan)
    rare, ceiling = np.quantile(training.scores, [0.9, 1]).tolist()
    return PastErrors(across, forward, rare, ceiling)


def _errors(training: Training, places: Places, rule: Rule, groups: list[Bools]) -> Errors:
    """Estimate each group of training models (masks) by the rule fitted to the others."""
    estimate = np.full(len(training.scores), np.nan)
    for left_out in groups:
        new = training.filled[np.ix_(left_out, places)].astype(np.float64)
        predicted = rule(training, ~left_out, places)(new)
        estimate[left_out] = np.clip(predicted, *possible(new, training.items))
    rows = training.nearly_complete & ~np.isnan(estimate)
    return Errors(estimate[rows], training.scores[rows] - estimate[rows])


def calibrated_reach(
    past: PastErrors, estimate: Floats, n: int, level: float
) -> tuple[Floats, Floats, list[str]]:
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
    near, se = _near(past.across, estimate, n, level)
    few = ""
    count = len(past.across.error)
    if _rank(count, level) > count:
        few = f"the interval assumes normal errors, from only {count} training models"
    note = [join_notes(few, _AT_THE_TOP if top else "") for top in estimate > past.rare]
    beyond = estimate > past.ceiling
    if beyond.any() and len(past.forward.error) >= 2:
        ahead = past.forward.sizes(n)
        near[beyond] = np.maximum(near[beyond], _quantile(np.sort(ahead)[None], level)[0])
        se[beyond] = np.maximum(se[beyond], np.sqrt(np.mean(ahead**2)))
    scale = _scale(estimate, n)
    return near * scale, se * scale, note


def _near(errors: Errors, estimate: Floats, n: int, level: float) -> tuple[Floats, Floats]:
    """Return the quantile and the root mean square of the errors nearest to each estimate."""
    order = np.argsort(errors.estimate, kind="stable")
    past = errors.estimate[order]
    first = np.searchsorted(past, estimate)
    last = np.searchsorted(past, estimate, "right")
    window = min(_NEIGHBOURS, len(past))
    start = np.clip((first + last) // 2 - window // 2, 0, len(past) - window)
    starts, back = np.unique(start, return_inverse=True)
    places = starts[:, None] + np.arange(window)
    sizes = np.sort(errors.sizes(n)[order][places], axis=1)
    return _quantile(sizes, level)[back], np.sqrt((sizes**2).mean(axis=1))[back]


def _quantile(sizes: Floats, level: float) -> Floats:
    """Return the ⌈(c + 1)·level⌉-th of sorted sizes (r, c), or t times their spread."""
    count = sizes.shape[1]
    rank = _rank(count, level)
    if rank <= count:
        return sizes[:, rank - 1]
    from scipy.special import stdtrit

    spread = np.sqrt((sizes**2).mean(axis=1) * (1 + 1 / count))
    return stdtrit(count - 1, (1 + level) / 2) * spread


def _rank(count: int, level: float) -> int:
    return int(np.ceil((count + 1) * level))


def _scale(estimate: Floats, n: int) -> Floats:
    p = (estimate * n + 1) / (n + 2)
    return np.sqrt(p * (1 - p))
