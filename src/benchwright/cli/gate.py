"""`benchwright gate`: whether a model is not worse than another, for continuous integration."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchwright.cli.compare import (
    Comparison,
    Pair,
    compare,
    comparison_json,
    points,
    render,
    summary,
)
from benchwright.cli.compare_plots import plot_evidence
from benchwright.core.atomic_files import written_aside
from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.datasets.subset_manifest import SubsetManifest
from benchwright.methods.dele.estimation.subset_scores import RANDOM, estimate_scores
from benchwright.responses.known_responses import KnownResponses
from benchwright.statistics.anytime import Decision, Evidence, evidence, first_decision

EXIT_CODES: dict[Decision, int] = {"not worse": 0, "worse": 1, "undecided": 2}
UNUSABLE = 3
_STAGE = "gate"


class GateRequest(NamedTuple):
    """Margin and error rate, in shares, and the seed of the order of items."""

    margin: float
    alpha: float
    seed: int = 0


class Gated(NamedTuple):
    """A decision.

    Attributes:
        comparison: the two models compared, with the interval at level 1 − 2α.
        request: margin and error rate.
        decision: `not worse`, `worse` or `undecided`.
        figures: numbers that the decision rests on, by name.
        reason: the same in words.
        path: the e-processes over the answers, None without `--anytime`.
    """

    comparison: Comparison
    request: GateRequest
    decision: Decision
    figures: dict[str, float]
    reason: str
    path: Evidence | None = None


def gate_all(pair: Pair, request: GateRequest) -> Gated:
    """Decide by the interval at level 1 − 2α, for items of this kind."""
    made = compare(pair, 1 - 2 * request.alpha)
    return _by_bounds(made, request, (made.overall.low, made.overall.high), "items of this kind")


def gate_subset(
    pair: Pair, subset: SubsetManifest, training: KnownResponses | None, request: GateRequest
) -> Gated:
    """Decide by the estimated difference on the whole benchmark, from answers to a random subset.

    (1 + B − A)/2 is estimated as one model's responses, so the difference is 2 · score − 1.

    Raises:
        InputError: the subset was not drawn at random, or no answer is to one of its items.
    """
    if not subset.equal_weights or subset.sampler not in RANDOM:
        raise InputError(
            f"--subset: the sampler {subset.sampler} chooses items; intervals of differences need "
            f"one of {', '.join(sorted(RANDOM))}"
        )
    made = compare(pair, 1 - 2 * request.alpha)
    halves = ((1 + pair.d) / 2).astype(np.float32)[None, :]
    new = KnownResponses("A and B", ("B − A",), pair.item_ids, halves)
    if training is not None:
        compared = {parse_configuration(side.model).model for side in (pair.first, pair.second)}
        training = training.without(compared)
    level = 1 - 2 * request.alpha
    estimated = estimate_scores(subset, new, training, level=level, seed=request.seed, paired=True)
    found = estimated.models[0]
    if found.score is None or found.low is None or found.high is None:
        raise InputError(f"--subset: {found.reason}")
    low, score, high = (2 * value - 1 for value in (found.low, found.score, found.high))
    whose = f"all {estimated.of_items:,} items, estimated by {estimated.estimator}: "
    gated = _by_bounds(made, request, (low, high), f"{whose}{points(score, signed=True)} points")
    notes = (*estimated.notes, *([found.reason] if found.reason else []))
    made = made._replace(pair=pair._replace(notes=(*pair.notes, *notes)))
    return gated._replace(comparison=made, figures={"estimate": score, **gated.figures})


def _by_bounds(
    made: Comparison, request: GateRequest, bounds: tuple[float, float], where: str
) -> Gated:
    low, high = bounds
    decision: Decision = "undecided"
    if low > -request.margin:
        decision = "not worse"
    elif high < -request.margin:
        decision = "worse"
    reason = (
        f"one-sided {1 - request.alpha:.1%} bounds of B − A on {where}: "
        f"{points(low, signed=True)} and {points(high, signed=True)} points"
    )
    return Gated(made, request, decision, {"low": low, "high": high}, reason)


def gate_anytime(pair: Pair, request: GateRequest) -> Gated:
    """Decide by e-processes over the items in the order of their keyed hashes.

    Items are those that either model answered; those passed over, which only one of them answered
    although a later item was answered by both, are left out.

    Raises:
        InputError: the margin is 0 and an answer is neither right nor wrong.
    """
    d = dict(zip(pair.item_ids, pair.d, strict=True))
    if not request.margin and not np.isin(pair.answers, (0, 1)).all():
        raise InputError("--anytime with --margin 0 needs answers of 0 or 1; give a margin above 0")
    order = item_order([*pair.item_ids, *pair.only], request.seed)
    last = max(at for at, name in enumerate(order) if name in d)
    answered = np.array([d[name] for name in order[: last + 1] if name in d])
    total = len(answered) + len(order) - last - 1
    found = evidence(answered, request.margin, total)
    decision, items = first_decision(found, request.alpha)
    final = [min(float(np.exp(min(part[items - 1], 700.0))), 1e300) for part in found]
    reason = (
        f"{'decided after' if decision != 'undecided' else 'undecided after'} {items:,} of "
        f"{total:,} items in the order of seed {request.seed}; evidence for not worse "
        f"{final[0]:.3g}, for worse {final[1]:.3g}, needed {1 / request.alpha:.3g}"
    )
    figures: dict[str, float] = {
        "stopped_after": items,
        "answered": len(answered),
        "of_items": total,
        "evidence_not_worse": final[0],
        "evidence_worse": final[1],
        "seed": request.seed,
    }
    made = compare(pair, 1 - 2 * request.alpha)
    return Gated(made, request, decision, figures, reason, found)


def item_order(item_ids: Sequence[str], seed: int) -> list[str]:
    """Return ids in the order of a hash of seed and id, in which `--anytime` takes the items."""
    ids = sorted(item_ids)
    return [ids[at] for at in np.argsort(item_uniforms(seed, _STAGE, ids), kind="stable")]


def write_order(pair: Pair, seed: int, file: Path) -> Path:
    """Write the ids of all items in the order of the seed, one per line."""
    with written_aside(file) as aside:
        lines = item_order([*pair.item_ids, *pair.only], seed)
        aside.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def verdict(made: Gated) -> str:
    """Say the decision in one line."""
    margin = f"{points(made.request.margin)} points"
    texts: dict[Decision, str] = {
        "not worse": f"not worse: B − A is above −{margin}",
        "worse": f"worse: B − A is below −{margin}",
        "undecided": f"undecided: B − A may be on either side of −{margin}",
    }
    return texts[made.decision] + f" (α = {made.request.alpha:g})"


def gate_lines(made: Gated) -> list[str]:
    """Return the lines to print."""
    return [verdict(made), made.reason, *summary(made.comparison)]


def gate_json(made: Gated) -> dict[str, Any]:
    """Return decision and comparison as JSON."""
    gate = {
        "decision": made.decision,
        "exit_code": EXIT_CODES[made.decision],
        "margin": made.request.margin,
        "alpha": made.request.alpha,
        **{name: None if math.isnan(value) else value for name, value in made.figures.items()},
    }
    return {"gate": gate, **comparison_json(made.comparison)}


def render_gate(made: Gated) -> str:
    """Render the page of the comparison with the decision as its headline."""
    plots = {}
    if made.path is not None:
        stopped = int(made.figures["stopped_after"])
        drawn = plot_evidence(made.path, made.request.alpha, stopped, made.decision)
        plots["evidence"] = drawn
    allowed = made.request.margin
    return render(made.comparison, verdict(made), (made.reason,), allowed, plots)
