"""Join the answers of a log to items, and count what became of every sample."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.answers.answer_rows import FAILED, LISTS, MISSING, to_share
from benchwright.answers.find_items import (
    UNCLEAR,
    Place,
    find_items,
    stated_condition,
    stated_id,
)
from benchwright.answers.item_index import ResponseIndex
from benchwright.answers.loaded_file import LoadedFile
from benchwright.answers.option_orders import Orders, how_asked, matched, order_of, plain_text
from benchwright.answers.source import Source, source_of_log
from benchwright.answers.tally import SAME_SCORE, Tally, different_texts, unknown_condition
from benchwright.core.errors import InputError
from benchwright.core.natural_order import natural_key
from benchwright.core.printable import format_value
from benchwright.logs.direction import is_lower_better
from benchwright.logs.json_values import as_list, as_literal
from benchwright.logs.options import letter_position
from benchwright.logs.sample import INVALID, NO_MARK, Log, Mark, Sample
from benchwright.scoring.read_answer import read_answer

_BY_LENGTH = ("acc_norm", "cloze_bytes")  # the metric and the style that divide by length
_ACCURACIES = ("", "acc", "accuracy", "exact_match")
_NO_TEXTS: dict[str, Any] = dict.fromkeys(("question", "prompt", "text"), "")
_NO_TEXTS |= {"choices": (), "doc": None, "contexts": None}
_SENTINEL = -1.0  # the mark of samples that a metric does not judge
_BATCH = 256  # samples whose texts are in memory at once


class JoinedSample(NamedTuple):
    """A sample with its place; `golds`, `read` and `order` are positions in the log's options."""

    sample: Sample  # without the texts by which its item was found
    condition: str
    place: Place
    orders: Orders
    golds: tuple[int, ...]  # options that may be right by the log, () if unknown
    read: int | None  # the option that the text states, −1 if none; None if it was not read
    order: list[int] | None = None  # of the continuations, once the style is known


@dataclass
class JoinedLog:
    """A log whose samples are placed; `asked` has all samples that ask an item."""

    file: LoadedFile
    log: Log
    tally: Tally
    samples: list[JoinedSample] = field(default_factory=list)
    asked: list[Sample] = field(default_factory=list)


class Index(Protocol):
    """Items by position."""

    @property
    def choices(self) -> Sequence[tuple[str, ...]]:
        """Texts of the options."""

    @property
    def right(self) -> Sequence[tuple[int, ...]]:
        """Sorted indices of the right options."""

    @property
    def answer(self) -> Any:
        """Index of the gold option, −1 if open-ended."""

    @property
    def single(self) -> Any:
        """True if exactly one option is right."""

    def names_of(self, positions: Sequence[int]) -> NDArray[np.object_]:
        """Return the ids (n,) of items."""


class Places(Protocol):
    """Where the samples of a log are asked."""

    @property
    def index(self) -> Index:
        """The items."""

    def places(
        self, samples: Sequence[Sample], condition: str, file: LoadedFile
    ) -> tuple[list[Place | None], str]:
        """Return the places of samples, and what becomes of those without one."""

    def settle(self, joined: JoinedLog) -> list[JoinedSample]:
        """Return the samples of a whole log with the positions of their items."""

    def checked(self, columns: dict[str, Any], joined: JoinedLog) -> dict[str, Any]:
        """Return the rows of a whole log, whose golds may be those that the log itself reads."""


ForeignRuns = frozenset[tuple[Path, str]]
"""Runs, by the file with their results, with conditions whose texts differ from those of this run's
copies."""


