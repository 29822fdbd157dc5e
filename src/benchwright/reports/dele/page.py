"""The report of samplers, section by section, and the page that they make."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from benchwright.methods.dele.evidence.against_random import LEVEL
from benchwright.methods.dele.evidence.choice import (
    ALL_MODELS_SPLIT,
    export_sampler,
    gains_over_splits,
)
from benchwright.methods.dele.evidence.panels import SamplingPanels
from benchwright.methods.dele.samplers.registry import RANDOM
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.sampling import EstimationParams, SamplingParams
from benchwright.reports.dele.labels import METRICS, PANELS, bounds, coefficient, points
from benchwright.reports.dele.plots.rate_curves import LINES
from benchwright.reports.dele.sampling_headline import METRIC, write_headline, write_notes
from benchwright.reports.page.provenance import benchmark_facts, settings
from benchwright.reports.page.sections import Section, make_section, render_sections
from benchwright.reports.page.wording import rows_of, tile

_LONGEST_TABLE = 300  # rows of a table on the page; the datasets have them all
_SECTIONS = (
    ("method", "What was done and why"),
    ("few", "How few items will do"),
    ("random", "Against random subsets"),
    ("scores", "Scores"),
    ("repeats", "How much repeats differ"),
    ("choice", "Choosing a sampler"),
    ("subjects", "Subject by subject"),
    ("estimates", "Scores estimated from few items"),
    ("spread", "Harder items"),
    ("texts", "Easiest and hardest to read"),
    ("clusters", "Clusters"),
    ("subset", "The subset handed on"),
    ("provenance", "Provenance"),
)
_COEFFICIENTS = ("spearman", "tau_b", "pearson")
_DISTANCES = ("wasserstein", "mean_absolute_error")

Row = dict[Any, Any]


def render_sampling_report(**sections: Section) -> str:
    """Render the report of samplers: one HTML page that needs no network.

    The same inputs give the same bytes. All data is escaped. Where there is nothing to show the
    page says why.
    """
    return render_sections(
        "benchwright.reports.dele", "sampling_report.html", _SECTIONS, sections.values()
    )


def show_sampling_method(
    ingestion: BenchmarkParams,
    variant: str,
    sampling: SamplingParams,
    estimation: EstimationParams,
    seed: int,
) -> Section:
    """Gather what was done, with which settings."""
    return make_section(
        title=ingestion.title,
        variant=variant,
        metric_words=METRICS,
        evidence=sampling.evidence,
        main_rate=f"{sampling.evidence.main_rate:g}",
        adaptive=sampling.adaptive,
        repeats=sampling.repeats,
        random_draws=max(sampling.repeats, sampling.evidence.random_draws),
        tokenizer=sampling.tokenizer,
        level=LEVEL,
        coverage_level=estimation.level,
        longest=_LONGEST_TABLE,
        facts=benchmark_facts(ingestion, variant, seed, []),
        settings=[*settings("sampling", sampling), *settings("estimation", estimation)],
    )


def show_sampling_headline(
    sampling_panels: SamplingPanels,
    samplers_left_out: pd.DataFrame,
    sampling_against_random: pd.DataFrame,
    sampling_summary: pd.DataFrame,
    sampler_choice: pd.DataFrame,
    sampling: SamplingParams,
) -> Section:
    """Gather the top of the page: headline, figures in tiles, warnings, who judges."""
    tables = (sampling_against_random, sampling_summary, sampler_choice)
    return make_section(
        headline=write_headline(sampling_panels, *tables, sampling),
        tiles=_tiles(sampling_panels, sampling_summary, sampling),
        notes=write_notes(sampling_panels, samplers_left_out, sampling),
        panels={"main": sampling_panels.main, "paper_by": sampling_panels.paper_by},
        panel_words=PANELS,
        n_items=len(sampling_panels.item_ids),
        counts=sampling_panels.sizes(),
    )


def show_sampling_few(
    sampling_summary: pd.DataFrame, paper_summary: pd.DataFrame, paper_panel: SamplingPanels
) -> Section:
    """Gather how few items will do, for the panel of headlines and for the paper's."""
    return make_section(
        summary=_summary(sampling_summary),
        paper=_summary(paper_summary),
        paper_panel={
            "models": len(paper_panel.models),
            "left_out": paper_panel.left_out,
            "n_items": len(paper_panel.item_ids),
            "all_items": paper_panel.all_items,
        },
    )


