"""The page of the sampling stage: what each table says, in sections."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from benchwright.core.wording import (
    coefficient,
    number,
    percent,
    rows_of,
)
from benchwright.exports.export import ALL_MODELS_SPLIT
from benchwright.methods.dele.estimation.errors import LEVEL, advise
from benchwright.methods.dele.evidence.choice import MIN_CORRELATION, gains_over_splits
from benchwright.methods.dele.evidence.panels import FEWEST_MODELS, SamplingPanels
from benchwright.methods.dele.evidence.rate_curves import SUFFICIENT
from benchwright.methods.dele.samplers.registry import RANDOM
from benchwright.params.sampling import SamplingParams
from benchwright.reports.dele.plots import METRICS, PANELS
from benchwright.reports.dele.sampling_headline import METRIC, verdicts
from benchwright.reports.page.parts import (
    Cell,
    Column,
    Plot,
    Section,
    Table,
    Text,
    as_count,
    as_metric,
    as_p,
    as_share,
    as_text,
    as_words,
    cut_table,
    table_of,
)

_BEST = 3  # samplers of the short table
Row = Mapping[Any, Any]


def show_samplers(
    sampling_panels: SamplingPanels,
    sampling_against_random: pd.DataFrame,
    sampling_summary: pd.DataFrame,
    estimate_errors: pd.DataFrame,
    sampling: SamplingParams,
) -> list[Section]:
    """Build the comparison of samplers with random subsets, on the main panel of models."""
    named = {"panel": {"held_out": "other models", "forward": "stronger models"}}
    advice = advise(estimate_errors.replace(named)) if len(estimate_errors) else ""
    lead = [Text(advice, "judgement")] if advice else []
    blocks: list[Any] = [*lead, Plot("sampling_curves_plot")]
    if sampling_summary.empty or sampling_summary["n_models"].iloc[0] < FEWEST_MODELS:
        blocks.append(Text("Too few models have responses to compare samplers."))
        return [Section("Samplers and random subsets", blocks, "samplers")]
    panel = str(sampling_summary["panel"].iloc[0])
    better, worse = verdicts(sampling_against_random, panel)
    best = sampling_summary.nlargest(_BEST, METRIC)["sampler"]
    shown = sampling_summary["sampler"].isin([RANDOM, *better, *worse, *best])
    ordered = sampling_summary[shown].sort_values(METRIC, ascending=False)
    columns: list[Column] = [
        ("Sampler", as_text, "sampler"),
        (f"tau-b at {sampling.evidence.main_rate:g}% of the items", as_metric, METRIC),
        ("Against random", _against(better, worse), "sampler"),
        ("Score error, points", _as_points, "mean_absolute_error"),
        (f"Items for tau-b {SUFFICIENT:g}", as_count, "items_for_tau_b"),
    ]
    label = "What to use: random, the best by tau-b, and what differs from random"
    blocks.append(table_of(rows_of(ordered), columns, (1, 3, 4), label))
    tokens = sampling_summary.iloc[0]
    note = (
        f"Each sampler draws a subset at every rate, {sampling.repeats:,} times with different "
        "seeds. The ranks and scores of the models on it, from recorded responses, are compared "
        f"with those on all {len(sampling_panels.item_ids):,} items, and on random subsets of the "
        "same size. Results on held-out models, of other families than those that choose items, "
        f"show what generalises. All items have {number(tokens['tokens_in_all'])} tokens "
        f"({tokens['tokens_by']}). The rate is the smallest at which, and at all higher rates, the "
        f"mean over repeats is at least {SUFFICIENT:g}. p is two-sided, after Holm's correction "
        "over samplers and rates."
    )
    rate = sampling.evidence.main_rate
    table = _all_samplers(sampling_summary, sampling_against_random, rate)
    return [
        Section("Samplers and random subsets", blocks, "samplers"),
        Section("All samplers", [Text(note), table], "all"),
    ]


def _against(better: Sequence[str], worse: Sequence[str]) -> Callable[[Row, str], str]:
    verdict = dict.fromkeys(better, "better") | dict.fromkeys(worse, "worse")
    return lambda row, name: verdict.get(row[name], "no better" if row[name] != RANDOM else "")


def _all_samplers(own: pd.DataFrame, tested: pd.DataFrame, rate: float) -> Table:
    """Return a panel's samplers at the main rate (DELE, Table 1)."""
    panel = str(own["panel"].iloc[0])
    at = (tested["panel"] == panel) & (tested["rate"] == rate) & (tested["metric"] == METRIC)
    records = rows_of(own.join(tested[at].set_index("sampler")["p_holm"], on="sampler"))
    columns: list[Column] = [
        ("Sampler", lambda row, name: Cell(row[name], [row["family"]]), "sampler"),
        ("tau-b", as_metric, METRIC),
        ("p against random", as_p, "p_holm"),
        ("Spearman", as_metric, "spearman"),
        ("sd over repeats", as_metric, "spearman_sd"),
        ("Wasserstein", _as_points, "wasserstein"),
        ("Score error", _as_points, "mean_absolute_error"),
        *(
            (f"{what.capitalize()} for {METRICS[metric]} {SUFFICIENT:g}", as_count, name)
            for metric in (METRIC, "spearman")
            for what in ("items", "tokens")
            for name in [f"{what}_for_{metric}"]
        ),
    ]
    label = (
        f"At {rate:g}% of the items, on {own['n_models'].iloc[0]:,} {PANELS[panel]}; distances in "
        "points (DELE, Table 1)"
    )
    return table_of(records, columns, range(1, len(columns)), label)


