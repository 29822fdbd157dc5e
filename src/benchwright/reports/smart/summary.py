"""The report in a few sentences: the headline, the key figures, and what to know first."""

from typing import Any

import numpy as np
import pandas as pd

from benchwright.evidence.panel import Panel, group_to_judge, in_sample_note, panel_warnings
from benchwright.evidence.rank_agreement import GROUPS
from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.page.sections import Section, make_section
from benchwright.reports.page.wording import count, tile
from benchwright.reports.smart.judgement import judge_against_random
from benchwright.reports.smart.wording import write_interval, write_percentile, write_value

_NOTABLE_POINTS = 1.0  # a gap in lost accuracy, in percentage points, that is worth a warning
_TWINS = 0.99  # share of same answers from which two models are hardly two
_SHOWN_TWINS = 3
# A random half of 400 items keeps the order of three models in 79% of cases, of seven in 19%.
_FEW_HELD_OUT = 7


def summarise_refinement(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    rule_coverage: pd.DataFrame,
    rank_agreement: pd.DataFrame,
    panel: Panel,
    yardstick: pd.DataFrame,
    evaluation: EvaluationParams,
) -> Section:
    """Put the outcome in plain words: the headline and the key figures.

    The headline judges by the held-out models; with too few of them it takes all models and says
    in the same line that the figure is in-sample. Then it says where the result stands among
    random subsets of its size.
    """
    n_items, n_kept = len(items), len(kept_items)
    removed = (n_items - n_kept) / n_items
    group = group_to_judge(panel)
    ranking = _ranking(rank_agreement, panel, group, _kept_among(panel, kept_items))
    judgement = judge_against_random(yardstick, group, evaluation.top_models)
    summary = {
        "sizes": f"{n_items:,} → {n_kept:,} items ({removed:.1%} removed).",
        "ranking": ranking["sentence"],
        "judgement": " ".join(judgement.sentences) if ranking["value"] != "—" else "",
        "share_kept": round(100 * n_kept / n_items, 2),
        "tiles": [
            tile("Items", f"{n_items:,} → {n_kept:,}", f"{removed:.1%} removed"),
            tile("Kendall tau-b", ranking["value"], ranking["note"]),
            *_yardstick_tiles(yardstick, group),
            tile(
                "Panel",
                count(len(panel.models), "model"),
                f"{len(panel.select('held_out')):,} held out, {len(panel.item_ids):,} items",
            ),
            _rules_tile(rule_coverage),
        ],
    }
    return make_section(summary=summary)


def note_models(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    scores: pd.DataFrame,
    agreement: pd.DataFrame,
    panel: Panel,
    evaluation: EvaluationParams,
) -> Section:
    """Note what a reader has to know first about the models that judge."""
    removed = (len(items) - len(kept_items)) / len(items)
    notes = [
        *panel_warnings(panel, evaluation.min_coverage),
        *_panel_size_notes(panel, _kept_among(panel, kept_items), removed),
        *_selection_notes(scores),
        *_twin_notes(agreement),
    ]
    return make_section(model_notes=notes)


def note_items(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    rejected_items: pd.DataFrame,
    rule_coverage: pd.DataFrame,
    verdicts: pd.DataFrame,
    similarity_threshold: dict[str, Any],
    import_report: pd.DataFrame,
) -> Section:
    """Note what a reader has to know first about rules, labels and source rows."""
    warning = similarity_threshold.get("warning") or ""
    end = "" if warning.endswith((".", "!", "?")) else "."
    notes = [
        *_rule_notes(rule_coverage, len(items)),
        *([f"Similar items: {warning}{end}"] if warning else []),
        *_label_notes(verdicts, len(items), set(kept_items["item_id"])),
        *_source_notes(rejected_items, import_report),
    ]
    return make_section(item_notes=notes)


def _kept_among(panel: Panel, kept_items: pd.DataFrame) -> int:
    """Count the kept items that every model of the panel answered."""
    return len(set(kept_items["item_id"]) & set(panel.item_ids))


