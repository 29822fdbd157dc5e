"""A benchmark's easiest and hardest items to read, and its bands (DELE, Tables 2, 4 and 5)."""

from collections.abc import Callable, Mapping
from math import inf, isfinite, isnan
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from benchwright.methods.dele.samplers.pool import SamplingPool
from benchwright.methods.dele.samplers.readability import (
    dale_chall,
    difficult_word_share,
    flesch_reading_ease,
    gunning_fog,
)
from benchwright.tables.dele import ReadabilityBands, ReadabilityExtremes

Index = Literal["difficult_words", "dale_chall", "flesch", "gunning_fog"]


class _Index(NamedTuple):
    value: Callable[[str], float]
    sign: int  # −1: high values are easy


_INDICES: Mapping[Index, _Index] = MappingProxyType(
    {
        "difficult_words": _Index(difficult_word_share, 1),
        "dale_chall": _Index(dale_chall, 1),
        "flesch": _Index(flesch_reading_ease, -1),
        "gunning_fog": _Index(gunning_fog, 1),
    }
)


class _Band(NamedTuple):
    """Values from `low` (with it) to `high` (without it)."""

    name: str
    low: float
    high: float


# The paper prints whole numbers (80–89); a band here reaches to the next one.
_BANDS: Mapping[Index, tuple[_Band, ...]] = MappingProxyType(
    {
        "flesch": (
            _Band("very easy", 90, inf),
            _Band("easy", 80, 90),
            _Band("fairly easy", 70, 80),
            _Band("standard", 60, 70),
            _Band("fairly difficult", 50, 60),
            _Band("difficult", 30, 50),
            _Band("very difficult", -inf, 30),
        ),
        "gunning_fog": (
            _Band("very easy", -inf, 7),
            _Band("easy", 7, 9),
            _Band("fairly easy", 9, 11),
            _Band("standard", 11, 13),
            _Band("fairly difficult", 13, 15),
            _Band("difficult", 15, 17),
            _Band("very difficult", 17, inf),
        ),
    }
)


def easiest_and_hardest(
    pool: SamplingPool, by: Index = "difficult_words", each: int = 3
) -> pd.DataFrame:
    """The items that are easiest and hardest to read, with all four indices (Table 2).

    Args:
        pool: items; those without any word are left out.
        by: the index that orders them; the other indices, then ids, settle equal values.
        each: items at either end; fewer where there are fewer than twice as many.

    Returns:
        A `ReadabilityExtremes` table: the easiest, easiest first, then the hardest, hardest first.
    """
    keys = [by, *(index for index in _INDICES if index != by)]
    rows = []
    for item_id, subject, text in zip(pool.item_ids, pool.subjects, pool.texts, strict=True):
        values: dict[str, float] = {key: spec.value(text) for key, spec in _INDICES.items()}
        if not isnan(values[by]):
            order = (*(_INDICES[key].sign * values[key] for key in keys), item_id)
            rows.append((order, {"item_id": item_id, "subject": subject, "text": text, **values}))
    rows.sort(key=lambda row: row[0])
    ends = min(each, len(rows) // 2)
    easiest = [{"end": "easy", **row} for _, row in rows[:ends]]
    hardest = [{"end": "hard", **row} for _, row in rows[len(rows) - ends :][::-1]]
    ranked = [
        {**row, "rank": rank} for end in (easiest, hardest) for rank, row in enumerate(end, 1)
    ]
    return ReadabilityExtremes.from_rows(ranked)


def readability_bands(pool: SamplingPool) -> pd.DataFrame:
    """How many items fall in each band of Flesch reading ease and Gunning fog (Tables 4 and 5).

    The outer bands are open: Flesch goes beyond 0 and 100. Items without any word are in none.

    Returns:
        A `ReadabilityBands` table, the easiest band of each index first.
    """
    rows = []
    for index, bands in _BANDS.items():
        values = np.array([_INDICES[index].value(text) for text in pool.texts], dtype=np.float64)
        judged = int(np.sum(~np.isnan(values)))
        for band in bands:
            n = int(np.sum((values >= band.low) & (values < band.high)))
            ends = [end if isfinite(end) else None for end in (band.low, band.high)]
            rows.append((index, band.name, *ends, n, n / judged if judged else 0.0))
    return ReadabilityBands.from_rows(rows)
