"""The sections of the SMART report, and the page."""

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from benchwright.evidence.panel import Panel, headline_group
from benchwright.evidence.ratings import Ratings
from benchwright.methods.smart.finding import in_rule_order
from benchwright.methods.smart.review import (
    NOT_IN_THIS_RUN,
    SUSPECT_ITEMS,
    describe_other_reviews,
)
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.evaluation import EvaluationParams
from benchwright.params.filtering import FilteringParams
from benchwright.reports.page import parts
from benchwright.reports.page.parts import Cell, Folded, Plot, Section, Table, Text
from benchwright.reports.page.provenance import benchmark_facts, provenance_section, settings
from benchwright.reports.page.wording import count, is_missing, number, percent, rows_of
from benchwright.reports.smart import comparisons, method
from benchwright.reports.smart.examples import Examples
from benchwright.reports.smart.wording import ROLES, RULE_MEANINGS

_FOLDED = 60  # a table of models with more rows is folded

Row = Mapping[Any, Any]


def render_report(
    ingestion: BenchmarkParams,
    variant: str,
    report_summary: list[Text],
    report_model_notes: list[str],
    report_item_notes: list[str],
    report_sections: list[Section],
    **plots: Any,
) -> str:
    """Render the report: one HTML page that needs no network and opens from disk.

    The same inputs give the same bytes. All data is escaped: a question that looks like HTML is
    shown as text. Empty tables are left out or replaced by the reason.
    """
    page = parts.Page(
        f"{ingestion.title} refined ({variant})",
        ingestion.title,
        report_sections,
        kicker=f"Benchmark report · variant {variant}",
        lead=report_summary,
        notes=[*report_model_notes, *report_item_notes],
        plots=plots,
    )
    return parts.render_page(page)


def gather_sections(*sections: Section) -> list[Section]:
    """Gather the sections of the report in the order of the page."""
    return list(sections)


def show_rules(
    rule_coverage: pd.DataFrame,
    overlaps: pd.DataFrame,
    filter_model_ablation: pd.DataFrame,
    funnel: pd.DataFrame,
) -> Section:
    """Show the items removed by each rule, and the ablation of filter models."""
    several = overlaps[overlaps["n"] > 0]
    text = (
        "A rule removes the items that it flags, with exceptions: some easy items are retained, "
        "part of each group is kept, and suspect labels are only reported."
    )
    if len(several):
        text += (
            " Several rules can remove the same item, so the shares of the rules add up to more "
            "than the total."
        )
    blocks = [Text(text), Plot("filter_shares_plot"), _rules(rule_coverage)]
    if len(several):
        columns: list[parts.Column] = [
            ("Rule", parts.as_words, "rule_a"),
            ("and", parts.as_words, "rule_b"),
            ("Items", parts.as_count, "n"),
            ("Share of all", _percent2, "share"),
        ]
        blocks.append(
            parts.table_of(rows_of(several), columns, label="Items that two rules remove")
        )
    if len(funnel):
        note = (
            "In the next plot, a bar is the number of items left after a rule (blue) and the "
            "number that it removed (orange). An item counts at the first rule that removes it. "
            "Where the blue bars hardly shrink, filtering saves little."
        )
        blocks += [Text(note), Plot("funnel_plot")]
    blocks.append(Text("With fewer filter models", "heading"))
    if len(filter_model_ablation):
        answer_only = "answer_only" not in _silent(rule_coverage)
        blocks += [
            Text(
                "A rule that requires agreement of all filter models usually removes more items "
                "with fewer models. The ablation shows how much the result depends on the choice "
                "of filter models."
            ),
            Plot("filter_model_ablation_plot"),
            comparisons.ablation_table(filter_model_ablation, answer_only=answer_only),
        ]
    else:
        why = "the ablation is switched off, or there are too few filter models"
        blocks.append(Text(f"Not computed: {why}."))
    return Section("Items removed by each rule", blocks, "rules")


def _rules(rule_coverage: pd.DataFrame) -> Table:
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
                Cell(rule["status"].replace("_", " "), [rule["reason"]] if rule["reason"] else []),
                *([judged, *counts, percent(rule["share_removed"], 2)] if ran else ["—"] * 5),
            ]
        )
    head = ["Rule", "State", "Judged", "Flagged", "Flagged, kept", "Removed", "Share removed"]
    label = "Items by rule; shares are of all items (SMART, Table 1)"
    return Table(label, head, rows, range(2, 7))


