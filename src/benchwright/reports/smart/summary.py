"""What the report says first: the verdict, what was found, the evidence in words, and the notes."""

import numpy as np
import pandas as pd

from benchwright.core.configuration import count_models
from benchwright.core.wording import count, joined
from benchwright.evidence.panel import Panel, headline_group, panel_warnings
from benchwright.evidence.random_comparison import TAU
from benchwright.evidence.verdict import SubsetVerdict, beside_random
from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.smart.wording import write_interval, write_percentile, write_value
from benchwright.reports.verdict import Verdict, write_verdict

_NOTABLE_POINTS = 1.0  # a gap in lost accuracy, in percentage points, that is worth a warning
WHICH_VARIANT = (
    "Which variant? `smart` keeps nearly all clearly different pairs; `smart_paper` removes much "
    "and may cost rank fidelity; `no_similar` keeps items that look alike, as those of templates "
    "do. Real panels: docs/evidence/results.md."
)


def judge_refinement(
    judged_subset: SubsetVerdict,
    rule_coverage: pd.DataFrame,
    report_model_notes: list[str],
    report_item_notes: list[str],
) -> Verdict:
    """Write the verdict on the kept items with its figures, and what the rules found."""
    found = [
        f"{row['flagged']:,} {row['rule'].replace('_', ' ')} ({row['removed'] or 'none'} removed)"
        for row in rule_coverage[rule_coverage["flagged"] > 0].to_dict("records")
    ]
    return write_verdict(
        judged_subset.sentence,
        kind="Benchmark report",
        tiles=judged_subset.tiles,
        judgements=[f"Found on the way: {joined(found)}."] if found else [],
        notes=[*report_model_notes, *report_item_notes],
        next_step=WHICH_VARIANT,
    )


def describe_evidence(
    rank_agreement: pd.DataFrame, random_comparison: pd.DataFrame, panel: Panel
) -> str:
    """Describe Kendall's tau-b beside random subsets."""
    group = headline_group(panel)
    tau = beside_random(random_comparison, group)
    if pd.isna(tau.get("value")) or tau["n_items"] == tau["n_full"]:
        return ""
    known = rank_agreement[
        (rank_agreement["models"] == group) & (rank_agreement["metric"] == TAU)
    ].to_dict("records")[0]
    whose = count_models(panel.select(group), "held-out" if group == "held_out" else "")
    value, mean = (write_value(TAU, tau[name]) for name in ("value", "random_mean"))
    between = write_interval(TAU, known["low"], known["high"])
    band = write_interval(TAU, tau["random_low"], tau["random_high"])
    return (
        f"Kendall tau-b of the rankings of {whose} on all and on the kept items: {value} {between}"
        f". {tau['draws']:,} random subsets of the same size have a mean of {mean} and a middle "
        f"95% of {band}; this subset is at percentile {write_percentile(tau['percentile'])} of "
        "them (ties count half)."
    )


def note_models(scores: pd.DataFrame, panel: Panel, evaluation: EvaluationParams) -> list[str]:
    """Write the caveats about the panel of models."""
    return [*panel_warnings(panel, evaluation.min_coverage), *_selection_notes(scores)]


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


def _selection_notes(scores: pd.DataFrame) -> list[str]:
    lost = (scores["accuracy_full"] - scores["accuracy_kept"]).groupby(scores["role"]).mean()
    chosen = 100 * lost.get("filter", np.nan)
    others = 100 * lost.get("held_out", np.nan)
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
    return [
        f"{count(len(flagged), 'item')} with a suspect label ({len(flagged) / n_items:.1%} of all, "
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
        rows = count(len(rejected_items), "source row")
        notes.append(f"{rows} rejected; see “Data and models” in the report.")
    for column, what in (
        ("not_joined", f"that match no item{' of this run' if limit else ''}"),
        ("doubled", "that are duplicates"),
        ("dropped", "that are empty or out of range"),
        ("unreadable", "that cannot be read, counted as wrong"),
        ("contradicting", "whose correctness contradicts their choice"),
    ):
        n = int(import_report[column].sum())
        if n:
            notes.append(f"{count(n, 'imported response')} {what}.")
    unused = import_report[import_report["layout"] == "unusable"]
    return [*notes, *(f"Not used: {detail}" for detail in unused["detail"])]
