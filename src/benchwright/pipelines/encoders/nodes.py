"""The vectors of every encoder that is compared, encoded once."""

import pandas as pd

from benchwright.params.embedding import EmbeddingParams
from benchwright.params.scoring import ModelsParams
from benchwright.similarity.item_vectors import choose_encoder, encode_items
from benchwright.tables.similarity import Embeddings


def encode_with_each(
    items: pd.DataFrame,
    encoder_vector_cache: pd.DataFrame,
    embedding_cache: pd.DataFrame,
    embedding: EmbeddingParams,
    models: ModelsParams,
) -> pd.DataFrame:
    """Encodes the items with each encoder of `embedding.compare`, and only what is new.

    Vectors of an earlier comparison and those of the filters are reused where encoder, precision
    and text are the same. What the cache holds of other encoders stays in it.

    Returns:
        Columns of `Embeddings`, one row for each encoder and item.

    Raises:
        InputError: an encoder is not in the parameters, or its weights are not there.
    """
    for encoder in embedding.compare:
        choose_encoder(encoder, embedding, models)  # a wrong name fails before anything is encoded
    columns = Embeddings.columns()
    cached = encoder_vector_cache[columns]
    known = _together([cached, embedding_cache[columns]])
    now = [encode_items(items, known, encoder, embedding, models) for encoder in embedding.compare]
    keys = [key for table in now for key in table["encoder"].unique()]
    return _together([*now, cached[~cached["encoder"].isin(keys)]])


def _together(tables: list[pd.DataFrame]) -> pd.DataFrame:
    some = [table for table in tables if len(table)]
    return pd.concat(some, ignore_index=True) if some else Embeddings.empty()
