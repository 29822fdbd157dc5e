"""Questions of each level after each step (MMLU-CF, Figures 4 and 8)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.methods.mmlu_cf.difficulty.quota_sampling import LEVELS, level_shares
from benchwright.params.sampling_by_difficulty import SamplingByDifficultyParams
from benchwright.tables.mmlu_cf import DifficultyCounts

UNKNOWN = -1


def level_counts(
    pools: Mapping[str, "pd.Series[float]"], sampling: SamplingByDifficultyParams
) -> pd.DataFrame:
    """A `DifficultyCounts` table: all levels of each pool, −1 (not known) first.

    Args:
        pools: levels 0–9 of the questions of each pool, NaN where not known; in order.
        sampling: the distribution that the sample was to have.
    """
    target = level_shares(sampling.mean, sampling.sd)
    rows: list[tuple[Any, ...]] = []
    for pool, levels in pools.items():
        known = levels.fillna(UNKNOWN).astype(np.int64)
        for level in range(UNKNOWN, LEVELS):
            n = int((known == level).sum())
            expected = target[level] if pool == "sampled" and level >= 0 else np.nan
            rows.append((pool, level, n, n / max(len(known), 1), expected))
    return DifficultyCounts.from_rows(rows)
