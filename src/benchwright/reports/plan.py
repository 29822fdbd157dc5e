"""The page of `plan`: items needed for a target precision."""

import re
from typing import Any

import pandas as pd

from benchwright.methods.dele.planning.plan import Plan, Wanted
from benchwright.reports.page.figure import Line, Mark, Scale
from benchwright.reports.page.parts import (
    Bullets,
    Cell,
    Page,
    Plot,
    Section,
    Table,
    render_page,
)
from benchwright.reports.page.plot_style import KEPT
from benchwright.reports.page.shapes import curves
from benchwright.reports.verdict import write_verdict
from benchwright.verdicts.plan import MadePlan, cells, explanations, verdict

_TITLES = {
    "standard_error_benchmark": "Standard error of a score around the score on all these items",
    "standard_error_ability": "Standard error of a score around the ability on such items",
    "detectable_difference": "Smallest detectable difference of two models",
    "order": "Probability that the items order two models as all items do",
    "tau_b": "Kendall's tau-b with the ranking on all items",
    "spearman": "Spearman's rho with the ranking on all items",
}
_DASHES = {"stronger models": "dash"} | dict.fromkeys(
    ("worst model", "95% of pairs", "95% of subsets"), "dot"
)


def plot_plan(plan: Plan, wanted: Wanted) -> dict[str, Any]:
    """Plot each metric against the number of items, with the targets as horizontal lines."""
    targets = {
        "standard_error_benchmark": wanted.standard_errors,
        "standard_error_ability": wanted.standard_errors,
        "detectable_difference": wanted.differences,
        "order": (wanted.order,) if wanted.gaps else (),
        "tau_b": wanted.tau_b,
        "spearman": wanted.spearman,
    }
    return {
        name: _plot(title, plan.curve[plan.curve["metric"] == name], targets[name])
        for name, title in _TITLES.items()
        if (plan.curve["metric"] == name).any() and targets[name]
    }


def _plot(title: str, rows: pd.DataFrame, targets: tuple[float, ...]) -> Any:
    marks = []
    for whose, curve in rows.groupby("whose", sort=False):
        own = curve.sort_values("items")
        name = str(whose)
        pairs = zip(own["items"], own["value"], strict=True)
        hover = [f"{name}, {items:,} items: {value:.4f}" for items, value in pairs]
        dash = _DASHES.get(name, "solid")
        marks.append(Mark("line", own["items"], own["value"], KEPT, name, hover, dash=dash))
    label = re.split(" of | that | with ", title)[0]
    y = Scale(label, zero="error" in title or "diff" in title)
    lines = [Line(value, dash="dash", level=True) for value in targets]
    return curves(title, marks, Scale("items", ",.0f"), y, lines)


def render_plan(made: MadePlan) -> str:
    """Render a self-contained HTML page with the table and the plots."""
    plan = made.plan
    plots = plot_plan(plan, made.wanted)
    drawn = [Plot(name) for name in plots]
    shown = [cells(row, plan.items) for row in plan.rows]
    rows = [
        [Cell(first, [row.reason] if row.reason else []), *rest]
        for row, (first, *rest) in zip(plan.rows, map(dict.values, shown), strict=True)
    ]
    table = Table("Items needed for each target", list(shown[0]), rows, range(3, len(shown[0])))
    notes = [*([plan.advice] if plan.advice else []), *explanations(made.wanted)]
    title = "Items for a target precision"
    first, *others = drawn
    sections = [Section("Plan", [table, Bullets(notes), *others], "plan")]
    kicker = f"{made.source}: responses of {made.models} to {plan.items:,} items"
    said = write_verdict(verdict(plan), notes=made.notes)
    return render_page(
        Page(title, title, said, sections=sections, plots=plots, kicker=kicker, lead=[first])
    )
