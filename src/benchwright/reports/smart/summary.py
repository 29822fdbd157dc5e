"""The headline, the comparison with random subsets and the notes."""

import math
from collections.abc import Collection, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.configuration import count_models
from benchwright.evidence.panel import Panel, headline_group, in_sample_note, panel_warnings
from benchwright.evidence.random_comparison import TOP_MODELS
from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.page.parts import Text
from benchwright.reports.page.wording import count
from benchwright.reports.smart.method import read_choice
from benchwright.reports.smart.wording import (
    metric_of,
    write_interval,
    write_percentile,
    write_value,
)

_NOTABLE_POINTS = 1.0  # a gap in lost accuracy, in percentage points, that is worth a warning
_TWINS = 0.99  # share of equal answers from which two models are nearly identical
_SHOWN_TWINS = 3
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
    ranking = _ranking(rank_agreement, panel, group, _kept_among(panel, kept_items))
    judgement = judge_against_random(random_comparison, group, TOP_MODELS)
    sizes = f"{n_items:,} → {n_kept:,} items ({removed:.1%} removed"
    lead = [
        Text(alarm, "headline warning", code=True),
        Text(f"{sizes}{_by_rule(rule_coverage, n_items - n_kept)}).", "headline strong"),
        Text(ranking["sentence"], "headline"),
        Text(" ".join(judgement.sentences) if ranking["value"] != "—" else "", "judgement"),
    ]
    return [text for text in lead if text.text]


def raise_alarm(
    harmful_rule: dict[str, Any],
    filter_model_rule: Collection[str] | None,
    panel: Panel,
    random_comparison: pd.DataFrame,
) -> str:
    """Return an alarm if the items rank held-out models worse than random ones, else ""."""
    group = headline_group(panel)
    below = judge_against_random(random_comparison, group).ranking == "below"
    return write_alarm(harmful_rule, filter_model_rule) if below and group != "all" else ""


def write_alarm(harmful_rule: Mapping[str, Any], filter_models: Collection[str] | None) -> str:
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
    text = f"{harm} {without} (`--params filtering.{section}.enabled=false`)."
    choice = read_choice(filter_models)
    safest = choice is not None and choice.choose == "forward" and choice.distinct == "family"
    if safest or section not in ("easy", "answer_only"):
        return text
    setting = "=forward" if choice is None else ".choose=forward,filter_models.distinct=family"
    safer = f"`--params filter_models{setting}`"
    return f"{text} Weaker filter models of different families are safer ({safer})."


def note_models(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    scores: pd.DataFrame,
    agreement: pd.DataFrame,
    panel: Panel,
    evaluation: EvaluationParams,
) -> list[str]:
    """Write the caveats about the panel of models."""
    removed = (len(items) - len(kept_items)) / len(items)
    return [
        *panel_warnings(panel, evaluation.min_coverage),
        *_panel_size_notes(panel, _kept_among(panel, kept_items), removed),
        *_selection_notes(scores),
        *_twin_notes(agreement),
    ]


