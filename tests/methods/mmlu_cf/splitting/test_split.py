"""Halves with equal distributions, and their distances."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.methods.mmlu_cf.splitting.split import (
    groups_of,
    half_distances,
    split_halves,
)
from few_examples import few_examples

rows = st.lists(
    st.tuples(
        st.sampled_from(["law", "math", "physics"]),
        st.one_of(st.none(), st.integers(0, 9)),
        st.one_of(st.none(), st.integers(0, 8)),
    ),
    min_size=1,
    max_size=50,
)


def table(of: list[tuple[object, ...]]) -> pd.DataFrame:
    frame = pd.DataFrame(of, columns=["field", "difficulty", "document"])
    ids = [f"q{i}" for i in range(len(of))]
    alone = frame["document"].isna()
    doc_id = frame["document"].map(str).where(~alone, pd.Series(ids))
    return frame.assign(item_id=ids, doc_id=doc_id)


@given(rows, st.randoms(use_true_random=False))
@few_examples
def test_documents_stay_in_one_half_whatever_the_row_order(
    of: list[tuple[object, ...]], random: object
) -> None:
    items = table(of)
    halves = split_halves(items, seed=2)
    half = halves.set_index("item_id")["half"]
    assert sorted(half.index) == sorted(items["item_id"])
    assert items.groupby("doc_id")["item_id"].agg(lambda ids: half[list(ids)].nunique()).eq(1).all()
    order = list(range(len(items)))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert split_halves(items.iloc[order], seed=2).equals(halves)


@pytest.mark.parametrize("column", ["doc_id", "passage", "passage_id"])
def test_items_of_one_document_or_passage_stay_together(column: str) -> None:
    items = table([("law", i % 10, None) for i in range(40)]).drop(columns="doc_id")
    items[column] = [f"p{i // 2}" for i in range(40)]
    half = split_halves(items, seed=0).set_index("item_id")["half"]
    assert items.groupby(column)["item_id"].agg(lambda ids: half[list(ids)].nunique()).eq(1).all()


@given(rows)
@few_examples
def test_single_items_are_halved_in_every_stratum(of: list[tuple[object, ...]]) -> None:
    items = table([(*row[:2], None) for row in of])
    halves = split_halves(items, seed=0)
    public = halves["half"].eq("validation")
    surplus = 2 * public.groupby(halves["stratum"]).sum() - halves["stratum"].value_counts()
    assert surplus.abs().max() <= 1
    assert abs(2 * public.sum() - len(halves)) <= 3


def test_ids_linked_through_others_stay_together() -> None:
    assert groups_of(["a", "b", "c", "d"], [["a", "c"], ["c", "d", "?"]]).tolist() == [0, 1, 0, 0]
    items = table([("law", 5, None)] * 20)
    halves = split_halves(items, 0, together=[["q0", "q7"], ["q7", "q12"]])
    assert len(set(halves.set_index("item_id")["half"][["q0", "q7", "q12"]])) == 1


def test_odd_strata_balance_fields_and_levels() -> None:
    fields = [f"field {number}" for number in range(14)]
    items = table([(field, level, None) for field in fields for level in range(9)])
    halves = split_halves(items, seed=0)
    public = halves["half"].eq("validation")
    for column in ("field", "difficulty"):
        assert (2 * public.groupby(halves[column]).mean() - 1).abs().max() <= 0.2


def test_the_distance_is_half_the_sum_of_differences_of_shares() -> None:
    fields = [["law"] * 30 + ["math"] * 50 + ["physics"] * 20, ["law"] * 10 + ["math"] * 60]
    half = ["validation"] * 100 + ["test"] * 70
    table = pd.DataFrame({"half": half, "field": fields[0] + fields[1]})
    table = table.assign(difficulty=[5.0, np.nan] * 85, stratum=table["field"])
    distances = half_distances(table, 0).set_index("attribute")
    expected = (abs(30 / 100 - 10 / 70) + abs(50 / 100 - 60 / 70) + 20 / 100) / 2
    assert distances.loc["field", "total_variation"] == pytest.approx(expected)
    assert distances.loc["field", "chance_95"] == pytest.approx(0.15, abs=0.02)
    assert distances.loc["difficulty", "total_variation"] == pytest.approx(0)
    assert distances[["n_validation", "n_test"]].to_numpy().tolist() == [[100, 70]] * 3
