"""The nearest neighbours of each item in embedding space (SMART, section 3.4)."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.errors import InputError
from benchwright.natural_order import in_order
from benchwright.params.filtering import FilteringParams
from benchwright.pipelines.filtering.finding import Bools
from benchwright.statistics.nearest_neighbours import nearest_neighbours
from benchwright.tables import Neighbours


def find_neighbours(
    items: pd.DataFrame, embeddings: pd.DataFrame, filtering: FilteringParams
) -> pd.DataFrame:
    """Finds the 100 nearest other items of each item by cosine distance, exactly.

    Items without a vector have no neighbours. Empty when the rule is off.

    Raises:
        InputError: vectors of different lengths (made with different encoders).
    """
    if not filtering.similar.enabled or embeddings.empty:
        return Neighbours.empty()
    vector_of = dict(zip(embeddings["item_id"], embeddings["vector"], strict=True))
    ids = in_order(item_id for item_id in items["item_id"] if item_id in vector_of)
    sizes = {len(vector_of[item_id]) for item_id in ids}
    if len(sizes) > 1:
        raise InputError(f"embeddings: vectors of different lengths: {sorted(sizes)}")
    if len(ids) < 2:
        return Neighbours.empty()
    vectors = np.array([vector_of[item_id] for item_id in ids], dtype=np.float32)
    found = nearest_neighbours(vectors, filtering.similar.k)
    names = pd.Series(ids, dtype="str")
    return pd.DataFrame(
        {
            "item_id": names.repeat(found.indices.shape[1]).reset_index(drop=True),
            "neighbour": names.take(found.indices.ravel()).reset_index(drop=True),
            "distance": found.distances.ravel().astype(np.float64),
        }
    )


class Neighbourhood(NamedTuple):
    """The table of neighbours as arrays over n items.

    Attributes:
        item_ids: n ids in natural order.
        questions: their n texts.
        indices: (n, k) positions of the neighbours, nearest first.
        distances: (n, k) cosine distances.
    """

    item_ids: tuple[str, ...]
    questions: tuple[str, ...]
    indices: NDArray[np.intp]
    distances: NDArray[np.float64]

    @classmethod
    def of(cls, items: pd.DataFrame, neighbours: pd.DataFrame) -> "Neighbourhood":
        """From the tables; only items that have neighbours."""
        ids = in_order(neighbours["item_id"].unique())
        if not ids:
            blank = np.empty((0, 0))
            return cls((), (), blank.astype(np.intp), blank)
        question_of = dict(zip(items["item_id"], items["question"], strict=True))
        position = pd.Index(ids)
        rows = position.get_indexer(pd.Index(neighbours["item_id"]))
        columns = position.get_indexer(pd.Index(neighbours["neighbour"]))
        distances = neighbours["distance"].to_numpy(dtype=np.float64)
        order = np.lexsort((columns, distances, rows))
        shape = (len(ids), -1)
        return cls(
            tuple(ids),
            tuple(question_of[item_id] for item_id in ids),
            columns[order].reshape(shape),
            distances[order].reshape(shape),
        )


def alike_pairs(
    near: Neighbourhood, rows: NDArray[np.intp], ranks: NDArray[np.intp], above: float
) -> Bools:
    """Which pairs (item `rows[i]`, its neighbour of rank `ranks[i]`) are alike in their questions.

    Alike: the share of characters in common, in order (rapidfuzz ratio, 0–1), exceeds `above`.
    """
    from rapidfuzz import fuzz, process

    left = [near.questions[row] for row in rows]
    right = [near.questions[column] for column in near.indices[rows, ranks]]
    return process.cpdist(left, right, scorer=fuzz.ratio, dtype=np.float64) > 100 * above


def leading_alike(near: Neighbourhood, above: float) -> NDArray[np.intp]:
    """For each item, how many of its nearest neighbours, from the first on, read alike.

    Those are variants by a symbol or copies; their distances say nothing about paraphrases.
    """
    n, k = near.indices.shape
    count = np.zeros(n, dtype=np.intp)
    rows = np.arange(n)
    for rank in range(k):
        rows = rows[alike_pairs(near, rows, np.full(len(rows), rank), above)]
        if not len(rows):
            break
        count[rows] = rank + 1
    return count
