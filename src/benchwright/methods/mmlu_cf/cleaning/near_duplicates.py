"""Items that are nearly the same: MinHash LSH for candidates, exact comparison for each pair.

Signatures are made of the last sentence of the question and the choices, so that items that share
a long passage are not candidates for that alone.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.exact_duplicates import mixed
from benchwright.methods.mmlu_cf.cleaning.question_parts import last_sentence
from benchwright.methods.mmlu_cf.cleaning.rows import Rows
from benchwright.methods.mmlu_cf.cleaning.same_question import compared_pairs, pairs_to_compare
from benchwright.methods.mmlu_cf.cleaning.shingles import item_shingles
from benchwright.params.cleaning import NearDuplicateParams

Pairs = NDArray[np.int64]
"""Pairs of n items, each as later · n + earlier."""

Over = Callable[[Callable[[Any], Any], Iterator[Any]], Iterator[Any]]

_PAIRS_AT_ONCE = 10_000
_ESTIMATED_AT_ONCE = 100_000
_MARGIN = 4  # standard errors below the threshold at which an estimate rules a pair out


class Near(NamedTuple):
    """Pairs of near-duplicates.

    Attributes:
        later, earlier: positions of the items of each pair, shape (pairs,).
        similarity: exact Jaccard similarity of question and choices, shape (pairs,).
        candidates: pairs that LSH gave.
        shared_passage: pairs that are alike but ask something else, as items on one passage do.
        compared: the candidates that their signatures did not rule out, ascending.
    """

    later: NDArray[np.int64]
    earlier: NDArray[np.int64]
    similarity: NDArray[np.float64]
    candidates: int
    shared_passage: int
    compared: Pairs


def signatures(rows: Rows, params: NearDuplicateParams) -> NDArray[np.uint32]:
    """MinHash signatures (rensa's R-MinHash), shape (n, permutations)."""
    from rensa import RMinHash

    if not len(rows):
        return np.empty((0, params.permutations), np.uint32)
    found = item_shingles(rows, last_sentence(rows.question))
    matrix = RMinHash.digest_matrix_from_flat_token_hashes(
        mixed(found.values), found.offsets.astype(np.uint64), params.permutations, params.seed
    )
    return np.array(matrix.to_rows(), np.uint32)


def near_pairs(
    rows: Rows,
    signed: NDArray[np.uint32],
    answer: NDArray[np.int64],
    params: NearDuplicateParams,
    known: Pairs | None = None,
    over: Over | None = None,
) -> Near:
    """Pairs of near-duplicates among n items.

    Each item of a bucket is compared with its first one and the `neighbours` before it, so the
    number of pairs grows with n whatever the buckets are.

    Args:
        rows: the items, the one to keep before the others.
        signed: their signatures, shape (n, permutations).
        answer: position of each item's answer, shape (n,).
        params: thresholds, bands and neighbours.
        known: pairs that were compared before and are none, as `Near.compared` gives them.
        over: applies a function to tasks, in order, as `BatchEngine.over`; None for here and now.
    """
    pairs = _candidates(signed, params)
    n = len(rows)
    likely = np.concatenate(
        [_likely(signed, some, params) for some in _chunks(pairs, _ESTIMATED_AT_ONCE)]
        or [_no_pairs()]
    )
    new = likely if known is None else np.setdiff1d(likely, known, assume_unique=True)
    tasks = (
        pairs_to_compare(rows, answer, some // n, some % n) for some in _chunks(new, _PAIRS_AT_ONCE)
    )
    work = partial(compared_pairs, params=params)
    parts = list(chain.from_iterable(map(work, tasks)) if over is None else over(work, tasks))
    none = _no_pairs()
    return Near(
        np.concatenate([none, *(part.later for part in parts)]),
        np.concatenate([none, *(part.earlier for part in parts)]),
        np.concatenate([np.zeros(0), *(part.similarity for part in parts)]),
        len(pairs),
        sum(part.shared_passage for part in parts),
        likely,
    )


def remaining(pairs: Pairs, keep: NDArray[np.bool_]) -> Pairs:
    """Pairs of the items that stay, numbered as they are then, ascending."""
    n, place = len(keep), np.cumsum(keep) - 1
    later, earlier = pairs // n, pairs % n
    both = keep[later] & keep[earlier]
    left: Pairs = place[later[both]] * int(keep.sum()) + place[earlier[both]]
    return left


def _lowest(params: NearDuplicateParams) -> float:
    spread = (params.similarity * (1 - params.similarity) / params.permutations) ** 0.5
    return params.similarity - _MARGIN * spread


def _candidates(signed: NDArray[np.uint32], params: NearDuplicateParams) -> Pairs:
    """Pairs that share a band, ascending, each once."""
    n = len(signed)
    width = params.permutations // params.bands
    pairs = _no_pairs()
    for band in range(params.bands):
        bucket = np.zeros(n, np.uint64)
        for column in range(band * width, (band + 1) * width):
            bucket = mixed(bucket + np.uint64(0x9E3779B97F4A7C15) + signed[:, column])
        order = np.argsort(bucket, kind="stable")
        ordered = bucket[order]
        new = np.concatenate([[True], ordered[1:] != ordered[:-1]])[:n]
        first = np.flatnonzero(new)[np.cumsum(new) - 1] if n else np.zeros(0, np.int64)
        place = np.arange(n)
        found = [order[place[~new]] * n + order[first[~new]]]
        for lag in range(1, params.neighbours + 1):
            there = place - lag > first
            found.append(order[place[there]] * n + order[place[there] - lag])
        pairs = np.concatenate([pairs, *found])
        pairs.sort()
        pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])[: len(pairs)]]
    return pairs


def _chunks(pairs: Pairs, size: int) -> Iterator[Pairs]:
    for start in range(0, len(pairs), size):
        yield pairs[start : start + size]


def _likely(signed: NDArray[np.uint32], pairs: Pairs, params: NearDuplicateParams) -> Pairs:
    """Those whose signatures do not rule them out."""
    n = len(signed)
    agreement = (signed[pairs // n] == signed[pairs % n]).mean(axis=1)
    found: Pairs = pairs[agreement >= _lowest(params)]
    return found


def _no_pairs() -> Pairs:
    return np.zeros(0, np.int64)
