"""Cleaning of all batches: the rules for single rows, then duplicates among all rows."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.methods.mmlu_cf.cleaning.labels_and_answers import folded
from benchwright.methods.mmlu_cf.cleaning.near_duplicates import (
    PERMUTATIONS,
    near_pairs,
    remaining,
    signatures,
)
from benchwright.methods.mmlu_cf.cleaning.rows import (
    DUPLICATES,
    HASH_SEED,
    TEXT,
    Bools,
    Cleaned,
    Ints,
    Rows,
    as_raw,
    hashed,
    indices,
    joined,
    mixed,
    rejected_rows,
)
from benchwright.methods.mmlu_cf.cleaning.rules import ROW_RULES, WHOLE_RULES, clean_batch, funnel
from benchwright.params.mmlu_cf import BatchEngineParams, CleaningParams, RuleName
from benchwright.scoring.batch_engine import BatchEngine


def keys(rows: Rows, answer: Ints) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the `text` and `answer` of `Fingerprints`.

    Case, white space and a final full stop do not count, other characters do. `answer` has the
    positions of the answers, −1 if there is none, shape (n,).
    """
    columns = []
    choices = folded(rows.choices)
    question, passage = folded(rows.question), folded(pc.fill_null(rows.passage, ""))
    for seed in (HASH_SEED, "benchwright-key-2"):
        total = rows.sums(mixed(hashed(choices, seed)))
        whole = mixed(hashed(question, seed)) + np.uint64(3) * mixed(total)
        columns.append(mixed(whole + np.uint64(5) * hashed(passage, seed)))
    place = np.where(answer >= 0, rows.offsets[:-1] + answer, -1)
    texts = pc.fill_null(choices.take(indices(place)), "")
    return np.stack(columns, axis=1), hashed(texts)


def same_text(text: NDArray[np.uint64]) -> Ints:
    """Return the position of the first equal key for each key (n, 2), shape (n,)."""
    order = np.lexsort((np.arange(len(text)), text[:, 1], text[:, 0]))
    ordered = text[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])[: len(order)]
    first = np.empty(len(order), np.int64)
    first[order] = order[new][np.cumsum(new) - 1]
    return first


_AT_ONCE = 20_000


class Fingerprints(NamedTuple):
    """Hashes of n clean rows that identify duplicates; empty if the rule that needs them is off."""

    text: NDArray[np.uint64]  # hashes of passage, question and the set of choices, shape (n, 2)
    answer: NDArray[np.uint64]  # hash of the answer's text, shape (n,)
    signed: NDArray[np.uint32]  # MinHash signatures, shape (n, 64)

    def take(self, places: Ints) -> "Fingerprints":
        """Return the fingerprints of some rows."""
        columns: tuple[Any, ...] = self
        return Fingerprints(*(each[places] if len(each) else each for each in columns))


def fingerprints(rows: pa.Table, params: CleaningParams) -> Fingerprints:
    """Return the fingerprints of clean rows."""
    starts = range(0, max(rows.num_rows, 1), _AT_ONCE)
    return joined_fingerprints([_of_slice(rows.slice(start, _AT_ONCE), params) for start in starts])


def joined_fingerprints(parts: Sequence[Fingerprints]) -> Fingerprints:
    """Concatenate the fingerprints of several batches."""
    return Fingerprints(*map(np.concatenate, zip(*parts, strict=True)))


def cleaned_with_fingerprints(
    table: pa.Table, params: CleaningParams
) -> Iterator[tuple[Cleaned, Fingerprints]]:
    """Yield a cleaned batch of raw items with the fingerprints of its clean rows."""
    cleaned = clean_batch(table, params)
    yield cleaned, fingerprints(cleaned.rows, params)


def _of_slice(rows: pa.Table, params: CleaningParams) -> Fingerprints:
    raw = Rows.of(as_raw(rows))
    exact = np.zeros((0, 2), np.uint64), np.zeros(0, np.uint64)
    signed = np.zeros((0, PERMUTATIONS), np.uint32)
    if "exact_duplicate" not in params.off:
        exact = keys(raw, rows.column("answer").to_numpy())
    if "near_duplicate" not in params.off:
        signed = signatures(raw)
    return Fingerprints(*exact, signed)


_COMPARED = ["item_id", "question", "choices", "answer", "passage"]


class Deduplicated(NamedTuple):
    """The rows that stay, in their order, and the removed ones as `CleaningDuplicates`."""

    rows: pa.Table
    duplicates: pa.Table


def clean(batches: Iterable[pa.Table], params: CleaningParams) -> Cleaned:
    """Apply all rules to batches of raw items (MMLU-CF, section 3.2, step 2).

    The batches are read twice, so they must not be an iterator. The engine does not affect the
    result.

    Raises:
        InputError: a column is missing, an id is repeated, `batches` is an iterator, or the engine
            is not available.
    """
    if isinstance(batches, Iterator):
        raise InputError("batches of raw items are read twice: give a list, not an iterator")
    with BatchEngine(params, "cleaning") as engine:
        work = partial(cleaned_with_fingerprints, params=params)
        parts, prints = zip(*engine.over(work, batches), strict=True)
        cleaned = joined(parts)
        left = deduplicate(cleaned.rows, params, joined_fingerprints(prints), engine)
    rejected = [cleaned.rejected]
    removed = left.duplicates.column("item_id")
    for batch in batches if len(removed) else ():
        at = pc.index_in(batch.column("item_id").cast(TEXT), value_set=removed.combine_chunks())
        some = left.duplicates.take(pc.drop_null(at))
        why = (some.column(name).combine_chunks() for name in ("rule", "detail"))
        rejected.append(rejected_rows(batch, np.flatnonzero(pc.is_valid(at).to_numpy()), *why))
    counts = {row["rule"]: (row["changed"], row["rejected"]) for row in cleaned.counts.to_pylist()}
    rules = left.duplicates.column("rule").to_pylist()
    counts |= {name: (0, rules.count(name)) for name in WHOLE_RULES}
    changed, out = np.array(
        [counts.get(name, (0, 0)) for name in (*(rule.name for rule in ROW_RULES), *WHOLE_RULES)]
    ).T
    total = cleaned.rows.num_rows + cleaned.rejected.num_rows
    return Cleaned(
        left.rows,
        pa.concat_tables(rejected),
        cleaned.changes,
        funnel(total, changed, out, params),
        left.duplicates,
    )


