import pandas as pd
import pytest

from benchwright.core.natural_order import in_order, sort_items


@pytest.mark.parametrize(
    "ids",
    [
        ["p2", "q", "q0", "q09", "q9", "q10"],
        ["a", "a0b", "a5", "a-b", "a/", "ab"],
        ["1.2.3.9", "1.2.3.10", "1.2.12.1", "é"],
        ["9" * 19 + "0", "1" + "0" * 20],
    ],
)
def test_numbers_are_sorted_by_value_and_before_text(ids: list[str]) -> None:
    assert in_order(ids[::-1]) == ids


def test_rows_are_sorted_and_reindexed() -> None:
    items = pd.DataFrame({"item_id": ["q10", "q9", "q1"], "n": [1, 2, 3]})
    assert sort_items(items).to_dict("list") == {"item_id": ["q1", "q9", "q10"], "n": [3, 2, 1]}
