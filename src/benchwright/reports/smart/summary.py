"""What the report says first: the verdict, what was found, the evidence in words, and the notes."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from benchwright.core.configuration import count_models
from benchwright.evidence.panel import Panel, headline_group, in_sample_note, panel_warnings
from benchwright.evidence.random_comparison import TOP_MODELS
from benchwright.evidence.verdict import Verdict, beside_random
from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.page.parts import Text, Tiles, Top
from benchwright.reports.page.wording import count, joined
from benchwright.reports.smart.wording import write_interval, write_percentile, write_value

_NOTABLE_POINTS = 1.0  # a gap in lost accuracy, in percentage points, that is worth a warning
# A random half of 400 items keeps the order of three models in 79% of cases, of seven in 19%.
_FEW_HELD_OUT = 7
WHICH_VARIANT = (
    "Which variant? `smart` removes little and rarely harms a ranking; `smart_paper` removes much "
    "and may cost rank fidelity; `no_similar` keeps items that look alike, as those of templates "
    "do. Real panels: docs/evidence/results.md."
)


def show_refinement_top(
    subset_verdict: Verdict,
    rule_coverage: pd.DataFrame,
    report_model_notes: list[str],
    report_item_notes: list[str],
) -> Top:
    """Show the verdict and its figures, and what the rules found."""
    found = [
        f"{row['flagged']:,} {row['rule'].replace('_', ' ')} ({row['removed'] or 'none'} removed)"
        for row in rule_coverage[rule_coverage["flagged"] > 0].to_dict("records")
    ]
    lead = [
        Tiles(subset_verdict.tiles),
        Text(f"Found on the way: {joined(found)}." if found else "", "judgement"),
    ]
    shown = [block for block in lead if not isinstance(block, Text) or block.text]
    notes = [*report_model_notes, *report_item_notes]
    return Top(subset_verdict.sentence, shown, notes, WHICH_VARIANT, "Benchmark report")


def describe_evidence(
    rank_agreement: pd.DataFrame, random_comparison: pd.DataFrame, panel: Panel
) -> str:
    """Describe Kendall's tau-b and the range of the best models beside random subsets."""
    group = headline_group(panel)
    ranked = rank_agreement[
        (rank_agreement["models"] == group) & (rank_agreement["metric"] == "kendall_tau_b")
    ].to_dict("records")
    if not panel.models:
        return ""
    if not ranked or pd.isna(ranked[0]["value"]):
        why = ranked[0]["reason"] if ranked else "they are too few"
        return f"The rankings on all and on the kept items are not compared: {why}."
    row = ranked[0]
    whose = count_models(panel.select(group), "held-out" if group == "held_out" else "")
    value = write_value("kendall_tau_b", row["value"])
    interval = write_interval("kendall_tau_b", row["low"], row["high"])
    caveats = [in_sample_note(panel)]
    if group == "held_out" and row["n_models"] < _FEW_HELD_OUT:
        caveats.append("random subsets often keep the order of so few models")
    doubt = "".join(f"; {caveat}" for caveat in caveats if caveat)
    sentences = [
        f"Kendall tau-b of the rankings of {whose} on all and on the kept items: "
        f"{value} {interval}".rstrip()
        + f" (on {row['n_items']:,} items{doubt})."
    ]
    random, spread = (
        beside_random(random_comparison, group, metric)
        for metric in ("kendall_tau_b", "spread_top")
    )
    if pd.notna(random.get("random_low")) and random["n_items"] < random["n_full"]:
        sentences.append(_among_random(random))
        if pd.notna(spread.get("random_low")):
            sentences.append(_range_of_best(spread))
    return " ".join(sentences)


def _among_random(row: Mapping[Any, Any]) -> str:
    mean = write_value("kendall_tau_b", row["random_mean"])
    band = write_interval("kendall_tau_b", row["random_low"], row["random_high"])
    return (
        f"{row['draws']:,} random subsets of the same size have a mean of {mean} and a middle 95% "
        f"of {band}; {write_percentile(row['percentile'])}% of them are below this subset."
    )


def _range_of_best(row: Mapping[Any, Any]) -> str:
    n = int(row["n_models"])
    whose = f"top {TOP_MODELS}" if n > TOP_MODELS else count(n, "model")
    names = ("full", "value", "random_low", "random_high")
    before, after, low, high = (write_value("spread_top", row[name]) for name in names)
    return f"Range of the {whose}: {before} → {after} points (random subsets {low}–{high})."


