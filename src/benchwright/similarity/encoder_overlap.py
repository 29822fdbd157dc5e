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


class Overlap(NamedTuple):
    """Two encoders' verdicts on the same n items; shares are NaN where they would be 0 / 0."""

    both: int  # items that both call similar
    share_of_a: float  # `both` as a share of those that the first calls similar
    share_of_b: float  # the same of the second
    jaccard: float  # `both` as a share of those that either calls similar
    same_verdict: float  # share of the n items on which they agree
    expected_same: float  # that share if the verdicts were independent


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
        known = not np.isnan([a.threshold, b.threshold]).any()
        shared = overlap(a.similar, b.similar) if known else Overlap(0, *[np.nan] * 5)
        counts = int(a.similar.sum()), int(b.similar.sum())
        names = a.encoder, b.encoder, len(a.similar), a.threshold, b.threshold
        rows.append((*names, *counts, *shared))
    return EncoderOverlap.from_rows(rows)


def overlap(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> Overlap:
    """Compare the verdicts `a` and `b` (n,) of two encoders on the same items."""
    both, either = int((a & b).sum()), int((a | b).sum())
    if not len(a):
        return Overlap(0, *[np.nan] * 5)
    p, q = float(a.mean()), float(b.mean())
    return Overlap(
        both,
        _share(both, int(a.sum())),
        _share(both, int(b.sum())),
        _share(both, either),
        float((a == b).mean()),
        p * q + (1 - p) * (1 - q),
    )


def _opinion(
    encoder: str, items: pd.DataFrame, vectors: pd.DataFrame, params: SimilarParams
) -> _Opinion:
    near = search_neighbours(items, vectors, params.k)
    threshold = estimate(bin_distances(items, near, [params.k], params)[0], params).threshold
    close = closer_than(near.nearest_distances(), threshold)
    value = np.nan if threshold.value is None else threshold.value
    similar = items["item_id"].isin(np.array(near.item_ids, object)[close]).to_numpy()
    return _Opinion(encoder, value, similar)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else np.nan
