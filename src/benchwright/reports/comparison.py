"""The pages of `compare` and `gate`: differences, groups and items that changed."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.wording import clip_text, count
from benchwright.reports.page import shapes
from benchwright.reports.page.figure import Line, Scale
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
from benchwright.reports.page.plot_style import INK, KEPT, QUIET, REMOVED, clip
from benchwright.reports.verdict import write_verdict
from benchwright.verdicts.compare import (
    ComparedModels,
    Comparison,
    Flip,
    cautions,
    cells_of_groups,
    cells_of_models,
    flips,
    headline,
    headline_of_models,
    summary,
)
from benchwright.verdicts.gate import Gated, verdict

_FLIPS_LISTED = 300  # of each list
_LONGEST_QUESTION = 1_000  # characters
_LONGEST = 42  # characters of a name in the plot


def render_comparison(
    made: Comparison, title_line: str = "", more: Sequence[str] = (), allowed: float = 0.0
) -> str:
    """Render a page: the verdict, the differences as a plot, groups and items that changed.

    `more` are lines under a gate's verdict, `allowed` its margin.
    """
    pair = made.pair
    groups = made.groups
    sections = [Section("Comparison", [Bullets([*more, *summary(made)])])]
    if len(groups):
        title = f"{pair.grouped_by.capitalize()}s"
        sections.append(Section(title, [_table(cells_of_groups(made))]))
        groups = groups.sort_values(["difference", "name"], ascending=[False, True])
    whole = pd.DataFrame([made.row("all items") | {"holm": made.p_value}])
    rows = pd.concat([whole, groups], ignore_index=True)
    if changed := flips(pair):
        sections.append(Section("Changed items", _listed(changed)))
    title = f"{pair.second.model} compared with {pair.first.model}"
    plot = plot_differences(rows, made, allowed)
    return _page(title, title_line or headline(made), sections, cautions(pair), plot)


def render_models(found: ComparedModels) -> str:
    """Render a page: the headline, the differences as a plot, and the table."""
    sections = [Section("Models", [_table(cells_of_models(found)), Bullets(found.notes)])]
    title = f"{count(len(found.made), 'model')} compared with {found.baseline}"
    plot = plot_differences(found.rows, found.made[0])
    return _page(title, headline_of_models(found), sections, found.left_out, plot)


def _page(
    title: str, headline: str, sections: list[Section], notes: Sequence[str], plot: Any
) -> str:
    said = write_verdict(headline, notes=notes)
    plots = {"differences": plot}
    return render_page(Page(title, title, said, sections, plots, lead=[Plot("differences")]))


def _table(cells: Sequence[Mapping[str, str]]) -> Table:
    rows = [list(row.values()) for row in cells]
    return Table("", list(cells[0]), rows, numbers=range(1, len(cells[0])))


def _listed(changed: Sequence[Flip]) -> list[ItemLists | Text]:
    """List the items that changed, the first ones of each direction."""

    def folded(flip: Flip) -> Folded:
        text = Question(clip_text(flip.question, _LONGEST_QUESTION) or "text unknown")
        title = clip(": ".join(filter(None, [flip.item_id, flip.question])), 110)
        return Folded(title, [text], note=f"A: {flip.first}; B: {flip.second}")

    worse = [flip for flip in changed if flip.change < 0]
    better = [flip for flip in changed[::-1] if flip.change > 0]
    listed = {"B is worse": worse, "B is better": better}
    lists = {
        title: [*map(folded, flips[:_FLIPS_LISTED])] for title, flips in listed.items() if flips
    }
    if max(len(worse), len(better)) <= _FLIPS_LISTED:
        return [ItemLists(lists)]
    text = (
        f"B is worse on {len(worse):,} and better on {len(better):,} items. At most "
        f"{_FLIPS_LISTED} of each are listed; `--flips FILE` writes all as a table."
    )
    return [Text(text), ItemLists(lists)]


def plot_differences(rows: pd.DataFrame, made: Comparison, allowed: float = 0.0) -> Any:
    """Draw a difference per row (name, items, difference, low, high, holm), in shares.

    Blue: significantly above 0 by Holm's p-values, orange: below it, grey: neither. `made` is a
    comparison with their scale and level, `allowed` a gate's margin, a line at minus its value.
    """
    width = made.pair.scale.width
    names = [
        f"{clip(str(row['name']).replace('_', ' '), _LONGEST)} ({row['items']:,})"
        for row in rows.to_dict("records")
    ]
    values = width * rows[["difference", "low", "high"]]
    significant = rows["holm"] < made.alpha
    better = significant & (values["difference"] > 0)
    worse = significant & (values["difference"] < 0)
    colours = np.select([better, worse], [KEPT, REMOVED], QUIET)
    lines = [Line(0, colour=INK, dash="solid")]
    dotted = f"; dotted: −{width * allowed:g}" if allowed else ""
    if allowed:
        lines.append(Line(-width * allowed, colour=REMOVED))
    title = f"B − A in points with {made.level:.0%} intervals"
    scale = Scale(f"B − A, points{dotted}")
    return shapes.intervals(title, names, values, colours=colours.tolist(), x=scale, lines=lines)


def render_gate(made: Gated) -> str:
    """Render the page of the comparison with the decision as its headline."""
    return render_comparison(made.comparison, verdict(made), (made.reason,), made.request.margin)
