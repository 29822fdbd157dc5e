"""The fields stage: clean items → items with a field."""

from kedro.pipeline import Pipeline

from benchwright.pipelines.fields.nodes import count_fields, measure_fields, name_fields
from benchwright.pipelines.named_nodes import NodeParts, named_nodes

_ASKING = ("text_vector_cache", "judge_store", "params:fields", "params:models", "params:scoring")
_NODES: tuple[NodeParts, ...] = (
    (
        name_fields,
        ["clean_items", *_ASKING],
        ["fielded_items", "field_predictions", "field_rounds"],
    ),
    (measure_fields, ["clean_items", "field_predictions", "extraction_labels"], "field_accuracy"),
    (count_fields, "fielded_items", "field_counts"),
)


def create_pipeline() -> Pipeline:
    """Create the pipeline that names the field of each clean item."""
    return Pipeline(named_nodes(_NODES))
