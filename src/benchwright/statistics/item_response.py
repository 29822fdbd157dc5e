"""Two-parameter item response theory: how hard an item is and how well it tells models apart.

A model of ability θ gives the right answer to an item with probability σ(a(θ − b)), a > 0 the
item's discrimination, b its difficulty. Abilities are standard normal; that fixes the scale.
Parameters are fitted by marginal maximum likelihood with EM on a grid of abilities (Bock & Aitkin
1981). Sums over answers are taken through the sufficient statistics Σ r and Σ r·θ, so complete
answers need no models × items × nodes product; each step restores the scale (PX-EM; Liu, Rubin &
Wu 1998), without which EM converges very slowly for thousands of items.
"""

from collections.abc import Iterator
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from benchwright.core.array_types import AnyFloats, Bools, Floats
from benchwright.core.wording import count

FEWEST_MODELS = 2
DISCRIMINATION_BOUNDS = (0.05, 10.0)

# Standard deviations of the priors log a ~ N(0, 1²) and b ~ N(0, 3²). They are weak: 95% of their
# mass is in 0.14–7.1 and ±5.9. They keep items finite that all models, or none, get right.
_LOG_A_SD = 1.0
_B_SD = 3.0

_REACH = 6.0  # the grid spans abilities from −6 to 6
_FEWEST_NODES = 61
_MOST_NODES = 2001
_SPACING = 1.5  # node distance in posterior standard deviations; errs by 3e-4 of the integral
_COARSE = 0.5  # largest step, in standard errors, at which the grid may be refined
_COARSE_STEPS = 25  # after this number of steps it is refined in any case
_BLOCK = 400_000  # numbers in one working array: items × nodes, or items × models


class ItemResponse(NamedTuple):
    """A fitted two-parameter model of n items and m models."""

    discrimination: Floats  # (n,) a in 0.05–10, per unit of ability
    difficulty: Floats  # (n,) b, the ability at which half of the answers are right
    # (m,) posterior mean (EAP); mean and, with its uncertainty, variance near 0 and 1.
    ability: Floats
    ability_se: Floats  # (m,) posterior standard deviation, with a and b taken as known
    log_likelihood: float  # marginal log-likelihood of the answers in nats, without the priors
    iterations: int  # EM steps taken
    converged: bool  # no parameter moved by more than the tolerance in the last step
    nodes: int  # points of the grid of abilities in the end
    # "" or, in words, why estimates are NaN, at a bound or only as good as the priors.
    reason: str = ""


def probability(ability: ArrayLike, discrimination: ArrayLike, difficulty: ArrayLike) -> Floats:
    """Return the probability (m, n) of a right answer by models of `ability` (m,) to items (n,)."""
    theta = np.asarray(ability, dtype=np.float64)[:, None]
    a = np.asarray(discrimination, dtype=np.float64)
    b = np.asarray(difficulty, dtype=np.float64)
    return np.asarray(np.exp(-np.logaddexp(0, -(a * (theta - b)))))


def fit_2pl(correct: ArrayLike, *, iterations: int = 500, tolerance: float = 1e-3) -> ItemResponse:
    """Fit P = σ(a(θ − b)) to answers of m models to n items by marginal maximum likelihood.

    The fit is deterministic and does not depend on the order of models or items. Missing answers
    are not imputed. A fraction counts as that part of a right answer. Items and models without
    answers are NaN. If nothing can be fitted, all is NaN and `reason` says why.

    Args:
        correct: (m, n) in [0, 1], NaN where there is no answer.
        iterations: most EM steps.
        tolerance: largest step of any parameter, in its standard errors, that counts as none.

    Raises:
        ValueError: `correct` is not a matrix or leaves [0, 1].
    """
    values = np.asarray(correct)
    if values.dtype != np.float32:
        values = values.astype(np.float64)
    if values.ndim != 2 or ((values < 0) | (values > 1)).any():
        raise ValueError("expected a models × items matrix of answers in 0–1 or NaN")
    known = ~np.isnan(values)
    models = known.any(axis=1)
    items = known.any(axis=0)
    answers = values[models][:, items]
    reason = _nothing_to_fit(answers)
    if reason:
        return _not_fitted(len(models), len(items), reason)
    responses = _Responses.of(answers)
    fit = _expectation_maximization(responses, iterations, tolerance)
    posterior = _posterior(responses, fit.slope, fit.intercept, fit.nodes)
    return ItemResponse(
        discrimination=_spread(fit.slope, items),
        difficulty=_spread(-fit.intercept / fit.slope, items),
        ability=_spread(posterior.mean, models),
        ability_se=_spread(np.sqrt(posterior.variance), models),
        log_likelihood=posterior.log_likelihood,
        iterations=fit.iterations,
        converged=fit.converged,
        nodes=len(fit.nodes),
        reason=_notes(answers, values.shape, fit),
    )


