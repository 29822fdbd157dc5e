"""Options that refer to other options, in wordings that benchmarks use."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from benchwright.core.option_wording import (
    kind_of_option,
    kinds_of_options,
    mentions_options,
    names_a_place,
    refers_to_options,
)

NONE = [
    "None of the above",
    "none of above.",
    "“None of the above.”",
    "None of these",
    "None of the other choices",
    "None of the others",
    "None of the options given is correct",
    "None of the above, as the main aim is another",
    "Neither of the above",
    "Neither of these.",
    "Nither of above.",
    "No option is correct",
    "No correct answer",
    "None is correct",
    "All choices are false",
    "Not any of the above",
    "None of them",
    "None",
]
ALL = [
    "All of the above",
    "ALL of  the above",
    "All of these",
    "All the above are true",
    "All of the options given are correct",
    "All options given are correct",
    "All of these options. They are linked.",
    "Any of the above",
    "Any of these",
    "All are correct",
    "All of them",
    "Moons contribute to all of the above.",
    "Every option is correct",
    "To achieve all the functions listed above",
]
REFERS = [
    "Both A and B",
    "both a and b.",
    "neither A nor B",
    "Neither (a) nor (b)",
    "either A or B",
    "A and C only",
    "B, C and D",
    "A, B, and C",
    "A B and C",
    "(B) (C) and (D).",
    "Both A & C",
    "a. and c. above",
    "A but not B",
    "A only",
    "only B",
    "All of (a), (b) and (c) will be true.",
    "both A and B are correct; either would do",
    "option B",
    "Options A and B",
    "The same as option C",
    "the first two options",
    "The first two",
    "Both",
    "Both of these",
    "(A), (B), and (C) are part of the theory",
    "Two of the above",
    "Any 2 of the above values",
    "Older adults cannot do either of these",
]
PLAIN = [
    "vitamin A and B",
    "Vitamins A and C",
    "Plan A",
    "(i) and (ii)",
    "(i) and (v)",
    "I and II only",
    "I",
    "A",
    "e",
    "P(A and B) = P(A) · P(B)",
    "A and B are equally good athletes.",
    "Country A and B have identical living standards.",
    "H, C, I",
    "a,b in H=> a * b in H",
    "a bird or a plane",
    "a cat",
    "Not a crook",
    "All of the offspring will be red.",
    "All answers of the pupils were collected.",
    "None of Argentina is in England",
    "none of those who left",
    "Neither party recovers anything from the other.",
    "neither gravity nor magnetism",
    "both protons and neutrons",
    "Both are renewable.",
    "above sea level",
    "1.22 ounces above the mean",
    "Each of several species",
    "what answers either of these questions",
    "Any choice of seed will do",
    "no choice",
    "First choice for pain",
    "respond to a response with a reward",
    "",
    "  ",
    "All the King's Men",
    "Option I if it needs the money",
]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(("none_of_the_above", text) for text in NONE),
        *(("all_of_the_above", text) for text in ALL),
        *(("refers_to_options", text) for text in REFERS),
        *(("plain", text) for text in PLAIN),
    ],
)
def test_wording_has_its_kind(kind: str, text: str) -> None:
    assert kind_of_option(text) == kind


def test_letters_beyond_the_last_option_do_not_name_options() -> None:
    assert not refers_to_options("Which edges are cut?", ["E and F", "one", "two", "three"])
    assert refers_to_options("Which edges are cut?", ["A and C", "one", "two", "three"])


def test_letters_in_every_option_refer_to_the_question() -> None:
    pairs = ["A and B only", "A and C only", "B and C only", "A, B and C"]
    assert kinds_of_options(pairs) == ("plain",) * 4


def test_none_among_numbers_is_an_amount() -> None:
    assert kinds_of_options(["None", "One", "Two", "Three"]) == ("plain",) * 4
    assert kinds_of_options(["Octal", "Binary", "None"])[2] == "none_of_the_above"


@pytest.mark.parametrize(
    ("question", "refers"),
    [
        ("If option B holds, which follows?", True),
        ("Unlike choices A and C, which one is true?", True),
        ("Which of the last two options is best?", True),
        ("Which is the first choice against pain?", False),
        ("Which of the following options is best?", False),
        ("The witness's last answer was struck. Why?", False),
        ("Which answer is right about (A) hydrogen?", False),
        ("Choose an answer a child would give.", False),
        ("Company A sells more than company B. Why?", False),
    ],
)
def test_stem_refers_to_options_by_letter_or_position(question: str, refers: bool) -> None:
    assert refers_to_options(question, ["one", "two", "three", "four"]) is refers


def test_only_words_like_above_name_a_position() -> None:
    assert names_a_place("All of the above")
    assert not names_a_place("None of the other choices")


@pytest.mark.parametrize(
    ("explanation", "mentions"),
    [
        ("Heat rises. The answer is (C).", True),
        ("Option B is a distractor.", True),
        ("The answer is D", True),
        ("Answer: A", True),
        ("Since 2 + 2 = 4, the sum is even.", False),
        ("The answer is a prime number.", False),
        ("The answer is A lot of them.", False),
    ],
)
def test_explanations_that_name_letters_are_detected(explanation: str, mentions: bool) -> None:
    assert mentions_options(explanation) is mentions


@pytest.mark.real_data
def test_counts_on_mmlu_equal_a_manual_count(
    shared_data: Path, show: Callable[[str], None]
) -> None:
    rows = pd.read_parquet(shared_data / "benchmarks" / "mmlu.parquet")
    test = rows[rows["split"] == "test"]
    counts: Counter[str] = Counter()
    for choices in test["choices"]:
        counts.update(set(kinds_of_options(list(choices))))
    show(f"MMLU test items with an option of each kind: {dict(sorted(counts.items()))}")
    assert counts["none_of_the_above"] == 249
    assert counts["all_of_the_above"] == 354
    assert counts["refers_to_options"] == 154
