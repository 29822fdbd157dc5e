"""Cleaning of a batch: the rules that look at one row at a time."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.labels_and_answers import answer_positions
from benchwright.methods.mmlu_cf.cleaning.rows import (
    CHANGES,
    CLEAN,
    FUNNEL,
    Bools,
    Cleaned,
    Rows,
    Text,
    rejected_rows,
    truths,
)
from benchwright.methods.mmlu_cf.cleaning.rules import ROW_RULES, WHOLE_RULES, Rule
from benchwright.params.mmlu_cf import CleaningParams

_PASSES = 5
_COLUMNS = ("question", "answer", "choices", "labels")


def clean_batch(table: pa.Table, params: CleaningParams) -> Cleaned:
    """Applies the rules that look at one row at a time (MMLU-CF, section 3.2, step 2).

    The result for a row does not depend on the other rows of the batch. Rows that were rewritten
    go through all rules again until nothing changes, so that cleaning clean rows changes nothing; a
    row that still changes after five passes is rejected by the last rule that changed it.

    Args:
        table: raw items (`RawItems`); needed are item_id, question, choices and answer.
        params: which rules run, and their limits.

    Raises:
        InputError: one of those columns is missing.
    """
    rules = [rule for rule in ROW_RULES if rule.name not in params.off]
    batch = _Batch(table)
    active = Rows.of(table)
    for _ in range(_PASSES):
        active = batch.one_pass(active, rules, params)
        if not len(active):
            break
    batch.reject(active, np.ones(len(active), np.bool_), None, "still changing after five passes")
    return batch.result(params)


class _Batch:
    """What is known of a batch so far."""

    def __init__(self, table: pa.Table) -> None:
        n = table.num_rows
        self.table = table
        self.rejected_by = np.full(n, -1)  # index into ROW_RULES
        self.changed = np.zeros((len(ROW_RULES), n), np.bool_)
        self.details: list[str] = []
        self.detail = np.full(n, -1)
        self.settled: list[Rows] = []
        self.changes: list[pa.Table] = []
        self.changed_rows: list[NDArray[np.int64]] = []

    def one_pass(self, rows: Rows, rules: list[Rule], params: CleaningParams) -> Rows:
        """The rows that a rule changed; those that none did and none rejected are settled."""
        changed_now = np.zeros(self.table.num_rows, np.bool_)
        for rule in rules:
            if not len(rows):
                break
            outcome = rule.apply(rows, params)
            if outcome.rows is not rows:
                changed = self._record(rows, outcome.rows, rule)
                changed_now[rows.index[changed]] = True
                rows = outcome.rows
            if outcome.reasons:
                rows = self._sift(rows, outcome.reasons, rule)
        again = changed_now[rows.index]
        self.settled.append(rows.where(~again))
        return rows.where(again)

    def _sift(self, rows: Rows, reasons: tuple[tuple[Bools, str], ...], rule: Rule) -> Rows:
        keep = np.ones(len(rows), np.bool_)
        for mask, detail in reasons:
            new = mask & keep
            if new.any():
                self.reject(rows, new, rule, detail)
                keep &= ~mask
        return rows.where(keep)

    def reject(self, rows: Rows, mask: Bools, rule: Rule | None, detail: str) -> None:
        """Notes why the rows of `mask` are rejected: by `rule`, or the last that changed them."""
        index = rows.index[mask]
        if rule is None:
            last = len(ROW_RULES) - 1 - np.argmax(self.changed[::-1, index], axis=0)
            self.rejected_by[index] = last
        else:
            self.rejected_by[index] = ROW_RULES.index(rule)
        self.detail[index] = len(self.details)
        self.details.append(detail)

    def _record(self, before: Rows, after: Rows, rule: Rule) -> Bools:
        ids = self.table.column("item_id").cast(pa.large_string())
        changed = np.zeros(len(before), np.bool_)
        for name in _COLUMNS:
            old, new = getattr(before, name), getattr(after, name)
            if old is new:
                continue
            differ = truths(pc.not_equal(old, new))
            if not differ.any():
                continue
            flat = name in ("choices", "labels")
            places = before.parent[differ] if flat else np.flatnonzero(differ)
            changed[places] = True
            self.changed_rows.append(before.index[places])
            which = pa.array(differ)
            self.changes.append(
                pa.table(
                    [
                        ids.take(pa.array(before.index[places])),
                        _repeated(rule.name, len(places)),
                        _numbered(name, before.slot[differ])
                        if flat
                        else _repeated(name, len(places)),
                        old.filter(which),
                        new.filter(which),
                    ],
                    schema=CHANGES,
                )
            )
        self.changed[ROW_RULES.index(rule), before.index[changed]] = True
        return changed

    def result(self, params: CleaningParams) -> Cleaned:
        places = np.flatnonzero(self.rejected_by >= 0)
        names = pa.array([rule.name for rule in ROW_RULES])
        settled = [rows for rows in self.settled if len(rows)]
        clean = pa.concat_tables([CLEAN.empty_table(), *map(self._clean, settled)])
        if len(settled) > 1:
            clean = clean.take(np.argsort(np.concatenate([rows.index for rows in settled])))
        changes = CHANGES.empty_table()
        if self.changes:
            order = np.argsort(np.concatenate(self.changed_rows), kind="stable")
            changes = pa.concat_tables(self.changes).take(order)
        rejected = np.bincount(self.rejected_by[places], minlength=len(ROW_RULES))
        return Cleaned(
            clean,
            rejected_rows(
                self.table,
                places,
                names.take(pa.array(self.rejected_by[places])),
                pa.array([*self.details, ""]).take(pa.array(self.detail[places])),
            ),
            changes,
            funnel(self.table.num_rows, self.changed.sum(axis=1), rejected, params),
        )

    def _clean(self, rows: Rows) -> pa.Table:
        source = pa.array(rows.index)
        choices = pa.LargeListArray.from_arrays(pa.array(rows.offsets), rows.choices)
        columns = {
            "question": rows.question,
            "choices": choices,
            "answer": pa.array(answer_positions(rows)),
            "explanation": rows.explanation,
            "passage": rows.passage,
            "field": pa.nulls(len(rows), pa.large_string()),
            "field_confidence": pa.nulls(len(rows), pa.float64()),
        }
        for name in ("item_id", "doc_id", "url", "domain"):
            columns[name] = pa.nulls(len(rows), pa.large_string())
            if name in self.table.column_names:
                columns[name] = self.table.column(name).cast(pa.large_string()).take(source)
        return pa.table([columns[name] for name in CLEAN.names], schema=CLEAN)


def funnel(
    n_rows: int, changed: NDArray[np.int64], rejected: NDArray[np.int64], params: CleaningParams
) -> pa.Table:
    """`CleaningFunnel` of the rules that run, from counts for each of ROW_RULES or all rules.

    Args:
        n_rows: rows that came in.
        changed: rows that each rule rewrote, shape (rules,).
        rejected: rows that each rule rejected, shape (rules,).
        params: rules that are off are left out.
    """
    rules = [
        *((rule.name, rule.kind) for rule in ROW_RULES),
        *((name, "reject") for name in WHOLE_RULES),
    ][: len(rejected)]
    left = n_rows - np.cumsum(np.concatenate([[0], rejected]))
    rows = [
        (place, name, kind, before, did, out, after)
        for place, ((name, kind), did, out, (before, after)) in enumerate(
            zip(rules, changed.tolist(), rejected.tolist(), pairwise(left.tolist()), strict=True), 1
        )
        if name not in params.off
    ]
    return pa.Table.from_pylist(
        [dict(zip(FUNNEL.names, row, strict=True)) for row in rows], schema=FUNNEL
    )


def _repeated(text: str, n: int) -> Text:
    return pa.repeat(pa.scalar(text, pa.large_string()), n)


def _numbered(name: str, slots: NDArray[np.int64]) -> Text:
    names = pa.array([f"{name}[{slot}]" for slot in range(int(slots.max()) + 1)], pa.large_string())
    return names.take(pa.array(slots))
