"""`benchwright compare`: differences of models on the items that both of a pair answered."""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.text_table import table_lines
from benchwright.core.wording import count
from benchwright.datasets.review_csv import spreadsheet_bytes
from benchwright.statistics.paired_differences import minimum_detectable_difference
from benchwright.statistics.paired_tests import (
    PairedDifference,
    mcnemar_mid_p,
    paired_difference,
    sign_flip_p,
)
from benchwright.statistics.percentile import holm
from benchwright.verdicts.comparable import refusals
from benchwright.verdicts.pair import MANY_MISSING, Pair, Panel

POWER = 0.8
_DIGITS = 4  # finer differences are rounding of single precision
_STEPS = (1, 5, 10)  # highest scores of smaller scales
_FLIPS_PRINTED = 10


class Comparison(NamedTuple):
    """A pair of models compared.

    Attributes:
        pair: what was compared.
        level: confidence level of the intervals.
        alpha: error rate of the tests, by which groups are better or worse.
        overall: the difference of the mean scores, B − A, on the items that both answered.
        worst, best: the same on all items, with missing answers of B wrong and those of A right,
            and the other way round; `overall` where nothing is missing.
        better, worse: number of items that B answers better, or worse, than A.
        p_value: of the exact McNemar test, mid-p; of random sign flips for graded scores.
        test: its name.
        detectable: difference that these items detect with power .8, NaN if unknown.
        groups: a row per task, of a single task per subject: name, items, a, b, difference, low,
            high, better, worse, p_value, holm.
        equal_weights: the mean of the groups' differences, each weighing the same; None without.
    """

    pair: Pair
    level: float
    alpha: float
    overall: PairedDifference
    worst: PairedDifference
    best: PairedDifference
    better: int
    worse: int
    p_value: float
    test: str
    detectable: float
    groups: pd.DataFrame
    equal_weights: PairedDifference | None = None

    def __repr__(self) -> str:
        return "\n".join(terminal_lines(self))

    def row(self, name: str) -> dict[str, Any]:
        """Return the difference as a row of `groups`, without `holm`."""
        return {
            "name": name,
            "items": int(self.pair.both.sum()),
            "a": self.pair.first.accuracy,
            "b": self.pair.second.accuracy,
            **{key: getattr(self.overall, key) for key in ("difference", "low", "high")},
            **{key: getattr(self, key) for key in ("better", "worse", "p_value")},
        }


class ComparedModels(NamedTuple):
    """Models compared with a baseline, the best first.

    Attributes:
        baseline: its name.
        made: a comparison per model, with the baseline as A.
        rows: a row per model: columns of `Comparison.groups`.
        notes: caveats.
        left_out: a line per file that was not read, and one of models without a comparison.
    """

    baseline: str
    made: tuple[Comparison, ...]
    rows: pd.DataFrame
    notes: tuple[str, ...]
    left_out: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(lines_of_models(self))


def compare(
    pair: Pair, level: float = 0.95, alpha: float | None = None, total: float = math.inf
) -> Comparison:
    """Compare two models over all items and by task or subject, with p-values of these by Holm.

    `alpha` is 1 − `level` if not given; `total` is the number of items from which those of the pair
    were drawn at random, by default infinitely many of this kind.
    """
    alpha = 1 - level if alpha is None else alpha
    both = pair.both
    d, clusters = pair.d[both], pair.clusters[both]
    overall = worst = best = paired_difference(d, clusters, level, total)
    if pair.is_bounded:
        lowest, highest = pair.bounds()
        worst = paired_difference(lowest, pair.clusters, level, total)
        best = paired_difference(highest, pair.clusters, level, total)
    better, worse = int((d > 0).sum()), int((d < 0).sum())
    p_value, test = mcnemar_mid_p(better, worse), "exact McNemar, mid-p"
    if not np.isin(d, (-1, 0, 1)).all():
        p_value, test = sign_flip_p(d, clusters), "sign-flip permutation"
    least = float(minimum_detectable_difference(overall.se, power=POWER))
    detectable = least if 0 < least <= 1 else math.nan
    tested = (better, worse, p_value, test, detectable)
    return Comparison(pair, level, alpha, overall, worst, best, *tested, *_by_group(pair, level))


