"""The memorisation stage: what models wrote under the question alone → tables and one page."""

from kedro.pipeline import Node, Pipeline

from benchwright.methods.mmlu_cf.memorisation import (
    choose_examples,
    collect_memorisation_metrics,
    compare_replies,
    summarise_memorisation,
)
from benchwright.reports.memorisation.figure import draw_memorisation
from benchwright.reports.memorisation.page import render_memorisation_page


def create_pipeline() -> Pipeline:
    """Items and generations → what is remembered, by item and by model."""
    return Pipeline(
        [
            Node(
                compare_replies,
                ["items", "generations", "params:memorisation", "params:scoring", "params:seed"],
                "memorisation",
                name="compare_replies",
            ),
            Node(
                summarise_memorisation,
                {
                    "table": "memorisation",
                    "params": "params:memorisation",
                },
                "memorisation_summary",
                name="summarise_memorisation",
            ),
            Node(
                choose_examples,
                {
                    "items": "items",
                    "memorisation": "memorisation",
                    "settings": "params:memorisation",
                    "seed": "params:seed",
                },
                "memorisation_examples",
                name="choose_examples",
            ),
            Node(
                draw_memorisation,
                {
                    "memorisation_summary": "memorisation_summary",
                    "settings": "params:memorisation",
                },
                "figure_memorisation",
                name="draw_memorisation",
            ),
            Node(
                collect_memorisation_metrics,
                "memorisation_summary",
                "memorisation_metrics",
                name="collect_memorisation_metrics",
            ),
            Node(
                render_memorisation_page,
                [
                    "params:ingestion",
                    "params:variant",
                    "params:memorisation",
                    "params:scoring",
                    "params:seed",
                    "memorisation_summary",
                    "memorisation_examples",
                    "figure_memorisation",
                ],
                "memorisation_report",
                name="render_memorisation_page",
            ),
        ]
    )
