"""Samples by difficulty: quotas, domains, explanations."""

import itertools
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
from benchwright.methods.mmlu_cf.margin_table import (
    cell_goal,
    cumulative_level_goal,
    field_goal,
    joined,
    level_goal,
    nearest_table,
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


@given(rows, st.integers(0, 45), st.randoms(use_true_random=False))
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


@given(
    st.lists(st.integers(0, 2), min_size=6, max_size=6),
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
    st.data(),
)
def test_the_nearest_table_is_optimal_among_all_tables(
    upper: list[int], levels: list[int], data: st.DataObject
) -> None:
    most = np.array(upper).reshape(2, 3)
    total = data.draw(st.integers(0, int(most.sum())))
    fields = np.array([total // 2, total - total // 2])
    goals = [
        joined(field_goal(fields, 3), level_goal(np.array(levels), 2)),
        cumulative_level_goal(np.array(levels), 2),
        cell_goal(np.outer(fields, levels) / max(sum(levels), 1)),
    ]
    nearest = nearest_table(np.zeros_like(most), most, total, goals)
    every = [
        np.array(cells).reshape(2, 3)
        for cells in itertools.product(*(range(cell + 1) for cell in upper))
        if sum(cells) == total
    ]

    def misses(table: np.ndarray) -> tuple[float, ...]:
        return tuple(
            round(float(np.abs(goal.sums @ table.ravel() - goal.target).sum()), 5) for goal in goals
        )

    assert nearest.sum() == total
    assert (nearest <= most).all()
    assert misses(nearest) == min(misses(table) for table in every)


@given(rows, st.integers(1, 12))
@few_examples
def test_the_sample_has_the_maximum_number_of_domains(
    of: list[tuple[object, ...]], size: int
) -> None:
    items = pool(of[:9])
    sample = sampled(items, size, 3)
    usable = items[items["difficulty"].notna()]
    taken = sample.strata.set_index(["field", "level"])["sampled"]
    best = 0
    for chosen in itertools.combinations(usable.to_dict("records"), len(sample.item_ids)):
        counts = pd.Series(0, index=taken.index)
        for row in chosen:
            counts[(row["field"], int(row["difficulty"]))] += 1
        if (counts == taken).all():
            best = max(
                best, len({row["domain"] for row in chosen if isinstance(row["domain"], str)})
            )
    assert items[items["item_id"].isin(sample.item_ids)]["domain"].nunique() == best


def test_explained_questions_come_first_within_a_stratum() -> None:
    items = pool([("law", 6, "a.org", "because" if i % 3 == 0 else " ") for i in range(30)])
    sample = sampled(items, 10)
    explained = items.loc[items["explanation"] == "because", "item_id"]
    assert sample.item_ids == sorted(explained)
