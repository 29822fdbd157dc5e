"""Each cleaning rule on rows written by hand."""

from typing import Any

import pyarrow as pa
import pytest

from benchwright.methods.mmlu_cf.cleaning.rows import CleanedBatch
from benchwright.methods.mmlu_cf.cleaning.rules import ROW_RULES, clean_batch
from benchwright.params.mmlu_cf import CleaningParams

CITIES = ["Paris", "London", "Rome", "Bonn"]
QUESTION = "What is the capital of France?"


def item(**fields: Any) -> dict[str, Any]:
    row = {
        "item_id": "doc#1",
        "question": QUESTION,
        "choices": CITIES,
        "labels": list("ABCDEFGH"[: len(fields.get("choices", CITIES) or ())]),
        "answer": "A",
        "explanation": None,
        "passage": None,
    }
    return {**row, **fields}


def table(*rows: dict[str, Any]) -> pa.Table:
    kinds = {name: pa.string() for name in rows[0]}
    kinds |= {name: pa.list_(pa.string()) for name in ("choices", "labels")}
    return pa.Table.from_pylist(list(rows), schema=pa.schema(list(kinds.items())))


def cleaned(params: CleaningParams | None = None, **fields: Any) -> CleanedBatch:
    return clean_batch(table(item(**fields)), params or CleaningParams())


def verdict(params: CleaningParams | None = None, **fields: Any) -> str:
    """The rule that rejects the row, or "clean"."""
    rules = cleaned(params, **fields).rejected.column("rule").to_pylist()
    return rules[0] if rules else "clean"


def kept(**fields: Any) -> dict[str, Any]:
    rows: list[dict[str, Any]] = cleaned(**fields).rows.to_pylist()
    assert rows, cleaned(**fields).rejected.to_pylist()
    return rows[0]


@pytest.mark.parametrize(
    ("rule", "fields"),
    [
        ("too_long", {"question": "Why? " * 200_000}),
        ("too_long", {"choices": ["x" * 3000, *CITIES[1:]]}),
        ("too_long", {"passage": "a b " * 20_000}),
        ("too_long", {"answer": "A " * 2_000}),
        ("too_long", {"choices": [str(i) for i in range(27)], "labels": []}),
        ("unreadable", {"question": "What is the capital\0of France?"}),
        ("unreadable", {"question": "Who was his fianc\u00c3\u00a9e in that year?"}),
        ("unreadable", {"choices": ["Don\u00e2\u20ac\u2122t", *CITIES[1:]]}),
        ("unreadable", {"question": "What is " + "a" * 5000}),
        ("n_choices", {"choices": CITIES[:3]}),
        ("empty_choices", {"choices": ["Paris", " \t", "Rome", "Bonn"]}),
        ("label_set", {"labels": ["A", "B", "C", "E"]}),
        ("label_set", {"labels": ["A", "B"]}),
        (
            "label_set",  # the second choice, or the first, which says 2
            {"choices": ["2", "4", "6", "8"], "labels": ["1", "2", "3", "4"], "answer": "2"},
        ),
        ("short_question", {"question": "Why?"}),
        ("short_question", {"question": "12. What is"}),  # after its number is gone
        ("question_complete", {"question": "What is the capital of [...]"}),
        ("question_complete", {"question": "The most important elec-"}),
        ("question_complete", {"question": "The capital of France ("}),
        ("question_complete", {"question": ", and what is the capital of France?"}),
        ("question_complete", {"question": "What is the capital (or seat of France?"}),
        ("answer_within_choices", {"answer": "Madrid"}),
        ("answer_within_choices", {"answer": "B. Paris"}),
        ("answer_within_choices", {"choices": ["Paris", "Paris ", "Rome", "Bonn"]}),
        ("lower_case_start", {"question": "what is the capital of France?"}),
        ("non_english", {"question": "Что такое столица Франции?"}),
        ("non_english", {"question": "Welches der folgenden Elemente ist ein Edelgas?"}),
        ("non_english", {"question": "¿Qué planeta es rojo?"}),
    ],
)
def test_a_fault_is_rejected_by_its_rule(rule: str, fields: dict[str, Any]) -> None:
    assert verdict(**fields) == rule


@pytest.mark.parametrize(
    "question",
    [
        "1.5 kg of gold cost how much?",
        "(a) is larger than (b) if",
        "Q is the set of rational numbers. Which is true?",
        "The interval [0, 1) contains",
        "The reasons are 1) cost and 2) time. Which counts most?",
        "The teeth of a carnivore are mostly -",
        "pH is a measure of",
        "f(x) = 2x has the derivative",
        "_ was the capital of France.",
        "What is π in cm² if α ≤ β and é is a letter?",
        "Karl Heinz Müller und Söhne",
        "What does the Russian word 'мир' mean in English?",
        "Spanish sentences such as '¿Cómo?' open with",
    ],
)
def test_a_sound_question_is_unchanged(question: str) -> None:
    result = cleaned(question=question)
    assert result.rejected.to_pylist() == []
    assert result.rows.column("question").to_pylist() == [question]
    assert result.changes.num_rows == 0


