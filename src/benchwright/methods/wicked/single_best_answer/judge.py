"""A chat model that says whether an item has a single best answer (WiCkeD, appendix A)."""

import re
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Literal

import pandas as pd

from benchwright.compute.asking import Ask

_TASK_WITH_OPTIONS = """\
Some multiple-choice questions have exactly one correct option: all other options are wrong. \
Others have a best option: another option is also acceptable, only less fitting, so that it would \
become the right answer if the best one were taken away.

Which kind is the question below? Reply with 1 if another option would be a defensible answer once \
the marked one is taken away, and with 0 if all other options are plainly wrong. Reply with the \
digit alone.

Question: {question}
{options}
Marked as right: {gold}

Class:"""

_TASK_QUESTION_ONLY = """\
Some multiple-choice questions can have exactly one correct option among those given: all other \
options are wrong. Others ask for the most fitting option: were it left out, another one would be \
correct.

Which kind is the question below? Reply with 1 if it asks for the most fitting of several \
acceptable options, and with 0 otherwise. Reply with the digit alone.

Question: {question}

Class:"""

_SINGLE = re.compile(r"[\s\"'`*(\[]*(?:(?:class|label|answer)\s*(?:is|:|=)\s*)?\**\s*([01])\b(.*)")
# "1. The question …" and "1) …" may be a list's first entry, "0.5" and "0/1" are other numbers.
_LIST_OR_NUMBER = re.compile(r"[.)]\s*\w|,\d|\s*[-–/]\s*\d")
_OTHER = re.compile(r"(?<![\d.])[01](?![\d.])")


def judge_prompt(
    question: str, choices: Sequence[str], answer: int, prompt: Literal["options", "paper"]
) -> str:
    """What the judge is told: the task, the item with its options, the gold one marked.

    `paper` shows the question alone, as the paper does.
    """
    if prompt == "paper":
        return _TASK_QUESTION_ONLY.format(question=question)
    letters = ascii_uppercase
    options = "\n".join(f"{letters[place]}. {choice}" for place, choice in enumerate(choices))
    return _TASK_WITH_OPTIONS.format(question=question, options=options, gold=letters[answer])


def parse_label(reply: str | None) -> int | None:
    """The 0 or 1 that a reply starts with, perhaps after "Class:"; None where it says neither.

    A reply that goes on to the other digit ("0 or 1", "1 … no, 0"), or that may be a numbered list
    ("1. The question …"), says nothing.
    """
    if reply is None:
        return None
    seen = _SINGLE.match(reply.strip().replace("\n", " ").lower())
    if seen is None or _LIST_OR_NUMBER.match(seen[2]):
        return None
    others = {digit for digit in _OTHER.findall(seen[2]) if digit != seen[1]}
    return None if others else int(seen[1])


def judge_items(
    items: pd.DataFrame, ask: Ask, prompt: Literal["options", "paper"], attempts: int
) -> list[int | None]:
    """A label for each item, in their order; None where no attempt gave one that can be read."""
    texts = [
        judge_prompt(question, list(choices), int(answer), prompt)
        for question, choices, answer in zip(
            items["question"], items["choices"], items["answer"], strict=True
        )
    ]
    found: list[int | None] = [None] * len(texts)
    for attempt in range(1, attempts + 1):
        open_rows = [row for row, label in enumerate(found) if label is None]
        if not open_rows:
            break
        replies = ask([texts[row] for row in open_rows], attempt)
        for row, reply in zip(open_rows, replies, strict=True):
            found[row] = parse_label(reply)
    return found
