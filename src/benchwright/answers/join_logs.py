"""Join the answers of a log to items, and count what became of every sample."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchwright.answers.answer_rows import FAILED, LISTS, MISSING, to_share
from benchwright.answers.find_items import Place, find_items, stated_condition, stated_id
from benchwright.answers.item_index import ResponseIndex
from benchwright.answers.option_orders import Orders, how_asked, matched, order_of, plain_text
from benchwright.answers.tally import SAME_SCORE, Tally, different_texts, unknown_condition
from benchwright.core.errors import InputError
from benchwright.core.natural_order import natural_key
from benchwright.core.values import format_value
from benchwright.datasets.response_files import LoadedFile
from benchwright.logs.json_values import as_list, as_literal
from benchwright.logs.options import letter_position, option_code, options_of
from benchwright.logs.sample import INVALID, NO_MARK, Log, Mark, Sample
from benchwright.params.responses import ResponseFileParams
from benchwright.scoring.read_answer import read_answer

ForeignRuns = frozenset[tuple[Path, str]]
"""Runs, by the file with their results, with conditions whose texts differ from those of this run's
copies."""

_BY_LENGTH = ("acc_norm", "cloze_bytes")  # the metric and the style that divide by length
_ACCURACIES = ("", "acc", "accuracy", "exact_match")
_NO_TEXTS: dict[str, Any] = dict.fromkeys(("question", "prompt", "text"), "")
_NO_TEXTS |= {"choices": (), "doc": None, "contexts": None}
_BATCH = 256  # samples whose texts are in memory at once


def foreign_runs(files: Iterable[LoadedFile], index: ResponseIndex) -> ForeignRuns:
    """Return runs and conditions whose texts differ from those of this run's copies.

    A copy with the same name but another seed shares some items with this run's, mostly unaltered
    ones. These alone would be a biased selection, so the whole copy is excluded. All logs of a run
    are compared together.
    """
    stated: defaultdict[tuple[Path, str], list[tuple[str | None, str | None]]] = defaultdict(list)
    for log, spec in ((file.log, file.spec) for file in files if index.perturbed):
        for sample in log.samples() if log else ():
            condition = stated_condition(sample.doc) or spec.condition
            if log and condition in index.perturbed:
                stated[log.files[-1], condition].append(stated_id(sample.doc))
    return frozenset(key for key, texts in stated.items() if index.is_foreign(key[1], texts))


class _Joined(NamedTuple):
    """A sample with its item; `golds`, `read` and `order` are positions in the log's options."""

    sample: Sample  # without the texts by which its item was found
    condition: str
    place: Place
    orders: Orders
    golds: tuple[int, ...]  # options that may be right by the log, () if unknown
    read: int | None  # the option that the text states, −1 if none; None if it was not read
    order: list[int] | None = None  # of the continuations, once the style is known


def read_log(
    file: LoadedFile, log: Log, index: ResponseIndex, foreign: ForeignRuns = frozenset()
) -> tuple[dict[str, Any], Tally]:
    """Read a log: its rows, as `answer_rows.merge_files` takes them, and a tally of other samples.

    A sample with a condition is only compared with the items of that condition. Chosen options and
    log-likelihoods are put into the order of the item's options, by their texts. Samples without an
    answer make rows that are missing. Samples of `foreign` runs and conditions are excluded.

    Raises:
        InputError: the log is broken, has several scores to choose from, one that is lower for
            better answers, or scores outside its scale.
    """
    tally = Tally(file.name, log.format, models=1, model=str(file.spec.model))
    joined, samples = _join(file, log, index, foreign, tally)
    mark = choose_mark(samples, file.spec, log)
    metric = (mark or log.only_mark).metric
    if log.directions.get(metric) is False:
        raise InputError(
            f"{file.name}: {metric} is lower for better answers; choose another --metric"
        )
    if mark is not None:
        marked = {sample.number for sample in samples if mark in sample.marks}
        others = [s for s in samples if mark not in s.marks and s.marks and s.number in marked]
        tally.add_samples("doubled", f"duplicates from filters other than {mark.source}", others)
        left = set(map(id, others))
        joined = [
            row._replace(sample=_marked(row.sample, mark, file.spec.style))
            for row in joined
            if id(row.sample) not in left
        ]
        kept = (sample for sample in samples if id(sample) not in left)
        samples = [_marked(sample, mark, file.spec.style) for sample in kept]
    style = file.spec.style or log.style or _style(joined, tally)
    joined = [
        row._replace(sample=_settled(row, index, tally), order=order_of(row.orders, style))
        for row in joined
    ]
    scored = (row for row in joined if row.sample.logprobs and row.sample.outcome != "failed")
    unordered = [row.sample for row in scored if row.order is None]
    tally.add_samples("", "log-likelihoods ignored (unknown order of options)", unordered)
    tally.notes += log.notes
    _compare_scores(tally, file, log, mark or log.only_mark, samples)
    return _columns(file, joined, index, style, tally), tally


