"""The page of the sampling stage: what each table says, in sections."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from benchwright.exports.export import ALL_MODELS_SPLIT, sampler_of
from benchwright.methods.dele.evidence.choice import gains_over_splits
from benchwright.methods.dele.evidence.panels import FEWEST_MODELS, SamplingPanels
from benchwright.methods.dele.samplers.registry import RANDOM
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.sampling import EstimationParams, SamplingParams
from benchwright.reports.dele.labels import METRICS, PANELS
from benchwright.reports.dele.plots import LINES
from benchwright.reports.dele.sampling_headline import METRIC
from benchwright.reports.page.parts import (
    Cell,
    Folded,
    Page,
    Plot,
    Section,
    Table,
    Text,
    Top,
    as_count,
    as_metric,
    as_share,
    as_text,
    as_words,
    cut_table,
    render_page,
    table_of,
)
from benchwright.reports.page.provenance import benchmark_facts, provenance_section, settings
from benchwright.reports.page.wording import bounds, coefficient, number, p_value, percent, rows_of

_DISTANCES = ("wasserstein", "mean_absolute_error")
_METRICS = (METRIC, "spearman", *_DISTANCES)
_ENDS = ("random_low", "random_high")
_METHOD = (
    "Saranathan et al. (2024), DELE: Data Efficient LLM Evaluation; Polo et al. (2024), "
    "tinyBenchmarks; Rodriguez et al. (2021), Evaluation Examples Are Not Equally Informative Or "
    "Trustworthy."
)

Row = dict[Any, Any]


class Study(NamedTuple):
    """What was compared, and with which settings."""

    ingestion: BenchmarkParams
    variant: str
    seed: int
    sampling: SamplingParams
    estimation: EstimationParams


def render_sampling_report(sampling_top: Top, **shown: Any) -> str:
    """Render the sampling report as one HTML page that needs no network.

    Args:
        sampling_top: the top of the page.
        shown: parameters of `Study`; lists of sections in the order of the page; plots by name.
    """
    study = Study(**{name: shown.pop(name) for name in Study._fields})
    parts = [part for part in shown.values() if isinstance(part, list)]
    provenance = provenance_section(
        "Benchmark",
        benchmark_facts(study.ingestion, study.variant, study.seed, []),
        "samplers and estimators",
        [*settings("sampling", study.sampling), *settings("estimation", study.estimation)],
        _METHOD,
    )
    title = study.ingestion.title
    page = Page(
        f"{title}: how few items suffice ({study.variant})",
        title,
        [*(section for part in parts for section in part), provenance],
        kicker=f"Benchmark subsets · variant {study.variant}",
        headline=sampling_top.headline,
        lead=sampling_top.lead,
        notes=sampling_top.notes,
        plots={name: plot for name, plot in shown.items() if name.endswith("_plot")},
    )
    return render_page(page)


def show_samplers(
    sampling_panels: SamplingPanels,
    sampling_against_random: pd.DataFrame,
    sampling_summary: pd.DataFrame,
    sampling: SamplingParams,
) -> list[Section]:
    """Build the comparison of samplers with random subsets, on the main panel of models."""
    blocks: list[Any] = [Plot("sampling_curves_plot")]
    if sampling_summary.empty or sampling_summary["n_models"].iloc[0] < FEWEST_MODELS:
        blocks.append(Text("Too few models have responses to compare samplers."))
    else:
        tokens = sampling_summary.iloc[0]
        note = (
            f"All items have {number(tokens['tokens_in_all'])} tokens ({tokens['tokens_by']}). The "
            f"rate is the smallest at which, and at all higher rates, the mean over repeats is at "
            f"least {sampling.evidence.keep:g}. p is two-sided, after Holm's correction over "
            "samplers and rates."
        )
        table = _sampler_table(sampling_summary, sampling_against_random, sampling)
        blocks += [table, Text(note, "quiet")]
    blocks.append(Folded("Method", _method(sampling_panels, sampling)))
    return [Section("Samplers and random subsets", blocks, "samplers")]


def _method(panels: SamplingPanels, sampling: SamplingParams) -> list[Any]:
    n = panels.sizes()
    rows = [
        ("held out", n["held_out"], f"{n['selection']:,} models of other families"),
        ("forward", n["forward"], f"the weaker {n['all'] - n['forward']:,} models"),
        ("all", n["all"], "the same models: in-sample for samplers that read responses"),
    ]
    text = (
        f"Each sampler draws a subset at every rate, {sampling.repeats:,} times with different "
        "seeds. The ranks and scores of the models on it, from recorded responses, are compared "
        f"with those on all {len(panels.item_ids):,} items, and on random subsets of the "
        "same size. Results on held-out models show what generalises; in-sample results do not."
    )
    head = ("Panel", "Models", "Items are chosen by")
    cells = [(name, number(size), who) for name, size, who in rows]
    return [Text(text), Table("Panels of models", head, cells, (1,))]


def _sampler_table(own: pd.DataFrame, tested: pd.DataFrame, sampling: SamplingParams) -> Table:
    """Return a panel's samplers at the main rate, after the band of random subsets (Table 1)."""
    panel, rate, keep = own["panel"].iloc[0], sampling.evidence.main_rate, sampling.evidence.keep
    tested = tested[tested["panel"] == panel]
    bands = tested[tested["rate"] == rate].drop_duplicates("metric").set_index("metric")
    rows: list[list[Any]] = []
    if len(bands):
        cells = _metric_cells(*(bands[end].to_dict() for end in _ENDS))
        rows.append(["random subsets, 95%", cells[0], "", *cells[1:], "", ""])
    tests = dict(iter(tested[tested["metric"] == METRIC].groupby("sampler")))
    for row in rows_of(own):
        tau_b, spearman, *others = _metric_cells(row)
        rows.append(
            [
                Cell(row["sampler"], [row["family"]]),
                tau_b,
                _verdict(row["sampler"], tests.get(row["sampler"]), rate),
                Cell(
                    spearman, [] if row["spearman_sd"] is None else [number(row["spearman_sd"], 3)]
                ),
                *others,
                _rate(row, "tau_b"),
                _rate(row, "spearman"),
            ]
        )
    label = (
        f"At {rate:g}% of the items, on {int(own['n_models'].iloc[0]):,} {PANELS[str(panel)]}; "
        "distances in points; below Spearman its standard deviation over repeats (DELE, Table 1)"
    )
    head = (
        *("Sampler", "tau-b", "Against random", "Spearman", "Wasserstein"),
        *("Score error", f"Rate for tau-b {keep:g}", f"Rate for Spearman {keep:g}"),
    )
    return Table(label, head, rows, (1, *range(3, 8)))


