"""Cleaning of a whole: batches through the row rules, then duplicates among all of them."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.compute.batch_engine import BatchEngine
from benchwright.core.errors import InputError
from benchwright.methods.mmlu_cf.cleaning.clean import clean_batch, funnel
from benchwright.methods.mmlu_cf.cleaning.labels_and_answers import folded
from benchwright.methods.mmlu_cf.cleaning.near_duplicates import (
    Ints,
    Pairs,
    near_pairs,
    remaining,
    signatures,
)
from benchwright.methods.mmlu_cf.cleaning.rows import (
    DUPLICATES,
    HASH_SEED,
    REJECTED,
    Cleaned,
    Rows,
    as_raw,
    hashed,
    indices,
    joined,
    mixed,
    rejected_rows,
)
from benchwright.methods.mmlu_cf.cleaning.rules import ROW_RULES, WHOLE_RULES
from benchwright.params.mmlu_cf import BatchEngineParams, CleaningParams, RuleName

_SEEDS = (HASH_SEED, "benchwright-key-2")


def keys(rows: Rows, answer: Ints) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The `text` and `answer` of `Fingerprints`.

    Case, white space and a final full stop do not count, other signs do.

    Args:
        rows: n items.
        answer: position of the answer, −1 where there is none, shape (n,).
    """
    columns = []
    choices = folded(rows.choices)
    question, passage = folded(rows.question), folded(pc.fill_null(rows.passage, ""))
    for seed in _SEEDS:
        each = mixed(hashed(choices, seed))
        together = np.concatenate([[np.uint64(0)], np.cumsum(each)])  # wraps around, as it may
        total = together[rows.offsets[1:]] - together[rows.offsets[:-1]]
        whole = mixed(hashed(question, seed)) + np.uint64(3) * mixed(total)
        columns.append(mixed(whole + np.uint64(5) * hashed(passage, seed)))
    at = np.where(answer >= 0, rows.offsets[:-1] + answer, -1)
    texts = pc.fill_null(choices.take(indices(at)), "")
    return np.stack(columns, axis=1), hashed(texts)


def same_text(text: NDArray[np.uint64]) -> Ints:
    """For each key (n, 2) the first that is the same, itself if there is none before, (n,)."""
    order = np.lexsort((np.arange(len(text)), text[:, 1], text[:, 0]))
    ordered = text[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])[: len(order)]
    first = np.empty(len(order), np.int64)
    first[order] = order[new][np.cumsum(new) - 1]
    return first


_AT_ONCE = 20_000


class Fingerprints(NamedTuple):
    """What duplicates are found by, of n clean rows; empty where the rule that needs it is off.

    Attributes:
        text: hashes of passage, question and choices in any order, shape (n, 2).
        answer: hash of the answer's text, shape (n,).
        signed: MinHash signatures, shape (n, permutations).
    """

    text: NDArray[np.uint64]
    answer: NDArray[np.uint64]
    signed: NDArray[np.uint32]

    def take(self, places: Ints) -> "Fingerprints":
        """Those of some rows."""
        columns: tuple[Any, ...] = self
        return Fingerprints(*(each[places] if len(each) else each for each in columns))


def fingerprints(rows: pa.Table, params: CleaningParams) -> Fingerprints:
    """Fingerprints of clean rows."""
    return joined_fingerprints(
        [
            _of_slice(rows.slice(start, _AT_ONCE), params)
            for start in range(0, max(rows.num_rows, 1), _AT_ONCE)
        ]
    )


