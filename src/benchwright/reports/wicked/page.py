"""The report of a perturbed benchmark and its sections."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from benchwright.core.seeding import item_uniforms
from benchwright.core.wording import (
    bounds,
    clip_text,
    coefficient,
    count,
    interval,
    percent,
    points,
    rows_of,
    words_of,
)
from benchwright.methods.wicked.comparison.compared_responses import (
    asking_styles,
    describe_asking,
    main_perturbation,
    perturbation_of,
)
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page import parts, shapes
from benchwright.reports.page.parts import (
    Article,
    Cell,
    Folded,
    Plot,
    Question,
    Section,
    Text,
)
from benchwright.reports.wicked.findings import PerturbationReach
from benchwright.reports.wicked.terms import REASONS, TRANSFORMS

_EXAMPLES = 3  # of each kind
_LONGEST = 1_500  # characters of a question
_NO_RESPONSES = "No model answered both the original items and their copies."
_SHUFFLE = ("kendall_tau_b", "spearman", "tau_b_between_copies", "tau_b_resampled")
_PERTURBATION: parts.Column = ("Perturbation", parts.as_text, "perturbation")

Row = Mapping[Any, Any]


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
    ends = name.removesuffix("_delta")
    return parts.as_points({**row, "low": row[f"{ends}_low"], "high": row[f"{ends}_high"]}, name)


def _describe(row: Row, name: str) -> str:
    return describe_asking(str(row[name])) or "unknown style"


def show_comparison_scores(
    comparison_scores: pd.DataFrame, comparison_summary: pd.DataFrame
) -> list[Section]:
    """Show the ranking of models, and the change of accuracy of each configuration."""
    if comparison_scores.empty:
        return []
    text = (
        "If the alteration only made items harder, models would keep their order. The skill that "
        "it tests changes the order, and so do the random choices in a copy (measured by the "
        "agreement between copies) and the choice of items (measured by the agreement with "
        "bootstrap resamples of the original items)."
    )
    agreement = Folded("Rank agreement", [Text(text), *_shuffle(comparison_summary)])
    styles = list(dict.fromkeys(comparison_summary["asking_style"]))
    places = comparison_scores["asking_style"].map(styles.index)
    keys = ["perturbation", "place", "accuracy_original", "configuration"]
    ordered = comparison_scores.assign(place=places).sort_values(
        keys, ascending=[True, True, False, True]
    )
    label = (
        "Accuracy on the original and on the copies, in percent (WiCkeD, Table 1). Difference in "
        "points, with interval over items"
    )
    columns: list[parts.Column] = [
        *parts.columns("configuration n_items"),
        ("Original", parts.as_share, "accuracy_original"),
        ("Copies", parts.as_share, "accuracy_mean"),
        ("sd over copies", lambda row, name: points(row[name], signed=False), "accuracy_sd"),
        ("Difference", _bounded, "delta"),
        ("Altered items, original → copies", _altered, "accuracy_altered"),
        ("Gold removed", parts.as_share, "accuracy_gold_removed"),
    ]
    table = _table(label, rows_of(ordered), columns, "comparison_scores")
    return [
        Section("Ranking of models", [Plot("comparison_ranks_plot"), agreement], "order"),
        Section("Change of accuracy", table, "cost"),
    ]


def _altered(row: Row, name: str) -> str:
    return f"{percent(row[f'{name}_original'])} → {percent(row[name])}"


def plot_rank_shuffle(comparison_scores: pd.DataFrame, perturbation: PerturbationParams) -> Any:
    """Plot ranks on the original (left) and on the copies (right), for one asking style."""
    title = "Ranks on the original (left) and on the copies (right): blue rose, orange fell"
    if comparison_scores.empty:
        return shapes.nothing(title, _NO_RESPONSES)
    name = main_perturbation(sorted(set(comparison_scores["perturbation"])), perturbation)
    scores = comparison_scores[comparison_scores["perturbation"] == name]
    style = next(iter(asking_styles(scores["configuration"].tolist())))
    scores = scores[(scores["asking_style"] == style) & scores["rank_original"].notna()]
    if len(scores) < 2:
        return shapes.nothing(title, "There is only one model to rank.")
    if said := describe_asking(style):
        title += f" ({said})"
    scores = scores.sort_values(["accuracy_original", "configuration"], ascending=[False, True])
    return shapes.slopes(title, scores, ("original", "mean"))


def _shuffle(comparison_summary: pd.DataFrame) -> list[Any]:
    rows = []
    for (name, style), group in comparison_summary.groupby(
        ["perturbation", "asking_style"], sort=False
    ):
        metrics = {row["metric"]: row for row in rows_of(group)}
        reasons = dict.fromkeys(metrics[metric]["reason"] for metric in _SHUFFLE)
        row = {"perturbation": name, "asking_style": style, "reason": list(filter(None, reasons))}
        rows.append({**row, "n_models": group["n_models"].iloc[0], **metrics})

    def cost(row: Row, name: str) -> Cell:
        of = row[name]
        return Cell(points(of["value"]), [interval(of["low"], of["high"])])

    def metric(row: Row, name: str) -> Cell:
        of = row[name]
        return Cell(coefficient(of["value"]), [bounds(of["low"], of["high"])])

    columns: list[parts.Column] = [
        (
            "Asking style",
            lambda row, name: Cell(_describe(row, name), row["reason"]),
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
    comparison_transitions: pd.DataFrame,
    comparison_none_rates: pd.DataFrame,
    comparison_written: pd.DataFrame,
    comparison_instruct: pd.DataFrame,
    rule_ablation: pd.DataFrame,
) -> list[Section]:
    """Show changes of answers and choices of “none”, and styles, kinds of models, transforms."""
    answers: list[Any] = []
    if len(comparison_transitions):
        label = (
            "Answers to altered items, counted once per copy, by whether the gold option is still "
            "present (WiCkeD, Figure 3). Where it was removed, a model has to recognise that no "
            "remaining option is right"
        )
        columns = parts.columns(
            "configuration gold n stayed_right became_right became_wrong stayed_wrong"
        )
        rows = rows_of(comparison_transitions)
        answers += _table(label, rows, columns, "comparison_transitions")
    if len(comparison_none_rates):
        label = (
            "Choice of “none”: a detection where the gold option was removed, a false alarm where "
            "it is kept. A model with equal shares does not distinguish them; 95% intervals over "
            "items"
        )
        columns = parts.columns(
            "configuration gold n by_chance", ("Share", parts.as_bounded_share, "share")
        )
        rows = rows_of(comparison_none_rates)
        answers += _table(label, rows, columns, "comparison_none_rates")
    others: list[Any] = []
    if len(comparison_written):
        label = (
            "Written and scored answers of the same model (WiCkeD, Table 2). Recovered: the "
            "difference with written answers minus that of the scored configuration under the "
            "name. A written answer from which no option can be extracted counts as wrong"
        )
        others += _table(label, rows_of(comparison_written), _WRITTEN, "comparison_written")
    if len(comparison_instruct):
        label = (
            "Change of accuracy of instruction-tuned and base models, in points, with intervals "
            "over items. Only the rows of model families compare similar models"
        )
        others += _table(label, rows_of(comparison_instruct), _INSTRUCT, "comparison_instruct")
    if len(rule_ablation):
        label = (
            "Accuracy with the first transforms of the list (MMLU-CF, Table 2), on the same "
            f"{rule_ablation['n_items'].iloc[0]:,} items in every row. Differences in points"
        )
        others += _table(label, rows_of(rule_ablation), _ABLATION, "rule_ablation")
    return [
        Section("Change of answers", answers, "answers"),
        Section("Styles, kinds of models, transforms", others, "styles"),
    ]


_WRITTEN: list[parts.Column] = [
    ("Configuration", lambda row, name: Cell(row[name], [row["compared_with"]]), "configuration"),
    ("Original", parts.as_share, "accuracy_original"),
    ("Copies", parts.as_share, "accuracy_mean"),
    ("Difference", _bounded, "delta"),
    ("Recovered", _bounded, "recovered"),
    ("Failed extraction, original", parts.as_share, "failed_original"),
    ("copies", parts.as_share, "failed_perturbed"),
]


def _of_kind(row: Row, kind: str) -> Cell:
    return Cell(points(row[f"delta_{kind}"]), [f"n = {row[f'n_{kind}']}"])


def _between(row: Row, name: str) -> Cell:
    return Cell(points(row[name]), [interval(row["low"], row["high"]), row["reason"] or ""])


_INSTRUCT: list[parts.Column] = [
    ("Models", lambda row, name: row[name] or "all models", "family"),
    ("Asking style", _describe, "asking_style"),
    ("Instruct", _of_kind, "instruct"),
    ("Base", _of_kind, "base"),
    ("Difference", _between, "difference"),
]


def _of_step(row: Row, name: str) -> str | Cell:
    return _bounded(row, name) if row["step"] else ""


_ABLATION: list[parts.Column] = [
    ("Configuration", lambda row, name: "" if row["step"] else row[name], "configuration"),
    ("Transforms", lambda row, name: words_of({}, row[name]) if row["step"] else "none", "rule"),
    ("Accuracy", parts.as_share, "accuracy"),
    ("sd over copies", lambda row, name: points(row[name], signed=False), "accuracy_sd"),
    ("This transform", _of_step, "step_delta"),
    ("All so far", _of_step, "total_delta"),
]


def show_comparison_alterations(
    comparison_coverage: pd.DataFrame,
    perturbation_reach: PerturbationReach,
    perturbation: PerturbationParams,
) -> Section:
    """Show outcomes of the transforms, labels, and options that refer to others."""
    unchecked = perturbation_reach.unchecked
    columns: list[parts.Column] = [
        ("Outcome", lambda row, name: words_of(REASONS, row[name]), "outcome"),
        *parts.columns("role transform n items share gold_removed"),
    ]
    label = "Outcomes of each transform, over all copies"
    table = _table(label, rows_of(comparison_coverage), columns, "comparison_coverage")
    unread = "No labels were read (`sba: none`). " if perturbation.sba == "none" else ""
    labels = (
        f"{unread}{unchecked.sba:,} items are labelled as single-best-answer items and stay "
        f"unaltered, {unchecked.other:,} as other items, and {unchecked.unchecked:,} have no label."
    )
    return Section("Altered and unaltered items", [*table, Text(labels)], "coverage")


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
    of_name = [
        str(each)
        for each in perturbed_items["condition"].unique()
        if perturbation_of(each) == perturbation_reach.name
    ]
    condition = min(of_name, key=lambda each: (len(each), each), default="")
    changes, perturbed = (
        table[(table["condition"] == condition) & (table["role"] == "item")]
        for table in (perturbation_changes, perturbed_items)
    )
    kinds: dict[str, list[str]] = {}
    for item, of_item in changes.groupby("item_id", sort=False):
        kinds.setdefault(_kind(of_item), []).append(str(item))
    if not kinds:
        return Section("Examples", [Text("None: there are no perturbed copies.")], "examples")
    text = f"Items of the copy `{condition}`, chosen by seed and item id."
    blocks: list[Any] = [Text(text)]
    for kind, ids in sorted(kinds.items()):
        order = item_uniforms(seed, f"draw_report/{kind}", ids).tolist()
        chosen = [item for _, item in sorted(zip(order, ids, strict=True))[:_EXAMPLES]]
        before = _questions(items, chosen, "Original")
        after = _questions(perturbed, chosen, "Copy")
        blocks.append(Text(f"{kind} ({count(len(ids), 'item')})", "heading"))
        blocks += [Article(item, [parts.Sides([before[item], after[item]])]) for item in chosen]
    return Section("Examples", blocks, "examples")


def _kind(changes: pd.DataFrame) -> str:
    """Return the kind of an altered item, or the reasons why the item is unaltered."""
    altered = changes[changes["altered"].astype(bool)]
    if (altered["removed_index"] >= 0).any():
        gone = bool(altered["gold_removed"].any())
        return "One option replaced, gold option " + ("removed" if gone else "kept")
    if len(altered):
        return "Only " + " and ".join(words_of(TRANSFORMS, part) for part in altered["transform"])
    reasons = dict.fromkeys(words_of(REASONS, str(reason)) for reason in changes["reason"])
    return f"Unaltered: {'; '.join(reasons)}"


def _questions(table: pd.DataFrame, wanted: list[str], above: str) -> dict[str, Question]:
    return {
        row["item_id"]: Question(
            clip_text(row["question"], _LONGEST), list(row["choices"]), row["answer"], above
        )
        for row in table[table["item_id"].isin(wanted)].to_dict("records")
    }
