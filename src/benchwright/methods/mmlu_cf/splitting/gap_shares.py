"""How many gaps are small, beside what sampling alone gives (MMLU-CF, section 4.5)."""

from collections.abc import Iterator

import pandas as pd

from benchwright.methods.mmlu_cf.splitting.gap import SIZE_GROUPS, gap_shares
from benchwright.params.half_gap import HalfGapParams
from benchwright.tables.mmlu_cf import HalfGapShares


def count_small_gaps(half_gap: pd.DataFrame, settings: HalfGapParams) -> pd.DataFrame:
    """Count the configurations whose |Δ| is below each bound.

    Returns:
        A `HalfGapShares` table: all ways of asking, then each; in each all sizes, then each.
    """
    whole = half_gap[half_gap["field"].eq("")]
    rows = [
        (style, shots, group, one.below, one.n, *one[1:5], one.reason)
        for style, shots, asked in _ways(whole)
        for group, own in _groups(asked)
        for one in gap_shares(own, settings.bounds, settings.level)
    ]
    return HalfGapShares.from_rows(rows)


def _ways(whole: pd.DataFrame) -> Iterator[tuple[str, int, pd.DataFrame]]:
    yield "", -1, whole
    asked = sorted(set(zip(whole["style"], whole["shots"], strict=True)))
    for style, shots in asked:
        own = whole[whole["style"].eq(style) & whole["shots"].eq(shots)]
        yield str(style), int(shots), own


def _groups(asked: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    yield "", asked
    for group in SIZE_GROUPS:
        own = asked[asked["size_group"].eq(group)]
        if len(own):
            yield group, own
