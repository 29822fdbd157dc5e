"""Make items of the questions that logs contain."""

from collections.abc import Iterator, Sequence
from itertools import chain, count
from typing import Any, NamedTuple

import pandas as pd

from benchwright.answers.find_items import document_text, stated_subject
from benchwright.answers.prompt_matching import Frame, PromptIndex, listing
from benchwright.answers.row_layouts import Reading, readings, right_options
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.values import LETTERS
from benchwright.logs.options import are_letters
from benchwright.logs.sample import Log, Sample
from benchwright.tables.items import Items

_MOST_COLUMNS = 8  # named in a reason


class LogItems(NamedTuple):
    """An `Items` table."""

    items: pd.DataFrame
    left_out: dict[str, tuple[str, str]]  # log and reason of items that no benchmark would ask
    tasks: dict[str, str]  # the task of each item, as the first log names it


def collect_items(logs: Sequence[Log]) -> LogItems:
    """Return the items of all questions in logs, in the order in which they appear.

    Samples with the same question and options, in any order, are of one item, with the text, the
    options and the gold of the first. Its id is the one that the sample states, else
    `<task>/<number of the sample>`. An item without options or known gold is open-ended. Of
    prompts, what those of a log share (instruction, demonstrations) and the list of options are
    cut off. Answers to perturbed copies make no item.

    Raises:
        InputError: there is no question.
    """
    made = _Items()
    problem: InputError | None = None
    of_prompts: list[tuple[Log, Frame]] = []
    for log in logs:
        try:
            frame = made.add_questions(log)
        except InputError as error:  # a broken log makes no items, and costs no other one
            problem = problem or error
        else:
            of_prompts += [(log, frame)] if frame.count else []
    if of_prompts:
        made.add_prompts(of_prompts)
    if not made.rows:
        raise problem or InputError("the logs have no questions")
    table = pd.DataFrame(list(made.rows.values()), columns=Items.columns())
    return LogItems(pd.DataFrame(Items.validate(table)), made.left_out, made.tasks)


def _asked(log: Log) -> Iterator[tuple[Sample, Reading | None]]:
    """Yield the samples that are no perturbed copies, and what they ask; None for a prompt."""
    for sample in log.samples():
        condition = None if sample.doc is None else sample.doc.get("condition")
        if sample.skipped or (isinstance(condition, str) and condition != "question"):
            continue
        reading = next(readings(sample), Reading(sample.question) if sample.question else None)
        if reading is None and sample.doc is not None and not sample.prompt:
            reading = Reading(document_text(sample.doc))
        if reading is not None or sample.prompt:
            yield sample, reading


def _of_prompt(sample: Sample, frame: Frame) -> tuple[Reading, str]:
    """Return the question in a prompt, and why it may not be the question alone."""
    question, reason = frame.question(sample.prompt)
    given = () if are_letters(sample.choices) else sample.choices
    found = listing(sample.prompt, given)
    choices, labels = ((), ()) if found is None else (found.choices, found.labels)
    return Reading(question, given or choices, labels=labels), reason


class _Items:
    """Rows of an `Items` table by question, options and turn."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, tuple[str, ...], int], dict[str, Any]] = {}
        self.left_out: dict[str, tuple[str, str]] = {}
        self.tasks: dict[str, str] = {}
        self._turns: dict[tuple[int, str, tuple[str, ...]], dict[str, int]] = {}

    def add_questions(self, log: Log) -> Frame:
        """Add the questions of a log, and return what its samples with only a prompt share.

        Raises:
            InputError: the log is broken; then nothing is added.
        """
        before, frame = len(self.rows), Frame()
        try:
            for sample, reading in _asked(log):
                if reading is None:
                    frame.add(sample.prompt)
                else:
                    self.add(log, sample, reading)
        except InputError:
            for key in list(self.rows)[before:]:
                name = self.rows.pop(key)["item_id"]
                self.left_out.pop(name, None)
            raise
        return frame

    def add_prompts(self, logs: Sequence[tuple[Log, Frame]]) -> None:
        """Add the questions in prompts that contain no known one; unclear ones come last."""
        texts = [(row["question"], row["choices"]) for row in self.rows.values()]
        known = PromptIndex([q for q, _ in texts], [choices for _, choices in texts])
        unclear: list[tuple[Log, Sample, Reading, str]] = []
        for log, frame in logs:
            for sample, whole in _asked(log):
                if whole is not None or known.find(sample.prompt, sample.choices):
                    continue
                reading, reason = _of_prompt(sample, frame)
                if reason:
                    unclear.append((log, sample, reading, reason))
                elif self.add(log, sample, reading):
                    known.add(reading.question, reading.choices)
        for log, sample, reading, reason in unclear:
            if not known.find(sample.prompt, sample.choices):
                self.add(log, sample, reading, reason)

    def add(self, log: Log, sample: Sample, reading: Reading, reason: str = "") -> bool:
        """Add the item of a sample, and return whether it is new."""
        text = reading.question, tuple(sorted(reading.choices))
        # A log may ask two items with one text; its repeats have the same number.
        turns = self._turns.setdefault((id(log), *text), {})
        turn = turns.setdefault(sample.number, len(turns))
        if (*text, turn) in self.rows:
            return False
        right = right_options(sample, reading)
        choices = list(reading.choices) if right else []
        name = self._name(log, sample)
        self.rows[(*text, turn)] = dict.fromkeys(Items.columns()) | {
            "item_id": name,
            "split": "test",
            "subject": reading.subject or stated_subject(log.task) or log.task,
            "question": reading.question,
            "choices": choices,
            "answer": right[0] if right else -1,
            "answer_text": choices[right[0]] if right else "",
            "correct_set": list(right),
            "content_hash": content_hash(reading.question, choices),
        }
        if reason := reason or _unfit(sample, reading, right):
            self.left_out[name] = str(log.files[0]), reason
        return True

    def _name(self, log: Log, sample: Sample) -> str:
        """Return the stated id, else task and number, told apart from names that are taken."""
        within = "" if sample.number.startswith(f"{log.task}/") else f"{log.task}/"
        stated = None if sample.doc is None else sample.doc.get("item_id")
        wanted = stated if isinstance(stated, str) and stated else f"{within}{sample.number}"
        others = (f"{wanted}#{number}" for number in count(2))
        name = next(name for name in chain([wanted], others) if name not in self.tasks)
        self.tasks[name] = log.task
        return name


def _unfit(sample: Sample, reading: Reading, right: Sequence[int]) -> str:
    """Return why an item is no multiple-choice question, "" if it is one."""
    if not reading.choices:
        columns = ", ".join(sorted(sample.doc or {})[:_MOST_COLUMNS])
        return f"no options known (columns {columns})" if columns else "no options known"
    if len(reading.choices) > len(LETTERS):
        return f"more than {len(LETTERS)} options"
    return "" if right else "no known gold answer"
