"""The embedding stage: one vector per item, computed once."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.embedding.nodes import compute_embeddings


def create_pipeline() -> Pipeline:
    """Embeddings of the items' questions and choices."""
    return Pipeline(
        [
            Node(
                compute_embeddings,
                ["items", "embedding_cache", "params:embedding", "params:models"],
                "embeddings",
                name="compute_embeddings",
            )
        ]
    )
