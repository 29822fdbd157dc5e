"""Checks of rephrased questions, and the parts of a question that they compare."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.transforms.kept_text import (
    formulas,
    has_opposite,
    names,
    numbers,
    quotations,
    same_negation,
    units,
)
from benchwright.transforms.rephrase_checks import (
    CHECKS,
    Wording,
    failed_checks,
    part_passage,
    question_form,
)

PASSAGE = "It was a cold day, and the ships lay in the harbour. " * 6


@pytest.fixture(scope="module")
def items(repository: Path) -> dict[str, Any]:
    lines = (repository / "data/01_raw/demo/items.jsonl").read_text().splitlines()
    return {row.get("id"): row for row in map(json.loads, lines)}


@pytest.fixture(scope="module")
def paraphrases(repository: Path, items: dict[str, Any]) -> pd.DataFrame:
    """Paraphrases of the demo's questions, written by hand: `tuned` when the checks were made,
    `fresh` afterwards; `kind` is good, or what is wrong with it. `failed` are the failed checks.
    """
    table = pd.read_csv(repository / "tests/data/paraphrases.csv")
    wordings = [
        Wording(
            items[row.item_id]["question"],
            row.question,
            items[row.item_id]["options"],
            "ABCDE".index(items[row.item_id]["answer"]),
        )
        for row in table.itertuples()
    ]
    return table.assign(wording=wordings, failed=[failed_checks(each) for each in wordings])


def test_most_good_paraphrases_pass_and_few_bad_ones(
    paraphrases: pd.DataFrame, show: Callable[[str], None]
) -> None:
    refused = paraphrases["failed"].map(bool).groupby([paraphrases["set"], paraphrases["kind"]])
    counts = refused.agg(["sum", "size"])
    show(f"rephrasing, refused without an encoder:\n{counts}")
    assert counts.loc[("tuned", "good")].tolist() == [2, 40]
    assert counts.loc[("fresh", "good")].tolist() == [3, 20]
    passed = (counts["size"] - counts["sum"]).drop(index="good", level="kind")
    lost = {("fresh", "name"): 1, ("fresh", "other"): 2, ("tuned", "other"): 3}
    assert passed[passed > 0].to_dict() == lost


@pytest.mark.parametrize(
    ("kind", "check"),
    [
        ("number", "numbers"),
        ("formula", "names"),
        ("name", "names"),
        ("negation", "negations"),
        ("answer", "options"),
        ("form", "options"),
    ],
)
def test_each_check_rejects_its_bad_paraphrases(
    paraphrases: pd.DataFrame, kind: str, check: str
) -> None:
    rows = paraphrases[(paraphrases["set"] == "tuned") & (paraphrases["kind"] == kind)]
    assert len(rows)
    assert rows["failed"].map(lambda failed: check in failed).all(), rows


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ceres, a round body near Mars, is a", {"ceres", "mars"}),
        ("When I asked, I'm told", set()),
        ("WHICH ORGAN LETS A TROUT HOVER?", set()),
    ],
)
def test_names_are_capitalised_inside_a_sentence(text: str, expected: set[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Is f(x) = x^2 + 1 even =", ["+", "=", "f(x)", "x^2"]),
        ("What is $\\frac{1}{2}$ of `a[0]`?", ["$\\frac{1}{2}$", "`a[0]`"]),
        ("A rod of 5kg and H2O, pH, 3x (or x)", ["3x", "H2O", "pH", "x"]),
        ("Which is NOT true, EXCEPT I say so? A dog.", []),
        ("Pay $7, 20% or £5 – café ____ in 1960s style!", []),
    ],
)
def test_formulas_have_signs_that_prose_lacks(text: str, expected: list[str]) -> None:
    assert sorted(formulas(text)) == sorted(expected)


def test_quotations_are_found_and_apostrophes_ignored() -> None:
    text = "Who wrote \"Emma\", “Persuasion” and 'Lady Susan' in the Austens' house? It's Jane's."
    assert quotations(text) == ["Emma", "Persuasion", "Lady Susan"]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("Which is NOT a mammal?", "Which of these isn't a mammal?", True),
        ("Neither A nor B is?", "Which is not only A?", False),
        ("Which is a mammal?", "Which of these is no mammal?", False),
        ("All are mammals EXCEPT", "All are mammals, as is", False),
        ("What is untrue but not illegal?", "What is true and legal?", False),
    ],
)
def test_negations_are_compared(before: str, after: str, same: bool) -> None:
    assert same_negation(before, after) is same
    assert not has_opposite(before, after)


def test_opposites_are_detected() -> None:
    before, after = "What came before the war?", "What happened after the war?"
    assert has_opposite(before, after)
    assert has_opposite(after, before)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("twelve eggs, 12 eggs, a dozen eggs", ["12", "12", "12"]),
        ("half an hour, twice as tall, 3.0 or 3", ["1/2", "2", "3", "3"]),
        ("the third planet, the 3rd", ["3 th", "3 th"]),
        ("1,000 or -5 or 10−5", ["1000", "-5", "10", "5"]),
        ("no one, someone often, H2O and CO2, first of all, x2", []),
    ],
)
def test_numbers_are_found(text: str, expected: list[str]) -> None:
    assert sorted(numbers(text).elements()) == sorted(expected)


def test_words_after_digits_are_units() -> None:
    assert units("25% or 5kg, 7 dollars and 3 of them") == {"25": "%", "5": "kg", "7": "dollar"}
    assert units("25 percent, in 1648, twelve eggs") == {"25": "%"}


@given(st.decimals(0, 10**6, places=3), st.decimals(0, 10**6, places=3))
def test_numbers_are_equal_where_their_values_are(first: Any, second: Any) -> None:
    assert (numbers(f"x {first} y") == numbers(f"x {second} y")) == (first == second)
    assert numbers(f"about {first:,} of them") == numbers(f"about {first} of them")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("Which of the following is true:", "question"),
        ("When water freezes, it turns into", "stem"),
        ("The sky is ____ today.", "blank"),
        ("A stone fell. What is it?", "question"),
        ("What is it? A stone fell.", "statement"),
    ],
)
def test_form_of_a_question_is_recognised(text: str, form: str) -> None:
    assert question_form(text) == form


def test_the_last_line_after_a_long_text_is_the_question() -> None:
    assert part_passage("It was.\n\nWhat was?", "p") == ("It was.\n\n", "What was?")
    assert part_passage("It was.\n\n ", "p") == ("", "It was.\n\n ")
    parts = part_passage(f"{PASSAGE}\nWhat lay in the harbour?")
    assert parts == (f"{PASSAGE}\n", "What lay in the harbour?")
    assert part_passage(f"{PASSAGE}\n{PASSAGE}\nSigned by all of them, in 1648.") is None


@pytest.mark.parametrize(
    ("before", "last", "split"),
    [
        (199, "What lay in the harbour?", False),
        (200, "What lay in the harbour?", True),
        (200, "What lay there?", False),
        (200, "What lay out there?", True),
    ],
)
def test_two_hundred_characters_before_four_words_are_a_passage(
    before: int, last: str, split: bool
) -> None:
    parts = part_passage(f"{'a' * before}\n{last}")
    assert parts is not None
    assert bool(parts.passage) is split


@given(st.text(st.sampled_from("ab ?.\n"), max_size=900), st.booleans())
def test_parts_join_to_the_text(text: str, passage: bool) -> None:
    parts = part_passage(text, "p" if passage else None)
    assert parts is None or parts.passage + parts.question == text


def only(check: str, before: str, after: str, *choices: str) -> bool:
    """Return whether one check passes; the last choice is the gold option."""
    return CHECKS[check](Wording(before, after, choices, len(choices) - 1))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The ____ is hot.", "The thing that is hot?"),
        ("The ____ is hot.", "Hot are the ____ and the ____."),
        ("It is shaped like a", "Its shape is that of"),
        ("It is shaped like a", "Its shape is that of the"),
        ("Which of the following burns?", "What burns?"),
    ],
)
def test_options_must_still_fit(before: str, after: str) -> None:
    assert not only("options", before, after, "sand", "coal")
    assert only("options", before, before, "sand", "coal")


def test_the_answer_must_not_be_new_in_the_question() -> None:
    before = "Which black rock that burns do miners dig for?"
    assert not only("options", before, "Which black rock do coal miners dig for?", "sand", "coal")
    assert not only("options", before, "Which black sand do miners dig for?", "sand", "coal")
    assert not only(
        "options", before, "Which plane of it do they dig?", "a pit", "an inclined plane"
    )
    known = "Do coal miners dig for sand or for coal?"
    assert only("options", known, "Is it coal or sand that coal miners dig for?", "sand", "coal")
    wording = Wording("How old is he?", "Is he 42 years of age?", (), -1, "42")
    assert not CHECKS["options"](wording)
    assert CHECKS["options"](wording._replace(after="What age has he?"))


@pytest.mark.parametrize(("words", "passes"), [(17, False), (18, True), (85, True), (86, False)])
def test_a_question_may_be_half_or_twice_as_long(words: int, passes: bool) -> None:
    """Five words more or 2.5 less than twice or half of 40."""
    assert only("length", "of the " * 20, "of " * words) is passes
