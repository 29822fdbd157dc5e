"""What models remember of a benchmark: headline and page."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from benchwright.core.wording import count, p_value, rows_of
from benchwright.methods.mmlu_cf.memorisation import LEVEL
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.scoring import ScoringParams
from benchwright.reports.page.parts import (
    Article,
    Column,
    Folded,
    Question,
    Section,
    Table,
    as_bounded_share,
    as_count,
    as_text,
    cut_table,
    render_sections,
)
from benchwright.reports.page.provenance import (
    MMLU_CF,
    benchmark_facts,
    provenance_section,
)
from benchwright.reports.verdict import Verdict, write_verdict

_NAMED = 3  # models in a headline
_SOURCE = f"{MMLU_CF}, Figure 1."

Row = Mapping[Any, Any]


def judge_memorisation(memorisation_summary: pd.DataFrame) -> Verdict:
    """Write which models remember the benchmark's options."""
    headline, *judgements = _sentences(_by_share(memorisation_summary))
    return write_verdict(headline, judgements=judgements)


def _by_share(memorisation_summary: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the models, those that write the most options in place first."""
    rows = rows_of(memorisation_summary)
    return sorted(rows, key=lambda row: (-row["fuzzy"], row["model"]))


def _sentences(rows: list[dict[Any, Any]]) -> list[str]:
    if remembering := [row for row in rows if row["remembers"]]:
        more = len(remembering) - _NAMED
        rest = [f"And {count(more, 'more model')}."] if more > 0 else []
        named = [
            f"{row['model']} writes all options in place for {row['fuzzy']:.1%} of items "
            f"[{row['fuzzy_low']:.1%}, {row['fuzzy_high']:.1%}] and {row['control_whole']:.1%} of "
            "control items."
            for row in remembering[:_NAMED]
        ]
        return [*named, *rest]
    if not any(row["compared"] for row in rows):
        return ["No conclusion: no item has a control item of the same subject."]
    who = "No model writes" if len(rows) > 1 else f"{rows[0]['model']} does not write"
    most = max(row["fuzzy_high"] for row in rows)
    return [
        f"{who} all options of its items significantly more often than those of control items.",
        f"With {min(row['items'] for row in rows):,} items, a rate of up to {most:.1%} is "
        "compatible with these results.",
    ]


def _test(row: Row) -> str:
    if row["p_holm"] is None:
        return "no control item of the same subject"
    p = p_value(row["p_holm"])
    controls = count(row["control_only"], "control")
    return f"{count(row['item_only'], 'item')} against {controls}, p: {p}"


def render_memorisation_page(
    ingestion: BenchmarkParams,
    variant: str,
    scoring: ScoringParams,
    seed: int,
    memorisation_verdict: Verdict,
    memorisation_summary: pd.DataFrame,
    memorisation_examples: list[dict[str, Any]],
) -> str:
    """Render one HTML page that needs no network; texts of items and replies are escaped.

    The same inputs give the same bytes.
    """
    recall = scoring.generation.recall_tokens
    facts = [
        *benchmark_facts(ingestion, variant, seed),
        ("scoring.configurations", ", ".join(scoring.configurations)),
        ("scoring.generation.recall_tokens", str(recall)),
    ]
    examples = []
    for model in memorisation_examples:
        title = f"{model['model']}: items with the most options in place"
        examples.append(Folded(title, [_example(item) for item in model["items"]]))
    sections = [
        Section("Results", _result(_by_share(memorisation_summary)), "result"),
        Section("Examples", examples, "examples"),
        provenance_section(facts, _SOURCE),
    ]
    return render_sections(
        f"{ingestion.title}: memorisation",
        ingestion.title,
        f"Memorisation · variant {variant}",
        memorisation_verdict,
        {"sections": sections},
    )


def _result(rows: list[dict[Any, Any]]) -> list[Any]:
    label = (
        "Items with a text where an option is expected, shares of items with all options in "
        f"place, with {LEVEL:.0%} intervals, and the test against the control"
    )
    columns: list[Column] = [
        ("Model", as_text, "model"),
        ("Items", as_count, "items"),
        ("With options", as_count, "with_options"),
        ("Verbatim", as_bounded_share, "exact"),
        ("Similar", as_bounded_share, "fuzzy"),
        ("Control", as_bounded_share, "control_whole"),
        ("Test", as_text, "test"),
        ("Remembers", as_text, "verdict"),
    ]
    said = [
        {**row, "test": _test(row), "verdict": "yes" if row["remembers"] else "no"} for row in rows
    ]
    return cut_table(label, said, columns, "memorisation_summary")


def _example(item: dict[str, Any]) -> Article:
    options = [
        [option["label"], option["choice"], option["written"] or "—", option["match"] or "—"]
        for option in item["options"]
    ]
    reply = Question(item["reply"] or "(nothing)")
    return Article(
        item["item_id"],
        [
            Question(item["question"]),
            Table("", ("", "The item's option", "Written", "Match"), options),
            Folded("Full reply", [reply]),
        ],
    )
