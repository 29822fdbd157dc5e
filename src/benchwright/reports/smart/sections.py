"""The sections of the SMART report, and the page."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from benchwright.core.cells import is_missing
from benchwright.core.wording import clip_text, count, number, percent, rows_of
from benchwright.evidence.panel import Panel, headline_group
from benchwright.evidence.ratings import Ratings
from benchwright.params.evaluation import EvaluationParams
from benchwright.reports.page import parts
from benchwright.reports.page.parts import Cell, Folded, Plot, Section, Table, Text
from benchwright.reports.smart import comparisons
from benchwright.reports.smart.examples import show_groups, show_suspects
from benchwright.reports.smart.summary import describe_evidence
from benchwright.reports.smart.wording import BRANCHES, RULE_MEANINGS

_SUBJECTS = 10
_NOT_RUN = ("—", "—", "—", "—", "—")

Row = Mapping[Any, Any]


def show_evidence(
    rank_agreement: pd.DataFrame,
    random_comparison: pd.DataFrame,
    panel: Panel,
    ire_fit: Mapping[str, Any],
) -> Section:
    """Show the ranking on the kept items beside random subsets of the same size."""
    text = describe_evidence(rank_agreement, random_comparison, panel)
    blocks: list[Any] = [Plot("random_band_plot"), Text(text)] if text else []
    if len(random_comparison):
        reading = _READING_RANDOM
        if ire_fit.get("in_sample"):
            reading += " IRE is fitted on all models, so its row is in-sample."
        table = comparisons.random_table(random_comparison, headline_group(panel))
        blocks.append(Folded("All metrics, and IRE", [table, Text(reading, "quiet")]))
    return Section("Evidence", blocks, "evidence")


def show_rules(rule_coverage: pd.DataFrame, subject_shares: pd.DataFrame) -> list[Section]:
    """Show the items removed by each rule, and those of the largest subjects."""
    rows = []
    for rule in rows_of(rule_coverage):
        total = rule["judged"] + rule["not_judged"]
        link = f"#items?rule={rule['rule']}" if rule["removed"] or rule["flagged"] else ""
        name = rule["rule"].replace("_", " ")
        judged = Cell(number(rule["judged"]), [percent(rule["judged"] / total if total else None)])
        counts = [number(rule[n]) for n in ("flagged", "retained", "removed")]
        ran = rule["status"] in ("ran", "partial")
        rows.append(
            [
                Cell(name, [RULE_MEANINGS.get(rule["rule"], "")], link=link),
                Cell(rule["status"].replace("_", " "), [rule["reason"] or ""]),
                *([judged, *counts, percent(rule["share_removed"], 2)] if ran else _NOT_RUN),
            ]
        )
    head = ["Rule", "State", "Judged", "Flagged", "Flagged, kept", "Removed", "Share removed"]
    label = (
        "Items by rule; shares are of all items (SMART, Table 1); an item of several rules counts "
        "for each, in the plot for the first"
    )
    blocks = [Plot("funnel_plot"), Table(label, head, rows, range(2, 7))]
    largest = subject_shares.nlargest(_SUBJECTS, "n_full").sort_values(
        ["share_removed", "subject"], ascending=[False, True]
    )
    columns: list[parts.Column] = [
        ("Subject", lambda row, name: parts.as_words(row, name) or "(no subject)", "subject"),
        ("All items", parts.as_count, "n_full"),
        ("Kept", parts.as_count, "n_kept"),
        ("Share removed", parts.as_share, "share_removed"),
    ]
    label = "Items of the largest subjects before and after (SMART, Table 9)"
    note = Text("All subjects are in the dataset `subject_shares`.", "quiet")
    subjects = [parts.table_of(rows_of(largest), columns, label=label), note]
    return [
        Section("Items removed by each rule", blocks, "rules", open=True),
        Section("Subjects", subjects, "subjects"),
    ]


def show_ranking(
    panel: Panel,
    rank_agreement: pd.DataFrame,
    human_ratings: Ratings,
    evaluation: EvaluationParams,
) -> Section:
    """Show the ranks of models before and after."""
    if not panel.models:
        return Section("Ranking of models", [])
    share = "all" if evaluation.min_coverage >= 1 else f"at least {evaluation.min_coverage:.0%}"
    text = (
        f"The panel has {count(len(panel.models), 'model')} that answered {share} of the "
        f"{panel.judged:,} {panel.basis}. Models are compared on the {len(panel.item_ids):,} items "
        "that all of them answered. Only held-out models are evidence that the ranking is "
        "preserved for new models: filter models and models of their families are not."
    )
    blocks: list[Any] = [Text(text), Plot("rank_chart_plot")]
    if len(rank_agreement):
        used = rank_agreement.loc[rank_agreement["value"].notna(), "metric"]
        rated = f"Ratings: {human_ratings.source}." if used.str.startswith("arena_").any() else ""
        notes = (
            "n = models × items. Clearly different: the two models differ significantly on all "
            f"items (5% level, without correction for multiple pairs). {rated}"
        )
        blocks += [comparisons.rank_table(rank_agreement), Text(notes, "quiet")]
    return Section("Ranking of models", blocks, "ranking")


_READING_RANDOM = (
    "The baseline IRE drops items of low difficulty or discrimination. Percentile: this subset "
    "against random ones, 0 below all and 100 above. Higher is better, but for the shift of "
    "accuracy and the Wasserstein distance. Signal to noise: standard deviation of the models' "
    "accuracies divided by the typical standard error of an accuracy. The dataset "
    "`random_comparison` has other sets of models, and random subsets by subject."
)


def show_similar(
    similarity_threshold: dict[str, Any],
    items: pd.DataFrame,
    groups: pd.DataFrame,
    rule_coverage: pd.DataFrame,
) -> Section:
    """Show the threshold of similar items, and the groups."""
    found = {key: None if is_missing(v) else v for key, v in similarity_threshold.items()}
    blocks: list[Any] = [*_threshold(found), Plot("distance_distribution_plot")]
    for title, kind in (
        ("Groups of similar items", "similar"),
        ("Duplicates", "duplicate"),
        ("Copies with other options", "option_superset"),
    ):
        shown = show_groups(groups, items, kind, _silent(rule_coverage))
        blocks += [Text(title, "heading"), *shown]
    return Section("Similar items", blocks, "similar")


def _threshold(found: Row) -> list[Text]:
    threshold = found.get("threshold")
    limit = found.get("limit")
    if threshold is None or limit is None:
        return []
    text = f"δ = {threshold:.3f}: {BRANCHES[found['branch']]}."
    than = "δ"
    if limit < threshold:
        than = f"{limit:g} (`similar.max_distance`)"
    if found.get("items_within") is not None:
        text += f" {found['items_within']:,} items have a neighbour closer than {than}."
    return [Text(text, "box")]


def show_labels(
    label_error_rates: pd.DataFrame,
    review_agreement: pd.DataFrame,
    rule_coverage: pd.DataFrame,
    items: pd.DataFrame,
    groups: pd.DataFrame,
    suspect_items: pd.DataFrame,
) -> Section:
    """Show known label errors, reviews, suspect items, and conflicting answers."""
    blocks: list[Any] = [
        Text(
            "These items are reported for manual review and not removed. In MMLU about half of the "
            "items that all top models answered wrong with confidence were labelled correctly "
            "(SMART, A.2)."
        )
    ]
    if len(label_error_rates):
        columns = parts.columns(
            "items checked wrong", ("Share wrong", parts.as_bounded_share, "rate")
        )
        label = "Wrong labels among items whose labels were checked; 95% intervals"
        blocks.append(parts.table_of(rows_of(label_error_rates), columns, label=label))
    if len(review_agreement):
        columns = [
            ("Rule", parts.as_words, "rule"),
            *parts.columns("reviewed agree borderline disagree"),
            ("Share agreed", parts.as_bounded_share, "share_agree"),
        ]
        label = "Agreement of reviewers with removals; 95% intervals (SMART, section 5.3)"
        blocks.append(parts.table_of(rows_of(review_agreement), columns, label=label))
    silent = _silent(rule_coverage)
    shown = show_suspects(suspect_items, items)
    checked = "suspect_label" not in silent
    text = (
        "Items that most models answer wrong are the likeliest to have a wrong label, or "
        f"are hard: the ranking says what to read first. {len(shown)} of "
        f"{len(suspect_items):,} are shown, by the lower bound of the share of wrong answers (each "
        "family of models once), ties by the lead of the wrong option most often chosen. "
        + ("" if checked else f"The rule was not checked: {silent['suspect_label']}.")
    )
    blocks += [
        Text("Suspect items", "heading"),
        *([Text(text), *shown] if shown else [Text("No answers to rank items by.")]),
        Text("Same question, different answers", "heading"),
        *show_groups(groups, items, "conflicting_gold", silent),
    ]
    return Section("Labels to check", blocks, "labels")


def show_data(
    chosen_filter_models: Sequence[str],
    answer_coverage: pd.DataFrame,
    import_report: pd.DataFrame,
    rejected_items: pd.DataFrame,
    panel: Panel,
    evaluation: EvaluationParams,
) -> Section:
    """Show the responses behind the results, and the rows that became no item."""
    blocks: list[Any] = [
        Text("Filter models", "heading"),
        Text(", ".join(chosen_filter_models), "names")
        if chosen_filter_models
        else Text("None: no rule used responses."),
    ]
    if panel.left_out:
        label = f"Models that answered less than {evaluation.min_coverage:.0%} of the judged items"
        rows = [{"model": name, "coverage": n} for name, n in panel.left_out.items()]
        blocks += parts.cut_table(label, rows, parts.columns("model coverage"), "panel")
    blocks += _responses(answer_coverage)
    if len(import_report):
        label = "Imported responses by file"
        blocks.append(parts.table_of(rows_of(import_report), _IMPORTS, label=label))
    blocks += [Text("Rejected source rows", "heading"), _rejected(rejected_items)]
    return Section("Data and models", blocks, "data")


_IMPORTS = parts.columns(
    "file layout models rows joined_by_id joined_by_hash not_joined doubled contradicting dropped"
    " detail"
)
_COVERAGE = "configuration condition source answered exact_ties not_extracted too_long"


def _responses(answer_coverage: pd.DataFrame) -> list[Any]:
    """Show the responses by configuration; those with missing responses come first."""
    if answer_coverage.empty:
        return []
    lost = answer_coverage["not_extracted"] + answer_coverage["too_long"]
    table = answer_coverage.assign(lost=-lost).sort_values(["lost", "configuration", "condition"])
    label = (
        "Responses by configuration; not extracted: no answer found in the text; too long: prompt "
        "exceeds the model's context"
    )
    blocks = parts.cut_table(label, rows_of(table), parts.columns(_COVERAGE), "answer_coverage")
    n = count(len(table), "configuration")
    return [Folded(f"Responses: {(lost > 0).sum():,} of {n} have missing ones", blocks)]


def _rejected(rejected_items: pd.DataFrame) -> Table | Text:
    if rejected_items.empty:
        return Text("None: every source row became an item.")
    rows = []
    for rule, part in rejected_items.sort_values("row").groupby("rule"):
        first = part.iloc[0]
        raw = clip_text(str(first["raw"]), 300)
        shown = Cell(f"Row {first['row']}: {first['detail']}", [raw])
        rows.append([str(rule).replace("_", " "), f"{len(part):,}", shown])
    label = "Rejected source rows by rule, with the first of each"
    return Table(label, ["Rule", "Rows", "First"], rows, (1,))


def _silent(rule_coverage: pd.DataFrame) -> dict[str, str]:
    return {
        row["rule"]: row["reason"] or ("switched off" if row["status"] == "off" else "did not run")
        for row in rows_of(rule_coverage)
        if row["status"] in ("off", "not_run")
    }