def show_sampling_scores(
    sampling_against_random: pd.DataFrame,
    target_curves: pd.DataFrame,
    score_spread: pd.DataFrame,
    sampling: SamplingParams,
) -> Section:
    """Gather samplers among random subsets, how far they move scores, and harder items."""
    return make_section(
        against=_against_random(sampling_against_random),
        targets=target_rows(target_curves, sampling.evidence.main_rate),
        spread=rows_of(score_spread),
    )


def show_sampling_choices(
    sampler_choice: pd.DataFrame,
    chosen_curves: pd.DataFrame,
    changed_winners: pd.DataFrame,
    chosen_subset: pd.DataFrame,
    sampling: SamplingParams,
) -> Section:
    """Gather what it is worth to choose a sampler, and the subset handed on."""
    return make_section(
        choice=[_choice(row) for row in rows_of(sampler_choice)],
        gains=gains_over_splits(sampler_choice),
        chosen=chosen_rows(chosen_curves, sampling.evidence.at_rates),
        changed=rows_of(changed_winners),
        subset=rows_of(chosen_subset),
        export_sampler=export_sampler(sampling, sampler_choice),
    )


def show_sampling_subjects(
    subject_winners: pd.DataFrame, subject_luck: Mapping[str, float], estimate_errors: pd.DataFrame
) -> Section:
    """Gather choices subject by subject, and errors of estimated scores."""
    return make_section(
        subjects=rows_of(subject_winners),
        luck=dict(subject_luck),
        estimates=rows_of(estimate_errors),
    )


def show_sampling_texts(
    readability_examples: pd.DataFrame, readability_bands: pd.DataFrame, cluster_sizes: pd.DataFrame
) -> Section:
    """Gather how the items read, and their clusters."""
    return make_section(
        readability=rows_of(readability_examples),
        bands=rows_of(readability_bands),
        clusters=rows_of(cluster_sizes),
    )


def _tiles(
    panels: SamplingPanels, sampling_summary: pd.DataFrame, sampling: SamplingParams
) -> list[dict[str, str]]:
    choose, judge = (len(panels.groups[name]) for name in ("selection", "held_out"))
    answered = f"of {panels.all_items:,}, that all models answered"
    tiles = [
        tile("Items", f"{len(panels.item_ids):,}", answered),
        tile(
            "Models",
            f"{len(panels.models):,}",
            f"{choose:,} choose, {judge:,} of other families judge",
        ),
    ]
    own = sampling_summary[
        (sampling_summary["sampler"] == RANDOM) & (sampling_summary["panel"] == panels.main)
    ]
    for row in own.head(1).to_dict("records"):
        rate = row["rate_for_spearman"]
        tiles += [
            tile(
                f"Score error, {sampling.evidence.main_rate:g}% at random",
                points(row["mean_absolute_error"]),
                "points, mean over models",
            ),
            tile(
                f"Smallest rate for Spearman {sampling.evidence.keep:g}",
                "—" if pd.isna(rate) else f"{rate:g}%",
                f"{int(row['items_for_spearman']):,} items at random",
            ),
        ]
    return tiles


def _summary(sampling_summary: pd.DataFrame) -> list[Row]:
    return [
        {
            "words": f"{int(own['n_models'].iloc[0]):,} {PANELS[str(panel)]}",
            "rows": [{**row, **_figures(row)} for row in rows_of(own)],
        }
        for panel, own in sampling_summary.groupby("panel", sort=False)
    ]


