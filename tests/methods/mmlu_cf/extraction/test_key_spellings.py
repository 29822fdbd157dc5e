"""Keys in many spellings: questions get the right answer or none."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwright.methods.mmlu_cf.extraction.extract import questions_in
from benchwright.methods.mmlu_cf.extraction.measure import answered_choice

STEMS = [
    "What causes the tides?", "Which number is a prime?", "Which metal is liquid?",
    "Which city lies on the Tiber?", "Which of these is a mammal?", "Who wrote the Aeneid?",
]  # fmt: skip
CHOICES = [
    ["The wind", "The Moon", "Whales", "Rivers"], ["Four", "Six", "Seven", "Nine"],
    ["Iron", "Mercury", "Lead", "Zinc"], ["Rome", "Oslo", "Bern", "Riga"],
    ["A trout", "A whale", "A wasp", "A crow"], ["Homer", "Ovid", "Horace", "Virgil"],
]  # fmt: skip
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
    n = draw(st.integers(1, len(STEMS)))
    right = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    names = draw(st.sampled_from(["1234", "ABCD", "abcd"]))
    stem, option = draw(st.sampled_from(STEM_FORMS)), draw(st.sampled_from(OPTION_FORMS))
    parts = []
    for number in range(n):
        rows = [stem.format(n=number + 1, stem=STEMS[number])]
        rows += [option.format(*pair) for pair in zip(names, CHOICES[number], strict=True)]
        parts.append("\n".join(rows))
    before, sign, form = (draw(st.sampled_from(options)) for options in (BEFORE, SIGNS, FORMS))
    pairs = [
        f"{before}{number + 1}{')' if before == '(' else ''}{sign}"
        + form.format(label=names[place], text=CHOICES[number][place])
        for number, place in enumerate(right)
    ]
    left_out = draw(st.integers(0, 3)) == 0 and n > 2
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
        if question.choices not in CHOICES:
            continue
        row = {"choices": question.choices, "labels": question.labels, "answer": question.answer}
        assert answered_choice(row) in {-1, right[CHOICES.index(question.choices)]}


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize(("head", "gap"), [("Answer key: ", "; "), ("Correct: ", ", ")])
def test_a_key_of_numbers_is_read_in_any_of_its_spellings(sign: str, gap: str, head: str) -> None:
    right = [2, 3, 0]
    parts = []
    for n in range(3):
        options = "\n".join(f"{k}) {text}" for k, text in enumerate(CHOICES[n], start=1))
        parts.append(f"Task {n + 1}.\n{STEMS[n]}\n{options}")
    key = head + gap.join(f"{n}{sign}{place + 1}" for n, place in enumerate(right, start=1))
    questions = questions_in("\n\n".join([*parts, key]), "text/plain")
    assert [(question.question, question.answer) for question in questions] == [
        (STEMS[n], str(place + 1)) for n, place in enumerate(right)
    ]


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("Answer: 1 – 3", None),
        ("Answer: 1. B", None),
        ("Answer: No. 1 – 3", None),
        ("Answer: A – 3; B – 1; C – 2", None),
        ("Answer: 1 – Whales; 2 – Seven", None),
        ("Answer: 1 – Whales", None),
        ("Answer: 2 – 3 (Whales)", None),
        ("Answer: 2) The Moon", "2"),
        ("Answer: 2 – The Moon, since it pulls", "2"),
        ("Answer: 2. 3 tides a day would need three moons", "2"),
        ("Answer: 2 —", "2"),
        ("Answer: (2)", "2"),
    ],
)
def test_a_pair_of_labels_is_not_an_answer_of_one_question(line: str, answer: str | None) -> None:
    options = "\n".join(f"{n}) {text}" for n, text in enumerate(CHOICES[0], start=1))
    other = "\n".join(f"{n}) {text}" for n, text in enumerate(CHOICES[2], start=1))
    text = f"{STEMS[0]}\n{options}\n{line}\n\n{STEMS[2]}\n{other}\nAnswer: 2\n"
    answers = {question.question: question.answer for question in questions_in(text, "text/plain")}
    assert answers[STEMS[2]] == "2"
    assert answers.get(STEMS[0]) == answer


def test_the_text_of_an_option_is_not_a_pair() -> None:
    text = "How many?\n1) 3\n2) 5\n3) 8\nAnswer: 1) 3\n"
    (question,) = questions_in(text, "text/plain")
    assert question.answer == "1"
