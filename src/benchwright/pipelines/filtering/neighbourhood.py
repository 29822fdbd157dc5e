"""The neighbours that the rule about similar items looks at (SMART, section 3.4)."""

import pandas as pd

from benchwright.params.filtering import FilteringParams
from benchwright.similarity.neighbourhood import Neighbourhood
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
    near = Neighbourhood.nearest(items, embeddings, filtering.similar.k)
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
