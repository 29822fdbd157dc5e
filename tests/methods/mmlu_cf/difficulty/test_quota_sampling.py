"""Samples by difficulty: quotas, domains, explanations."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from benchwright.methods.mmlu_cf.difficulty.quota_sampling import (
    level_shares,
    sample_by_difficulty,
)
from benchwright.params.mmlu_cf import SamplingByDifficultyParams
from few_examples import few_examples


class Sample(NamedTuple):
    """Sorted ids and the counts of the strata."""

    item_ids: list[str]
    strata: pd.DataFrame


def sampled(items: pd.DataFrame, size: int, seed: int = 0) -> Sample:
    return Sample(*sample_by_difficulty(items, SamplingByDifficultyParams(size=size), seed))


rows = st.lists(
    st.tuples(
        st.sampled_from(["law", "math", "physics"]),
        st.one_of(st.none(), st.integers(0, 9)),
        st.one_of(st.none(), st.sampled_from(["a.org", "b.org", "c.org", "d.org"])),
        st.sampled_from([None, "", "because"]),
    ),
    max_size=40,
)


def pool(of: list[tuple[object, ...]]) -> pd.DataFrame:
    frame = pd.DataFrame(of, columns=["field", "difficulty", "domain", "explanation"])
    return frame.assign(item_id=[f"d{i}#1" for i in range(len(of))])


def plenty(per_stratum: int = 30) -> pd.DataFrame:
    return pool(
        [
            (field, level, f"{number}.org", None)
            for field in ("law", "math", "physics")
            for level in range(10)
            for number in range(per_stratum)
        ]
    )


def test_level_shares_are_the_normal_mass_between_half_levels() -> None:
    edges = norm.cdf(np.arange(11) - 0.5, 6, 1.5)
    assert np.allclose(level_shares(6, 1.5), np.diff(edges) / (edges[-1] - edges[0]))
    assert level_shares().argmax() == 6


@given(rows, st.integers(1, 45), st.randoms(use_true_random=False))
@few_examples
def test_a_sample_has_the_available_items_and_does_not_depend_on_row_order(
    of: list[tuple[object, ...]], size: int, random: object
) -> None:
    items = pool(of)
    sample = sampled(items, size, 1)
    usable = items[items["difficulty"].notna()]
    strata = sample.strata
    assert (strata["sampled"] <= strata["available"]).all()
    assert strata["sampled"].sum() == len(sample.item_ids) == min(size, len(usable))
    chosen = usable[usable["item_id"].isin(sample.item_ids)]
    counts = chosen.groupby(["field", "difficulty"]).size()
    counted = strata.set_index(["field", "level"])["sampled"]
    assert all(counted[key] == count for key, count in counts.items())
    order = list(range(len(items)))
    random.shuffle(order)  # type: ignore[attr-defined]
    again = sampled(items.iloc[order], size, 1)
    assert again.item_ids == sample.item_ids
    assert again.strata.equals(sample.strata)


def test_with_enough_items_fields_and_levels_meet_their_quotas_exactly() -> None:
    sample = sampled(plenty(), 100)
    by_field = sample.strata.groupby("field")["sampled"].sum()
    by_level = sample.strata.groupby("level")["sampled"].sum()
    assert sorted(by_field) == [33, 33, 34]
    assert by_level.tolist() == [0, 0, 1, 4, 11, 21, 27, 21, 11, 4]
    assert not sample.strata["shortfall"].any()


def test_a_missing_level_is_replaced_by_adjacent_levels() -> None:
    items = plenty()
    items = items[items["difficulty"] != 9]
    sample = sampled(items, 100)
    by_level = sample.strata.groupby("level")["sampled"].sum()
    assert by_level.tolist() == [0, 0, 1, 4, 11, 21, 27, 21, 15, 0]
    assert sample.strata.query("level == 9")["shortfall"].sum() == 4


def test_a_small_field_contributes_all_and_others_share_the_rest() -> None:
    items = plenty()
    poor = items[(items["field"] != "law") | (items["difficulty"].eq(6) & (items.index % 6 == 0))]
    sample = sampled(poor, 100)
    by_field = sample.strata.groupby("field")["sampled"].sum()
    assert by_field["law"] == (poor["field"] == "law").sum() == 5
    assert sorted(by_field[["math", "physics"]]) == [47, 48]


def test_a_level_that_one_field_lacks_comes_from_the_others() -> None:
    items = plenty()
    items = items[(items["field"] != "law") | (items["difficulty"] < 8)]
    strata = sampled(items, 100).strata
    by_level = strata.groupby("level")["sampled"].sum()
    assert by_level.tolist() == [0, 0, 1, 4, 11, 21, 27, 21, 11, 4]
    assert sorted(strata.groupby("field")["sampled"].sum()) == [33, 33, 34]


def test_a_sample_covers_many_domains_and_the_rarest_first() -> None:
    big = [("law", 6, "big.org", None)] * 50
    small = [("law", 6, f"{number}.org", None) for number in range(8)]
    items = pool([*big, *small, ("law", 6, None, None)])
    chosen = items[items["item_id"].isin(sampled(items, 12).item_ids)]
    assert chosen["domain"].value_counts().to_dict() == {
        **{f"{number}.org": 1 for number in range(8)},
        "big.org": chosen["domain"].eq("big.org").sum(),
    }
    assert len(chosen) == 12


def test_explained_questions_come_first_within_a_stratum() -> None:
    items = pool([("law", 6, "a.org", "because" if i % 3 == 0 else " ") for i in range(30)])
    sample = sampled(items, 10)
    explained = items.loc[items["explanation"] == "because", "item_id"]
    assert sample.item_ids == sorted(explained)
