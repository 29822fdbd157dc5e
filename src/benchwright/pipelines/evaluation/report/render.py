"""Putting the report on one self-contained page."""

import base64
import hashlib
import json
import math
from typing import Any

import pandas as pd

from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.evaluation import EvaluationParams, RatingsParams
from benchwright.params.filtering import FilteringParams
from benchwright.pipelines.evaluation.panel import Panel
from benchwright.pipelines.evaluation.rank_agreement import GROUPS
from benchwright.pipelines.evaluation.ratings import read_ratings
from benchwright.pipelines.evaluation.report.evidence import rules_in
from benchwright.pipelines.evaluation.report.provenance import (
    benchmark_facts,
    package_versions,
    settings,
)

RULES = {
    "anomalous": "In a subject that is named as unlike the rest.",
    "easy": "Every filter model is right, each with a probability above the limit.",
    "easy_unanimous": "Every filter model is right; probabilities were not known.",
    "answer_only": "Every filter model finds the answer from the options alone, without the "
    "question. That makes an item a poor test; it does not prove that it was memorised.",
    "suspect_label": "Every filter model is wrong with a probability above the limit. "
    "Reported for a person to check, never removed.",
    "conflicting_gold": "Same question and options as another item, but another answer. Reported.",
    "duplicate": "The same question, options and answer as another item.",
    "similar": "Closer to another item than the threshold δ, in meaning.",
}
"""What each rule looks for, in words."""

METRICS = {
    "kendall_tau_b": "Kendall tau-b",
    "spearman": "Spearman",
    "pearson": "Pearson of accuracies",
    "mean_rank_shift": "Mean rank shift",
    "max_rank_shift": "Largest rank shift",
    "arena_pearson_full": "Pearson with ratings, all items",
    "arena_pearson_kept": "Pearson with ratings, kept items",
}

ROLES = {
    "filter": "chose the items",
    "same_family": "same family as a filter model",
    "held_out": "held out",
}

_LONGEST_TABLE = 300  # rows of a table on the page; the datasets have them all


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
) -> str:
    """Render the report: one HTML page that needs no network and opens from disk.

    The same inputs give the same bytes. All data is escaped: a question that looks like HTML is
    shown as text.
    """
    figures = {
        "filter-shares": figure_filter_shares,
        "rank-chart": figure_rank_chart,
        "agreement": figure_agreement,
        "subject-shares": figure_subject_shares,
        "distances": figure_distance_distribution,
        "sensitivity": figure_threshold_sensitivity,
    }
    context = {
        "summary": summary,
        "shown": shown_items,
        "list_names": rules_in(shown_items["list"]),
        "rules": [_rule(row) for row in _rows(rule_coverage)],
        "overlaps": [row for row in _rows(overlaps) if row["n"]],
        "threshold": {k: None if _missing(v) else v for k, v in similarity_threshold.items()},
        "sensitivity": _rows(threshold_sensitivity),
        "imports": _rows(import_report),
        "calibration": _rows(calibration),
        "ratings_source": read_ratings(user_ratings, ratings).source,
        "panel": panel,
        "min_coverage": evaluation.min_coverage,
        "confidence": evaluation.confidence,
        "profile": _rows(filter_model_profile),
        "scores": _rows(scores),
        "roles": ROLES,
        "groups": GROUPS,
        "rank_agreement": _by_metric(rank_agreement),
        "subjects": _rows(subject_shares),
        "longest": _LONGEST_TABLE,
        "independent": filtering.independent,
        "facts": benchmark_facts(ingestion, variant, seed),
        "settings": [*settings("filtering", filtering), *settings("evaluation", evaluation)],
        "versions": package_versions(),
        "figures": {name: json.loads(figure.to_json()) for name, figure in figures.items()},
    }
    return _page(context)


def _page(context: dict[str, Any]) -> str:
    from importlib.resources import files

    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    package = "benchwright.pipelines.evaluation"
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(percent=_percent, number=_number, words=_words, share=_share)
    templates = files(package) / "templates"
    # Our own files and Plotly's are the only text that reaches the page unescaped.
    own = {
        "style": (templates / "report.css").read_text("utf-8"),
        "script": (templates / "report.js").read_text("utf-8"),
        "plotly": get_plotlyjs(),
    }
    allowed = " ".join(_script_hash(own[name]) for name in ("plotly", "script"))
    return environment.get_template("report.html").render(
        **context,
        **{name: Markup(text) for name, text in own.items()},  # noqa: S704
        allowed_scripts=Markup(allowed),  # noqa: S704
    )


def _script_hash(script: str) -> str:
    """The source expression that lets a browser run this script and no other."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _rows(table: pd.DataFrame) -> list[dict[Any, Any]]:
    """The rows with every missing value as None."""
    return [
        {name: None if _missing(value) else value for name, value in row.items()}
        for row in table.to_dict("records")
    ]


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _rule(row: dict[Any, Any]) -> dict[Any, Any]:
    total = row["judged"] + row["not_judged"]
    return {
        **row,
        "meaning": RULES.get(row["rule"], ""),
        "coverage": row["judged"] / total if total else None,
        "ran": row["status"] in ("ran", "partial"),
    }


def _by_metric(rank_agreement: pd.DataFrame) -> list[dict[str, Any]]:
    """One entry per metric with its cells by set of models."""
    cells = {(row["metric"], row["models"]): row for row in _rows(rank_agreement)}
    return [
        {
            "label": label,
            "cells": {group: cells[metric, group] for group in GROUPS},
            "digits": 1 if metric.endswith("_shift") else 3,
            "own_n": metric.startswith("arena"),
        }
        for metric, label in METRICS.items()
        if (metric, "all") in cells
    ]


def _percent(value: float | None, digits: int = 1) -> str:
    return "—" if value is None else f"{value:.{digits}%}"


def _share(part: float, whole: float, digits: int = 1) -> str:
    return _percent(part / whole if whole else None, digits)


def _number(value: float | None, digits: int = 0) -> str:
    return "—" if value is None else f"{value:,.{digits}f}"


def _words(name: str) -> str:
    return name.replace("_", " ")
