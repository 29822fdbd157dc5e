"""`benchwright compare`: the difference of two models on the items that both answered."""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.cli.compare_plots import plot_differences
from benchwright.cli.listing import table_lines
from benchwright.cli.pair import Pair, Scale
from benchwright.datasets.review_csv import spreadsheet_bytes
from benchwright.reports.page.parts import (
    Bullets,
    Folded,
    ItemLists,
    Page,
    Plot,
    Question,
    Section,
    Table,
    Text,
    render_page,
)
from benchwright.reports.page.plot_style import clip
from benchwright.statistics.paired_differences import minimum_detectable_difference
from benchwright.statistics.paired_tests import (
    PairedDifference,
    mcnemar_mid_p,
    paired_difference,
    sign_flip_p,
)
from benchwright.statistics.percentile import holm

POWER = 0.8
MANY_MISSING = 0.01
"""Share of a model's answers that may be missing before a verdict begins with it."""
_FLIPS_PRINTED = 10


class Comparison(NamedTuple):
    """A pair of models compared.

    Attributes:
        pair: what was compared.
        level: confidence level of the intervals.
        overall: the difference of the mean scores, B − A, on the items that both answered.
        worst, best: the same on all items, with missing answers of B wrong and those of A right,
            and the other way round; `overall` where nothing is missing.
        better, worse: number of items that B answers better, or worse, than A.
        p_value: of the exact McNemar test, mid-p; of random sign flips for graded scores.
        detectable: difference that these items detect with power .8, NaN if unknown.
        groups: a row per task, of a single task per subject: name, items, a, b, difference, low,
            high, better, worse, p_value, holm.
        equal_weights: the mean of the groups' differences, each weighing the same; None without.
    """

    pair: Pair
    level: float
    overall: PairedDifference
    worst: PairedDifference
    best: PairedDifference
    better: int
    worse: int
    p_value: float
    detectable: float
    groups: pd.DataFrame
    equal_weights: PairedDifference | None = None

    def __repr__(self) -> str:
        return "\n".join(terminal_lines(self))

    @property
    def test(self) -> str:
        """Name of the test of `p_value`."""
        whole = np.isin(self.pair.d[self.pair.both], (-1, 0, 1)).all()
        whole = np.isin(self.pair.d[self.pair.both], (-1, 0, 1)).all()
        return "exact McNemar, mid-p" if whole else "sign-flip permutation"

    def row(self, name: str) -> dict[str, Any]:
        """Return the difference as a row of `groups`, without `holm`."""
        found = self.overall
        return {
            "name": name,
            "items": int(self.pair.both.sum()),
            "a": self.pair.first.accuracy,
            "b": self.pair.second.accuracy,
            **{key: getattr(found, key) for key in ("difference", "low", "high")},
            **{key: getattr(self, key) for key in ("better", "worse", "p_value")},
        }


def compare(pair: Pair, level: float = 0.95) -> Comparison:
    """Compare two models over all items and by task or subject, with p-values of these by Holm."""
    both, clusters = pair.both, pair.clusters
    d = pair.d[both]
    overall = worst = best = paired_difference(d, clusters[both], level)
    if not both.all():
        worst, best = (paired_difference(each, clusters, level) for each in pair.bounds())
    better, worse = int((d > 0).sum()), int((d < 0).sum())
    detectable = float(minimum_detectable_difference(overall.se, power=POWER))
    whole = bool(np.isin(d, (-1, 0, 1)).all())
    groups, equal = _by_group(pair, level)
    return Comparison(
        pair,
        level,
        overall,
        worst,
        best,
        better,
        worse,
        mcnemar_mid_p(better, worse) if whole else sign_flip_p(d, clusters[both]),
        detectable if 0 < detectable <= 1 else math.nan,
        groups,
        equal,
    )


def _by_group(pair: Pair, level: float) -> tuple[pd.DataFrame, PairedDifference | None]:
    names = [] if pair.groups is None else sorted(set(pair.groups[pair.both]))
    if len(names) < 2:
        return pd.DataFrame(), None
    alone = pair._replace(groups=None)
    places = {str(name): np.flatnonzero(pair.groups == name) for name in names}
    parts = {name: compare(alone.select(at), level) for name, at in places.items()}
    rows = pd.DataFrame([part.row(name) for name, part in parts.items()])
    errors = np.array([part.overall.se for part in parts.values()])
    equal = _equal_mean(rows["difference"].to_numpy(), errors, level)
    return rows.assign(holm=holm(rows["p_value"])), equal


