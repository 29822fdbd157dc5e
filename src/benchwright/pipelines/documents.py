"""Items with fields to an open benchmark, and tables with the effect of each rule.

All texts are published. The pipeline `mmlu_cf`, which closes half of its questions, keeps the
inputs of these nodes in memory and does not have their outputs.
"""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.open_texts import open_texts, write_open_benchmark
from benchwright.pipelines.nodes import EXPORT, node

_NODES = [
    node(
        open_texts,
        ["raw_items", "rejected_raw_items", "cleaning_changes"],
        ["open_raw_items", "open_rejected_items", "open_cleaning_changes"],
    ),
    node(
        write_open_benchmark,
        ["fielded_items", "params:open_benchmark", "params:seed"],
        ["open_benchmark", "open_clean_items"],
        EXPORT,
    ),
]


def create_pipeline() -> Pipeline:
    """Create the pipeline that writes the open benchmark and the tables of its construction."""
    return Pipeline(_NODES)