def _against_random(sampling_against_random: pd.DataFrame) -> list[Row]:
    """By panel and rate, each sampler's tau-b among random subsets, best first."""
    own = sampling_against_random[sampling_against_random["metric"] == METRIC]
    found = []
    for (panel, rate), rows in own.groupby(["panel", "rate"], sort=True):
        ordered = rows.sort_values(["better_by", "sampler"], ascending=[False, True])
        first = ordered.iloc[0]
        found.append(
            {
                "title": f"{rate:g}%, {int(first['size']):,} items, "
                f"{int(first['n_models']):,} {PANELS[str(panel)]}",
                "band": bounds(first["random_low"], first["random_high"]),
                "median": coefficient(first["random_median"]),
                "subsets": int(first["random_subsets"]),
                "rows": [_tested(row) for row in rows_of(ordered)],
            }
        )
    return found


def _tested(row: Row) -> Row:
    figures = {name: coefficient(row[name]) for name in ("mean", "better_by")}
    return {**row, **figures, **{name: _p(row[name]) for name in ("p", "p_holm")}}


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "< .001" if value < 0.001 else f"{value:.3f}"


def _choice(row: Row) -> Row:
    gains = {name: coefficient(row[f"{name}_gain"]) for name in ("apparent", "held_out", "luck")}
    by = "all models" if row["split"] == ALL_MODELS_SPLIT else f"split {row['split'] + 1}"
    return {**row, **gains, "by": by, "metric": METRICS[str(row["metric"])]}


def chosen_rows(chosen_curves: pd.DataFrame, rates: Sequence[float]) -> list[Row]:
    """By rate and line the means over splits, with the middle 95% of random subsets last."""
    found: list[Row] = []
    for rate in rates:
        own = chosen_curves[chosen_curves["rate"] == rate]
        by_line = _wide(own, "line", "mean").to_dict("index")
        found += [
            {"rate": rate, "line": words, **_figures(by_line[line])}
            for line, words in LINES.items()
            if line in by_line
        ]
        if by_line:
            found.append({"rate": rate, "line": "single random subsets, 95%", **_bands(own)})
    return found


def target_rows(target_curves: pd.DataFrame, rate: float) -> list[Row]:
    """By target each sampler's figures at one rate, the smallest error of the scores first."""
    found = []
    for target, own in target_curves[target_curves["rate"] == rate].groupby("target", sort=True):
        means = _wide(own, "sampler", "mean").sort_values("mean_absolute_error", kind="stable")
        places = _wide(own, "sampler", "percentile").reindex(means.index)
        found.append(
            {
                "target": str(target),
                "size": int(own["size"].iloc[0]),
                "n_models": int(own["n_models"].iloc[0]),
                "band": _bands(own),
                "rows": [
                    {
                        "sampler": str(name),
                        **_figures(row),
                        "tau_b_place": place["tau_b"],
                        "error_place": place["mean_absolute_error"],
                    }
                    for (name, row), place in zip(
                        means.to_dict("index").items(), rows_of(places), strict=True
                    )
                ],
            }
        )
    return found


def _wide(curves: pd.DataFrame, index: str, values: str) -> pd.DataFrame:
    return curves.pivot_table(values=values, index=index, columns="metric", dropna=False)


def _figures(values: Mapping[Hashable, Any]) -> dict[str, str]:
    """Figures by metric in words, distances in points."""
    return {name: coefficient(values[name]) for name in _COEFFICIENTS} | {
        name: points(values[name]) for name in _DISTANCES
    }


def _bands(curves: pd.DataFrame) -> dict[str, str]:
    """Random's band by metric in words, at one rate."""
    rows = curves.drop_duplicates("metric").set_index("metric")
    lows, highs = (rows[name].to_dict() for name in ("random_low", "random_high"))
    return {name: bounds(lows[name], highs[name]) for name in _COEFFICIENTS} | {
        name: bounds(100 * lows[name], 100 * highs[name], 2) for name in _DISTANCES
    }