def show_ranking(
    panel: Panel,
    scores: pd.DataFrame,
    rank_agreement: pd.DataFrame,
    human_ratings: Ratings,
    model_ratings: pd.DataFrame,
    agreement: pd.DataFrame,
    evaluation: EvaluationParams,
) -> Section:
    """Show the ranks of models before and after."""
    ranked = scores.dropna(subset=["rank_full", "rank_kept"])
    moved = int((ranked["rank_full"] != ranked["rank_kept"]).sum())
    share = "all" if evaluation.min_coverage >= 1 else f"at least {evaluation.min_coverage:.0%}"
    text = (
        f"The panel has {count(len(panel.models), 'model')} that answered {share} of the "
        f"{panel.judged:,} {panel.basis}. Models are compared on the {len(panel.item_ids):,} items "
        "that all of them answered. Only held-out models are evidence that the ranking is "
        "preserved for new models: filter models and models of their families are not."
    )
    if not panel.select("held_out"):
        text += " This run has no held-out models, so its results do not apply to new models."
    lines = (
        "In the next plot, each line is a model, from its rank on all items (left) to its rank on "
        "the kept items (right). If filtering keeps the ranking, lines are level and do not cross."
    )
    if len(ranked):
        lines += f" Here {moved:,} of {len(ranked):,} models change their rank."
    blocks: list[Any] = [Text(text), Text(lines), Plot("rank_chart_plot"), *_scores(scores)]
    if len(rank_agreement):
        detectable = comparisons.describe_detectable(rank_agreement, headline_group(panel))
        rated = comparisons.describe_ratings(rank_agreement, human_ratings.source, len(scores))
        blocks += [
            comparisons.rank_table(rank_agreement),
            *([Text(detectable)] if detectable else []),
            Text(
                "n = models × items. Clearly different: the two models differ significantly on all "
                f"items (5% level, without correction for multiple pairs). {rated}",
                "quiet",
            ),
        ]
    if len(rank_agreement) and len(model_ratings):
        columns: list[parts.Column] = [
            ("Model", parts.as_text, "model"),
            ("Rated as", lambda row, name: row[name] or "—", "rated_as"),
            ("Rating", parts.as_count, "rating"),
            ("Counted", lambda row, name: "yes" if row[name] else "no", "taken"),
            ("Note", parts.as_text, "note"),
        ]
        label = (
            "Models and their names in the ratings; of several configurations of a model one is "
            "counted"
        )
        rated_rows = rows_of(model_ratings)[: parts.LONGEST_TABLE]
        blocks.append(Folded("Rated models", [parts.table_of(rated_rows, columns, (2,), label)]))
    return Section("Ranking of models", [*blocks, *_agreement(agreement)], "ranking")


def _scores(scores: pd.DataFrame) -> list[Any]:
    if scores.empty:
        return []
    first = scores.iloc[0]
    label = (
        "Accuracy and rank on all and on kept items; ± is the standard error over items (SMART, "
        "Table 2)"
    )
    columns: list[parts.Column] = [
        ("Model", lambda row, name: Cell(row[name], quiet=ROLES[row["role"]]), "model"),
        ("All items", _accuracy, "full"),
        ("Rank", _rank, "rank_full"),
        ("Kept items", _accuracy, "kept"),
        ("Rank", _rank, "rank_kept"),
    ]
    counts = (
        f"n = {number(first['n_full'])} items before, {number(first['n_kept'])} after. Ranks that "
        "changed are in bold."
    )
    table = parts.cut_table(label, rows_of(scores), columns, "scores")
    blocks = [*table, Text(counts, "quiet")]
    if len(scores) <= _FOLDED:
        return blocks
    return [Folded(f"Table of {count(len(scores), 'model')}", blocks)]


def _accuracy(row: Row, side: str) -> Cell:
    return Cell(percent(row[f"accuracy_{side}"]), quiet=f"± {percent(row[f'se_{side}'])}")


def _rank(row: Row, name: str) -> Cell:
    rank = row[name]
    written = "—" if rank is None else f"{rank:g}"
    return Cell(written, strong=row["rank_full"] != row["rank_kept"])


