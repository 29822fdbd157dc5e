"""Agreement of encoders on similar items (SMART, section 5.2 and A.5, Tables 7 and 8).

SMART does not define its overlap of 88 to 96%. If few items are similar, independent encoders give
nearly all items the same verdict, so the share of equal verdicts is compared with that expected by
chance and with the Jaccard index.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.params.filtering import FilteringParams, SimilarParams
from benchwright.params.scoring import EmbeddingParams, ModelsParams
from benchwright.similarity.neighbour_search import search_neighbours
from benchwright.similarity.threshold import bin_distances, closer_than, estimate
from benchwright.similarity.vectors import choose_encoder
from benchwright.tables.similarity import EncoderOverlap


class _Opinion(NamedTuple):
    """One encoder's verdicts on n items (similar or not), and its threshold, or NaN."""

    encoder: str
    threshold: float
    similar: NDArray[np.bool_]


def compare_encoders(
    items: pd.DataFrame,
    encoder_vectors: pd.DataFrame,
    embedding: EmbeddingParams,
    models: ModelsParams,
    filtering: FilteringParams,
) -> pd.DataFrame:
    """Compare for each pair of encoders which items have a neighbour closer than δ.

    Each encoder has its neighbours and its δ, by the settings of the filter of similar items,
    whether that filter is on or off. The shares of an encoder without a threshold are NaN.

    Raises:
        InputError: an encoder is not in the parameters.
    """
    params = filtering.similar
    opinions = [
        _opinion(encoder, items, encoder_vectors[encoder_vectors["encoder"] == key], params)
        for encoder in embedding.compare
        for key in [choose_encoder(encoder, embedding, models).key]
    ]
    rows = []
    for a, b in combinations(opinions, 2):
        counts = int(a.similar.sum()), int(b.similar.sum())
        names = a.encoder, b.encoder, len(a.similar), a.threshold, b.threshold
        rows.append((*names, *counts, *_overlap(a, b)))
    return EncoderOverlap.from_rows(rows)


def _overlap(a: _Opinion, b: _Opinion) -> tuple[int, float, float, float]:
    """Return similar items of both, Jaccard index, share of equal verdicts, and that by chance."""
    if np.isnan([a.threshold, b.threshold]).any() or not len(a.similar):
        return 0, np.nan, np.nan, np.nan
    both, either = int((a.similar & b.similar).sum()), int((a.similar | b.similar).sum())
    p, q = float(a.similar.mean()), float(b.similar.mean())
    same = float((a.similar == b.similar).mean())
    return both, both / either if either else np.nan, same, p * q + (1 - p) * (1 - q)


def _opinion(
    encoder: str, items: pd.DataFrame, vectors: pd.DataFrame, params: SimilarParams
) -> _Opinion:
    near = search_neighbours(items, vectors, params.k)
    threshold = estimate(bin_distances(items, near, [params.k], params)[0], params).threshold
    close = closer_than(near.nearest_distances(), threshold)
    value = np.nan if threshold.value is None else threshold.value
    similar = items["item_id"].isin(np.array(near.item_ids, object)[close]).to_numpy()
    return _Opinion(encoder, value, similar)
