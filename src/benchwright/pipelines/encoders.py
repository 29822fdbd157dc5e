"""The comparison of encoders: their vectors, and whether they call the same items similar."""

import pandas as pd
from kedro.pipeline import Pipeline

from benchwright.params.scoring import EmbeddingParams, ModelsParams
from benchwright.pipelines.nodes import node
from benchwright.similarity.encoder_overlap import compare_encoders
from benchwright.similarity.vectors import choose_encoder, encode_items
from benchwright.tables.similarity import Embeddings


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


_NODES = [
    node(
        encode_with_each,
        ["items", "encoder_vector_cache", "embedding_cache", "params:embedding", "params:models"],
        "encoder_vectors",
    ),
    node(
        compare_encoders,
        ["items", "encoder_vectors", "params:embedding", "params:models", "params:filtering"],
        "encoder_overlap",
    ),
]


def create_pipeline() -> Pipeline:
    """Create the stage that compares which items the encoders call similar."""
    return Pipeline(_NODES)
