"""Vectors of items, neighbours and distances."""

import pandera.pandas as pa
from pandera.typing import Series

from benchwright.tables.base import Columns, Table


class EncoderVectors(Table):
    """Vectors of the same items from several encoders; key (encoder, item_id)."""

    item_id: Series[str]
    text_hash: Series[str]
    encoder: Series[str]
    vector: Series[object]  # list[float32], unit length


class Embeddings(EncoderVectors):
    """One vector per item; `text_hash` and `encoder` identify the text and the encoder.

    Empty if a variant uses no embeddings.
    """

    item_id: Series[str] = pa.Field(unique=True)


Neighbours = Columns(
    (str, "item_id", "neighbour"),
    (float, "distance"),  # 0–2
)
"""The k nearest other items of each item by cosine distance, nearest first."""


DistanceDensity = Columns(
    (float, "x", "y"),
    (bool, "peak"),
)
"""The kernel density of neighbour distances on its grid; `peak` marks local maxima."""

EncoderOverlap = Columns(
    (str, "encoder_a", "encoder_b"),
    (int, "n_items"),
    (float, "threshold_a", "threshold_b"),
    (int, "similar_a", "similar_b", "both"),
    # jaccard: both / either; same_verdict: items on which both
    # say the same / all; expected_same: the same if they were independent
    (float, "jaccard", "same_verdict", "expected_same"),
)
"""Agreement of two encoders on which items are similar (SMART, Tables 7 and 8).

An item is similar if its nearest neighbour is closer than its encoder's own δ.
"""


class TextVectors(Table):
    """Vectors of short texts (questions, options), each once; key (encoder, text_hash)."""

    text_hash: Series[str]
    encoder: Series[str]
    vector: Series[object]  # list[float32], unit length
