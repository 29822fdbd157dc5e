"""How far judges agree on what they judged, all of them and pair by pair."""

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.seeding import stage_generator
from benchwright.statistics.krippendorff import (
    Scale,
    krippendorff_alpha,
    krippendorff_interval,
)
from benchwright.tables.mmlu_cf import JudgeAgreement


def judge_agreement(
    task: str, judged: pd.DataFrame, scale: Scale, seed: int, draws: int = 500
) -> pd.DataFrame:
    """A `JudgeAgreement` table: Krippendorff's alpha and plain agreement per criterion.

    Args:
        task: what was judged, e.g. "difficulty".
        judged: item_id, judge, criterion, value (NaN where a judge's reply said nothing).
        scale: of the values.
        seed: of the resamples of items.
        draws: resamples for the interval of alpha.
    """
    rows: list[tuple[Any, ...]] = []
    for criterion, part in judged.groupby("criterion", sort=True):
        table = part.pivot(index="judge", columns="item_id", values="value")  # noqa: PD010
        table = table.sort_index(axis=0).sort_index(axis=1).astype(np.float64)
        names = [str(name) for name in table.index]
        values = table.to_numpy()
        together = _figures(values, scale, task, seed, draws)
        rows.append((task, criterion, "", "", *together[:-2], np.nan, together[-1]))
        rows.extend(
            (task, criterion, names[a], names[b], *_figures(pair, scale, task, seed, draws))
            for a, b in combinations(range(len(names)), 2)
            for pair in [values[[a, b]]]
        )
    return JudgeAgreement.from_rows(rows)


def _figures(
    values: NDArray[np.float64], scale: Scale, task: str, seed: int, draws: int
) -> tuple[Any, ...]:
    """n_items, alpha, low, high, equal, apart, difference, reason of judges × items."""
    alpha = krippendorff_alpha(values, scale)
    generator = stage_generator(seed, f"judge_agreement/{task}")
    bounds = krippendorff_interval(values, scale, draws, generator)
    gaps = np.concatenate(
        [values[a] - values[b] for a, b in combinations(range(len(values)), 2)] or [np.empty(0)]
    )
    gaps = gaps[~np.isnan(gaps)]
    equal, apart, difference = (
        (float((gaps == 0).mean()), float(np.abs(gaps).mean()), float(gaps.mean()))
        if len(gaps)
        else (np.nan, np.nan, np.nan)
    )
    reason = alpha.reason or bounds.reason
    return alpha.units, alpha.value, bounds.low, bounds.high, equal, apart, difference, reason