def show_sampler_choice(
    sampler_choice: pd.DataFrame,
    subject_winners: pd.DataFrame,
    sampling: SamplingParams,
) -> list[Section]:
    """Build the sections on the choice of a sampler, for the benchmark and by subject."""
    adaptive = sampling.adaptive
    criteria = ", ".join(METRICS[name] for name in adaptive.criteria)
    text = (
        "One part of the models chooses a sampler, the held-out models measure its gain. A sampler "
        f"is eligible if its Spearman correlation is at least {MIN_CORRELATION:g} at "
        f"every rate from {adaptive.lowest_rate:g}% to {adaptive.highest_rate:g}%; the best mean "
        f"rank by {criteria} wins (DELE, Algorithm 1). “Chosen by subject” composes the subset of "
        "the choices inside each subject."
    )
    blocks: list[Any] = [Text(text)]
    if gains_over_splits(sampler_choice).splits:
        blocks.append(Plot("chosen_curves_plot"))
    else:
        blocks.append(
            Text("No split has three models on each side: the gain on held-out models is unknown.")
        )
    for row in sampler_choice[sampler_choice["split"] == ALL_MODELS_SPLIT].to_dict("records"):
        reason = f": {row['reason']}" if row["reason"] else ""
        blocks.append(Text(f"All models choose {row['winner'] or 'no sampler'}{reason}."))
    by_subject = _subjects(subject_winners)
    return [
        Section("Choice of a sampler", blocks, "choice"),
        Section("Choice by subject", by_subject, "subjects"),
    ]


def _subjects(subject_winners: pd.DataFrame) -> list[Any]:
    if subject_winners.empty:
        return [Text("Not available: too few subjects, items or models.")]
    columns = (
        ("Subject", as_words, "subject"),
        ("Items", as_count, "n_items"),
        ("Choice of all models", as_text, "winner"),
        ("Its Spearman, in-sample", as_metric, "spearman"),
    )
    label = (
        "The sampler chosen inside each subject, of those that read no responses (DELE, Table 3)"
    )
    return cut_table(label, rows_of(subject_winners), columns, "subject_winners")


def show_estimates(estimate_errors: pd.DataFrame) -> Section:
    """Build the section on errors of estimated scores."""
    rows = rows_of(estimate_errors)
    if not rows:
        why = "Not available: no training models or panel, or fewer than four items."
        return Section("Estimated scores", [Text(why)], "estimates")
    text = (
        f"Each estimator predicts a model's score on all items from its responses to "
        f"{number(rows[0]['size'])} of them, trained on other models. Coverage is the share of "
        f"scores in their {percent(LEVEL, 0)} interval. Worth is how many items of a "
        "random subset one item is worth, by squared error and by width."
    )
    columns: list[Column] = [
        ("Panel", as_words, "panel"),
        ("Items", as_words, "subset"),
        ("Estimator", lambda row, name: Cell(row[name], [row["reason"] or ""]), "estimator"),
        ("Mean absolute error", _as_points, "mean_absolute_error"),
        ("Bias", _as_points, "bias"),
        ("Coverage", as_share, "coverage"),
        ("Width", _as_points, "width"),
        ("tau-b", as_metric, "tau_b"),
        ("Worth by error", lambda row, name: number(row[name], 2), "effective_by_error"),
        ("By width", lambda row, name: number(row[name], 2), "effective_by_width"),
        ("Training models", as_count, "n_train"),
        ("Models", as_count, "n_models"),
    ]
    label = "Errors of estimated scores, in points; means over models and subsets"
    table = table_of(rows, columns, range(3, 12), label)
    return Section("Estimated scores", [Text(text), table], "estimates")


def _as_points(row: Row, name: str) -> str:
    return coefficient(None if row[name] is None else 100 * row[name], 2)
