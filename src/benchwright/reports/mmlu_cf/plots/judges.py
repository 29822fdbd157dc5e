"""Readable replies of the judges, and their agreement beyond chance."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from benchwright.methods.mmlu_cf.construction_steps import FINAL_RATING, ParseRate
from benchwright.reports.page.plot_style import (
    KEPT,
    NARROW_NAME,
    QUIET,
    REMOVED,
    axis,
    clip,
    empty_plot,
    plain,
)
from benchwright.reports.page.plots import bars, margin, plot, rows_down, whiskers

RELIABLE = 0.667
"""Below this, Krippendorff advises against conclusions (Content Analysis, 2019, chapter 12)."""

_SHORT = {FINAL_RATING: "final"}


def plot_judge_agreement(judge_agreement: pd.DataFrame) -> Any:
    """Draw Krippendorff's alpha of all judges for each criterion, with its interval over items."""
    title = "Agreement of the judges: Krippendorff's alpha with 95% intervals over questions"
    table = pooled_agreement(judge_agreement)
    if table.empty:
        return empty_plot(title, "Fewer than two judges gave ratings, so there is no agreement.")
    alpha = table["alpha"]
    if alpha.isna().all():
        return empty_plot(title, "Alpha is undefined; the table gives the reasons.")
    names = [plain(f"{row.task}: {row.name}") for row in table.itertuples(index=False)]
    texts = [_alpha(row) for row in table.to_dict("records")]
    alphas = {
        "x": [None if pd.isna(value) else float(value) for value in alpha],
        "y": list(range(len(table))),
        "mode": "markers",
        "marker": {"color": KEPT, "size": 9},
        "error_x": whiskers(alpha, table["low"], table["high"], KEPT),
        "customdata": list(map(list, zip(names, texts, strict=True))),
        "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
    }
    line = {"type": "line", "x0": RELIABLE, "x1": RELIABLE, "y0": 0, "y1": 1, "yref": "paper"}
    missing = {"x": 0.02, "xanchor": "left", "showarrow": False, "text": "no alpha"}
    lowest = min(0.0, float(table.loc[alpha.notna(), ["alpha", "low"]].min().min()))
    return plot(
        f"{title}; dotted: {RELIABLE}, below which conclusions are not advised",
        80 + 28 * len(table),
        [alphas],
        showlegend=False,
        margin=margin(46),
        xaxis=axis(
            "alpha: 0 is chance, 1 is full agreement",
            range=[lowest - 0.05, 1.05],
            zeroline=True,
            zerolinecolor=QUIET,
        ),
        yaxis=rows_down(names),
        shapes=[{**line, "line": {"color": QUIET, "width": 1, "dash": "dot"}}],
        annotations=[
            {**missing, "y": place, "font": {"color": QUIET}}
            for place, value in enumerate(alpha)
            if pd.isna(value)
        ],
        hovermode="closest",
        meta={
            "narrow": {
                "layout.xaxis.title.text": "alpha",
                "layout.xaxis.nticks": 5,
                "layout.yaxis.ticktext": [plain(name) for name in table["name"]],
            }
        },
    )


def pooled_agreement(judge_agreement: pd.DataFrame) -> pd.DataFrame:
    """Select the rows of a `JudgeAgreement` for all judges together; add the criterion's `name`."""
    rows = judge_agreement[(judge_agreement["judge"] == "") & (judge_agreement["other"] == "")]
    return rows.assign(name=rows["criterion"].str.replace("_", " ")).reset_index(drop=True)


def _alpha(row: dict[Any, Any]) -> str:
    if pd.isna(row["alpha"]):
        return plain(f"no alpha: {row['reason']}")
    bounds = "" if pd.isna(row["low"]) else f" [{row['low']:.2f}, {row['high']:.2f}]"
    return f"{row['alpha']:.2f}{bounds}, n = {int(row['n_items']):,}"


def plot_parse_rates(judge_parse_rates: Sequence[ParseRate]) -> Any:
    """Draw the share of prompts with a readable reply: at the first attempt, later, never."""
    title = (
        "Readable replies of the judges: at the first attempt (blue), later (grey), never (orange)"
    )
    if not (rates := judge_parse_rates):
        return empty_plot(title, "No judge was asked.")
    names = [_name(rate, 34) for rate in rates]
    hovers = [f"{name} ({rate.asked:,} asked)" for name, rate in zip(names, rates, strict=True)]
    parts = (
        ("first attempt", [rate.first for rate in rates], KEPT),
        ("later attempt", [rate.read - rate.first for rate in rates], QUIET),
        ("never", [1 - rate.read for rate in rates], REMOVED),
    )
    short = [_name(rate, NARROW_NAME - 8) for rate in rates]
    return plot(
        title,
        60 + 30 * len(rates),
        [
            bars(shares, colour, f"%{{customdata}}<br>{what}: %{{x:.1%}}", customdata=hovers)
            for what, shares, colour in parts
        ],
        barmode="stack",
        bargap=0.35,
        showlegend=False,
        margin=margin(30),
        xaxis=axis(range=[0, 1], tickformat=".0%", nticks=6),
        yaxis=rows_down(names),
        meta={"narrow": {"layout.xaxis.nticks": 4, "layout.yaxis.ticktext": short}},
    )


def _name(rate: ParseRate, most: int) -> str:
    return plain(f"{_SHORT.get(rate.task, rate.task)}: {clip(rate.judge, most)}")