@pytest.mark.parametrize(
    "number",
    [
        *("12. ", "Q3) ", "Q. ", "Question 5: ", "Question 5 of 20: ", "(12) ", "(a) ", "#7 "),
        *("[4] ", "12) (b) ", "Question: ", "No. 8: ", "Q3. Q3. "),
    ],
)
def test_numbering_before_the_question_is_removed(number: str) -> None:
    assert kept(question=number + QUESTION)["question"] == QUESTION


@pytest.mark.parametrize(
    "numbers",
    [
        *(["A. ", "B. ", "C. ", "D. "], ["a) ", "b) ", "c) ", "d) "], ["(A)", "(B)", "(C)", "(D)"]),
        *(["1. ", "2. ", "3. ", "4. "], ["I. ", "II. ", "III. ", "IV. "]),
        *(["i) ", "ii) ", "iii) ", "iv) "], ["A. 1. ", "B. 2. ", "C. 3. ", "D. 4. "]),
    ],
)
def test_numbering_of_all_choices_is_removed(numbers: list[str]) -> None:
    choices = [number + city for number, city in zip(numbers, CITIES, strict=True)]
    assert kept(choices=choices)["choices"] == CITIES


@pytest.mark.parametrize(
    ("labels", "answer", "gold"),
    [
        (list("ABCD"), "C", 2),
        (["a)", "b)", "c)", "d)"], "(c)", 2),
        (["1.", "2.", "3.", "4."], "Answer: 3", 2),
        (["i", "ii", "iii", "iv"], "III", 2),
        (["", "", "", ""], "C", 2),
        ([], "Rome", 2),
        (list("ABCD"), "**Answer:** C", 2),
        (list("ABCD"), "The correct answer is (c).", 2),
        (list("ABCD"), "Correct option: C) Rome", 2),
        (list("ABCD"), "C. It is the eternal city.", 2),
        (list("ABCD"), "rome.", 2),
        (["D", "C", "B", "A"], "B", 1),  # choices are put in order: Bonn, Rome, London, Paris
    ],
)
def test_labels_and_answers_become_a_position(labels: list[str], answer: str, gold: int) -> None:
    row = kept(labels=labels, answer=answer)
    assert row["answer"] == gold
    assert row["choices"][gold] == "Rome"


def test_options_that_differ_only_in_case_are_distinguished() -> None:
    row = kept(choices=["BB", "Bb", "bB", "bb"], answer="The answer is: Bb")
    assert row["answer"] == 1


def test_texts_may_be_as_short_or_as_long_as_the_limits() -> None:
    assert verdict(question="Why is it?") == "clean"
    assert verdict(question="Why is I?") == "short_question"
    for length, seen in ((2_000, "clean"), (2_001, "too_long")):
        assert verdict(choices=[*CITIES[:3], "Rome " + "x " * 997 + "x" * (length - 1999)]) == seen
    for length, seen in ((10_000, "clean"), (10_001, "too_long")):
        assert verdict(question=("What is it? " + "and " * 2_500)[: length - 1] + "?") == seen


@pytest.mark.parametrize(("latin", "rule"), [(20, "clean"), (19, "non_english")])
def test_a_fifth_of_the_letters_may_be_of_another_script(latin: int, rule: str) -> None:
    question = "Which " + "ab " * ((latin - 5) // 2) + "c" * ((latin - 5) % 2) + " абвгд?"
    assert verdict(question=question, choices=["1", "2", "3", "4"]) == rule


def test_rules_can_be_switched_off() -> None:
    lower = "what is the capital of France?"
    assert verdict(CleaningParams(off=("lower_case_start",)), question=lower) == "clean"
    everything = CleaningParams(off=tuple(rule.name for rule in ROW_RULES))
    row = cleaned(everything, question="", choices=[], answer=None).rows.to_pylist()[0]
    assert (row["question"], row["answer"]) == ("", -1)


def test_the_accepted_numbers_of_choices_are_configurable() -> None:
    five = [*CITIES, "Oslo"]
    assert verdict(CleaningParams(n_choices=(3, 5)), choices=five, answer="E") == "clean"
    assert verdict(CleaningParams(n_choices=(3, 5))) == "n_choices"
