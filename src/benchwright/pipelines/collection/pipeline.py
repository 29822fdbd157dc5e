"""The collection stage: documents to raw items."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.collection.nodes import extract_items, measure_extraction


def create_pipeline() -> Pipeline:
    """Create the pipeline from documents to raw items, with precision and recall on labels."""
    return Pipeline(
        [
            Node(
                extract_items,
                ["documents", "params:collection"],
                ["raw_items", "document_domains", "documents_read"],
                name="extract_items",
            ),
            Node(
                measure_extraction,
                ["raw_items", "extraction_labels"],
                "extraction_measures",
                name="measure_extraction",
            ),
        ]
    )
