"""Make items of the questions that logs contain."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import pandas as pd

from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.logs.options import are_letters, option_position
from benchwright.logs.sample import Log, Sample
from benchwright.responses.find_items import document_text, readings
from benchwright.responses.option_orders import plain_text
from benchwright.responses.prompt_matching import PromptIndex, last_list
from benchwright.tables.items import Items

_Key = tuple[str, tuple[str, ...], int]


class _Question(NamedTuple):
    text: str
    choices: tuple[str, ...]
    subject: str


def items_of_logs(logs: Sequence[Log]) -> pd.DataFrame:
    """Return an `Items` table of all questions in logs, in the order in which they appear.

    Samples with the same question and options, in any order, are of one item, which has the text,
    the options and the gold of the first. Its id is the one that the sample states, else
    `<task>/<number of the sample>`. An item without options or without a known gold answer is
    open-ended. Where a log has only prompts, the prompt is the question unless it contains that of
    another item, and the last list of lettered options in it are the options. Answers to perturbed
    copies make no item.

    Raises:
        InputError: there is no question.
    """
    rows: dict[_Key, dict[str, Any]] = {}
    taken: set[str] = set()
    problem: InputError | None = None
    whole: list[Log] = []
    for log in logs:
        before = set(rows)
        try:
            _add(rows, taken, log, of_prompts=False)
            whole.append(log)
        except InputError as error:  # a broken log makes no items, and costs no other one
            problem = problem or error
            rows = {key: row for key, row in rows.items() if key in before}
    known = PromptIndex(
        [row["question"] for row in rows.values()], [row["choices"] for row in rows.values()]
    )
    for log in whole:
        _add(rows, taken, log, of_prompts=True, known=known)
    if not rows:
        raise problem or InputError("the logs have no questions")
    return pd.DataFrame(Items.validate(pd.DataFrame(list(rows.values()), columns=Items.columns())))


def _add(
    rows: dict[_Key, dict[str, Any]],
    taken: set[str],
    log: Log,
    *,
    of_prompts: bool,
    known: PromptIndex | None = None,
) -> None:
    """Add the items of a log: those of its questions, or those of samples with only a prompt."""
    seen: dict[tuple[str, tuple[str, ...]], dict[str, int]] = {}
    for sample in log.samples():
        if sample.skipped or _is_perturbed(sample) or _has_only_prompt(sample) != of_prompts:
            continue
        question = _question(sample, log)
        if question is None or (known and known.find(sample.prompt, sample.choices)):
            continue
        text = (question.text, tuple(sorted(question.choices)))
        # A log may ask two items with one text; its repeats have the same number.
        turns = seen.setdefault(text, {})
        turn = turns.setdefault(sample.number, len(turns))
        if (*text, turn) not in rows:
            rows[(*text, turn)] = _row(_name(sample, log, taken), question, sample)


def _has_only_prompt(sample: Sample) -> bool:
    return bool(sample.prompt) and not sample.question and next(readings(sample, ()), None) is None


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


def _name(sample: Sample, log: Log, taken: set[str]) -> str:
    """Return the stated id, else task and number, told apart from names that are taken."""
    within = "" if sample.number.startswith(f"{log.task}/") else f"{log.task}/"
    wanted = _stated_name(sample) or f"{within}{sample.number}"
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