def _by_group(pair: Pair, level: float) -> tuple[pd.DataFrame, PairedDifference | None]:
    names = [] if pair.groups is None else sorted(set(pair.groups[pair.both]))
    if len(names) < 2:
        return pd.DataFrame(), None
    alone = pair._replace(groups=None)
    parts = [compare(alone.select(np.flatnonzero(pair.groups == name)), level) for name in names]
    rows = pd.DataFrame([part.row(str(name)) for name, part in zip(names, parts, strict=True)])
    # The mean of independent differences, with a normal interval from their errors.
    error = math.hypot(*(part.overall.se for part in parts)) / len(parts)
    mean = float(rows["difference"].mean())
    reach = NormalDist().inv_cdf((1 + level) / 2) * error
    equal = PairedDifference(mean, error, mean - reach, mean + reach)
    return rows.assign(holm=holm(rows["p_value"])), equal


def compare_models(panel: Panel, level: float = 0.95) -> ComparedModels:
    """Compare each model of a panel with its baseline, with p-values by Holm."""
    made = [compare(pair, level) for pair in panel.pairs]
    made.sort(key=lambda each: (-each.overall.difference, each.pair.second.model))
    rows = pd.DataFrame([each.row(each.pair.second.model) for each in made])
    notes = [
        f"{each.pair.second.model}: {note}"
        for each in made
        for note in (*cautions(each.pair), *each.pair.notes)
        if note not in panel.left_out
    ]
    rows = rows.assign(holm=holm(rows["p_value"]))
    notes = [*panel.notes, *notes]
    return ComparedModels(panel.baseline, tuple(made), rows, tuple(notes), panel.left_out)


# --- in words ------------------------------------------------------------------------------------


def _missing(pair: Pair) -> str:
    """Say how many answers are missing; "" where all are there."""
    n = len(pair.item_ids)
    sides = {"A": pair.first.missing, "B": pair.second.missing}
    parts = [f"{k:,} of {n:,} answers of {name} ({k / n:.1%})" for name, k in sides.items() if k]
    return f"missing: {' and '.join(parts)}" if parts else ""


def cautions(pair: Pair, *, missing: bool = True) -> list[str]:
    """Return the lines with which a verdict begins: what makes it doubtful.

    That is files that were not read, broken premises, many unreadable or missing answers (these if
    `missing`), answers that contradict a key, and scores that hardly fit their scale.
    """
    lines = [f"not read: {problem}" for problem in pair.unusable]
    lines += refusals(pair.premises.broken)
    if pair.more_unread:
        lines.append(
            f"{pair.first.unreadable:,} of {len(pair.item_ids):,} answers of A are unreadable and "
            f"count as wrong, {pair.more_unread:,} more than of B, in favour of B"
        )
    if missing:
        lines += much_missing(pair)
    if (pair.answers[0, pair.both] == 0).all() and (pair.answers[1, pair.both] > 0).any():
        lines.append("every answer of A is wrong; check that the baseline is none that failed")
    return [*lines, *pair.contradicting, *scale_cautions(pair)]


def scale_cautions(pair: Pair) -> list[str]:
    """Return lines on scores that look as if they were of another scale."""
    low, high = pair.scale
    lines: list[str] = []
    highest = (np.nanmax(pair.answers, axis=1) * (high - low) + low).round(_DIGITS)
    steps = [next((step for step in _STEPS if each <= step), high) for each in highest]
    for name, step in zip("AB", steps, strict=True):
        if step < high and (low, high) != (0, 1) and step in _STEPS:
            least = f"no score of {name} is above {step:g} of {low:g}–{high:g}"
            lines.append(f"{least}; check that both have this scale")
    return lines


def much_missing(pair: Pair) -> list[str]:
    """Return a line if many answers are missing, or none."""
    worst = max(pair.first.missing, pair.second.missing)
    return [_missing(pair)] if worst > MANY_MISSING * len(pair.item_ids) else []


def headline(made: Comparison) -> str:
    """Say which model is better, by how many points."""
    pair = made.pair
    found = made.overall
    points = pair.scale.points
    a, b = pair.names
    if found.low <= 0 <= found.high:
        return f"no difference is shown: {b} minus {a} is {pair.scale.estimate(found)}"
    if found.difference > 0:
        interval = f"[{points(found.low)}, {points(found.high)}]"
        return f"{b} is better by {points(found.difference)} points {interval}"
    interval = f"[{points(-found.high)}, {points(-found.low)}]"
    return f"{a} is better by {points(-found.difference)} points {interval}"


def headline_of_models(found: ComparedModels) -> str:
    """Say how many models are better or worse than the baseline."""
    alpha = found.made[0].alpha
    shown = [_shown(row, alpha) for row in found.rows.to_dict("records")]
    words = ", ".join(f"{shown.count(word)} {word}" for word in ("better", "worse"))
    against = f"{count(len(shown), 'model')} against {found.baseline}"
    return f"{against}: {words} (Holm, α = {alpha:.2g})"