def _ranking(rank_agreement: pd.DataFrame, panel: Panel, group: str, n_kept: int) -> dict[str, str]:
    """Return Kendall's tau-b of the fairest set of models, as a sentence, a figure and a note."""
    rows = rank_agreement[
        (rank_agreement["models"] == group) & (rank_agreement["metric"] == "kendall_tau_b")
    ]
    if rows.empty:
        reason = "no figure was computed"
        return {"sentence": f"Ranking of models: {reason}.", "value": "—", "note": reason}
    row = rows.to_dict("records")[0]
    models = f"{row['n_models']:,} {GROUPS[group]}" if row["n_models"] != 1 else "1 model"
    if group == "held_out" and panel.unknown_family:
        models += f" ({panel.unknown_family:,} of unknown family)"
    note = in_sample_note(panel)
    if group == "held_out" and row["n_models"] < _FEW_HELD_OUT:
        note = "chance alone often keeps the order of so few models"
    if n_kept and n_kept == len(panel.item_ids):
        said = "none of the items that it rests on was removed, so it is the same"
        return {"sentence": f"Ranking of {models}: {said}.", "value": "—", "note": said}
    if pd.isna(row["value"]):
        said = f"Ranking of models: not compared, {row['reason']}."
        return {"sentence": said, "value": "—", "note": str(row["reason"])}
    value = write_value("kendall_tau_b", row["value"])
    interval = write_interval("kendall_tau_b", row["low"], row["high"])
    items = f"{row['n_items']:,} items, {n_kept:,} of them kept"
    n = f"n = {row['n_models']:,} models × {items}"
    figure = f"{value} {interval}".rstrip()
    return {
        "sentence": f"Ranking of {models}: Kendall tau-b {figure} "
        f"({n}{'; ' + note if note else ''}).",
        "value": value,
        "note": (f"{interval}, 95% over items; " if interval else "")
        + f"{models} × {items}"
        + (f"; {note}" if note else ""),
    }


def _panel_size_notes(panel: Panel, n_kept: int, removed: float) -> list[str]:
    n = len(panel.item_ids)
    if not n or abs((n - n_kept) / n - removed) < _NOTABLE_POINTS / 100:
        return []
    return [
        f"Of the {n:,} items that every panel model answered {n_kept:,} were kept "
        f"({(n - n_kept) / n:.1%} removed, against {removed:.1%} of all items). Rankings and "
        "random subsets are about these."
    ]


def _yardstick_tiles(yardstick: pd.DataFrame, group: str) -> list[dict[str, str]]:
    rows = yardstick[
        (yardstick["method"] == "kept")
        & (yardstick["models"] == group)
        & (yardstick["random"] == "plain")
        & yardstick["value"].notna()
    ]
    rows = rows[rows["n_items"] < rows["n_full"]]
    by_metric = {str(row["metric"]): row for row in rows.to_dict("records")}
    tiles = []
    ranking = by_metric.get("kendall_tau_b")
    if ranking is not None and pd.notna(ranking["percentile"]):
        band = write_interval("kendall_tau_b", ranking["random_low"], ranking["random_high"])
        tiles.append(
            tile(
                "Among random subsets",
                f"percentile {write_percentile(ranking['percentile'])}",
                f"they reach {write_value('kendall_tau_b', ranking['random_mean'])} on average, "
                f"middle 95% {band}",
            )
        )
    spread = by_metric.get("spread_top")
    if spread is not None:
        before, after = (write_value("spread_top", spread[name]) for name in ("full", "value"))
        low, high = (write_value("spread_top", spread[f"random_{end}"]) for end in ("low", "high"))
        tiles.append(
            tile(
                "Range of the best",
                f"{before} → {after}" if before != "—" else after,
                f"accuracy points; random subsets {low} to {high}",
            )
        )
    return tiles


