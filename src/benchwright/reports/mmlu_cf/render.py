"""What the report of a benchmark made from documents says, section by section."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
from pydantic import BaseModel

from benchwright.methods.mmlu_cf.summary.levels import count_shortfall, known_share, quotas
from benchwright.methods.mmlu_cf.summary.parse_rates import parse_rates
from benchwright.methods.mmlu_cf.summary.steps import Steps
from benchwright.params.mmlu_cf import (
    CheckingParams,
    CleaningParams,
    CollectionParams,
    DifficultyParams,
    FieldsParams,
    SamplingByDifficultyParams,
    SealingParams,
    SplittingParams,
)
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.mmlu_cf.headline import (
    again_said,
    leaks_said,
    write_headline,
)
from benchwright.reports.mmlu_cf.notes import write_notes
from benchwright.reports.mmlu_cf.plots.domains_and_fields import top_domains
from benchwright.reports.mmlu_cf.plots.judges import of_all_judges
from benchwright.reports.mmlu_cf.rows import (
    agreement_rows,
    cleaning_rows,
    decision_rows,
    distance_rows,
    field_rows,
    leak_rows,
    level_rows,
    measure_rows,
    rule_rows,
    shard_rows,
    source_rows,
)
from benchwright.reports.mmlu_cf.told import Told
from benchwright.reports.page.page import render_report_page
from benchwright.reports.page.provenance import Fact, package_versions, settings
from benchwright.reports.page.table_rows import rows_of

_PACKAGE = "benchwright.reports.mmlu_cf"
_LONGEST_TABLE = 200  # rows of a table on the page; the datasets have them all
_DOMAINS = 30
_SECTIONS = (
    ("steps", "Step by step"),
    ("documents", "Documents and extraction"),
    ("cleaning", "Cleaning"),
    ("fields", "Fields"),
    ("difficulty", "Difficulty and sample"),
    ("checking", "Checking"),
    ("judges", "Judges"),
    ("rules", "Contamination-free rules"),
    ("halves", "Two halves"),
    ("sealed", "What is closed"),
    ("provenance", "Provenance"),
)
_HIDDEN = {"sealing.key_file"}  # a place on somebody's disk


def render_construction_report(
    variant: str,
    seed: int,
    collection: CollectionParams,
    cleaning: CleaningParams,
    fields: FieldsParams,
    difficulty: DifficultyParams,
    sampling: SamplingByDifficultyParams,
    checking: CheckingParams,
    perturbation: PerturbationParams,
    splitting: SplittingParams,
    sealing: SealingParams,
    steps: Steps,
    documents_read: pd.DataFrame,
    domain_counts: pd.DataFrame,
    extraction_measures: pd.DataFrame,
    cleaning_funnel: pd.DataFrame,
    cleaning_reasons: pd.DataFrame,
    field_counts: pd.DataFrame,
    field_accuracy: pd.DataFrame,
    field_rounds: pd.DataFrame,
    difficulty_rounds: pd.DataFrame,
    difficulty_counts: pd.DataFrame,
    sampling_strata: pd.DataFrame,
    final_strata: pd.DataFrame,
    checking_rounds: pd.DataFrame,
    difficulty_again_rounds: pd.DataFrame,
    ratings_again: Mapping[str, Any],
    judge_agreement: pd.DataFrame,
    checking_counts: Mapping[str, Any],
    rule_counts: Mapping[str, Any],
    half_distances: pd.DataFrame,
    keyed_split_assignment: pd.DataFrame,
    keyed_leak_pairs: pd.DataFrame,
    figure_construction_funnel: Any,
    figure_cleaning_funnel: Any,
    figure_domains: Any,
    figure_field_halves: Any,
    figure_difficulty_levels: Any,
    figure_strata: Any,
    figure_final_strata: Any,
    figure_judge_agreement: Any,
    figure_parse_rates: Any,
) -> str:
    """Render the report of a benchmark made from documents: one HTML page that needs no network.

    It is made from tables without texts, and shows no id of any question. The same inputs give the
    same bytes. All data is escaped.
    """
    known = known_share(difficulty_counts)
    told = Told(
        steps,
        known,
        count_shortfall(sampling_strata, sampling.size, levels_known=known > 0),
        None
        if checking.size is None
        else count_shortfall(final_strata, checking.size, levels_known=known > 0),
        parse_rates(field_rounds, difficulty_rounds, checking_rounds, difficulty_again_rounds),
        of_all_judges(judge_agreement),
        half_distances,
        extraction_measures,
        field_accuracy,
        splitting.leakage.judge is not None,
        difficulty.at_most,
    )
    figures = {
        "funnel": figure_construction_funnel,
        "cleaning": figure_cleaning_funnel,
        "domains": figure_domains,
        "fields": figure_field_halves,
        "levels": figure_difficulty_levels,
        "strata": figure_strata,
        "final-strata": figure_final_strata,
        "agreement": figure_judge_agreement,
        "replies": figure_parse_rates,
    }
    strata = quotas(sampling_strata, levels_known=known > 0)
    context = {
        "sections": _SECTIONS,
        "titles": dict(_SECTIONS),
        "name": sealing.name,
        "variant": variant,
        "headline": write_headline(told),
        "notes": write_notes(told),
        "steps": steps,
        "known": known,
        "short": told.short,
        "final_short": told.final_short,
        "sources": source_rows(checking_counts),
        "again": again_said(ratings_again),
        "shards": shard_rows(documents_read),
        "measures": measure_rows(extraction_measures),
        "domains": rows_of(top_domains(domain_counts, _DOMAINS)),
        "cleaned": cleaning_rows(cleaning_funnel, cleaning_reasons),
        "fields": field_rows(field_counts, field_accuracy, keyed_split_assignment),
        "by": fields.by,
        "levels": level_rows(difficulty_counts),
        "sampling": sampling,
        "strata": rows_of(strata[(strata["target"] > 0) | (strata["taken"] > 0)]),
        "decisions": decision_rows(checking_counts),
        "checking": checking,
        "rates": told.rates,
        "agreement": agreement_rows(judge_agreement),
        "rules": rule_rows(rule_counts),
        "rephrase_checks": dict(rule_counts["rephrase_checks"]),
        "distances": distance_rows(half_distances),
        "leaks": leak_rows(keyed_leak_pairs),
        "leaks_said": leaks_said(told),
        "leakage": splitting.leakage,
        "longest": _LONGEST_TABLE,
        "facts": [
            Fact("Benchmark", sealing.name),
            Fact("Variant", variant),
            Fact("Seed", str(seed)),
        ],
        "settings": _settings(
            collection=collection,
            cleaning=cleaning,
            fields=fields,
            difficulty=difficulty,
            sampling_by_difficulty=sampling,
            checking=checking,
            perturbation=perturbation,
            splitting=splitting,
            sealing=sealing,
        ),
        "versions": package_versions(),
        "figures": {name: json.loads(figure.to_json()) for name, figure in figures.items()},
    }
    return render_report_page(_PACKAGE, "construction_report.html", context)


def _settings(**sections: BaseModel) -> list[Fact]:
    told = [fact for name, params in sections.items() for fact in settings(name, params)]
    return [fact for fact in told if fact.name not in _HIDDEN]
