"""Intervals from the errors that an estimator made on training models it had not seen.

Each fold of training models is estimated from the others, by the same subset, as if it were new.
The size of these errors, in units of √(p(1 − p)), bounds the errors on new models of which the
training models are typical (split conformal prediction over folds; Barber et al. 2021, CV+).
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from benchwright.methods.dele.estimation.training import PreparedTraining, Rows

Float = NDArray[np.float64]
Predict = Callable[[Float], Float]

_BLOCK = 1 << 22
_AT_THE_TOP = (
    "above nine in ten training models; for a new kind of model the interval may be too narrow"
)


class Rule(Protocol):
    """A way to predict scores that can be learnt from some of the training models."""

    def __call__(
        self, prepared: PreparedTraining, rows: Rows | None, places: NDArray[np.intp]
    ) -> Predict:
        """Learn from models `rows` (m,) to predict scores (r,) from answers (r, k)."""
        ...


class Errors(NamedTuple):
    """Estimates (c,) of c models and truth minus estimate (c,)."""

    estimate: Float
    error: Float


class PastErrors(NamedTuple):
    """Errors on training models: of folds left out, and of the best ones left out.

    `rare` is the score that a tenth of the training models reach, `ceiling` the highest.
    """

    across: Errors
    forward: Errors
    rare: float
    ceiling: float


class Reach(NamedTuple):
    """Half width (r,) of intervals, standard error (r,), and a note for each model."""

    half: Float
    se: Float
    note: list[str]


def possible(answers: Float, n: int) -> tuple[Float, Float]:
    """Return the lowest and highest scores (r,) over n items that answers (r, k) allow."""
    right = answers.sum(axis=1)
    return right / n, (right + n - answers.shape[1]) / n


def past_errors(
    prepared: PreparedTraining, places: NDArray[np.intp], seed: int, rule: Rule
) -> PastErrors:
    """Estimate training models that the rule was not fitted to, from the items at `places`."""
    fold = prepared.folds(seed)
    estimate = np.full(len(fold), np.nan)
    for part in np.unique(fold[fold >= 0]):
        left_out = fold == part
        estimate[left_out] = _predicted(prepared, places, rule, left_out)
    best = prepared.best
    ahead = np.full(len(fold), np.nan)
    if best.any():
        ahead[best] = _predicted(prepared, places, rule, best)
    across, forward = (
        Errors(found[there], prepared.scores[there] - found[there])
        for found in (estimate, ahead)
        for there in [prepared.nearly_complete & ~np.isnan(found)]
    )
    rare, ceiling = np.quantile(prepared.scores, [0.9, 1]) if len(fold) else (np.nan, np.nan)
    return PastErrors(across, forward, float(rare), float(ceiling))


def calibrated_reach(
    past: PastErrors, estimate: Float, n: int, level: float, neighbours: int
) -> Reach:
    """Bound how far the truth lies from estimates (r,) at `level`.

    Of the `neighbours` past estimates nearest to each, the error that a share `level` of them
    (corrected for their number) does not exceed. Beyond the best training model the errors made
    on the best training models, left out, count too where they are larger. With too few past
    errors for the level, Student's t takes the place of the quantile.
    """
    blank = np.full(len(estimate), np.nan)
    if len(past.across.error) < 2:
        return Reach(blank, blank, ["too few training models to measure errors"] * len(estimate))
    scale = _scale(estimate, n)
    size = np.abs(past.across.error) / _scale(past.across.estimate, n)
    order = np.argsort(past.across.estimate, kind="stable")
    near, se = _near(past.across.estimate[order], size[order], estimate, level, neighbours)
    few = ""
    if int(np.ceil((len(size) + 1) * level)) > len(size):
        few = f"interval from the errors of {len(size)} training models, taken as normal"
    above = [_AT_THE_TOP if top else "" for top in estimate > past.rare]
    note = ["; ".join(filter(None, (few, top))) for top in above]
    beyond = estimate > past.ceiling
    if beyond.any() and len(past.forward.error) >= 2:
        ahead = np.abs(past.forward.error) / _scale(past.forward.estimate, n)
        near[beyond] = np.maximum(near[beyond], _quantile(np.sort(ahead)[None], level)[0])
        se[beyond] = np.maximum(se[beyond], np.sqrt(np.mean(ahead**2)))
    return Reach(near * scale, se * scale, note)


def _predicted(
    prepared: PreparedTraining, places: NDArray[np.intp], rule: Rule, left_out: Rows
) -> Float:
    answers = prepared.filled[np.ix_(left_out, places)].astype(np.float64)
    return np.clip(rule(prepared, ~left_out, places)(answers), *possible(answers, prepared.items))


def _near(
    past: Float, size: Float, estimate: Float, level: float, neighbours: int
) -> tuple[Float, Float]:
    window = min(neighbours, len(past))
    centre = (np.searchsorted(past, estimate) + np.searchsorted(past, estimate, "right")) // 2
    start = np.clip(centre - window // 2, 0, len(past) - window)
    starts, back = np.unique(start, return_inverse=True)
    reach, rms = np.empty(len(starts)), np.empty(len(starts))
    step = max(1, _BLOCK // window)
    for begin in range(0, len(starts), step):
        block = slice(begin, begin + step)
        sizes = np.sort(size[starts[block, None] + np.arange(window)], axis=1)
        reach[block] = _quantile(sizes, level)
        rms[block] = np.sqrt((sizes**2).mean(axis=1))
    return reach[back], rms[back]


def _quantile(sizes: Float, level: float) -> Float:
    """Of sorted sizes (r, c), the one whose rank is ⌈(c + 1)·level⌉; t where there is none."""
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