def summary(made: Comparison) -> list[str]:
    """Say in a line each what was compared, and the figures."""
    pair = made.pair
    points = pair.scale.points
    n = int(pair.both.sum())
    sides = {"A": pair.first, "B": pair.second}
    lines = [
        f"{name}: {side.model} ({side.source}), {pair.scale.mean(side.accuracy)}"
        for name, side in sides.items()
    ]
    lines += pair.premises.lines()
    lines.append(_items_line(pair, n))
    if pair.is_bounded:
        counted = _missing(pair) if not much_missing(pair) else ""  # else the lines begin with it
        low = points(made.worst.difference, signed=True)
        high = points(made.best.difference, signed=True)
        what = "the missing answers" if not pair.both.all() else "unreadable answers of A right"
        between = f"with {what}, B − A is between {low} and {high} points"
        lines.append("; ".join(filter(None, [counted, between])))
    detectable = f"a difference of {points(made.detectable)} points"
    if math.isnan(made.detectable):
        changed = made.better + made.worse
        detectable = "none, too few items" if changed else "unknown, no answer changed"
    lines += [
        f"difference B − A: {points(made.overall.difference, signed=True)} points, "
        f"{made.level:.0%} interval {pair.scale.between(*made.overall[2:])}",
        f"changed answers: {(made.better + made.worse) / n:.1%}; B is better on {made.better:,} "
        f"({made.better / n:.1%}), worse on {made.worse:,} ({made.worse / n:.1%}); "
        f"p = {made.p_value:.3g} ({made.test})",
        f"detectable with power {POWER:g} at 5%: {detectable}",
    ]
    if made.equal_weights is not None:
        each = count(len(made.groups), pair.grouped_by)
        mean = pair.scale.estimate(made.equal_weights)
        lines.append(f"mean over {each} that weigh the same: {mean}")
    return lines + [f"note: {note}" for note in pair.notes]


def _items_line(pair: Pair, n: int) -> str:
    """Say how many items both answered, and what became of the others."""
    groups = len(np.unique(pair.clusters[pair.both]))
    parts = [f"items: {n:,} answered by both"]
    if groups < n:
        parts[0] += f", in {groups:,} clusters"
    if n < len(pair.item_ids):
        parts.append("the scores are of these")
    if pair.left_out:
        parts.append(f"left out by --common: {count(pair.left_out, 'item')} that one was not asked")
    unread = [
        f"{side.unreadable:,} of {name}"
        for name, side in (("A", pair.first), ("B", pair.second))
        if side.unreadable
    ]
    if unread:
        parts.append(f"unreadable answers count as wrong: {', '.join(unread)}")
    return "; ".join(parts)


def _cells(rows: pd.DataFrame, name: str, made: Comparison) -> list[dict[str, str]]:
    """Return the cells of a table of differences, such as `Comparison.groups`, under `name`."""
    scale = made.pair.scale
    return [
        {
            name: str(row["name"]),
            "items": f"{row['items']:,}",
            "A": scale.mean(row["a"]),
            "B": scale.mean(row["b"]),
            "B − A": scale.points(row["difference"], signed=True),
            f"{made.level:.0%} interval": scale.between(row["low"], row["high"]),
            "better": f"{row['better']:,}",
            "worse": f"{row['worse']:,}",
            "p": f"{row['p_value']:.3g}",
            "p (Holm)": f"{row['holm']:.3g}",
            "B is": _shown(row, made.alpha),
        }
        for row in rows.to_dict("records")
    ]


def _shown(row: Mapping[Any, Any], alpha: float) -> str:
    """Return what a row shows after Holm's correction."""
    if not row["holm"] < alpha:
        return "–"
    return "better" if row["difference"] > 0 else "worse"


def cells_of_groups(made: Comparison) -> list[dict[str, str]]:
    """Return the rows of the table of tasks or subjects."""
    return _cells(made.groups, made.pair.grouped_by, made)


def cells_of_models(found: ComparedModels) -> list[dict[str, str]]:
    """Return the rows of the table of models."""
    scale = found.made[0].pair.scale
    table = _cells(found.rows, "model (B)", found.made[0])
    for row, made in zip(table, found.made, strict=True):
        row["changed"] = f"{(made.better + made.worse) / made.pair.both.sum():.1%}"
        if any(not each.pair.both.all() for each in found.made):
            row["with all answers"] = scale.between(made.worst.difference, made.best.difference)
        if any(each.equal_weights is not None for each in found.made):
            equal = made.equal_weights
            row["equal weights"] = "–" if equal is None else scale.estimate(equal, "")
    return table


