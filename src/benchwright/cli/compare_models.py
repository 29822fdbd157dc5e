"""`benchwright compare --baseline`: all models in files against one of them."""

from typing import Any, NamedTuple

import pandas as pd

from benchwright.cli.compare import (
    Comparison,
    compare,
    comparison_json,
    difference_cells,
    flips,
    is_missing_much,
    missing_line,
    table_of_cells,
)
from benchwright.cli.compare_plots import plot_differences
from benchwright.cli.listing import table_lines
from benchwright.cli.pair import Panel
from benchwright.datasets.review_csv import spreadsheet_bytes
from benchwright.reports.page.parts import Bullets, Page, Plot, Section, render_page
from benchwright.statistics.percentile import holm


class ComparedModels(NamedTuple):
    """Models compared with a baseline, the best first.

    Attributes:
        baseline: its name.
        made: a comparison per model, with the baseline as A.
        rows: a row per model: columns of `Comparison.groups`.
        notes: caveats.
    """

    baseline: str
    made: tuple[Comparison, ...]
    rows: pd.DataFrame
    notes: tuple[str, ...]


def compare_models(panel: Panel, level: float = 0.95) -> ComparedModels:
    """Compare each model of a panel with its baseline, with p-values by Holm."""
    made = [compare(pair, level) for pair in panel.pairs]
    made.sort(key=lambda each: (-each.overall.difference, each.pair.second.model))
    rows = pd.DataFrame([each.row(each.pair.second.model) for each in made])
    notes = [*panel.notes]
    for each in made:
        missing = [missing_line(each.pair)] if is_missing_much(each.pair) else []
        notes += [f"{each.pair.second.model}: {note}" for note in (*missing, *each.pair.notes)]
    rows = rows.assign(holm=holm(rows["p_value"]))
    return ComparedModels(panel.baseline, tuple(made), rows, tuple(notes))


def headline(found: ComparedModels) -> str:
    """Say how many models are better or worse than the baseline."""
    shown = [row["B is"] for row in _cells(found)]
    counts = {word: shown.count(word) for word in ("better", "worse")}
    words = ", ".join(f"{count} {word}" for word, count in counts.items())
    level = 1 - found.made[0].level
    return f"{len(shown)} models against {found.baseline}: {words} (Holm, α = {level:.2g})"


def _cells(found: ComparedModels) -> list[dict[str, str]]:
    first = found.made[0]
    scale = first.pair.scale
    table = difference_cells(found.rows, "model (B)", scale, first.level)
    for row, made in zip(table, found.made, strict=True):
        row["changed"] = f"{(made.better + made.worse) / made.pair.both.sum():.1%}"
        if any(not each.pair.both.all() for each in found.made):
            row["with all answers"] = scale.interval(made.worst.difference, made.best.difference)
        if any(each.equal_weights is not None for each in found.made):
            row["equal weights"] = "–"
            if equal := made.equal_weights:
                bounds = scale.interval(equal.low, equal.high)
                row["equal weights"] = f"{scale.points(equal.difference, signed=True)} {bounds}"
    return table


def terminal_lines(found: ComparedModels) -> list[str]:
    """Return the lines to print."""
    notes = [f"note: {note}" for note in found.notes]
    return [headline(found), *table_lines(_cells(found)), *notes]


def models_json(found: ComparedModels) -> dict[str, Any]:
    """Return the comparisons as JSON, each with Holm's p-value over the models."""
    models = [
        comparison_json(made) | {"holm": p}
        for made, p in zip(found.made, found.rows["holm"], strict=True)
    ]
    return {
        "format": 1,
        "headline": headline(found),
        "baseline": found.baseline,
        "models": models,
        "notes": list(found.notes),
    }


def models_flips_csv(found: ComparedModels) -> bytes:
    """Return the items that changed, by model, as CSV for spreadsheet programs."""
    rows = [
        {"model": made.pair.second.model, **flip._asdict()}
        for made in found.made
        for flip in flips(made.pair)
    ]
    return spreadsheet_bytes(pd.DataFrame(rows))


def render_models(found: ComparedModels) -> str:
    """Render a page: the headline, the differences as a plot, and the table."""
    first = found.made[0]
    width = first.pair.scale.width
    plots = {"differences": plot_differences(found.rows, first.level, None, width)}
    blocks = [table_of_cells(_cells(found)), Bullets(found.notes)]
    title = f"{len(found.made)} models compared with {found.baseline}"
    sections = [Section("Models", blocks)]
    head = headline(found)
    return render_page(
        Page(title, title, sections, headline=head, lead=[Plot("differences")], plots=plots)
    )
