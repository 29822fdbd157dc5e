"""The SMART report: functions that gather the sections, and one that renders the page."""

from collections.abc import Collection
from typing import Any

import pandas as pd

from benchwright.evidence.panel import Panel, headline_group
from benchwright.evidence.ratings import Ratings
from benchwright.methods.smart.finding import in_rule_order
from benchwright.methods.smart.review import (
    NOT_IN_THIS_RUN,
    SUSPECT_ITEMS,
    describe_other_reviews,
)
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.evaluation import EvaluationParams
from benchwright.params.filtering import FilteringParams
from benchwright.reports.page import wording
from benchwright.reports.page.provenance import benchmark_facts, settings
from benchwright.reports.page.sections import Section, make_section, render_sections
from benchwright.reports.smart import comparisons, method
from benchwright.reports.smart.wording import ROLES, RULE_MEANINGS

_LONGEST_TABLE = 300  # rows of a table on the page; the datasets have all
_FOLDED_TABLE = 60  # a table of models with more rows is closed at first
_SECTIONS = (
    ("method", "Method"),
    ("rules", "Items removed by each rule"),
    ("ranking", "Ranking of models"),
    ("random", "Comparison with random subsets"),
    ("agreement", "Agreement between models"),
    ("subjects", "Subjects"),
    ("similar", "Similar items"),
    ("labels", "Labels to check"),
    ("examples", "Examples"),
    ("items", "All items"),
    ("data", "Data and models"),
    ("provenance", "Provenance"),
)


def gather_method(
    ingestion: BenchmarkParams,
    filtering: FilteringParams,
    evaluation: EvaluationParams,
    filter_models: list[str],
    filter_model_rule: Collection[str] | None,
    rule_coverage: pd.DataFrame,
    panel: Panel,
    funnel: pd.DataFrame,
) -> Section:
    """Gather the description of the method and the funnel of items."""
    return make_section(
        steps=method.describe_steps(ingestion, filtering, filter_models, rule_coverage),
        combination=method.describe_combination(filtering),
        judging=method.describe_evaluation(evaluation, len(panel.select("held_out"))),
        filter_models=filter_models,
        choice=method.describe_choice(filter_model_rule),
        funnel=wording.rows_of(funnel),
        n_rows=int(funnel["left"].iloc[0]) if len(funnel) else 0,
    )


def gather_removed(
    rule_coverage: pd.DataFrame,
    overlaps: pd.DataFrame,
    filter_model_ablation: pd.DataFrame,
    subject_shares: pd.DataFrame,
    rules_by_subject: pd.DataFrame,
) -> Section:
    """Gather the items removed by each rule, the ablation of filter models, and the subjects."""
    flagging = rules_by_subject[rules_by_subject["flagged"] > 0]
    by_subject = {(row["subject"], row["rule"]): row for row in wording.rows_of(rules_by_subject)}
    return make_section(
        rules=[
            {
                **row,
                "meaning": RULE_MEANINGS.get(row["rule"], ""),
                "coverage": row["judged"] / total if total else None,
                "ran": row["status"] in ("ran", "partial"),
            }
            for row in wording.rows_of(rule_coverage)
            for total in [row["judged"] + row["not_judged"]]
        ],
        silent=_silent(rule_coverage),
        overlaps=[row for row in wording.rows_of(overlaps) if row["n"]],
        ablation=comparisons.ablation_rows(filter_model_ablation),
        subjects=wording.rows_of(subject_shares),
        subject_rules=in_rule_order(flagging["rule"]),
        by_subject=by_subject,
    )


