"""Join the answers of a log to items, and count what became of every sample."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.natural_order import natural_key
from benchwright.core.values import format_value
from benchwright.core.verbatim import no_rows
from benchwright.datasets.response_files import LoadedFile
from benchwright.logs.lm_eval import run_of
from benchwright.logs.options import letter_position
from benchwright.logs.sample import NO_MARK, Log, Mark, Sample
from benchwright.params.responses import ResponseFileParams
from benchwright.responses.answer_rows import FAILED, MISSING, ROWS, check_rows, constant, name_rows
from benchwright.responses.answer_tables import different_texts, unknown_condition
from benchwright.responses.calibration import best_options, scores_of
from benchwright.responses.find_items import Place, find_items, stated_condition, stated_id
from benchwright.responses.item_index import Compared, ResponseIndex
from benchwright.responses.option_orders import Orders, how_asked, matched, order_of, plain_text
from benchwright.responses.scales import to_share
from benchwright.responses.tally import EXAMPLES, Tally

ForeignRuns = frozenset[tuple[str, str]]
"""Runs, with conditions whose texts differ from those of this run's copies."""

_BY_LENGTH = ("acc_norm", "cloze_bytes")  # the metric and the style that divide by length
_ACCURACIES = ("", "acc", "accuracy", "exact_match")
_NUMBER = re.compile(r"[0-9]{1,4}")
_OPTION_LIST = re.compile(r"\[\s*[0-9]{1,4}(?:\s*,\s*[0-9]{1,4})*\s*\]")
_NO_TEXTS: Any = {"question": "", "prompt": "", "choices": (), "doc": None, "contexts": None}
_LENGTHS = ("option_bytes", "option_tokens")
_BATCH = 256  # samples whose texts are in memory at once
_SAME_SCORE = 5e-4  # tools round their scores to three or four digits


def foreign_runs(files: Iterable[LoadedFile], index: ResponseIndex) -> ForeignRuns:
    """Return runs and conditions whose texts differ from those of this run's copies.

    A copy with the same name but another seed shares some items with this run's, mostly unaltered
    ones. These alone would be a biased selection, so the whole copy is excluded. All logs of a run
    are compared together.
    """
    totals: defaultdict[tuple[str, str], Compared] = defaultdict(lambda: Compared(0, 0))
    for file in files if index.perturbed else ():
        if file.log is None:
            continue
        stated: defaultdict[str, list[tuple[str | None, str | None]]] = defaultdict(list)
        for sample in file.log.samples():
            condition = stated_condition(sample.doc) or file.spec.condition
            if condition in index.perturbed:
                stated[condition].append(stated_id(sample.doc))
        for condition, pairs in stated.items():
            compared = index.compare_texts(condition, *zip(*pairs, strict=True))
            key = run_of(file.name), condition
            totals[key] = Compared(*map(sum, zip(totals[key], compared, strict=True)))
    return frozenset(key for key, total in totals.items() if total.is_foreign())


class _Joined(NamedTuple):
    sample: Sample  # without the texts by which its item was found
    condition: str
    place: Place
    orders: Orders
    order: list[int] | None = None  # of the options in the log, once the style is known


class _Skipped(Tally):
    """A tally of samples without a row; `layout` is the model."""

    def samples(self, what: str, samples: Sequence[Sample], counter: str = "dropped") -> None:
        named = sorted(f"doc {sample.number} × {self.layout}" for sample in samples)
        self.add(counter, what, len(samples), named[:EXAMPLES])


