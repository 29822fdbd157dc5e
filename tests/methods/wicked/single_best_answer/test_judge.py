"""What a judge is told, and what is read off its replies."""

from collections.abc import Sequence

import pandas as pd
import pytest

from benchwright.methods.wicked.single_best_answer.labels import (
    judge_items,
    judge_prompt,
    parse_label,
)

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
        (" 0\n", 0),
        ("1.", 1),
        ("Class: 0", 0),
        ("The label is 1", None),
        ("Answer: 1, since B would do too.", 1),
        ("**0**", 0),
        ("1 because there are 10 options", 1),
        ("", None),
        (None, None),
        ("0 or 1", None),
        ("1/0", None),
        ("1 ... no, 0", None),
        ("0.5", None),
        ("10", None),
        ("yes", None),
        ("B", None),
        ("I would say 1", None),
        ("-1", None),
        ("1. The question asks for a fact.", None),
        ("1) B would do too", None),
        ("(1)", 1),
    ],
)
def test_a_label_is_read_or_it_is_not_never_guessed(reply: str | None, label: int | None) -> None:
    assert parse_label(reply) == label


def test_the_judge_sees_the_options_and_the_paper_variant_the_question_alone() -> None:
    shown = judge_prompt("What is best?", ["red", "blue"], 1, "options")
    assert "A. red\nB. blue\nMarked as right: B" in shown
    alone = judge_prompt("What is best?", ["red", "blue"], 1, "paper")
    assert "What is best?" in alone
    assert "blue" not in alone


def test_braces_in_an_item_stay_braces() -> None:
    assert "{gold}" in judge_prompt("Is {gold} a set?", ["{x}", "no"], 0, "options")


def test_only_those_without_a_label_are_asked_again_and_some_stay_without() -> None:
    asked: list[tuple[int, int]] = []

    def ask(texts: Sequence[str], attempt: int = 1) -> list[str | None]:
        asked.append((attempt, len(texts)))
        return ["1" if "What is best?" in text and attempt == 2 else "perhaps" for text in texts]

    assert judge_items(ITEM, ask, "options", 3) == [1, None]
    assert asked == [(1, 2), (2, 2), (3, 1)]
