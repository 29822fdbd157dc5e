"""Vectors of items, by the encoder of the filters and by each of a comparison."""

import pandas as pd

from benchwright.params.scoring import EmbeddingParams, ModelsParams
from benchwright.similarity.vectors import choose_encoder, encode_items
from benchwright.tables.similarity import Embeddings


def compute_embeddings(
    items: pd.DataFrame,
    embedding_cache: pd.DataFrame,
    embedding: EmbeddingParams,
    models: ModelsParams,
    import_report: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Encode the question and choices of each item that is not in the cache.

    Items of the cache that are not among `items` (left out by `limit`) stay in it. With
    `enabled: false` the cache is returned. `import_report` is not read; it makes the import, which
    checks the names of filter models in seconds, come first.

    Raises:
        InputError: the encoder is not in the parameters, or its weights are missing.
    """
    if not embedding.enabled:
        return embedding_cache[Embeddings.columns()]
    return encode_items(items, embedding_cache, embedding.encoder, embedding, models)


def encode_with_each(
    items: pd.DataFrame,
    encoder_vector_cache: pd.DataFrame,
    embedding_cache: pd.DataFrame,
    embedding: EmbeddingParams,
    models: ModelsParams,
) -> pd.DataFrame:
    """Encode the items with each encoder of `embedding.compare`, and only what is new.

    Vectors of an earlier comparison and those of the filters are reused where encoder, precision
    and text are the same. Cached vectors of other encoders stay.

    Returns:
        Columns of `Embeddings`, one row for each encoder and item.

    Raises:
        InputError: an encoder is not in the parameters, or its weights are missing.
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
    filled = [table for table in tables if len(table)]
    return pd.concat(filled, ignore_index=True) if filled else Embeddings.empty()