def _equal_mean(d: NDArray[np.float64], se: NDArray[np.float64], level: float) -> PairedDifference:
    """Return the mean of independent differences, with a normal interval from their errors."""
    error = float(np.sqrt((se**2).sum())) / len(se)
    reach = NormalDist().inv_cdf((1 + level) / 2) * error
    mean = float(d.mean())
    return PairedDifference(mean, error, mean - reach, mean + reach)


# --- in words ------------------------------------------------------------------------------------


def missing_line(pair: Pair) -> str:
    """Say how many answers are missing; "" where all are there."""
    n = len(pair.item_ids)
    sides = {"A": pair.first.missing, "B": pair.second.missing}
    parts = [
        f"{count:,} of {n:,} answers of {name} ({count / n:.1%})"
        for name, count in sides.items()
        if count
    ]
    return f"missing: {' and '.join(parts)}" if parts else ""


def is_missing_much(pair: Pair) -> bool:
    """Return whether so many answers are missing that a verdict begins with it."""
    worst = max(pair.first.missing, pair.second.missing)
    return worst > MANY_MISSING * len(pair.item_ids)


def headline(made: Comparison) -> str:
    """Say which model is better, by how many points."""
    pair, found, points = made.pair, made.overall, made.pair.scale.points
    names = (pair.first.model, pair.second.model)
    a, b = names if names[0] != names[1] else ("A", "B")
    if found.low <= 0 <= found.high:
        text = f"no difference is shown: {b} minus {a} is "
        bounds = pair.scale.interval(found.low, found.high)
        return f"{text}{points(found.difference, signed=True)} points {bounds}"
    better, sign = (b, 1) if found.difference > 0 else (a, -1)
    low, high = sorted((sign * found.low, sign * found.high))
    return f"{better} is better by {points(abs(found.difference))} points " + (
        f"[{points(low)}, {points(high)}]"
    )


def summary(made: Comparison) -> list[str]:
    """Say in a line each what was compared, and the figures."""
    pair, points = made.pair, made.pair.scale.points
    n = int(pair.both.sum())
    sides = {"A": pair.first, "B": pair.second}
    lines = [
        f"{name}: {side.model} ({side.source}), {pair.scale.mean(side.accuracy)}"
        for name, side in sides.items()
    ]
    unread = [f"{side.unreadable:,} of {name}" for name, side in sides.items() if side.unreadable]
    groups = len(np.unique(pair.clusters[pair.both]))
    common = f"; --common: {pair.left_out:,} items that one was not asked are left out"
    lines.append(
        f"items: {n:,} answered by both"
        + (f", in {groups:,} clusters" if groups < n else "")
        + ("; the scores are of these" if n < len(pair.item_ids) else "")
        + (common if pair.left_out else "")
        + (f"; unreadable answers count as wrong: {', '.join(unread)}" if unread else "")
    )
    if missing := missing_line(pair):
        counted = "" if is_missing_much(pair) else f"{missing}; "  # the lines begin with it
        lines.append(
            f"{counted}with the missing answers, B − A is between "
            f"{points(made.worst.difference, signed=True)} and "
            f"{points(made.best.difference, signed=True)} points"
        )
    overall = made.overall
    detectable = "none, too few items"
    if not math.isnan(made.detectable):
        detectable = f"a difference of {points(made.detectable)} points"
    lines += [
        f"difference B − A: {points(overall.difference, signed=True)} points, "
        f"{made.level:.0%} interval {pair.scale.interval(overall.low, overall.high)}",
        f"changed answers: {(made.better + made.worse) / n:.1%}; B is better on {made.better:,} "
        f"({made.better / n:.1%}), worse on {made.worse:,} ({made.worse / n:.1%}); "
        f"p = {made.p_value:.3g} ({made.test})",
        f"detectable with power {POWER:g} at 5%: {detectable}",
    ]
    if (equal := made.equal_weights) is not None:
        lines.append(
            f"mean over {len(made.groups)} {pair.grouped_by}s that weigh the same: "
            f"{points(equal.difference, signed=True)} points "
            f"{pair.scale.interval(equal.low, equal.high)}"
        )
    return lines + [f"note: {note}" for note in pair.notes]


def difference_cells(
    rows: pd.DataFrame, name: str, scale: Scale, level: float
) -> list[dict[str, str]]:
    """Return the cells of a table of differences, such as `Comparison.groups`, under `name`."""
    return [
        {
            name: str(row["name"]),
            "items": f"{row['items']:,}",
            "A": scale.mean(row["a"]),
            "B": scale.mean(row["b"]),
            "B − A": scale.points(row["difference"], signed=True),
            f"{level:.0%} interval": scale.interval(row["low"], row["high"]),
            "better": f"{row['better']:,}",
            "worse": f"{row['worse']:,}",
            "p": f"{row['p_value']:.3g}",
            "p (Holm)": f"{row['holm']:.3g}",
            "B is": _shown(row, level),
        }
        for row in rows.to_dict("records")
    ]