def read_log(
    file: LoadedFile, index: ResponseIndex, foreign: ForeignRuns = frozenset()
) -> tuple[pd.DataFrame, Tally]:
    """Read a log: the joined responses, one row per item and repeat, and a tally of all samples.

    Items are found by `find_items`; a sample with a condition is only compared with the items of
    that condition. Options are compared by text: chosen options and log-likelihoods are reordered
    to the item's options. Samples without an answer make rows that are missing.

    Args:
        file: a log.
        index: the items and their copies.
        foreign: runs and conditions whose samples are excluded.

    Raises:
        InputError: the log is broken, has several scores to choose from, or scores outside its
            scale.
    """
    if file.log is None:
        raise ValueError(f"{file.name} was not loaded")
    skipped = _Skipped(file.name, str(file.spec.model))
    joined, samples = _join(file, _asked(file.log, skipped), index, foreign, skipped)
    mark = choose_mark(samples, file.spec, file.log)
    if mark is not None:
        marked = {sample.number for sample in samples if mark in sample.marks}
        others = [s for s in samples if mark not in s.marks and s.marks and s.number in marked]
        skipped.samples(f"duplicates from filters other than {mark.source}", others, "doubled")
        left = set(map(id, others))
        joined = [
            row._replace(sample=_marked(row.sample, mark, file.spec.style))
            for row in joined
            if id(row.sample) not in left
        ]
        samples = [
            _marked(sample, mark, file.spec.style) for sample in samples if id(sample) not in left
        ]
    tally = Tally(file.name, file.log.format)
    rows = None
    if joined:
        joined = _with_outcome(joined, skipped)
        style = file.spec.style or file.log.style or _style(joined, skipped)
        joined = _ordered(joined, style, skipped)
        differing = _differing_gold(joined, index)
        made, names = _rows(file, joined, index, style, differing)
        rows = check_rows(made, names, [], [], tally, index)
        pairs = zip(joined, differing, strict=True)
        differ = sorted({row.place.position for row, differs in pairs if differs})
        named = [f"{index.ids[position]} × {file.spec.model}" for position in differ]
        tally.add("contradicting", "gold differs", len(differ), named)
    rows = no_rows(ROWS) if rows is None else rows
    tally.absorb(skipped)
    tally.notes += file.log.notes
    tally.layout, tally.models, tally.rows = file.log.format, 1, skipped.rows
    tally.unreadable = int((rows["extraction"] == FAILED).sum())
    _compare_scores(tally, file, mark, samples, rows, index)
    return rows, tally


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
    means = ", ".join(f"{mark} (mean {_mean(samples, mark):.4g})" for mark in asked or known)
    if fits:
        problem = "several scores; choose one with --metric, --filter or --scorer"
    else:
        wanted = Mark(spec.metric, spec.filter)
        problem = f"no score {wanted}; there are"
    raise InputError(f"{spec.file}: {problem}: {means}")


def _mean(samples: Sequence[Sample], mark: Mark) -> float:
    values = [sample.marks[mark] for sample in samples if mark in sample.marks]
    return float(np.nanmean(values)) if values and not np.isnan(values).all() else math.nan


def _marked(sample: Sample, mark: Mark, style: str) -> Sample:
    marked = sample._replace(correct=sample.marks.get(mark, math.nan))
    if mark.metric in _ACCURACIES:
        return marked
    if (mark.metric, style) == _BY_LENGTH:
        return marked._replace(chosen=-1)
    # Log-likelihoods and chosen option say whether an answer is right, and nothing of other scores.
    return marked._replace(logprobs=None, chosen=-1)


def _asked(log: Log, skipped: _Skipped) -> Iterator[Sample]:
    """Yield the samples that ask an item; count all, and at the end report the others."""
    failed: list[Sample] = []
    others: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in log.samples():
        skipped.rows += 1
        if sample.skipped:
            others[sample.skipped].append(Sample(sample.number))
            continue
        if sample.outcome == "failed":
            failed.append(Sample(sample.number))
        yield sample
    for reason, of_reason in others.items():
        skipped.samples(f"dropped ({reason})", of_reason)
    skipped.samples(f"failed ({log.failure})", failed, "failed")


