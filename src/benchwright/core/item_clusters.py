"""Clusters of dependent items: those that share a passage or a stem."""

import hashlib

import numpy as np
import pandas as pd

from benchwright.core.array_types import Places
from benchwright.core.cells import cells
from benchwright.core.natural_order import natural_order
from benchwright.core.text_folding import folded


def item_clusters(items: pd.DataFrame) -> Places:
    """Return a cluster label for each item; items of one cluster are resampled together.

    Items with the same `passage_id` form a cluster; items without a passage do if their questions
    are equal up to case and white space (Miller 2024, arXiv:2411.00640). An empty question is its
    own cluster. Return (n,) labels 0, 1, … in the order of the rows, numbered by the natural order
    of the clusters' first item ids.
    """
    ids = [str(item_id) for item_id in cells(items["item_id"])]
    rows = zip(ids, cells(items["passage_id"]), cells(items["question"]), strict=True)
    keys = np.array([_key(*row) for row in rows], dtype=object)
    order = natural_order(ids)
    labels = np.empty(len(ids), dtype=np.intp)
    labels[order] = pd.factorize(keys[order])[0]  # numbered as they first appear
    return labels


def _key(item_id: str, passage: object, question: str) -> bytes:
    """Return a digest of the shared text, which takes less memory than the text."""
    stem = folded(str(question))
    shared = f"stem\x1f{stem}" if stem else f"item\x1f{item_id}"
    if isinstance(passage, str) and passage.strip():
        shared = f"passage\x1f{passage}"
    return hashlib.blake2b(shared.encode(), digest_size=16).digest()
