"""Sentences, figures and the page of the sampling stage."""

import json
from typing import Any

import numpy as np
import pytest

from benchwright.reports.dele.sampling_headline import write_headline
from methods.dele.evidence.sampling_examples import make_answers
from reports.dele.sampling_stage import PARAMS, SCORES, run


def headline(results: dict[str, Any]) -> tuple[str, ...]:
    names = ("sampling_panels", "sampling_against_random", "sampling_summary", "sampler_choice")
    return tuple(write_headline(*(results[name] for name in names), PARAMS))


def test_headline_says_what_the_tables_say(results: dict[str, Any]) -> None:
    kept, beaten, chosen = headline(results)
    judges = len(results["sampling_panels"].groups["held_out"])
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
    html = results["sampling_report"]
    assert "A &lt;b&gt;bold&lt;/b&gt; benchmark" in html
    assert "<b>bold</b>" not in html
    assert html.count('data-source="figure-') == 15
    for sampler in ("random", "word_length", "kmeans_tfidf", "share_wrong"):
        assert sampler in html
    assert run(make_answers(), SCORES)["sampling_report"] == html


def test_every_curve_stands_beside_randoms_band(results: dict[str, Any]) -> None:
    curves = [name for name in results if name.startswith("figure_sampling_")]
    assert len(curves) == 7
    for name in curves:
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
    found = run(answers)
    html = found["sampling_report"]
    assert said in html
    metrics = found["sampling_metrics"]
    assert metrics["n_models"] == len(found["sampling_panels"].models)
    assert all(np.isfinite(value) for value in metrics.values())


def test_fractions_and_open_questions_work() -> None:
    answers = make_answers().astype(np.float32) * 0.7
    assert "keep the order of" in run(answers)["sampling_report"]
