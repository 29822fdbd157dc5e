"""Documents to raw items, and the quality of extraction on labelled documents.

Texts of items are never saved, because half of them will be closed: `raw_items` is an Arrow table
in memory, and only counts are saved.
"""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.extraction.collected_items import extract_items, measure_extraction
from benchwright.pipelines.nodes import node

_NODES = [
    node(
        extract_items,
        ["documents", "params:collection"],
        ["raw_items", "document_domains", "documents_read"],
    ),
    node(measure_extraction, ["raw_items", "extraction_labels"], "extraction_measures"),
]


def create_pipeline() -> Pipeline:
    """Create the pipeline from documents to raw items, with precision and recall on labels."""
    return Pipeline(_NODES)
