"""Spellings of labels, answers and keys, and lines that are neither."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.methods.mmlu_cf.extraction.extract import questions_in
from benchwright.methods.mmlu_cf.extraction.measure import answered_choice

FIRST = "What causes the tides?\na) The wind\nb) The Moon\nc) Whales\nd) Rivers\n"
SECOND = "Which number is a prime?\na) 4\nb) 6\nc) 7\nd) 9\n"


def read(text: str, kind: str = "text/plain") -> list[tuple[str, list[str], str | None]]:
    questions = questions_in(text, kind)
    return [(question.question, question.choices, question.answer) for question in questions]


def answers(text: str, kind: str = "text/plain") -> list[str | None]:
    questions = read(text, kind)
    assert [choices[1] for _, choices, _ in questions] == ["The Moon", "6"]
    return [answer for _, _, answer in questions]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("Ans:- b", "b"),
        ("Sol. (b)", "b"),
        ("✔ b", "b"),
        ("Right answer: b) The Moon", "b"),
        ("The correct answer is b. The Moon pulls at the sea.", "b"),
        ("Correct answer - b (72% knew it)", "b"),
        ("Answer: b because the Moon pulls", "b"),
        ("Richtige Antwort: b", "b"),
        ("Answer: a and c", None),
        ("Answer: e", None),
        ("I think the answer is b.", None),
        ("Answer: b?", None),
        ("Answer: b (incorrect)", None),
        ("Answer: the Sun", None),
        ("So far: a 31%, b 22%", None),
        ("Answer all questions.", None),
    ],
)
def test_an_answer_under_its_question_is_read(line: str, answer: str | None) -> None:
    assert answers(f"1. {FIRST}{line}\n\n2. {SECOND}Answer: c\n") == [answer, "c"]


@pytest.mark.parametrize(
    "key",
    [
        "Answers: 1-b, 2-c",
        "Answers:\n1 b\n2 c",
        "Answers\n1 2\nb c",
        "Answers\nQuestion 1\nb\nQuestion 2\nc",
        "Answers\nNo.\tAnswer\n1\tb\n2\tc",
        "Correct answers: 1. b) The Moon, 2. c) 7",
        "Solutions\n\n1. The answer is b. It pulls.\n\n2. The correct option is (c) since it is.",
        "Answers and explanations\n\n1. b. It pulls\nat the sea.\n\n2. c. It has no divisors.",
    ],
)
def test_a_key_after_the_questions_is_read(key: str) -> None:
    assert answers(f"1. {FIRST}\n2. {SECOND}\n{key}\n") == ["b", "c"]


def test_answers_in_comments_do_not_count() -> None:
    page = f"<p>1. {FIRST}</p><p>2. {SECOND}</p>".replace("\n", "<br>")
    comment = "<div class='comment'><p>Answers: 1 a, 2 b</p></div>"
    assert answers(page + comment, "text/html") == [None, None]


@pytest.mark.parametrize("after", ["", "\n\n## Further reading\n\nMore of it.\n"])
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
    first, second, third = questions_in(text, "text/plain")
    assert first.explanation == "It pulls at the sea, as Newton showed."
    assert (first.passage or "").startswith("The sea rises and falls twice a day")
    assert (second.passage, third.passage) == (first.passage, None)


@pytest.mark.parametrize(("length", "kept"), [(79, False), (80, True)])
def test_eighty_characters_are_a_passage(length: int, kept: bool) -> None:
    passage = "The sea rises twice a day".ljust(length - 1, "y") + "."
    text = f"Read the passage and answer questions 1-2.\n\n{passage}\n\n1. {FIRST}Answer: b\n"
    (question,) = questions_in(text, "text/plain")
    assert question.passage == (passage if kept else None)


STEMS = ["Kinase reactions:", "SHA-1 has a message digest of", "Planets orbit"]
CHOICES = [
    ["add phosphate", "split water", "need light"], ["20 bytes", "16 bytes", "64 bytes"],
    ["the Earth", "the Sun", "each other"],
]  # fmt: skip
RIGHT = "ABB"
ITEMS = list(zip(STEMS, CHOICES, RIGHT, strict=True))


def lettered(choices: list[str], form: str = "{}. {}", end: str = "\n") -> str:
    return end.join(form.format(*pair) for pair in zip("ABC", choices, strict=True))


def test_statements_code_and_tables_belong_to_the_stem() -> None:
    said = ["It is round.", "It is hot.", "It is near."]
    listed = "\n".join(
        f"{name}. {text}" for name, text in zip(("I", "II", "III"), said, strict=True)
    )
    stem = f"Consider what is said of Mars:\n{listed}"
    text = "\n\n".join(f"{stem}\n{lettered(choices)}\nAnswer: B" for choices in CHOICES[:2])
    assert read(text) == [(stem, CHOICES[0], "B"), (stem, CHOICES[1], "B")]

    options = "".join(f"<li>{part}</li>" for part in CHOICES[0])
    end = f"<ol type=A>{options}</ol><p>Answer: B</p>"
    items = "".join(f"<li>{part}</li>" for part in said)
    table = "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>"
    for page, wanted in (
        (
            f"<p>Consider what is said of Mars:</p><ol type=I>{items}</ol><p>Which hold?</p>",
            f"{stem}\nWhich hold?",
        ),
        ("<html><h3>What is x?</h3><pre>x = 1\n\nprint(x)</pre>", "What is x?\nx = 1\nprint(x)"),
        (f"<html><p>3. What is x?</p>{table}", "What is x?\na b\nc d"),
    ):
        assert read(page + end, "text/html") == [(wanted, CHOICES[0], "B")]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("Answer: 1 – 3", None),
        ("Answer: 1. B", None),
        ("Answer: A – 3; B – 1; C – 2", None),
        ("Answer: 1 – Whales; 2 – Seven", None),
        ("Answer: 2 – 3 (Whales)", None),
        ("Answer: 2) The Moon", "2"),
        ("Answer: 2 – The Moon, since it pulls", "2"),
        ("Answer: 2. 3 tides a day would need three moons", "2"),
        ("Answer: 2 —", "2"),
    ],
)
def test_a_pair_of_labels_is_not_an_answer_of_one_question(line: str, answer: str | None) -> None:
    tides = "What causes the tides?\n1) The wind\n2) The Moon\n3) Whales\n4) Rivers\n"
    metal = "Which metal is liquid?\n1) Iron\n2) Mercury\n3) Lead\n4) Zinc\n"
    given_to = {stem: its for stem, _, its in read(f"{tides}{line}\n\n{metal}Answer: 2\n")}
    assert given_to["Which metal is liquid?"] == "2"
    assert given_to.get("What causes the tides?") == answer


HEADS = [
    "Answers:", "Answer:", "Right answers:", "Correct:", "Key:", "Answer key:", "Ans.",
    "The correct answers are:", "Solutions:", "Right answers -", "Answers", "Antworten:",
]  # fmt: skip
SIGNS = [*(" – ", "-", ": ", "=", " → ", ".", ") ", " ", " => ", "…", "> ")]
GAPS = ["; ", ", ", " ", "\n", " / ", " | ", "\t", ". ", ";\n", ",", ";", " and "]
BEFORE = ["", "", "", "Q", "No. ", "Task ", "#", "Question ", "("]
FORMS = ["{label}", "{label}", "{label}", "({label})", "{label})", "option {label}",
         "{label} ({text})", "{label} {text}", "{label}) {text}", "{text}"]  # fmt: skip
STEM_FORMS = ["{n}. {stem}", "Task {n}.\n{stem}", "Question {n}: {stem}", "{n}) {stem}", "{stem}"]
OPTION_FORMS = ["{}) {}", "{}. {}", "({}) {}", "{} - {}", "{} :: {}"]


@st.composite
def pages(draw: st.DrawFn) -> tuple[str, list[int]]:
    """A page with a key at its end, and the positions of the right choices."""
    right = draw(st.lists(st.integers(0, 2), min_size=1, max_size=3))
    names = draw(st.sampled_from(["123", "ABC", "abc"]))
    stem, option = draw(st.sampled_from(STEM_FORMS)), draw(st.sampled_from(OPTION_FORMS))
    parts = []
    for number in range(len(right)):
        rows = [stem.format(n=number + 1, stem=STEMS[number])]
        rows += [option.format(*pair) for pair in zip(names, CHOICES[number], strict=True)]
        parts.append("\n".join(rows))
    before, sign, form = (draw(st.sampled_from(options)) for options in (BEFORE, SIGNS, FORMS))
    pairs = [
        f"{before}{number + 1}{')' if before == '(' else ''}{sign}"
        + form.format(label=names[place], text=CHOICES[number][place])
        for number, place in enumerate(right)
    ]
    left_out = draw(st.integers(0, 3)) == 0 and len(right) > 2
    pairs = pairs[1:] if left_out else pairs
    head = draw(st.sampled_from(HEADS)) + draw(st.sampled_from([" ", " ", "\n"]))
    between = draw(st.sampled_from(["\n\n", "\n"]))
    key = head + draw(st.sampled_from(GAPS)).join(pairs) + draw(st.sampled_from(["", ".", ";"]))
    return between.join([*parts, key]) + "\n", right


@settings(suppress_health_check=list(HealthCheck))
@given(page=pages())
def test_a_key_gives_right_answers_or_none(page: tuple[str, list[int]]) -> None:
    text, right = page
    for question in questions_in(text, "text/plain"):
        if question.choices in CHOICES:
            wanted = {-1, right[CHOICES.index(question.choices)]}
            assert answered_choice(vars(question)) in wanted


@given(text=st.text(st.sampled_from("AaBb12.)(\n\t ?:<>/-*[]xX✓"), max_size=400))
def test_any_text_is_read_without_error(text: str) -> None:
    for kind in ("text/plain", "text/markdown", "text/html"):
        for question in questions_in(text, kind):
            assert len(question.choices) == len(question.labels) >= 2
            assert question.question
