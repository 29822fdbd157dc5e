"""What each stratum of a sample was to give and gave."""

from typing import Any

import pandas as pd

from benchwright.methods.mmlu_cf.summary.levels import known_share, quotas
from benchwright.reports.page.plot_style import KEPT, QUIET, axis, clip, empty_figure, layout, plain

# Every cell is light enough for dark figures, on a white page and on a black one.
_SCALE = [[0, "#ef9a6f"], [0.5, "#d5d8dc"], [1, "#8bbbe6"]]
_ON_CELLS = "#1d2126"


def draw_strata(sampling_strata: pd.DataFrame, difficulty_counts: pd.DataFrame) -> Any:
    """Draw questions taken and wanted by field and level; fields alone where no level is known."""
    return _strata("The sample", sampling_strata, difficulty_counts)


def draw_final_strata(final_strata: pd.DataFrame, difficulty_counts: pd.DataFrame) -> Any:
    """Draw the same of the questions taken for the benchmark, of those that passed the check."""
    return _strata("The questions taken of those that passed", final_strata, difficulty_counts)


def _strata(what: str, strata: pd.DataFrame, difficulty_counts: pd.DataFrame) -> Any:
    known = known_share(difficulty_counts) > 0
    table = quotas(strata, levels_known=known)
    table = table[(table["target"] > 0) | (table["taken"] > 0)]
    if table.empty:
        return empty_figure(f"{what} by field and level", "Nothing was sampled.")
    return _cells(what, table) if known else _bars(what, table)


def _bars(what: str, table: pd.DataFrame) -> Any:
    import plotly.graph_objects as go

    names, rows = _fields([str(field) for field in table["field"]])
    top = int(table[["taken", "target"]].to_numpy().max())
    hover = "%{customdata}: %{x:,} "
    return go.Figure(
        [
            go.Bar(
                y=rows,
                x=table["taken"].tolist(),
                orientation="h",
                marker={"color": KEPT, "line": {"width": 0}},
                text=[
                    f"{a:,} of {b:,}" for a, b in zip(table["taken"], table["target"], strict=True)
                ],
                textposition="outside",
                cliponaxis=False,
                customdata=names,
                hovertemplate=f"{hover}taken<extra></extra>",
            ),
            go.Scatter(
                y=rows,
                x=table["target"].tolist(),
                mode="markers",
                marker={
                    "symbol": "line-ns-open",
                    "size": 16,
                    "color": QUIET,
                    "line": {"width": 2, "color": QUIET},
                },
                customdata=names,
                hovertemplate=f"{hover}wanted<extra></extra>",
            ),
        ],
        layout(
            f"{what} by field, since no level is known: taken (bar) of those wanted (grey line)",
            60 + 26 * len(rows),
            bargap=0.35,
            showlegend=False,
            margin={"l": 8, "r": 16, "t": 8, "b": 30},
            xaxis=axis(range=[0, 1.3 * top], tickformat=",d", nticks=6),
            yaxis=_down(names, rows),
            meta={"narrow": {"layout.xaxis.nticks": 4}},
        ),
    )


def _cells(what: str, table: pd.DataFrame) -> Any:
    import plotly.graph_objects as go

    wide = {
        name: table.pivot_table(index="field", columns="level", values=name, aggfunc="sum")
        for name in ("taken", "target", "balance")
    }
    levels = [str(level) for level in wide["taken"].columns]
    fields = [str(field) for field in wide["taken"].index]
    names, rows = _fields(fields)
    pairs = zip(*(wide[name].to_numpy().tolist() for name in ("taken", "target")), strict=True)
    text = [
        ["" if pd.isna(a) else f"{a:,.0f}/{b:,.0f}" for a, b in zip(taken, wanted, strict=True)]
        for taken, wanted in pairs
    ]
    balance = [
        [None if pd.isna(one) else int(one) for one in row]
        for row in wide["balance"].to_numpy().tolist()
    ]
    most = max(int(table["balance"].abs().max()), 1)
    return go.Figure(
        [
            go.Heatmap(
                x=levels,
                y=rows,
                z=balance,
                zmin=-most,
                zmax=most,
                colorscale=_SCALE,
                showscale=False,
                text=text,
                texttemplate="%{text}",
                textfont={"color": _ON_CELLS},
                customdata=[[name] * len(levels) for name in names],
                hoverongaps=False,
                xgap=2,
                ygap=2,
                hovertemplate="%{customdata}, level %{x}: %{text} (%{z:+d})<extra></extra>",
            )
        ],
        layout(
            f"{what} by field and level: taken / wanted; orange has too few, blue gave more",
            70 + 28 * len(rows),
            margin={"l": 8, "r": 16, "t": 8, "b": 46},
            xaxis=axis("level of difficulty", type="category", showgrid=False),
            yaxis=_down(names, rows),
            meta={
                "narrow": {
                    "layout.yaxis.ticktext": [plain(clip(field, 9)) for field in fields],
                    "data.0.textfont.size": 8,
                }
            },
        ),
    )


def _fields(fields: list[str]) -> tuple[list[str], list[int]]:
    return [plain(clip(field, 40)) for field in fields], list(range(len(fields)))


def _down(names: list[str], rows: list[int]) -> dict[str, Any]:
    """Rows by number from the top, so that two names that look alike stay two rows."""
    return axis(tickvals=rows, ticktext=names, range=[len(rows) - 0.5, -0.5], showgrid=False)