def choose_mark(samples: Sequence[Sample], spec: ResponseFileParams, log: Log) -> Mark | None:
    """Return the score of a log that counts; None if its samples have one score without a name.

    It is the one that is asked for, else the only one, the log's own main score, or `acc`.

    Raises:
        InputError: there is no such score, or several, listed with their means.
    """
    known = sorted({mark for sample in samples for mark in sample.marks})
    if not known:
        return None
    fits = [
        mark
        for mark in known
        if spec.metric in ("", mark.metric) and spec.filter in ("", mark.source)
    ]
    asked = fits
    for main in (log.main, Mark("acc")):
        own = [m for m in fits if main.metric in ("", m.metric) and main.source in ("", m.source)]
        fits = own if own and main != NO_MARK else fits
    if len(fits) == 1:
        return fits[0]
    values = {m: pd.Series([s.marks.get(m) for s in samples], dtype=float) for m in asked or known}
    means = ", ".join(f"{mark} (mean {of_mark.mean():.4g})" for mark, of_mark in values.items())
    problem = "several scores; choose one with --metric, --filter or --scorer"
    if not fits:
        problem = f"no score {Mark(spec.metric, spec.filter)}; there are"
    raise InputError(f"{spec.file}: {problem}: {means}")


def _marked(sample: Sample, mark: Mark, style: str) -> Sample:
    marked = sample._replace(correct=sample.marks.get(mark, math.nan))
    if mark.metric in _ACCURACIES:
        return marked
    if (mark.metric, style) == _BY_LENGTH:
        return marked._replace(chosen=-1)
    # Log-likelihoods and chosen option say whether an answer is right, and nothing of other scores.
    return marked._replace(logprobs=None, chosen=-1)


# --- items ---------------------------------------------------------------------------------------


def _join(
    file: LoadedFile, log: Log, index: ResponseIndex, foreign: ForeignRuns, tally: Tally
) -> tuple[list[_Joined], list[Sample]]:
    """Return the samples with an item, and all that ask one; count the others."""
    joined: list[_Joined] = []
    answered: list[Sample] = []
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
            is_foreign = (log.files[-1], condition) in foreign
            places, why = _places(asked, condition, index, file, is_foreign=is_foreign)
            for sample, place in zip(asked, places, strict=True):
                answered.append(sample._replace(**_NO_TEXTS))
                if place is not None:
                    orders = how_asked(sample, place.choices)
                    golds = _golds(sample, place.choices, orders)
                    read = _read(sample, place.choices)
                    joined.append(_Joined(answered[-1], condition, place, orders, golds, read))
                elif sample.outcome != "failed":
                    tally.add_samples("not_joined", why, [sample])
    return _in_whole_index(joined, index), answered


def _places(
    samples: Sequence[Sample],
    condition: str,
    index: ResponseIndex,
    file: LoadedFile,
    *,
    is_foreign: bool,
) -> tuple[list[Place | None], str]:
    """Return the items of samples of one condition, and what becomes of those without one."""
    items = index.of(condition)
    if items is None or is_foreign:
        why = unknown_condition if items is None else different_texts
        return [None] * len(samples), why(condition)
    task = "" if file.log is None else file.log.task
    fixed = condition in index.perturbed
    places = find_items(samples, items, file.mappings, task=task, as_perturbed=fixed)
    return places, "not joined"


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
    if not sample.text or not choices or sample.chosen != -1 or sample.outcome != "answered":
        return None
    option = read_answer(sample.text, choices).value
    return option if isinstance(option, int) else -1


def _in_whole_index(joined: Sequence[_Joined], index: ResponseIndex) -> list[_Joined]:
    """Return the samples with positions in the whole index.

    Items of one subject with equal texts are assigned to the samples with that text, in the same
    condition, by their numbers.
    """
    numbers: defaultdict[tuple[str, tuple[int, ...]], set[str]] = defaultdict(set)
    for row in joined:
        numbers[row.condition, row.place.sharing].add(row.sample.number)
    turns = {
        (*key, number): min(turn, len(key[1]) - 1)
        for key, of_key in numbers.items()
        if key[1]
        for turn, number in enumerate(sorted(of_key, key=natural_key))
    }
    placed = []
    for row in joined:
        position, sharing = row.place.position, row.place.sharing
        if sharing:
            position = sharing[turns[row.condition, sharing, row.sample.number]]
        place = row.place._replace(position=position + index.start(row.condition))
        placed.append(row._replace(place=place))
    return placed


