"""The report of a perturbed benchmark and its sections."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from benchwright.core.seeding import item_uniforms
from benchwright.methods.wicked.comparison.compared_responses import (
    describe_asking,
    perturbation_of,
)
from benchwright.methods.wicked.comparison.instruct import FAMILIES
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.evaluation import EvaluationParams
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page.provenance import benchmark_facts, settings
from benchwright.reports.page.sections import Section, make_section, render_sections
from benchwright.reports.page.wording import bounds, coefficient, p_value, rows_of, words_of
from benchwright.reports.wicked.findings import PerturbationReach, write_headline, write_notes
from benchwright.reports.wicked.terms import REASONS, TRANSFORMS, WORDINGS, interval, points

_LONGEST = 1_500  # characters of a question
_UNALTERED = "Unaltered"
_LONGEST_TABLE = 300  # rows of a table on the page; the datasets have them all
_SECTIONS = (
    ("cost", "Change of accuracy"),
    ("method", "Method"),
    ("order", "Ranking of models"),
    ("answers", "Change of answers"),
    ("none", "Choice of “none”"),
    ("written", "Written answers"),
    ("instruct", "Instruct and base models"),
    ("rules", "Effect of each transform"),
    ("prompts", "Demonstrations and prompts"),
    ("coverage", "Altered and unaltered items"),
    ("examples", "Examples"),
    ("provenance", "Provenance"),
)
_SHUFFLE = ("kendall_tau_b", "spearman", "tau_b_between_copies", "tau_b_resampled")

Row = dict[Any, Any]


def render_comparison_report(*sections: Section) -> str:
    """Render the report of a perturbed benchmark: one HTML page that needs no network.

    The same inputs give the same bytes. All data is escaped, so a question with HTML appears as
    text. Sections without content say why.
    """
    return render_sections(
        "benchwright.reports.wicked",
        "comparison_report.html",
        _SECTIONS,
        sections,
        more_style=("comparison.css",),
    )


def show_comparison_method(
    ingestion: BenchmarkParams, variant: str, perturbation: PerturbationParams, seed: int
) -> Section:
    """Gather the transforms and their settings."""
    return make_section(
        title=ingestion.title,
        variant=variant,
        steps=[words_of(TRANSFORMS, part.transform) for part in perturbation.transforms],
        n_copies=perturbation.copies,
        single_source=perturbation.sba,
        longest=_LONGEST_TABLE,
        facts=benchmark_facts(ingestion, variant, seed, []),
        settings=settings("perturbation", perturbation),
    )


def show_comparison_headline(
    comparison_scores: pd.DataFrame,
    comparison_summary: pd.DataFrame,
    comparison_written: pd.DataFrame,
    comparison_demonstrations: pd.DataFrame,
    perturbation: PerturbationParams,
    perturbation_reach: PerturbationReach,
) -> Section:
    """Gather the top of the page: headline, tiles and warnings."""
    return make_section(
        headline=write_headline(
            comparison_scores, comparison_summary, perturbation, perturbation_reach
        ),
        notes=write_notes(
            comparison_scores,
            comparison_written,
            comparison_demonstrations,
            perturbation,
            perturbation_reach,
        ),
        unchecked=perturbation_reach.unchecked,
    )


def show_comparison_costs(
    comparison_scores: pd.DataFrame,
    comparison_summary: pd.DataFrame,
    comparison_reversals: pd.DataFrame,
) -> Section:
    """Gather the change of accuracy of each configuration, and the ranking of models."""
    return make_section(
        scores=_scores(comparison_scores, list(dict.fromkeys(comparison_summary["asking_style"]))),
        several=len(set(comparison_scores["perturbation"])) > 1,
        shuffle=_shuffle(comparison_summary),
        reversals=[_reversal(row) for row in rows_of(comparison_reversals)],
    )


def show_comparison_responses(
    comparison_transitions: pd.DataFrame,
    comparison_none_rates: pd.DataFrame,
    comparison_written: pd.DataFrame,
    comparison_instruct: pd.DataFrame,
    rule_ablation: pd.DataFrame,
) -> Section:
    """Gather changes of answers, by option, style, kind of model and transform."""
    return make_section(
        transitions=rows_of(comparison_transitions),
        none_rates=_none_rates(comparison_none_rates),
        written=[
            {**row, **_points(row, "delta", "delta"), **_points(row, "recovered", "recovered")}
            for row in rows_of(comparison_written)
        ],
        instruct=[_instruct(row) for row in rows_of(comparison_instruct)],
        ablation=[
            {**row, **_points(row, "step_delta", "step"), **_points(row, "total_delta", "total")}
            for row in rows_of(rule_ablation)
        ],
    )


def show_comparison_alterations(
    comparison_demonstrations: pd.DataFrame,
    comparison_prompts: pd.DataFrame,
    comparison_coverage: pd.DataFrame,
    option_wordings: pd.DataFrame,
) -> Section:
    """Gather demonstrations, prompts, and outcomes of the transforms."""
    return make_section(
        demonstrations=rows_of(comparison_demonstrations),
        prompts=rows_of(comparison_prompts),
        coverage=[
            {
                **row,
                "outcome_text": "altered" if row["outcome"] == "altered" else f"unaltered: {why}",
            }
            for row in rows_of(comparison_coverage)
            for why in [words_of(REASONS, row["outcome"])]
        ],
        wordings=_wordings(option_wordings),
    )


def show_comparison_examples(
    items: pd.DataFrame,
    perturbed_items: pd.DataFrame,
    perturbation_changes: pd.DataFrame,
    perturbation_reach: PerturbationReach,
    evaluation: EvaluationParams,
    seed: int,
) -> Section:
    """Gather original and altered items, some of each kind."""
    most = evaluation.examples_per_rule
    return make_section(
        examples=choose_examples(
            items, perturbed_items, perturbation_changes, perturbation_reach.name, most, seed
        )
    )


def _points(row: Row, name: str, ends: str) -> dict[str, str]:
    """Return `<name>_text` and `<name>_bounds`; the bounds are `<ends>_low` and `<ends>_high`."""
    bounds_text = interval(row[f"{ends}_low"], row[f"{ends}_high"])
    return {f"{name}_text": points(row[name]), f"{name}_bounds": bounds_text}


def _scores(comparison_scores: pd.DataFrame, styles: Sequence[str]) -> list[Row]:
    """Return the rows by asking style in the order of `styles`, best first."""
    places = comparison_scores["asking_style"].map(
        {style: place for place, style in enumerate(styles)}
    )
    ordered = comparison_scores.assign(place=places).sort_values(
        ["perturbation", "place", "accuracy_original", "configuration"],
        ascending=[True, True, False, True],
        kind="stable",
    )
    return [
        {
            **row,
            **_points(row, "delta", "delta"),
            "sd": points(row["accuracy_sd"], signed=False),
            "uneven": row["fewer_shots_original"] + row["fewer_shots_perturbed"],
            "equal": points(row["delta_equal_shots"]),
            "ranks": [_rank(row, "original"), _rank(row, "mean")],
        }
        for row in rows_of(ordered)
    ]


def _rank(row: Row, side: str) -> dict[str, str]:
    rank, low, high = (row[f"rank_{side}{end}"] for end in ("", "_low", "_high"))
    return {
        "rank": "—" if rank is None else f"{rank:g}",
        "bounds": "" if low is None else f"{low:g}–{high:g}",
    }


def _shuffle(comparison_summary: pd.DataFrame) -> list[Row]:
    rows = []
    for (name, style), group in comparison_summary.groupby(
        ["perturbation", "asking_style"], sort=False
    ):
        by_metric = {row["metric"]: row for row in rows_of(group)}
        cost, *metrics = (by_metric[metric] for metric in ("mean_delta", *_SHUFFLE))
        reasons = dict.fromkeys(row["reason"] for row in metrics if row["reason"])
        rows.append(
            {
                "perturbation": name,
                "asking_style": _describe(style),
                "n_models": int(group["n_models"].iloc[0]),
                "cost": points(cost["value"]),
                "cost_bounds": interval(cost["low"], cost["high"]),
                "metrics": [
                    (coefficient(row["value"]), bounds(row["low"], row["high"])) for row in metrics
                ],
                "reason": "; ".join(reasons),
            }
        )
    return rows


def _describe(style: object) -> str:
    return describe_asking(str(style)) or "unknown style"


def _none_rates(comparison_none_rates: pd.DataFrame) -> list[Row]:
    """Return a row for each perturbation and configuration: detection and false alarms."""
    rows = []
    for (name, configuration), group in comparison_none_rates.groupby(
        ["perturbation", "configuration"]
    ):
        by_gold = {row["gold"]: row for row in rows_of(group)}
        rates = [by_gold["removed"], by_gold["kept"]]
        chances = [row["by_chance"] for row in rates if row["by_chance"] is not None]
        by_chance = sum(chances) / len(chances) if chances else None
        key = {"perturbation": name, "configuration": configuration}
        rows.append({**key, "rates": rates, "by_chance": by_chance})
    return rows


def _reversal(row: Row) -> Row:
    return {
        **row,
        "before": points(row["gap_original"]),
        "after": points(row["gap_mean"]),
        "p": p_value(row["p_holm"]),
        "sure": not math.isnan(row["p_holm"]) and row["p_holm"] <= 0.05,
    }


def _instruct(row: Row) -> Row:
    names = {"": "all models", FAMILIES: "mean of families with both"}
    return {
        **row,
        "asking_style": _describe(row["asking_style"]),
        "label": names.get(row["family"], row["family"]),
        "tuned": points(row["delta_instruct"]),
        "base": points(row["delta_base"]),
        "gap": points(row["difference"]),
        "bounds": interval(row["low"], row["high"]),
    }


def _wordings(option_wordings: pd.DataFrame) -> list[Row]:
    """Count items and demonstrations with an option that refers to others, by kind."""
    return [
        {
            "role": str(role),
            "kind": words_of(WORDINGS, str(kind)),
            "items": int(group["item_id"].nunique()),
            "options": int((group["place"] >= 0).sum()),
            "stems": int((group["place"] < 0).sum()),
            "gold": int(group["gold"].sum()),
        }
        for (role, kind), group in option_wordings.groupby(["role", "kind"], sort=False)
    ]


def choose_examples(
    items: pd.DataFrame,
    perturbed_items: pd.DataFrame,
    perturbation_changes: pd.DataFrame,
    name: str,
    most: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Choose some items of each kind from the first copy of a perturbation, by seed and item id.

    Kinds are: gold option kept, gold option removed, only reordered or rephrased, and unaltered
    items by reason. Each has a title, the number of its items, and items with `before` and, where
    they were altered, `after`.
    """
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
    examples = []
    for kind in sorted(kinds, key=lambda kind: (kind.startswith(_UNALTERED), kind)) if most else ():
        ids = kinds[kind]
        order = item_uniforms(seed, f"draw_report/{kind}", ids).tolist()
        chosen = [item for _, item in sorted(zip(order, ids, strict=True))[:most]]
        before, after = _questions(items, chosen), _questions(perturbed, chosen)
        if kind.startswith(_UNALTERED):
            after = dict.fromkeys(after)
        shown = [{"item_id": item, "before": before[item], "after": after[item]} for item in chosen]
        examples.append({"title": kind, "n": len(ids), "condition": condition, "items": shown})
    return examples


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


def _questions(table: pd.DataFrame, wanted: list[str]) -> dict[str, dict[str, Any] | None]:
    return {
        row["item_id"]: {
            "question": row["question"][:_LONGEST] + "…" * (len(row["question"]) > _LONGEST),
            "choices": list(row["choices"]),
            "answer": row["answer"],
        }
        for row in table[table["item_id"].isin(wanted)].to_dict("records")
    }
