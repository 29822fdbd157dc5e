"""What samplers keep of ranks and scores over rates (DELE, Figures 1–32)."""

from typing import Any, NamedTuple

import pandas as pd

from benchwright.methods.dele.evidence.judging import kinds_of
from benchwright.methods.dele.evidence.panels import SamplingPanels
from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.plots.panels_of_curves import FAMILIES, stacked_curves
from benchwright.reports.dele.wording import PANELS

BAND = ("random_low", "random_median", "random_high")
"""Columns of the band of random subsets."""
_SD_BAND = ("random_sd_low", "random_sd_median", "random_sd_high")


class _Drawn(NamedTuple):
    metric: str
    value: str
    title: str
    unit: str
    most: float | None


_FIGURES = (
    _Drawn("tau_b", "mean", "Kendall tau-b with the ranking on all items", "tau-b", 1.0),
    _Drawn(
        "spearman", "mean", "Spearman correlation with the ranking on all items", "Spearman", 1.0
    ),
    _Drawn(
        "pearson", "mean", "Pearson correlation of scores with those on all items", "Pearson", 1.0
    ),
    _Drawn("wasserstein", "mean", "Wasserstein distance of the scores", "share", None),
    _Drawn("mean_absolute_error", "mean", "Mean absolute error of a model's score", "share", None),
    _Drawn("spearman", "sd", "Spearman correlation: standard deviation over repeats", "sd", None),
    _Drawn(
        "wasserstein", "sd", "Wasserstein distance: standard deviation over repeats", "sd", None
    ),
)


def draw_curves(
    sampling_curves: pd.DataFrame, panels: SamplingPanels, sampling: SamplingParams
) -> tuple[Any, ...]:
    """Draw what samplers keep of ranks and of scores, and how much repeats differ.

    By the panel of headlines. Returns the figures of tau-b, Spearman, Pearson, Wasserstein distance
    and mean absolute error, then of the standard deviations of Spearman and Wasserstein distance.
    """
    own = by_family(sampling_curves[sampling_curves["panel"] == panels.main], sampling)
    return tuple(_draw(own, panels, drawn) for drawn in _FIGURES)


def draw_paper_curves(
    paper_curves: pd.DataFrame, paper_panel: SamplingPanels, sampling: SamplingParams
) -> Any:
    """Draw Spearman's correlation by the paper's panel, on the items that all of it answered."""
    own = paper_curves[paper_curves["metric"] == "spearman"]
    title = (
        f"Spearman correlation ({len(paper_panel.models):,} models of the paper's panel, "
        f"{len(paper_panel.item_ids):,} items)"
    )
    return stacked_curves(
        by_family(own, sampling), FAMILIES, "mean", BAND, title, "Spearman", most=1.0
    )


def by_family(curves: pd.DataFrame, sampling: SamplingParams) -> pd.DataFrame:
    """Curves with the family of each sampler as `group`."""
    families = {name: kind.family for name, kind in kinds_of(sampling).items()}
    return curves.assign(group=curves["sampler"].map(families))


def _draw(own: pd.DataFrame, panels: SamplingPanels, drawn: _Drawn) -> Any:
    n = len(panels.groups[panels.main])
    return stacked_curves(
        own[own["metric"] == drawn.metric],
        FAMILIES,
        drawn.value,
        BAND if drawn.value == "mean" else _SD_BAND,
        f"{drawn.title} ({n:,} {PANELS[panels.main]})",
        drawn.unit,
        most=drawn.most,
    )
