"""Lines over rates in one panel per family of samplers, each panel with random's band."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from benchwright.reports.page.plot_style import INK, QUIET, axis, empty_figure, layout, plain

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
_LEGEND_ROW = 19
_WIDE, _NARROW = 700, 320  # of a legend at least
_KEY, _LETTER = 46, 6.4  # of an entry's line, and of a letter
_OF_BAND = ("random subsets, 95%", "their median")


class _Places(NamedTuple):
    """Where panels stand: their lower and upper ends, in shares of `height` pixels."""

    height: int
    domains: list[tuple[float, float]]
    bottom: int

    @classmethod
    def of(cls, entries: list[list[str]], width: int) -> Self:
        """Below each panel is its legend of these entries, each as wide as the longest."""
        rows = [
            -(-len(own) // max(int(width // (_KEY + _LETTER * max(map(len, own)))), 1))
            for own in entries
        ]
        rooms = [_TICKS + _LEGEND_ROW * n + _NAME for n in rows]
        height = len(entries) * _PANEL + sum(rooms[:-1])
        tops = [i * _PANEL + sum(rooms[:i]) for i in range(len(entries))]
        shares = [(1 - (top + _PANEL) / height, 1 - top / height) for top in tops]
        return cls(height, [(max(low, 0.0), high) for low, high in shares], rooms[-1] + 10)

    def legend_at(self, panel: int) -> float:
        """Upper end of a panel's legend."""
        return self.domains[panel][0] - (_TICKS - 4) / self.height


def stacked_curves(
    curves: pd.DataFrame,
    groups: Mapping[str, str],
    value: str,
    band: tuple[str, str, str],
    title: str,
    unit: str,
    *,
    most: float | None = None,
    head: int = 0,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """One panel per group: a line per sampler, random subsets as a band with its median.

    A trace names the sampler and the column that it shows in its `meta`.

    Args:
        curves: columns group, sampler, rate, size, `value` and those of `band`.
        groups: their names in words, in the order of the panels.
        value: the column that is drawn.
        band: columns with the band's lower bound, median and upper bound.
        title: caption.
        unit: name of the vertical axes.
        most: upper end of the axes; None leaves it to the data.
        head: pixels that are left free above the panels.
        more: of the layout.
    """
    import plotly.graph_objects as go

    known = curves.dropna(subset=[value])
    if known.empty:
        return empty_figure(title, "There are too few models to judge samplers.")
    present = [group for group in groups if (known["group"] == group).any()]
    traces: list[Any] = []
    entries = []
    for i, group in enumerate(present):
        suffix = "" if not i else str(i + 1)
        place = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "legend": f"legend{suffix}"}
        here = known[known["group"] == group].sort_values("rate")
        own = list(here.groupby("sampler", sort=True))
        entries.append([*(str(name) for name, _ in own), *_OF_BAND])
        traces += _band(go, here.drop_duplicates("rate"), band, place)
        for colour, (name, rows) in enumerate(own):
            line: dict[str, Any] = {"color": COLOURS[colour % len(COLOURS)], "width": 1.8}
            if name == "random":
                line = {"color": INK, "width": 1.5, "dash": "dash"}
            traces.append(_line(go, str(name), rows, value, line, place))
    wide, narrow = _Places.of(entries, _WIDE), _Places.of(entries, _NARROW)
    top = _TOP + head
    return go.Figure(
        traces,
        layout(
            title,
            wide.height + top + wide.bottom,
            annotations=_names([groups[group] for group in present]),
            hovermode="closest",
            margin={"l": 8, "r": 16, "t": top + 18, "b": wide.bottom},
            meta={"top": top, "narrow": _narrow(narrow, top)},
            **_axes(wide, unit, _reach(known, value, band, most)),
            **more,
        ),
    )


def _names(present: list[str]) -> list[dict[str, Any]]:
    """A name above each panel."""
    shared = {"showarrow": False, "xanchor": "left", "yanchor": "bottom", "x": 0, "y": 1}
    return [
        {
            **shared,
            "text": f"<b>{plain(name)}</b>",
            "xref": "paper",
            "yref": f"y{i + 1 if i else ''} domain",
        }
        for i, name in enumerate(present)
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


def _narrow(places: _Places, top: int) -> dict[str, Any]:
    """The changes where legends need more rows."""
    changes: dict[str, Any] = {
        "layout.height": places.height + top + places.bottom,
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
        go.Scatter(**shared, y=low, line=quiet, showlegend=False, meta={"shows": band[0]}),
        go.Scatter(
            **shared,
            y=high,
            line=quiet,
            fill="tonexty",
            fillcolor="rgba(128,128,128,0.20)",
            name=_OF_BAND[0],
            meta={"shows": band[2]},
        ),
        go.Scatter(
            **shared,
            y=middle,
            line={"color": QUIET, "width": 1, "dash": "dot"},
            name=_OF_BAND[1],
            meta={"shows": band[1]},
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
        meta={"shows": value, "of": name},
        customdata=rows["size"].tolist(),
        hovertemplate=f"{label}<br>%{{x:g}}% (%{{customdata:,}} items): %{{y:.3f}}<extra></extra>",
        **place,
    )
