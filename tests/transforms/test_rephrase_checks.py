"""Checks of rephrased questions, and the parts of a question that they compare."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.transforms.kept_text import (
    content_words,
    formulas,
    has_opposite,
    is_number,
    names,
    numbers,
    quotations,
    same_negation,
)
from benchwright.transforms.rephrase_checks import (
    CHECKS,
    Wording,
    failed_checks,
    last_article,
    part_passage,
    question_form,
    speaks_of_options,
)
from frayed import frayed

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


def test_all_parts_of_real_questions_are_as_before(
    items: dict[str, Any], paraphrases: pd.DataFrame
) -> None:
    """After a rule was changed on purpose, update these; the tests above say if it is better."""
    texts = [str(row["question"]) for row in items.values()] + paraphrases["question"].tolist()
    texts += frayed(texts, 1)
    shifted = [
        failed_checks(row.wording._replace(after=other))
        for others in (texts, frayed(paraphrases["question"], 3))
        for row, other in zip(paraphrases.itertuples(), others, strict=False)
    ]
    parts = {
        "checks": paraphrases["failed"].tolist() + shifted,
        "names": [sorted(names(text)) for text in texts],
        "formulas": [formulas(text) for text in texts],
        "quotations": [quotations(text) for text in texts],
        "numbers": [sorted(numbers(text).elements()) for text in texts],
        "words": [sorted(content_words(text)) for text in texts],
        "forms": [question_form(text) for text in texts],
        "negations": [
            (same_negation(*pair), has_opposite(*pair))
            for pair in zip(texts, [*texts[1:], *frayed(texts[:1], 2)], strict=True)
        ],
        "passages": [part_passage("\n".join(texts[at : at + 4])) for at in range(0, len(texts), 3)],
    }
    assert {
        name: hashlib.sha256(json.dumps(part).encode()).hexdigest()[:8]
        for name, part in parts.items()
    } == {
        "checks": "f35bfd49",
        "names": "4cc0149f",
        "formulas": "22bde553",
        "quotations": "35aa6503",
        "numbers": "9ad88487",
        "words": "fdf6aa21",
        "forms": "1051b95a",
        "negations": "a83f1d39",
        "passages": "97df5f71",
    }


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
        ("Is f(x) = x^2 + 1 even?", ["+", "=", "f(x)", "x^2"]),
        ("What is $\\frac{1}{2}$ of `a[0]`?", ["$\\frac{1}{2}$", "`a[0]`"]),
        ("A square of 24 m² and a rod of 5kg", ["m²"]),
        ("Which is NOT true, EXCEPT I say so? A dog.", []),
        ("Pay $7, 20% or £5 – café ____ in 1960s style!", []),
    ],
)
def test_formulas_have_signs_that_prose_lacks(text: str, expected: list[str]) -> None:
    assert formulas(text) == sorted(expected)


def test_quotations_are_found_and_apostrophes_ignored() -> None:
    text = "Who wrote \"Emma\", “Persuasion” and 'Lady Susan' in the Austens' house? It's Jane's."
    assert quotations(text) == ["Emma", "Persuasion", "Lady Susan"]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("Which is NOT a mammal?", "Which of these isn't a mammal?", True),
        ("Which is least likely?", "Which is most unlikely?", True),
        ("Which can live without air?", "Which lacks a need for air?", True),
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
        ("1.5 million or 1500000", ["1500000", "1500000"]),
        ("25% or 25 percent or 25 per cent", ["25 %"] * 3),
        ("half an hour, two-thirds, 1/2", ["1/2", "2/3", "1/2"]),
        ("the third planet, the 3rd, the second law", ["3 th", "3 th", "2 th"]),
        ("5 kg, 5kg, five kilograms", ["5 kg"] * 3),
        ("$7 or 7 dollars, 10 m per second", ["7 $", "7 $", "10 m"]),
        ("twice as tall, eighty-four, 3.0 or 3", ["2", "84", "3", "3"]),
        ("no one, someone often, H2O and CO2, first of all, x2", []),
    ],
)
def test_numbers_are_found(text: str, expected: list[str]) -> None:
    assert sorted(numbers(text).elements()) == sorted(expected)


@given(st.decimals(0, 10**6, places=3), st.decimals(0, 10**6, places=3))
def test_numbers_are_equal_where_their_values_are(first: Any, second: Any) -> None:
    assert (numbers(f"x {first} y") == numbers(f"x {second} y")) == (first == second)
    assert numbers(f"about {first:,} of them") == numbers(f"about {first} of them")


def test_a_number_with_its_unit_is_one_piece() -> None:
    assert is_number("5kg")
    assert is_number("1960s")
    assert not is_number("3x")


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
    for last in (
        "Signed by all of them, in 1648.",
        "iii) The ships lay there for days",
        "2. A ship",
    ):
        assert part_passage(f"{PASSAGE}\n{PASSAGE}\n{last}") is None


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


def test_words_about_options_and_articles_are_found() -> None:
    assert speaks_of_options("Which of the following floats?")
    assert not speaks_of_options("What floats?")
    assert last_article("This is called an") == last_article("He saw a") == "a"
    assert last_article("He saw the:") == "the"
    assert last_article("He saw") == ""


def only(check: str, before: str, after: str, *choices: str) -> bool:
    """Return whether one check passes; the last choice is the gold option."""
    return CHECKS[check](Wording(before, after, choices, len(choices) - 1))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The ____ is hot.", "The thing that is hot?"),
        ("The ____ is hot.", "Hot are the ____ and the ____."),
        ("It is shaped like a", "Its shape is that of"),
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
