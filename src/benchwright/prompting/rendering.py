"""The one renderer: a question as text, in each style and condition."""

import string
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from benchwright.params.benchmark import PromptParams

LABELS = tuple(string.ascii_uppercase)


class Question(NamedTuple):
    """What rendering needs of an item or a demonstration."""

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
    """The rows of an `Items` or `Demonstrations` table."""
    names = ("item_id", "subject", "question", "choices", "answer", "content_hash", "answer_text")
    columns: list[Any] = [items[name] for name in names]
    explained = items["explanation"].where(items["explanation"].notna(), "")
    return [
        Question(item_id, subject, text, tuple(choices), int(answer), content, right, explanation)
        for item_id, subject, text, choices, answer, content, right, explanation in zip(
            *columns, explained, strict=True
        )
    ]


def render_question(question: Question, style: str, condition: str, words: PromptParams) -> str:
    """The question up to where the answer begins, without white space at its end.

    `letters` and `generate` list the options, `cloze` does not; `choices_only` drops the question.
    Under `question_only` the text ends where the text of the first option would begin, so that a
    model that remembers the options writes them.
    """
    lines = []
    if condition != "choices_only":
        lines.append(words.question_prefix + question.text)
    if condition == "question_only":
        return words.line_separator.join([*lines, _option(words, LABELS[0], "").rstrip()])
    if style != "cloze":
        lines.extend(
            _option(words, label, choice)
            for label, choice in zip(LABELS, question.choices, strict=False)
        )
    if style == "generate":
        lines.append(words.instruction if question.choices else words.open_instruction)
    if words.answer_prefix:
        lines.append(words.answer_prefix)
    return words.line_separator.join(filter(None, lines))


def _option(words: PromptParams, label: str, choice: str) -> str:
    return words.option_template.replace("{label}", label, 1).replace("{choice}", choice, 1)


def continuations(question: Question, style: str, label_space: bool) -> tuple[str, ...]:
    """What is scored after the text: the options' labels (`letters`) or the options (`cloze`).

    Nothing where the model answers in its own words (`generate`).
    """
    if style == "generate":
        return ()
    space = " " if label_space else ""
    shown = LABELS[: len(question.choices)] if style == "letters" else question.choices
    return tuple(space + text for text in shown)


def render_demonstration(
    question: Question, style: str, condition: str, words: PromptParams, label_space: bool
) -> str:
    """A worked example: the question as the model will see its own, with the right answer.

    In the style `generate` the explanation comes before the answer, where there is one. Under
    `question_only` the options follow, and the letter of the right one.
    """
    if condition == "question_only":
        return render_demonstration(question, "letters", "question", words, label_space)
    body = render_question(question, style, condition, words)
    if style == "generate":
        told = (question.explanation.partition("####")[0].strip(), _statement(question, words))
        return body + " " + " ".join(filter(None, told))
    return body + continuations(question, style, label_space)[question.answer]


def _statement(question: Question, words: PromptParams) -> str:
    if not question.choices:
        return words.open_statement.replace("{answer}", question.answer_text, 1)
    return words.statement.replace("{label}", LABELS[question.answer], 1)


def render_prompt(
    question: Question,
    shown: Sequence[str],
    style: str,
    condition: str,
    words: PromptParams,
) -> Rendered:
    """Description, rendered demonstrations and question; the prefix never ends in white space.

    Tokenizers join the end of a line with the white space after it, so that a prefix cut after
    the blank line would be other tokens than those of the whole prompt.
    """
    description = words.description.replace("{subject}", question.subject.replace("_", " "))
    before = words.separator.join(filter(None, (description.rstrip(), *shown)))
    body = render_question(question, style, condition, words)
    prefix = before.rstrip()
    return Rendered(prefix, before[len(prefix) :] + (words.separator if before else "") + body)