def _join(
    file: LoadedFile,
    samples: Iterator[Sample],
    index: ResponseIndex,
    foreign: ForeignRuns,
    skipped: _Skipped,
) -> tuple[list[_Joined], list[Sample]]:
    """Return the samples with an item, and all, in the order of the log; count the others.

    Texts are dropped batch by batch.
    """
    joined: list[_Joined] = []
    answered: list[Sample] = []
    lost: defaultdict[str, dict[str, list[Sample]]] = defaultdict(dict)
    while batch := list(islice(samples, _BATCH)):
        slim = [sample._replace(**_NO_TEXTS) for sample in batch]
        answered += slim
        of_batch: dict[int, _Joined] = {}
        conditions = [stated_condition(sample.doc) or file.spec.condition for sample in batch]
        for condition in sorted(set(conditions)):
            at = [row for row, name in enumerate(conditions) if name == condition]
            items = index.of(condition)
            if items is None or (run_of(file.name), condition) in foreign:
                why = unknown_condition if items is None else different_texts
                kept = [slim[row] for row in at if batch[row].outcome != "failed"]
                lost[condition].setdefault(why(condition), []).extend(kept)
                continue
            as_perturbed = condition in index.perturbed
            places = find_items(
                [batch[row] for row in at],
                items,
                file.mappings,
                task=file.log.task if file.log is not None else "",
                as_perturbed=as_perturbed,
            )
            for row, place in zip(at, places, strict=True):
                if place is None:
                    if batch[row].outcome != "failed":
                        lost[condition].setdefault("not joined", []).append(slim[row])
                else:
                    orders = how_asked(batch[row], place.choices)
                    of_batch[row] = _Joined(slim[row], condition, place, orders)
        joined += [row for _, row in sorted(of_batch.items())]
    for _, unjoined in sorted(lost.items()):
        for what, of_reason in unjoined.items():
            skipped.samples(what, of_reason, "not_joined")
    return assign_positions(joined, index), answered


