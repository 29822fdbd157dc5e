"""Clean items → items with a field, in memory, because half of them will be closed."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.named_fields import count_fields, name_fields
from benchwright.pipelines.nodes import ASKS_MODELS, node

_NODES = [
    node(
        name_fields,
        [
            "clean_items",
            "judge_store",
            "params:fields",
            "params:models",
            "params:scoring",
        ],
        ["fielded_items", "field_rounds"],
        ASKS_MODELS,
    ),
    node(count_fields, "fielded_items", "field_counts"),
]


def create_pipeline() -> Pipeline:
    """Create the pipeline that names the field of each clean item."""
    return Pipeline(_NODES)
