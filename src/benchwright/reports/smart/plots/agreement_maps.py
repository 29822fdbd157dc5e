"""Agreement between models as two heatmaps (SMART, Figure 4)."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.reports.page import plot_style as style
from benchwright.reports.page import plots

_MARGINS = 48 + 100  # pixels above and below the maps: title; labels and colour scale
_LABELLED = 10


def plot_agreement(agreement: pd.DataFrame) -> Any:
    """Draw how often two models agree, before and after filtering."""
    if agreement.empty:
        return style.empty_plot("Agreement of models", "Fewer than two models to compare.")
    predicted = agreement["kind"].iloc[0] == "prediction"
    models = list(dict.fromkeys([*agreement["model_a"], *agreement["model_b"]]))
    names = style.short_names(models)
    maps = [_square(agreement, column, models) for column in ("full", "kept")]
    numbers = [str(i) for i in range(1, len(models) + 1)]
    title = (
        f"Agreement of {'answers' if predicted else 'correctness (right or wrong)'} "
        "between two models, before and after: mean "
        f"{_percent(agreement['full'].mean())} → {_percent(agreement['kept'].mean())}"
    )
    # With more models the numbers in the cells are too small to read.
    labelled = {"texttemplate": "%{z:.0%}", "textfont": {"size": 11}}
    cell_text = labelled if len(models) <= _LABELLED else {}
    traces = [
        {
            "type": "heatmap",
            "z": [[None if np.isnan(cell) else float(cell) for cell in row] for row in values],
            "x": numbers,
            "y": numbers,
            "customdata": [[f"{a}<br>{b}" for b in names] for a in names],
            "xaxis": f"x{suffix}",
            "yaxis": f"y{suffix}",
            "coloraxis": "coloraxis",
            "xgap": 1,
            "ygap": 1,
            "hovertemplate": "%{customdata}<br>%{z:.1%}<extra></extra>",
            **cell_text,
        }
        for values, suffix in zip(maps, ("", "2"), strict=True)
    ]
    map_height = max(24 * len(models), 120)
    down: dict[str, Any] = {
        "autorange": "reversed",
        "showgrid": False,
        "fixedrange": True,
        "type": "category",
        "tickvals": numbers,
        "ticktext": _labels(names),
    }
    across: dict[str, Any] = {"showgrid": False, "fixedrange": True, "type": "category"}
    across |= {"tickangle": 0, "dtick": -(-len(models) // 12)}
    return plots.plot(
        title,
        map_height + _MARGINS,
        traces,
        xaxis=style.axis("all items", domain=[0, 0.485], anchor="y", **across),
        yaxis=style.axis(anchor="x", **down),
        xaxis2=style.axis("kept items", domain=[0.515, 1], anchor="y2", **across),
        yaxis2=style.axis(anchor="x2", showticklabels=False, **down),
        coloraxis=_colours(agreement, map_height),
        margin=plots.margin(100, top=48),
        meta={
            "narrow": _stacked(map_height, _labels(style.short_names(models, style.NARROW_NAME)))
        },
    )


def _labels(names: list[str]) -> list[str]:
    return [f"{name}  {number}" for number, name in enumerate(names, start=1)]


def _stacked(map_height: int, labels: list[str]) -> dict[str, Any]:
    total = 2 * map_height + 60
    return {
        "layout.height": total + _MARGINS,
        **plots.one_above_the_other(map_height, map_height, 60),
        "layout.yaxis2.showticklabels": True,
        "layout.yaxis.ticktext": labels,
        "layout.yaxis2.ticktext": labels,
        "layout.coloraxis.colorbar.len": 1,
        "layout.coloraxis.colorbar.y": -60 / total,
        "data.0.textfont.size": 9,
        "data.1.textfont.size": 9,
    }


def _colours(agreement: pd.DataFrame, map_height: int) -> dict[str, Any]:
    """Return one scale for both maps, from the tenth below the lowest agreement up to 1."""
    shares = agreement[["full", "kept"]].to_numpy(dtype=np.float64)
    lowest = float(np.fmin.reduce(shares, axis=None))  # ignores pairs without a share
    return {
        "colorscale": style.SEQUENTIAL,
        "cmin": 0 if np.isnan(lowest) else float(np.floor(10 * min(lowest, 0.99)) / 10),
        "cmax": 1,
        "colorbar": {
            "orientation": "h",
            "y": -60 / map_height,
            "yanchor": "top",
            "thickness": 10,
            "len": 0.6,
            "outlinewidth": 0,
            "tickformat": ".0%",
            "tickangle": 0,
            "nticks": 5,
        },
    }


def _square(agreement: pd.DataFrame, column: str, models: list[str]) -> NDArray[np.float64]:
    index = {model: i for i, model in enumerate(models)}
    shares = np.full((len(models), len(models)), np.nan)
    a, b = (agreement[side].map(index).to_numpy() for side in ("model_a", "model_b"))
    shares[a, b] = shares[b, a] = agreement[column].to_numpy(dtype=np.float64)
    return shares


def _percent(value: float) -> str:
    return "unknown" if pd.isna(value) else f"{value:.1%}"