def _agreement(agreement: pd.DataFrame) -> list[Text]:
    """Say how often two models agree, on average over pairs (SMART, Figure 4)."""
    full, kept = agreement["full"].mean(), agreement["kept"].mean()
    if is_missing(full) or is_missing(kept):
        return []
    what = "answer" if (agreement["kind"] == "prediction").any() else "right or wrong answer"
    models = len({*agreement["model_a"], *agreement["model_b"]})
    return [
        Text(
            "An item on which two models give the same answer does not show which model is better. "
            f"Two of {models:,} models give the same {what} on {full:.1%} of all items and "
            f"{kept:.1%} of the kept ones, on average over pairs."
        )
    ]


def show_random(
    panel: Panel,
    random_comparison: pd.DataFrame,
    method_comparison: pd.DataFrame,
) -> Section:
    """Show the comparison with random subsets and the baseline."""
    blocks: list[Any] = [Text(_WHY_RANDOM)]
    if len(random_comparison):
        ire = (
            ", or the baseline IRE, which drops items of low difficulty or discrimination and is "
            "compared with subsets of the same size"
        )
        with_ire = (method_comparison["method"] == "ire").any()
        blocks += [
            Text(_HOW_RANDOM),
            Plot("random_band_plot"),
            Plot("spread_band_plot"),
            Text(
                "Shaded: the middle 95% of the random subsets. Dotted line: all items. Solid line: "
                f"this run{ire if with_ire else ''}.",
                "quiet",
            ),
            *comparisons.random_tables(random_comparison, headline_group(panel)),
            Text(_READING_RANDOM, "quiet"),
        ]
    else:
        why = "no random subsets were drawn, or there are too few models to rank"
        blocks.append(Text(f"No comparison: {why}."))
    if len(method_comparison):
        blocks.append(comparisons.method_table(method_comparison))
    return Section("Comparison with random subsets", blocks, "random")


_WHY_RANDOM = (
    "Even a random subset of a benchmark ranks models much like all items do if it is large "
    "enough. Metrics of the kept items are therefore compared with those of random subsets of the "
    "same size. Agreement of a subset with all items is inflated, for every subset alike. "
    "Agreement of kept with removed items is not inflated, since the two have no item in common."
)
_HOW_RANDOM = (
    "In the next two plots, the horizontal axis is the metric, and the height of a grey bar is the "
    "number of random subsets with that value. A filter that is better than chance has its orange "
    "line to the right of the shaded band."
)
_READING_RANDOM = (
    "Bold: outside the middle 95% of the random subsets. By subject: each subject keeps its share "
    "of the items. Percentile: position of the value among the random subsets; 0 is below all of "
    "them, 100 above. p: two-sided, from the same subsets, corrected for the number of methods "
    "(Holm). Lower is better for rank shifts. The shift of accuracy and the Wasserstein distance "
    "measure how far accuracies moved, which is neither good nor bad. Higher is better for the "
    "other metrics. Signal to noise: standard deviation of the models' accuracies divided by the "
    "typical standard error of an accuracy. It grows with the number of items, so compare it with "
    "the random subsets, not with all items. The summary at the top uses the middle 95%, without "
    "correction. p is corrected over methods, not over metrics and sets of models, so the two can "
    "differ."
)


def show_subjects(subject_shares: pd.DataFrame, rules_by_subject: pd.DataFrame) -> Section:
    """Show the items of each subject, before and after."""
    rules = in_rule_order(rules_by_subject.loc[rules_by_subject["flagged"] > 0, "rule"])
    cells = {(row["subject"], row["rule"]): row for row in rows_of(rules_by_subject)}

    def removed(row: Row, rule: str) -> Cell:
        part = cells.get((row["subject"], rule))
        if part is None:
            return Cell("")
        same = part["flagged"] == part["removed"]
        flagged = "" if same else f"({percent(part['share_flagged'])})"
        return Cell(percent(part["share_removed"]), quiet=flagged)

    columns: list[parts.Column] = [
        ("Subject", lambda row, name: row[name].replace("_", " ") or "(no subject)", "subject"),
        ("All items", parts.as_count, "n_full"),
        ("Kept", parts.as_count, "n_kept"),
        ("Share removed", parts.as_share, "share_removed"),
        *((rule.replace("_", " "), removed, rule) for rule in rules),
    ]
    label = (
        "Items of each subject before and after (SMART, Table 9), and the share of them that each "
        "rule removes; in brackets, the share that it flags"
    )
    table = parts.cut_table(label, rows_of(subject_shares), columns, "subject_shares")
    folded = Folded(f"Table of {count(len(subject_shares), 'subject')}", table)
    return Section("Subjects", [Plot("subject_shares_plot"), folded], "subjects")


