"""The choice of questions to rate."""

import pandas as pd

from benchwright.methods.mmlu_cf.difficulty.rating import difficulty_candidates

ITEMS = pd.DataFrame({"item_id": [f"q{place}" for place in range(50)], "place": range(50)})


def test_candidates_are_nested_and_do_not_depend_on_row_order() -> None:
    assert difficulty_candidates(ITEMS, None, 0) is ITEMS
    few = difficulty_candidates(ITEMS, 10, 3)
    assert len(few) == 10
    assert few["place"].is_monotonic_increasing
    assert set(few["item_id"]) < set(difficulty_candidates(ITEMS, 20, 3)["item_id"])
    turned = difficulty_candidates(ITEMS.iloc[::-1], 10, 3)
    assert set(turned["item_id"]) == set(few["item_id"])
    assert set(difficulty_candidates(ITEMS, 10, 4)["item_id"]) != set(few["item_id"])
