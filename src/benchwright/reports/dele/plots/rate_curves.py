"""Curves of samplers over rates with the random band (DELE, Figures 1–32)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from benchwright.exports.export import CHOSEN, CHOSEN_BY_SUBJECT
from benchwright.methods.dele.evidence.panels import SamplingPanels
from benchwright.methods.dele.evidence.rate_curves import IN_SAMPLE
from benchwright.methods.dele.samplers.registry import RANDOM, sampler_kinds
from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.labels import PANELS
from benchwright.reports.page.plot_style import INK, QUIET, axis, clip, empty_plot, plain
from benchwright.reports.page.plots import margin, plot

BAND = ("random_low", "random_median", "random_high")
"""Columns of the random band: lower bound, median, upper bound."""

LINES = {
    RANDOM: "random",
    CHOSEN: "chosen",
    IN_SAMPLE: "chosen, in-sample",
    CHOSEN_BY_SUBJECT: "chosen by subject",
}
"""Legend labels of the lines in the plot of the chosen sampler."""

COLOURS = (
    *("#3b82c4", "#d9622b", "#2f9e77", "#b0568f", "#c29a1f", "#6f6bd1"),
    *("#4fa9b8", "#a3684a", "#7ba13a", "#d17ba3", "#6b7d8f", "#8f5bb3"),
)

_FAMILIES = {
    "baseline": "Baselines",
    "clustering": "Text clusters",
    "quality": "Text quality",
    "difficulty": "Difficulty",
    "responses": "Model responses",
}
_METRICS = {"tau_b": "Kendall tau-b", "spearman": "Spearman", "pearson": "Pearson of scores"}
_PANEL = 190  # pixels, as all below
_TOP, _TICKS, _NAME = 30, 34, 26
_LEGEND_ROW = 19
_WIDE, _NARROW = 700, 320  # of a legend at least
_KEY, _LETTER = 46, 6.4  # of an entry's line, and of a letter
_MENU, _GAP = 44, 26  # of the menu of subjects; between it and the first panel
_LONGEST = 34  # characters of a subject in the menu
_OF_BAND = ("random subsets, 95%", "random subsets, median")


class _Contents(NamedTuple):
    """Contents of a plot: titles of groups, column shown, unit and upper end of the axes."""

    groups: Mapping[str, str]
    unit: str
    most: float | None = None
    value: str = "mean"
    head: int = 0

    @property
    def band(self) -> list[str]:
        """Columns of the random band of means or of standard deviations."""
        return [name if self.value == "mean" else name.replace("_", "_sd_") for name in BAND]


_CURVES = (
    ("tau_b", "Kendall tau-b with the ranking on all items", "tau-b", 1.0),
    ("spearman", "Spearman correlation with the ranking on all items", "Spearman", 1.0),
    ("pearson", "Pearson correlation of scores with those on all items", "Pearson", 1.0),
    ("wasserstein", "Wasserstein distance of the scores", "share", None),
    ("mean_absolute_error", "Mean absolute error of a model's score", "share", None),
    ("spearman", "Spearman correlation: standard deviation over repeats", "sd", None),
    ("wasserstein", "Wasserstein distance: standard deviation over repeats", "sd", None),
)


def plot_curves(
    sampling_curves: pd.DataFrame, sampling_panels: SamplingPanels, sampling: SamplingParams
) -> tuple[Any, ...]:
    """Draw the agreement of ranks and scores with all items, and the variation over repeats.

    The curves are those of the main panel.

    Returns:
        Plots of tau-b, Spearman, Pearson, Wasserstein distance and mean absolute error, then of the
        standard deviations of Spearman and Wasserstein distance.
    """
    main = sampling_panels.main
    own = _by_family(sampling_curves[sampling_curves["panel"] == main], sampling)
    whom = f"({len(sampling_panels.groups[main]):,} {PANELS[main]})"
    return tuple(
        _stacked(
            own[own["metric"] == metric],
            f"{title} {whom}",
            _Contents(_FAMILIES, unit, most, "sd" if unit == "sd" else "mean"),
        )
        for metric, title, unit, most in _CURVES
    )


def plot_paper_curves(
    paper_curves: pd.DataFrame, paper_panel: SamplingPanels, sampling: SamplingParams
) -> Any:
    """Draw Spearman's correlation on the paper's panel, on the items that all of it answered."""
    own = paper_curves[paper_curves["metric"] == "spearman"]
    title = (
        f"Spearman correlation ({len(paper_panel.models):,} models of the paper's panel, "
        f"{len(paper_panel.item_ids):,} items)"
    )
    return _stacked(_by_family(own, sampling), title, _Contents(_FAMILIES, "Spearman", 1.0))


def plot_chosen_curves(chosen_curves: pd.DataFrame) -> Any:
    """Draw the rank agreement of the chosen samplers on held-out models (DELE, Figure 7)."""
    splits = int(chosen_curves["splits"].max()) if len(chosen_curves) else 0
    own = chosen_curves.assign(
        group=chosen_curves["metric"], sampler=chosen_curves["line"].map(LINES)
    )
    title = f"The chosen samplers over rates: mean over {splits:,} splits of the models"
    return _stacked(own, title, _Contents(_METRICS, "correlation", 1.0))


def plot_subject_curves(subject_curves: pd.DataFrame, sampling: SamplingParams) -> Any:
    """Draw Spearman's correlation inside the subject selected in a menu (DELE, Figures 8–27).

    The first menu entry is the mean over subjects.
    """
    title = "Spearman correlation inside a subject"
    own = subject_curves[subject_curves["metric"] == "spearman"]
    if own["mean"].isna().all():
        return empty_plot(title, "No subject has enough items and models.")
    whole = own.groupby(["sampler", "rate"])[["size", "mean", *BAND]].mean().reset_index()
    whole["size"] = whole["size"].round(1)
    chart = _stacked(
        _by_family(whole, sampling),
        f"{title} (all {int(own['n_models'].iloc[0]):,} models, without samplers that read "
        "responses)",
        _Contents(_FAMILIES, "Spearman", 1.0, head=_MENU),
    )
    subjects = list(own.groupby("subject", sort=True))
    rates = sorted(set(own["rate"]))
    shown = {f"mean over {len(subjects)} subjects": _arrays(chart, whole, rates)}
    for subject, rows in subjects:
        name = plain(clip(str(subject).replace("_", " "), _LONGEST))
        shown[f"{name} ({int(rows['n_items'].iloc[0]):,})"] = _arrays(chart, rows, rates)
    meta = dict(chart.layout.meta)
    wide = chart.layout.height - chart.layout.margin.b - meta["top"]
    narrow = dict(meta["narrow"])
    tall = narrow["layout.height"] - narrow["layout.margin.b"] - meta["top"]
    narrow["layout.updatemenus.0.y"] = 1 + _GAP / tall
    chart.update_layout(
        updatemenus=[_menu(shown, 1 + _GAP / wide)], meta={**meta, "narrow": narrow}
    )
    lows = [y for arrays in shown.values() for own in arrays["y"] for y in own if y is not None]
    chart.update_yaxes(range=[max(min(lows), -1.0), 1.02])
    return chart


def _arrays(chart: Any, rows: pd.DataFrame, rates: list[float]) -> dict[str, Any]:
    by_sampler = {str(name): own.set_index("rate") for name, own in rows.groupby("sampler")}
    any_of = next(iter(by_sampler.values()))
    arrays: dict[str, Any] = {"x": [], "y": [], "customdata": []}
    for trace in chart.data:
        own = by_sampler.get(trace.meta.get("of"), any_of if "of" not in trace.meta else None)
        column = [None] * len(rates) if own is None else _column(own[trace.meta["shows"]], rates)
        arrays["x"].append(rates)
        arrays["y"].append(column)
        arrays["customdata"].append([] if own is None else _column(own["size"], rates))
    return arrays


def _column(values: pd.Series, rates: list[float]) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 4) for value in values.reindex(rates)]


def _menu(shown: Mapping[str, dict[str, Any]], y: float) -> dict[str, Any]:
    return {
        "buttons": [
            {"label": name, "method": "restyle", "args": [arrays]} for name, arrays in shown.items()
        ],
        "x": 0,
        "xanchor": "left",
        "y": y,
        "yanchor": "bottom",
        "showactive": True,
        "active": 0,
        "pad": {"t": 0, "b": 0, "l": 0, "r": 0},
        # Plotly's own background of the active entry is nearly white, also on a dark page.
        "bgcolor": "#eef1f4",
        "bordercolor": "#b9c0c8",
        "font": {"color": "#1c2733", "size": 12},
    }


def _by_family(curves: pd.DataFrame, sampling: SamplingParams) -> pd.DataFrame:
    families = {name: kind.family for name, kind in sampler_kinds(sampling).items()}
    return curves.assign(group=curves["sampler"].map(families))


class _Places(NamedTuple):
    """Positions of panels: their lower and upper ends, in shares of `height` pixels."""

    height: int
    domains: list[tuple[float, float]]
    bottom: int

    @classmethod
    def of(cls, entries: list[list[str]], width: int) -> Self:
        """Compute positions with a legend of these entries below each panel."""
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
        """Return the upper end of a panel's legend."""
        return self.domains[panel][0] - (_TICKS - 4) / self.height


