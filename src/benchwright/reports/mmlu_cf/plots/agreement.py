"""How far judges agree beyond chance."""

from typing import Any

import pandas as pd

from benchwright.reports.page.plot_style import KEPT, QUIET, axis, empty_figure, layout, plain

RELIABLE = 0.667
"""Below this, Krippendorff advises against conclusions (Content Analysis, 2019, chapter 12)."""


def draw_judge_agreement(judge_agreement: pd.DataFrame) -> Any:
    """Draw Krippendorff's alpha of all judges for each criterion, with its interval over items."""
    import plotly.graph_objects as go

    title = "Agreement of the judges: Krippendorff's alpha with 95% intervals over questions"
    table = of_all_judges(judge_agreement)
    if table.empty:
        return empty_figure(title, "Fewer than two judges gave ratings, so there is no agreement.")
    known = table[table["alpha"].notna()]
    if known.empty:
        return empty_figure(title, "Alpha does not exist: see the reasons in the table.")
    names = [
        plain(f"{task}: {name}") for task, name in zip(table["task"], table["name"], strict=True)
    ]
    short = [plain(name) for name in table["name"]]
    rows = list(range(len(table)))
    error = {
        "type": "data",
        "symmetric": False,
        "array": (table["high"] - table["alpha"]).fillna(0).tolist(),
        "arrayminus": (table["alpha"] - table["low"]).fillna(0).tolist(),
        "color": KEPT,
        "thickness": 1.5,
        "width": 4,
    }
    said = [_said(row) for row in table.to_dict("records")]
    lowest = min(0.0, float(known[["alpha", "low"]].min().min()))
    return go.Figure(
        [
            go.Scatter(
                x=[None if pd.isna(value) else float(value) for value in table["alpha"]],
                y=rows,
                mode="markers",
                marker={"color": KEPT, "size": 9},
                error_x=error,
                customdata=[[name, words] for name, words in zip(names, said, strict=True)],
                hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
            )
        ],
        layout(
            f"{title}; dotted: {RELIABLE}, below which conclusions are not advised",
            80 + 28 * len(rows),
            showlegend=False,
            margin={"l": 8, "r": 16, "t": 8, "b": 46},
            xaxis=axis("alpha: 0 is chance, 1 is full agreement", range=[lowest - 0.05, 1.05])
            | {"zeroline": True, "zerolinecolor": QUIET},
            yaxis=axis(
                tickvals=rows, ticktext=names, range=[len(rows) - 0.5, -0.5], showgrid=False
            ),
            shapes=[
                {
                    "type": "line",
                    "x0": RELIABLE,
                    "x1": RELIABLE,
                    "y0": 0,
                    "y1": 1,
                    "yref": "paper",
                    "line": {"color": QUIET, "width": 1, "dash": "dot"},
                }
            ],
            annotations=[
                {
                    "x": 0.02,
                    "xanchor": "left",
                    "y": place,
                    "showarrow": False,
                    "text": "no alpha",
                    "font": {"color": QUIET},
                }
                for place, value in enumerate(table["alpha"])
                if pd.isna(value)
            ],
            hovermode="closest",
            meta={
                "narrow": {
                    "layout.xaxis.title.text": "alpha",
                    "layout.xaxis.nticks": 5,
                    "layout.yaxis.ticktext": short,
                }
            },
        ),
    )


def of_all_judges(judge_agreement: pd.DataFrame) -> pd.DataFrame:
    """The rows of a `JudgeAgreement` table that are of all judges, with the criterion's `name`."""
    own = judge_agreement[(judge_agreement["judge"] == "") & (judge_agreement["other"] == "")]
    return own.assign(name=own["criterion"].str.replace("_", " ")).reset_index(drop=True)


def _said(row: dict[Any, Any]) -> str:
    if pd.isna(row["alpha"]):
        return plain(f"no alpha: {row['reason']}")
    bounds = "" if pd.isna(row["low"]) else f" [{row['low']:.2f}, {row['high']:.2f}]"
    return f"{row['alpha']:.2f}{bounds}, n = {int(row['n_items']):,}"
