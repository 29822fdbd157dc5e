"""The sections of the sampling report, and the rendered page."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from benchwright.core.configuration import count_models
from benchwright.exports.export import ALL_MODELS_SPLIT, sampler_of
from benchwright.methods.dele.evidence.against_random import LEVEL
from benchwright.methods.dele.evidence.choice import gains_over_splits
from benchwright.methods.dele.evidence.panels import FEWEST_MODELS, SamplingPanels
from benchwright.methods.dele.samplers.registry import RANDOM
from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.sampling import EstimationParams, SamplingParams
from benchwright.reports.dele.labels import METRICS, PANELS, points
from benchwright.reports.dele.plots.rate_curves import LINES
from benchwright.reports.dele.sampling_headline import METRIC, write_headline, write_notes
from benchwright.reports.page.provenance import benchmark_facts, settings
from benchwright.reports.page.sections import Section, make_section, render_sections
from benchwright.reports.page.wording import bounds, coefficient, rows_of, tile

_LONGEST_TABLE = 300  # rows of a table on the page; the datasets hold all rows
_SECTIONS = (
    ("method", "Method"),
    ("few", "How few items suffice"),
    ("random", "Comparison with random subsets"),
    ("scores", "Scores"),
    ("repeats", "Variation over repeats"),
    ("choice", "Choice of a sampler"),
    ("subjects", "Choice by subject"),
    ("estimates", "Estimated scores"),
    ("spread", "Difficult items"),
    ("texts", "Readability"),
    ("clusters", "Clusters"),
    ("subset", "Exported subset"),
    ("provenance", "Provenance"),
)
_COEFFICIENTS = ("spearman", "tau_b", "pearson")
_DISTANCES = ("wasserstein", "mean_absolute_error")

Row = dict[Any, Any]


def render_sampling_report(**sections: Section) -> str:
    """Render the sampling report as one self-contained HTML page.

    The same inputs give the same bytes. All data is escaped. A section without data gives the
    reason.
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
    """Build the section on the method and its settings."""
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
    subject_luck: Mapping[str, float],
    sampling: SamplingParams,
) -> Section:
    """Build the top of the page: headline, tiles, warnings and panels."""
    tables = (sampling_against_random, sampling_summary, sampler_choice)
    return make_section(
        headline=write_headline(sampling_panels, *tables, subject_luck, sampling),
        tiles=_tiles(sampling_panels, sampling_summary, sampling),
        notes=write_notes(sampling_panels, samplers_left_out, sampling),
        panels={"main": sampling_panels.main, "paper_by": sampling_panels.paper_by},
        panel_words=PANELS,
        n_items=len(sampling_panels.item_ids),
        counts=sampling_panels.sizes(),
    )


def show_sampling_sizes(
    sampling_summary: pd.DataFrame, paper_summary: pd.DataFrame, paper_panel: SamplingPanels
) -> Section:
    """Build the section on sufficient sizes, for the main panel and the paper's panel."""
    return make_section(
        summary=_summary(sampling_summary[sampling_summary["n_models"] >= FEWEST_MODELS]),
        paper=_summary(paper_summary),
        paper_panel={
            "models": len(paper_panel.models),
            "left_out": paper_panel.left_out,
            "n_items": len(paper_panel.item_ids),
            "all_items": paper_panel.all_items,
        },
    )


def show_sampling_scores(
    sampling_against_random: pd.DataFrame, score_spread: pd.DataFrame
) -> Section:
    """Build the sections on random subsets and on difficult items."""
    return make_section(
        against=_against_random(sampling_against_random), spread=rows_of(score_spread)
    )


def show_sampling_choices(
    sampler_choice: pd.DataFrame,
    chosen_curves: pd.DataFrame,
    changed_winners: pd.DataFrame,
    chosen_subset: pd.DataFrame,
    chosen_subset_facts: Mapping[str, str],
    sampling: SamplingParams,
) -> Section:
    """Build the sections on the choice of a sampler and on the exported subset."""
    return make_section(
        choice=[_choice(row) for row in rows_of(sampler_choice)],
        gains=gains_over_splits(sampler_choice),
        chosen=chosen_rows(chosen_curves, sampling.evidence.at_rates),
        changed=rows_of(changed_winners),
        subset=rows_of(chosen_subset),
        export_sampler=sampler_of(sampling, sampler_choice),
        told_apart=chosen_subset_facts["told_apart"],
    )


def show_sampling_subjects(
    subject_winners: pd.DataFrame, subject_luck: Mapping[str, float], estimate_errors: pd.DataFrame
) -> Section:
    """Build the sections on choices by subject and on errors of estimated scores."""
    return make_section(
        subjects=rows_of(subject_winners),
        luck=dict(subject_luck),
        estimates=rows_of(estimate_errors),
    )


def show_sampling_texts(
    readability_examples: pd.DataFrame, readability_bands: pd.DataFrame, cluster_sizes: pd.DataFrame
) -> Section:
    """Build the sections on readability and on clusters."""
    return make_section(
        readability=rows_of(readability_examples),
        bands=rows_of(readability_bands),
        clusters=rows_of(cluster_sizes),
    )


