"""What the report says, section by section, on one self-contained page."""

import json
from collections.abc import Collection
from typing import Any

import pandas as pd

from benchwright.evidence.panel import Panel
from benchwright.evidence.rank_agreement import read_ratings
from benchwright.methods.smart.review import STALE, stale_reviews
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.evaluation import EvaluationParams, RatingsParams
from benchwright.params.filtering import FilteringParams
from benchwright.reports.page.page import render_report_page
from benchwright.reports.page.provenance import benchmark_facts, package_versions, settings
from benchwright.reports.page.table_rows import is_missing, rows_of
from benchwright.reports.smart.comparisons import (
    ablation_rows,
    coverage_rows,
    describe_detectable,
    groups_in,
    has_ratings,
    label_difference,
    method_rows,
    rank_rows,
    yardstick_rows,
)
from benchwright.reports.smart.item_list import rules_in
from benchwright.reports.smart.method import (
    describe_choice,
    describe_combination,
    describe_evaluation,
    describe_steps,
)
from benchwright.reports.smart.wording import ROLES, RULE_MEANINGS

_PACKAGE = "benchwright.reports.smart"
_LONGEST_TABLE = 300  # rows of a table on the page; the datasets have them all
_FOLDED_TABLE = 60  # with more rows a list of models is folded


def render_report(
    ingestion: BenchmarkParams,
    variant: str,
    filtering: FilteringParams,
    evaluation: EvaluationParams,
    ratings: RatingsParams,
    seed: int,
    summary: dict[str, Any],
    shown_items: dict[str, Any],
    rule_coverage: pd.DataFrame,
    overlaps: pd.DataFrame,
    similarity_threshold: dict[str, Any],
    threshold_sensitivity: pd.DataFrame,
    import_report: pd.DataFrame,
    calibration: pd.DataFrame,
    user_ratings: pd.DataFrame,
    panel: Panel,
    filter_model_profile: pd.DataFrame,
    scores: pd.DataFrame,
    rank_agreement: pd.DataFrame,
    subject_shares: pd.DataFrame,
    figure_filter_shares: Any,
    figure_rank_chart: Any,
    figure_agreement: Any,
    figure_subject_shares: Any,
    figure_distance_distribution: Any,
    figure_threshold_sensitivity: Any,
    yardstick: pd.DataFrame,
    method_comparison: pd.DataFrame,
    funnel: pd.DataFrame,
    filter_model_ablation: pd.DataFrame,
    neighbour_convergence: pd.DataFrame,
    label_error_rates: pd.DataFrame,
    review_agreement: pd.DataFrame,
    answer_coverage: pd.DataFrame,
    figure_funnel: Any,
    figure_random_band: Any,
    figure_spread_band: Any,
    figure_filter_model_ablation: Any,
    figure_neighbour_convergence: Any,
    filter_models: list[str],
    filter_model_rule: Collection[str],
) -> str:
    """Render the report: one HTML page that needs no network and opens from disk.

    The same inputs give the same bytes. All data is escaped: a question that looks like HTML is
    shown as text. Tables that are empty are left out, or the page says why they are.
    """
    figures = {
        "filter-shares": figure_filter_shares,
        "rank-chart": figure_rank_chart,
        "agreement": figure_agreement,
        "subject-shares": figure_subject_shares,
        "distances": figure_distance_distribution,
        "sensitivity": figure_threshold_sensitivity,
        "funnel": figure_funnel,
        "random-band": figure_random_band,
        "spread-band": figure_spread_band,
        "ablation": figure_filter_model_ablation,
        "convergence": figure_neighbour_convergence,
    }
    context = {
        "summary": summary,
        "shown": shown_items,
        "list_names": rules_in(shown_items["list"]),
        "n_listed": len(shown_items["list"]["items"]["id"]),
        "steps": describe_steps(ingestion, filtering, filter_models, rule_coverage),
        "combination": describe_combination(filtering),
        "judging": describe_evaluation(evaluation, len(panel.select("held_out"))),
        "filter_models": filter_models,
        "choice": describe_choice(filter_model_rule),
        "funnel": rows_of(funnel),
        "n_rows": int(funnel["left"].iloc[0]) if len(funnel) else 0,
        "yardstick": yardstick_rows(yardstick, summary["group"]),
        "methods": method_rows(method_comparison),
        "ablation": ablation_rows(filter_model_ablation),
        "convergence": rows_of(neighbour_convergence),
        "label_errors": rows_of(label_error_rates),
        "label_difference": label_difference(label_error_rates),
        "reviews": [row for row in rows_of(review_agreement) if row["rule"] != STALE],
        "stale_reviews": stale_reviews(review_agreement),
        "coverage": coverage_rows(answer_coverage),
        "rules": [_rule(row) for row in rows_of(rule_coverage)],
        "silent": _silent(rule_coverage),
        "overlaps": [row for row in rows_of(overlaps) if row["n"]],
        "threshold": {k: None if is_missing(v) else v for k, v in similarity_threshold.items()},
        "sensitivity": rows_of(threshold_sensitivity),
        "imports": rows_of(import_report),
        "calibration": rows_of(calibration),
        "ratings_source": read_ratings(user_ratings, ratings).source,
        "panel": panel,
        "min_coverage": evaluation.min_coverage,
        "confidence": evaluation.confidence,
        "profile": rows_of(filter_model_profile),
        "scores": rows_of(scores),
        "roles": ROLES,
        "groups": groups_in(rank_agreement),
        "rank_agreement": rank_rows(rank_agreement),
        "detectable": describe_detectable(rank_agreement, summary["group"]),
        "rated": has_ratings(rank_agreement),
        "subjects": rows_of(subject_shares),
        "longest": _LONGEST_TABLE,
        "folded": _FOLDED_TABLE,
        "facts": benchmark_facts(ingestion, variant, seed, filter_models),
        "settings": [*settings("filtering", filtering), *settings("evaluation", evaluation)],
        "versions": package_versions(),
        "figures": {name: json.loads(figure.to_json()) for name, figure in figures.items()},
    }
    return render_report_page(_PACKAGE, "report.html", context, more_script=("items.js",))


def _rule(row: dict[Any, Any]) -> dict[Any, Any]:
    total = row["judged"] + row["not_judged"]
    return {
        **row,
        "meaning": RULE_MEANINGS.get(row["rule"], ""),
        "coverage": row["judged"] / total if total else None,
        "ran": row["status"] in ("ran", "partial"),
    }


def _silent(rule_coverage: pd.DataFrame) -> dict[str, str]:
    """The rules that judged nothing, each with the reason."""
    return {
        row["rule"]: row["reason"] or ("switched off" if row["status"] == "off" else "did not run")
        for row in rows_of(rule_coverage)
        if row["status"] in ("off", "not_run")
    }
