"""Which models a figure shows, and what they are called there."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from benchwright.methods.wicked.comparison.main_perturbation import main_perturbation
from benchwright.methods.wicked.comparison.ways_of_asking import MIXED, say_way, ways_of_asking
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page.plot_style import NARROW_NAME, short_names

COLOURS = ("#3b82c4", "#d9622b", "#3f9b6c", "#a66bbe", "#b08a1e", "#cc5a86", "#4aa3a8", "#8a8f98")
"""Of models side by side: readable on white and on black."""


class Shown(NamedTuple):
    """The rows of `DrawScores` that a figure is about.

    Attributes:
        scores: the models asked alike, best original accuracy first, perhaps thinned out.
        names: of the models, for labels, escaped.
        short: the same for small screens.
        note: what the caption adds: the way of asking, how many are shown.
    """

    scores: pd.DataFrame
    names: list[str]
    short: list[str]
    note: str


def choose_models(draw_scores: pd.DataFrame, perturbation: PerturbationParams, most: int) -> Shown:
    """The models of the main perturbation that were asked alike; very many are thinned out."""
    name = main_perturbation(sorted(set(draw_scores["perturbation"])), perturbation)
    own = draw_scores[draw_scores["perturbation"] == name]
    way = next(iter(ways_of_asking(own["configuration"].tolist())))
    own = own[(own["asked"] == way) & own["rank_original"].notna()]
    own = own.sort_values(["accuracy_original", "configuration"], ascending=[False, True])
    note = say_way(way)
    if len(own) > most:
        note = f"{note}; " if note else ""
        note += f"{most} of {len(own):,} models, evenly along the ranking"
        own = own.iloc[np.linspace(0, len(own) - 1, most).round().astype(int)]
    labels = [str(one) for one in own["configuration" if way == MIXED else "model"]]
    return Shown(
        own.reset_index(drop=True),
        short_names(labels),
        short_names(labels, NARROW_NAME),
        f" ({note})" if note else "",
    )