def _tiles(
    panels: SamplingPanels, sampling_summary: pd.DataFrame, sampling: SamplingParams
) -> list[dict[str, str]]:
    choose, held_out = (len(panels.groups[name]) for name in ("selection", "held_out"))
    answered = f"of {panels.all_items:,}; answered by all models"
    tiles = [
        tile("Items", f"{len(panels.item_ids):,}", answered),
        tile(
            "Models",
            count_models(panels.models),
            f"{choose:,} choose items, {held_out:,} of other families are held out",
        ),
    ]
    own = sampling_summary[
        (sampling_summary["sampler"] == RANDOM) & (sampling_summary["panel"] == panels.main)
    ]
    for row in own.head(1).to_dict("records"):
        rate = row["rate_for_spearman"]
        tiles += [
            tile(
                f"Score error, random {sampling.evidence.main_rate:g}%",
                points(row["mean_absolute_error"]),
                "points, mean over models",
            ),
            tile(
                f"Smallest rate for Spearman {sampling.evidence.keep:g}",
                "—" if pd.isna(rate) else f"{rate:g}%",
                f"{int(row['items_for_spearman']):,} random items",
            ),
        ]
    return tiles


def _summary(sampling_summary: pd.DataFrame) -> list[Row]:
    return [
        {
            "words": f"{int(own['n_models'].iloc[0]):,} {PANELS[str(panel)]}",
            "rows": [{**row, **_written(row)} for row in rows_of(own)],
        }
        for panel, own in sampling_summary.groupby("panel", sort=False)
    ]


def _against_random(sampling_against_random: pd.DataFrame) -> list[Row]:
    """Return each sampler's tau-b and its tests by panel and rate, best first."""
    own = sampling_against_random[sampling_against_random["metric"] == METRIC]
    parts = []
    for (panel, rate), rows in own.groupby(["panel", "rate"], sort=True):
        ordered = rows.sort_values(["better_by", "sampler"], ascending=[False, True])
        first = ordered.iloc[0]
        parts.append(
            {
                "title": f"{rate:g}%, {int(first['size']):,} items, "
                f"{int(first['n_models']):,} {PANELS[str(panel)]}",
                "band": bounds(first["random_low"], first["random_high"]),
                "median": coefficient(first["random_median"]),
                "subsets": int(first["random_subsets"]),
                "rows": [_tested(row) for row in rows_of(ordered)],
            }
        )
    return parts


def _tested(row: Row) -> Row:
    effects = {name: coefficient(row[name]) for name in ("mean", "better_by")}
    return {**row, **effects, **{name: _p(row[name]) for name in ("p", "p_holm")}}


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return "< .001" if value < 0.001 else f"{value:.3f}"


def _choice(row: Row) -> Row:
    gains = {name: coefficient(row[f"{name}_gain"]) for name in ("apparent", "held_out")}
    by = "all models" if row["split"] == ALL_MODELS_SPLIT else f"split {row['split'] + 1}"
    return {**row, **gains, "by": by, "metric": METRICS[str(row["metric"])]}


def chosen_rows(chosen_curves: pd.DataFrame, rates: Sequence[float]) -> list[Row]:
    """Return the means over splits by rate and line, then the random band of each rate."""
    table: list[Row] = []
    for rate in rates:
        own = chosen_curves[chosen_curves["rate"] == rate]
        by_line = _wide(own, "line", "mean").to_dict("index")
        ranks = own[own["metric"] == "spearman"].set_index("line").to_dict("index")
        table += [
            {"rate": rate, "line": words, **_written(by_line[line]), **_gain(ranks[line])}
            for line, words in LINES.items()
            if line in by_line
        ]
        if by_line:
            blank = dict.fromkeys(("gain", "span", "sd"), "")
            table.append({"rate": rate, "line": "random subsets, 95%", **_bands(own), **blank})
    return table


def _gain(row: Mapping[Any, Any]) -> dict[str, str]:
    """Write the gain over random with the middle 95% of the splits, and the sd over repeats."""
    known = not pd.isna(row["gain"])
    span = bounds(row["gain_low"], row["gain_high"]) if known else ""
    return {"gain": coefficient(row["gain"]), "span": span, "sd": coefficient(row["sd"])}


def _wide(curves: pd.DataFrame, index: str, values: str) -> pd.DataFrame:
    return curves.pivot_table(values=values, index=index, columns="metric", dropna=False)


def _written(values: Mapping[Hashable, Any]) -> dict[str, str]:
    """Write the value of each metric; distances are in points."""
    return {name: coefficient(values[name]) for name in _COEFFICIENTS} | {
        name: points(values[name]) for name in _DISTANCES
    }


def _bands(curves: pd.DataFrame) -> dict[str, str]:
    """Write the random band of each metric at one rate."""
    rows = curves.drop_duplicates("metric").set_index("metric")
    lows, highs = (rows[name].to_dict() for name in ("random_low", "random_high"))
    return {name: bounds(lows[name], highs[name]) for name in _COEFFICIENTS} | {
        name: bounds(100 * lows[name], 100 * highs[name], 2) for name in _DISTANCES
    }
