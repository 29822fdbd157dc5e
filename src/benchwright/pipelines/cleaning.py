"""Raw items to clean items, with counts for each rule.

Tables with texts or ids of items are kept in memory, because half of the items will be closed;
only counts are saved.
"""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.cleaning.cleaned_items import (
    clean_raw_items,
    count_domains,
    count_reasons,
)
from benchwright.pipelines.nodes import node

_NODES = [
    node(
        clean_raw_items,
        ["raw_items", "params:cleaning"],
        [
            "clean_items",
            "rejected_raw_items",
            "cleaning_changes",
            "cleaning_funnel",
        ],
    ),
    node(
        count_reasons,
        ["rejected_raw_items", "cleaning_changes"],
        "cleaning_reasons",
    ),
    node(count_domains, ["document_domains", "raw_items", "clean_items"], "domain_counts"),
]


def create_pipeline() -> Pipeline:
    """Create the pipeline from raw items to clean items and counts for each rule."""
    return Pipeline(_NODES)
