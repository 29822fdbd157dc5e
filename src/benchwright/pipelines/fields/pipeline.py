"""The fields stage: clean items → items with a field."""

from kedro.pipeline import Pipeline

from benchwright.pipelines.fields.nodes import count_fields, measure_fields, name_fields
from benchwright.pipelines.named_nodes import Function, inputs_by_name, named_nodes


def create_pipeline() -> Pipeline:
    """Create the pipeline that names the field of each clean item."""
    outputs: dict[Function, str | list[str]] = {
        name_fields: ["fielded_items", "field_predictions", "field_rounds"],
        measure_fields: "field_accuracy",
        count_fields: "field_counts",
    }
    return Pipeline(named_nodes(inputs_by_name(outputs, ("fields", "models", "scoring"))))
