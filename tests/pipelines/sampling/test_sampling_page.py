"""Sentences, figures and the page of the sampling stage."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.params.benchmark import BenchmarkParams
from benchwright.params.estimation import EstimationParams
from benchwright.pipelines.sampling.against_random import compare_with_random
from benchwright.pipelines.sampling.choice import choose_by_subject, choose_samplers
from benchwright.pipelines.sampling.chosen_subset import choose_subset
from benchwright.pipelines.sampling.curves import trace_curves
from benchwright.pipelines.sampling.estimates import measure_estimates
from benchwright.pipelines.sampling.figures.bars import draw_score_spread, draw_winners
from benchwright.pipelines.sampling.figures.clusters import draw_cluster_curves, draw_item_map
from benchwright.pipelines.sampling.figures.curves import draw_curves
from benchwright.pipelines.sampling.headline import write_headline
from benchwright.pipelines.sampling.judging import judge_samplers
from benchwright.pipelines.sampling.metrics import collect_sampling_metrics
from benchwright.pipelines.sampling.panels import SamplingPanels
from benchwright.pipelines.sampling.pipeline import CURVES
from benchwright.pipelines.sampling.random_draws import draw_random_bands
from benchwright.pipelines.sampling.report.render import render_sampling_report
from benchwright.pipelines.sampling.spread import spread_scores
from benchwright.pipelines.sampling.summary import summarise_samplers
from benchwright.pipelines.sampling.texts import describe_clusters, describe_texts
from pipelines.sampling.sampling_examples import (
    make_answers,
    make_items,
    make_panels,
    make_params,
    make_pools,
)

PARAMS = make_params(
    samplers="random+word_length+kmeans_tfidf+share_wrong",
    clustering={"k": "elbow", "candidates": (2, 3, 4), "map_items": 20},
    repeats=2,
    adaptive={"splits": 1, "lowest_rate": 10, "highest_rate": 50},
)
NOTHING = pd.DataFrame({"split": pd.Series(dtype=int), "winner": pd.Series(dtype=str)})
NO_SUBJECTS = pd.DataFrame({"subject": pd.Series(dtype=str), "winner": pd.Series(dtype=str)})
BENCHMARK = BenchmarkParams.model_validate(
    {
        "name": "x",
        "title": "A <b>bold</b> benchmark",
        "licence": "MIT",
        "citation": "c",
        "url": "",
        "sources": {
            "local": {
                "file": "items.jsonl",
                "all_rows": "test",
                "fields": {
                    "question": "q",
                    "choices": {"column": "c"},
                    "gold": {"column": "a", "form": "index"},
                },
            }
        },
        "splits": {"evaluation": ["test"]},
    }
)


def run(panels: SamplingPanels) -> dict[str, Any]:
    """All results of the stage by name."""
    pools, items = make_pools(panels, PARAMS), make_items(panels.all_items)
    figures, left_out = judge_samplers(pools, panels, PARAMS, 0)
    curves = trace_curves(figures, draw_random_bands(panels, PARAMS, 0))
    against = compare_with_random(figures, panels, PARAMS, 0)
    summary = summarise_samplers(curves, pools, panels, PARAMS, 0)
    choice, changed = choose_samplers(figures, pools, panels, NOTHING, PARAMS, 0)
    winners, _, luck = choose_by_subject(pools, panels, NO_SUBJECTS, PARAMS, 0)
    spread = spread_scores(pools, panels, PARAMS, 0)
    _, readability, bands = describe_texts(pools)
    sizes, elbows, maps = describe_clusters(pools, PARAMS, 0)
    return {
        "panels": panels,
        "samplers_left_out": left_out,
        "sampling_against_random": against,
        "sampling_summary": summary,
        "sampler_choice": choice,
        "subject_winners": winners,
        "subject_luck": luck,
        "changed_winners": changed,
        "estimate_errors": measure_estimates(pools, panels, PARAMS, EstimationParams(), 0),
        "score_spread": spread,
        "readability_examples": readability,
        "readability_bands": bands,
        "cluster_sizes": sizes,
        "chosen_subset": choose_subset(items, pools, {}, choice, PARAMS),
        **dict(zip(CURVES, draw_curves(curves, panels, PARAMS), strict=True)),
        "figure_sampler_winners": draw_winners(choice, winners),
        "figure_score_spread": draw_score_spread(spread, PARAMS),
        "figure_cluster_curves": draw_cluster_curves(elbows),
        "figure_item_map": draw_item_map(maps),
    }


def page(results: dict[str, Any]) -> str:
    return render_sampling_report(BENCHMARK, "dele", PARAMS, EstimationParams(), 0, **results)


def headline(results: dict[str, Any]) -> tuple[str, ...]:
    names = ("panels", "sampling_against_random", "sampling_summary", "sampler_choice")
    return tuple(write_headline(*(results[name] for name in names), PARAMS))


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return run(make_panels())


def test_headline_says_what_the_tables_say(results: dict[str, Any]) -> None:
    kept, beaten, chosen = headline(results)
    judges = len(results["panels"].groups["held_out"])
    table = results["sampling_against_random"]
    row = table.query(
        "sampler == 'random' and panel == 'held_out' and rate == 10 and metric == 'tau_b'"
    ).iloc[0]
    assert kept.startswith(
        f"6 of 60 items (10%), drawn at random, keep the order of {judges} held-out models with "
        f"Kendall tau-b {row['random_median']:.3f} ["
    )
    assert "after Holm's correction" in beaten
    assert "1 split" in chosen


def test_headline_names_who_beats_random(results: dict[str, Any]) -> None:
    table = results["sampling_against_random"].copy()
    own = (table["panel"] == "held_out") & (table["metric"] == "tau_b") & (table["rate"] == 10)
    table["verdict"] = "no difference shown"
    none = headline({**results, "sampling_against_random": table})[1]
    assert none.startswith("None of 3 samplers is shown to beat random subsets")
    table.loc[own & (table["sampler"] == "word_length"), "verdict"] = "better"
    table.loc[own & (table["sampler"] == "share_wrong"), "verdict"] = "worse"
    some = headline({**results, "sampling_against_random": table})[1]
    assert some.startswith("Of 3 samplers, word_length beats random subsets in tau-b")
    assert some.endswith("; share_wrong does worse.")


def test_page_escapes_and_shows_every_figure(results: dict[str, Any]) -> None:
    html = page(results)
    assert "A &lt;b&gt;bold&lt;/b&gt; benchmark" in html
    assert "<b>bold</b>" not in html
    assert html.count('data-source="figure-') == 11
    for sampler in ("random", "word_length", "kmeans_tfidf", "share_wrong"):
        assert sampler in html
    assert page(results) == html


def test_every_curve_stands_beside_randoms_band(results: dict[str, Any]) -> None:
    for name in CURVES:
        figure = json.loads(results[name].to_json())
        panels = {trace.get("yaxis") for trace in figure["data"]}
        banded = {trace["yaxis"] for trace in figure["data"] if trace.get("fill") == "tonexty"}
        assert len(panels) == 4  # baselines, clusters, quality, difficulty
        assert banded == panels


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (np.full((3, 60), np.nan, np.float32), "No model answered enough items"),
        (make_answers(models=2), "Only 2 models answered enough items"),
        (np.ones((8, 60), np.float32), "all score alike"),
        (make_answers(models=4), "(too few are held out"),
    ],
    ids=["no answers", "two models", "all the same", "nobody held out"],
)
def test_poor_data_are_said_and_do_not_crash(answers: np.ndarray, said: str) -> None:
    found = run(make_panels(answers))
    html = page(found)
    assert said in html
    metrics = collect_sampling_metrics(
        *(
            found[name]
            for name in (
                *("panels", "sampling_against_random", "sampling_summary", "sampler_choice"),
                *("subject_luck", "estimate_errors", "chosen_subset"),
            )
        ),
        PARAMS,
    )
    assert metrics["n_models"] == len(found["panels"].models)
    assert all(np.isfinite(value) for value in metrics.values())


def test_fractions_and_open_questions_work() -> None:
    answers = make_answers().astype(np.float32) * 0.7
    assert "keep the order of" in page(run(make_panels(answers)))
