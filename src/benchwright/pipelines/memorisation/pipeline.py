"""The memorisation stage: replies to questions without options → tables and one page."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.memorisation import (
    choose_examples,
    collect_memorisation_metrics,
    compare_replies,
    summarise_memorisation,
)
from benchwright.pipelines.named_nodes import Function, inputs_by_name, named_nodes
from benchwright.reports.memorisation.memorisation_plot import plot_memorisation
from benchwright.reports.memorisation.page import render_memorisation_page

_PARAMS = ("ingestion", "variant", "scoring", "seed")


def create_pipeline() -> Pipeline:
    """Create the pipeline that measures memorisation by item and by model."""
    compared: dict[Function, str] = {compare_replies: "memorisation"}
    read: dict[Function, str] = {
        summarise_memorisation: "memorisation_summary",
        choose_examples: "memorisation_examples",
        plot_memorisation: "memorisation_plot",
        collect_memorisation_metrics: "memorisation_metrics",
        render_memorisation_page: "memorisation_report",
    }
    return Pipeline(
        named_nodes(
            [
                *inputs_by_name(compared, (*_PARAMS, "memorisation")),
                *inputs_by_name(read, _PARAMS, settings="params:memorisation"),
            ]
        )
    )
