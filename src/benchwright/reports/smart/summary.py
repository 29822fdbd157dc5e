"""The headline, the comparison with random subsets and the notes."""

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.configuration import count_models
from benchwright.evidence.panel import Panel, headline_group, in_sample_note, panel_warnings
from benchwright.evidence.random_comparison import TOP_MODELS
from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.page.parts import Text
from benchwright.reports.page.wording import count
from benchwright.reports.smart.wording import (
    write_interval,
    write_percentile,
    write_value,
)

_NOTABLE_POINTS = 1.0  # a gap in lost accuracy, in percentage points, that is worth a warning
# A random half of 400 items keeps the order of three models in 79% of cases, of seven in 19%.
_FEW_HELD_OUT = 7
_RULE_SECTIONS = {"easy_unanimous": "easy", "duplicate": "duplicates"}
"""The sections of `filtering` that are not named after their rule."""


def summarise_refinement(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    rule_coverage: pd.DataFrame,
    rank_agreement: pd.DataFrame,
    panel: Panel,
    random_comparison: pd.DataFrame,
    alarm: str,
) -> list[Text]:
    """Summarise the result in a headline and a judgement, after an alarm if there is one.

    The headline is about the held-out models. With too few of them it is about all models and
    states that the metric is in-sample. The comparison with random subsets follows.
    """
    n_items, n_kept = len(items), len(kept_items)
    removed = (n_items - n_kept) / n_items
    group = headline_group(panel)
    n_panel = _kept_among(panel, kept_items)
    rows = rank_agreement[
        (rank_agreement["models"] == group) & (rank_agreement["metric"] == "kendall_tau_b")
    ].to_dict("records")
    if n_panel and n_panel == len(panel.item_ids):
        ranking = "unchanged, since none of the items that all of them answered was removed"
    elif not rows:
        ranking = "not computed"
    elif pd.isna(rows[0]["value"]):
        ranking = f"not compared, {rows[0]['reason']}"
    else:
        ranking = _estimate(rows[0], panel, n_panel)
    judgement = judge_against_random(random_comparison, group)
    sizes = f"{n_items:,} → {n_kept:,} items ({removed:.1%} removed"
    compared = ranking.startswith("Kendall")
    whom = "models" if ranking.startswith("not ") else _models(panel, group)
    lead = [
        Text(alarm, "headline warning", code=True),
        Text(f"{sizes}{_by_rule(rule_coverage, n_items - n_kept)}).", "headline strong"),
        Text(f"Ranking of {whom}: {ranking}.", "headline"),
        Text(" ".join(judgement.sentences) if compared else "", "judgement"),
    ]
    return [text for text in lead if text.text]


def raise_alarm(harmful_rule: dict[str, Any], panel: Panel, random_comparison: pd.DataFrame) -> str:
    """Return an alarm if the items rank held-out models worse than random ones, else ""."""
    group = headline_group(panel)
    below = judge_against_random(random_comparison, group).ranking == "below"
    return write_alarm(harmful_rule) if below and group != "all" else ""


def write_alarm(harmful_rule: Mapping[str, Any]) -> str:
    """Return the alarm with the setting that switches the harmful rule off."""
    harm = (
        "Do not rank models by the kept items: they rank held-out models less well than random "
        "items."
    )
    if not harmful_rule:
        return harm
    rule = str(harmful_rule["rule"])
    name, section = rule.replace("_", " "), _RULE_SECTIONS.get(rule, rule)
    without = (
        f"Without the rule “{name}” they would not"
        if harmful_rule["restored"]
        else f"No rule alone is the cause; without “{name}” the harm is least"
    )
    return f"{harm} {without} (`--params filtering.{section}.enabled=false`)."


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


def _by_rule(rule_coverage: pd.DataFrame, n_removed: int) -> str:
    """Return how many items each rule removed."""
    rows = rule_coverage[rule_coverage["removed"] > 0]
    by_rule = [
        f"{n:,} {name.replace('_', ' ')}"
        for name, n in zip(rows["rule"], rows["removed"], strict=True)
    ]
    several = "; some by several rules" if rows["removed"].sum() > n_removed else ""
    return f": {', '.join(by_rule)}{several}" if n_removed and by_rule else ""


def _kept_among(panel: Panel, kept_items: pd.DataFrame) -> int:
    """Count the kept items that every model of the panel answered."""
    return len(set(kept_items["item_id"]) & set(panel.item_ids))


def _models(panel: Panel, group: str) -> str:
    models = count_models(panel.select(group), "held-out" if group == "held_out" else "")
    if group == "held_out" and panel.unknown_family:
        models += f" ({panel.unknown_family:,} of unknown family)"
    return models