def _not_fitted(m: int, n: int, reason: str) -> ItemResponse:
    return ItemResponse(
        discrimination=np.full(n, nan),
        difficulty=np.full(n, nan),
        ability=np.full(m, nan),
        ability_se=np.full(m, nan),
        log_likelihood=nan,
        iterations=0,
        converged=False,
        nodes=0,
        reason=reason,
    )


class _Responses(NamedTuple):
    """Answers (n, m), 0 where missing, and where they are missing; None if nowhere."""

    right: AnyFloats
    missing: Bools | None

    @classmethod
    def of(cls, values: AnyFloats) -> "_Responses":
        right = np.ascontiguousarray(values.T)
        missing = np.isnan(right)
        return cls(np.where(missing, 0, right), missing if missing.any() else None)

    def blocks(self, width: int) -> Iterator[tuple[slice, Floats, Floats | None]]:
        """Yield blocks of items: their rows, answers (i, m), and gaps (i, m) or None."""
        n, m = self.right.shape
        size = max(8, _BLOCK // max(width, m))
        for start in range(0, n, size):
            where = slice(start, start + size)
            gaps = None if self.missing is None else self.missing[where].astype(np.float64)
            yield where, self.right[where].astype(np.float64), gaps


class _Fit(NamedTuple):
    slope: Floats  # a, (n,)
    intercept: Floats  # −a·b, (n,)
    nodes: Floats
    iterations: int
    converged: bool


class _Posterior(NamedTuple):
    """Posterior of the abilities: weight (m, q), mean and variance (m,), log-likelihood."""

    weight: Floats
    mean: Floats
    variance: Floats
    log_likelihood: float


def _expectation_maximization(responses: _Responses, iterations: int, tolerance: float) -> _Fit:
    """Iterate on a coarse grid until little changes, then on one as fine as posteriors need."""
    slope, intercept = _start(responses)
    nodes = np.linspace(-_REACH, _REACH, _FEWEST_NODES)
    damping = np.ones(len(slope))
    last = np.zeros((2, len(slope)))
    fine = False
    for step in range(1, iterations + 1):
        posterior = _posterior(responses, slope, intercept, nodes)
        newton, sharpness = _maximize(responses, posterior, slope, intercept, nodes)
        damping = _damped(damping, newton * sharpness, last)
        last = newton * sharpness
        by_a, by_d = newton * damping
        new_slope, new_intercept = _rescaled(slope * np.exp(by_a), intercept + by_d, posterior)
        change = np.stack([np.log(new_slope / slope), new_intercept - intercept]) / damping
        moved = float((np.abs(change) * sharpness).max())
        slope = new_slope
        intercept = new_intercept
        enough = tolerance if fine else max(tolerance, _COARSE)
        if moved > enough and step != _COARSE_STEPS:
            continue
        wanted = _nodes_wanted(responses, slope, intercept, nodes)
        if moved <= tolerance and fine and wanted <= 1.25 * len(nodes):
            return _Fit(slope, intercept, nodes, step, converged=True)
        fine = True
        if wanted > len(nodes):
            nodes = np.linspace(-_REACH, _REACH, wanted)
    return _Fit(slope, intercept, nodes, iterations, converged=False)


def _start(responses: _Responses) -> tuple[Floats, Floats]:
    """Start with a = 1 and the b that gives a standard normal panel the observed shares."""
    gaps = 0 if responses.missing is None else responses.missing.sum(axis=1)
    answered = responses.right.shape[1] - gaps
    share = (responses.right.sum(axis=1, dtype=np.float64) + 0.5) / (answered + 1)
    # A logistic averaged over N(0, 1) is close to one flatter by √(1 + 3/π²).
    flatter = np.sqrt(1 + 3 / np.pi**2)
    return np.ones(len(share)), np.log(share / (1 - share)) * flatter


def _odds(slope: Floats, intercept: Floats, nodes: Floats) -> Floats:
    """P / (1 − P) of items (n,) at nodes (q,)."""
    return np.asarray(np.exp(slope[:, None] * nodes + intercept[:, None]))


def _posterior(
    responses: _Responses, slope: Floats, intercept: Floats, nodes: Floats
) -> _Posterior:
    """E step. log P(answers | θ) = Σ r·(aθ + d) − Σ log(1 + exp(aθ + d)) over answered items."""
    m = responses.right.shape[1]
    shared = -0.5 * nodes**2
    shared -= np.log(np.exp(shared).sum())
    log_joint = np.zeros((m, len(nodes)))
    slopes = np.zeros(m)
    intercepts = np.zeros(m)
    for where, right, gaps in responses.blocks(len(nodes)):
        softplus = np.log1p(_odds(slope[where], intercept[where], nodes))
        shared -= softplus.sum(axis=0)
        if gaps is not None:
            log_joint += gaps.T @ softplus
        slopes += slope[where] @ right
        intercepts += intercept[where] @ right
    log_joint += shared + slopes[:, None] * nodes + intercepts[:, None]
    top = log_joint.max(axis=1, keepdims=True)
    weight = np.exp(log_joint - top)
    total = weight.sum(axis=1, keepdims=True)
    weight /= total
    mean = weight @ nodes
    variance = np.maximum(weight @ nodes**2 - mean**2, 0)
    log_likelihood = float((top + np.log(total)).sum())
    return _Posterior(weight, mean, variance, log_likelihood)


def _maximize(
    responses: _Responses, posterior: _Posterior, slope: Floats, intercept: Floats, nodes: Floats
) -> tuple[Floats, Floats]:
    """M step: one Newton step for (log a, d) of each item (2, n), and √information (2, n)."""
    used = posterior.weight.sum(axis=0) > 1e-12 * len(posterior.weight)
    nodes = nodes[used]
    weight = posterior.weight[:, used]
    powers = np.stack([np.ones_like(nodes), nodes, nodes**2], axis=1)
    mass = weight.sum(axis=0)
    gradient = np.empty((2, len(slope)))
    information = np.empty((3, len(slope)))  # aa, ad, dd
    for where, right, gaps in responses.blocks(len(nodes)):
        odds = _odds(slope[where], intercept[where], nodes)
        p = odds / (1 + odds)
        seen = mass if gaps is None else np.maximum(mass - gaps @ weight, 0)
        expected = p * seen
        first = expected @ powers[:, :2]
        gradient[0, where] = right @ posterior.mean - first[:, 1]
        gradient[1, where] = right.sum(axis=1) - first[:, 0]
        information[::-1, where] = ((expected * (1 - p)) @ powers).T
    # By log a. The information takes the observed curvature where that is the larger one: expected
    # information alone never converges when an item's slope shrinks towards 0.
    gradient[0] *= slope
    information[0] *= slope**2
    information[0] += np.maximum(-gradient[0], 0)
    information[1] *= slope
    _add_priors(gradient, information, slope, intercept)
    return _newton_step(gradient, information, slope, intercept), np.sqrt(information[::2])


def _add_priors(gradient: Floats, information: Floats, slope: Floats, intercept: Floats) -> None:
    """Add −(log a)²/2s² and −(d/a)²/2s² to derivatives by (log a, d), in place."""
    precision = _LOG_A_SD**-2
    by_d = -1 / (slope * _B_SD)
    b = intercept * by_d  # in standard deviations of the prior
    gradient[0] += b**2 - precision * np.log(slope)
    gradient[1] -= b * by_d
    information[0] += precision + 2 * b**2
    information[1] -= b * by_d
    information[2] += by_d**2


def _newton_step(gradient: Floats, information: Floats, slope: Floats, intercept: Floats) -> Floats:
    """Information⁻¹ × gradient (2, n), of d alone where a would cross its bound.

    A step is shortened to at most 1 for log a, and to 2 or |d| for d.
    """
    g_a, g_d = gradient
    aa, ad, dd = information
    determinant = np.maximum(aa * dd - ad**2, 1e-12 * aa * dd + 1e-30)
    step = np.stack([dd * g_a - ad * g_d, aa * g_d - ad * g_a]) / determinant
    low, high = DISCRIMINATION_BOUNDS
    above = (slope >= high) & (step[0] > 0)
    below = (slope <= low) & (step[0] < 0)
    stuck = above | below
    step[1] = np.where(stuck, g_d / np.maximum(dd, 1e-30), step[1])
    longest = np.stack([np.ones_like(intercept), np.maximum(2, np.abs(intercept))])
    excess = (np.abs(step) / longest).max(axis=0)
    return np.asarray(step / np.maximum(1, excess))


def _damped(damping: Floats, step: Floats, last: Floats) -> Floats:
    """Shorter steps for items whose step undoes half of the one before, longer ones for others."""
    undone = -(step * last).sum(axis=0)
    back = undone > 0.5 * (last**2).sum(axis=0)
    shorter = np.maximum(damping / 2, 1 / 64)
    longer = np.minimum(damping * 1.2, 1)
    return np.where(back, shorter, longer)


def _rescaled(slope: Floats, intercept: Floats, posterior: _Posterior) -> tuple[Floats, Floats]:
    """Rescale the curves to abilities of mean 0 and variance 1."""
    sd = np.sqrt(posterior.variance.mean() + posterior.mean.var())
    a = np.clip(slope * sd, *DISCRIMINATION_BOUNDS)
    return a, intercept + slope * posterior.mean.mean()


def _nodes_wanted(responses: _Responses, slope: Floats, intercept: Floats, nodes: Floats) -> int:
    """Return an odd number of nodes that are `_SPACING` posterior standard deviations apart."""
    information = np.ones_like(nodes)
    for where, _, _ in responses.blocks(len(nodes)):
        p = probability(nodes, slope[where], -intercept[where] / slope[where])
        information += p * (1 - p) @ slope[where] ** 2
    wanted = 2 * _REACH * np.sqrt(information.max()) / _SPACING
    return int(np.clip(wanted // 2 * 2 + 1, _FEWEST_NODES, _MOST_NODES))


def _nothing_to_fit(values: AnyFloats) -> str:
    m, n = values.shape
    if not n:
        return "no answers"
    if m < FEWEST_MODELS:
        return f"1 model with answers; at least {FEWEST_MODELS} are needed"
    if _constant(values).all():
        return "no item tells two models apart: each has the same answer from all of them"
    return ""


def _notes(answers: AnyFloats, shape: tuple[int, ...], fit: _Fit) -> str:
    silent_models, silent_items = np.subtract(shape, answers.shape)
    constant = _constant(answers).sum()
    at_bound = np.isin(fit.slope, DISCRIMINATION_BOUNDS).sum()
    notes = [] if fit.converged else [f"did not converge in {fit.iterations} steps"]
    for n, noun, what in (
        (silent_items, "item", "without answers: NaN"),
        (silent_models, "model", "without answers: NaN"),
        (constant, "item", "with one answer from all models: held finite by the priors"),
        (at_bound, "item", "at a bound"),
    ):
        if n:
            notes.append(f"{count(n, noun)} {what}")
    return "; ".join(notes)


def _constant(answers: AnyFloats) -> Bools:
    """Mark the items (n,) with the same answer from all models."""
    return np.asarray(np.nanmax(answers, axis=0) == np.nanmin(answers, axis=0))


def _spread(column: Floats, where: Bools) -> Floats:
    out = np.full(len(where), nan)
    out[where] = column
    return out