def foreign_runs(files: Iterable[LoadedFile], index: ResponseIndex) -> ForeignRuns:
    """Return runs and conditions whose texts differ from those of this run's copies.

    A copy with the same name but another seed shares some items with this run's, mostly unaltered
    ones. These alone would be a biased selection, so the whole copy is excluded. All logs of a run
    are compared together.
    """
    if not index.perturbed:
        return frozenset()
    stated: defaultdict[tuple[Path, str], list[tuple[str | None, str | None]]] = defaultdict(list)
    for file in files:
        for sample in file.log.samples() if file.log else ():
            condition = stated_condition(sample.doc) or file.spec.condition
            if file.log and condition in index.perturbed:
                stated[file.log.files[-1], condition].append(stated_id(sample.doc))
    return frozenset(key for key, texts in stated.items() if index.is_foreign(key[1], texts))


class KnownPlaces:
    """The places of samples among items that are known, such as those of a benchmark."""

    def __init__(self, index: ResponseIndex, foreign: ForeignRuns = frozenset()) -> None:
        self.index = index
        self._foreign = foreign

    def places(
        self, samples: Sequence[Sample], condition: str, file: LoadedFile
    ) -> tuple[list[Place | None], str]:
        """Return the places of samples of one condition.

        A sample is only compared with the items of its condition; samples of `foreign` runs and
        conditions have no place.
        """
        none: list[Place | None] = [None] * len(samples)
        items = self.index.of(condition)
        if items is None:
            return none, unknown_condition(condition)
        if file.log is not None and (file.log.files[-1], condition) in self._foreign:
            return none, different_texts(condition)
        task = "" if file.log is None else file.log.task
        fixed = condition in self.index.perturbed
        places = find_items(samples, items, file.mappings, task=task, as_perturbed=fixed)
        return places, "not joined"

    def settle(self, joined: JoinedLog) -> list[JoinedSample]:
        """Return the samples with positions in the whole index.

        Items of one subject with equal texts are assigned to the samples with that text, in the
        same condition, by their numbers.
        """
        numbers: defaultdict[tuple[str, tuple[int, ...]], set[str]] = defaultdict(set)
        for row in joined.samples:
            numbers[row.condition, row.place.sharing].add(row.sample.number)
        turns: dict[tuple[str, tuple[int, ...], str], int] = {}
        for (condition, sharing), of_key in numbers.items():
            for turn, number in enumerate(sorted(of_key, key=natural_key) if sharing else ()):
                turns[condition, sharing, number] = min(turn, len(sharing) - 1)
        placed: list[JoinedSample] = []
        for row in joined.samples:
            position = row.place.position
            sharing = row.place.sharing
            if sharing:
                position = sharing[turns[row.condition, sharing, row.sample.number]]
            place = row.place._replace(position=position + self.index.start(row.condition))
            placed.append(row._replace(place=place))
        return placed

    def checked(self, columns: dict[str, Any], joined: JoinedLog) -> dict[str, Any]:
        """Return the rows as they are, since the key of the known items counts."""
        return columns


# --- the samples of a log -------------------------------------------------------------------------


def join_log(file: LoadedFile, log: Log, places: Places) -> JoinedLog:
    """Read a log once, and place its samples; count those that have no place.

    Raises:
        InputError: the log is broken.
    """
    tally = Tally(file.name, log.format, models=1, model=str(file.spec.model))
    joined = JoinedLog(file, log, tally)
    samples = log.samples()
    while batch := list(islice(samples, _BATCH)):
        tally.rows += len(batch)
        of_condition: defaultdict[str, list[Sample]] = defaultdict(list)
        for sample in batch:
            if sample.skipped:
                tally.add_samples("dropped", f"dropped ({sample.skipped})", [sample])
                continue
            if sample.outcome == "failed":
                tally.add_samples("failed", f"failed ({log.failure})", [sample])
            of_condition[stated_condition(sample.doc) or file.spec.condition].append(sample)
        for condition, asked in of_condition.items():
            found, why = places.places(asked, condition, file)
            for sample, place in zip(asked, found, strict=True):
                bare = sample._replace(**_NO_TEXTS)
                joined.asked.append(bare)
                if place is not None:
                    joined.samples.append(place_sample(sample, bare, condition, place))
                elif sample.outcome != "failed":
                    tally.add_samples("not_joined", why, [sample])
    return joined