def _rules_tile(rule_coverage: pd.DataFrame) -> dict[str, str]:
    names = {
        status: ", ".join(rules.str.replace("_", " "))
        for status, rules in rule_coverage.groupby("status")["rule"]
    }
    ran = int(rule_coverage["status"].isin(["ran", "partial"]).sum())
    notes = [f"{s.replace('_', ' ')}: {names[s]}" for s in ("not_run", "off") if s in names]
    note = "; ".join(notes) or "every rule"
    return tile("Rules that ran", f"{ran} of {len(rule_coverage)}", note)


def _selection_notes(scores: pd.DataFrame) -> list[str]:
    lost = (scores["accuracy_full"] - scores["accuracy_kept"]).groupby(scores["role"]).mean()
    own, others = 100 * lost.get("filter", np.nan), 100 * lost.get("held_out", np.nan)
    if not own - others >= _NOTABLE_POINTS:  # also when there are no models of either kind
        return []
    return [
        f"On the kept items the models that chose them lose {own:.1f} points on average, the "
        f"held-out ones {others:.1f}: items that all filter models get right are gone, so do not "
        "rank a filter model against another model on the kept items."
    ]


def _twin_notes(agreement: pd.DataFrame) -> list[str]:
    """Name pairs of nearly identical models: they make n look larger than it is."""
    twins = agreement[agreement["full"] >= _TWINS].sort_values("full", ascending=False)
    same = "answers" if (agreement["kind"] == "prediction").any() else "right and wrong answers"
    said = [
        f"{row['model_a']} and {row['model_b']} have the same {same} on "
        f"{share} of the items; they count as two models here."
        for row in twins.head(_SHOWN_TWINS).to_dict("records")
        for share in ["more than 99.9%" if 0.9995 <= row["full"] < 1 else f"{row['full']:.1%}"]
    ]
    if len(twins) > _SHOWN_TWINS:
        more = len(twins) - _SHOWN_TWINS
        said.append(
            f"The same holds for {more:,} more {'pair' if more == 1 else 'pairs'} of models."
        )
    return said


def _rule_notes(rule_coverage: pd.DataFrame, n_items: int) -> list[str]:
    said = []
    for rule in rule_coverage.to_dict("records"):
        name = rule["rule"].replace("_", " ")
        if rule["status"] == "not_run":
            said.append(f"The rule “{name}” did not run: {rule['reason'] or 'no reason given'}.")
        elif rule["status"] == "partial":
            said.append(
                f"The rule “{name}” judged {rule['judged']:,} of {n_items:,} items "
                f"({rule['judged'] / n_items:.1%}); the rest stayed unjudged."
            )
    return said


def _label_notes(verdicts: pd.DataFrame, n_items: int, kept: set[str]) -> list[str]:
    flagged = verdicts[(verdicts["rule"] == "suspect_label") & (verdicts["state"] == "flagged")]
    if flagged.empty or not kept:
        return []
    among_kept = int(flagged["item_id"].isin(kept).sum())
    have = "item has" if len(flagged) == 1 else "items have"
    return [
        f"{len(flagged):,} {have} a suspect label ({len(flagged) / n_items:.1%} of all, "
        f"{among_kept / len(kept):.1%} of the kept). Removing what models get right leaves wrong "
        "labels more frequent among what is kept."
    ]


def _source_notes(rejected_items: pd.DataFrame, import_report: pd.DataFrame) -> list[str]:
    said = []
    if len(rejected_items):
        become = "an item" if len(rejected_items) == 1 else "items"
        rows = count(len(rejected_items), "source row")
        said.append(f"{rows} could not become {become}; see “Data and models”.")
    for column, what in (
        ("not_joined", "imported answers matched no item"),
        ("doubled", "imported answers were given more than once"),
        ("dropped", "imported answers were empty or out of range"),
        ("contradicting", "imported answers claim to be right or wrong against their own choice"),
    ):
        n = int(import_report[column].sum())
        if n:
            said.append(f"{n:,} {what}.")
    return said
