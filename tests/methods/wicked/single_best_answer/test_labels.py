"""Labels of single-best-answer items and their split."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.errors import InputError
from benchwright.methods.wicked.single_best_answer.labels import (
    cross_validation_folds,
    held_out_items,
    judge_prompt,
    one_label_per_item,
    parse_label,
    read_annotations,
)


def rows(*given_rows: tuple[str, str, str, object]) -> pd.DataFrame:
    return pd.DataFrame(given_rows, columns=["item_id", "benchmark", "annotator", "sba"])


def labelled(n: int) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "benchmark": ["x" if i % 3 else "y" for i in range(n)],
            "label": [i % 2 for i in range(n)],
        },
        index=[f"q{i}" for i in range(n)],
    )


def test_blank_cells_have_defaults() -> None:
    read = read_annotations(rows(("mmlu/law/3", "", "", "1")))
    assert read.to_dict("records") == [
        {
            "item_id": "mmlu/law/3",
            "benchmark": "mmlu",
            "labeller": "file",
            "label": 1,
        }
    ]


def test_error_names_the_bad_row() -> None:
    with pytest.raises(InputError, match="row 2: sba is 'maybe'; it must be 0 or 1"):
        read_annotations(rows(("q1", "b", "a", "1"), ("q2", "b", "a", "maybe")))


def test_annotators_overrule_the_judge_and_one_positive_label_is_enough() -> None:
    annotations = pd.DataFrame(
        [
            ("q1", "b", "a", 0),
            ("q1", "b", "judge:m", 1),
            ("q2", "b", "a", 0),
            ("q2", "b", "c", 1),
            ("q3", "b", "judge:m", 1),
        ],
        columns=["item_id", "benchmark", "labeller", "label"],
    )
    result = one_label_per_item(annotations)
    assert result["label"].to_dict() == {"q1": 0, "q2": 1, "q3": 1}
    assert result["judged"].to_dict() == {"q1": False, "q2": False, "q3": True}


@given(st.permutations(range(40)), st.sampled_from([0.1, 0.25, 0.5]))
def test_split_depends_on_ids_only_and_is_stratified(order: list[int], share: float) -> None:
    table = labelled(40)
    shuffled = table.iloc[order]
    held = dict(zip(shuffled.index, held_out_items(shuffled, share), strict=True))
    assert held == dict(zip(table.index, held_out_items(table, share), strict=True))
    selected = pd.Series(held).reindex(table.index)
    for _, group in selected.groupby([table["benchmark"], table["label"]]):
        assert group.sum() == np.floor(share * len(group) + 0.5)


def test_folds_are_stratified() -> None:
    table = labelled(60)
    folds = cross_validation_folds(table, 5)
    assert set(folds) == set(range(5))
    counts = pd.crosstab(folds, [table["benchmark"], table["label"]])
    assert (counts.max() - counts.min()).max() <= 1


ITEM = pd.DataFrame(
    {
        "question": ["What is best?", "What is 1 + 1?"],
        "choices": [["red", "blue"], ["2", "3"]],
        "answer": [1, 0],
    }
)


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("1", 1),
        ("Class: 0", 0),
        ("Answer: 1, since B would do too.", 1),
        ("**0**", 0),
        ("1 because there are 10 options", 1),
        (None, None),
        ("0 or 1", None),
        ("0.5", None),
        ("I would say 1", None),
        ("1. The question asks for a fact.", None),
    ],
)
def test_ambiguous_replies_have_no_label(reply: str | None, label: int | None) -> None:
    assert parse_label(reply) == label


def test_judge_prompt_shows_options_and_that_of_the_paper_the_question_only() -> None:
    shown = judge_prompt("What is best?", ["red", "blue"], 1, "options")
    assert "A. red\nB. blue\nMarked as right: B" in shown
    alone = judge_prompt("What is best?", ["red", "blue"], 1, "paper")
    assert alone.startswith("A single correct answer question is a question that can have exactly")
    assert alone.endswith("a label of 0 otherwise. Question: What is best? Class:")
    assert "blue" not in alone
