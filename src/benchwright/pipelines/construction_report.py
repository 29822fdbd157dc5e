"""The report of a benchmark made from documents; of texts it reads the public half's only."""

from kedro.pipeline import Node, Pipeline

from benchwright.methods.mmlu_cf.construction_steps import (
    collect_construction_metrics,
    count_steps,
    measure_sample,
    parse_rates,
)
from benchwright.methods.mmlu_cf.public_half import read_public_half
from benchwright.pipelines.nodes import boxed, node
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
from benchwright.reports.page.sections import gather_plots

_NODES = [
    node(
        count_steps,
        [
            "documents_read",
            "domain_counts",
            "sampling_strata",
            "checking_counts",
            "rule_counts",
            "public_split_assignment",
            "leak_counts",
            "closed_guesses",
        ],
        "construction_steps",
    ),
    node(read_public_half, ["sealed_benchmark", "params:seed"], "public_half"),
    node(
        measure_sample,
        [
            "difficulty_counts",
            "sampling_strata",
            "final_strata",
            "params:difficulty",
            "params:sampling_by_difficulty",
            "params:checking",
        ],
        "sample_by_difficulty",
    ),
    node(
        parse_rates,
        ["field_rounds", "difficulty_rounds", "checking_rounds", "final_difficulty_rounds"],
        "judge_parse_rates",
    ),
    node(
        collect_construction_metrics,
        [
            "construction_steps",
            "sample_by_difficulty",
            "judge_parse_rates",
            "extraction_measures",
            "field_accuracy",
            "judge_agreement",
            "half_distances",
            "rating_shift",
        ],
        "construction_metrics",
    ),
]
_PLOTS = [
    node(plot_construction_funnel, "construction_steps", "construction_funnel_plot"),
    node(plot_domains, "domain_counts", "domains_plot"),
    node(plot_field_halves, "public_split_assignment", "field_halves_plot"),
    node(plot_difficulty_levels, "difficulty_counts", "difficulty_levels_plot"),
    node(plot_strata, ["sampling_strata", "difficulty_counts"], "strata_plot"),
    node(plot_final_strata, ["final_strata", "difficulty_counts"], "final_strata_plot"),
    node(plot_judge_agreement, "judge_agreement", "judge_agreement_plot"),
    node(plot_parse_rates, "judge_parse_rates", "parse_rates_plot"),
]
_PAGE = [
    node(
        show_construction_provenance,
        {
            "variant": "params:variant",
            "seed": "params:seed",
            "collection": "params:collection",
            "cleaning": "params:cleaning",
            "fields": "params:fields",
            "difficulty": "params:difficulty",
            "sampling_by_difficulty": "params:sampling_by_difficulty",
            "checking": "params:checking",
            "perturbation": "params:perturbation",
            "splitting": "params:splitting",
            "sealing": "params:sealing",
        },
        "construction_provenance",
    ),
    node(
        show_construction_headline,
        [
            "construction_steps",
            "sample_by_difficulty",
            "judge_parse_rates",
            "judge_agreement",
            "half_distances",
            "extraction_measures",
            "field_accuracy",
            "params:splitting",
        ],
        "construction_headline",
    ),
    node(
        show_construction_documents,
        [
            "documents_read",
            "domain_counts",
            "extraction_measures",
            "cleaning_funnel",
            "cleaning_reasons",
            "public_half",
        ],
        "construction_documents",
    ),
    node(
        show_construction_fields,
        ["field_counts", "field_accuracy", "public_split_assignment", "params:fields"],
        "construction_fields",
    ),
    node(
        show_construction_difficulty,
        [
            "difficulty_counts",
            "sampling_strata",
            "sample_by_difficulty",
            "params:sampling_by_difficulty",
        ],
        "construction_difficulty",
    ),
    node(
        show_construction_judges,
        [
            "checking_counts",
            "params:checking",
            "judge_parse_rates",
            "judge_agreement",
            "rating_shift",
        ],
        "construction_judges",
    ),
    node(
        show_construction_halves,
        ["rule_counts", "half_distances", "leak_counts", "construction_steps", "params:splitting"],
        "construction_halves",
    ),
    Node(
        gather_plots,
        {
            "funnel": "construction_funnel_plot",
            "domains": "domains_plot",
            "fields": "field_halves_plot",
            "levels": "difficulty_levels_plot",
            "strata": "strata_plot",
            "final-strata": "final_strata_plot",
            "agreement": "judge_agreement_plot",
            "replies": "parse_rates_plot",
            "cleaning": "cleaning_funnel_plot",
        },
        "construction_report_plots_1",
        name="gather_construction_report_plots_1",
    ),
    node(
        render_construction_report,
        [
            "construction_provenance",
            "construction_headline",
            "construction_documents",
            "construction_fields",
            "construction_difficulty",
            "construction_judges",
            "construction_halves",
            "construction_report_plots_1",
        ],
        "construction_report",
    ),
]


def create_pipeline() -> Pipeline:
    """Create the pipeline of plots, metrics and one page; no node sees a closed question."""
    return Pipeline([*_NODES, boxed("plots", _PLOTS), boxed("page", _PAGE)])
