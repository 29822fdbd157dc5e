"""The list of options that depend on the others."""

import pandas as pd

from benchwright.pipelines.perturbation import list_option_wordings
from transforms.benchmark_tables import items_table

ROWS = [
    ("Which is a fruit?", ["Apple", "Stone", "None of these"], 0),
    ("Which hold?", ["Heat", "Light", "Both A and B", "All of the above"], 3),
    ("Mark option A if it is true, option B if not.", ["True", "False"], 0),
    ("What is 2 + 2?", ["3", "4"], 1),
]


def listed(items: pd.DataFrame, demonstrations: pd.DataFrame) -> list[tuple[object, ...]]:
    table = list_option_wordings(items, demonstrations)
    columns = ["role", "item_id", "place", "kind", "gold"]
    return list(table[columns].itertuples(index=False, name=None))


def test_options_that_depend_on_others_are_listed() -> None:
    items = items_table(ROWS)
    shown = items_table(ROWS[:1], prefix="b/dev")
    expected = [
        ("item", "b/s/0", 2, "none_of_the_above", False),
        ("item", "b/s/1", 2, "refers_to_options", False),
        ("item", "b/s/1", 3, "all_of_the_above", True),
        ("item", "b/s/2", -1, "refers_to_options", False),
        ("demonstration", "b/dev/0", 2, "none_of_the_above", False),
    ]
    assert listed(items, shown) == expected
    assert listed(items.iloc[::-1], shown) == expected


def test_list_is_empty_without_such_options() -> None:
    nothing = items_table(ROWS[3:])
    assert list_option_wordings(nothing, nothing.iloc[:0]).empty