def _shown(row: Mapping[Any, Any], level: float) -> str:
    """Return what a row shows after Holm's correction."""
    if not row["holm"] < 1 - level:
        return "–"
    return "better" if row["difference"] > 0 else "worse"


def group_lines(made: Comparison) -> list[str]:
    """Return the table of tasks or subjects."""
    pair = made.pair
    cells = difference_cells(made.groups, pair.grouped_by, pair.scale, made.level)
    return ["", *table_lines(cells)] if cells else []


def terminal_lines(made: Comparison) -> list[str]:
    """Return the lines to print."""
    lines = [missing_line(made.pair)] if is_missing_much(made.pair) else []
    lines += [headline(made), *summary(made), *group_lines(made)]
    changed = flips(made.pair)
    if changed:
        shown = [
            {
                "item": flip.item_id,
                "A": flip.first,
                "B": flip.second,
                "question": flip.question[:60],
            }
            for flip in changed[:_FLIPS_PRINTED]
        ]
        rest = f" (of {len(changed):,})" if len(changed) > len(shown) else ""
        lines += ["", f"changed items, right to wrong first{rest}:", *table_lines(shown)]
    return lines


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

    return [
        Flip(
            pair.item_ids[at],
            float(d[at]),
            answer(0, at),
            answer(1, at),
            "" if pair.questions is None else str(pair.questions[at]),
        )
        for at in order.tolist()
        if d[at]
    ]


def flips_csv(pair: Pair) -> bytes:
    """Return the items that changed as CSV for spreadsheet programs."""
    return spreadsheet_bytes(pd.DataFrame(flips(pair), columns=Flip._fields))


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
        "flips": [flip._asdict() for flip in flips(pair)],
        "notes": list(pair.notes),
    }


def none_for_nan(value: float) -> float | None:
    """Return a number for JSON, which has no NaN."""
    return None if math.isnan(value) else value


def render(
    made: Comparison,
    verdict: str = "",
    more: Sequence[str] = (),
    allowed: float | None = None,
    plots: dict[str, Any] | None = None,
) -> str:
    """Render a page: the verdict, plots, what they rest on, groups and items that changed.

    `allowed` is a gate's margin; `plots` stand above that of the differences.
    """
    pair, level = made.pair, made.level
    sections = [Section("Comparison", [Bullets([*more, *summary(made)])])]
    whole = pd.DataFrame([made.row("all items") | {"holm": made.p_value}])
    ordered = made.groups
    if len(ordered):
        ordered = ordered.sort_values(["difference", "name"], ascending=[False, True])
        cells = difference_cells(made.groups, pair.grouped_by, pair.scale, level)
        sections.append(Section(f"{pair.grouped_by.capitalize()}s", [table_of_cells(cells)]))
    shown = pd.concat([whole, ordered], ignore_index=True)
    drawn = (plots or {}) | {
        "differences": plot_differences(shown, level, allowed, pair.scale.width)
    }
    if changed := flips(pair):
        sections.append(Section("Changed items", [_listed(changed)]))
    title = f"{pair.second.model} compared with {pair.first.model}"
    notes = [missing_line(pair)] if is_missing_much(pair) else []
    lead = [Plot(name) for name in drawn]
    return render_page(
        Page(
            title,
            title,
            sections,
            headline=verdict or headline(made),
            lead=lead,
            notes=notes,
            plots=drawn,
        )
    )


def table_of_cells(cells: Sequence[Mapping[str, str]]) -> Table:
    """Return a table of a page, of rows with the same columns."""
    return Table("", list(cells[0]), [list(row.values()) for row in cells], range(1, len(cells[0])))


def _listed(changed: Sequence[Flip]) -> ItemLists:
    lists = {"B is worse": [f for f in changed if f.change < 0], "B is better": []}
    lists["B is better"] = [f for f in changed[::-1] if f.change > 0]
    return ItemLists(
        {
            name: [
                Folded(
                    clip(f"{flip.item_id}: {flip.question}", 110),
                    [Question(flip.question)] if flip.question else [Text("text unknown")],
                    note=f"A: {flip.first}; B: {flip.second}",
                )
                for flip in of_name
            ]
            for name, of_name in lists.items()
            if of_name
        }
    )
