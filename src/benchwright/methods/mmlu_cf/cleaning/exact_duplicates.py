"""Items with the same question and the same choices."""

from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from benchwright.methods.mmlu_cf.cleaning.answer_wording import folded
from benchwright.methods.mmlu_cf.cleaning.rows import Rows, indices

_SEEDS = ("benchwright-key-1", "benchwright-key-2")


class Keys(NamedTuple):
    """24 bytes per item, from which duplicates are found without its text.

    Attributes:
        text: hashes of passage, question and choices in any order, shape (n, 2).
        answer: hash of the answer's text, shape (n,).
    """

    text: NDArray[np.uint64]
    answer: NDArray[np.uint64]


def keys(rows: Rows, answer: NDArray[np.int64]) -> Keys:
    """Keys of items; case, white space and a final full stop do not count, other signs do.

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
    return Keys(np.stack(columns, axis=1), hashed(texts, _SEEDS[0]))


def same_text(found: Keys) -> NDArray[np.int64]:
    """For each item the first with the same text, itself if there is none before, shape (n,)."""
    order = np.lexsort((np.arange(len(found.text)), found.text[:, 1], found.text[:, 0]))
    ordered = found.text[order]
    new = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])[: len(order)]
    first = np.empty(len(order), np.int64)
    first[order] = order[new][np.cumsum(new) - 1]
    return first


def conflicting(found: Keys, first: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether items with the same text as this one have different answers, shape (n,)."""
    differs = found.answer != found.answer[first]
    groups = np.zeros(len(first), np.bool_)
    groups[first[differs]] = True
    return groups[first]


def hashed(texts: pa.Array, seed: str = _SEEDS[0]) -> NDArray[np.uint64]:
    """64-bit SipHash of texts, equal on every machine."""
    values = texts.to_numpy(zero_copy_only=False)
    result: NDArray[np.uint64] = pd.util.hash_array(
        values, hash_key=seed[-16:].rjust(16, "."), categorize=False
    )
    return result


def mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64: a bijection after which sums and differences mean nothing."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
