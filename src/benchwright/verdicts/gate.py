"""`benchwright gate`: whether a model is not worse than another, for continuous integration."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.core.wording import count
from benchwright.exports.subset_manifest import SubsetManifest
from benchwright.methods.dele.estimation.estimated_scores import RANDOM
from benchwright.statistics.anytime import Decision, Evidence, evidence, first_decision
from benchwright.verdicts.compare import (
    Comparison,
    cautions,
    compare,
    comparison_json,
    group_lines,
    none_for_nan,
    scale_cautions,
    summary,
)
from benchwright.verdicts.pair import Pair

EXIT_CODES: dict[Decision, int] = {"not worse": 0, "worse": 1, "undecided": 2}
_STAGE = "gate"
_LARGE_MARGIN = 0.2
_MOST_NEEDED = 1e7
_FEWEST = 10  # items, or clusters of items, that decide


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
        anytime: whether it is about these items, at any number of answers.
    """

    comparison: Comparison
    request: GateRequest
    decision: Decision
    figures: dict[str, float]
    reason: str
    anytime: bool = False

    def __repr__(self) -> str:
        return "\n".join(gate_lines(self))


def gate_all(pair: Pair, request: GateRequest) -> Gated:
    """Decide by the bounds at level 1 − 2α for items of this kind; what is missing at its worst."""
    return _by_bounds(pair, request, "items of this kind")


def gate_subset(
    pair: Pair,
    subset: SubsetManifest,
    request: GateRequest,
    places: Mapping[str, int] | None = None,
) -> Gated:
    """Decide by the bounds for the whole benchmark, of which the items are a random subset.

    Items of the subset that a model did not answer count as in `Pair.bounds`. `places` has the
    items' places in the pair by their ids in the subset, where the ids differ.

    Raises:
        InputError: the subset was not drawn at random, or no answer is to one of its items.
    """
    if not subset.equal_weights or subset.sampler not in RANDOM:
        raise InputError(
            f"--subset: the sampler {subset.sampler} chooses items; intervals of differences need "
            f"one of {', '.join(sorted(RANDOM))}"
        )
    pair = _of_subset(pair, subset, places)
    where = f"all {subset.of_items:,} items"
    note = f"the interval of the difference is for {where} of {subset.benchmark}"
    pair = pair._replace(notes=(note, *pair.notes))
    return _by_bounds(pair, request, where, subset.of_items)


def _of_subset(pair: Pair, subset: SubsetManifest, places: Mapping[str, int] | None) -> Pair:
    """Return the pair on all items of the subset, with those that neither side answered."""
    known = {name: at for at, name in enumerate(pair.item_ids)} if places is None else places
    at = np.array([known.get(item, -1) for item in subset.item_ids], dtype=np.intp)
    if (at < 0).all():
        raise InputError(
            f"--subset: 0 of its {len(subset.items):,} items are answered: it begins with "
            f"{subset.item_ids[0]}, the {len(pair.item_ids):,} answered items with "
            f"{pair.item_ids[0]}; give the subset that was asked"
        )
    if not pair.both[at[at >= 0]].any():
        raise InputError("--subset: no item of the subset was answered by both models")
    return pair.select(at)._replace(item_ids=subset.item_ids)


def _by_bounds(pair: Pair, request: GateRequest, where: str, total: float = math.inf) -> Gated:
    """Decide by the bounds of B − A on `total` items, infinitely many of this kind.

    On fewer than ten items, or clusters of items, bounds miss too often to decide.
    """
    made = compare(pair, 1 - 2 * request.alpha, request.alpha, total)
    low = made.worst.low
    high = made.best.high
    points = pair.scale.points
    few = len(np.unique(pair.clusters[pair.both])) < _FEWEST
    decision: Decision = "undecided"
    if low > -request.margin and not few:
        decision = "not worse"
    elif high < -request.margin and not few:
        decision = "worse"
    reason = (
        f"one-sided {1 - request.alpha:.1%} bounds of B − A on {where}: "
        f"{points(low, signed=True)} and {points(high, signed=True)} points"
    )
    if not pair.both.all():
        reason += ", with missing answers of B wrong in the first and right in the second"
    elif pair.more_unread:
        reason += f", with {pair.more_unread:,} unreadable answers of A right in the first"
    figures = {"low": low, "high": high}
    if few:
        reason += f"; fewer than {_FEWEST} items, or clusters of items, decide nothing"
    elif decision == "undecided" and (needed := _items_needed(made, request, total)):
        reason += f"; about {needed:,} items would decide if the difference stays as it is"
        figures["items_needed"] = needed
    return _refuse_odd_scales(Gated(made, request, decision, figures, reason))


