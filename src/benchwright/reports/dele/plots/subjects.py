"""Samplers inside one subject, which a menu chooses (DELE, Figures 8–27)."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.plots.curves import BAND, by_family
from benchwright.reports.dele.plots.panels_of_curves import FAMILIES, stacked_curves
from benchwright.reports.page.plot_style import clip, empty_figure, plain

_HEAD = 44  # pixels of the menu
_GAP = 26  # between the menu and the first panel
_LONGEST = 34  # characters of a subject in the menu
_METRIC = "spearman"


def draw_subject_curves(subject_curves: pd.DataFrame, sampling: SamplingParams) -> Any:
    """Draw Spearman's correlation inside each subject; first the mean over the subjects."""
    title = "Spearman correlation inside a subject"
    own = subject_curves[subject_curves["metric"] == _METRIC]
    if own["mean"].isna().all():
        return empty_figure(title, "No subject has enough items and models.")
    n_models = int(own["n_models"].iloc[0])
    values = ["size", "mean", *BAND]
    whole = own.groupby(["sampler", "rate"])[values].mean().reset_index()
    whole["size"] = whole["size"].round(1)
    figure = stacked_curves(
        by_family(whole, sampling),
        FAMILIES,
        "mean",
        BAND,
        f"{title} (all {n_models:,} models; samplers that read answers take no part)",
        "Spearman",
        most=1.0,
        head=_HEAD,
    )
    subjects = list(own.groupby("subject", sort=True))
    rates = sorted(set(own["rate"]))
    names = [f"mean over {len(subjects)} subjects"]
    shown = [_arrays(figure, whole, rates)]
    for subject, rows in subjects:
        n_items = int(rows["n_items"].iloc[0])
        words = str(subject).replace("_", " ")
        names.append(f"{plain(clip(words, _LONGEST))} ({n_items:,})")
        shown.append(_arrays(figure, rows, rates))
    meta = dict(figure.layout.meta)
    wide = figure.layout.height - figure.layout.margin.b - meta["top"]
    narrow = dict(meta["narrow"])
    tall = narrow["layout.height"] - narrow["layout.margin.b"] - meta["top"]
    narrow["layout.updatemenus.0.y"] = 1 + _GAP / tall
    menu = _menu(names, shown, 1 + _GAP / wide)
    figure.update_layout(updatemenus=[menu], meta={**meta, "narrow": narrow})
    lows = [y for arrays in shown for own in arrays["y"] for y in own if y is not None]
    for axis in figure.select_yaxes():
        axis.range = [max(min(lows), -1.0), 1.02]
    return figure


def _arrays(figure: Any, rows: pd.DataFrame, rates: list[float]) -> dict[str, Any]:
    """What each trace shows of a subject."""
    by_sampler = {str(name): own.set_index("rate") for name, own in rows.groupby("sampler")}
    any_of = next(iter(by_sampler.values()))
    found: dict[str, Any] = {"x": [], "y": [], "customdata": []}
    for trace in figure.data:
        own = by_sampler.get(trace.meta.get("of"), any_of if "of" not in trace.meta else None)
        column = [None] * len(rates) if own is None else _column(own[trace.meta["shows"]], rates)
        found["x"].append(rates)
        found["y"].append(column)
        found["customdata"].append([] if own is None else _column(own["size"], rates))
    return found


def _column(values: pd.Series, rates: list[float]) -> list[float | None]:
    return [None if np.isnan(value) else round(float(value), 4) for value in values.reindex(rates)]


def _menu(names: list[str], shown: list[dict[str, Any]], y: float) -> dict[str, Any]:
    return {
        "buttons": [
            {"label": name, "method": "restyle", "args": [arrays]}
            for name, arrays in zip(names, shown, strict=True)
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