def place_sample(sample: Sample, bare: Sample, condition: str, place: Place) -> JoinedSample:
    """Return a sample with its place, and what its texts say about the options there."""
    if place is UNCLEAR:
        return JoinedSample(sample, condition, place, orders={}, golds=(), read=None)
    orders = how_asked(sample, place.choices)
    golds = _golds(sample, place.choices, orders)
    read = _read(sample, place.choices)
    return JoinedSample(bare, condition, place, orders=orders, golds=golds, read=read)


def without_texts(sample: Sample) -> Sample:
    """Return a sample without the texts by which its item was found."""
    return sample._replace(**_NO_TEXTS)


def rows_of_log(joined: JoinedLog, places: Places) -> tuple[dict[str, Any], Source]:
    """Return the rows of a log, as `answer_rows.merge_files` takes them, and what it states.

    Chosen options and log-likelihoods are put into the order of the item's options, by their texts.
    Samples without an answer make rows that are missing.

    Raises:
        InputError: the log has several scores to choose from, one that is lower for better answers,
            or scores outside its scale.
    """
    file = joined.file
    log = joined.log
    tally = joined.tally
    index = places.index
    samples = joined.asked
    rows = places.settle(joined)
    mark = choose_mark(samples, file, log)
    if mark is None and samples and not any(map(_has_answer, samples)) and log.scores:
        names = ", ".join(map(str, log.scores))
        raise InputError(f"{file.name}: {names}: of the whole corpus; no sample has a mark")
    metric = (mark or log.only_mark).metric
    if is_lower_better(metric, log.directions) and not file.lower_is_better:
        raise InputError(
            f"{file.name}: {metric} is lower for better answers; choose another --metric, or turn "
            "it round with --lower-is-better"
        )
    if mark is not None:
        _note_others(mark, samples, joined)
        rows, samples = _of_mark(mark, rows, joined)
        rows, samples = _without_sentinels(mark, rows, samples, joined=joined)
    style = file.spec.style or log.style or _style(rows, tally)
    rows = [
        row._replace(sample=_settled(row, index, tally), order=order_of(row.orders, style))
        for row in rows
    ]
    unordered = [row.sample for row in rows if _is_unordered(row)]
    tally.add_samples("", "log-likelihoods ignored (unknown order of options)", unordered)
    tally.notes += log.notes
    _compare_scores(tally, file, log, mark or log.only_mark, samples)
    source = replace(
        source_of_log(file, log, mark or log.only_mark, style),
        positions=np.array([row.place.position for row in rows], dtype=np.intp),
        numbers=np.array([intern(row.sample.number) for row in rows], dtype=object),
    )
    columns = _columns(file, rows, index, style, tally)
    return places.checked(columns, joined), source


def _of_mark(
    mark: Mark, rows: Sequence[JoinedSample], joined: JoinedLog
) -> tuple[list[JoinedSample], list[Sample]]:
    """Return rows and samples with their score of this name, without those of other filters."""
    style = joined.file.spec.style
    marked = {sample.number for sample in joined.asked if mark in sample.marks}

    def is_other(sample: Sample) -> bool:
        return bool(sample.marks) and mark not in sample.marks and sample.number in marked

    what = f"duplicates from filters other than {mark.source}"
    joined.tally.add_samples("doubled", what, filter(is_other, joined.asked))
    kept = [row for row in rows if not is_other(row.sample)]
    samples = [sample for sample in joined.asked if not is_other(sample)]
    return (
        [row._replace(sample=_marked(row.sample, mark, style)) for row in kept],
        [_marked(sample, mark, style) for sample in samples],
    )