def _refuse_odd_scales(gated: Gated) -> Gated:
    """Leave undecided what B passes while scores hardly fit their scale."""
    odd = scale_cautions(gated.comparison.pair)
    if gated.decision != "not worse" or not odd:
        return gated
    return gated._replace(decision="undecided", reason=f"{gated.reason}; B does not pass: {odd[0]}")


def _items_needed(made: Comparison, request: GateRequest, total: float) -> int:
    """Return how many of `total` items would decide at the same difference; 0 if unknown.

    The bounds approach the difference with the root of 1/items − 1/total.
    """
    difference = made.overall.difference
    distance = difference + request.margin
    if made.pair.is_bounded or not distance:
        return 0
    reach = difference - made.overall.low
    if distance < 0:
        reach = made.overall.high - difference
    now = 1 / len(made.pair.item_ids) - 1 / total
    needed = 1 / (1 / total + now * (distance / reach) ** 2)
    return math.ceil(needed) if needed < _MOST_NEEDED else 0


def gate_anytime(pair: Pair, request: GateRequest) -> Gated:
    """Decide by e-processes over the items in the order of their keyed hashes.

    Items after the last that both answered are not asked yet; of those before it, missing answers
    count as in `Pair.bounds`.

    Raises:
        InputError: the margin is 0 and an answer is neither right nor wrong.
    """
    whole = np.isin(pair.answers, (0, 1)) | np.isnan(pair.answers)
    if not request.margin and not whole.all():
        raise InputError("--anytime with --margin 0 needs answers of 0 or 1; give a margin above 0")
    order = item_order(pair.item_ids, request.seed)
    places = {name: at for at, name in enumerate(pair.item_ids)}
    at = np.array([places[name] for name in order])
    last = int(np.flatnonzero(pair.both[at]).max())
    passed, total = at[: last + 1], len(order)
    lowest, highest = (each[passed] for each in pair.bounds())
    found = Evidence(
        evidence(lowest, request.margin, total).not_worse,
        evidence(highest, request.margin, total).worse,
    )
    decision, items = first_decision(found, request.alpha)
    final = [min(float(np.exp(min(part[items - 1], 700.0))), 1e300) for part in found]
    reason = (
        f"{'un' * (decision == 'undecided')}decided after {items:,} of "
        f"{total:,} items in the order of seed {request.seed}; evidence for not worse "
        f"{final[0]:.3g}, for worse {final[1]:.3g}, needed {1 / request.alpha:.3g}"
    )
    missing = int((~pair.both[passed]).sum())
    if missing:
        reason += f"; worst case assumed for {count(missing, 'item')} without both answers"
    figures: dict[str, float] = {
        "stopped_after": items,
        "answered": len(passed),
        "of_items": total,
        "evidence_not_worse": final[0],
        "evidence_worse": final[1],
        "seed": request.seed,
    }
    made = compare(pair, 1 - 2 * request.alpha, request.alpha)
    gated = Gated(made, request, decision, figures, reason, anytime=True)
    return _refuse_odd_scales(gated)


def item_order(item_ids: Sequence[str], seed: int) -> list[str]:
    """Return ids in the order of a hash of seed and id, in which `--anytime` takes the items."""
    ids = sorted(item_ids)
    return [ids[at] for at in np.argsort(item_uniforms(seed, _STAGE, ids), kind="stable")]


def order_text(pair: Pair, seed: int) -> str:
    """Return the ids of all items in the order of the seed, one per line."""
    return "\n".join(item_order(pair.item_ids, seed)) + "\n"


def verdict(made: Gated) -> str:
    """Say the decision in one line."""
    margin = f"{made.comparison.pair.scale.points(made.request.margin)} points"
    texts: dict[Decision, str] = {
        "not worse": f"not worse: B − A is above −{margin}",
        "worse": f"worse: B − A is below −{margin}",
        "undecided": f"undecided: B − A may be on either side of −{margin}",
    }
    return texts[made.decision] + f" (α = {made.request.alpha:g})"


def gate_lines(made: Gated) -> list[str]:
    """Return the lines to print."""
    pair = made.comparison.pair
    first = cautions(pair, missing=not made.anytime)
    if not made.anytime and pair.may_leave_out and made.decision == "undecided":
        first.append("one side was asked fewer items: add --common to leave out the others")
    notes = []
    if made.request.margin >= _LARGE_MARGIN:
        notes.append(f"note: a margin of {pair.scale.points(made.request.margin)} points is large")
    lines = [*first, verdict(made), made.reason, *summary(made.comparison), *notes]
    return lines + group_lines(made.comparison)


def gate_json(made: Gated) -> dict[str, Any]:
    """Return decision and comparison as JSON."""
    gate = {
        "decision": made.decision,
        "exit_code": EXIT_CODES[made.decision],
        "margin": made.request.margin,
        "alpha": made.request.alpha,
        **{name: none_for_nan(value) for name, value in made.figures.items()},
    }
    return {"gate": gate, **comparison_json(made.comparison)}
