"""The page about what models remember."""

import json
from typing import Any

import pandas as pd

from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.mmlu_cf import MemorisationParams
from benchwright.params.scoring import ScoringParams
from benchwright.reports.memorisation.headline import say_test, write_headline
from benchwright.reports.page.page import render_report_page
from benchwright.reports.page.provenance import (
    Fact,
    benchmark_facts,
    package_versions,
    settings,
)
from benchwright.reports.page.table_rows import rows_of

_PACKAGE = "benchwright.reports.memorisation"
_LONGEST_TABLE = 300  # rows of a table on the page; the dataset has them all
_SECTIONS = (
    ("method", "What was done"),
    ("result", "What is remembered"),
    ("reading", "How to read it"),
    ("examples", "Examples"),
    ("provenance", "Provenance"),
)


def render_memorisation_page(
    ingestion: BenchmarkParams,
    variant: str,
    memorisation: MemorisationParams,
    scoring: ScoringParams,
    seed: int,
    memorisation_summary: pd.DataFrame,
    memorisation_examples: list[dict[str, Any]],
    figure_memorisation: Any,
) -> str:
    """Render one HTML page that needs no network; texts of items and replies are escaped.

    The same inputs give the same bytes.
    """
    first, *more = write_headline(memorisation_summary)
    rows = sorted(rows_of(memorisation_summary), key=lambda row: (-row["fuzzy"], row["model"]))
    recall = scoring.generation.recall_tokens
    context = {
        "sections": _SECTIONS,
        "titles": dict(_SECTIONS),
        "title": ingestion.title,
        "variant": variant,
        "headline": first,
        "more": more,
        "rows": [{**row, "test": say_test(row)} for row in rows],
        "longest": _LONGEST_TABLE,
        "fuzzy": memorisation.fuzzy,
        "level": memorisation.level,
        "alpha": memorisation.alpha,
        "recall_tokens": recall,
        "examples": memorisation_examples,
        "facts": benchmark_facts(ingestion, variant, seed, []),
        "settings": [
            *settings("memorisation", memorisation),
            Fact("scoring.configurations", ", ".join(scoring.configurations)),
            Fact("scoring.generation.recall_tokens", str(recall)),
        ],
        "versions": package_versions(),
        "figures": {"memorisation": json.loads(figure_memorisation.to_json())},
    }
    return render_report_page(_PACKAGE, "memorisation.html", context)
