"""Separators of labels, wiki markup, and the extent of a stem."""

import json

import pytest

from benchwright.methods.mmlu_cf.extraction.extract import questions_in
from benchwright.methods.mmlu_cf.extraction.plain_text import is_wiki, wiki_rows

STEMS = ["Kinase reactions:", "SHA-1 has a message digest of", "Planets orbit"]
CHOICES = [
    ["add phosphate", "split water", "need light"], ["20 bytes", "16 bytes", "64 bytes"],
    ["the Earth", "the Sun", "each other"],
]  # fmt: skip
RIGHT = "ABB"
ITEMS = list(zip(STEMS, CHOICES, RIGHT, strict=True))


def read(text: str, kind: str = "text/plain") -> list[tuple[str, list[str], str | None]]:
    questions = questions_in(text, kind)
    return [(question.question, question.choices, question.answer) for question in questions]


def lettered(choices: list[str], form: str = "{}. {}", end: str = "\n") -> str:
    return end.join(form.format(*pair) for pair in zip("ABC", choices, strict=True))


@pytest.mark.parametrize("sign", ["::", "—", "|", "»", "->", "=>", "–", "→"])
@pytest.mark.parametrize("answer", ["Ans. {} {}", "Ans. {} {} {}", "Answer {1} {0}"])
def test_signs_after_a_label_separate_it(sign: str, answer: str) -> None:
    text = "\n\n".join(
        f"No. {n} {sign} {stem}\n{lettered(choices, '{} ' + sign + ' {}')}\n"
        + answer.format(right, sign, choices["ABC".index(right)])
        for n, (stem, choices, right) in enumerate(ITEMS, start=1)
    )
    assert read(text) == ITEMS


@pytest.mark.parametrize("form", ["#: ''{}'' {}", "#* {}. {}", "## {}) {}", "#: '''{}.''' {}"])
@pytest.mark.parametrize(
    "answer",
    [
        "#: '''Answer key:''' {{{{hidden|{}}}}}", "#: ''Answer:'' {{{{spoiler|title=Show|{}}}}}",
        "#: {{{{hidden|Answer|{}}}}}", "#: [[Answers|Answer]]: {}",
    ],
)  # fmt: skip
def test_wiki_markup_is_read(form: str, answer: str) -> None:
    text = "== Quiz ==\n" + "\n".join(
        f"# {stem}\n{lettered(choices, form)}\n{answer.format(right)}"
        for stem, choices, right in ITEMS
    )
    assert read(text) == ITEMS


def test_markdown_headings_are_not_wiki_markup() -> None:
    assert not is_wiki(["# Title", "## Part", "### *Part*", "text"])
    assert wiki_rows(["# a {{x|y|b=c}} [[d|e]]"]) == ["", "1. a y e"]


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
@pytest.mark.parametrize("answer", ["\nAnswer: {}", ""])
def test_unfinished_stems_above_letters_are_stems(gap: str, answer: str) -> None:
    parts = [f"{stem}{gap}{lettered(c)}{answer.format(right)}" for stem, c, right in ITEMS]
    key = "" if answer else "\n\nAnswers: 1 A 2 B 3 B"
    assert read("\n\n".join(parts) + key) == ITEMS
    starred = [f"{stem}\n{lettered(c)}".replace(f"{r}.", f"*{r}.") for stem, c, r in ITEMS]
    assert read("\n\n".join(starred)) == ITEMS


def test_banners_and_counters_are_not_part_of_a_stem() -> None:
    stems = ["Statement 1: it rains. Statement 2: it pours.", *STEMS[1:]]
    banners = "<p>Please turn on JavaScript</p><div>3 comments hidden. Show?</div>"
    data = [
        {
            "@type": "Question", "text": stem,
            "suggestedAnswer": [{"text": c} for c in choices if c != choices["ABC".index(right)]],
            "acceptedAnswer": {"text": choices["ABC".index(right)]},
        }
        for stem, choices, right in zip(stems, CHOICES, RIGHT, strict=True)
    ]  # fmt: skip
    page = f'{banners}<script type="application/ld+json">{json.dumps(data)}</script>'
    assert [part[0] for part in read(page, "text/html")] == stems
    forms = "".join(
        f"<div><p>{n}/12<br>{stem}</p>"
        + "".join(f"<label><input type=radio name=q{n}>{c}</label>" for c in choices)
        + f"<p>Answer: {choices['ABC'.index(right)]}</p></div>"
        for n, (stem, choices, right) in enumerate(zip(stems, CHOICES, RIGHT, strict=True), 4)
    )
    assert [part[0] for part in read(banners + forms, "text/html")] == stems


STATEMENTS = ["It is round.", "It is hot.", "It is near."]
LISTED = "\n".join(
    f"{name}. {text}" for name, text in zip(["I", "II", "III"], STATEMENTS, strict=True)
)


@pytest.mark.parametrize("asks", ["\nWhich hold?", ""])
def test_statements_belong_to_the_stem(asks: str) -> None:
    stem = f"Consider what is said of Mars:\n{LISTED}{asks}"
    text = "\n\n".join(f"{stem}\n{lettered(choices)}\nAnswer: B" for choices in CHOICES[:2])
    assert [part[:2] for part in read(text)] == [(stem, CHOICES[0]), (stem, CHOICES[1])]
    listed = "".join(f"<li>{part}</li>" for part in STATEMENTS)
    options = "".join(f"<li>{part}</li>" for part in CHOICES[0])
    page = f"<p>Consider what is said of Mars:</p><ol type=I>{listed}</ol><p>Which hold?</p>"
    page += f"<ol type=A>{options}</ol><p>Answer: B</p>"
    (question,) = read(page, "text/html")
    assert question == (f"Consider what is said of Mars:\n{LISTED}\nWhich hold?", CHOICES[0], "B")


@pytest.mark.parametrize(
    ("matter", "text"),
    [
        ("<pre>x = 1\n\nprint(x)</pre>", "x = 1\nprint(x)"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>", "a b\nc d"),
    ],
)
@pytest.mark.parametrize(
    "head", ["<h3>What is x?</h3>", "<p>What is x?</p>", "<p>3. What is x?</p>"]
)
def test_code_and_tables_belong_to_the_stem(matter: str, text: str, head: str) -> None:
    options = "".join(f"<li>{part}</li>" for part in CHOICES[0])
    page = f"<html>{head}{matter}<ol type=A>{options}</ol><p>Answer: B</p>"
    assert read(page, "text/html") == [(f"What is x?\n{text}", CHOICES[0], "B")]


def test_a_stem_with_the_word_wrote_is_not_a_forum_post() -> None:
    text = f"1. Who wrote the Aeneid?\n{lettered(CHOICES[0])}\n\n"
    text += f"Who wrote the Iliad?\n{lettered(CHOICES[1])}\n\nAnswers: 1 B 2 C\n"
    text = text.replace("Who wrote the Iliad", "2. Who wrote the Iliad")
    assert [part[2] for part in read(text)] == ["B", "C"]
