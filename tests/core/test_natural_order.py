from collections.abc import Iterator

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core import natural_order as module
from benchwright.core.natural_order import in_order, natural_key, natural_order, sort_items

IDS = st.lists(
    st.lists(
        st.sampled_from(
            ["a", "b", "é", "９", "/", "-", "\n", "0", "00", "1", "09", "10", "9" * 20]
        ),
        max_size=6,
    ).map("".join),
    max_size=30,
)


def by_keys(ids: list[str]) -> list[int]:
    return sorted(range(len(ids)), key=lambda row: natural_key(ids[row]))


def test_numbers_are_sorted_by_value() -> None:
    assert in_order(["q10", "q9", "q", "q09", "p2"]) == ["p2", "q", "q09", "q9", "q10"]


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@given(ids=IDS)
def test_many_ids_have_the_same_order_as_few(
    ids: list[str], monkeypatch_module: pytest.MonkeyPatch
) -> None:
    monkeypatch_module.setattr(module, "_MANY", 1)
    assert natural_order(ids).tolist() == by_keys(ids)
    again = in_order(ids)
    assert natural_order(again).tolist() == list(range(len(ids)))


def test_ids_with_many_or_long_numbers_are_sorted() -> None:
    ids = [f"1.2.3.{number}" for number in range(3000, 0, -1)]
    assert natural_order(ids).tolist() == by_keys(ids)
    ids = [f"{'9' * 19}{number}" for number in range(3000, 0, -1)]
    assert natural_order(ids).tolist() == by_keys(ids)


def test_rows_are_sorted_and_reindexed() -> None:
    items = pd.DataFrame({"item_id": ["q10", "q9", "q1"], "n": [1, 2, 3]})
    assert sort_items(items).to_dict("list") == {"item_id": ["q1", "q9", "q10"], "n": [3, 2, 1]}
