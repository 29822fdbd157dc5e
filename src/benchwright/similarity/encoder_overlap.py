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


class _Overlap(NamedTuple):
    """One row of `EncoderOverlap`, in the order of its columns."""

    encoder_a: str
    encoder_b: str
    n_items: int
    threshold_a: float
    threshold_b: float
    similar_a: int
    similar_b: int
    both: int = 0  # similar to both
    jaccard: float = np.nan
    same_verdict: float = np.nan
    expected_same: float = np.nan  # if the encoders were independent


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
    opinions = []
    for encoder in embedding.compare:
        key = choose_encoder(encoder, embedding, models).key
        vectors = encoder_vectors[encoder_vectors["encoder"] == key]
        opinions.append(_opinion(encoder, items, vectors, filtering.similar))
    return EncoderOverlap.from_rows([_overlap(a, b) for a, b in combinations(opinions, 2)])


def _overlap(a: _Opinion, b: _Opinion) -> _Overlap:
    found = _Overlap(
        encoder_a=a.encoder,
        encoder_b=b.encoder,
        n_items=len(a.similar),
        threshold_a=a.threshold,
        threshold_b=b.threshold,
        similar_a=int(a.similar.sum()),
        similar_b=int(b.similar.sum()),
    )
    if np.isnan([a.threshold, b.threshold]).any() or not len(a.similar):
        return found
    both = int((a.similar & b.similar).sum())
    either = int((a.similar | b.similar).sum())
    share_a = float(a.similar.mean())
    share_b = float(b.similar.mean())
    return found._replace(
        both=both,
        jaccard=both / either if either else np.nan,
        same_verdict=float((a.similar == b.similar).mean()),
        expected_same=share_a * share_b + (1 - share_a) * (1 - share_b),
    )


def _opinion(
    encoder: str, items: pd.DataFrame, vectors: pd.DataFrame, params: SimilarParams
) -> _Opinion:
    near = search_neighbours(items, vectors, params.k)
    threshold = estimate(bin_distances(items, near, params), params).threshold
    close = closer_than(near.nearest_distances(), threshold)
    similar = items["item_id"].isin(np.array(near.item_ids, object)[close])
    value = np.nan if threshold.value is None else threshold.value
    return _Opinion(encoder, value, similar.to_numpy())
