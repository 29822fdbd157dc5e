"""Vectors of items, neighbours and distances."""

import pandera.pandas as pa
from pandera.typing import Series

from benchwright.tables.base import Table


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


class Neighbours(Table):
    """The k nearest other items of each item by cosine distance, nearest first."""

    item_id: Series[str]
    neighbour: Series[str]
    distance: Series[float] = pa.Field(ge=0, le=2)


class DistanceDensity(Table):
    """The kernel density of neighbour distances on its grid; `peak` marks local maxima."""

    x: Series[float]
    y: Series[float] = pa.Field(ge=0)
    peak: Series[bool]


class ThresholdSensitivity(Table):
    """The threshold by kernel bandwidth (the rule is discontinuous)."""

    bandwidth: Series[float]
    peaks: Series[int]
    branch: Series[str]  # first_peak, halved, fixed
    threshold: Series[float] = pa.Field(nullable=True)
    items_within: Series[int]
    share_within: Series[float]


class EncoderOverlap(Table):
    """Agreement of two encoders on which items are similar (SMART, Tables 7 and 8).

    An item is similar if its nearest neighbour is closer than its encoder's own δ.
    """

    encoder_a: Series[str]
    encoder_b: Series[str]
    n_items: Series[int]
    threshold_a: Series[float] = pa.Field(nullable=True)
    threshold_b: Series[float] = pa.Field(nullable=True)
    similar_a: Series[int]
    similar_b: Series[int]
    both: Series[int]
    share_of_a: Series[float] = pa.Field(nullable=True)  # both / similar_a
    share_of_b: Series[float] = pa.Field(nullable=True)
    jaccard: Series[float] = pa.Field(nullable=True)  # both / either
    same_verdict: Series[float] = pa.Field(nullable=True)  # items on which both say the same / all
    expected_same: Series[float] = pa.Field(nullable=True)  # the same if they were independent


class TextVectors(Table):
    """Vectors of short texts (questions, options), each once; key (encoder, text_hash)."""

    text_hash: Series[str]
    encoder: Series[str]
    vector: Series[object]  # list[float32], unit length
