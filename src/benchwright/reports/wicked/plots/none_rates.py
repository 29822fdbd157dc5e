"""Do models say "none" because it is true, or because it is there?"""

from typing import Any

import pandas as pd

from benchwright.params.evaluation import EvaluationParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page.plot_style import GRID, QUIET, axis, empty_figure, layout, plain
from benchwright.reports.wicked.plots.shown_models import (
    COLOURS,
    Shown,
    choose_models,
)

_NAMED = 16  # with more models the legend cannot be read
_SYMBOLS = ("circle", "diamond", "square", "triangle-up", "x")


def draw_none_rates(
    draw_none_rates: pd.DataFrame,
    draw_scores: pd.DataFrame,
    perturbation: PerturbationParams,
    evaluation: EvaluationParams,
) -> Any:
    """Draw how often "none" is picked where it is right against how often where it is wrong."""
    import plotly.graph_objects as go

    title = "Picking “none”: where it is right against where it is not"
    if draw_scores.empty:
        return empty_figure(title, "No model answered the items and their draws.")
    shown = choose_models(draw_scores, perturbation, evaluation.rank_chart_models)
    name = shown.scores["perturbation"].iloc[0]
    own = draw_none_rates[draw_none_rates["perturbation"] == name]
    if own.empty or not own["n"].all():
        return empty_figure(title, "No item was given an option that says none is right.")
    rates = own.set_index(["configuration", "gold"])
    named = len(shown.scores) <= _NAMED
    line = go.Scatter(
        x=[0, 1],
        y=[0, 1],
        mode="lines",
        name="as often either way",
        line={"color": QUIET, "width": 1, "dash": "dot"},
        hoverinfo="skip",
    )
    points = [_point(rates, shown, place, named=named) for place in range(len(shown.scores))]
    rows = (len(points) if named else 0) + 1
    below = 60 + 22 * rows
    square = {"range": [-0.03, 1.03], "tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1]}
    hint = "" if named else "; hover for names, or see the table"
    return go.Figure(
        [line, *points],
        layout(
            f"{title}; 95% intervals{shown.note}{hint}",
            380 + below,
            xaxis=axis("picked where the right option is there (false alarm)", **square),
            yaxis=axis("picked where it is gone (detection)", **square),
            legend={"orientation": "v", "y": -60 / 372, "yanchor": "top", "x": 0},
            margin={"l": 8, "r": 16, "t": 8, "b": below},
            hovermode="closest",
            meta={
                "narrow": {
                    "layout.xaxis.title.text": "false alarm",
                    "layout.yaxis.title.text": "detection",
                    **{f"data.{place + 1}.name": short for place, short in enumerate(shown.short)},
                }
            },
        ),
    )


def _point(rates: pd.DataFrame, shown: Shown, place: int, *, named: bool) -> Any:
    import plotly.graph_objects as go

    configuration = shown.scores["configuration"].iloc[place]
    alarm, found = (rates.loc[(configuration, gold)] for gold in ("kept", "removed"))
    colour = COLOURS[place % len(COLOURS)] if named else QUIET
    return go.Scatter(
        x=[float(alarm["share"])],
        y=[float(found["share"])],
        mode="markers",
        name=shown.names[place],
        showlegend=named,
        marker={
            "color": colour,
            "size": 10,
            "symbol": _SYMBOLS[place // len(COLOURS) % len(_SYMBOLS)] if named else "circle",
            "line": {"color": GRID, "width": 1},
        },
        error_x=_error(alarm, colour),
        error_y=_error(found, colour),
        hovertemplate=f"{shown.names[place]}<br>right option gone: {_said(found)}"
        f"<br>right option there: {_said(alarm)}<extra></extra>",
    )


def _error(row: pd.Series, colour: str) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [float(row["high"] - row["share"])],
        "arrayminus": [float(row["share"] - row["low"])],
        "color": colour,
        "thickness": 1,
        "width": 0,
    }


def _said(row: pd.Series) -> str:
    share = f"{row['share']:.1%} [{row['low']:.1%}, {row['high']:.1%}]"
    return plain(f"{share} of {int(row['n']):,}")
