"""The one renderer: a question as text, in each style and condition."""

import string
from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from benchwright.params.prompt import PromptParams

LABELS = tuple(string.ascii_uppercase)


class Question(NamedTuple):
    """What rendering needs of an item or a demonstration."""

    item_id: str
    subject: str
    text: str
    choices: tuple[str, ...]
    answer: int
    content_hash: str


class Rendered(NamedTuple):
    """A prompt in two parts: `prefix` (description and demonstrations) and `text` (the item)."""

    prefix: str
    text: str


def questions(items: pd.DataFrame) -> list[Question]:
    """The rows of an `Items` or `Demonstrations` table."""
    columns: list[Any] = [
        items[name] for name in ("item_id", "subject", "question", "choices", "answer")
    ]
    return [
        Question(item_id, subject, text, tuple(choices), int(answer), content_hash)
        for item_id, subject, text, choices, answer, content_hash in zip(
            *columns, items["content_hash"], strict=True
        )
    ]


def render_question(question: Question, style: str, condition: str, words: PromptParams) -> str:
    """The question up to where the answer begins, without white space at its end.

    `letters` lists the options, `cloze` does not; `choices_only` drops the question.
    """
    lines = []
    if condition == "question":
        lines.append(words.question_prefix + question.text)
    if style == "letters":
        lines.extend(
            words.option_template.replace("{label}", label, 1).replace("{choice}", choice, 1)
            for label, choice in zip(LABELS, question.choices, strict=False)
        )
    if words.answer_prefix:
        lines.append(words.answer_prefix)
    return words.line_separator.join(lines)


def continuations(question: Question, style: str, label_space: bool) -> tuple[str, ...]:
    """What is scored after the text: the options' labels (`letters`) or the options (`cloze`)."""
    space = " " if label_space else ""
    shown = LABELS[: len(question.choices)] if style == "letters" else question.choices
    return tuple(space + text for text in shown)


def render_demonstration(
    question: Question, style: str, condition: str, words: PromptParams, label_space: bool
) -> str:
    """A worked example: the question as the model will see its own, with the right answer."""
    answer = continuations(question, style, label_space)[question.answer]
    return render_question(question, style, condition, words) + answer


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
