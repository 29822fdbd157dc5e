"""Counts of levels after each step."""

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.mmlu_cf.difficulty.quota_sampling import level_shares
from benchwright.methods.mmlu_cf.difficulty.rating import DIFFICULTY, count_levels
from benchwright.params.mmlu_cf import SamplingByDifficultyParams


def test_levels_of_each_pool_are_counted_with_the_target() -> None:
    levels = pd.Series([6.0, 6.0, 9.0, np.nan])
    params = SamplingByDifficultyParams(mean=5, sd=2)
    difficulty = pd.DataFrame({"item_id": list("abcd"), "level": levels})
    sampled_items = difficulty[["item_id"]][:2]
    rest = (sampled_items, levels_of())
    table = count_levels(difficulty, sampled_items, *rest, params)
    assert list(table.columns) == ["pool", "level", "n", "share", "expected"]
    assert table["level"].tolist() == [*range(-1, 10)] * 3
    rated = table[table["pool"] == "rated"].set_index("level")
    assert rated["n"].to_dict() == {**dict.fromkeys(range(-1, 10), 0), -1: 1, 6: 2, 9: 1}
    assert rated["share"][6] == 0.5
    assert rated["expected"].isna().all()
    sampled = table[table["pool"] == "sampled"].set_index("level")
    assert sampled["share"][6] == 1
    assert sampled["expected"][range(10)].to_numpy() == pytest.approx(level_shares(5, 2))
    assert np.isnan(sampled["expected"][-1])


def levels_of(**ratings: float) -> pd.DataFrame:
    rows = [
        (item_id, value, np.rint(value), "not_judged" if np.isnan(value) else "judges")
        for item_id, value in ratings.items()
    ]
    return pd.DataFrame(rows, columns=DIFFICULTY)