def _stacked(curves: pd.DataFrame, title: str, contents: _Contents) -> Any:
    """Plot one panel per group: a line per sampler, and the random band with its median.

    The `meta` of a trace holds the sampler and the column that it shows.

    Args:
        curves: columns group, sampler, rate, size, the value shown and those of the band.
        title: caption.
        contents: contents of the plot.
    """
    known = curves.dropna(subset=[contents.value])
    if known.empty:
        return empty_plot(title, "There are too few models to compare samplers.")
    present = [group for group in contents.groups if (known["group"] == group).any()]
    traces: list[dict[str, Any]] = []
    entries, names = [], []
    for i, group in enumerate(present):
        suffix = str(i + 1) if i else ""
        place = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}", "legend": f"legend{suffix}"}
        here = known[known["group"] == group].sort_values("rate")
        own = list(here.groupby("sampler", sort=True))
        entries.append([*(str(name) for name, _ in own), *_OF_BAND])
        lines = _band(here.drop_duplicates("rate"), contents.band)
        for colour, (name, rows) in enumerate(own):
            line: dict[str, Any] = {"color": COLOURS[colour % len(COLOURS)], "width": 1.8}
            if name == RANDOM:
                line = {"color": INK, "width": 1.5, "dash": "dash"}
            lines.append(_line(str(name), rows, contents.value, line))
        traces += [{**trace, **place, "mode": "lines"} for trace in lines]
        text = f"<b>{plain(contents.groups[group])}</b>"
        names.append({"text": text, "xref": "paper", "yref": f"y{suffix} domain", **_ABOVE})
    wide, narrow = _Places.of(entries, _WIDE), _Places.of(entries, _NARROW)
    top = _TOP + contents.head
    return plot(
        title,
        wide.height + top + wide.bottom,
        traces,
        annotations=names,
        hovermode="closest",
        margin=margin(wide.bottom, top=top + 18),
        meta={"top": top, "narrow": _narrow(narrow, top)},
        **_axes(wide, contents.unit, _value_range(known, contents)),
    )


