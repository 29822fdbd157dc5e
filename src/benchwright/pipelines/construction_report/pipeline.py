"""The report of a benchmark made from documents; of texts it reads the public half's only."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.construction_steps import (
    collect_construction_metrics,
    count_steps,
    measure_sample,
    parse_rates,
)
from benchwright.methods.mmlu_cf.public_half import read_public_half
from benchwright.pipelines.named_nodes import (
    Function,
    OneOutput,
    boxed,
    inputs_by_name,
    named_nodes,
    report_nodes,
)
from benchwright.reports.mmlu_cf.page import (
    render_construction_report,
    show_construction_difficulty,
    show_construction_documents,
    show_construction_fields,
    show_construction_halves,
    show_construction_headline,
    show_construction_judges,
    show_construction_provenance,
)
from benchwright.reports.mmlu_cf.plots.difficulty import (
    plot_difficulty_levels,
    plot_final_strata,
    plot_strata,
)
from benchwright.reports.mmlu_cf.plots.domains_and_fields import plot_domains, plot_field_halves
from benchwright.reports.mmlu_cf.plots.funnels import plot_construction_funnel
from benchwright.reports.mmlu_cf.plots.judges import plot_judge_agreement, plot_parse_rates

_SETTINGS = (
    *("collection", "cleaning", "fields", "difficulty", "sampling_by_difficulty", "checking"),
    *("perturbation", "splitting", "sealing"),
)
_PARAMS = ("difficulty", "sampling_by_difficulty", "checking", "splitting", "fields", "seed")
_SUMMARY: dict[Function, str] = {
    count_steps: "construction_steps",
    read_public_half: "public_half",
    measure_sample: "sample_by_difficulty",
    parse_rates: "judge_parse_rates",
    collect_construction_metrics: "construction_metrics",
}
_PLOTS: dict[str, tuple[Function, str]] = {
    "funnel": (plot_construction_funnel, "construction_funnel_plot"),
    "domains": (plot_domains, "domains_plot"),
    "fields": (plot_field_halves, "field_halves_plot"),
    "levels": (plot_difficulty_levels, "difficulty_levels_plot"),
    "strata": (plot_strata, "strata_plot"),
    "final-strata": (plot_final_strata, "final_strata_plot"),
    "agreement": (plot_judge_agreement, "judge_agreement_plot"),
    "replies": (plot_parse_rates, "parse_rates_plot"),
}
"""Plots by their places on the page; the cleaning pipeline has another plot."""
_PROVENANCE: OneOutput = (
    show_construction_provenance,
    {name: f"params:{name}" for name in ("variant", "seed", *_SETTINGS)},
    "construction_provenance",
)
_SECTIONS: dict[Function, str] = {
    show_construction_headline: "construction_headline",
    show_construction_documents: "construction_documents",
    show_construction_fields: "construction_fields",
    show_construction_difficulty: "construction_difficulty",
    show_construction_judges: "construction_judges",
    show_construction_halves: "construction_halves",
}


def create_pipeline() -> Pipeline:
    """Create the pipeline of plots, metrics and one page; no node sees a closed question."""
    shown = {place: plot for place, (_, plot) in _PLOTS.items()}
    shown["cleaning"] = "cleaning_funnel_plot"
    sections = [_PROVENANCE, *inputs_by_name(_SECTIONS, _PARAMS)]
    page = report_nodes("construction_report", render_construction_report, sections, shown)
    summary = named_nodes(inputs_by_name(_SUMMARY, _PARAMS))
    plots = named_nodes(inputs_by_name(dict(_PLOTS.values())))
    return Pipeline([*summary, boxed("plots", plots), boxed("page", page)])