def _estimate(row: Mapping[Any, Any], panel: Panel, n_kept: int) -> str:
    """Return Kendall's tau-b of a group of models with its interval and its caveat."""
    note = in_sample_note(panel)
    if row["models"] == "held_out" and row["n_models"] < _FEW_HELD_OUT:
        note = "random subsets often keep the order of so few models"
    value = write_value("kendall_tau_b", row["value"])
    interval = write_interval("kendall_tau_b", row["low"], row["high"])
    items = f"{row['n_items']:,} items, {n_kept:,} of them kept"
    return f"Kendall tau-b {f'{value} {interval}'.rstrip()} ({items}{'; ' + note if note else ''})"


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


Place = Literal["below", "inside", "above", "none"]

_RANKING = {
    "below": "This ranking is preserved less well than by random removal.",
    "inside": "That is as good as random removal, but not better.",
    "above": "This ranking is preserved better than by random removal.",
}
_HEADROOM = {"below": "loses headroom", "inside": "gains no headroom", "above": "gains headroom"}
_FIDELITY = {
    "below": "loses rank fidelity",
    "inside": "keeps rank fidelity like random removal",
    "above": "gains rank fidelity",
}


class Judgement(NamedTuple):
    """The position of this run among random subsets of the same size."""

    ranking: Place  # of Kendall's tau-b, against the middle 95% of the random subsets
    headroom: Place  # of the range of the best models' scores, in the same way
    sentences: tuple[str, ...]  # the explanation, in order


def judge_against_random(random_comparison: pd.DataFrame, group: str) -> Judgement:
    """Compare this run's items with random subsets of the same size, for one set of models.

    A metric is below, inside or above the middle 95% of the plain random ones; bounds, and values
    that are written like one of them, count as inside.
    """
    ranking = _row(random_comparison, group, "kendall_tau_b")
    if ranking is None:
        return Judgement("none", "none", (_not_compared(random_comparison, group),))
    if ranking["n_items"] == ranking["n_full"]:
        text = "No comparison with random subsets: all of these items were kept."
        return Judgement("none", "none", (text,))
    place = _place(ranking)
    sentences = [_among_random(ranking), _RANKING[place]]
    spread = _row(random_comparison, group, "spread_top")
    if spread is None:
        return Judgement(place, "none", tuple(sentences))
    headroom = _place(spread)
    sentences.append(_headroom_sentence(spread, headroom))
    conclusion = f"Filtering {_HEADROOM[headroom]} and {_FIDELITY[place]}."
    if group == "all" and "above" in (place, headroom):
        conclusion += " This is in-sample: only held-out models can show a gain."
    return Judgement(place, headroom, (*sentences, conclusion))


def _row(random_comparison: pd.DataFrame, group: str, metric: str) -> dict[Any, Any] | None:
    """Return the kept items' row with a value and a band of plain random subsets, or None."""
    wanted = {"method": "kept", "models": group, "metric": metric, "random": "plain"}
    rows = random_comparison[(random_comparison[list(wanted)] == pd.Series(wanted)).all(axis=1)]
    return next(iter(rows.dropna(subset=["value", "random_low"]).to_dict("records")), None)


def _place(row: dict[Any, Any]) -> Place:
    value, low, high = (row[name] for name in ("value", "random_low", "random_high"))
    if write_value(row["metric"], value) in {write_value(row["metric"], b) for b in (low, high)}:
        return "inside"
    if value < low:
        return "below"
    return "above" if value > high else "inside"


def _not_compared(table: pd.DataFrame, group: str) -> str:
    own = table[table["method"].eq("kept") & table["models"].eq(group)]
    reasons = own.loc[own["metric"] == "kendall_tau_b", "reason"]
    unknown = "no subsets were drawn, or there are too few models"
    why = next((str(reason) for reason in reasons if reason), unknown)
    return f"No comparison with random subsets of the same size: {why}."


def _among_random(row: dict[Any, Any]) -> str:
    mean = write_value("kendall_tau_b", row["random_mean"])
    band = write_interval("kendall_tau_b", row["random_low"], row["random_high"])
    known = not math.isnan(row["percentile"])
    at = f"; this run is at percentile {write_percentile(row['percentile'])}" if known else ""
    return (
        f"{row['draws']:,} random subsets of the same size have a mean of {mean}, the middle 95% "
        f"of them lie in {band}{at}."
    )


def _headroom_sentence(row: dict[Any, Any], place: Place) -> str:
    n = int(row["n_models"])
    whose = f"top {TOP_MODELS}" if n > TOP_MODELS else f"{n} models"
    before, after = (write_value("spread_top", row[name]) for name in ("full", "value"))
    low, high = (write_value("spread_top", row[name]) for name in ("random_low", "random_high"))
    change = after if before == "—" else f"{before} → {after}"
    than = {"above": "wider than", "inside": "within", "below": "narrower than"}[place]
    return f"Range of the {whose}: {change} points, {than} random subsets ({low}–{high})."