_ABOVE = {"showarrow": False, "xanchor": "left", "yanchor": "bottom", "x": 0, "y": 1}


def _axes(places: _Places, unit: str, value_range: list[float]) -> dict[str, Any]:
    """Return the axes and legend of each panel."""
    layouts: dict[str, Any] = {}
    across: dict[str, Any] = {"fixedrange": True, "rangemode": "tozero", "ticksuffix": "%"}
    up: dict[str, Any] = {"title": unit, "range": value_range, "fixedrange": True}
    for i, domain in enumerate(places.domains):
        suffix = str(i + 1) if i else ""
        layouts[f"yaxis{suffix}"] = axis(**up, domain=domain, anchor=f"x{suffix}")
        layouts[f"xaxis{suffix}"] = axis(anchor=f"y{suffix}", **across)
        legend = {"orientation": "h", "x": 0, "y": places.legend_at(i), "yanchor": "top"}
        layouts[f"legend{suffix}"] = legend
    return layouts


def _narrow(places: _Places, top: int) -> dict[str, Any]:
    changes: dict[str, Any] = {
        "layout.height": places.height + top + places.bottom,
        "layout.margin.b": places.bottom,
    }
    for i, domain in enumerate(places.domains):
        suffix = str(i + 1) if i else ""
        changes[f"layout.yaxis{suffix}.domain"] = domain
        changes[f"layout.legend{suffix}.y"] = places.legend_at(i)
    return changes


def _value_range(known: pd.DataFrame, contents: _Contents) -> list[float]:
    """Return the range of the values with a margin, ignoring rates below 2%."""
    most = contents.most
    seen = known[known["rate"] >= min(2.0, known["rate"].max())]
    values = seen[[contents.value, contents.band[0], contents.band[2]]].to_numpy(dtype=float)
    values = values[np.isfinite(values)]
    low, high = float(values.min()), float(values.max()) if most is None else most
    room = 0.04 * (high - low) or 0.01
    return [max(low - room, 0.0) if most is None and low >= 0 else low - room, high + room]


def _band(base: pd.DataFrame, band: Sequence[str]) -> list[dict[str, Any]]:
    looks: tuple[dict[str, Any], ...] = (
        {"line": {"width": 0}, "showlegend": False},
        {"line": {"color": QUIET, "width": 1, "dash": "dot"}, "name": _OF_BAND[1]},
        {"line": {"width": 0}, "fill": "tonexty", "name": _OF_BAND[0]},
    )
    looks[2]["fillcolor"] = "rgba(128,128,128,0.20)"
    rates = base["rate"].tolist()
    low, middle, high = (
        {"x": rates, "y": base[name].round(5).tolist(), "hoverinfo": "skip", **look}
        | {"meta": {"shows": name}}
        for name, look in zip(band, looks, strict=True)
    )
    return [low, high, middle]


def _line(name: str, rows: pd.DataFrame, value: str, line: dict[str, Any]) -> dict[str, Any]:
    label = plain(name)
    return {
        "x": rows["rate"].tolist(),
        "y": rows[value].round(5).tolist(),
        "line": line,
        "name": label,
        "meta": {"shows": value, "of": name},
        "customdata": rows["size"].tolist(),
        "hovertemplate": f"{label}<br>%{{x:g}}% (%{{customdata:,}} items): %{{y:.3f}}"
        "<extra></extra>",
    }