def group_lines(made: Comparison) -> list[str]:
    """Return the table of tasks or subjects."""
    cells = cells_of_groups(made)
    return ["", *table_lines(cells)] if cells else []


def terminal_lines(made: Comparison) -> list[str]:
    """Return the lines to print."""
    lines = [*cautions(made.pair), headline(made), *summary(made), *group_lines(made)]
    if changed := flips(made.pair):
        shown = [
            {"item": flip.item_id, "A": flip.first, "B": flip.second}
            | ({"question": flip.question[:60]} if made.pair.questions is not None else {})
            for flip in changed[:_FLIPS_PRINTED]
        ]
        rest = f" (of {len(changed):,})" if len(changed) > len(shown) else ""
        lines += ["", f"changed items, right to wrong first{rest}:", *table_lines(shown)]
    return lines


def lines_of_models(found: ComparedModels) -> list[str]:
    """Return the lines to print of a comparison with a baseline."""
    notes = [f"note: {note}" for note in found.notes]
    table = table_lines(cells_of_models(found))
    return [*found.left_out, headline_of_models(found), *table, *notes]


# --- items that changed ---------------------------------------------------------------------------


class Flip(NamedTuple):
    """An item to which the models gave answers of another score; answers with their letter."""

    item_id: str
    change: float  # B − A
    first: str
    second: str
    question: str


def flips(pair: Pair) -> list[Flip]:
    """Return the items that changed: those that B answers worse first, the most changed first."""
    d = np.nan_to_num(pair.d)
    order = np.argsort(d, kind="stable")

    def answer(side: int, at: int) -> str:
        letter = "" if pair.chosen is None else str(pair.chosen[side, at])
        score = pair.answers[side, at]
        word = {0.0: "wrong", 1.0: "right"}.get(float(score), pair.scale.mean(score))
        return f"{letter}, {word}" if letter else word

    texts = pair.questions if pair.questions is not None else [""] * len(d)
    return [
        Flip(pair.item_ids[at], float(d[at]), answer(0, at), answer(1, at), str(texts[at]))
        for at in order.tolist()
        if d[at]
    ]


def flips_csv(made: Sequence[Comparison]) -> bytes:
    """Return the items that changed, by model B, as CSV for spreadsheet programs."""
    rows = [
        {"model": each.pair.second.model, **flip._asdict()}
        for each in made
        for flip in flips(each.pair)
    ]
    return spreadsheet_bytes(pd.DataFrame(rows, columns=["model", *Flip._fields]))


# --- files ----------------------------------------------------------------------------------------


def comparison_json(made: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON; shares and differences are of the scale, in [−1, 1]."""
    pair = made.pair

    def numbers(found: PairedDifference | None) -> dict[str, float | None] | None:
        values = {} if found is None else found._asdict()
        return {name: none_for_nan(value) for name, value in values.items()} or None

    return {
        "format": 3,
        "headline": headline(made),
        "a": pair.first._asdict(),
        "b": pair.second._asdict(),
        "scale": list(pair.scale),
        "items": int(pair.both.sum()),
        "asked": len(pair.item_ids),
        "left_out": pair.left_out,
        "clusters": len(np.unique(pair.clusters[pair.both])),
        **(numbers(made.overall) or {}),
        "worst": numbers(made.worst),
        "best": numbers(made.best),
        **{name: getattr(made, name) for name in ("level", "better", "worse", "p_value", "test")},
        "detectable": none_for_nan(made.detectable),
        "grouped_by": pair.grouped_by,
        "groups": made.groups.to_dict("records"),
        "equal_weights": numbers(made.equal_weights),
        "unread_files": list(pair.unusable),
        "rests_on": list(pair.premises.rests_on),
        "not_stated": list(pair.premises.not_stated),
        "allowed": list(pair.premises.allowed),
        "broken": [broken.text for broken in pair.premises.broken],
        "flips": [flip._asdict() for flip in flips(pair)],
        "notes": [*cautions(pair), *pair.notes],
    }


def none_for_nan(value: float) -> float | None:
    """Return a number for JSON, which has no NaN."""
    return None if math.isnan(value) else value


def models_json(found: ComparedModels) -> dict[str, Any]:
    """Return the comparisons as JSON, each with Holm's p-value over the models."""
    pairs = zip(found.made, found.rows["holm"], strict=True)
    return {
        "format": 1,
        "headline": headline_of_models(found),
        "baseline": found.baseline,
        "models": [comparison_json(made) | {"holm": p} for made, p in pairs],
        "notes": [*found.left_out, *found.notes],
    }
