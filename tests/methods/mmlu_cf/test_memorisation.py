"""The memorisation probe: replies, controls, rates."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.methods.mmlu_cf.memorisation import (
    compare_replies,
    control_items,
    in_place,
    summarise_memorisation,
    written_options,
)
from benchwright.params.scoring import ScoringParams
from benchwright.tables.responses import Generations


def compare(items: pd.DataFrame, generations: pd.DataFrame) -> pd.DataFrame:
    return compare_replies(items, generations, ScoringParams(), 0)


word = st.text("abcdefgh ", min_size=1, max_size=12).map(str.strip).filter(bool)


@pytest.mark.parametrize(
    ("reply", "options"),
    [
        (" four\nB. five\nC. six\nD. seven\nAnswer: B\n\nNext", ["four", "five", "six", "seven"]),
        ("four\nB) five\nC) six\nD) seven\n\nQuestion", ["four", "five", "six", "seven"]),
        ("A. four\n(B) five\n(C) six\n(D) seven", ["four", "five", "six", "seven"]),
        ("Sure:\nA. four\nB. five\nC. six\nD. seven", ["four", "five", "six", "seven"]),
        (" four B. five C. six D. seven", ["four", "five", "six", "seven"]),
        (" U.S.A. and B.C.\nB. Vitamin B. x\nC. six", ["U.S.A. and B.C.", "Vitamin B. x", "six"]),
        (" one\ntwo\nB. three", ["one\ntwo", "three"]),
        (" four\nC. six", ["four\nC. six"]),
        (" four\nB. five\nA. none", ["four", "five\nA. none"]),
        (" four\n\nThe next question\nB. no", ["four"]),
        ("\nB.\nC.", ["", "", ""]),
        ("", []),
        ("   \n", []),
    ],
)
def test_options_are_read_from_a_reply_in_order(reply: str, options: list[str]) -> None:
    assert written_options(reply, 4) == (options if any(options) else [])


@given(st.lists(word, min_size=2, max_size=6))
def test_a_reply_in_the_format_of_the_prompt_is_read_exactly(options: list[str]) -> None:
    rest = [f"{label}. {text}" for label, text in zip("BCDEF", options[1:], strict=False)]
    reply = "\n".join([" " + options[0], *rest, "Answer: A"])
    written = written_options(reply, len(options))
    assert written == options
    assert in_place(written, options) == (1, 1)


def test_verbatim_counts_case_and_fuzzy_does_not() -> None:
    options = ["The mitochondrion", "A ribosome of the cell", "5", "6"]
    written = ["the Mitochondrion.", "A ribosome of the cells", "5", "7"]
    assert in_place(written, options) == (1 / 4, 3 / 4)
    assert in_place([], options) == (0, 0)
    assert in_place(["The mitochondrion\nand more"], options) == (1 / 4, 1 / 4)


def items_of(n: int, subjects: int = 3) -> pd.DataFrame:
    random = np.random.default_rng(0)
    words = np.array([f"term{i}" for i in range(5000)])
    return pd.DataFrame(
        {
            "item_id": [f"q{i:03d}" for i in range(n)],
            "subject": [f"s{i % subjects}" for i in range(n)],
            "choices": [[" ".join(random.choice(words, 3)) for _ in range(4)] for _ in range(n)],
        }
    )


def generations(replies: dict[str, str], model: str = "scripted") -> pd.DataFrame:
    rows = [
        (model, "generate", 0, "question_only", item_id, 0, text, "stop", None, "not read", "p")
        for item_id, text in replies.items()
    ]
    return Generations.from_rows(rows)


def recited(choices: list[str]) -> str:
    return " " + "\n".join(
        [choices[0], *(f"{x}. {c}" for x, c in zip("BCD", choices[1:], strict=True))]
    )


def test_guessed_options_are_not_memorisation() -> None:
    items = items_of(60, subjects=1)
    items["choices"] = [["True", "False", f"Both {i}", f"None {i}"] for i in range(60)]
    replies = dict.fromkeys(items["item_id"], " True\nB. False\nC. Maybe\nD. Never")
    table = compare(items, generations(replies))
    summary = summarise_memorisation(table).iloc[0]
    assert summary["options_fuzzy"] == table["control_fuzzy"].mean() == 0.5
    assert summary["p_value"] == 1
    assert not summary["remembers"]


def test_items_with_stock_options_are_not_compared() -> None:
    items = items_of(60, subjects=1)
    own = items["choices"].tolist()
    items["choices"] = [["1", "2", "3", "4"] if i % 3 else own[i] for i in range(60)]
    replies = dict.fromkeys(items["item_id"], " 1\nB. 2\nC. 3\nD. 4")
    summary = summarise_memorisation(compare(items, generations(replies))).iloc[0]
    assert (summary["compared"], summary["fuzzy"], summary["item_only"]) == (20, 2 / 3, 0)
    assert not summary["remembers"]


def test_the_control_is_an_item_of_the_subject_with_as_many_different_options() -> None:
    items = items_of(30)
    given = items["choices"].tolist()
    items["choices"] = [["x", "y"], *given[1:3], given[6], *given[4:]]
    controls = control_items(items, 0)
    subject = dict(zip(items["item_id"], items["subject"], strict=True))
    texts = dict(zip(items["item_id"], items["choices"], strict=True))
    assert "q000" not in controls
    assert all(subject[a] == subject[b] and a != b for a, b in controls.items())
    assert all(set(texts[a]).isdisjoint(texts[b]) for a, b in controls.items())
    assert control_items(items.iloc[::-1], 0) == controls