def note_models(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    scores: pd.DataFrame,
    panel: Panel,
    evaluation: EvaluationParams,
) -> list[str]:
    """Write the caveats about the panel of models."""
    removed = (len(items) - len(kept_items)) / len(items)
    return [
        *panel_warnings(panel, evaluation.min_coverage),
        *_panel_size_notes(panel, _kept_among(panel, kept_items), removed),
        *_selection_notes(scores),
    ]


def note_items(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    rejected_items: pd.DataFrame,
    rule_coverage: pd.DataFrame,
    verdicts: pd.DataFrame,
    import_report: pd.DataFrame,
    limit: int | None = None,
) -> list[str]:
    """Write the caveats about rules, labels and source rows."""
    return [
        *_rule_notes(rule_coverage, len(items)),
        *_label_notes(verdicts, len(items), set(kept_items["item_id"])),
        *_source_notes(rejected_items, import_report, limit),
    ]


def _kept_among(panel: Panel, kept_items: pd.DataFrame) -> int:
    """Count the kept items that every model of the panel answered."""
    return len(set(kept_items["item_id"]) & set(panel.item_ids))


def _panel_size_notes(panel: Panel, n_kept: int, removed: float) -> list[str]:
    n = len(panel.item_ids)
    if not n or abs((n - n_kept) / n - removed) < _NOTABLE_POINTS / 100:
        return []
    return [
        f"{n_kept:,} of the {n:,} items that every panel model answered were kept "
        f"({(n - n_kept) / n:.1%} removed, compared with {removed:.1%} of all items). Rankings and "
        "random subsets use these items."
    ]


def _selection_notes(scores: pd.DataFrame) -> list[str]:
    lost = (scores["accuracy_full"] - scores["accuracy_kept"]).groupby(scores["role"]).mean()
    chosen, others = 100 * lost.get("filter", np.nan), 100 * lost.get("held_out", np.nan)
    if not chosen - others >= _NOTABLE_POINTS:  # also when there are no models of either kind
        return []
    return [
        f"On the kept items the accuracy of filter models is {chosen:.1f} points lower on average, "
        f"that of held-out models {others:.1f}: items that all filter models answer correctly were "
        "removed. Do not rank filter models against other models on the kept items."
    ]


def _rule_notes(rule_coverage: pd.DataFrame, n_items: int) -> list[str]:
    notes = []
    for rule in rule_coverage.to_dict("records"):
        name = rule["rule"].replace("_", " ")
        if rule["status"] == "not_run":
            notes.append(f"The rule “{name}” did not run: {rule['reason'] or 'no reason given'}.")
        elif rule["status"] == "partial":
            notes.append(
                f"The rule “{name}” judged {rule['judged']:,} of {n_items:,} items "
                f"({rule['judged'] / n_items:.1%}). It could not judge the others."
            )
        if "reported, not removed" in (rule["reason"] or ""):
            notes.append(f"The rule “{name}” removed nothing: {rule['reason']}.")
    return notes


def _label_notes(verdicts: pd.DataFrame, n_items: int, kept: set[str]) -> list[str]:
    flagged = verdicts[(verdicts["rule"] == "suspect_label") & (verdicts["state"] == "flagged")]
    if flagged.empty or not kept:
        return []
    among_kept = int(flagged["item_id"].isin(kept).sum())
    have = "item has" if len(flagged) == 1 else "items have"
    return [
        f"{len(flagged):,} {have} a suspect label ({len(flagged) / n_items:.1%} of all, "
        f"{among_kept / len(kept):.1%} of the kept). Removing items that models answer correctly "
        "makes wrong labels more frequent among the kept items."
    ]


def _source_notes(
    rejected_items: pd.DataFrame, import_report: pd.DataFrame, limit: int | None
) -> list[str]:
    notes = []
    if limit is not None:
        notes.append(
            f"The run is limited to {count(limit, 'item')}. Rejected source rows and imported "
            "responses are counted for the whole benchmark."
        )
    if len(rejected_items):
        were = "was" if len(rejected_items) == 1 else "were"
        rows = count(len(rejected_items), "source row")
        notes.append(f"{rows} {were} rejected; see “Data and models” in the report.")
    for column, what in (
        ("not_joined", f"imported responses match no item{' of this run' if limit else ''}"),
        ("doubled", "imported responses are duplicates"),
        ("dropped", "imported responses are empty or out of range"),
        ("contradicting", "imported responses have a correctness that contradicts their choice"),
    ):
        n = int(import_report[column].sum())
        if n:
            notes.append(f"{n:,} {what}.")
    return notes
