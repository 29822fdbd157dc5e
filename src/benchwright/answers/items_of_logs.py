"""Items made of the questions that logs contain, while their answers are read."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.answers.find_items import (
    UNCLEAR,
    Content,
    Place,
    document_text,
    stated_id,
    stated_subject,
)
from benchwright.answers.join_logs import JoinedLog, JoinedSample
from benchwright.answers.loaded_file import LoadedFile
from benchwright.answers.prompt_matching import Frame, PromptIndex, listing
from benchwright.answers.row_layouts import Reading, readings, right_options
from benchwright.answers.tally import unknown_condition
from benchwright.core.content_hash import content_hash
from benchwright.core.option_letters import LETTERS
from benchwright.logs.options import are_letters
from benchwright.logs.sample import Log, Sample
from benchwright.tables.items import Items

_MOST_COLUMNS = 8  # named in a reason
_QUESTION = "question"
_BY_LENGTH = ("cloze_bytes", "cloze_tokens")
_MOST_CONTRARY = 0.01  # share of answers whose marks may contradict options and golds


class LogItems(NamedTuple):
    """An `Items` table."""

    items: pd.DataFrame
    left_out: dict[str, tuple[str, str]]  # log and reason of items that no benchmark would ask
    tasks: dict[str, str]  # the task of each item, as the first log names it


class ItemsOfLogs:
    """Items of the logs that were read so far, in the order in which they appear.

    Attributes:
        rows: of an `Items` table.
        choices, right, answer, single: of each item, as in `ResponseIndex`.
        left_out: log and reason of items that no benchmark would ask.
        tasks: the task of each item, as the first log names it.
    """

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.choices: list[tuple[str, ...]] = []
        self.right: list[tuple[int, ...]] = []
        self.answer: list[int] = []
        self.single: list[bool] = []
        self.left_out: dict[str, tuple[str, str]] = {}
        self.tasks: dict[str, str] = {}
        self._by_name: dict[str, int] = {}
        self._by_content: defaultdict[Content, dict[str, int]] = defaultdict(dict)

    def names_of(self, positions: Sequence[int]) -> NDArray[np.object_]:
        """Return the ids (n,) of items."""
        return np.array([self.rows[at]["item_id"] for at in positions], dtype=object)

    def table(self) -> LogItems:
        """Return the items of all logs."""
        table = pd.DataFrame(self.rows, columns=Items.columns())
        return LogItems(pd.DataFrame(Items.validate(table)), self.left_out, self.tasks)

    def contents(self) -> list[Content]:
        """Return the distinct contents of the items, in order."""
        return list(self._by_content)

    def by_number(self, content: Content) -> dict[str, int]:
        """Return the items with a content by the number that the first log gives each."""
        return self._by_content.get(content, {})

    def with_hash(self, name: str | None, text_hash: str | None) -> int:
        """Return the item with an id, if its content has a hash, else −1."""
        position = self._by_name.get(name or "", -1)
        same = position >= 0 and self.rows[position]["content_hash"] == text_hash
        return position if same else -1

    def add(self, content: Content, number: str, row: dict[str, Any], log: Log) -> int:
        """Add an item, whose name is told apart from those that are taken."""
        wanted = row["item_id"]
        others = (f"{wanted}#{which}" for which in count(2))
        name = next(name for name in chain([wanted], others) if name not in self.tasks)
        position = len(self.rows)
        right = tuple(sorted(row["correct_set"]))
        self.rows.append(row | {"item_id": name})
        self.choices.append(tuple(row["choices"]))
        self.right.append(right)
        self.answer.append(row["answer"])
        self.single.append(row["answer"] >= 0 and len(right) <= 1)
        self.tasks[name] = log.task
        self._by_name[name] = position
        self._by_content[content][number] = position
        return position


class KnownPrompts:
    """The contents of items, to be found in prompts."""

    def __init__(self, items: ItemsOfLogs) -> None:
        self._index = PromptIndex((), ())
        self._contents: list[Content] = []
        for content in items.contents():
            place = next(iter(items.by_number(content).values()))
            self.add(content, items.choices[place])

    def add(self, content: Content, choices: Sequence[str]) -> None:
        """Add a content, whose options are empty where they are unknown."""
        self._index.add(content[0], choices)
        self._contents.append(content)

    def find(self, sample: Sample) -> tuple[Content, tuple[str, ...]] | None:
        """Return the content that a prompt asks, with its options as shown."""
        found = self._index.find(sample.prompt, sample.choices)
        if found is None:
            return None
        return self._contents[found.positions[0]], found.choices or sample.choices


class LogPlaces:
    """The places of one log's samples among the items of logs, which it may extend.

    Samples with the same question and options, in any order, are of one item, with the text, the
    options and the gold of the first. Its id is the one that the sample states, else
    `<task>/<number of the sample>`. Where a log asks a content under several numbers of its own,
    each number is an item, and samples of other logs pair with it by that number alone: without it
    they stay unpaired. An item without options or known gold is open-ended.

    Args:
        items: the items of the logs before.
        log: the log whose samples are placed.
        prompts: the contents that are found in prompts; None leaves samples with only a prompt
            aside, and adds their prompts to `frame`.
        frame: what the prompts of the log share.
    """

    def __init__(
        self,
        items: ItemsOfLogs,
        log: Log,
        prompts: KnownPrompts | None = None,
        frame: Frame | None = None,
    ) -> None:
        self.index = items
        self.frame = frame or Frame()
        self._log = log
        self._prompts = prompts
        # by content and number: the row that the first sample makes, None if the item is known
        self._first: dict[tuple[Content, str], tuple[dict[str, Any], str] | None] = {}
        self._options: dict[Content, bool] = {}

    def places(
        self, samples: Sequence[Sample], condition: str, file: LoadedFile
    ) -> tuple[list[Place | None], str]:
        """Return the places of samples, and what becomes of those without one.

        Until all samples of a log are placed, a place has a content and no position.
        """
        if condition != _QUESTION:
            return [self._stated_place(each) for each in samples], unknown_condition(condition)
        return [self._place(each) for each in samples], "not joined"

    def _stated_place(self, sample: Sample) -> Place | None:
        """Return the place of a sample that states the id and the hash of a known item."""
        position = self.index.with_hash(*stated_id(sample.doc))
        if position < 0:
            return None
        return Place(position, self.index.choices[position], by_text=False)

    def _place(self, sample: Sample) -> Place | None:
        condition = None if sample.doc is None else sample.doc.get("condition")
        if isinstance(condition, str) and condition != _QUESTION:  # of a copy, without its hash
            return None
        reading = next(readings(sample), Reading(sample.question) if sample.question else None)
        if reading is None and sample.doc is not None and not sample.prompt:
            reading = Reading(document_text(sample.doc))
        if reading is not None:
            return self._place_of(sample, reading)
        if not sample.prompt:
            return None
        if self._prompts is None:
            self.frame.add(sample.prompt)
            return None
        return self.place_of_prompt(sample)

    def place_of_prompt(self, sample: Sample, *, last: bool = False) -> Place | None:
        """Return the place of the question that a prompt asks.

        It is `UNCLEAR` where a prompt without a known question may have more than a question; at
        `last` the prompt makes an item all the same.
        """
        found = None if self._prompts is None else self._prompts.find(sample)
        if found is not None:
            content, choices = found
            self._first.setdefault((content, sample.number), None)
            return Place(-1, choices, by_text=True, content=content)
        reading, reason = _of_prompt(sample, self.frame)
        if reason and not last:
            return UNCLEAR
        return self._place_of(sample, reading, reason)

    def _place_of(self, sample: Sample, reading: Reading, reason: str = "") -> Place:
        content = _content(sample, reading)
        known = self.index.by_number(content)
        if content not in self._options:
            if known:
                self._options[content] = bool(self.index.choices[next(iter(known.values()))])
            else:
                self._options[content] = bool(right_options(sample, reading))
                if self._prompts is not None:
                    self._prompts.add(content, reading.choices if self._options[content] else ())
        key = (content, sample.number)
        if self._first.get(key) is None:
            new = sample.number not in known
            self._first[key] = _row(sample, self._log, reading, reason) if new else None
        choices = reading.choices if self._options[content] else ()
        stated, text_hash = stated_id(sample.doc)
        if stated is not None and text_hash != content_hash(reading.question, choices):
            stated = None
        return Place(-1, choices, by_text=True, content=content, stated=stated or "")

    def settle(self, joined: JoinedLog) -> list[JoinedSample]:
        """Make the items that a log asks first, and return its samples with their positions."""
        numbers = Counter(content for content, _ in self._first)
        known = {content: dict(self.index.by_number(content)) for content in numbers}
        places: dict[tuple[Content, str], int] = {}
        for (content, number), first in self._first.items():
            of_content = known[content]
            if numbers[content] == 1 and len(of_content) == 1:
                places[content, number] = next(iter(of_content.values()))
            elif number in of_content:
                places[content, number] = of_content[number]
            elif first is not None:
                row, reason = first
                position = self.index.add(content, number, row, self._log)
                places[content, number] = position
                if reason:
                    name = self.index.rows[position]["item_id"]
                    self.index.left_out[name] = str(self._log.files[0]), reason
        settled: list[JoinedSample] = []
        for asked in joined.samples:
            place = asked.place
            position = place.position
            if place.content is not None:
                position = places.get((place.content, asked.sample.number), -1)
            if position >= 0:
                by_text = place.by_text and place.stated != self.index.rows[position]["item_id"]
                place = place._replace(position=position, by_text=by_text)
                settled.append(asked._replace(place=place))
            elif asked.sample.outcome != "failed":
                joined.tally.add_samples("not_joined", "not joined", [asked.sample])
        return settled

    def checked(self, columns: dict[str, Any], joined: JoinedLog) -> dict[str, Any]:
        """Return the rows of the log by its marks alone, if these contradict its golds.

        What the log says of options and golds is read here; its marks are its own. Where more than
        one in a hundred disagrees, the reading is wrong, and no benchmark would ask the items.
        """
        if not len(columns["position"]) or joined.file.spec.style in _BY_LENGTH:
            return columns
        contrary, judged, score = _contrary_rows(columns, self.index)
        if contrary <= _MOST_CONTRARY * judged:
            return columns
        own = float(np.nanmean(columns["correct"]))
        reason = (
            f"{contrary:,} of {judged:,} answers are marked otherwise than options and golds read "
            f"here: {own:.1%} are right by the marks, {score:.1%} by this reading"
        )
        joined.tally.notes.append(f"{reason}; the marks count")
        joined.tally.is_notable = True
        for position in set(columns["position"].tolist()):
            name = self.index.rows[position]["item_id"]
            self.index.left_out.setdefault(name, (str(self._log.files[0]), reason))
        n = len(columns["position"])
        nothing = np.full(n, None, dtype=object)
        bare = {"logprobs": nothing, "several": nothing, "prediction": np.full(n, -1)}
        return {**columns, **bare}


def _contrary_rows(columns: Mapping[str, Any], items: ItemsOfLogs) -> tuple[int, int, float]:
    """Return how many marks contradict options and golds, of how many, and the score by these."""
    contrary = 0
    judged: list[bool] = []
    for row, position in enumerate(columns["position"]):
        mark = columns["correct"][row]
        logprobs = columns["logprobs"][row]
        chosen = columns["prediction"][row]
        if logprobs is not None:
            best = max(logprobs)
            chosen = logprobs.index(best) if logprobs.count(best) == 1 else -1
        if chosen < 0 or mark not in (0, 1) or not items.single[position]:
            continue
        is_right = chosen == items.answer[position]
        judged.append(is_right)
        contrary += is_right != bool(mark)
    return contrary, len(judged), sum(judged) / max(len(judged), 1)


def _content(sample: Sample, reading: Reading) -> Content:
    """Return what makes two samples ask the same item: question, options, and what is beside."""
    options = sorted(unicodedata.normalize("NFC", text) for text in reading.choices)
    question = unicodedata.normalize("NFC", reading.question)
    if sample.beside:
        question = f"{question}\x1f{sample.beside}"
    return question, tuple(options)


def _row(sample: Sample, log: Log, reading: Reading, reason: str) -> tuple[dict[str, Any], str]:
    """Return the row of an item, and why no benchmark would ask it, "" if one would."""
    right = right_options(sample, reading)
    choices = list(reading.choices) if right else []
    row = dict.fromkeys(Items.columns()) | {
        "item_id": _wanted_name(sample, log),
        "split": "test",
        "subject": reading.subject or stated_subject(log.task) or log.task,
        "question": reading.question,
        "choices": choices,
        "answer": right[0] if right else -1,
        "answer_text": choices[right[0]] if right else "",
        "correct_set": list(right),
        "content_hash": content_hash(reading.question, choices),
    }
    return row, reason or _unfit(sample, reading, right)


def _wanted_name(sample: Sample, log: Log) -> str:
    """Return the stated id of a sample, else its task and number."""
    stated = None if sample.doc is None else sample.doc.get("item_id")
    if isinstance(stated, str) and stated:
        return stated
    within = "" if sample.number.startswith(f"{log.task}/") else f"{log.task}/"
    return f"{within}{sample.number}"


def _of_prompt(sample: Sample, frame: Frame) -> tuple[Reading, str]:
    """Return the question in a prompt, and why it may not be the question alone."""
    question, reason = frame.question(sample.prompt)
    given = () if are_letters(sample.choices) else sample.choices
    found = listing(sample.prompt, given)
    if found is None:
        return Reading(question, given), reason
    return Reading(question, given or found.choices, labels=found.labels), reason


def _unfit(sample: Sample, reading: Reading, right: Sequence[int]) -> str:
    """Return why an item is no multiple-choice question, "" if it is one."""
    if not reading.choices:
        columns = ", ".join(sorted(sample.doc or {})[:_MOST_COLUMNS])
        return f"no options known (columns {columns})" if columns else "no options known"
    if len(reading.choices) > len(LETTERS):
        return f"more than {len(LETTERS)} options"
    return "" if right else "no known gold answer"
