"""Duplicate items, and duplicates with different gold answers."""

import pandas as pd
import pytest

from benchwright.methods.smart.duplicates import find_conflicting_gold, find_duplicates
from benchwright.params.filtering import DuplicatesParams, FilteringParams
from methods.smart.filtering_examples import make_items

BY_QUESTION = FilteringParams(duplicates=DuplicatesParams(key="question"))


def copies(items, filtering=None):
    return find_duplicates(items, filtering or FilteringParams()).groups


def test_case_white_space_and_choice_order_are_ignored():
    items = make_items(
        ["Which  is\na prime?", "which is a PRIME?"], [["4", "Seven "], ["seven", "4"]], [1, 0]
    )
    assert copies(items) == (("q/0", "q/1"),)


def test_punctuation_distinguishes_items():
    assert copies(make_items(["Solve x+1=0", "Solve x-1=0"])) == ()


def test_same_stem_with_other_choices_is_a_different_item():
    items = make_items(
        ["Which of these is true?"] * 2, [["cats fly", "cats run"], ["fish fly", "fish swim"]]
    )
    assert copies(items) == ()
    assert copies(items, BY_QUESTION) == (("q/0", "q/1"),)


def test_same_question_and_answer_among_other_choices_is_a_different_item():
    items = make_items(["Which is a prime?"] * 2, [["7", "4"], ["7", "9"]])
    assert copies(items) == ()


def test_items_with_conflicting_answers_are_reported_and_are_no_duplicates():
    items = make_items(["Is it?"] * 3, answers=[0, 1, 0])
    assert find_conflicting_gold(items, FilteringParams()).groups == (("q/0", "q/1", "q/2"),)
    assert copies(items) == (("q/0", "q/2"),)


def test_groups_are_in_natural_order_of_ids_for_any_row_order():
    items = make_items(["Is it?"] * 3, ids=["q/10", "q/9", "q/2"])
    assert copies(items) == (("q/2", "q/9", "q/10"),)


def items_of(shared_data, benchmark: str, split: str) -> pd.DataFrame:
    frame = pd.read_parquet(shared_data / "benchmarks" / f"{benchmark}.parquet")
    frame = frame[frame["split"] == split]
    return make_items(
        frame["question"].tolist(),
        [list(choices) for choices in frame["choices"]],
        frame["answer_index"].tolist(),
        ids=frame["item_id"].tolist(),
    )


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("name", "split", "ours", "released"),
    [("mmlu", "test", 106, 175), ("arc", "test", 0, 8), ("commonsense_qa", "val", 0, 0)],
)
def test_real_benchmarks_have_their_known_duplicates(shared_data, name, split, ours, released):
    items = items_of(shared_data, name, split)
    by_default, by_question = copies(items), copies(items, BY_QUESTION)
    assert sum(len(group) - 1 for group in by_default) == ours
    assert sum(len(group) - 1 for group in by_question) == released
    if name == "mmlu":
        assert len(by_question) == 156
