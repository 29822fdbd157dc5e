"""Lines over rates in one panel per family of samplers, each panel with random's band."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from benchwright.figure_style import INK, QUIET, axis, empty_figure, layout, plain

FAMILIES: Mapping[str, str] = {
    "baseline": "Baselines",
    "clustering": "Clusters of texts",
    "quality": "Quality of texts",
    "difficulty": "Difficulty",
    "responses": "Answers of models",
}
"""Families of samplers in the order of pages, in words."""

COLOURS = (
    *("#3b82c4", "#d9622b", "#2f9e77", "#b0568f", "#c29a1f", "#6f6bd1"),
    *("#4fa9b8", "#a3684a", "#7ba13a", "#d17ba3", "#6b7d8f", "#8f5bb3"),
)
_PANEL = 190  # pixels, as all below
_TOP, _TICKS, _NAME = 30, 34, 26
_LEGEND_ROW, _WIDE, _NARROW = 19, 5, 2  # entries of a legend in a row


class _Places(NamedTuple):
    """Where panels stand: their lower and upper ends, in shares of `height` pixels."""

    height: int
    domains: list[tuple[float, float]]
    bottom: int

    @classmethod
    def of(cls, entries: list[int], in_a_row: int) -> Self:
        """Below each panel is its legend, of so many entries."""
        rooms = [_TICKS + _LEGEND_ROW * -(-n // in_a_row) + _NAME for n in entries]
        height = len(entries) * _PANEL + sum(rooms[:-1])
        tops = [i * _PANEL + sum(rooms[:i]) for i in range(len(entries))]
        shares = [(1 - (top + _PANEL) / height, 1 - top / height) for top in tops]
        return cls(height, [(max(low, 0.0), high) for low, high in shares], rooms[-1] + 10)

    def legend_at(self, panel: int) -> float:
        """Upper end of a panel's legend."""
        return self.domains[panel][0] - (_TICKS - 4) / self.height


def stacked_curves(
    curves: pd.DataFrame,
    families: Mapping[str, str],
    value: str,
    band: tuple[str, str, str],
    title: str,
    unit: str,
    *,
    most: float | None = None,
) -> Any:
    """One panel per family: a line per sampler, random subsets as a band with its median.

    Args:
        curves: rows of one panel of models and one metric of a `SamplingCurves` table.
        families: of each sampler.
        value: the column that is drawn.
        band: columns with the band's lower bound, median and upper bound.
        title: caption.
        unit: name of the vertical axis.
        most: upper end of the axis; None leaves it to the data.
    """
    import plotly.graph_objects as go

    known = curves.dropna(subset=[value])
    if known.empty:
        return empty_figure(title, "There are too few models to judge samplers.")
    present = [f for f in FAMILIES if (known["sampler"].map(families) == f).any()]
    reach = _reach(known, value, band, most)
    base = known[known["sampler"] == known["sampler"].iloc[0]].sort_values("rate")
    traces: list[Any] = []
    entries = []
    for i, family in enumerate(present):
        suffix = "" if not i else str(i + 1)
        place = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "legend": f"legend{suffix}"}
        own = list(known[known["sampler"].map(families) == family].groupby("sampler", sort=True))
        entries.append(len(own) + 2)
        traces += _band(go, base, band, place)
        for colour, (name, rows) in enumerate(own):
            line: dict[str, Any] = {"color": COLOURS[colour % len(COLOURS)], "width": 1.8}
            if name == "random":
                line = {"color": INK, "width": 1.5, "dash": "dash"}
            traces.append(_line(go, str(name), rows.sort_values("rate"), value, line, place))
    wide, narrow = _Places.of(entries, _WIDE), _Places.of(entries, _NARROW)
    return go.Figure(
        traces,
        layout(
            title,
            wide.height + _TOP + wide.bottom,
            annotations=_names(present),
            hovermode="closest",
            margin={"l": 8, "r": 16, "t": _TOP + 18, "b": wide.bottom},
            meta={"top": _TOP, "narrow": _narrow(narrow)},
            **_axes(wide, unit, reach),
        ),
    )


def _names(present: list[str]) -> list[dict[str, Any]]:
    """The family's name above each panel."""
    shared = {"showarrow": False, "xanchor": "left", "yanchor": "bottom", "x": 0, "y": 1}
    return [
        {
            **shared,
            "text": f"<b>{FAMILIES[family]}</b>",
            "xref": "paper",
            "yref": f"y{i + 1 if i else ''} domain",
        }
        for i, family in enumerate(present)
    ]


def _axes(places: _Places, unit: str, reach: list[float]) -> dict[str, Any]:
    """Axes and legend of each panel; rates are named below the last one."""
    found: dict[str, Any] = {}
    for i, domain in enumerate(places.domains):
        suffix = "" if not i else str(i + 1)
        found[f"yaxis{suffix}"] = axis(
            unit, domain=domain, range=reach, fixedrange=True, anchor=f"x{suffix}"
        )
        found[f"xaxis{suffix}"] = axis(
            anchor=f"y{suffix}", fixedrange=True, rangemode="tozero", ticksuffix="%"
        )
        found[f"legend{suffix}"] = {
            "orientation": "h",
            "x": 0,
            "y": places.legend_at(i),
            "yanchor": "top",
        }
    return found


def _narrow(places: _Places) -> dict[str, Any]:
    """The changes where legends need more rows."""
    changes: dict[str, Any] = {
        "layout.height": places.height + _TOP + places.bottom,
        "layout.margin.b": places.bottom,
    }
    for i, domain in enumerate(places.domains):
        suffix = "" if not i else str(i + 1)
        changes[f"layout.yaxis{suffix}.domain"] = domain
        changes[f"layout.legend{suffix}.y"] = places.legend_at(i)
    return changes


def _reach(
    known: pd.DataFrame, value: str, band: tuple[str, str, str], most: float | None
) -> list[float]:
    """From the lowest drawn value to the highest, with room; very small rates do not rule it."""
    seen = known[known["rate"] >= min(2.0, known["rate"].max())]
    values = seen[[value, band[0], band[2]]].to_numpy(dtype=float)
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max()) if most is None else most
    room = 0.04 * (high - low) or 0.01
    return [max(low - room, 0.0) if most is None and low >= 0 else low - room, high + room]


def _band(go: Any, base: pd.DataFrame, band: tuple[str, str, str], place: dict[str, str]) -> Any:
    rates = base["rate"].tolist()
    low, middle, high = (base[name].round(5).tolist() for name in band)
    quiet = {"width": 0}
    shared = {"x": rates, "mode": "lines", "hoverinfo": "skip", **place}
    return [
        go.Scatter(**shared, y=low, line=quiet, showlegend=False),
        go.Scatter(
            **shared,
            y=high,
            line=quiet,
            fill="tonexty",
            fillcolor="rgba(128,128,128,0.20)",
            name="random subsets, 95%",
        ),
        go.Scatter(
            **shared,
            y=middle,
            line={"color": QUIET, "width": 1, "dash": "dot"},
            name="their median",
        ),
    ]


def _line(
    go: Any, name: str, rows: pd.DataFrame, value: str, line: dict[str, Any], place: dict[str, str]
) -> Any:
    label = plain(name)
    return go.Scatter(
        x=rows["rate"].tolist(),
        y=rows[value].round(5).tolist(),
        mode="lines",
        line=line,
        name=label,
        customdata=rows["size"].tolist(),
        hovertemplate=f"{label}<br>%{{x:g}}% (%{{customdata:,}} items): %{{y:.3f}}<extra></extra>",
        **place,
    )
