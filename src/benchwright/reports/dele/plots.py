"""The plots of the sampling report: samplers over rates, and clusters of items."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from benchwright.exports.export import CHOSEN, CHOSEN_BY_SUBJECT
from benchwright.methods.dele.evidence.panels import SamplingPanels
from benchwright.methods.dele.samplers.registry import RANDOM, sampler_kinds
from benchwright.params.sampling import SamplingParams
from benchwright.reports.page.figure import Mark, Scale
from benchwright.reports.page.plot_style import INK, PALETTE, QUIET
from benchwright.reports.page.shapes import band, curves, nothing

PANELS = {
    "held_out": "held-out models",
    "forward": "stronger models, items chosen by weaker ones",
    "all": "models, in-sample",
    "selection": "models that chose the items, in-sample",
}
"""Panels of models, as part of a phrase after a number."""

METRICS = {
    "tau_b": "Kendall tau-b",
    "spearman": "Spearman",
    "pearson": "Pearson of scores",
    "wasserstein": "Wasserstein distance",
    "mean_absolute_error": "mean absolute error",
    "error_sd": "spread of score errors over models",
    "rate_variance": "variance of Spearman over rates",
    "bias": "bias",
}

LINES = {
    RANDOM: "random",
    CHOSEN: "chosen",
    CHOSEN_BY_SUBJECT: "chosen by subject",
}
"""Lines in the plot of the chosen sampler, in words."""

_LOWEST_RATE = 2.0  # percent; below it, curves of few items would set the scale


def plot_sampling_curves(
    sampling_curves: pd.DataFrame, sampling_panels: SamplingPanels, sampling: SamplingParams
) -> Any:
    """Draw every sampler in the band of random subsets, on the main panel (DELE, Figures 1–6)."""
    main = sampling_panels.main
    whose = f"{len(sampling_panels.groups[main]):,} {PANELS[main]}"
    title = f"Kendall tau-b of samplers and random subsets ({whose})"
    kinds = sampler_kinds(sampling)
    families = list(dict.fromkeys(kind.family for kind in kinds.values()))
    own = sampling_curves[sampling_curves["panel"] == main]
    labels = {name: kind.family for name, kind in kinds.items()}
    colours = {name: PALETTE[families.index(family)] for name, family in labels.items()}
    return _plot_over_rates(title, own, "sampler", labels, colours)


def plot_chosen_curves(chosen_curves: pd.DataFrame) -> Any:
    """Draw the rank agreement of the chosen samplers on held-out models (DELE, Figure 7)."""
    splits = int(chosen_curves["splits"].max()) if len(chosen_curves) else 0
    title = f"Kendall tau-b of the chosen samplers: mean over {splits:,} splits of the models"
    colours = dict(zip(LINES, (INK, *PALETTE), strict=False))
    return _plot_over_rates(title, chosen_curves, "line", LINES, colours)


def _plot_over_rates(
    title: str,
    table: pd.DataFrame,
    key: str,
    labels: Mapping[str, str],
    colours: Mapping[str, str],
) -> Any:
    """Draw a line of Kendall's tau-b per value of `key`, and the random band."""
    known = table[table["metric"] == "tau_b"].dropna(subset=["mean"])
    if known.empty:
        return nothing(title, "There are too few models to compare samplers.")
    shown = known[known["rate"] >= min(_LOWEST_RATE, known["rate"].max())].sort_values("rate")
    marks = _lines(shown, key, labels, colours)
    return curves(title, marks, Scale("% of the items"), Scale("tau-b"))


def _lines(
    own: pd.DataFrame, key: str, labels: Mapping[str, str], colours: Mapping[str, str]
) -> list[Mark]:
    of_random = own.drop_duplicates("rate").dropna(subset=["random_median"])
    rates = of_random["rate"]
    middle = Mark("line", rates, of_random["random_median"], colour=QUIET, dash="dot")
    marks = [
        band(rates, of_random["random_low"], of_random["random_high"], "random subsets, 95%"),
        middle._replace(name="random subsets, median"),
    ]
    for name, rows in own.groupby(key, sort=True):
        hover = [
            f"{name}: {value:.3f} at {rate:g}% ({size:,} items)"
            for rate, size, value in rows[["rate", "size", "mean"]].itertuples(index=False)
        ]
        mark = Mark(
            "line",
            rows["rate"],
            rows["mean"],
            colour=colours[str(name)],
            name=labels[str(name)],
            hover=hover,
        )
        marks.append(mark)
    return marks