def show_similar(
    similarity_threshold: dict[str, Any],
    threshold_sensitivity: pd.DataFrame,
    neighbour_convergence: pd.DataFrame,
    report_examples: Examples,
) -> Section:
    """Show the threshold of similar items, how stable it is, and the groups."""
    found = {key: None if is_missing(v) else v for key, v in similarity_threshold.items()}
    fixed = found.get("branch") == "fixed"
    blocks: list[Any] = [*_threshold(found), Plot("distance_distribution_plot")]
    if len(threshold_sensitivity) and not fixed:
        table = _thresholds("Threshold by bandwidth", threshold_sensitivity, "bandwidth", found)
        blocks.append(Folded("With other bandwidths of the density", [table]))
    if len(neighbour_convergence) and not fixed:
        label = "The threshold by the number of neighbours k (SMART, Figure 5)"
        blocks += [
            Text("With more or fewer neighbours", "heading"),
            Text(
                "The density is estimated from the distances of each item to its k nearest items. "
                "δ should converge as k grows."
            ),
            Plot("neighbour_convergence_plot"),
            _thresholds(label, neighbour_convergence, "k", found),
        ]
    for title, kind in (
        ("Groups of similar items", "similar"),
        ("Duplicates", "duplicate"),
        ("Copies with other options", "option_superset"),
    ):
        blocks += [Text(title, "heading"), *report_examples.groups[kind]]
    return Section("Similar items", blocks, "similar")


def _threshold(found: Row) -> list[Text]:
    threshold, limit = found.get("threshold"), found.get("limit")
    if threshold is None or limit is None:
        return []
    whence = {
        "halved": "half of the only peak in the distribution of distances",
        "first_peak": "the first peak in the distribution of distances",
    }.get(found["branch"], "set by hand")
    text = f"δ = {threshold:.3f}: {whence}."
    if found.get("items_within") is not None:
        share = found.get("share_within")
        of = "" if share is None else f" ({share:.1%})"
        than = "δ" if limit == threshold else f"{limit:g}"
        text += (
            f" {found['items_within']:,} items{of} have a neighbour closer than {than} "
            f"({count(found['pairs_within'], 'pair')})."
        )
    if limit < threshold:
        text += (
            f" Only pairs closer than {limit:g} (`similar.max_distance`) are grouped, since items "
            "farther apart rarely ask the same."
        )
    texts = [Text(text, "box", code=True)]
    if found.get("warning"):
        texts.append(Text(found["warning"], "warning"))
    if found["branch"] != "fixed":
        note = "The threshold is discontinuous: δ jumps when a second peak appears or vanishes."
        texts.append(Text(note, "quiet"))
    return texts


def _thresholds(label: str, table: pd.DataFrame, by: str, used: Row) -> Table:
    columns: list[parts.Column] = [
        (by, lambda row, name: Cell(f"{row[name]:g}", strong=row[name] == used.get(name)), by),
        ("δ", parts.as_metric, "threshold"),
        *parts.columns("peaks branch items_within share_within"),
    ]
    return parts.table_of(rows_of(table), columns, label=label)


def show_labels(
    label_error_rates: pd.DataFrame,
    review_agreement: pd.DataFrame,
    suspect_effect: pd.DataFrame,
    rule_coverage: pd.DataFrame,
    report_examples: Examples,
) -> Section:
    """Show known label errors, suspect items, and conflicting answers."""
    blocks: list[Any] = [
        Text(
            "These items are reported for manual review and not removed. In MMLU about half of the "
            "items that all top models answered wrong with confidence were labelled correctly "
            "(SMART, A.2)."
        )
    ]
    if len(label_error_rates):
        columns = parts.columns(
            "items checked wrong", ("Share wrong", parts.between(parts.as_share), "rate")
        )
        label = "Wrong labels among items whose labels were checked; 95% intervals"
        blocks += [
            Text("Known label errors", "heading"),
            parts.table_of(rows_of(label_error_rates), columns, label=label),
        ]
    blocks += [Text(comparisons.label_difference(label_error_rates))]
    blocks.append(Text("Suspect items", "heading"))
    if report_examples.suspects:
        silent = _silent(rule_coverage).get("suspect_label")
        flagged = report_examples.flagged
        verdict = f"flags {flagged:,} items" if flagged else "flags none"
        blocks += [
            Text(
                "Items that most models answer wrong are the likeliest to have a wrong label, or "
                "are hard: the ranking says what to read first. "
                f"{len(report_examples.suspects)} of {report_examples.n_suspects:,} are shown, by "
                "share of wrong answers (each family of models once), ties by the lead of the "
                "wrong option most often chosen. The rule suspect label "
                + (f"was not checked: {silent}." if silent and not flagged else f"{verdict}.")
            ),
            Text(comparisons.describe_suspects_reviewed(review_agreement)),
            Text(comparisons.describe_suspect_effect(suspect_effect)),
            *report_examples.suspects,
        ]
    else:
        blocks.append(Text("No answers to rank items by."))
    blocks.append(Text("Same question, different answers", "heading"))
    shown = [block for block in blocks if not isinstance(block, Text) or block.text]
    return Section(
        "Labels to check", [*shown, *report_examples.groups["conflicting_gold"]], "labels"
    )


