"""The neighbours that the rule about similar items looks at (SMART, section 3.4)."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.seeding import stage_generator
from benchwright.params.filtering import FilteringParams
from benchwright.similarity.neighbourhood import Neighbourhood, item_vectors
from benchwright.statistics.nearest_neighbours import neighbours_of
from benchwright.tables.similarity import Neighbours

# Items whose neighbours are found exactly to tell how many the search has missed.
_CHECKED = 200


def find_neighbours(
    items: pd.DataFrame, embeddings: pd.DataFrame, filtering: FilteringParams
) -> pd.DataFrame:
    """Finds the 100 nearest other items of each item by cosine distance.

    Exactly up to `similar.exact_up_to` items, approximately above. Items without a vector have no
    neighbours. Empty when the rule is off.

    Raises:
        InputError: vectors of different lengths (made with different encoders), or faiss is needed
            and not installed.
    """
    similar = filtering.similar
    if not similar.enabled or embeddings.empty:
        return Neighbours.empty()
    near = Neighbourhood.nearest(items, embeddings, similar.k, similar.exact_up_to)
    if not near.item_ids:
        return Neighbours.empty()
    names = pd.Series(near.item_ids, dtype="str")
    return pd.DataFrame(
        {
            "item_id": names.repeat(near.indices.shape[1]).reset_index(drop=True),
            "neighbour": names.take(near.indices.ravel()).reset_index(drop=True),
            "distance": near.distances.ravel(),
        }
    )


def check_neighbours(
    items: pd.DataFrame,
    embeddings: pd.DataFrame,
    neighbours: pd.DataFrame,
    filtering: FilteringParams,
    seed: int,
) -> dict[str, Any]:
    """Tells how neighbours were searched, and what share of the true ones was found.

    Returns:
        `method`: `none` (no neighbours), `exact` or `approximate`. For the last one also
        `items_checked`, 200 drawn at random, whose neighbours are found again among all pairs;
        `recall`, the mean share of their k nearest that are in `neighbours`; `nearest_found`, the
        share of them whose nearest is; `lowest_recall` of one of them.
    """
    if neighbours.empty:
        return {"method": "none"}
    ids, vectors = item_vectors(items, embeddings)
    if len(ids) <= filtering.similar.exact_up_to:
        return {"method": "exact"}
    draw = stage_generator(seed, "filtering.neighbour_recall")
    rows = np.sort(draw.choice(len(ids), min(_CHECKED, len(ids)), replace=False))
    exact = neighbours_of(vectors, rows, filtering.similar.k)
    asked = neighbours[neighbours["item_id"].isin([ids[row] for row in rows])]
    found = asked.groupby("item_id")["neighbour"].agg(set)
    true = [[ids[column] for column in columns] for columns in exact.indices]
    shares = [
        len(found[ids[row]].intersection(nearest)) / len(nearest)
        for row, nearest in zip(rows, true, strict=True)
    ]
    first = [nearest[0] in found[ids[row]] for row, nearest in zip(rows, true, strict=True)]
    return {
        "method": "approximate",
        "items_checked": len(rows),
        "recall": float(np.mean(shares)),
        "lowest_recall": float(np.min(shares)),
        "nearest_found": float(np.mean(first)),
    }
