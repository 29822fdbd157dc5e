"""The report of a perturbed benchmark and its sections."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from benchwright.core.seeding import item_uniforms
from benchwright.methods.wicked.comparison.compared_responses import (
    describe_asking,
    perturbation_of,
)
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page import parts
from benchwright.reports.page.parts import Article, Cell, Folded, Plot, Question, Section, Text
from benchwright.reports.page.provenance import benchmark_facts, provenance_section, settings
from benchwright.reports.page.wording import (
    bounds,
    coefficient,
    count,
    p_value,
    percent,
    rows_of,
    words_of,
)
from benchwright.reports.wicked.findings import Headline, PerturbationReach
from benchwright.reports.wicked.terms import REASONS, TRANSFORMS, interval, points

_EXAMPLES = 3  # of each kind
_LONGEST = 1_500  # characters of a question
_UNALTERED = "Unaltered"
_NO_RESPONSES = "No model answered both the original items and their copies."
_SHUFFLE = ("kendall_tau_b", "spearman", "tau_b_between_copies", "tau_b_resampled")
_PERTURBATION: parts.Column = ("Perturbation", parts.as_text, "perturbation")
_CONFIGURATION: parts.Column = ("Configuration", parts.as_text, "configuration")

Row = Mapping[Any, Any]


def render_comparison_report(
    ingestion: BenchmarkParams,
    variant: str,
    comparison_headline: Headline,
    comparison_notes: list[str],
    **sections_and_plots: Any,
) -> str:
    """Render the report of a perturbed benchmark: one HTML page that needs no network.

    The same inputs give the same bytes. All data is escaped, so a question with HTML appears as
    text. Sections without content say why.
    """
    order = comparison_headline.order
    page = parts.Page(
        f"{ingestion.title} perturbed ({variant})",
        ingestion.title,
        *parts.split_sections(sections_and_plots),
        kicker=f"Perturbed benchmark · variant {variant}",
        headline=comparison_headline.cost,
        lead=[Text(order, "judgement")] if order else [],
        notes=comparison_notes,
    )
    return parts.render_page(page)


def _table(
    label: str,
    rows: Sequence[Row],
    columns: list[parts.Column],
    dataset: str,
) -> list[Any]:
    """Return a table; the perturbation has a column where there are several of them."""
    several = len({row.get("perturbation") for row in rows}) > 1
    return parts.cut_table(label, rows, [_PERTURBATION, *columns] if several else columns, dataset)


def _bounded(row: Row, name: str) -> Cell:
    """Return points with their interval below them."""
    ends = name.removesuffix("_delta")
    under = interval(row[f"{ends}_low"], row[f"{ends}_high"])
    return Cell(points(row[name]), [under] if under else [])


def _describe(row: Row, name: str) -> str:
    return describe_asking(str(row[name])) or "unknown style"


def show_comparison_cost(
    comparison_scores: pd.DataFrame,
    comparison_summary: pd.DataFrame,
    comparison_headline: Headline,
) -> Section:
    """Show the change of accuracy of each configuration."""
    if comparison_scores.empty:
        return Section("Change of accuracy", [Text(comparison_headline.cost)], "cost")
    styles = list(dict.fromkeys(comparison_summary["asking_style"]))
    ordered = comparison_scores.assign(
        place=comparison_scores["asking_style"].map(styles.index)
    ).sort_values(
        ["perturbation", "place", "accuracy_original", "configuration"],
        ascending=[True, True, False, True],
        kind="stable",
    )
    label = (
        "Accuracy on the original and on the copies, in percent (WiCkeD, Table 1). Difference in "
        "points, with interval over items"
    )
    columns: list[parts.Column] = [
        _CONFIGURATION,
        ("Original", parts.as_share, "accuracy_original"),
        ("Copies", parts.as_share, "accuracy_mean"),
        ("sd over copies", lambda row, name: points(row[name], signed=False), "accuracy_sd"),
        ("Difference", _bounded, "delta"),
        ("Altered items, original → copies", _altered, "accuracy_altered"),
        ("Gold removed", parts.as_share, "accuracy_gold_removed"),
    ]
    several = len(set(comparison_scores["perturbation"])) > 1
    first = " (of the first perturbation)" if several else ""
    blocks = [
        Plot("comparison_deltas_plot"),
        *_table(label, rows_of(ordered), columns, "comparison_scores"),
        Text(f"n = {ordered['n_items'].iloc[0]:,} items{first}.", "quiet"),
    ]
    return Section("Change of accuracy", blocks, "cost")


def _altered(row: Row, name: str) -> str:
    return f"{percent(row[f'{name}_original'])} → {percent(row[name])}"


def show_comparison_order(
    comparison_scores: pd.DataFrame,
    comparison_summary: pd.DataFrame,
    comparison_reversals: pd.DataFrame,
) -> Section:
    """Show the ranking of models, and the pairs that reverse their order."""
    if comparison_scores.empty:
        return Section("Ranking of models", [Text(_NO_RESPONSES)], "order")
    blocks: list[Any] = [
        Text(
            "If the alteration only made items harder, models would keep their order. Three things "
            "change the order: the skill that the alteration tests, the random choices in a copy, "
            "and the choice of items. The agreement between copies measures the second. The "
            "agreement between the original items and bootstrap resamples of them measures the "
            "third."
        ),
        Plot("comparison_ranks_plot"),
        *_shuffle(comparison_summary),
    ]
    if comparison_reversals.empty:
        return Section(
            "Ranking of models", [*blocks, Text("No pair of models reverses its order.")], "order"
        )
    label = (
        "Reversed pairs, most significant first: lead in points on the original and on the copies; "
        "p-value of both differences, corrected over all pairs (Holm). Bold: p is at most 0.05"
    )
    columns: list[parts.Column] = [
        ("Better on the original", parts.as_text, "better_before"),
        ("Better on the copies", parts.as_text, "better_after"),
        ("Original", _as_points, "gap_original"),
        ("Copies", _as_points, "gap_mean"),
        (
            "p",
            lambda row, name: Cell(
                p_value(row[name]), strong=row[name] is not None and row[name] <= 0.05
            ),
            "p_holm",
        ),
    ]
    rows = rows_of(comparison_reversals)
    table = _table(label, rows, columns, "comparison_reversals")
    one = len(rows) == 1
    title = f"{len(rows):,} {'pair of models reverses' if one else 'pairs of models reverse'} order"
    folded = Folded(title, table, open=len(rows) <= 12)
    return Section("Ranking of models", [*blocks, folded], "order")


def _as_points(row: Row, name: str) -> str:
    return points(row[name])


def _shuffle(comparison_summary: pd.DataFrame) -> list[Any]:
    rows = []
    for (name, style), group in comparison_summary.groupby(
        ["perturbation", "asking_style"], sort=False
    ):
        metrics = {row["metric"]: row for row in rows_of(group)}
        reasons = dict.fromkeys(
            metrics[metric]["reason"] for metric in _SHUFFLE if metrics[metric]["reason"]
        )
        row = {"perturbation": name, "asking_style": style, "reason": "; ".join(reasons)}
        rows.append({**row, "n_models": group["n_models"].iloc[0], **metrics})

    def cost(row: Row, name: str) -> Cell:
        under = interval(row[name]["low"], row[name]["high"])
        return Cell(points(row[name]["value"]), [under] if under else [])

    def metric(row: Row, name: str) -> Cell:
        under = bounds(row[name]["low"], row[name]["high"])
        return Cell(coefficient(row[name]["value"]), [under] if under else [])

    columns: list[parts.Column] = [
        (
            "Asking style",
            lambda row, name: Cell(_describe(row, name), [row["reason"]] if row["reason"] else []),
            "asking_style",
        ),
        ("Models", parts.as_count, "n_models"),
        ("Mean difference, points", cost, "mean_delta"),
        ("Original and copies: tau-b", metric, "kendall_tau_b"),
        ("Spearman", metric, "spearman"),
        ("Between copies: tau-b", metric, "tau_b_between_copies"),
        ("Original and resamples: tau-b", metric, "tau_b_resampled"),
    ]
    label = "Rank agreement, with 95% intervals over items"
    return _table(label, rows, columns, "comparison_summary")


def show_comparison_answers(
    comparison_transitions: pd.DataFrame, comparison_none_rates: pd.DataFrame
) -> Section:
    """Show changes of answers, and how often “none” is chosen."""
    if comparison_transitions.empty:
        return Section("Change of answers", [Text(_NO_RESPONSES)], "answers")
    blocks: list[Any] = [
        Text(
            "Altered items only, counted once per copy. Where the gold option is still present, a "
            "model that knew the answer needs nothing new. Where it was removed, the model has to "
            "recognise that no remaining option is right."
        ),
        Plot("comparison_transitions_plot"),
        Text("Choice of “none”", "heading"),
    ]
    if comparison_none_rates.empty:
        blocks.append(Text("No answered item got a none-of-the-above option."))
        return Section("Change of answers", blocks, "answers")
    blocks += [
        Text(
            "Choosing “none” is a detection where the gold option was removed, and a false alarm "
            "where it is present. A model near the dotted line chooses “none” equally often in "
            "both cases, so it does not distinguish them, whatever its accuracy."
        ),
        Plot("comparison_none_rates_plot"),
    ]
    return Section("Change of answers", blocks, "answers")


def show_comparison_styles(
    comparison_written: pd.DataFrame,
    comparison_instruct: pd.DataFrame,
    rule_ablation: pd.DataFrame,
) -> Section:
    """Show written answers, instruct and base models, and the effect of each transform."""
    blocks: list[Any] = []
    if len(comparison_written):
        label = (
            "Written and scored answers of the same model (WiCkeD, Table 2). Recovered: the "
            "difference with written answers minus that of the configuration named below"
        )
        note = (
            "A written answer from which no option can be extracted counts as wrong. The last "
            "columns leave such answers out."
        )
        table = _table(label, rows_of(comparison_written), _WRITTEN, "comparison_written")
        blocks += [Text("Written answers", "heading"), *table, Text(note, "quiet")]
    if len(comparison_instruct):
        label = (
            "Change of accuracy of instruction-tuned and base models, in points, with intervals "
            "over items. Only the rows of model families compare similar models"
        )
        table = _table(label, rows_of(comparison_instruct), _INSTRUCT, "comparison_instruct")
        blocks += [Text("Instruct and base models", "heading"), *table]
    if len(rule_ablation):
        label = (
            "Accuracy with the first transforms of the list (MMLU-CF, Table 2), on the same "
            f"{rule_ablation['n_items'].iloc[0]:,} items in every row. Differences in points"
        )
        table = _table(label, rows_of(rule_ablation), _ABLATION, "rule_ablation")
        blocks += [Text("Effect of each transform", "heading"), *table]
    return Section("Styles, kinds of models, transforms", blocks, "styles")


_WRITTEN: list[parts.Column] = [
    (
        "Configuration",
        lambda row, name: Cell(
            row[name], [f"compared with {row['compared_with']}"] if row["compared_with"] else []
        ),
        "configuration",
    ),
    ("Original", parts.as_share, "accuracy_original"),
    ("Copies", parts.as_share, "accuracy_mean"),
    ("Difference", _bounded, "delta"),
    ("Recovered", _bounded, "recovered"),
    ("Failed extraction, original", parts.as_share, "failed_original"),
    ("copies", parts.as_share, "failed_perturbed"),
]


def _family(row: Row, name: str) -> str:
    return str(row[name] or "all models")


def _of_kind(row: Row, kind: str) -> Cell:
    return Cell(points(row[f"delta_{kind}"]), [f"n = {row[f'n_{kind}']}"])


def _instruct_difference(row: Row, name: str) -> Cell:
    lines = (interval(row["low"], row["high"]), row["reason"])
    return Cell(points(row[name]), [line for line in lines if line])


_INSTRUCT: list[parts.Column] = [
    ("Models", _family, "family"),
    ("Asking style", _describe, "asking_style"),
    ("Instruct", _of_kind, "instruct"),
    ("Base", _of_kind, "base"),
    ("Difference", _instruct_difference, "difference"),
]
_ABLATION: list[parts.Column] = [
    (
        "Configuration",
        lambda row, name: "" if row["step"] else row[name],
        "configuration",
    ),
    (
        "Transforms",
        lambda row, name: f"+ {row[name].replace('_', ' ')}" if row["step"] else "none",
        "rule",
    ),
    ("Accuracy", parts.as_share, "accuracy"),
    ("sd over copies", lambda row, name: points(row[name], signed=False), "accuracy_sd"),
    (
        "This transform",
        lambda row, name: _bounded(row, name) if row["step"] else "",
        "step_delta",
    ),
    (
        "All so far",
        lambda row, name: _bounded(row, name) if row["step"] else "",
        "total_delta",
    ),
]


def show_comparison_alterations(
    comparison_coverage: pd.DataFrame,
    perturbation_reach: PerturbationReach,
    perturbation: PerturbationParams,
) -> Section:
    """Show outcomes of the transforms, labels, and options that refer to others."""
    unchecked = perturbation_reach.unchecked
    columns: list[parts.Column] = [
        ("Outcome", _outcome, "outcome"),
        *parts.columns("role transform n items share gold_removed"),
    ]
    label = "Outcomes of each transform, over all copies"
    table = _table(label, rows_of(comparison_coverage), columns, "comparison_coverage")
    unread = "No labels were read (`sba: none`). " if perturbation.sba == "none" else ""
    blocks = [
        *table,
        Text("Single best answers", "heading"),
        Text(
            f"{unread}{unchecked.sba:,} items are labelled as single-best-answer items and stay "
            f"unaltered. {unchecked.other:,} are labelled as other items. The remaining "
            f"{unchecked.unchecked:,} have no label. {unchecked.lost_unchecked:,} of these lost "
            f"their gold option in at least one copy, {unchecked.lost_per_copy:,.1f} per copy on "
            "average.",
            code=True,
        ),
    ]
    return Section("Altered and unaltered items", blocks, "coverage")


def _outcome(row: Row, name: str) -> str:
    outcome = row[name]
    return "altered" if outcome == "altered" else f"unaltered: {words_of(REASONS, outcome)}"


def show_comparison_method(perturbation: PerturbationParams) -> Section:
    """Show the transforms and what is compared, folded."""
    copies = perturbation.copies
    number_of = "is 1 perturbed copy" if copies == 1 else f"are {copies} perturbed copies"
    blocks = [
        Text(
            "A model that has memorised a benchmark knows its options and their order. The items "
            "are therefore altered. Each keeps its number of options and exactly one right answer. "
            "The same models then answer again. Items that would lose their only right option, or "
            "get a second one, stay unaltered."
        ),
        parts.Bullets([words_of(TRANSFORMS, part.transform) for part in perturbation.transforms]),
        Text(
            f"There {number_of}, each with its own demonstrations. Each configuration (a model, an "
            "asking style and a number of demonstrations) is compared with itself, on the items "
            "that all configurations answered in the original and in every copy. Answers to a copy "
            "are scored against the gold answers of that copy. Intervals are 95% confidence "
            "intervals over items; items with the same passage or stem form one cluster. They "
            "describe how results for these models vary with the choice of items. They say nothing "
            "about other models."
        ),
    ]
    return Section("Method", [Folded("What is altered and compared", blocks)], "method")


def show_comparison_provenance(
    ingestion: BenchmarkParams, variant: str, perturbation: PerturbationParams, seed: int
) -> Section:
    """Show the benchmark and the settings."""
    return provenance_section(
        "Benchmark",
        benchmark_facts(ingestion, variant, seed, []),
        "perturbation",
        settings("perturbation", perturbation),
        "Elhady et al. (2025), WiCkeD: A Simple Method to Make Multiple Choice Benchmarks More "
        "Challenging; Zhao et al. (2024), MMLU-CF: A Contamination-free Multi-task Language "
        "Understanding Benchmark.",
    )


def show_comparison_examples(
    items: pd.DataFrame,
    perturbed_items: pd.DataFrame,
    perturbation_changes: pd.DataFrame,
    perturbation_reach: PerturbationReach,
    seed: int,
) -> Section:
    """Show original and altered items, some of each kind.

    They come from the first copy of the main perturbation, by seed and item id. Kinds are: gold
    option kept, gold option removed, only reordered or rephrased, and unaltered items by reason.
    """
    name = perturbation_reach.name
    names = [
        str(each) for each in perturbed_items["condition"].unique() if perturbation_of(each) == name
    ]
    condition = min(names, key=lambda each: (len(each), each), default="")
    changes, perturbed = (
        table[(table["condition"] == condition) & (table["role"] == "item")]
        for table in (perturbation_changes, perturbed_items)
    )
    kinds: dict[str, list[str]] = {}
    for item, of_item in changes.groupby("item_id", sort=False):
        for kind in _kinds(of_item):
            kinds.setdefault(kind, []).append(str(item))
    if not kinds:
        return Section("Examples", [Text("None: there are no perturbed copies.")], "examples")
    text = f"Items of the copy `{condition}`, chosen by seed and item id."
    blocks: list[Any] = [Text(text, code=True)]
    for kind in sorted(kinds, key=lambda kind: (kind.startswith(_UNALTERED), kind)):
        ids = kinds[kind]
        order = item_uniforms(seed, f"draw_report/{kind}", ids).tolist()
        chosen = [item for _, item in sorted(zip(order, ids, strict=True))[:_EXAMPLES]]
        before, after = _questions(items, chosen, "Original"), _questions(perturbed, chosen, "Copy")
        blocks.append(Text(f"{kind} ({count(len(ids), 'item')})", "heading"))
        blocks += [
            Article(
                item,
                [before[item]]
                if kind.startswith(_UNALTERED)
                else [parts.Sides([before[item], after[item]])],
            )
            for item in chosen
        ]
    return Section("Examples", blocks, "examples")


def _kinds(changes: pd.DataFrame) -> list[str]:
    """Return the kind of an altered item, or each reason why the item is unaltered."""
    altered = changes[changes["altered"].astype(bool)]
    if (altered["removed_index"] >= 0).any():
        gone = bool(altered["gold_removed"].any())
        return ["One option replaced, gold option " + ("removed" if gone else "kept")]
    if len(altered):
        return ["Only " + " and ".join(words_of(TRANSFORMS, part) for part in altered["transform"])]
    reasons = dict.fromkeys(changes["reason"])
    return [f"{_UNALTERED}: {words_of(REASONS, str(reason))}" for reason in reasons]


def _questions(table: pd.DataFrame, wanted: list[str], above: str) -> dict[str, Question]:
    return {
        row["item_id"]: Question(
            row["question"][:_LONGEST] + "…" * (len(row["question"]) > _LONGEST),
            list(row["choices"]),
            row["answer"],
            above,
        )
        for row in table[table["item_id"].isin(wanted)].to_dict("records")
    }
