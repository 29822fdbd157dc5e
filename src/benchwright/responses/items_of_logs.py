"""Make items of the questions that logs contain."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.logs.options import are_letters, option_position
from benchwright.logs.sample import Log, Sample
from benchwright.responses.find_items import document_text, readings
from benchwright.responses.option_orders import plain_text
from benchwright.responses.prompt_matching import last_list
from benchwright.tables.items import Items


class _Question(NamedTuple):
    text: str
    choices: tuple[str, ...]
    subject: str


def items_of_logs(logs: Iterable[Log]) -> pd.DataFrame:
    """Return an `Items` table of all questions in logs, in the order in which they appear.

    Samples with the same question and options, in any order, are of one item, which has the text,
    the options and the gold of the first. Its id is the one that the sample states, else
    `<task>/<number of the sample>`. An item without options or without a known gold answer is
    open-ended. Where a log has only prompts, the prompt is the question, and the last list of
    lettered options in it are the options. Answers to perturbed copies make no item.

    Raises:
        InputError: there is no question.
    """
    rows: dict[tuple[str, tuple[str, ...], int], dict[str, Any]] = {}
    taken: set[str] = set()
    for log in logs:
        seen: dict[tuple[str, tuple[str, ...]], dict[str, int]] = {}
        for sample in log.samples():
            question = _question(sample, log)
            if sample.skipped or question is None or _is_perturbed(sample):
                continue
            text = (question.text, tuple(sorted(question.choices)))
            # A log may ask two items with one text; its repeats have the same number.
            turns = seen.setdefault(text, {})
            turn = turns.setdefault(sample.number, len(turns))
            if (*text, turn) not in rows:
                name = _name(_stated_name(sample) or f"{log.task}/{sample.number}", taken)
                rows[(*text, turn)] = _row(name, question, sample)
    if not rows:
        raise InputError("the logs have no questions")
    return pd.DataFrame(Items.validate(pd.DataFrame(list(rows.values()), columns=Items.columns())))


def _question(sample: Sample, log: Log) -> _Question | None:
    subject = log.task
    for text, choices, stated_subject in readings(sample, ()):
        return _Question(text, tuple(choices), stated_subject or subject)
    if sample.question:
        return _Question(sample.question, (), subject)
    if sample.prompt.strip():
        given = () if are_letters(sample.choices) else sample.choices
        return _Question(sample.prompt, given or tuple(last_list(sample.prompt)), subject)
    return None if sample.doc is None else _Question(document_text(sample.doc), (), subject)


def _is_perturbed(sample: Sample) -> bool:
    condition = None if sample.doc is None else sample.doc.get("condition")
    return isinstance(condition, str) and condition != "question"


def _stated_name(sample: Sample) -> str | None:
    name = None if sample.doc is None else sample.doc.get("item_id")
    return name if isinstance(name, str) and name else None


def _name(wanted: str, taken: set[str]) -> str:
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted}#{count}"
    taken.add(name)
    return name


def _row(name: str, question: _Question, sample: Sample) -> dict[str, Any]:
    gold = _gold(sample, question.choices)
    choices = list(question.choices) if gold else []
    blank = dict.fromkeys(Items.columns())
    return blank | {
        "item_id": name,
        "split": "test",
        "subject": question.subject,
        "question": question.text,
        "choices": choices,
        "answer": gold[0] if gold else -1,
        "answer_text": choices[gold[0]] if gold else "",
        "correct_set": list(gold),
        "content_hash": content_hash(question.text, choices),
    }


def _gold(sample: Sample, choices: Sequence[str]) -> tuple[int, ...]:
    if sample.gold:
        return tuple(option for option in sample.gold if option < len(choices))
    target = plain_text(sample.target)
    if sample.continuations is not None and target.isdigit():
        return (int(target),) if int(target) < len(choices) else ()
    named = option_position(target, [plain_text(choice) for choice in choices])
    return () if named < 0 else (named,)
