"""Cleaning of all batches: the rules for single rows, then duplicates among all rows."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.core.array_types import Bools
from benchwright.methods.mmlu_cf.cleaning.labels_and_answers import fold
from benchwright.methods.mmlu_cf.cleaning.near_duplicates import (
    Ints,
    Item,
    Pairs,
    Signatures,
    as_items,
    find_near_pairs,
    sign,
)
from benchwright.methods.mmlu_cf.cleaning.rows import (
    FUNNEL,
    REJECTED,
    Cleaned,
    CleanedBatch,
)
from benchwright.methods.mmlu_cf.cleaning.rules import ROW_RULES, clean_batch
from benchwright.params.mmlu_cf import CleaningParams, RuleName
from benchwright.scoring.batch_engine import BatchEngine

WHOLE_RULES: tuple[RuleName, ...] = ("exact_duplicate", "near_duplicate")
"""The rules that compare rows; both reject."""
_COMPARED = ["item_id", "question", "choices", "answer", "passage"]


class Fingerprints(NamedTuple):
    """Hashes of n clean rows that identify duplicates."""

    text: NDArray[np.uint64]  # hash of passage, question and the set of choices, shape (n,)
    answer: NDArray[np.uint64]  # hash of the answer's text, shape (n,)
    signed: Signatures  # MinHash signatures, shape (n, 64); (n, 0) if not needed


def fingerprint(rows: pa.Table, params: CleaningParams) -> Fingerprints:
    """Return the fingerprints of clean rows.

    For exact duplicates, case, white space and a final full stop do not count.
    """
    items = as_items(rows)
    signed = np.zeros((len(items), 0), np.uint32)
    if "near_duplicate" not in params.off:
        signed = sign(items)
    text = np.array([_hash(_folded_text(item)) for item in items], np.uint64)
    answer = np.array([_hash(_folded_answer(item)) for item in items], np.uint64)
    return Fingerprints(text, answer, signed)


def _folded_text(item: Item) -> str:
    choices = sorted(fold(choice) for choice in item.choices)
    return "\0".join([fold(item.passage), fold(item.question), *choices])


def _folded_answer(item: Item) -> str:
    return fold(item.choices[item.answer]) if item.answer >= 0 else ""


def _hash(text: str) -> int:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def clean_and_fingerprint(
    table: pa.Table, params: CleaningParams
) -> Iterator[tuple[CleanedBatch, Fingerprints]]:
    """Yield a cleaned batch of raw items with the fingerprints of its clean rows."""
    cleaned = clean_batch(table, params)
    yield cleaned, fingerprint(cleaned.rows, params)


def clean(batches: Sequence[pa.Table], params: CleaningParams) -> Cleaned:
    """Apply all rules to batches of raw items (MMLU-CF, section 3.2, step 2).

    The engine does not affect the result; `item_id` is unique.
    """
    with BatchEngine(params, "cleaning") as engine:
        work = partial(clean_and_fingerprint, params=params)
        parts, prints = zip(*engine.over(work, batches), strict=True)
        cleaned = CleanedBatch(*map(pa.concat_tables, zip(*parts, strict=True)))
        joined = Fingerprints(*map(np.concatenate, zip(*prints, strict=True)))
        rows, copies = _deduplicate(cleaned.rows, params, joined, engine)
    rejected = pa.concat_tables([cleaned.rejected, copies])
    n_rows = sum(batch.num_rows for batch in batches)
    counts = _count(n_rows, cleaned.changes, rejected, params)
    return Cleaned(rows, rejected, cleaned.changes, counts)


def _count(n_rows: int, changes: pa.Table, rejected: pa.Table, params: CleaningParams) -> pa.Table:
    changed = changes.group_by(["item_id", "rule"]).aggregate([])
    n_changed = Counter(changed.column("rule").to_pylist())
    n_rejected = Counter(rejected.column("rule").to_pylist())
    kinds = {rule.name: rule.kind for rule in ROW_RULES} | dict.fromkeys(WHOLE_RULES, "reject")
    rows = []
    for place, (rule, kind) in enumerate(kinds.items(), 1):
        left = n_rows - n_rejected[rule]
        if rule not in params.off:
            row = (place, rule, kind, n_rows, n_changed[rule], n_rejected[rule], left)
            rows.append(dict(zip(FUNNEL.names, row, strict=True)))
        n_rows = left
    return pa.Table.from_pylist(rows, FUNNEL)


def _deduplicate(
    rows: pa.Table, params: CleaningParams, prints: Fingerprints, engine: BatchEngine
) -> tuple[pa.Table, pa.Table]:
    """Return the rows without duplicates, and these as `RejectedRawItems`, in any order of rows.

    Of duplicates, the item with an explanation stays, then the one with the first id. An item is
    removed only for one that stays; this repeats until no duplicates are left.
    """
    order = _by_precedence(rows)
    prints = Fingerprints(prints.text[order], prints.answer[order], prints.signed[order])
    table = rows.select(_COMPARED).take(pa.array(order))
    active = np.arange(len(order))
    duplicates = [REJECTED.empty_table()]
    if "exact_duplicate" not in params.off:
        keep, lost = _exact_duplicates(table, prints)
        active = active[keep]
        duplicates += lost
    if "near_duplicate" not in params.off:
        known = np.zeros(0, np.int64)
        while True:
            pairs, known = find_near_pairs(table, prints.signed, active, known, engine.over)
            leaving = _choose_leaders(pairs)
            if not len(leaving.later):
                break
            why = "nearly a copy of another question"
            duplicates.append(_rejected(table, leaving, rule="near_duplicate", why=why))
            active = np.setdiff1d(active, leaving.later, assume_unique=True)
    return rows.take(pa.array(np.sort(order[active]))), pa.concat_tables(duplicates)


def _by_precedence(rows: pa.Table) -> Ints:
    """Return the positions of explained rows, in order of id, then of the others."""
    explained = pc.fill_null(pc.match_substring_regex(rows.column("explanation"), r"\S"), False)
    keyed = pa.table({"explained": explained, "item_id": rows.column("item_id")})
    by = [("explained", "descending"), ("item_id", "ascending")]
    return np.asarray(pc.sort_indices(keyed, by), dtype=np.int64)


def _exact_duplicates(table: pa.Table, prints: Fingerprints) -> tuple[Bools, list[pa.Table]]:
    """Return which rows stay, shape (n,), and the others as duplicates of the first copy."""
    place = np.arange(table.num_rows)
    copies = pd.DataFrame({"place": place, "answer": prints.answer}).groupby(prints.text)
    first = copies["place"].transform("min").to_numpy()
    clash = (copies["answer"].transform("nunique") > 1).to_numpy()
    repeated = (first < place) & ~clash
    pairs = Pairs(place, first, np.ones(len(place)))
    lost = []
    for some, why in (
        (repeated, "copy of another question"),
        (clash, "answers differ between copies"),
    ):
        lost.append(_rejected(table, pairs.at(some), rule="exact_duplicate", why=why))
    return ~repeated & ~clash, lost


def _choose_leaders(pairs: Pairs) -> Pairs:
    """Return the pairs of each row that leaves, ascending, with the first that stays."""
    leaving: set[int] = set()
    chosen = []
    order = np.lexsort((pairs.earlier, pairs.later))
    for pair in order:
        later = int(pairs.later[pair])
        if later not in leaving and int(pairs.earlier[pair]) not in leaving:
            leaving.add(later)
            chosen.append(pair)
    return pairs.at(np.array(chosen, dtype=np.intp))


def _rejected(table: pa.Table, pairs: Pairs, *, rule: RuleName, why: str) -> pa.Table:
    """Return the later rows of pairs as `RejectedRawItems`."""
    n = len(pairs.later)
    ids = table.column("item_id")
    return pa.table(
        {
            "item_id": ids.take(pa.array(pairs.later)),
            "rule": pa.repeat(rule, n),
            "detail": pa.repeat(why, n),
            "duplicate_of": ids.take(pa.array(pairs.earlier)),
            "similarity": pairs.similarity,
        },
        REJECTED,
    )