def note_items(
    items: pd.DataFrame,
    kept_items: pd.DataFrame,
    rejected_items: pd.DataFrame,
    rule_coverage: pd.DataFrame,
    verdicts: pd.DataFrame,
    similarity_threshold: dict[str, Any],
    import_report: pd.DataFrame,
    limit: int | None = None,
) -> list[str]:
    """Write the caveats about rules, labels and source rows."""
    warning = similarity_threshold.get("warning") or ""
    end = "" if warning.endswith((".", "!", "?")) else "."
    return [
        *_rule_notes(rule_coverage, len(items)),
        *([f"Similar items: {warning}{end}"] if warning else []),
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


def _ranking(rank_agreement: pd.DataFrame, panel: Panel, group: str, n_kept: int) -> dict[str, str]:
    """Return Kendall's tau-b of a group of models, as a sentence and a value."""
    rows = rank_agreement[
        (rank_agreement["models"] == group) & (rank_agreement["metric"] == "kendall_tau_b")
    ]
    if rows.empty:
        return {"sentence": "Ranking of models: not computed.", "value": "—"}
    row = rows.to_dict("records")[0]
    models = count_models(panel.select(group), "held-out" if group == "held_out" else "")
    if group == "held_out" and panel.unknown_family:
        models += f" ({panel.unknown_family:,} of unknown family)"
    note = in_sample_note(panel)
    if group == "held_out" and row["n_models"] < _FEW_HELD_OUT:
        note = "random subsets often keep the order of so few models"
    if n_kept and n_kept == len(panel.item_ids):
        text = "unchanged, since none of the items that all of them answered was removed"
        return {"sentence": f"Ranking of {models}: {text}.", "value": "—"}
    if pd.isna(row["value"]):
        return {"sentence": f"Ranking of models: not compared, {row['reason']}.", "value": "—"}
    value = write_value("kendall_tau_b", row["value"])
    interval = write_interval("kendall_tau_b", row["low"], row["high"])
    items = f"{row['n_items']:,} items, {n_kept:,} of them kept"
    estimate = f"{value} {interval}".rstrip()
    return {
        "sentence": f"Ranking of {models}: Kendall tau-b {estimate} "
        f"({items}{'; ' + note if note else ''}).",
        "value": value,
    }


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


def _twin_notes(agreement: pd.DataFrame) -> list[str]:
    """Name pairs of nearly identical models, which inflate the number of models."""
    twins = agreement[agreement["full"] >= _TWINS].sort_values("full", ascending=False)
    same = "answers" if (agreement["kind"] == "prediction").any() else "right and wrong answers"
    notes = [
        f"{row['model_a']} and {row['model_b']} have the same {same} on "
        f"{share} of the items, but count as two models."
        for row in twins.head(_SHOWN_TWINS).to_dict("records")
        for share in ["more than 99.9%" if 0.9995 <= row["full"] < 1 else f"{row['full']:.1%}"]
    ]
    if len(twins) > _SHOWN_TWINS:
        more = len(twins) - _SHOWN_TWINS
        notes.append(
            f"The same is true of {more:,} more {'pair' if more == 1 else 'pairs'} of models."
        )
    return notes


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
        elif rule["status"] == "ran" and rule["reason"] and not rule["removed"]:
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


Place = Literal["below", "inside", "above", "none"]

_RANKING = {
    "below": "This ranking is preserved less well than by random removal.",
    "inside": "That is as good as random removal, but not better.",
    "above": "This ranking is preserved better than by random removal.",
}
_FURTHER = ("spearman", "pearson", "pairwise_agreement", "signal_to_noise")

_CONCLUSIONS: dict[tuple[Place, Place], str] = {
    ("below", "above"): "Filtering gains headroom but loses rank fidelity.",
    ("below", "inside"): "Filtering loses rank fidelity and gains no headroom.",
    ("below", "below"): "Filtering loses both rank fidelity and headroom.",
    ("inside", "above"): "Filtering gains headroom and loses no rank fidelity over random removal.",
    ("inside", "inside"): "In rank agreement and range filtering does not differ from random "
    "removal.",
    ("inside", "below"): "Filtering loses headroom and gains no rank fidelity.",
    ("above", "above"): "Filtering gains both headroom and rank fidelity.",
    ("above", "inside"): "Filtering gains rank fidelity but no headroom.",
    ("above", "below"): "Filtering gains rank fidelity but loses headroom.",
}


class Judgement(NamedTuple):
    """The position of this run among random subsets of the same size."""

    ranking: Place  # of Kendall's tau-b, against the middle 95% of the random subsets
    headroom: Place  # of the range of the best models' scores, in the same way
    sentences: tuple[str, ...]  # the explanation, in order


def judge_against_random(
    random_comparison: pd.DataFrame, group: str, top_models: int | None = None
) -> Judgement:
    """Compare this run's items with random subsets of the same size, for one set of models.

    A metric is below, inside or above the middle 95% of the random ones; bounds, and values that
    are written like one of them, count as inside. Plain random subsets decide; those stratified by
    subject are mentioned where they disagree. `top_models` is the number of best models whose
    range is the headroom, where it is known.
    """
    ranking = _row(random_comparison, group, "kendall_tau_b")
    if ranking is None:
        return Judgement("none", "none", (_not_compared(random_comparison, group),))
    if ranking["n_items"] == ranking["n_full"]:
        text = "No comparison with random subsets: all of these items were kept."
        return Judgement("none", "none", (text,))
    place = _place(ranking)
    sentences = _ranking_sentences(ranking, place)
    stratified = _row(random_comparison, group, "kendall_tau_b", "stratified")
    if stratified is not None and _place(stratified) not in ("none", place):
        sentences.append(_otherwise(stratified))
    spread = _row(random_comparison, group, "spread_top")
    headroom: Place = "none"
    if spread is not None:
        headroom = _place(spread)
        sentences.append(_headroom_sentence(spread, headroom, top_models))
    sentences += _further_sentences(random_comparison, group)
    conclusion = _CONCLUSIONS.get((place, headroom))
    if conclusion and group == "all" and "above" in (place, headroom):
        conclusion += " This is in-sample: only held-out models can show a gain."
    return Judgement(place, headroom, (*sentences, *([conclusion] if conclusion else [])))


def _row(
    random_comparison: pd.DataFrame, group: str, metric: str, random: str = "plain"
) -> dict[Any, Any] | None:
    """Return the kept items' row with a value and a band, or None."""
    rows = _kept(random_comparison, group, metric).dropna(
        subset=["value", "random_low", "random_high"]
    )
    rows = rows[rows["random"] == random]
    return rows.to_dict("records")[0] if len(rows) else None


def _kept(random_comparison: pd.DataFrame, group: str, metric: str = "") -> pd.DataFrame:
    rows = random_comparison[
        (random_comparison["method"] == "kept") & (random_comparison["models"] == group)
    ]
    return rows[rows["metric"] == metric] if metric else rows


def _place(row: dict[Any, Any]) -> Place:
    value, low, high = (row[name] for name in ("value", "random_low", "random_high"))
    if write_value(row["metric"], value) in {write_value(row["metric"], b) for b in (low, high)}:
        return "inside"
    if value < low:
        return "below"
    return "above" if value > high else "inside"


def _not_compared(random_comparison: pd.DataFrame, group: str) -> str:
    reasons = _kept(random_comparison, group, "kendall_tau_b")["reason"]
    unknown = "no subsets were drawn, or there are too few models"
    why = next((str(reason) for reason in reasons if reason), unknown)
    return f"No comparison with random subsets of the same size: {why}."


def _ranking_sentences(row: dict[Any, Any], place: Place) -> list[str]:
    mean = write_value("kendall_tau_b", row["random_mean"])
    band = write_interval("kendall_tau_b", row["random_low"], row["random_high"])
    percentile = row["percentile"]
    ends = {0.0: " (all of them are higher)", 100.0: " (all of them are lower)"}
    written = "" if math.isnan(percentile) else write_percentile(percentile)
    at = f"; this run is at percentile {written}{ends.get(percentile, '')}" if written else ""
    return [
        f"{row['draws']:,} random subsets of the same size have a mean of {mean}, the middle 95% "
        f"of them lie in {band}{at}.",
        _RANKING[place],
    ]


def _otherwise(row: dict[Any, Any]) -> str:
    band = write_interval("kendall_tau_b", row["random_low"], row["random_high"])
    place = _place(row)
    where = f"inside their band {band}" if place == "inside" else f"{place} their band {band}"
    return f"Compared with random subsets stratified by subject it is {where}."


def _further_sentences(random_comparison: pd.DataFrame, group: str) -> list[str]:
    """Name the metrics beyond the two of the conclusion that differ from random subsets."""
    sentences = []
    for metric in _FURTHER:
        row = _row(random_comparison, group, metric)
        if row is None or (place := _place(row)) == "inside":
            continue
        band = write_interval(metric, row["random_low"], row["random_high"])
        sentences.append(
            f"{metric_of(metric).label}: {write_value(metric, row['value'])}, {place} random "
            f"subsets {band}."
        )
    return sentences


def _headroom_sentence(row: dict[Any, Any], place: Place, top_models: int | None) -> str:
    n = int(row["n_models"])
    best = min(n, top_models) if top_models else None
    whose = "best models" if best is None else f"top {best}" if best < n else f"{n} models"
    before, after = (write_value("spread_top", row[name]) for name in ("full", "value"))
    low, high = (write_value("spread_top", row[name]) for name in ("random_low", "random_high"))
    change = after if before == "—" else f"{before} → {after}"
    than = {"above": "wider than", "inside": "within", "below": "narrower than"}[place]
    return f"Range of the {whose}: {change} points, {than} random subsets ({low}–{high})."