def joined_fingerprints(parts: Sequence[Fingerprints]) -> Fingerprints:
    """Of several batches, as of one."""
    return Fingerprints(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def cleaned_with_fingerprints(
    table: pa.Table, params: CleaningParams
) -> Iterator[tuple[Cleaned, Fingerprints]]:
    """The row rules on a batch of raw items, and the fingerprints of what is clean: one pair."""
    cleaned = clean_batch(table, params)
    yield cleaned, fingerprints(cleaned.rows, params)


def _of_slice(rows: pa.Table, params: CleaningParams) -> Fingerprints:
    raw = Rows.of(as_raw(rows))
    found = np.zeros((0, 2), np.uint64), np.zeros(0, np.uint64)
    signed = np.zeros((0, params.near_duplicates.permutations), np.uint32)
    if "exact_duplicate" not in params.off:
        found = keys(raw, rows.column("answer").to_numpy())
    if "near_duplicate" not in params.off:
        signed = signatures(raw, params.near_duplicates)
    return Fingerprints(*found, signed)


_TEXT = pa.large_string()
_COMPARED = ["item_id", "question", "choices", "answer", "passage"]


class Deduplicated(NamedTuple):
    """What is left of n clean rows.

    Attributes:
        rows: the rows that stay, in their order.
        duplicates: item_id of each row that goes, the rule, the item it is like, their similarity
            (1 for exact duplicates) and why in words.
        candidates: pairs that LSH gave, in all rounds.
    """

    rows: pa.Table
    duplicates: pa.Table
    candidates: int


def clean(batches: Iterable[pa.Table], params: CleaningParams) -> Cleaned:
    """All rules on raw items that come in batches (MMLU-CF, section 3.2, step 2).

    Args:
        batches: tables of raw items; read twice, so not an iterator. Ids are unique over all.
        params: rules and limits, and where they run; the outcome is the same everywhere.

    Raises:
        InputError: a column is missing, an id stands twice, `batches` can be read only once, or the
            engine cannot be had.
    """
    if isinstance(batches, Iterator):
        raise InputError("batches of raw items are read twice: give a list, not an iterator")
    with BatchEngine(params, "cleaning") as engine:
        work = partial(cleaned_with_fingerprints, params=params)
        parts, prints = zip(*engine.over(work, batches), strict=True)
        cleaned = joined(parts)
        left = deduplicate(cleaned.rows, params, joined_fingerprints(prints), engine)
    rejected = [cleaned.rejected]
    wanted = left.duplicates.column("item_id")
    for batch in batches if len(wanted) else ():
        ids = batch.column("item_id").cast(_TEXT)
        at = pc.index_in(ids, value_set=wanted.combine_chunks())
        places = np.flatnonzero(pc.is_valid(at).to_numpy())
        found = left.duplicates.take(pc.drop_null(at))
        why = (found.column(name).combine_chunks() for name in ("rule", "detail"))
        rejected.append(rejected_rows(batch, places, *why))
    done = dict.fromkeys((*(rule.name for rule in ROW_RULES), *WHOLE_RULES), (0, 0))
    for row in cleaned.counts.to_pylist():
        done[row["rule"]] = (row["changed"], row["rejected"])
    for name in left.duplicates.column("rule").to_pylist():
        done[name] = (0, done[name][1] + 1)
    changed, out = np.array(list(done.values())).T
    total = cleaned.rows.num_rows + cleaned.rejected.num_rows
    return Cleaned(
        left.rows,
        pa.concat_tables(rejected) if rejected else REJECTED.empty_table(),
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
    """Clean rows without exact and near-duplicates; their order does not matter.

    Of duplicates stays the one with an explanation, then the one with the first id. An item goes
    only for one that stays. Repeated until nothing goes. In memory are, besides the rows, 24 bytes
    per row for exact duplicates and 4 · `permutations` for near ones.

    Raises:
        InputError: an id stands twice.
    """
    ids = rows.column("item_id")
    if pc.count_distinct(ids).as_py() < len(ids):
        raise InputError("item_id: an id stands twice among the clean rows")
    over = (engine or BatchEngine(BatchEngineParams(), "cleaning")).over
    order = _order(rows)
    active = rows.select(_COMPARED).append_column("place", pa.array(np.arange(rows.num_rows)))
    active = active.take(pa.array(order))
    prints = (fingerprints(rows, params) if prints is None else prints).take(order)
    gone: list[pa.Table] = []
    candidates = 0
    if "exact_duplicate" not in params.off:
        keep, lost = _without_exact(active, prints, params)
        gone.append(lost)
        active, prints = active.filter(pa.array(keep)), prints.take(np.flatnonzero(keep))
    if "near_duplicate" not in params.off:
        signed = prints.signed
        del prints
        known: Pairs | None = None
        while True:
            near = near_pairs(
                Rows.of(as_raw(active)),
                signed,
                active.column("answer").to_numpy(),
                params.near_duplicates,
                known,
                over,
            )
            candidates += near.candidates
            like, similarity = _leaders(active.num_rows, near.later, near.earlier, near.similarity)
            keep = like < 0
            if keep.all():
                break
            gone.append(_lost(active, like, similarity, "near_duplicate", "nearly the same as"))
            known = remaining(near.compared, keep)
            active, signed = active.filter(pa.array(keep)), signed[keep]
    places = np.sort(active.column("place").to_numpy())
    del active
    return Deduplicated(
        rows.take(pa.array(places)),
        pa.concat_tables([DUPLICATES.empty_table(), *gone]),
        candidates,
    )


def _order(rows: pa.Table) -> Ints:
    explained = pc.fill_null(pc.match_substring_regex(rows.column("explanation"), r"\S"), False)
    keyed = pa.table({"explained": pc.invert(explained), "item_id": rows.column("item_id")})
    order = pc.sort_indices(keyed, [("explained", "ascending"), ("item_id", "ascending")])
    return order.to_numpy().astype(np.int64)


def _without_exact(
    table: pa.Table, prints: Fingerprints, params: CleaningParams
) -> tuple[NDArray[np.bool_], pa.Table]:
    """Which rows stay, shape (n,), and the others as duplicates."""
    first = same_text(prints.text)
    groups = np.zeros(len(first), np.bool_)
    groups[first[prints.answer != prints.answer[first]]] = True
    clash = groups[first]  # whether copies have different answers
    like = np.where(first < np.arange(len(first)), first, -1)
    lost = _lost(table, np.where(clash, -1, like), np.ones(len(like)), "exact_duplicate", "same as")
    if params.conflicting_answers == "keep":
        clash &= like >= 0
    disputed = _lost(
        table,
        np.where(clash, first, -1),
        np.ones(len(like)),
        "exact_duplicate",
        "answers differ between the copies of",
    )
    keep = (like < 0) & ~clash
    return keep, pa.concat_tables([lost, disputed])


def _leaders(
    n: int, later: Ints, earlier: Ints, similarity: NDArray[np.float64]
) -> tuple[Ints, NDArray[np.float64]]:
    """For each item the first item that stays and is like it, −1 where it stays itself."""
    like, alike = np.full(n, -1), np.full(n, np.nan)
    order = np.lexsort((earlier, later))
    for one, other, value in zip(
        later[order].tolist(), earlier[order].tolist(), similarity[order].tolist(), strict=True
    ):
        if like[one] < 0 and like[other] < 0:
            like[one], alike[one] = other, value
    return like, alike


def _lost(
    table: pa.Table,
    like: Ints,
    similarity: NDArray[np.float64],
    rule: RuleName,
    why: str,
) -> pa.Table:
    at = np.flatnonzero(like >= 0)
    ids = table.column("item_id").combine_chunks()
    leaders = ids.take(pa.array(like[at])).cast(_TEXT)
    return pa.table(
        [
            ids.take(pa.array(at)).cast(_TEXT),
            pa.repeat(pa.scalar(rule, _TEXT), len(at)),
            leaders,
            pa.array(similarity[at], pa.float64()),
            pc.binary_join_element_wise(pa.scalar(why, _TEXT), leaders, pa.scalar(" ", _TEXT)),
        ],
        schema=DUPLICATES,
    )