def _without_sentinels(
    mark: Mark, rows: list[JoinedSample], samples: list[Sample], *, joined: JoinedLog
) -> tuple[list[JoinedSample], list[Sample]]:
    """Leave out samples with the mark −1 where the log's own mean leaves them out.

    Tasks such as RULER's, whose metrics are lengths, give −1 to documents of another length.
    """
    marked = [sample for sample in samples if sample.correct == _SENTINEL]
    others = [each.correct for each in samples if each.correct >= 0]
    if not marked or not others:
        return rows, samples
    stated = joined.log.scores.get(mark, math.nan)
    if not mark.metric.isdigit() and not abs(stated - float(np.mean(others))) <= SAME_SCORE:
        return rows, samples
    joined.tally.add_samples("dropped", f"dropped (−1: not of {mark.metric})", marked)
    kept = [row for row in rows if row.sample.correct != _SENTINEL]
    return kept, [sample for sample in samples if sample.correct != _SENTINEL]


def _is_unordered(row: JoinedSample) -> bool:
    scored = bool(row.sample.logprobs) and row.sample.outcome != "failed"
    return scored and row.order is None


def choose_mark(samples: Sequence[Sample], file: LoadedFile, log: Log) -> Mark | None:
    """Return the score of a log that counts; None if its samples have one score without a name.

    It is the one that is asked for, else the only one, the log's own main score, or `acc`.

    Raises:
        InputError: there is no such score, or several, listed with their means.
    """
    known = sorted({mark for sample in samples for mark in sample.marks})
    if not known:
        return None
    spec = file.spec
    asked = [
        mark
        for mark in known
        if spec.metric in ("", mark.metric) and spec.filter in ("", mark.source)
    ]
    asked = file.scorers.among(file.metrics.among(asked, part=0), part=1)
    fits = asked
    if len(fits) > 1 and log.main == NO_MARK and log.first_counts:
        in_order = dict.fromkeys(mark for sample in samples for mark in sample.marks)
        fits = [next(mark for mark in in_order if mark in fits)]
    for main in (log.main, Mark("acc")):
        own = [m for m in fits if main.metric in ("", m.metric) and main.source in ("", m.source)]
        if own and main != NO_MARK:
            fits = own
    if len(fits) == 1:
        return fits[0]
    means = _means(asked or known, samples)
    problem = "several scores; choose one with --metric, --filter or --scorer"
    if not fits:
        names = (*file.metrics.names, *file.scorers.names, spec.metric, spec.filter)
        problem = f"no score {', '.join(filter(None, names))}; there are"
    raise InputError(f"{spec.file}: {problem}: {means}")


def _means(marks: Sequence[Mark], samples: Sequence[Sample]) -> str:
    """Return scores with their means over samples."""
    parts = []
    for mark in marks:
        values = pd.Series([sample.marks.get(mark) for sample in samples], dtype=float)
        parts.append(f"{mark} (mean {values.mean():.4g})")
    return ", ".join(parts)


def _has_answer(sample: Sample) -> bool:
    """Return whether a sample has anything by which it is right, wrong or missing."""
    scored = sample.logprobs is not None or not math.isnan(sample.correct)
    return scored or sample.names_option or bool(sample.text) or sample.outcome != "answered"


def _note_others(mark: Mark, samples: Sequence[Sample], joined: JoinedLog) -> None:
    """Note the scores of a log that were not asked for, where one of several counts."""
    others = sorted({other for sample in samples for other in sample.marks} - {mark})
    asked = joined.file.metrics.names or joined.file.scorers.names
    if not others or asked or joined.file.spec.metric or joined.file.spec.filter:
        return
    same = [other for other in others if other.metric == mark.metric]
    if same:
        means = _means(same, samples)
        joined.tally.notes.append(f"{mark} counts, the log's first, beside {means}")
        joined.tally.is_notable = True


def _marked(sample: Sample, mark: Mark, style: str) -> Sample:
    marked = sample._replace(correct=sample.marks.get(mark, math.nan))
    if mark.metric in _ACCURACIES:
        return marked
    if (mark.metric, style) == _BY_LENGTH:
        return marked.choosing(())
    # Log-likelihoods and chosen option say whether an answer is right, and nothing of other scores.
    return marked.choosing(())._replace(logprobs=None)


