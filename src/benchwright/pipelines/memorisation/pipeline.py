"""The memorisation stage: what models wrote under the question alone → tables and one page."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.memorisation import (
    choose_examples,
    collect_memorisation_metrics,
    compare_replies,
    summarise_memorisation,
)
from benchwright.pipelines.named_nodes import NodeParts, named_nodes
from benchwright.reports.memorisation.page import render_memorisation_page
from benchwright.reports.memorisation.plots import draw_memorisation

_NODES: tuple[NodeParts, ...] = (
    (
        compare_replies,
        ["items", "generations", "params:memorisation", "params:scoring", "params:seed"],
        "memorisation",
    ),
    (
        summarise_memorisation,
        {"table": "memorisation", "params": "params:memorisation"},
        "memorisation_summary",
    ),
    (
        choose_examples,
        {
            "items": "items",
            "memorisation": "memorisation",
            "settings": "params:memorisation",
            "seed": "params:seed",
        },
        "memorisation_examples",
    ),
    (draw_memorisation, ["memorisation_summary", "params:memorisation"], "figure_memorisation"),
    (collect_memorisation_metrics, "memorisation_summary", "memorisation_metrics"),
    (
        render_memorisation_page,
        [
            *("params:ingestion", "params:variant", "params:memorisation", "params:scoring"),
            *("params:seed", "memorisation_summary", "memorisation_examples"),
            "figure_memorisation",
        ],
        "memorisation_report",
    ),
)


def create_pipeline() -> Pipeline:
    """Create the pipeline that measures what models remember, by item and by model."""
    return Pipeline(named_nodes(_NODES))
