"""Answers in written texts."""

from collections.abc import Callable
from pathlib import Path
from time import process_time

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchwright.scoring.answer_text import before_next_question
from benchwright.scoring.final_answers import canonical_number, same_answer
from benchwright.scoring.read_answer import read_answer

CITIES = ("London", "Paris", "Rome", "Berlin")
NUMBERS = ("3", "3.5", "30", "1,000")
STATEMENTS = ("I only", "II only", "I and II only", "I, II, and III")
CELLS = ("T cells", "B cells", "A man walks", "None of the above")
VITAMINS = ("C", "A", "B", "D")  # the letter of one option is the text of another
MANY = tuple(f"option {i}" for i in range(26))
BOTH = ("heat", "light", "both heat and light", "heat or light")

LETTERS = [
    # stated in a sentence
    ("## Answer\n\nB. Paris", CITIES, 1, "bare_letter"),
    ("So, the correct option is D because Berlin lies east.", CITIES, 3, "stated"),
    ("答案：The answer is （B）．", CITIES, 1, "stated"),
    # the last statement wins
    ("The answer is A. No other thought. Hence the answer is (C).", CITIES, 2, "stated"),
    # boxed and hash marks
    (r"\[ \boxed{\textbf{(C) Rome}} \]", CITIES, 2, "boxed"),
    ("Paris lies on the Seine.\n#### B", CITIES, 1, "bare_letter"),
    # a separate line
    ("B) Paris, the capital of France", CITIES, 1, "bare_letter"),
    ("B, because Paris is the capital.", CITIES, 1, "bare_letter"),
    ("Paris is the capital of France.\n\n**B**", CITIES, 1, "bare_letter"),
    # the option's words
    ("Paris", CITIES, 1, "option_text"),
    ("The answer is I and II only.", STATEMENTS, 2, "stated"),
    ("The answer is T cells (A).", CELLS, 0, "stated"),
    ("A man walks", CELLS, 2, "option_text"),
    # nothing
    ("B?", CITIES, None, "none"),
    ("B. Paris is the capital of France.", CITIES, 1, "bare_letter"),
    ("B. Paris is not the answer.", CITIES, None, "none"),
    ("Both A and D are false.", ("a", "Both A and D are false", "c", "d"), 1, "option_text"),
    ("D. U.S. Grant", ("x", "y", "z", "U.S. Grant"), 3, "bare_letter"),
    ("The answer is either (a) or (b).", CITIES, None, "several"),
    ("The correct answers are A, B and C.", CITIES, None, "several"),
    ("The answer is not B.", CITIES, None, "none"),
    ("Option B is correct.", CITIES, None, "none"),
    ("I don't think the answer is B.", CITIES, None, "none"),
    ("Option B is not correct.", CITIES, None, "none"),
    ("The answer is B. No, the answer is not B.", CITIES, None, "none"),
    ("The answer is B. But the answer is unclear.", CITIES, None, "none"),
    ("The answer could be B.", CITIES, None, "none"),
    ("The answer is B?", CITIES, None, "none"),
    ("If the answer is B, Paris falls.", CITIES, None, "none"),
    ("A wrong answer is B.", CITIES, None, "none"),
    ("The answer is C++.", CITIES, None, "none"),
    ("The answer is C. elegans.", ("worm", "fly", "mouse", "C. elegans"), 3, "stated"),
    ("The answer is B. London.", CITIES, None, "several"),
    ("The answer is B.", VITAMINS, None, "several"),
    ("The answer is -3.", NUMBERS, None, "none"),
    ("heat", ("heat", "heat", "cold"), None, "several"),
    ("A. London\nB. Paris\nC. Rome\nD. Berlin", CITIES, None, "none"),
    ("Paris\nRome", CITIES, None, "several"),
    (
        "The answer is B.\n\nQuestion: Which is red?\nA. blood\nB. grass\nAnswer: A",
        CITIES,
        1,
        "stated",
    ),
]

CUT_OFF = [
    ("The answer is B", None),
    (r"So \boxed{B}", 1),
    ("The answer is B because Pa", 1),
    ("B. Paris is the capital of", 1),
    ("B\n\nExplanation: Paris", 1),
    ("B", None),
    ("Paris", None),
    ("<think>The answer is (B). But", None),
    (r"So \boxed{(B)}", 1),
]

FINAL = [
    ("The answer is 12 because each of 4 boxes has 3.", "12", "stated"),
    ("Answer: 3 * 4 = 12", "12", "stated"),
    ("$12$", "12", "whole_text"),
    ("Answer:\n\n**72**", "72", "stated"),
    ("The answer is x = 12.", "12", "stated"),
    ("The answer is 2 1/2 hours.", "2.5", "stated"),
    (r"The answer is \frac{3}{4}.", "0.75", "stated"),
    ("The answer is 2 million.", "2000000", "stated"),
    ("The answer is 12 (not 13).", "12", "stated"),
    ("The answer is that she sold 72 clips.", "72", "stated"),
    (r"\boxed{\$1{,}234.50}", "1234.5", "boxed"),
    ("#### $1,000", "1000", "hash_marks"),
    ("#### 2 Ways to solve it\nThere are 7.", "7", "last_number"),
    ("#### Step 1: count\nWe count.\n#### 9", "9", "hash_marks"),
    (
        "Answer: 3 bags hold 4 each, 3*4 = 12 apples. Two are bad. So 10 are good.",
        "10",
        "last_number",
    ),
    ("1. Count 3.\n2. Add 4 to get 7.\n3. Done.", "7", "last_number"),
    ("The answer is 3 or 4.", None, "several"),
    ("The answer is 3-4.", None, "several"),
    ("The answer is 12. No, the answer is not 12.", None, "none"),
    ("The answer cannot be determined from 3 facts.", None, "none"),
    (r"\boxed{5 000}", None, "none"),
    ("The answer is 3x.", None, "none"),
    ("That makes 5 × 7.", None, "none"),
    ("Is it 5?", None, "none"),
    ("The answer is 5.\n\nQuestion: How many?\nThe answer is 7.", "5", "stated"),
]