def show_examples(review_agreement: pd.DataFrame, report_examples: Examples) -> Section:
    """Show reviews of removals, and removed items of each rule."""
    blocks: list[Any] = []
    if other := describe_other_reviews(review_agreement):
        blocks.append(Text(other, "quiet"))
    if not report_examples.removed:
        blocks.append(Text("No item was removed."))
    reviews = review_agreement[~review_agreement["rule"].isin([NOT_IN_THIS_RUN, SUSPECT_ITEMS])]
    if len(reviews):
        columns = parts.columns(
            "rule reviewed agree borderline disagree",
            ("Share agreed", parts.between(parts.as_share), "share_agree"),
        )
        label = "Agreement of reviewers with removals; 95% intervals (SMART, section 5.3)"
        blocks.append(parts.table_of(rows_of(reviews), columns, label=label))
    return Section("Examples", [*blocks, *report_examples.removed], "examples")


def show_data(
    filter_model_profile: pd.DataFrame,
    answer_coverage: pd.DataFrame,
    import_report: pd.DataFrame,
    position_sensitivity: pd.DataFrame,
    rejected_items: pd.DataFrame,
    panel: Panel,
    evaluation: EvaluationParams,
) -> Section:
    """Show the responses behind the results, and the rows that became no item."""
    blocks: list[Any] = [Text("Filter models", "heading")]
    if len(filter_model_profile):
        label = (
            "Filter models, over all responses; confident = correct with a probability above "
            f"{evaluation.confidence:g}"
        )
        blocks.append(parts.table_of(rows_of(filter_model_profile), _PROFILE, label=label))
    else:
        blocks.append(Text("None: no rule used responses."))
    if panel.left_out:
        label = f"Models that answered less than {evaluation.min_coverage:.0%} of the judged items"
        columns = parts.columns("model coverage")
        rows = [model._asdict() for model in panel.left_out]
        blocks.append(Text("Models left out of the panel", "heading"))
        blocks += parts.cut_table(label, rows, columns, "panel", open_until=_FOLDED)
    blocks += [*_positions(position_sensitivity), *_responses(answer_coverage)]
    blocks.append(Text("Imported responses", "heading"))
    if len(import_report):
        label = "Imported responses by file"
        blocks.append(parts.table_of(rows_of(import_report), _IMPORTS, label=label))
    else:
        blocks.append(Text("No responses were imported."))
    blocks += [Text("Rejected source rows", "heading"), _rejected(rejected_items)]
    return Section("Data and models", blocks, "data")


def _calibrated(row: Row, name: str) -> str:
    return number(row[name], 2)


_PROFILE = parts.columns(
    "model accuracy share_confident accuracy_choices_only",
    ("Answers", parts.as_count, "n"),
    ("Temperature", _calibrated, "temperature"),
)
_IMPORTS = parts.columns(
    "file layout models rows joined_by_id joined_by_hash not_joined doubled contradicting dropped"
    " detail"
)
_COVERAGE = "configuration condition source answered exact_ties not_extracted too_long"


def _positions(position_sensitivity: pd.DataFrame) -> list[Any]:
    if position_sensitivity.empty:
        return []
    text = (
        "Options were also shown in other orders (rotations). A choice changes if another option "
        "is chosen than in the original order."
    )
    label = (
        "Share of rotations with another choice, and of choices and gold answers at each position; "
        "95% intervals over items"
    )
    rows = rows_of(position_sensitivity)[: parts.LONGEST_TABLE]
    shown = parts.columns("model measure share low high gold n_items")
    return [
        Text("Positions of the options", "heading"),
        Text(text),
        Plot("position_sensitivity_plot"),
        Folded("Table of positions", [parts.table_of(rows, shown, label=label)]),
    ]