def _golds(sample: Sample, choices: Sequence[str], orders: Orders) -> tuple[int, ...]:
    """Return every option, in the log's order, that may be its gold.

    A `target` with several continuations is a 0-based index (or a list) or the text of one; for a
    written answer it may also be the letter, or a 1-based index.
    """
    if sample.gold or not sample.target:
        return tuple(option for option in sample.gold if option < len(choices))
    written, text = sample.continuations is None, plain_text(sample.target)
    among = choices if sample.continuations is None else sample.continuations
    value = as_literal(text)
    named = {each for each in (as_list(value) or [value]) if type(each) is int}
    named |= {each - 1 for each in named if written}
    named |= {letter_position(text, len(choices))} if written else set()
    named |= {place for place, option in enumerate(among) if plain_text(option) == text}
    order = range(len(among)) if written else order_of(orders, "") or ()
    return tuple(order[place] for place in named if 0 <= place < len(order))


def _read(sample: Sample, choices: Sequence[str]) -> int | None:
    """Return the option that a written answer states, −1 if none; None if the log names one."""
    if sample.text == INVALID:
        return -1
    if not sample.text or not choices or sample.names_option or sample.outcome != "answered":
        return None
    option = read_answer(sample.text, choices).value
    return option if isinstance(option, int) else -1


def _item_order(place: Place, index: Index) -> list[int] | None:
    """Return the item's index of each option of the log; None if the order is unknown."""
    choices = index.choices[place.position]
    if place.choices == choices:
        return list(range(len(choices)))
    return matched(map(plain_text, place.choices), map(plain_text, choices))


# --- answers -------------------------------------------------------------------------------------


def _settled(row: JoinedSample, index: Index, tally: Tally) -> Sample:
    """Return a sample with the option that its text states, unless the log marks it otherwise.

    A text without an option is unreadable unless the log marks it as right; log-likelihoods of
    other options than the item's are no answer.
    """
    sample, count = row.sample, len(row.place.choices)
    if sample.logprobs is not None and count and len(sample.logprobs) != count:
        why = "dropped (number of log-likelihoods differs from options)"
        tally.add_samples("dropped", why, [sample])
        return sample._replace(outcome="failed")
    if row.read == -1 and not sample.correct > 0:
        return sample._replace(outcome="unreadable")
    if row.read is None or row.read == -1:
        return sample
    order = _item_order(row.place, index)
    right = order is not None and order[row.read] in index.right[row.place.position]
    if math.isnan(sample.correct) or (sample.correct > 0) == right:
        return sample.choosing((row.read,))
    tally.add_samples("", "marked otherwise than the text of the answer reads", [sample])
    return sample


def _style(joined: Sequence[JoinedSample], tally: Tally) -> str:
    """Return the style that the continuations of every sample allow, "" if there is none."""
    known = [row.orders.keys() - {""} for row in joined]
    known = [styles for styles in known if styles]
    for style in ("generate", "letters", "cloze"):
        if known and all(style in styles for styles in known):
            return style
    if joined:
        tally.notes.append(
            "style unknown: not all continuations are option letters, or all option texts, such as "
            f"{format_value((joined[0].sample.continuations or ('',))[0])}"
        )
    return ""


def _values(row: JoinedSample, index: Index, style: str, *, differs: bool) -> dict[str, Any]:
    """Return the values of a sample by column; `differs` marks another gold than the item's."""
    sample = row.sample
    item_order = _item_order(row.place, index)
    is_unread = sample.outcome == "unreadable"
    has_failed = sample.outcome == "failed"
    order = None
    if not has_failed and row.order is not None and item_order is not None:
        order = [item_order[option] for option in row.order]
    logprobs = _ordered(sample.logprobs, order)
    lengths = None
    if style in ("cloze", "cloze_bytes") and sample.continuations:
        texts = (text.removeprefix(" ") for text in sample.continuations)
        lengths = _ordered([max(1, len(text.encode())) for text in texts], order)
    named: tuple[int, ...] = ()
    if logprobs is None and sample.outcome == "answered" and item_order:
        named = _in_item_order(sample, item_order)
    # Correctness under another gold is ignored; what was chosen remains valid.
    is_silent = has_failed or (differs and (logprobs is not None or bool(named)))
    correct = math.nan if is_silent else sample.correct
    state = "ok" if named else "none"
    if is_unread:
        correct, state = 0.0, FAILED
    elif has_failed:
        state = MISSING
    return {
        "position": row.place.position,
        "condition": row.condition,
        "repeat": sample.repeat,
        "correct": correct,
        "prediction": named[0] if len(named) == 1 else -1,
        "several": named if len(named) > 1 else None,
        "logprobs": logprobs,
        "option_bytes": lengths,
        "option_tokens": _ordered(sample.option_tokens, order),
        "extraction": state,
        "by_hash": row.place.by_text,
    }


