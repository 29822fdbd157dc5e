"""The embedding stage: one vector per item, computed once (SMART, section 3.4)."""

from kedro.pipeline import Pipeline

from benchwright.pipelines.nodes import node
from benchwright.similarity.item_vectors import compute_embeddings


def create_pipeline() -> Pipeline:
    """Create the stage that encodes the items."""
    inputs = ["items", "embedding_cache", "params:embedding", "params:models", "import_report"]
    return Pipeline([node(compute_embeddings, inputs, "embeddings")])