def _responses(answer_coverage: pd.DataFrame) -> list[Any]:
    """Show the responses by configuration; those with missing responses come first."""
    if answer_coverage.empty:
        return []
    lost = answer_coverage["not_extracted"] + answer_coverage["too_long"]
    table = answer_coverage.assign(lost=lost).sort_values(
        ["lost", "configuration", "condition"], ascending=[False, True, True]
    )
    n_lost = int((lost > 0).sum())
    text = (
        f"{n_lost:,} of {len(table):,} configurations have missing responses: no answer could be "
        "extracted from the text, or the prompt was too long for the model."
        if n_lost
        else "All answers could be extracted, and no prompt was too long. The table shows how many "
        "items each configuration answered."
    )
    label = (
        "Responses by configuration; not extracted: no answer found in the text; too long: prompt "
        "exceeds the model's context"
    )
    blocks = parts.cut_table(label, rows_of(table), parts.columns(_COVERAGE), "answer_coverage")
    title = f"Table of {count(len(table), 'configuration')}"
    return [Text("Responses", "heading"), Text(text), Folded(title, blocks, open=n_lost > 0)]


def _rejected(rejected_items: pd.DataFrame) -> Table | Text:
    """Show rejected source rows by rule, with the first of each."""
    if rejected_items.empty:
        return Text("None: every source row became an item.")
    rows = []
    for rule, part in rejected_items.sort_values("row").groupby("rule"):
        first = part.iloc[0]
        raw = str(first["raw"])
        shown = Cell(f"Row {first['row']}: {first['detail']}", [raw[:300] + "…" * (len(raw) > 300)])
        rows.append([str(rule).replace("_", " "), f"{len(part):,}", shown])
    label = "Rejected source rows by rule, with the first of each"
    return Table(label, ["Rule", "Rows", "First"], rows, (1,))


def show_method(
    filtering: FilteringParams,
    evaluation: EvaluationParams,
    filter_models: list[str],
    filter_model_rule: Collection[str] | None,
    panel: Panel,
) -> Section:
    """Show how items were chosen and how the result is evaluated, folded."""
    blocks: list[Any] = [Text(_METHOD, code=True)]
    if filter_models:
        one = len(filter_models) == 1
        who = "the filter model" if one else "all filter models"
        choice = method.describe_choice(filter_model_rule)
        text = (
            f"Filter {'model' if one else 'models'}: {', '.join(filter_models)}. {choice} A rule "
            f"based on responses judges an item only if {who} answered it. A rule never removes an "
            "item that it cannot judge."
        )
        blocks.append(Text(text, "names"))
    blocks += [
        Text(method.describe_combination(filtering)),
        Text(method.describe_evaluation(evaluation, len(panel.select("held_out")))),
    ]
    return Section("Method", [Folded("How items are chosen and compared", blocks)], "method")


_METHOD = (
    "A benchmark is useful where its items separate models. Items that all good models answer "
    "correctly, that can be solved from the options alone, or that repeat another item cost time "
    "and add little information. Rules find such items. The verdict of every rule on every item is "
    "listed above and in the dataset `verdicts`; the limits of the rules are among the settings "
    "below."
)


def show_provenance(
    ingestion: BenchmarkParams,
    variant: str,
    filtering: FilteringParams,
    evaluation: EvaluationParams,
    filter_models: list[str],
    seed: int,
) -> Section:
    """Show the benchmark and the settings."""
    return provenance_section(
        "Benchmark and run",
        benchmark_facts(ingestion, variant, seed, filter_models),
        "methods",
        [*settings("filtering", filtering), *settings("evaluation", evaluation)],
        "Gupta et al. (2024), Improving Model Evaluation using SMART Filtering of Benchmark "
        "Datasets.",
    )


def _percent2(row: Row, name: str) -> str:
    return percent(row[name], 2)


def _silent(rule_coverage: pd.DataFrame) -> dict[str, str]:
    """Return the rules that did not run, with the reasons."""
    return {
        row["rule"]: row["reason"] or ("switched off" if row["status"] == "off" else "did not run")
        for row in rows_of(rule_coverage)
        if row["status"] in ("off", "not_run")
    }
