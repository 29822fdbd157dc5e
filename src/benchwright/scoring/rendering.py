"""Rendering a question as text, in each style and condition."""

import string
from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from benchwright.core.cells import cells
from benchwright.core.option_letters import lettered
from benchwright.params.benchmark import PromptParams

LABELS = tuple(string.ascii_uppercase)


class Question(NamedTuple):
    """The parts of an item or a demonstration that are rendered."""

    item_id: str
    subject: str
    text: str
    choices: tuple[str, ...]
    answer: int
    content_hash: str
    answer_text: str = ""
    explanation: str = ""


class Rendered(NamedTuple):
    """A prompt in two parts: `prefix` (description and demonstrations) and `text` (the item)."""

    prefix: str
    text: str


def questions(items: pd.DataFrame) -> list[Question]:
    """Convert the rows of an `Items` or `Demonstrations` table."""
    explanations = items["explanation"].where(items["explanation"].notna(), "")
    return [
        Question(*row)
        for row in zip(
            cells(items["item_id"]),
            cells(items["subject"]),
            cells(items["question"]),
            map(tuple, cells(items["choices"])),
            map(int, cells(items["answer"])),
            cells(items["content_hash"]),
            cells(items["answer_text"]),
            cells(explanations),
            strict=True,
        )
    ]


def render_question(question: Question, style: str, condition: str, words: PromptParams) -> str:
    """Render the question up to the start of the answer, without white space at its end.

    `cloze` lists no options; `choices_only` drops the question, as the answer-only prompt of SMART
    (section 3.3, Figure 2). Under `question_only` the text ends where the first option would begin.
    """
    lines = []
    if condition != "choices_only":
        lines.append(words.question_prefix + question.text)
    if condition == "question_only":
        return "\n".join([*lines, f"{LABELS[0]}."])
    if style != "cloze" or condition == "choices_only":
        lines.append(lettered(question.choices))
    if style == "generate":
        lines.append(words.instruction if question.choices else words.open_instruction)
    if words.answer_prefix:
        lines.append(words.answer_prefix)
    return "\n".join(filter(None, lines))


def continuations(question: Question, style: str, label_space: bool) -> tuple[str, ...]:
    """Return the scored continuations: labels (`letters`), options (`cloze`) or none."""
    if style == "generate":
        return ()
    space = " " if label_space else ""
    shown = LABELS[: len(question.choices)] if style == "letters" else question.choices
    return tuple(space + text for text in shown)


def render_demonstration(
    question: Question, style: str, condition: str, words: PromptParams, label_space: bool
) -> str:
    """Render a demonstration: the question as the model sees it, with the gold answer.

    In the style `generate` its explanation, if any, comes before the answer. Under `question_only`
    the options follow, and the letter of the right one.
    """
    if condition == "question_only":
        return render_demonstration(question, "letters", "question", words, label_space)
    body = render_question(question, style, condition, words)
    if style == "generate":
        if question.choices:
            answer = words.statement.replace("{label}", LABELS[question.answer], 1)
        else:
            answer = words.open_statement.replace("{answer}", question.answer_text, 1)
        explanation, _, _ = question.explanation.partition("####")
        parts = [explanation.strip(), answer]
        return body + " " + " ".join(filter(None, parts))
    return body + continuations(question, style, label_space)[question.answer]


def render_before(question: Question, shown: Sequence[str], words: PromptParams) -> str:
    """Render what comes before the question and its separator: description and demonstrations."""
    subject = question.subject.replace("_", " ")
    description = words.description.replace("{subject}", subject).rstrip()
    return words.separator.join(filter(None, [description, *shown]))


def render_prompt(
    question: Question,
    shown: Sequence[str],
    style: str,
    condition: str,
    words: PromptParams,
) -> Rendered:
    """Render description, demonstrations and question; the prefix never ends in white space.

    Tokenizers join the end of a line with the white space after it, so that a prefix cut after the
    blank line would have other tokens than the whole prompt.
    """
    before = render_before(question, shown, words)
    body = render_question(question, style, condition, words)
    prefix = before.rstrip()
    separator = words.separator if before else ""
    return Rendered(prefix, before[len(prefix) :] + separator + body)
