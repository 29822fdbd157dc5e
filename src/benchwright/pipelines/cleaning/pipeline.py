"""The cleaning stage: raw items → clean items, funnel, counts of domains."""

from kedro.pipeline import Node, Pipeline

from benchwright.pipelines.cleaning.nodes import clean_raw_items, count_domains, count_reasons
from benchwright.reports.mmlu_cf.plots.funnels import draw_cleaning_funnel


def create_pipeline() -> Pipeline:
    """Clean items, and what each rule did."""
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
                draw_cleaning_funnel,
                "cleaning_funnel",
                "figure_cleaning_funnel",
                name="draw_cleaning_funnel",
            ),
        ]
    )
