"""Items that are nearly the same: MinHash LSH for candidates, exact comparison for each pair.

Signatures are made of the last sentence of the question and the choices, so that items that share
a long passage are not candidates for that alone.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchwright.construction.cleaning.exact_duplicates import mixed
from benchwright.construction.cleaning.question_parts import last_sentence
from benchwright.construction.cleaning.rows import Rows
from benchwright.construction.cleaning.same_question import Compared, compared
from benchwright.construction.cleaning.shingles import item_shingles
from benchwright.params.cleaning import NearDuplicateParams

_PAIRS_AT_ONCE = 10_000
_MARGIN = 4  # standard errors below the threshold at which an estimate rules a pair out


class Near(NamedTuple):
    """Pairs of near-duplicates.

    Attributes:
        later, earlier: positions of the items of each pair, shape (pairs,).
        similarity: exact Jaccard similarity of question and choices, shape (pairs,).
        candidates: pairs that LSH gave.
        shared_passage: pairs that are alike but ask something else, as items on one passage do.
    """

    later: NDArray[np.int64]
    earlier: NDArray[np.int64]
    similarity: NDArray[np.float64]
    candidates: int
    shared_passage: int


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
    rows: Rows, signed: NDArray[np.uint32], answer: NDArray[np.int64], params: NearDuplicateParams
) -> Near:
    """Pairs of near-duplicates among n items.

    Each item of a bucket is compared with its first one and the `neighbours` before it, so the
    number of pairs grows with n whatever the buckets are.

    Args:
        rows: the items, the one to keep before the others.
        signed: their signatures, shape (n, permutations).
        answer: position of each item's answer, shape (n,).
        params: thresholds, bands and neighbours.
    """
    pairs = _candidates(signed, params)
    parts: list[Compared] = []
    for later, earlier in _chunks(pairs, len(rows)):
        likely = _estimated(signed, later, earlier) >= _lowest(params)
        if likely.any():
            parts.append(compared(rows, answer, later[likely], earlier[likely], params))
    if not parts:
        none = np.zeros(0, np.int64)
        return Near(none, none, np.zeros(0), len(pairs), 0)
    return Near(
        np.concatenate([part.later for part in parts]),
        np.concatenate([part.earlier for part in parts]),
        np.concatenate([part.similarity for part in parts]),
        len(pairs),
        sum(part.shared_passage for part in parts),
    )


def _lowest(params: NearDuplicateParams) -> float:
    spread = (params.similarity * (1 - params.similarity) / params.permutations) ** 0.5
    return params.similarity - _MARGIN * spread


def _candidates(signed: NDArray[np.uint32], params: NearDuplicateParams) -> NDArray[np.int64]:
    """Pairs as later · n + earlier, ascending, each once."""
    n = len(signed)
    width = params.permutations // params.bands
    pairs = np.zeros(0, np.int64)
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


def _chunks(
    pairs: NDArray[np.int64], n: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        some = pairs[start : start + _PAIRS_AT_ONCE]
        yield some // n, some % n


def _estimated(
    signed: NDArray[np.uint32], later: NDArray[np.int64], earlier: NDArray[np.int64]
) -> NDArray[np.float64]:
    estimate: NDArray[np.float64] = (signed[later] == signed[earlier]).mean(axis=1)
    return estimate
