"""The report of a benchmark made from documents; of texts it reads the public half's only."""

from kedro.pipeline import Pipeline

from benchwright.methods.mmlu_cf.construction_steps import (
    collect_construction_metrics,
    count_steps,
    read_rates,
)
from benchwright.methods.mmlu_cf.public_half import read_public_half
from benchwright.pipelines.nodes import boxed, node
from benchwright.reports.mmlu_cf import page, plots
from benchwright.reports.mmlu_cf.findings import judge_construction

_JUDGES = ["judge_parse_rates", "judge_agreement"]
_RUN = [
    "variant",
    "seed",
    "collection",
    "cleaning",
    "fields",
    "difficulty",
    "sampling_by_difficulty",
    "checking",
    "perturbation",
    "splitting",
    "sealing",
]
_NODES = [
    node(
        count_steps,
        [
            "documents_read",
            "domain_counts",
            "checking_counts",
            "rule_counts",
            "public_split_assignment",
            "leak_counts",
            "params:sampling_by_difficulty",
            "params:checking",
        ],
        "construction_steps",
    ),
    node(read_public_half, ["sealed_benchmark", "params:seed"], "public_half"),
    node(
        read_rates,
        ["field_rounds", "difficulty_rounds", "checking_rounds", "final_difficulty_rounds"],
        "judge_parse_rates",
    ),
    node(collect_construction_metrics, "construction_steps", "construction_metrics"),
]
_PLOTS = [
    node(plots.plot_construction_funnel, "construction_steps", "construction_funnel_plot"),
    node(plots.plot_difficulty_levels, "difficulty_counts", "difficulty_levels_plot"),
]
_SHOWN = (
    "construction_verdict",
    "construction_documents",
    "construction_fields",
    "construction_difficulty",
    "construction_judges",
    "construction_halves",
    "public_half_section",
    "construction_provenance",
    "construction_funnel_plot",
    "difficulty_levels_plot",
)
"""What the page shows, with its sections in order."""

_PAGE = [
    node(
        page.show_construction_provenance,
        {name: f"params:{name}" for name in _RUN},
        "construction_provenance",
    ),
    node(
        judge_construction,
        ["construction_steps", *_JUDGES, "half_distances", "extraction_measures"],
        "construction_verdict",
    ),
    node(
        page.show_construction_documents,
        ["extraction_measures", "cleaning_funnel"],
        "construction_documents",
    ),
    node(
        page.show_construction_fields,
        ["field_counts", "public_split_assignment"],
        "construction_fields",
    ),
    node(
        page.show_construction_difficulty,
        ["construction_steps", "checking_counts", "params:sampling_by_difficulty"],
        "construction_difficulty",
    ),
    node(
        page.show_construction_judges,
        ["construction_steps", "checking_counts", *_JUDGES],
        "construction_judges",
    ),
    node(
        page.show_construction_halves,
        ["rule_counts", "half_distances", "leak_counts"],
        "construction_halves",
    ),
    node(page.show_public_half, ["construction_steps", "public_half"], "public_half_section"),
    node(
        page.render_construction_report,
        {
            "variant": "params:variant",
            "sealing": "params:sealing",
            **{name: name for name in _SHOWN},
        },
        "construction_report",
    ),
]


def create_pipeline() -> Pipeline:
    """Create the pipeline of plots, metrics and one page; no node sees a closed question."""
    return Pipeline([*_NODES, boxed("plots", _PLOTS), boxed("page", _PAGE)])