def _in_item_order(sample: Sample, item_order: Sequence[int]) -> tuple[int, ...]:
    """Return the options that an answer names, in the item's order; () if one is none of them."""
    named = sample.several or ((sample.chosen,) if sample.chosen >= 0 else ())
    if any(option >= len(item_order) for option in named):
        return ()
    return tuple(sorted(item_order[option] for option in named))


def _ordered(values: Sequence[Any] | None, order: Sequence[int] | None) -> list[Any] | None:
    """Return the values of continuations by option; None if the order is unknown."""
    if values is None or order is None:
        return None
    of_option = dict(zip(order, values, strict=True))
    return [of_option[option] for option in range(len(order))]


def _columns(
    file: LoadedFile, joined: Sequence[JoinedSample], index: Index, style: str, tally: Tally
) -> dict[str, Any]:
    """Return the columns of the samples, in the items' order of options."""
    columns: defaultdict[str, list[Any]] = defaultdict(list)
    names = index.names_of([row.place.position for row in joined])
    differing: set[str] = set()
    for name, row in zip(names, joined, strict=True):
        position = row.place.position
        item_order = _item_order(row.place, index)
        gold = {item_order[option] for option in row.golds} if item_order else set()
        differs = bool(gold and index.single[position]) and index.answer[position] not in gold
        if differs:  # the log has another gold than the item
            differing.add(f"{name} × {file.spec.model}")
        for column, value in _values(row, index, style, differs=differs).items():
            columns[column].append(value)
    tally.add("contradicting", "gold differs", len(differing), differing)
    n = len(joined)
    known = {
        "item": names,
        "shots": np.full(n, file.spec.shots),
        **dict.fromkeys(("p_answer", "p_prediction"), np.full(n, np.nan)),
    }
    for column, text in (("style", style), ("model", file.spec.model), ("source", file.name)):
        known[column] = np.full(n, text, dtype=object)
    objects = {
        column: pd.Series(columns.pop(column, []), dtype=object).to_numpy()
        for column in ("several", *LISTS)
    }
    rows = {column: np.array(values) for column, values in columns.items()}
    rows["position"] = np.array(columns["position"], dtype=np.intp)
    marks = np.array(columns["correct"], dtype=np.float64)
    correct = to_share(file, marks, known["item"], known["model"])
    return {**rows, **objects, **known, "correct": correct}


def _compare_scores(
    tally: Tally, file: LoadedFile, log: Log, mark: Mark, samples: Sequence[Sample]
) -> None:
    """Set the score of a log, and note where it is not the mean of its marks."""
    low, high = file.spec.scale
    marks = [sample for sample in samples if not math.isnan(sample.correct)]
    values = pd.Series([(sample.correct - low) / (high - low) for sample in marks], dtype=float)
    mean = float(values.mean())
    tally.log_score = mean if marks else None
    if mark not in log.scores:
        return
    tally.log_score = (log.scores[mark] - low) / (high - low)
    if abs(tally.log_score - mean) > SAME_SCORE:
        tally.notes.append(
            f"{mark} of the log is {tally.log_score:.4f}, the mean of its {len(marks)} marks "
            f"{mean:.4f}"
        )
