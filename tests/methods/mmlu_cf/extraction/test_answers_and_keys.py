"""Spellings of answers and keys, and lines that are neither."""

import pytest

from benchwright.methods.mmlu_cf.extraction.extract import questions_in

FIRST = "What causes the tides?\na) The wind\nb) The Moon\nc) Whales\nd) Rivers\n"
SECOND = "Which number is a prime?\na) 4\nb) 6\nc) 7\nd) 9\n"


def answers(text: str) -> list[str | None]:
    questions = questions_in(text, "text/plain")
    assert [question.choices[1] for question in questions] == ["The Moon", "6"]
    return [question.answer for question in questions]


@pytest.mark.parametrize(
    "line",
    [
        "Answer: b",
        "Ans:- b",
        "Answer b",
        "[Ans: b]",
        "Sol. (b)",
        "✔ b",
        "=> b",
        "Right answer: b) The Moon",
        "The correct answer is b. The Moon pulls at the sea.",
        "The answer to this question is b.",
        "Correct answer - b (72% knew it)",
        "Answer: Option b",
        "Answer: b because the Moon pulls",
        "Richtige Antwort: b",
    ],
)
def test_an_answer_under_its_question_is_read(line: str) -> None:
    text = f"1. {FIRST}{line}\n\n2. {SECOND}Answer: c\n"
    assert [(answer or "").lower() for answer in answers(text)] == ["b", "c"]


@pytest.mark.parametrize(
    "key",
    [
        "Answers: 1-b, 2-c",
        "Answers: 1b 2c",
        "Answers:\n1 b\n2 c",
        "Answers\n1 2\nb c",
        "Answers\nQuestion 1\nb\nQuestion 2\nc",
        "Answers\nNo.\tAnswer\n1\tb\n2\tc",
        "Correct answers: 1. b) The Moon, 2. c) 7",
        "Solutions\n\n1. The answer is b. It pulls.\n\n2. The correct option is (c) since it is.",
        "Answers and explanations\n\n1. b. It pulls\nat the sea.\n\n2. c. It has no divisors.",
        "1. b\n2. c",
        "Answer to question 1: b\nAnswer to question 2: c",
        "Answers 1-2: b c",
        "Answers\n1. The Moon\n2. 7",
    ],
)
def test_a_key_after_the_questions_is_read(key: str) -> None:
    lowered = [(answer or "").lower() for answer in answers(f"1. {FIRST}\n2. {SECOND}\n{key}\n")]
    assert lowered in (["b", "c"], ["the moon", "7"])


@pytest.mark.parametrize(
    "line",
    [
        "I think the answer is b.",
        "My answer: b",
        "Answer: b?",
        "Answer: the Sun",
        "Your answer: b",
        "So far: a 31%, b 22%",
        "Answer all questions.",
    ],
)
def test_other_lines_are_not_read_as_answers(line: str) -> None:
    assert answers(f"1. {FIRST}{line}\n\n2. {SECOND}Answer: c\n") == [None, "c"]


def test_an_answer_above_the_options_belongs_to_their_question() -> None:
    text = f"1. {FIRST}2. {SECOND}".replace("?\n", "?\nAnswer: b\n", 1)
    assert answers(text.replace("prime?\n", "prime?\nAnswer: c\n")) == ["b", "c"]


def test_an_answer_with_another_number_is_ignored() -> None:
    assert answers(f"1. {FIRST}\n2. {SECOND}\nAnswer to question 1: b\n") == ["b", None]


def test_several_answers_and_unknown_labels_are_kept_as_given() -> None:
    assert answers(f"1. {FIRST}Answer: a and c\n\n2. {SECOND}Answer: e\n") == ["a and c", "e"]


def test_a_key_in_a_comment_is_ignored() -> None:
    text = (
        f"<p>1. {FIRST}</p><p>2. {SECOND}</p>".replace("\n", "<br>")
        + "<div class='comment'><p>Answers: 1 a, 2 b</p></div>"
    )
    questions = questions_in(text, "text/html")
    assert [question.answer for question in questions] == [None, None]


@pytest.mark.parametrize(
    ("values", "expected"),
    [("0 2", ["The wind", "7"]), ("4 2", ["Rivers", "6"]), ("1 2", [None, None])],
)
def test_an_index_counts_only_if_the_page_shows_its_base(
    values: str, expected: list[str | None]
) -> None:
    parts = [block.splitlines() for block in (FIRST, SECOND)]
    text = "".join(
        f"<div data-correct-index='{value}'><p>{n}. {rows[0]}</p><ul class='options'>"
        + "".join(f"<li>{row[3:]}</li>" for row in rows[1:])
        + "</ul></div>"
        for n, (rows, value) in enumerate(zip(parts, values.split(), strict=True), start=1)
    )
    questions = questions_in(text, "text/html")
    assert [question.answer for question in questions] == expected


@pytest.mark.parametrize("after", ["", "\n", "\n\n## Further reading\n\nMore of it.\n"])
def test_an_explanation_ends_with_the_text_or_before_a_heading(after: str) -> None:
    text = f"1. {FIRST}Answer: b\n\nExplanation:\nIt pulls at the sea.{after}"
    (question,) = questions_in(text, "text/markdown")
    assert question.explanation == "It pulls at the sea."


def test_an_explanation_and_a_passage_are_kept() -> None:
    text = (
        "Read the passage and answer questions 1-2.\n\n"
        + "The sea rises and falls twice a day, more so when Sun and Moon stand in one line.\n" * 2
        + f"\n1. {FIRST}Answer: b. The Moon\n"
        + "Explanation: It pulls at the sea,\nas Newton showed.\n\n"
        + f"2. {SECOND}Answer: c\n\n3. Which metal is liquid?\na) Iron\nb) Mercury\nAnswer: b\n"
    )
    questions = questions_in(text, "text/plain")
    assert questions[0].explanation == "It pulls at the sea, as Newton showed."
    assert (questions[0].passage or "").startswith("The sea rises and falls twice a day")
    assert questions[1].passage == questions[0].passage
    assert questions[2].passage is None
