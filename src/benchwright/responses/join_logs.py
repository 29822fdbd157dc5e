"""Join the answers of a log to items, and count what became of every sample."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from benchwright.core.natural_order import natural_key
from benchwright.core.values import format_value
from benchwright.core.verbatim import no_rows
from benchwright.datasets.response_files import LoadedFile
from benchwright.logs.lm_eval import OTHER_FILTER, run_of
from benchwright.logs.options import letter_position
from benchwright.logs.sample import Log, Sample
from benchwright.responses.calibration import best_options, scores_of
from benchwright.responses.find_items import Place, find_items, stated_condition, stated_id
from benchwright.responses.item_index import Compared, ResponseIndex
from benchwright.responses.option_orders import Orders, how_asked, matched, order_of, plain_text
from benchwright.responses.tally import EXAMPLES, Tally
from benchwright.responses.tidy_files import ROWS, different_texts, read_tidy, unknown_condition

ForeignRuns = frozenset[tuple[str, str]]
"""Runs, with conditions whose texts differ from those of this run's copies."""

_NUMBER = re.compile(r"[0-9]{1,4}")
_OPTION_LIST = re.compile(r"\[\s*[0-9]{1,4}(?:\s*,\s*[0-9]{1,4})*\s*\]")
_NO_TEXTS: Any = {"question": "", "prompt": "", "choices": (), "doc": None, "contexts": None}
_BATCH = 256  # samples whose texts are in memory at once
_SAME_SCORE = 5e-4  # tools round their scores to three or four digits
_TABLE = pa.schema(
    [
        ("item_id", pa.string()),
        ("model", pa.string()),
        ("condition", pa.string()),
        ("repeat", pa.int64()),
        ("correct", pa.float64()),
        ("prediction", pa.int64()),
        ("logprobs", pa.list_(pa.float64())),
        ("option_bytes", pa.list_(pa.int64())),
        ("option_tokens", pa.list_(pa.int64())),
        ("extraction", pa.string()),
        ("prompt_tokens", pa.int64()),
        ("generated_tokens", pa.int64()),
    ]
)


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
    to the item's options.

    Args:
        file: a log.
        index: the items and their copies.
        foreign: runs and conditions whose samples are excluded.

    Raises:
        InputError: samples are joined, but no row is valid.
    """
    if file.log is None:
        raise ValueError(f"{file.name} was not loaded")
    skipped = _Skipped(file.name, str(file.spec.model))
    joined, samples = _join(file, _answered(file.log, skipped), index, foreign, skipped)
    joined = _usable(joined, skipped)
    tally = Tally(file.name, file.log.format)
    rows = no_rows(ROWS)
    if joined:
        style = file.spec.style or file.log.style or _style(joined, skipped)
        joined = _ordered(joined, style, skipped)
        differing = _differing_gold(joined, index)
        tidy = _as_tidy(file, joined, index, style, differing)
        rows, tally = read_tidy(tidy, index)
        rows = _marked(rows, tally, joined, differing, index)
    tally.absorb(skipped)
    tally.notes += file.log.notes
    tally.layout, tally.models, tally.rows = file.log.format, 1, skipped.rows
    tally.unreadable = int((rows["extraction"] == "failed").sum())
    _compare_scores(tally, file.log, samples, rows, index)
    return rows, tally


def _answered(log: Log, skipped: _Skipped) -> Iterator[Sample]:
    """Yield the samples that may answer an item; count all, and at the end report the others."""
    failed: list[Sample] = []
    others: defaultdict[str, list[Sample]] = defaultdict(list)
    for sample in log.samples():
        skipped.rows += 1
        if sample.skipped:
            others[sample.skipped].append(Sample(sample.number))
        elif sample.outcome == "failed":
            failed.append(Sample(sample.number))
        else:
            yield sample
    for reason, of_reason in others.items():
        if reason.startswith(OTHER_FILTER):
            skipped.samples(reason, of_reason, "doubled")
        else:
            skipped.samples(f"dropped ({reason})", of_reason)
    skipped.samples("failed (the log has no answer)", failed, "failed")


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
                lost[condition].setdefault(why(condition), []).extend(slim[row] for row in at)
                continue
            as_perturbed = condition in index.perturbed
            places = find_items(
                [batch[row] for row in at], items, file.mappings, as_perturbed=as_perturbed
            )
            for row, place in zip(at, places, strict=True):
                if place is None:
                    lost[condition].setdefault("not joined", []).append(slim[row])
                else:
                    orders = how_asked(batch[row], place.choices)
                    of_batch[row] = _Joined(slim[row], condition, place, orders)
        joined += [row for _, row in sorted(of_batch.items())]
    for _, unjoined in sorted(lost.items()):
        for what, of_reason in unjoined.items():
            skipped.samples(what, of_reason, "not_joined")
    return _placed(joined, index), answered


def _placed(joined: Sequence[_Joined], index: ResponseIndex) -> list[_Joined]:
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


def _usable(joined: Sequence[_Joined], skipped: _Skipped) -> list[_Joined]:
    """Return the rows with an answer, with as many log-likelihoods as options."""
    usable, uneven, silent = [], [], []
    for row in joined:
        sample, place = row.sample, row.place
        n_choices = len(place.choices)
        if sample.logprobs is not None and n_choices and len(sample.logprobs) != n_choices:
            uneven.append(sample)
        elif _is_silent(row):
            silent.append(sample)
        else:
            usable.append(row)
    skipped.samples("dropped (number of log-likelihoods differs from options)", uneven)
    skipped.samples("dropped (no response)", silent)
    return usable


def _is_silent(row: _Joined) -> bool:
    sample = row.sample
    unmarked = math.isnan(sample.correct) and sample.chosen < 0 and sample.outcome == "answered"
    return unmarked and not any(row.orders.values())


def _ordered(joined: Sequence[_Joined], style: str, skipped: _Skipped) -> list[_Joined]:
    rows = [row._replace(order=order_of(row.orders, style)) for row in joined]
    unordered = [
        f"doc {r.sample.number} × {skipped.layout}"
        for r in rows
        if r.sample.logprobs is not None and r.order is None
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


def _as_tidy(
    file: LoadedFile,
    joined: Sequence[_Joined],
    index: ResponseIndex,
    style: str,
    differing: Sequence[bool],
) -> LoadedFile:
    rows = []
    for row, differs in zip(joined, differing, strict=True):
        sample = row.sample
        logprobs = _in_item_order(row, sample.logprobs, index)
        lengths = None
        if style in ("cloze", "cloze_bytes"):
            texts = sample.continuations or ()  # without their leading space
            n_bytes = [max(1, len(text.removeprefix(" ").encode())) for text in texts]
            lengths = _in_item_order(row, n_bytes or None, index)
        tokens = _in_item_order(row, sample.option_tokens, index)
        item_order = _item_order(row.place, index)
        unread = sample.outcome == "unreadable"
        chosen = -1
        if logprobs is None and not unread and item_order and sample.chosen < len(item_order):
            chosen = -1 if sample.chosen < 0 else item_order[sample.chosen]
        # Correctness under another gold is ignored; what was chosen remains valid.
        silent = math.isnan(sample.correct) or (differs and (logprobs is not None or chosen >= 0))
        correct = 0.0 if unread else None if silent else sample.correct
        state = "failed" if unread else "ok" if chosen >= 0 else "none"
        rows.append(
            (
                *(str(index.ids[row.place.position]), file.spec.model, row.condition),
                *(sample.repeat, correct, chosen, logprobs, lengths, tokens, state),
                *(sample.prompt_tokens, sample.generated_tokens),
            )
        )
    spec = file.spec.model_copy(update={"layout": "tidy", "style": style, "columns": {}})
    columns = dict(zip(_TABLE.names, zip(*rows, strict=True), strict=True))
    return replace(file, spec=spec, log=None, table=pa.table(columns, schema=_TABLE))


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


def _marked(
    rows: pd.DataFrame,
    tally: Tally,
    joined: Sequence[_Joined],
    differing: Sequence[bool],
    index: ResponseIndex,
) -> pd.DataFrame:
    """Set `by_hash` of rows joined by text, and count samples whose gold differs."""
    by_text: dict[int, bool] = {}
    differing_at: dict[int, bool] = {}
    for row, differs in zip(joined, differing, strict=True):  # the first row of an item is kept
        by_text.setdefault(row.place.position, row.place.by_text)
        differing_at.setdefault(row.place.position, differs)
    positions = rows["position"].tolist()
    rows = rows.assign(by_hash=[by_text[position] for position in positions])
    tally.joined_by_hash = int(rows["by_hash"].sum())
    tally.joined_by_id = len(rows) - tally.joined_by_hash
    others = [position for position in positions if differing_at[position]]
    tally.contradicting += len(others)
    named = zip(others, rows["model"], strict=False)  # every row has the same model
    tally.report("gold differs", len(others), [f"{index.ids[p]} × {model}" for p, model in named])
    return rows


# --- scores --------------------------------------------------------------------------------------


def _compare_scores(
    tally: Tally, log: Log, samples: Sequence[Sample], rows: pd.DataFrame, index: ResponseIndex
) -> None:
    """Set the accuracies of a tally, and note where they differ from the log's, and why."""
    marks = [sample.correct for sample in samples if not math.isnan(sample.correct)]
    by_log = sum(marks) / len(marks) if marks else None
    tally.log_score = by_log if log.score is None else log.score
    tally.accuracy = _accuracy(rows, index)
    if log.score is not None and by_log is not None and abs(log.score - by_log) > _SAME_SCORE:
        of_items = _mean_of_items(samples)
        same = abs(log.score - of_items) <= _SAME_SCORE
        why = ", since it averages the repeats of each item first" if same else ""
        tally.notes.append(
            f"{log.score_name or 'the score'} of the log is {log.score:.4f}, the mean of its "
            f"{len(marks)} marks {by_log:.4f}{why}"
        )
    if tally.accuracy is None or by_log is None:
        return
    if abs(tally.accuracy - by_log) > _SAME_SCORE:
        tally.notes.append(
            f"accuracy is {tally.accuracy:.4f} of {len(rows)} joined answers by the items' gold, "
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
    """Return the share of right answers, by the items' gold where an option is known."""
    if rows.empty:
        return None
    position = rows["position"].to_numpy(dtype=np.intp)
    chosen = rows["prediction"].to_numpy(dtype=np.int64, copy=True)
    scored = rows["logprobs"].notna().to_numpy(dtype=bool)
    if scored.any():
        chosen[scored] = best_options(scores_of(rows[scored]))[0]
    judged = index.is_right(position, chosen)
    correct = np.where(np.isnan(judged), rows["correct"].to_numpy(dtype=np.float64), judged)
    return None if np.isnan(correct).all() else float(np.nanmean(correct))
