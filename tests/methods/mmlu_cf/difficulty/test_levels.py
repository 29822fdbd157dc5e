"""Counts of levels after each step, and ratings before and after the rules."""

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.mmlu_cf.difficulty.quota_sampling import level_shares
from benchwright.methods.mmlu_cf.difficulty.rating import DIFFICULTY, compare_ratings, count_levels
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


def in_documents(documents: dict[str, str | None]) -> pd.DataFrame:
    return pd.DataFrame({"item_id": list(documents), "doc_id": list(documents.values())})


def levels_of(**ratings: float) -> pd.DataFrame:
    rows = [
        (item_id, value, np.rint(value), "not_judged" if np.isnan(value) else "judges")
        for item_id, value in ratings.items()
    ]
    return pd.DataFrame(rows, columns=DIFFICULTY)


def test_ratings_before_and_after_are_paired() -> None:
    before = levels_of(a=5, b=5, c=7, d=2, e=np.nan, f=9)
    after = levels_of(d=2, c=7, b=8, a=6, e=3, g=1)
    shift = compare_ratings(before, after, in_documents(dict.fromkeys("abcdeg")))
    assert (shift["n"], shift["of"]) == (4, 6)
    assert (shift["before"], shift["after"], shift["shift"]) == (4.75, 5.75, 1.0)
    # Paired t interval of 1, 3, 0, 0: 1 ± 3.182446 · √2 / 2.
    assert shift["low"] == pytest.approx(1 - 3.182446 * 2**0.5 / 2, abs=1e-5)
    assert shift["high"] == pytest.approx(1 + 3.182446 * 2**0.5 / 2, abs=1e-5)
    assert (shift["harder"], shift["easier"]) == (0.5, 0.0)
    assert shift["reason"] == ""


def test_questions_of_one_page_form_a_cluster() -> None:
    before, after = levels_of(a=5, b=5, c=7, d=2), levels_of(a=6, b=6, c=7, d=2)
    pages = in_documents({"a": "p", "b": "p", "c": "q", "d": "q"})
    together = compare_ratings(before, after, pages)
    apart = compare_ratings(before, after, in_documents(dict.fromkeys("abcd")))
    assert together["shift"] == apart["shift"] == 0.5
    assert together["high"] - together["low"] > 2 * (apart["high"] - apart["low"])
    alone = compare_ratings(before, after, in_documents(dict.fromkeys("abcd", "p")))
    assert alone["low"] is None
    assert "one cluster" in alone["reason"]


def test_only_ratings_of_judges_are_compared() -> None:
    from_answers = levels_of(a=5).assign(source="responses")
    shift = compare_ratings(from_answers, levels_of(a=6), in_documents({"a": "p"}))
    assert (shift["n"], shift["shift"]) == (0, None)
    assert shift["reason"] == "no question was rated both before and after the rules"
    nothing = compare_ratings(levels_of(a=1), levels_of(), in_documents({}))
    assert (nothing["n"], nothing["of"]) == (0, 0)
