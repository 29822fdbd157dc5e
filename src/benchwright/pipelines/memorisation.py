"""The memorisation stage: replies to questions without options → tables and one page."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.memorisation import (
    choose_examples,
    compare_replies,
    summarise_memorisation,
)
from benchwright.pipelines.nodes import node
from benchwright.reports.memorisation import judge_memorisation, render_memorisation_page

_NODES = [
    node(
        compare_replies,
        ["items", "generations", "params:scoring", "params:seed"],
        "memorisation",
    ),
    node(summarise_memorisation, "memorisation", "memorisation_summary"),
    node(
        choose_examples,
        ["items", "memorisation", "params:seed"],
        "memorisation_examples",
    ),
    node(judge_memorisation, "memorisation_summary", "memorisation_verdict"),
    node(
        render_memorisation_page,
        [
            "params:ingestion",
            "params:variant",
            "params:scoring",
            "params:seed",
            "memorisation_verdict",
            "memorisation_summary",
            "memorisation_examples",
        ],
        "memorisation_report",
    ),
]


def create_pipeline() -> Pipeline:
    """Create the pipeline that measures memorisation by item and by model."""
    return Pipeline(_NODES)
