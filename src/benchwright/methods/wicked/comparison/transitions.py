"""What becomes of the answers to altered items? (WiCkeD, Figure 3.)"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.methods.wicked.comparison.compared_answers import ComparedAnswers
from benchwright.methods.wicked.comparison.scores import mean_where
from benchwright.statistics.clustered_mean import clustered_share
from benchwright.tables.wicked import DrawNoneRates, DrawTransitions


def follow_answers(
    compared_answers: Mapping[str, ComparedAnswers],
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Count answers that changed, and answers that say none is right.

    Returns:
        `DrawTransitions`: shares of altered items by what became of the answer, apart for gold kept
        and removed; `DrawNoneRates`: how often "none" was picked where it is right and where not,
        among items into which a draw put such an option.
    """
    transitions: list[dict[str, Any]] = []
    rates: list[tuple[Any, ...]] = []
    for name, seen in compared_answers.items():
        transitions += _transitions(name, seen)
        rates += _none_rates(name, seen)
    return DrawTransitions.from_rows(transitions), DrawNoneRates.from_rows(rates)


def _transitions(name: str, seen: ComparedAnswers) -> list[dict[str, Any]]:
    before = np.broadcast_to(seen.original >= 0.5, seen.drawn.shape)
    after = seen.drawn >= 0.5
    out = []
    for gold, marks in (
        ("kept", seen.altered & ~seen.gold_removed),
        ("removed", seen.altered & seen.gold_removed),
    ):
        shares = {
            "stayed_right": mean_where((before & after).astype(np.float64), marks),
            "became_wrong": mean_where((before & ~after).astype(np.float64), marks),
            "became_right": mean_where((~before & after).astype(np.float64), marks),
            "stayed_wrong": mean_where((~before & ~after).astype(np.float64), marks),
        }
        out += [
            {
                "perturbation": name,
                "configuration": configuration,
                "gold": gold,
                "n": int(marks.sum()),
                **{column: float(values[row]) for column, values in shares.items()},
            }
            for row, configuration in enumerate(seen.configurations)
        ]
    return out


def _none_rates(name: str, seen: ComparedAnswers) -> list[tuple[Any, ...]]:
    clusters = np.broadcast_to(seen.clusters, seen.has_none.shape)
    out: list[tuple[Any, ...]] = []
    if not seen.has_none.any():
        return out
    for gold, marks in (
        ("kept", seen.has_none & ~seen.gold_removed),
        ("removed", seen.has_none & seen.gold_removed),
    ):
        chance = float((1 / seen.options[marks]).mean()) if marks.any() else np.nan
        for row, configuration in enumerate(seen.configurations):
            hits = seen.picked_none[:, row][marks]
            found = clustered_share(hits, clusters[marks])
            counts = (found.n, int(hits.sum()))
            bounds = (found.share, found.low, found.high)
            out.append((name, configuration, gold, *counts, *bounds, chance, found.reason))
    return out
