"""The comparison of encoders: their vectors, then their verdicts side by side."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.encoders.nodes import encode_with_each
from benchwright.similarity.encoder_overlap import compare_encoders


def create_pipeline() -> Pipeline:
    """From the items to the table of how far encoders agree on which are similar."""
    return Pipeline(
        [
            Node(
                encode_with_each,
                [
                    "items",
                    "encoder_vector_cache",
                    "embedding_cache",
                    "params:embedding",
                    "params:models",
                ],
                "encoder_vectors",
                name="encode_with_each",
            ),
            Node(
                compare_encoders,
                [
                    "items",
                    "encoder_vectors",
                    "params:embedding",
                    "params:models",
                    "params:filtering",
                ],
                "encoder_overlap",
                name="compare_encoders",
            ),
        ]
    )