def deduplicate(
    rows: pa.Table,
    params: CleaningParams,
    prints: Fingerprints | None = None,
    engine: BatchEngine | None = None,
) -> Deduplicated:
    """Remove exact and near-duplicates from clean rows; the order of the rows does not matter.

    Of duplicates, the item with an explanation stays, then the one with the first id. An item is
    removed only for one that stays; this repeats until no duplicates are left. Besides the rows,
    24 bytes per row are in memory for exact duplicates and 256 for near ones.

    Raises:
        InputError: an id is repeated.
    """
    ids = rows.column("item_id")
    if pc.count_distinct(ids).as_py() < len(ids):
        raise InputError("item_id: an id is repeated among the clean rows")
    over = (engine or BatchEngine(BatchEngineParams(), "cleaning")).over
    order = _order(rows)
    active = rows.select(_COMPARED).append_column("place", pa.array(np.arange(rows.num_rows)))
    active = active.take(pa.array(order))
    prints = (fingerprints(rows, params) if prints is None else prints).take(order)
    removed = [DUPLICATES.empty_table()]
    if "exact_duplicate" not in params.off:
        keep, lost = _without_exact(active, prints)
        removed.append(lost)
        active, prints = active.filter(pa.array(keep)), prints.take(np.flatnonzero(keep))
    if "near_duplicate" not in params.off:
        signed = prints.signed
        del prints
        known = np.zeros(0, np.int64)
        while True:
            answer = active.column("answer").to_numpy()
            near, compared = near_pairs(Rows.of(as_raw(active)), signed, answer, known, over)
            like, similarity = _leaders(active.num_rows, near.later, near.earlier, near.similarity)
            keep = like < 0
            if keep.all():
                break
            removed.append(_lost(active, like, similarity, "near_duplicate", "nearly the same as"))
            known = remaining(compared, keep)
            active, signed = active.filter(pa.array(keep)), signed[keep]
    places = np.sort(active.column("place").to_numpy())
    del active
    return Deduplicated(rows.take(pa.array(places)), pa.concat_tables(removed))


def _order(rows: pa.Table) -> Ints:
    explained = pc.fill_null(pc.match_substring_regex(rows.column("explanation"), r"\S"), False)
    keyed = pa.table({"explained": explained, "item_id": rows.column("item_id")})
    order = pc.sort_indices(keyed, [("explained", "descending"), ("item_id", "ascending")])
    return order.to_numpy().astype(np.int64)


def _without_exact(table: pa.Table, prints: Fingerprints) -> tuple[Bools, pa.Table]:
    """Return which rows stay, shape (n,), and the others as duplicates."""
    first = same_text(prints.text)
    repeated = first < np.arange(len(first))
    groups = np.zeros(len(first), np.bool_)
    groups[first[prints.answer != prints.answer[first]]] = True
    clash = groups[first]  # whether copies have different answers
    like, ones = np.where(repeated & ~clash, first, -1), np.ones(len(first))
    lost = _lost(table, like, ones, "exact_duplicate", "same as")
    like = np.where(clash, first, -1)
    why = "answers differ between the copies of"
    disputed = _lost(table, like, ones, "exact_duplicate", why)
    return ~repeated & ~clash, pa.concat_tables([lost, disputed])


def _leaders(
    n: int, later: Ints, earlier: Ints, similarity: NDArray[np.float64]
) -> tuple[Ints, NDArray[np.float64]]:
    """Return the first similar item that stays for each item, −1 if it stays, and similarities."""
    like, similar = np.full(n, -1), np.full(n, np.nan)
    order = np.lexsort((earlier, later))
    for item, leader, value in zip(
        later[order].tolist(), earlier[order].tolist(), similarity[order].tolist(), strict=True
    ):
        if like[item] < 0 and like[leader] < 0:
            like[item], similar[item] = leader, value
    return like, similar


def _lost(
    table: pa.Table, like: Ints, similarity: NDArray[np.float64], rule: RuleName, why: str
) -> pa.Table:
    at = np.flatnonzero(like >= 0)
    ids = table.column("item_id").combine_chunks().cast(TEXT)
    leaders = ids.take(pa.array(like[at]))
    return pa.table(
        [
            ids.take(pa.array(at)),
            pa.repeat(pa.scalar(rule, TEXT), len(at)),
            leaders,
            pa.array(similarity[at], pa.float64()),
            pc.binary_join_element_wise(pa.scalar(why, TEXT), leaders, pa.scalar(" ", TEXT)),
        ],
        schema=DUPLICATES,
    )
