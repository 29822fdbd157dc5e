"""The report of a benchmark made from documents, from tables without texts."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.construction_steps import (
    collect_construction_metrics,
    count_steps,
    measure_sample,
    parse_rates,
)
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
    draw_difficulty_levels,
    draw_final_strata,
    draw_strata,
)
from benchwright.reports.mmlu_cf.plots.domains_and_fields import draw_domains, draw_field_halves
from benchwright.reports.mmlu_cf.plots.funnels import draw_construction_funnel
from benchwright.reports.mmlu_cf.plots.judges import draw_judge_agreement, draw_parse_rates

_SETTINGS = (
    *("collection", "cleaning", "fields", "difficulty", "sampling_by_difficulty", "checking"),
    *("perturbation", "splitting", "sealing"),
)
_PARAMS = ("difficulty", "sampling_by_difficulty", "checking", "splitting", "fields")
_SUMMARY: dict[Function, str] = {
    count_steps: "construction_steps",
    measure_sample: "sample_by_difficulty",
    parse_rates: "judge_parse_rates",
    collect_construction_metrics: "construction_metrics",
}
_FIGURES: dict[str, tuple[Function, str]] = {
    "funnel": (draw_construction_funnel, "figure_construction_funnel"),
    "domains": (draw_domains, "figure_domains"),
    "fields": (draw_field_halves, "figure_field_halves"),
    "levels": (draw_difficulty_levels, "figure_difficulty_levels"),
    "strata": (draw_strata, "figure_strata"),
    "final-strata": (draw_final_strata, "figure_final_strata"),
    "agreement": (draw_judge_agreement, "figure_judge_agreement"),
    "replies": (draw_parse_rates, "figure_parse_rates"),
}
"""Figures by their places on the page; the cleaning pipeline draws its own."""
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
    """Create the pipeline of figures, metrics and one page; no node sees a text."""
    figures = {place: figure for place, (_, figure) in _FIGURES.items()}
    figures["cleaning"] = "figure_cleaning_funnel"
    sections = [_PROVENANCE, *inputs_by_name(_SECTIONS, _PARAMS)]
    page = report_nodes("construction_report", render_construction_report, sections, figures)
    summary = named_nodes(inputs_by_name(_SUMMARY, _PARAMS))
    plots = named_nodes(inputs_by_name(dict(_FIGURES.values())))
    return Pipeline([*summary, boxed("plots", plots), boxed("page", page)])
