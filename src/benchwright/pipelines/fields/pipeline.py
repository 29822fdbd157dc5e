"""The stage of fields: clean items → items with a field."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.fields.nodes import count_fields, measure_fields, name_fields


def create_pipeline() -> Pipeline:
    """The field of each clean item, how many there are of each, and how often it is right."""
    return Pipeline(
        [
            Node(
                name_fields,
                {
                    "clean_items": "clean_items",
                    "text_vector_cache": "text_vector_cache",
                    "judge_store": "judge_store",
                    "fields": "params:fields",
                    "models": "params:models",
                    "scoring": "params:scoring",
                },
                ["fielded_items", "field_predictions", "field_rounds"],
                name="name_fields",
            ),
            Node(
                measure_fields,
                ["clean_items", "field_predictions", "extraction_labels"],
                "field_accuracy",
                name="measure_fields",
            ),
            Node(count_fields, "fielded_items", "field_counts", name="count_fields"),
        ]
    )
