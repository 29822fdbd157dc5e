"""The pool that samplers choose from, made of tables."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.dele.samplers.feature_text import FeatureText, feature_texts
from benchwright.methods.dele.samplers.pool import SamplingPool

VectorsByText = Mapping[str, NDArray[np.float32]]


def item_pool(
    items: pd.DataFrame,
    kind: FeatureText = "question",
    vectors: Mapping[str, VectorsByText] | None = None,
    responses: ResponseMatrix | None = None,
) -> SamplingPool:
    """The items as a pool, in the order of the table.

    Args:
        items: an `Items` table of n rows; open-ended items have no choices.
        kind: what features read.
        vectors: by encoder, the unit vector of each of `feature_texts(items, kind)`.
        responses: answers of the models that may choose items, and of no others; items without any
            answer have NaN throughout.

    Raises:
        InputError: an encoder has no vector of a text.
    """
    texts = feature_texts(items, kind)
    ids = tuple(items["item_id"])
    matrices = {name: _matrix(name, found, ids, texts) for name, found in (vectors or {}).items()}
    pool = SamplingPool(ids, tuple(items["subject"]), texts, MappingProxyType(matrices))
    if responses is None:
        return pool
    return SamplingPool(
        pool.item_ids, pool.subjects, texts, pool.vectors, responses.select_items(ids).correct
    )


def _matrix(
    encoder: str, found: VectorsByText, ids: tuple[str, ...], texts: tuple[str, ...]
) -> NDArray[np.float32]:
    for item_id, text in zip(ids, texts, strict=True):
        if text not in found:
            raise InputError(
                f"vectors of {encoder}: none for the text of item {item_id!r}; encode all of "
                "feature_texts(items) with it"
            )
    return np.stack([found[text] for text in texts]).astype(np.float32, copy=False)
