"""Duplicate items, and duplicates with different gold answers."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.methods.smart.duplicates import (
    find_conflicting_gold,
    find_duplicates,
    find_option_supersets,
)
from benchwright.params.filtering import DuplicatesParams, FilteringParams
from methods.smart.filtering_examples import make_items

BY_QUESTION = FilteringParams(duplicates=DuplicatesParams(key="question"))


def copies(items, filtering=None):
    return find_duplicates(items, filtering or FilteringParams()).groups


@pytest.mark.parametrize(
    ("questions", "choices", "same", "by_question"),
    [
        (["Which  is\na prime?", "which is a PRIME?"], [["4", "Seven "], ["seven", "4"]], 1, 0),
        (["Which is it?", "which IS it?"], [["a", "b"], ["b", "a"]], 1, 1),
        (["Solve x+1=0", "Solve x-1=0"], [["a", "b"], ["a", "b"]], 0, 0),
        (["Which is true?"] * 2, [["a", "b"], ["a", "d"]], 0, 1),
    ],
)
def test_items_with_one_question_set_of_choices_and_answer_are_copies(
    questions, choices, same, by_question
):
    answers = [0, choices[1].index("a") if "a" in choices[1] else 0]
    answers = [1, 0] if questions[0].startswith("Which  is") else answers
    items = make_items(questions, choices, answers)
    assert len(copies(items)) == same
    assert len(copies(items, BY_QUESTION)) == by_question


def test_items_with_conflicting_answers_are_reported_and_are_no_duplicates():
    items = make_items(["Is it?"] * 3, answers=[0, 1, 0])
    assert find_conflicting_gold(items, FilteringParams()).groups == (("q/0", "q/1", "q/2"),)
    assert copies(items) == (("q/0", "q/2"),)


def with_options(*option_lists, answer="gold", questions=None):
    choices = [list(options) for options in option_lists]
    return make_items(
        questions or ["Which is it?"] * len(choices),
        choices,
        [options.index(answer) for options in choices],
    )


def supersets(items):
    return find_option_supersets(items, FilteringParams()).groups


def test_a_copy_with_some_of_the_options_joins_the_one_that_has_all_of_them():
    items = with_options(["gold", "b"], ["d", "gold", "b", "c"], ["gold", "B "])
    assert supersets(items) == (("q/1", "q/0", "q/2"),)
    assert copies(items) == (("q/0", "q/2"),)


def test_one_of_four_options_may_differ_and_the_share_is_of_the_smaller_item():
    items = with_options("abcd", "abce", "abef", answer="a")
    assert supersets(items) == (("q/0", "q/1"),)
    assert supersets(with_options("abcdefghij", "abc", "abz", answer="a")) == (("q/0", "q/1"),)
    grouping = find_option_supersets(items, FilteringParams())
    assert grouping.value["q/1"] == 0.75


def test_other_questions_answers_or_only_the_answer_in_common_are_no_copies():
    assert supersets(with_options("ab", "abc", answer="a", questions=["Is x+1?", "Is x-1?"])) == ()
    assert supersets(make_items(["Which?"] * 2, [["a", "b"], ["a", "b", "c"]], [0, 1])) == ()
    assert supersets(with_options("ab", "ac", answer="a")) == ()


def test_exact_copies_alone_are_left_to_the_rule_about_duplicates():
    assert supersets(with_options("abc", "cba", answer="a")) == ()


option_lists = st.lists(st.sets(st.sampled_from("bcdefg"), min_size=1), min_size=2, max_size=8)


@given(option_lists)
def test_copies_with_other_options_share_enough_and_are_found_once(wrong):
    items = with_options(*(["a", *sorted(options)] for options in wrong), answer="a")
    groups = supersets(items)
    options_of = {
        item: {"a", *options} for item, options in zip(items["item_id"], wrong, strict=True)
    }
    for first, *others in groups:
        for other in others:
            both = options_of[first] & options_of[other]
            assert len(options_of[other]) <= len(options_of[first])
            assert len(both) >= 0.75 * len(options_of[other])
    gone = {member for group in groups for member in group[1:]}
    assert supersets(items[~items["item_id"].isin(gone)].reset_index(drop=True)) == ()


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
    others = supersets(items)
    assert len(others) == {"mmlu": 14, "arc": 1, "commonsense_qa": 0}[name]
    assert all(len(group) == 2 for group in others)
    if name == "mmlu":
        assert len(by_question) == 156
