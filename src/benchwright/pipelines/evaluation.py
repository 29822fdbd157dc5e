"""The evaluation stage: whether the refined benchmark still ranks models as it should."""

from kedro.pipeline import Pipeline

from benchwright.evidence import (
    ire,
    kept_ranking,
    panel,
    random_comparison,
    ratings,
    scores,
    verdict,
)
from benchwright.methods.smart import audit, label_errors, metrics, review
from benchwright.pipelines.nodes import boxed, node, report_node
from benchwright.reports.smart import item_list, plots, sections, summary

_RANKED = ["response_matrix", "items"]
_RESAMPLED = ["scores", "panel", "human_ratings", "params:evaluation", "params:seed"]
_COVERED = ["items", "kept_items", "rejected_items", "rule_coverage"]
_NODES = [
    node(
        panel.choose_panel,
        [
            *_RANKED,
            "models_table",
            "chosen_filter_models",
            "params:evaluation_models",
            "params:evaluation",
        ],
        "panel",
    ),
    node(scores.score_models, [*_RANKED, "kept_items", "panel"], "scores"),
    node(ratings.read_ratings, ["user_ratings", "params:ratings"], "human_ratings"),
    node(ratings.match_ratings, ["scores", "human_ratings"], "model_ratings"),
    node(kept_ranking.compare_ranks, [*_RANKED, "kept_items", *_RESAMPLED], "rank_agreement"),
    node(
        ire.estimate_item_parameters, ["response_matrix", "panel"], ["item_parameters", "ire_fit"]
    ),
    node(random_comparison.gather_subsets, ["kept_items", "item_parameters"], "compared_subsets"),
    node(
        random_comparison.compare_with_random,
        [*_RANKED, "compared_subsets", *_RESAMPLED],
        ["random_comparison", "random_subsets"],
    ),
    node(
        verdict.judge_subset,
        ["items", "kept_items", "rank_agreement", "random_comparison", "panel"],
        "judged_subset",
    ),
    node(scores.count_subjects, ["items", "kept_items"], "subject_shares"),
    node(
        scores.compare_responses, ["response_matrix", "kept_items", "scores", "panel"], "agreement"
    ),
    node(
        audit.count_funnel,
        ["rejected_items", "items", "verdicts", "rule_coverage", "kept_items", "params:limit"],
        "funnel",
    ),
    node(
        label_errors.rate_label_errors,
        ["suspect_items", "item_audit", "verdicts", "label_errors", "known_label_errors"],
        "label_error_rates",
    ),
    node(
        review.make_review_sheet,
        ["items", "verdicts", "groups", "suspect_items", "params:seed"],
        "review_sheet",
    ),
    node(
        review.read_reviews,
        ["review_sheet_filled", "verdicts", "suspect_items"],
        "review_agreement",
    ),
    node(metrics.count_items, [*_COVERED, "panel"], "item_metrics"),
    node(
        metrics.collect_metrics,
        [
            "item_metrics",
            "rank_agreement",
            "agreement",
            "similarity_threshold",
            "random_comparison",
            "ire_fit",
            "judged_subset",
        ],
        "metrics",
    ),
]
_PLOTS = [
    node(plots.plot_rank_chart, "scores", "rank_chart_plot"),
    node(
        plots.plot_distance_distribution,
        ["distance_density", "similarity_threshold"],
        "distance_distribution_plot",
    ),
    node(plots.plot_funnel, "funnel", "funnel_plot"),
    node(
        plots.plot_random_band, ["random_subsets", "random_comparison", "panel"], "random_band_plot"
    ),
]
_SHOWN = (
    "report_evidence",
    "report_rules",
    "report_items",
    "report_ranking",
    "report_similar",
    "report_labels",
    "report_data",
    "rank_chart_plot",
    "distance_distribution_plot",
    "funnel_plot",
    "random_band_plot",
)
"""What the page shows, with its sections in order."""

_PAGE = [
    node(
        summary.judge_refinement,
        ["judged_subset", "rule_coverage", "report_model_notes", "report_item_notes"],
        "verdict",
    ),
    node(
        summary.note_models,
        ["scores", "panel", "params:evaluation"],
        "report_model_notes",
    ),
    node(
        summary.note_items,
        [*_COVERED, "verdicts", "import_report", "params:limit"],
        "report_item_notes",
    ),
    node(
        sections.show_evidence,
        ["rank_agreement", "random_comparison", "panel", "ire_fit"],
        "report_evidence",
    ),
    node(sections.show_rules, ["rule_coverage", "subject_shares"], "report_rules"),
    node(
        sections.show_ranking,
        ["panel", "rank_agreement", "human_ratings", "params:evaluation"],
        "report_ranking",
    ),
    node(
        sections.show_similar,
        ["similarity_threshold", "items", "groups", "rule_coverage"],
        "report_similar",
    ),
    node(
        sections.show_labels,
        [
            "label_error_rates",
            "review_agreement",
            "rule_coverage",
            "items",
            "groups",
            "suspect_items",
        ],
        "report_labels",
    ),
    node(item_list.list_items, ["item_audit", "response_matrix", "panel"], "report_items"),
    node(
        sections.show_data,
        [
            "chosen_filter_models",
            "answer_coverage",
            "import_report",
            "rejected_items",
            "panel",
            "params:evaluation",
        ],
        "report_data",
    ),
    report_node(
        "verdict",
        _SHOWN,
        "report",
        settings=["filtering", "evaluation"],
        filter_models="chosen_filter_models",
    ),
]


def create_pipeline() -> Pipeline:
    """Create the evaluation stage: numbers, plots and one report."""
    return Pipeline([*_NODES, boxed("plots", _PLOTS), boxed("page", _PAGE)])