def gather_ranking(
    panel: Panel,
    scores: pd.DataFrame,
    rank_agreement: pd.DataFrame,
    human_ratings: Ratings,
    model_ratings: pd.DataFrame,
    random_comparison: pd.DataFrame,
    method_comparison: pd.DataFrame,
    evaluation: EvaluationParams,
) -> Section:
    """Gather the ranks of models before and after, and the comparison with random subsets."""
    group = headline_group(panel)
    ranked = scores.dropna(subset=["rank_full", "rank_kept"])
    return make_section(
        panel=panel,
        ranked=len(ranked),
        moved=int((ranked["rank_full"] != ranked["rank_kept"]).sum()),
        min_coverage=evaluation.min_coverage,
        scores=wording.rows_of(scores),
        roles=ROLES,
        groups=comparisons.groups_in(rank_agreement),
        rank_agreement=comparisons.rank_rows(rank_agreement),
        detectable=comparisons.describe_detectable(rank_agreement, group),
        rated=comparisons.describe_ratings(rank_agreement, human_ratings.source, len(scores)),
        model_ratings=wording.rows_of(model_ratings),
        random_comparison=comparisons.comparison_rows(random_comparison, group),
        methods=comparisons.method_rows(method_comparison),
    )


def gather_findings(
    similarity_threshold: dict[str, Any],
    threshold_sensitivity: pd.DataFrame,
    neighbour_convergence: pd.DataFrame,
    label_error_rates: pd.DataFrame,
    review_agreement: pd.DataFrame,
    suspect_effect: pd.DataFrame,
) -> Section:
    """Gather the threshold of similar items, label errors, suspect items and reviews."""
    return make_section(
        threshold={
            k: None if wording.is_missing(v) else v for k, v in similarity_threshold.items()
        },
        sensitivity=wording.rows_of(threshold_sensitivity),
        convergence=wording.rows_of(neighbour_convergence),
        label_errors=wording.rows_of(label_error_rates),
        label_difference=comparisons.label_difference(label_error_rates),
        reviews=[
            row
            for row in wording.rows_of(review_agreement)
            if row["rule"] not in (NOT_IN_THIS_RUN, SUSPECT_ITEMS)
        ],
        suspects_reviewed=comparisons.describe_suspects_reviewed(review_agreement),
        suspect_effect=comparisons.describe_suspect_effect(suspect_effect),
        other_reviews=describe_other_reviews(review_agreement),
    )


def gather_data(
    filter_model_profile: pd.DataFrame,
    calibration: pd.DataFrame,
    answer_coverage: pd.DataFrame,
    import_report: pd.DataFrame,
    position_sensitivity: pd.DataFrame,
    evaluation: EvaluationParams,
) -> Section:
    """Gather the responses behind the results."""
    return make_section(
        profile=wording.rows_of(filter_model_profile),
        confidence=evaluation.confidence,
        calibration=wording.rows_of(calibration),
        coverage=comparisons.coverage_rows(answer_coverage),
        imports=wording.rows_of(import_report),
        positions=wording.rows_of(position_sensitivity),
    )


def gather_provenance(
    ingestion: BenchmarkParams,
    variant: str,
    filtering: FilteringParams,
    evaluation: EvaluationParams,
    filter_models: list[str],
    seed: int,
) -> Section:
    """Gather the benchmark and the settings."""
    return make_section(
        title=ingestion.title,
        variant=variant,
        facts=benchmark_facts(ingestion, variant, seed, filter_models),
        settings=[*settings("filtering", filtering), *settings("evaluation", evaluation)],
    )


def render_report(*sections: Section) -> str:
    """Render the report: one HTML page that needs no network and opens from disk.

    The same inputs give the same bytes. All data is escaped: a question that looks like HTML is
    shown as text. Empty tables are left out or replaced by the reason.
    """
    limits = make_section(longest=_LONGEST_TABLE, folded=_FOLDED_TABLE)
    return render_sections(
        "benchwright.reports.smart",
        "report.html",
        _SECTIONS,
        [*sections, limits],
        more_script=("items.js",),
    )


def _silent(rule_coverage: pd.DataFrame) -> dict[str, str]:
    """Return the rules that did not run, with the reasons."""
    return {
        row["rule"]: row["reason"] or ("switched off" if row["status"] == "off" else "did not run")
        for row in wording.rows_of(rule_coverage)
        if row["status"] in ("off", "not_run")
    }