def _metric_cells(low: Row, high: Row | None = None) -> list[str]:
    """Write tau-b, Spearman, and both distances in points; intervals where `high` is."""
    cells = []
    for name in _METRICS:
        times, digits = (100, 2) if name in _DISTANCES else (1, 3)
        first, last = (
            None if own is None or pd.isna(own[name]) else times * own[name] for own in (low, high)
        )
        cells.append(coefficient(first, digits) if high is None else bounds(first, last, digits))
    return cells


def _verdict(sampler: str, test: pd.DataFrame | None, rate: float) -> str | Cell:
    """Write the rates at which a sampler differs from random, and p at the main rate."""
    if sampler == RANDOM:
        return "baseline"
    if test is None:
        return "not tested"
    differs = test[test["verdict"].isin(["better", "worse"])]
    verdicts = [f"{row.verdict} at {row.rate:g}%" for row in differs.itertuples()]
    p = test.loc[test["rate"] == rate, "p_holm"]
    return Cell(", ".join(verdicts) or "no difference", [f"p = {p_value(value)}" for value in p])


def _rate(row: Row, metric: str) -> Cell:
    rate = row[f"rate_for_{metric}"]
    if rate is None:
        return Cell("—", ["no rate"])
    items, tokens = (number(row[f"{what}_for_{metric}"]) for what in ("items", "tokens"))
    return Cell(f"{rate:g}%", [f"{items} items", f"{tokens} tokens"])


