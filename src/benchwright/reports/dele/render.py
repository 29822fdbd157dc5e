"""What the report of samplers says, section by section."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from benchwright.methods.dele.evidence.against_random import LEVEL
from benchwright.methods.dele.evidence.choice import EVERYONE, gains_over_splits
from benchwright.methods.dele.evidence.chosen_subset import export_sampler
from benchwright.methods.dele.evidence.panels import SamplingPanels, panel_counts
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.estimation import EstimationParams
from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.headline import write_headline
from benchwright.reports.dele.notes import write_notes
from benchwright.reports.dele.rows import (
    against_rows,
    choice_rows,
    chosen_rows,
    summary_rows,
    summary_tiles,
    target_rows,
)
from benchwright.reports.dele.wording import METRICS, PANELS
from benchwright.reports.page.page import render_report_page
from benchwright.reports.page.provenance import benchmark_facts, package_versions, settings
from benchwright.reports.page.table_rows import rows_of

_PACKAGE = "benchwright.reports.dele"
_LONGEST_TABLE = 300  # rows of a table on the page; the datasets have them all
_SECTIONS = (
    ("method", "What was done and why"),
    ("few", "How few items will do"),
    ("random", "Against random subsets"),
    ("scores", "Scores"),
    ("repeats", "How much repeats differ"),
    ("choice", "Choosing a sampler"),
    ("subjects", "Subject by subject"),
    ("estimates", "Scores estimated from few items"),
    ("spread", "Harder items"),
    ("texts", "Easiest and hardest to read"),
    ("clusters", "Clusters"),
    ("subset", "The subset handed on"),
    ("provenance", "Provenance"),
)


def render_sampling_report(
    ingestion: BenchmarkParams,
    variant: str,
    sampling: SamplingParams,
    estimation: EstimationParams,
    seed: int,
    panels: SamplingPanels,
    paper_panel: SamplingPanels,
    samplers_left_out: pd.DataFrame,
    sampling_against_random: pd.DataFrame,
    sampling_summary: pd.DataFrame,
    paper_summary: pd.DataFrame,
    target_curves: pd.DataFrame,
    sampler_choice: pd.DataFrame,
    chosen_curves: pd.DataFrame,
    subject_winners: pd.DataFrame,
    subject_luck: Mapping[str, float],
    changed_winners: pd.DataFrame,
    estimate_errors: pd.DataFrame,
    score_spread: pd.DataFrame,
    readability_examples: pd.DataFrame,
    readability_bands: pd.DataFrame,
    cluster_sizes: pd.DataFrame,
    chosen_subset: pd.DataFrame,
    figure_sampling_tau: Any,
    figure_sampling_spearman: Any,
    figure_sampling_pearson: Any,
    figure_sampling_wasserstein: Any,
    figure_sampling_error: Any,
    figure_sampling_spearman_sd: Any,
    figure_sampling_wasserstein_sd: Any,
    figure_paper_curves: Any,
    figure_target_curves: Any,
    figure_chosen_curves: Any,
    figure_subject_curves: Any,
    figure_sampler_winners: Any,
    figure_score_spread: Any,
    figure_cluster_curves: Any,
    figure_item_map: Any,
) -> str:
    """Render the report of samplers: one HTML page that needs no network.

    The same inputs give the same bytes. All data is escaped. Where there is nothing to show the
    page says why.
    """
    figures = {
        "tau": figure_sampling_tau,
        "spearman": figure_sampling_spearman,
        "pearson": figure_sampling_pearson,
        "wasserstein": figure_sampling_wasserstein,
        "error": figure_sampling_error,
        "spearman-sd": figure_sampling_spearman_sd,
        "wasserstein-sd": figure_sampling_wasserstein_sd,
        "paper": figure_paper_curves,
        "targets": figure_target_curves,
        "chosen": figure_chosen_curves,
        "subjects": figure_subject_curves,
        "winners": figure_sampler_winners,
        "spread": figure_score_spread,
        "cluster-curves": figure_cluster_curves,
        "item-map": figure_item_map,
    }
    headline = write_headline(
        panels,
        sampling_against_random,
        sampling_summary,
        sampler_choice,
        sampling,
    )
    context = {
        "sections": _SECTIONS,
        "titles": dict(_SECTIONS),
        "title": ingestion.title,
        "variant": variant,
        "headline": headline,
        "tiles": summary_tiles(panels, sampling_summary, sampling),
        "notes": write_notes(panels, samplers_left_out, sampling),
        "panels": panels,
        "n_items": len(panels.item_ids),
        "counts": panel_counts(panels),
        "panel_words": PANELS,
        "metric_words": METRICS,
        "evidence": sampling.evidence,
        "main_rate": f"{sampling.evidence.main_rate:g}",
        "adaptive": sampling.adaptive,
        "repeats": sampling.repeats,
        "random_draws": max(sampling.repeats, sampling.evidence.random_draws),
        "level": LEVEL,
        "summary": summary_rows(sampling_summary),
        "paper": summary_rows(paper_summary),
        "paper_panel": paper_panel,
        "tokenizer": sampling.tokenizer,
        "targets": target_rows(target_curves, sampling.evidence.main_rate),
        "against": against_rows(sampling_against_random),
        "choice": choice_rows(sampler_choice),
        "chosen": chosen_rows(chosen_curves, sampling.evidence.at_rates),
        "everyone": EVERYONE,
        "gains": gains_over_splits(sampler_choice),
        "subjects": rows_of(subject_winners),
        "luck": dict(subject_luck),
        "changed": rows_of(changed_winners),
        "estimates": rows_of(estimate_errors),
        "coverage_level": estimation.level,
        "spread": rows_of(score_spread),
        "readability": rows_of(readability_examples),
        "bands": rows_of(readability_bands),
        "clusters": rows_of(cluster_sizes),
        "subset": rows_of(chosen_subset),
        "export_sampler": export_sampler(sampling, sampler_choice),
        "longest": _LONGEST_TABLE,
        "facts": benchmark_facts(ingestion, variant, seed, []),
        "settings": [*settings("sampling", sampling), *settings("estimation", estimation)],
        "versions": package_versions(),
        "figures": {name: json.loads(figure.to_json()) for name, figure in figures.items()},
    }
    return render_report_page(_PACKAGE, "sampling_report.html", context)
