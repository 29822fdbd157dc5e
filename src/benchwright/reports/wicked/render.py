"""What the report of a perturbed benchmark says, section by section."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from benchwright.methods.wicked.comparison.compared_answers import (
    main_perturbation,
    perturbation_of,
)
from benchwright.methods.wicked.comparison.metrics import count_unchecked
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.evaluation import EvaluationParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page.page import render_report_page
from benchwright.reports.page.provenance import benchmark_facts, package_versions, settings
from benchwright.reports.page.table_rows import rows_of
from benchwright.reports.wicked.examples import choose_examples
from benchwright.reports.wicked.headline import write_headline
from benchwright.reports.wicked.notes import write_notes
from benchwright.reports.wicked.rows import (
    STEPS,
    WRITTEN,
    instruct,
    none_rows,
    outcome,
    reversal,
    score_rows,
    shuffle_rows,
    with_points,
    wordings,
)
from benchwright.reports.wicked.wording import TRANSFORMS, words_of

_PACKAGE = "benchwright.reports.wicked"
_LONGEST_TABLE = 300  # rows of a table on the page; the datasets have them all
_SECTIONS = (
    ("method", "What was done and why"),
    ("cost", "What it costs"),
    ("order", "The order of models"),
    ("answers", "What became of answers"),
    ("none", "Saying “none”"),
    ("written", "Written answers"),
    ("instruct", "Instruct and base models"),
    ("rules", "One rule at a time"),
    ("prompts", "Demonstrations and prompts"),
    ("coverage", "What could be altered"),
    ("examples", "Examples"),
    ("provenance", "Provenance"),
)


def render_draw_report(
    ingestion: BenchmarkParams,
    variant: str,
    perturbation: PerturbationParams,
    evaluation: EvaluationParams,
    seed: int,
    items: pd.DataFrame,
    draws: pd.DataFrame,
    perturbation_changes: pd.DataFrame,
    single_best_answer_ids: Mapping[str, list[str]],
    option_wordings: pd.DataFrame,
    draw_scores: pd.DataFrame,
    draw_summary: pd.DataFrame,
    draw_reversals: pd.DataFrame,
    draw_transitions: pd.DataFrame,
    draw_none_rates: pd.DataFrame,
    draw_written: pd.DataFrame,
    draw_instruct: pd.DataFrame,
    rule_ablation: pd.DataFrame,
    draw_demonstrations: pd.DataFrame,
    draw_prompts: pd.DataFrame,
    draw_coverage: pd.DataFrame,
    figure_draw_deltas: Any,
    figure_draw_ranks: Any,
    figure_draw_transitions: Any,
    figure_draw_none_rates: Any,
    figure_rule_ablation: Any,
) -> str:
    """Render the report of a perturbed benchmark: one HTML page that needs no network.

    The same inputs give the same bytes. All data is escaped: a question that looks like HTML is
    shown as text. Where there is nothing to show the page says why.
    """
    item_ids = {str(item) for item in items["item_id"]}
    drawn = main_perturbation(sorted(set(draw_coverage["perturbation"])), perturbation)
    changes = perturbation_changes[perturbation_changes["condition"].map(perturbation_of) == drawn]
    unchecked = count_unchecked(changes, single_best_answer_ids, item_ids)
    headline = write_headline(
        draw_scores,
        draw_summary,
        perturbation,
        _share_altered(changes),
        unchecked,
        int(draw_prompts["saved"].sum()),
    )
    figures = {
        "deltas": figure_draw_deltas,
        "ranks": figure_draw_ranks,
        "transitions": figure_draw_transitions,
        "none-rates": figure_draw_none_rates,
        "ablation": figure_rule_ablation,
    }
    context = {
        "sections": _SECTIONS,
        "titles": dict(_SECTIONS),
        "title": ingestion.title,
        "variant": variant,
        "headline": headline,
        "notes": write_notes(
            draw_scores,
            draw_written,
            draw_demonstrations,
            perturbation,
            unchecked,
            len(items),
        ),
        "steps": [words_of(TRANSFORMS, part.transform) for part in perturbation.transforms],
        "name": drawn,
        "n_draws": perturbation.draws,
        "scores": score_rows(draw_scores, list(dict.fromkeys(draw_summary["asked"]))),
        "several": len(set(draw_scores["perturbation"])) > 1,
        "shuffle": shuffle_rows(draw_summary),
        "reversals": [reversal(row) for row in rows_of(draw_reversals)],
        "transitions": rows_of(draw_transitions),
        "none_rates": none_rows(draw_none_rates),
        "written": [with_points(row, WRITTEN) for row in rows_of(draw_written)],
        "instruct": [instruct(row) for row in rows_of(draw_instruct)],
        "ablation": [with_points(row, STEPS) for row in rows_of(rule_ablation)],
        "demonstrations": rows_of(draw_demonstrations),
        "prompts": rows_of(draw_prompts),
        "coverage": [outcome(row) for row in rows_of(draw_coverage)],
        "wordings": wordings(option_wordings),
        "unchecked": unchecked,
        "single_source": perturbation.sba,
        "examples": choose_examples(
            items, draws, perturbation_changes, drawn, evaluation.examples_per_rule, seed
        ),
        "longest": _LONGEST_TABLE,
        "facts": benchmark_facts(ingestion, variant, seed, []),
        "settings": settings("perturbation", perturbation),
        "versions": package_versions(),
        "figures": {name: json.loads(figure.to_json()) for name, figure in figures.items()},
    }
    return render_report_page(_PACKAGE, "draw_report.html", context, more_style=("draws.css",))


def _share_altered(changes: pd.DataFrame) -> float:
    """Mean over draws of the share of items that a perturbation altered."""
    own = changes[changes["role"] == "item"]
    if own.empty:
        return 0.0
    done = own["altered"].astype(bool).groupby([own["condition"], own["item_id"]]).any()
    return float(done.mean())