def show_sampler_choice(
    sampler_choice: pd.DataFrame,
    chosen_curves: pd.DataFrame,
    subject_winners: pd.DataFrame,
    subject_luck: Mapping[str, float],
    sampling: SamplingParams,
) -> list[Section]:
    """Build the sections on the choice of a sampler, for the benchmark and by subject."""
    adaptive = sampling.adaptive
    criteria = ", ".join(METRICS[name] for name in adaptive.criteria)
    blocks: list[Any] = [
        Text(
            "One part of the models chooses a sampler, the held-out models measure its gain. A "
            f"sampler is eligible if its Spearman correlation is at least "
            f"{adaptive.min_correlation:g} at every rate from {adaptive.lowest_rate:g}% to "
            f"{adaptive.highest_rate:g}%; the best mean rank by {criteria} wins (DELE, Algorithm "
            "1). “Chosen by subject” composes the subset of the choices inside each subject."
        )
    ]
    if splits := gains_over_splits(sampler_choice).splits:
        rows = chosen_rows(chosen_curves, sampling.evidence.at_rates)
        blocks += [Plot("chosen_curves_plot"), _chosen_table(rows, splits)]
    else:
        blocks.append(
            Text("No split has three models on each side: the gain on held-out models is unknown.")
        )
    for row in sampler_choice[sampler_choice["split"] == ALL_MODELS_SPLIT].to_dict("records"):
        reason = f": {row['reason']}" if row["reason"] else ""
        blocks.append(Text(f"All models choose {row['winner'] or 'no sampler'}{reason}."))
    return [
        Section("Choice of a sampler", blocks, "choice"),
        Section("Choice by subject", _subjects(subject_winners, subject_luck), "subjects"),
    ]


def chosen_rows(chosen_curves: pd.DataFrame, rates: Sequence[float]) -> list[list[Any]]:
    """Return the means over splits by rate and line, then the random band of each rate."""
    rows: list[list[Any]] = []
    for rate in rates:
        own = chosen_curves[chosen_curves["rate"] == rate]
        for line, words in LINES.items():
            of_line = own[own["line"] == line].set_index("metric")
            if of_line.empty:
                continue
            ranks = of_line.loc["spearman"].to_dict()
            span = bounds(ranks["gain_low"], ranks["gain_high"])
            gain = Cell(coefficient(ranks["gain"]), [span] if span else [])
            means = _metric_cells(of_line["mean"].to_dict())
            rows.append([f"{rate:g}%", words, *means, gain, coefficient(ranks["sd"])])
        if len(own):
            band = own.drop_duplicates("metric").set_index("metric")
            cells = _metric_cells(*(band[end].to_dict() for end in _ENDS))
            rows.append([f"{rate:g}%", "random subsets, 95%", *cells, "", ""])
    return rows


def _chosen_table(rows: list[list[Any]], splits: int) -> Table:
    label = (
        f"Means over {splits:,} splits; distances in points; gain in Spearman over random with "
        "the middle 95% of the splits; sd of Spearman over repeats (DELE, Figure 32)"
    )
    head = ("Rate", "Sampler", "tau-b", "Spearman", "Wasserstein", "Score error")
    return Table(label, (*head, "Gain", "sd"), rows, (0, *range(2, 8)), header=1)


def _subjects(subject_winners: pd.DataFrame, luck: Mapping[str, float]) -> list[Any]:
    if subject_winners.empty:
        why = "Not available: too few subjects, items or models, or `by_subject` is off."
        return [Text(why, code=True)]
    metric = METRICS[str(subject_winners["metric"].iloc[0])]
    text = (
        f"Two halves of the models each choose one of {number(luck['samplers'])} samplers for "
        f"{number(luck['n'])} subjects. They agree on {number(luck['agreed'])}; winners assigned "
        f"at random would agree on {number(luck['expected'], 1)}. The winner of one half gains "
        f"{number(luck['apparent_gain'], 4)} over random on that half and "
        f"{number(luck['held_out_gain'], 4)} on the other ({metric}, mean over subjects; positive "
        f"in {number(luck['subjects_with_gain'])})."
    )
    columns = (
        ("Subject", as_words, "subject"),
        ("Items", as_count, "n_items"),
        ("Choice of all models", as_text, "winner"),
        ("Its Spearman, in-sample", as_metric, "spearman"),
        ("First half", as_text, "winner_selection"),
        ("Second half", as_text, "winner_held_out"),
        ("Gain of the first half's choice, in-sample", as_metric, "apparent_gain"),
        ("Gain, second half", as_metric, "held_out_gain"),
    )
    label = (
        "The sampler chosen inside each subject, of those that read no responses (DELE, Table 3)"
    )
    table = cut_table(label, rows_of(subject_winners), columns, "subject_winners", open_until=15)
    return [Text(text, code=True), *table]


