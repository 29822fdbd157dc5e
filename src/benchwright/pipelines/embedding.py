"""The embedding stage: one vector per item, computed once (SMART, section 3.4)."""

import pandas as pd
from kedro.pipeline import Pipeline

from benchwright.params.scoring import EmbeddingParams, ModelsParams
from benchwright.pipelines.nodes import node
from benchwright.similarity.vectors import encode_items
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


def create_pipeline() -> Pipeline:
    """Create the stage that encodes the items."""
    inputs = ["items", "embedding_cache", "params:embedding", "params:models", "import_report"]
    return Pipeline([node(compute_embeddings, inputs, "embeddings")])
