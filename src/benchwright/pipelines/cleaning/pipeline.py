"""The cleaning stage: raw items to clean items, funnel and counts by domain."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.cleaning.nodes import clean_raw_items, count_domains, count_reasons
from benchwright.reports.mmlu_cf.plots.funnels import plot_cleaning_funnel


def create_pipeline() -> Pipeline:
    """Create the pipeline from raw items to clean items and counts for each rule."""
    return Pipeline(
        [
            Node(
                clean_raw_items,
                ["raw_items", "params:cleaning"],
                [
                    "clean_items",
                    "rejected_raw_items",
                    "cleaning_changes",
                    "cleaning_funnel",
                    "cleaning_duplicates",
                ],
                name="clean_raw_items",
            ),
            Node(
                count_reasons,
                ["rejected_raw_items", "cleaning_changes", "cleaning_duplicates"],
                "cleaning_reasons",
                name="count_reasons",
            ),
            Node(
                count_domains,
                ["document_domains", "raw_items", "clean_items"],
                "domain_counts",
                name="count_domains",
            ),
            Node(
                plot_cleaning_funnel,
                "cleaning_funnel",
                "cleaning_funnel_plot",
                name="plot_cleaning_funnel",
            ),
        ]
    )