WORDS = [
    ("The answer is Paris.", "Paris", "stated"),
    ("**Answer:** 12:30", "12:30", "stated"),
    (r"\boxed{x+1}", "x+1", "boxed"),
    ("First think.\n#### Paris", "Paris", "hash_marks"),
    ("#### Step 1\nThink.", None, "none"),
    ("Paris", "Paris", "whole_text"),
    ("The answer is not Paris.", None, "none"),
    ("The answer is unclear.", None, "none"),
    ("I do not know.", None, "none"),
    ("Think.\nThink more.", None, "none"),
]

NUMBERS_WRITTEN = [
    ("1/25", "0.04"),
    ("1" * 40, "1" * 40),
    ("1" * 41, None),
    ("-0.0", "0"),
    ("2/6", "1/3"),
    ("-1/3", "-1/3"),
    ("1/0", None),
    ("2 1/2", "2.5"),
    ("1.5 million", "1500000"),
    ("3x", None),
    ("5th", None),
]

SAME = [
    ("$18", "18", True),
    ("12 apples", "12", True),
    ("12", "-12", False),
    ("Paris", "12", False),
    ("", "", True),
    ("", "0", False),
]


@pytest.mark.parametrize(("text", "choices", "answer", "rule"), LETTERS)
def test_letters_are_extracted(
    text: str, choices: tuple[str, ...], answer: int | None, rule: str
) -> None:
    assert read_answer(text, choices) == (answer, rule)


@pytest.mark.parametrize(("text", "answer"), CUT_OFF)
def test_answers_at_the_end_of_a_truncated_text_are_ignored(text: str, answer: int | None) -> None:
    assert read_answer(text, CITIES, finished=False).value == answer


@pytest.mark.parametrize(("text", "answer", "rule"), FINAL)
def test_final_numbers_are_extracted(text: str, answer: str | None, rule: str) -> None:
    assert read_answer(text) == (answer, rule)


@pytest.mark.parametrize(("text", "answer", "rule"), WORDS)
def test_final_words_are_extracted(text: str, answer: str | None, rule: str) -> None:
    assert read_answer(text, numeric=False) == (answer, rule)


@pytest.mark.parametrize(("text", "number"), NUMBERS_WRITTEN)
def test_numbers_are_normalised(text: str, number: str | None) -> None:
    assert canonical_number(text) == number


@pytest.mark.parametrize(("first", "second", "same"), SAME)
def test_equality_of_answers_is_symmetric(first: str, second: str, same: bool) -> None:
    assert same_answer(first, second) is same
    assert same_answer(second, first) is same


PIECE = """The answer is |Answer: |not |A|B|(C)|I| or | and |.|
|?|\\boxed{|}|#### |3|3.5|1,000|$|%|/| because |wait|**|Paris|London|<think>|</think>| |,|Option |
 is correct|=|-"""
PIECES = st.lists(st.sampled_from(PIECE.split("|")) | st.text(max_size=3), max_size=12).map("".join)


@given(PIECES, st.booleans())
@example("not but not but A", True)
def test_any_text_gives_an_option_or_none(text: str, finished: bool) -> None:
    for choices in (CITIES, NUMBERS, VITAMINS, MANY, ("", ".")):
        answer, rule = read_answer(text, choices, finished)
        assert answer is None or 0 <= answer < len(choices)
        assert (answer is None) == (rule in {"none", "several"})
    for numeric in (True, False):
        answer_text, rule = read_answer(text, (), finished, numeric)
        assert (answer_text is None) == (rule in {"none", "several"})
        if numeric and answer_text is not None:
            assert canonical_number(answer_text) == answer_text


@pytest.mark.real_data
def test_every_gsm8k_solution_gives_its_final_answer(
    shared_data: Path, show: Callable[[str], None]
) -> None:
    rows = pd.read_parquet(shared_data / "benchmarks" / "gsm8k.parquet")[::4]
    read = [read_answer(text) for text in rows["solution"]]
    right = [
        result.value is not None and same_answer(str(result.value), gold)
        for result, gold in zip(read, rows["final_answer"], strict=True)
    ]
    show(f"final answers extracted from {len(rows)} GSM8K solutions: {sum(right)} right")
    assert all(right)


@pytest.mark.parametrize("piece", ["answer ", "\\boxed{", "1,", "A. x\n", "(A) "])
def test_a_hostile_text_is_read_in_linear_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    start = process_time()
    read_answer(text, CITIES)
    read_answer(text)
    before_next_question(text, CITIES)
    assert process_time() - start < 20, "a quadratic pattern takes hours"


PLANETS = ["Mars", "Earth", "Venus", "the Moon"]
MADE_UP = (
    "Who reached the moon first?\nA. Alan Shepard\nB. John Glenn\nC. Neil Armstrong\n"
    "The answer is (C).\n\nThe"
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f" Earth\n\n{MADE_UP}", " Earth"),
        (f" The answer is (B).\n{MADE_UP}", " The answer is (B)."),
        (MADE_UP, ""),
        (" Earth (A) or not.\n\nThe answer is (B).", None),
        ("(A) MARS\n(B) Earth\nAnswer: B", None),
    ],
)
def test_what_follows_a_made_up_question_is_ignored(text: str, kept: str | None) -> None:
    assert before_next_question(text, PLANETS) == (text if kept is None else kept)