def assign_positions(joined: Sequence[_Joined], index: ResponseIndex) -> list[_Joined]:
    """Return the samples with positions in the whole index.

    Items of one subject with equal texts are assigned to the samples with that text, in the same
    condition, by their numbers.
    """
    numbers: defaultdict[tuple[str, tuple[int, ...]], set[str]] = defaultdict(set)
    for row in joined:
        if row.place.sharing:
            numbers[row.condition, row.place.sharing].add(row.sample.number)
    turns = {
        (*key, number): min(turn, len(key[1]) - 1)
        for key, of_key in numbers.items()
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


def _with_outcome(joined: Sequence[_Joined], skipped: _Skipped) -> list[_Joined]:
    """Mark samples without an answer, or with log-likelihoods of other options, as failed."""
    rows, uneven, silent = [], [], []
    for row in joined:
        sample, n_choices = row.sample, len(row.place.choices)
        unmarked = math.isnan(sample.correct) and sample.chosen < 0 and sample.outcome == "answered"
        if sample.logprobs is not None and n_choices and len(sample.logprobs) != n_choices:
            uneven.append(sample)
        elif unmarked and not any(row.orders.values()):
            silent.append(sample)
        else:
            rows.append(row)
            continue
        rows.append(row._replace(sample=sample._replace(outcome="failed")))
    skipped.samples("dropped (number of log-likelihoods differs from options)", uneven)
    skipped.samples("dropped (no response)", silent)
    return rows


def _ordered(joined: Sequence[_Joined], style: str, skipped: _Skipped) -> list[_Joined]:
    rows = [row._replace(order=order_of(row.orders, style)) for row in joined]
    unordered = [
        f"doc {r.sample.number} × {skipped.layout}"
        for r in rows
        if r.sample.logprobs is not None and r.order is None and r.sample.outcome != "failed"
    ]
    what = "log-likelihoods ignored (unknown order of options)"
    skipped.report(what, len(unordered), unordered)
    return rows


def _style(joined: Sequence[_Joined], skipped: _Skipped) -> str:
    """Return the style that the continuations of every sample allow, "" if there is none."""
    known = [row.orders.keys() - {""} for row in joined]
    known = [styles for styles in known if styles]
    for style in ("generate", "letters", "cloze"):
        if known and all(style in styles for styles in known):
            return style
    if known:
        counts = Counter(" or ".join(sorted(styles)) for styles in known)
        kinds = ", ".join(f"{style} in {count}" for style, count in sorted(counts.items()))
        skipped.notes.append(f"style unknown: the continuations have several styles ({kinds})")
        return ""
    first = joined[0].sample
    example = (first.continuations or ("",))[0]
    skipped.notes.append(
        f"style unknown: continuations such as {format_value(example)} (doc {first.number}) are "
        "neither option letters nor option texts"
    )
    return ""


# --- the gold of a log ---------------------------------------------------------------------------


def _differing_gold(joined: Sequence[_Joined], index: ResponseIndex) -> list[bool]:
    """Return whether each sample's gold differs from the item's."""
    differs = []
    for row in joined:
        position, order = row.place.position, _item_order(row.place, index)
        targets = set() if order is None else {order[option] for option in _targets(row)}
        known = bool(targets) and bool(index.single[position])
        differs.append(known and int(index.answer[position]) not in targets)
    return differs


def _targets(row: _Joined) -> set[int]:
    """Return every option, in the log's order, that may be its gold.

    A `target` with several continuations is a 0-based index (or a list) or the text of one; for a
    written answer it may also be the letter, or a 1-based index.
    """
    sample, count = row.sample, len(row.place.choices)
    if sample.gold or not sample.target:
        return {option for option in sample.gold if option < count}
    continuations = sample.continuations
    text = plain_text(sample.target)
    among = row.place.choices if continuations is None else continuations
    targets = {i for i, option in enumerate(among) if plain_text(option) == text}
    numbers = [int(n) for n in re.findall(r"[0-9]{1,4}", text)]
    if _NUMBER.fullmatch(text) or _OPTION_LIST.fullmatch(text):
        targets.update(numbers)
    if continuations is None:
        if _NUMBER.fullmatch(text):
            targets.update(number - 1 for number in numbers)
        targets.add(letter_position(text, count))
    targets = {option for option in targets if 0 <= option < len(among)}
    if continuations is None:
        return targets
    return set() if row.order is None else {row.order[option] for option in targets}


def _item_order(place: Place, index: ResponseIndex) -> list[int] | None:
    """Return the item's index of each option of the log; None if the order is unknown."""
    choices = index.choices[place.position]
    if place.choices == choices:
        return list(range(len(choices)))
    return matched(map(plain_text, place.choices), map(plain_text, choices))


# --- rows ----------------------------------------------------------------------------------------


def _rows(
    file: LoadedFile,
    joined: Sequence[_Joined],
    index: ResponseIndex,
    style: str,
    differing: Sequence[bool],
) -> tuple[pd.DataFrame, NDArray[np.object_]]:
    """Return the columns `ROWS` of the samples, in the items' order of options, and item names."""
    columns: defaultdict[str, list[Any]] = defaultdict(list)
    for row, differs in zip(joined, differing, strict=True):
        sample = row.sample
        unread, failed = sample.outcome == "unreadable", sample.outcome == "failed"
        logprobs = None if failed else _in_item_order(row, sample.logprobs, index)
        lengths = None
        if style in ("cloze", "cloze_bytes") and not failed:
            texts = sample.continuations or ()  # without their leading space
            n_bytes = [max(1, len(text.removeprefix(" ").encode())) for text in texts]
            lengths = _in_item_order(row, n_bytes or None, index)
        tokens = None if failed else _in_item_order(row, sample.option_tokens, index)
        item_order = _item_order(row.place, index)
        chosen = -1
        if logprobs is None and sample.outcome == "answered" and item_order:
            inside = 0 <= sample.chosen < len(item_order)
            chosen = item_order[sample.chosen] if inside else -1
        # Correctness under another gold is ignored; what was chosen remains valid.
        silent = failed or (differs and (logprobs is not None or chosen >= 0))
        correct = 0.0 if unread else math.nan if silent else sample.correct
        state = MISSING if failed else FAILED if unread else "ok" if chosen >= 0 else "none"
        values = {
            "position": row.place.position, "condition": row.condition, "repeat": sample.repeat,
            "correct": correct, "prediction": chosen, "logprobs": logprobs,
            "option_bytes": lengths, "option_tokens": tokens, "extraction": state,
            "prompt_tokens": sample.prompt_tokens, "generated_tokens": sample.generated_tokens,
            "by_hash": row.place.by_text,
        }  # fmt: skip
        for name, value in values.items():
            columns[name].append(value)
    n = len(joined)
    lists = {name: pd.Series(columns[name], dtype=object) for name in ("logprobs", *_LENGTHS)}
    rows = pd.DataFrame({**columns, **lists}).assign(
        style=constant(style, n),
        shots=file.spec.shots,
        model=constant(str(file.spec.model), n),
        source=constant(file.name, n),
        p_answer=np.nan,
        p_prediction=np.nan,
    )
    names = index.ids.to_numpy()[rows["position"].to_numpy()]
    marks = rows["correct"].to_numpy(dtype=np.float64)
    rows["correct"] = to_share(file, marks, lambda mask: name_rows(names, rows["model"], mask))
    return rows, names


def _in_item_order(
    row: _Joined, values: Sequence[Any] | None, index: ResponseIndex
) -> list[Any] | None:
    """Reorder values of continuations to the item's options; None if the order is unknown."""
    item_order = _item_order(row.place, index)
    if values is None or row.order is None or item_order is None:
        return None
    out: list[Any] = [None] * len(item_order)
    for option, value in zip(row.order, values, strict=True):
        out[item_order[option]] = value
    return out


# --- scores --------------------------------------------------------------------------------------


def _compare_scores(
    tally: Tally,
    file: LoadedFile,
    mark: Mark | None,
    samples: Sequence[Sample],
    rows: pd.DataFrame,
    index: ResponseIndex,
) -> None:
    """Set the accuracies of a tally, and note where they differ from the log's, and why."""
    log, (low, high) = file.log, file.spec.scale
    if log is None:
        return
    marks = [sample.correct for sample in samples if not math.isnan(sample.correct)]
    by_log = (sum(marks) / len(marks) - low) / (high - low) if marks else None
    stated = log.scores.get(mark or log.only_mark)
    stated = None if stated is None else (stated - low) / (high - low)
    tally.log_score = by_log if stated is None else stated
    tally.accuracy = _accuracy(rows, index)
    if stated is not None and by_log is not None and abs(stated - by_log) > _SAME_SCORE:
        of_items = (_mean_of_items(samples) - low) / (high - low)
        same = abs(stated - of_items) <= _SAME_SCORE
        why = ", since it averages the repeats of each item first" if same else ""
        tally.notes.append(
            f"{mark or log.only_mark} of the log is {stated:.4f}, the mean of its "
            f"{len(marks)} marks {by_log:.4f}{why}"
        )
    if tally.accuracy is None or by_log is None:
        return
    if abs(tally.accuracy - by_log) > _SAME_SCORE:
        answered = int((rows["extraction"] != MISSING).sum())
        tally.notes.append(
            f"accuracy is {tally.accuracy:.4f} of {answered} joined answers, "
            f"and {by_log:.4f} of {len(marks)} answers by the log's marks"
        )


def _mean_of_items(samples: Sequence[Sample]) -> float:
    """Return the mean over items of the mean mark over their repeats."""
    marks: defaultdict[str, list[float]] = defaultdict(list)
    for sample in samples:
        if not math.isnan(sample.correct):
            marks[sample.number].append(sample.correct)
    return sum(sum(values) / len(values) for values in marks.values()) / len(marks)


def _accuracy(rows: pd.DataFrame, index: ResponseIndex) -> float | None:
    """Return the mean score as in a response matrix: the option with the highest log-likelihood,
    else the log's mark, else the chosen option, by the items' gold.
    """
    if rows.empty:
        return None
    position = rows["position"].to_numpy(dtype=np.intp)
    chosen = rows["prediction"].to_numpy(dtype=np.int64, copy=True)
    correct = rows["correct"].to_numpy(dtype=np.float64, copy=True)
    scored = rows["logprobs"].notna().to_numpy(dtype=bool)
    if scored.any():
        chosen[scored] = best_options(scores_of(rows[scored]))[0]
    judged = index.is_right(position, chosen)
    correct = np.where(scored | np.isnan(correct), judged, correct)
    return None if np.isnan(correct).all() else float(np.nanmean(correct))
