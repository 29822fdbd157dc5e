"""The chosen sampler over rates, and samplers beside two scores of the benchmark."""

from typing import Any

import pandas as pd

from benchwright.methods.dele.evidence.curves import CHOSEN, IN_SAMPLE, ORDER
from benchwright.methods.dele.evidence.judging import RANDOM
from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.plots.curves import BAND
from benchwright.reports.dele.plots.panels_of_curves import stacked_curves

LINES = {
    RANDOM: "random",
    CHOSEN: "chosen",
    IN_SAMPLE: "chosen, in-sample",
    ORDER: "luckiest random order",
}
"""Lines of the figure in words."""

_METRICS = {"tau_b": "Kendall tau-b", "spearman": "Spearman", "pearson": "Pearson of scores"}
_TARGETS = {
    "items": "Beside the mean over items",
    "subjects": "Beside the mean over subjects",
}


def draw_chosen_curves(chosen_curves: pd.DataFrame) -> Any:
    """Draw what the sampler chosen by some models keeps for the others (DELE, Figure 7)."""
    splits = int(chosen_curves["splits"].max()) if len(chosen_curves) else 0
    own = chosen_curves.assign(
        group=chosen_curves["metric"], sampler=chosen_curves["line"].map(LINES)
    )
    title = f"The chosen sampler over rates, mean over {splits:,} splits of the models"
    return stacked_curves(own, _METRICS, "mean", BAND, title, "correlation", most=1.0)


def draw_target_curves(target_curves: pd.DataFrame, sampling: SamplingParams) -> Any:
    """Draw the scores' error beside the mean over items and beside the mean over subjects."""
    own = target_curves[target_curves["metric"] == "mean_absolute_error"]
    title = "Mean absolute error of a model's score, beside two scores of the benchmark"
    largest = own["rate"] >= min(sampling.evidence.at_rates)
    return stacked_curves(
        own[largest].assign(group=own["target"]), _TARGETS, "mean", BAND, title, "share"
    )
