"""The report of a benchmark made from documents, from tables without texts."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.summary import (
    collect_construction_metrics,
    count_steps,
    measure_sample,
    parse_rates,
)
from benchwright.pipelines.named_nodes import NodeParts, OneOutput, boxed, named_nodes, report_nodes
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
_ROUNDS = ["field_rounds", "difficulty_rounds", "checking_rounds", "difficulty_again_rounds"]
_SUMMARY: tuple[NodeParts, ...] = (
    (
        count_steps,
        [
            *("documents_read", "domain_counts", "sampling_strata", "checking_counts"),
            *("rule_counts", "keyed_split_assignment", "keyed_leak_pairs"),
        ],
        "construction_steps",
    ),
    (
        measure_sample,
        [
            *("difficulty_counts", "sampling_strata", "final_strata", "params:difficulty"),
            *("params:sampling_by_difficulty", "params:checking"),
        ],
        "sample_by_difficulty",
    ),
    (parse_rates, _ROUNDS, "judge_parse_rates"),
    (
        collect_construction_metrics,
        [
            *("construction_steps", "sample_by_difficulty", "judge_parse_rates"),
            *("extraction_measures", "field_accuracy", "judge_agreement", "half_distances"),
            "ratings_again",
        ],
        "construction_metrics",
    ),
)
_FIGURES: dict[str, OneOutput] = {
    "funnel": (draw_construction_funnel, "construction_steps", "figure_construction_funnel"),
    "domains": (draw_domains, "domain_counts", "figure_domains"),
    "fields": (draw_field_halves, "keyed_split_assignment", "figure_field_halves"),
    "levels": (draw_difficulty_levels, "difficulty_counts", "figure_difficulty_levels"),
    "strata": (draw_strata, ["sampling_strata", "difficulty_counts"], "figure_strata"),
    "final-strata": (
        draw_final_strata,
        ["final_strata", "difficulty_counts"],
        "figure_final_strata",
    ),
    "agreement": (draw_judge_agreement, "judge_agreement", "figure_judge_agreement"),
    "replies": (draw_parse_rates, "judge_parse_rates", "figure_parse_rates"),
}
"""Figures by their places on the page; the cleaning pipeline draws its own."""

_SECTIONS: tuple[OneOutput, ...] = (
    (
        show_construction_provenance,
        {name: f"params:{name}" for name in ("variant", "seed", *_SETTINGS)},
        "construction_provenance",
    ),
    (
        show_construction_headline,
        [
            *("construction_steps", "sample_by_difficulty", "judge_parse_rates"),
            *("judge_agreement", "half_distances", "extraction_measures", "field_accuracy"),
            "params:splitting",
        ],
        "construction_headline",
    ),
    (
        show_construction_documents,
        [
            *("documents_read", "domain_counts", "extraction_measures"),
            *("cleaning_funnel", "cleaning_reasons"),
        ],
        "construction_documents",
    ),
    (
        show_construction_fields,
        ["field_counts", "field_accuracy", "keyed_split_assignment", "params:fields"],
        "construction_fields",
    ),
    (
        show_construction_difficulty,
        [
            *("difficulty_counts", "sampling_strata", "sample_by_difficulty"),
            "params:sampling_by_difficulty",
        ],
        "construction_difficulty",
    ),
    (
        show_construction_judges,
        [
            *("checking_counts", "params:checking", "judge_parse_rates", "judge_agreement"),
            "ratings_again",
        ],
        "construction_judges",
    ),
    (
        show_construction_halves,
        [
            *("rule_counts", "half_distances", "keyed_leak_pairs", "construction_steps"),
            "params:splitting",
        ],
        "construction_halves",
    ),
)


def create_pipeline() -> Pipeline:
    """Create the pipeline of figures, metrics and one page; no node sees a text."""
    figures = {place: figure for place, (_, _, figure) in _FIGURES.items()}
    figures["cleaning"] = "figure_cleaning_funnel"
    page = report_nodes("construction_report", render_construction_report, _SECTIONS, figures)
    plots = named_nodes(_FIGURES.values())
    return Pipeline([*named_nodes(_SUMMARY), boxed("plots", plots), boxed("page", page)])
