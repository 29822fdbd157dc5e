"""The comparison of encoders: their vectors, and whether they call the same items similar."""

from kedro.pipeline import Pipeline

from benchwright.pipelines.nodes import node
from benchwright.similarity.encoder_overlap import compare_encoders
from benchwright.similarity.item_vectors import encode_with_each

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
