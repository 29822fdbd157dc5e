"""One vector per item, encoded once (SMART, section 3.4)."""

import pandas as pd

from benchwright.params.embedding import EmbeddingParams
from benchwright.params.scoring import ModelsParams
from benchwright.similarity.item_vectors import encode_items
from benchwright.tables.similarity import Embeddings


def compute_embeddings(
    items: pd.DataFrame,
    embedding_cache: pd.DataFrame,
    embedding: EmbeddingParams,
    models: ModelsParams,
) -> pd.DataFrame:
    """Encodes question and choices of each item; what was encoded before is not encoded again.

    Vectors are reused where encoder and text are the same. Items of the cache that are not among
    `items` (left out by `limit`) stay in it. With `enabled: false` the cache is all there is.

    Raises:
        InputError: the encoder is not in the parameters, or its weights are not there.
    """
    if not embedding.enabled:
        return embedding_cache[Embeddings.columns()]
    return encode_items(items, embedding_cache, embedding.encoder, embedding, models)
