"""Spread of scores on difficult items, and how often each sampler is chosen."""

from typing import Any

import pandas as pd

from benchwright.exports.export import ALL_MODELS_SPLIT
from benchwright.methods.dele.evidence.score_spread import ALL_ITEMS
from benchwright.methods.dele.samplers.registry import RANDOM
from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.labels import PANELS
from benchwright.reports.page.plot_style import KEPT, QUIET, REMOVED, axis, empty_plot, plain
from benchwright.reports.page.plots import legend_below, margin, plot, rows_down, spans


def plot_score_spread(score_spread: pd.DataFrame, sampling: SamplingParams) -> Any:
    """Draw the distribution of models' scores on difficult items and on random subsets."""
    title = "Scores on items chosen for difficulty"
    rate = sampling.evidence.main_rate
    own = score_spread[(score_spread["rate"] == rate) | (score_spread["sampler"] == ALL_ITEMS)]
    if own.empty:
        return empty_plot(title, "The panel has no models.")
    names = [plain(name) for name in own["sampler"]]
    first = own.iloc[0]
    title += (
        f": {rate:g}% of the items, {int(first['n_models']):,} {PANELS[str(first['panel'])]}; "
        "5–95% and 25–75% of the models, the median as a dot"
    )
    quantiles = [
        {
            **spans(own[low].astype(float), own[high].astype(float)),
            "mode": "lines",
            "line": {"color": KEPT, "width": width},
            "opacity": 0.55,
            "name": label,
            "hoverinfo": "skip",
        }
        for low, high, width, label in (("q05", "q95", 4, "5–95%"), ("q25", "q75", 11, "25–75%"))
    ]
    medians = {
        "x": own["median"].round(3).tolist(),
        "y": list(range(len(own))),
        "mode": "markers",
        "marker": {"color": REMOVED, "size": 8},
        "name": "median",
        "customdata": own[["sd", "random_sd_low", "random_sd_high"]].round(2).to_numpy().tolist(),
        "text": names,
        "hovertemplate": "%{text}: median %{x:.1f}, sd %{customdata[0]:.1f}; random "
        "[%{customdata[1]:.1f}, %{customdata[2]:.1f}]<extra></extra>",
    }
    return _by_sampler([*quantiles, medians], names, title, "score, in points")


def plot_winners(sampler_choice: pd.DataFrame, subject_winners: pd.DataFrame) -> Any:
    """Draw how often each sampler is chosen, over subjects if there are any, else over splits."""
    by_subject = len(subject_winners) > 0
    over = "subjects" if by_subject else "splits of the models"
    title = f"How often each sampler is chosen, over {over}"
    splits = sampler_choice[sampler_choice["split"] != ALL_MODELS_SPLIT]
    winners = (subject_winners if by_subject else splits)["winner"]
    counts = winners[winners.ne("")].value_counts()
    if counts.empty:
        return empty_plot(title, "No sampler is chosen: there are too few models or no results.")
    counts = counts.sort_index().sort_values(ascending=False, kind="stable")
    bars = {
        "type": "bar",
        "x": counts.tolist(),
        "y": list(range(len(counts))),
        "orientation": "h",
        "marker": {"color": [QUIET if name == RANDOM else KEPT for name in counts.index]},
        "hovertemplate": "%{x}<extra></extra>",
        "showlegend": False,
    }
    names = [plain(name) for name in counts.index]
    return _by_sampler([bars], names, title, f"of {int(counts.sum()):,}")


def _by_sampler(traces: list[dict[str, Any]], names: list[str], title: str, unit: str) -> Any:
    height = 28 * len(names)
    return plot(
        title,
        height + 90,
        traces,
        xaxis=axis(unit, fixedrange=True),
        yaxis=rows_down(names, range=[len(names) - 0.4, -0.6], fixedrange=True),
        hovermode="closest",
        legend=legend_below(62, height),
        margin=margin(82),
    )