def _item_order(place: Place, index: ResponseIndex) -> list[int] | None:
    """Return the item's index of each option of the log; None if the order is unknown."""
    choices = index.choices[place.position]
    if place.choices == choices:
        return list(range(len(choices)))
    return matched(map(plain_text, place.choices), map(plain_text, choices))


# --- answers -------------------------------------------------------------------------------------


def _settled(row: _Joined, index: ResponseIndex, tally: Tally) -> Sample:
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
        return sample._replace(chosen=row.read)
    tally.add_samples("", "marked otherwise than the text of the answer reads", [sample])
    return sample


def _style(joined: Sequence[_Joined], tally: Tally) -> str:
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


def _values(row: _Joined, index: ResponseIndex, style: str, *, differs: bool) -> dict[str, Any]:
    """Return the values of a sample by column; `differs` marks another gold than the item's."""
    sample, item_order, order = row.sample, _item_order(row.place, index), None
    unread, failed = sample.outcome == "unreadable", sample.outcome == "failed"
    if not failed and row.order is not None and item_order is not None:
        order = [item_order[option] for option in row.order]
    logprobs, lengths, chosen = _ordered(sample.logprobs, order), None, -1
    if style in ("cloze", "cloze_bytes") and sample.continuations:
        texts = (text.removeprefix(" ") for text in sample.continuations)
        lengths = _ordered([max(1, len(text.encode())) for text in texts], order)
    if logprobs is None and sample.outcome == "answered" and item_order:
        named = options_of(sample.chosen)
        inside = all(option < len(item_order) for option in named)
        chosen = option_code(item_order[option] for option in named) if inside else -1
    # Correctness under another gold is ignored; what was chosen remains valid.
    silent = failed or (differs and (logprobs is not None or chosen != -1))
    answered = "ok" if chosen != -1 else "none"
    return {
        "position": row.place.position, "condition": row.condition, "repeat": sample.repeat,
        "correct": 0.0 if unread else math.nan if silent else sample.correct,
        "prediction": chosen, "logprobs": logprobs, "option_bytes": lengths,
        "option_tokens": _ordered(sample.option_tokens, order),
        "extraction": MISSING if failed else FAILED if unread else answered,
        "by_hash": row.place.by_text,
    }  # fmt: skip


def _ordered(values: Sequence[Any] | None, order: Sequence[int] | None) -> list[Any] | None:
    """Return the values of continuations by option; None if the order is unknown."""
    if values is None or order is None:
        return None
    of_option = dict(zip(order, values, strict=True))
    return [of_option[option] for option in range(len(order))]


def _columns(
    file: LoadedFile, joined: Sequence[_Joined], index: ResponseIndex, style: str, tally: Tally
) -> dict[str, Any]:
    """Return the columns of the samples, in the items' order of options."""
    columns: defaultdict[str, list[Any]] = defaultdict(list)
    differing: set[str] = set()
    for row in joined:
        position, item_order = row.place.position, _item_order(row.place, index)
        gold = {item_order[option] for option in row.golds} if item_order else set()
        differs = bool(gold and index.single[position]) and index.answer[position] not in gold
        if differs:  # the log has another gold than the item
            differing.add(f"{index.ids[position]} × {file.spec.model}")
        for name, value in _values(row, index, style, differs=differs).items():
            columns[name].append(value)
    tally.add("contradicting", "gold differs", len(differing), differing)
    n = len(joined)
    known = {
        "item": index.ids.to_numpy(dtype=object)[np.array(columns["position"], dtype=np.intp)],
        "shots": np.full(n, file.spec.shots),
        **dict.fromkeys(("p_answer", "p_prediction"), np.full(n, np.nan)),
    }
    for name, text in (("style", style), ("model", file.spec.model), ("source", file.name)):
        known[name] = np.full(n, text, dtype=object)
    lists = {name: pd.Series(columns.pop(name, []), dtype=object).to_numpy() for name in LISTS}
    rows = {name: np.array(values) for name, values in columns.items()}
    marks = np.array(columns["correct"], dtype=np.float64)
    correct = to_share(file, marks, known["item"], known["model"])
    return {**rows, **lists, **known, "correct": correct}


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