def show_estimates(estimate_errors: pd.DataFrame, estimation: EstimationParams) -> list[Section]:
    """Build the section on errors of estimated scores."""
    rows = rows_of(estimate_errors)
    if not rows:
        why = "Not available: no training models or panel, or fewer than four items."
        return [Section("Estimated scores", [Text(why)], "estimates")]
    text = (
        f"Each estimator predicts a model's score on all items from its responses to "
        f"{number(rows[0]['size'])} of them, trained on other models. Coverage is the share of "
        f"scores in their {percent(estimation.level, 0)} interval. Worth is how many items of a "
        "random subset one item is worth, by squared error and by width."
    )
    columns = (
        ("Panel", as_words, "panel"),
        ("Items", as_words, "subset"),
        ("Estimator", _estimator, "estimator"),
        ("Mean absolute error", _as_points, "mean_absolute_error"),
        ("Bias", _as_points, "bias"),
        ("Coverage", as_share, "coverage"),
        ("Width", _as_points, "width"),
        ("Worth by error", _as_number, "effective_by_error"),
        ("By width", _as_number, "effective_by_width"),
        ("Training models", as_count, "n_train"),
        ("Models", as_count, "n_models"),
    )
    label = "Errors of estimated scores, in points; means over models and subsets"
    table = table_of(rows, columns, range(3, 11), label)
    return [Section("Estimated scores", [Text(text), table], "estimates")]


def _estimator(row: Mapping[Any, Any], name: str) -> Cell:
    return Cell(row[name], [row["reason"]] if row["reason"] else [])


def _as_points(row: Mapping[Any, Any], name: str) -> str:
    return coefficient(None if row[name] is None else 100 * row[name], 2)


def _as_number(row: Mapping[Any, Any], name: str) -> str:
    return number(row[name], 2)


def show_item_texts(
    readability_examples: pd.DataFrame, cluster_curves: pd.DataFrame, item_map: pd.DataFrame
) -> list[Section]:
    """Build the sections on readability and on clusters."""
    sections = []
    if len(readability_examples):
        columns = (
            ("Question", _question, "text"),
            ("Rank", _end, "rank"),
            ("Difficult words", as_share, "difficult_words"),
            ("Dale–Chall", _as_number, "dale_chall"),
            ("Flesch", _as_number, "flesch"),
            ("Gunning fog", _as_number, "gunning_fog"),
        )
        label = "The easiest and the hardest items to read, by difficult words (DELE, Table 2)"
        examples = table_of(rows_of(readability_examples), columns, label=label)
        sections.append(Section("Readability", [Folded("Examples", [examples])], "texts"))
    shown = {"cluster_curves_plot": cluster_curves, "item_map_plot": item_map}
    plots = [Plot(name) for name, table in shown.items() if len(table)]
    return [*sections, Section("Clusters", plots, "clusters")] if plots else sections


def _end(row: Mapping[Any, Any], name: str) -> str:
    return f"{row['end']} {row[name]}"


def _question(row: Mapping[Any, Any], name: str) -> Cell:
    text = row[name]
    return Cell(text if len(text) <= 300 else f"{text[:300]}…", [row["item_id"]])


def show_chosen_subset(
    chosen_subset: pd.DataFrame,
    chosen_subset_facts: Mapping[str, str],
    sampler_choice: pd.DataFrame,
    sampling: SamplingParams,
) -> list[Section]:
    """Build the section on the exported subset."""
    text = (
        f"{len(chosen_subset):,} items, drawn by `{sampler_of(sampling, sampler_choice)}`; the "
        "dataset `chosen_subset` holds them with their weights. The settings `sampling.export` "
        f"define sampler and size. {chosen_subset_facts['told_apart']}"
    )
    return [Section("Exported subset", [Text(text, code=True)], "subset")]
