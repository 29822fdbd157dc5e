"""Sentences, plots and the page of the sampling stage."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from benchwright.params.scoring import ModelsParams
from benchwright.pipelines.sampling import create_pipeline
from benchwright.reports.dele.page import show_samplers
from benchwright.reports.page.parts import Table
from benchwright.reports.verdict import Verdict
from methods.dele.evidence.sampling_examples import (
    make_answers,
    make_families,
    make_items,
    make_matrix,
    make_params,
)
from refined_benchmark import benchmark_params

PARAMS = make_params(
    samplers="random+word_length+kmeans_tfidf+share_wrong",
    repeats=2,
    adaptive={"splits": 1, "lowest_rate": 10, "highest_rate": 50},
    evidence={
        "at_rates": (10.0, 22.5),
        "estimate_subsets": 2,
        "subject_items": 30,
    },
)


def run(answers: NDArray[np.float32]) -> dict[str, Any]:
    """Return inputs and outputs of all nodes of the stage, by name."""
    data: dict[str, Any] = {
        "response_matrix": make_matrix(answers),
        "items": make_items(answers.shape[1]),
        "models_table": make_families(len(answers)),
        "sampling_vector_cache": pd.DataFrame(),
        "params:ingestion": benchmark_params(),
        "params:variant": "dele",
        "params:sampling": PARAMS,
        "params:models": ModelsParams(),
        "params:seed": 0,
    }
    for node in create_pipeline().nodes:  # in an order in which each finds its inputs
        data |= node.run({name: data[name] for name in node.inputs})
    return data


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return run(make_answers())


def verdict_of(results: dict[str, Any], **changed: pd.DataFrame) -> Verdict:
    data = results | changed | {"params:sampling": PARAMS}
    (node,) = (each for each in create_pipeline().nodes if "sampling_verdict" in each.outputs)
    return node.run({name: data[name] for name in node.inputs})["sampling_verdict"]


def test_verdict_agrees_with_the_tables(results: dict[str, Any]) -> None:
    verdict = results["sampling_verdict"]
    held_out = len(results["sampling_panels"].groups["held_out"])
    table = results["sampling_against_random"]
    row = table.query(
        "sampler == 'random' and panel == 'held_out' and rate == 10 and metric == 'tau_b'"
    ).iloc[0]
    assert f"{held_out} held-out models" in verdict["headline"]
    drawn, agreement, gain = verdict["judgements"]
    assert drawn.endswith("exported subset, sampler random.")
    assert verdict["tiles"][1] == ("54 of 60 (90%)", "items saved by the exported subset")
    assert agreement.startswith(
        f"A random subset of 6 of 60 items (10%) has Kendall tau-b {row['random_median']:.3f} ["
    )
    assert "1 split" in gain
    assert "benchwright plan" in verdict["next_step"]


def test_verdict_names_significant_samplers(results: dict[str, Any]) -> None:
    table = results["sampling_against_random"].copy()
    shown = (table["panel"] == "held_out") & (table["metric"] == "tau_b") & (table["rate"] == 10)
    table["verdict"] = "no difference shown"
    none = verdict_of(results, sampling_against_random=table)["headline"]
    assert none.startswith("Take random items: none of 3 samplers ranks ")
    assert "worse" not in none
    table.loc[shown & (table["sampler"] == "word_length"), "verdict"] = "better"
    table.loc[shown & (table["sampler"] == "share_wrong"), "verdict"] = "worse"
    some = verdict_of(results, sampling_against_random=table)["headline"]
    assert some.startswith("Take the items of word_length: they rank ")
    assert "(share_wrong: worse)" in some
    forward = (table["panel"] == "forward") & (table["sampler"] == "word_length")
    table.loc[forward & (table["metric"] == "tau_b"), "verdict"] = "worse"
    risky = verdict_of(results, sampling_against_random=table)["headline"]
    assert risky.startswith("Take random items: those of word_length rank ")


def test_weighted_items_have_no_figures_of_plain_means(results: dict[str, Any]) -> None:
    subset = results["chosen_subset"].copy()
    subset.loc[0, "weight"] *= 2
    (pairs, _), _, (apart, _) = verdict_of(results, chosen_subset=subset)["tiles"]
    assert (pairs, apart) == ("—", "—")


def test_page_escapes_data_and_shows_every_plot(results: dict[str, Any]) -> None:
    html = results["sampling_report"]
    assert "Demo &lt;b&gt;benchmark&lt;/b&gt;" in html
    assert "<b>benchmark</b>" not in html
    assert html.count("<figure>") == 2
    (page,) = (each for each in create_pipeline().nodes if "sampling_report" in each.outputs)
    again = page.run({name: results[name] for name in page.inputs})
    assert again["sampling_report"] == html


def test_the_tables_of_samplers_say_what_differs_from_random(results: dict[str, Any]) -> None:
    tested = results["sampling_against_random"].copy()
    tested["verdict"] = "no difference shown"
    better = (tested["sampler"] == "word_length") & (tested["metric"] == "tau_b")
    tested.loc[better & (tested["panel"] == "held_out"), "verdict"] = "better"
    names = ("sampling_panels", "sampling_summary", "estimate_errors")
    sections = show_samplers(
        sampling_against_random=tested, sampling=PARAMS, **{name: results[name] for name in names}
    )
    brief, table = (
        next(block for block in part.blocks if isinstance(block, Table)) for part in sections
    )
    assert str(sections[0].blocks[0].text).startswith("To rank models, use ")
    said = {cells[0]: cells[2] for cells in brief.rows}
    assert (said["random"], said["word_length"]) == ("", "better")
    assert set(said.values()) <= {"", "better", "no better", "worse"}
    assert len({len(table.head), *map(len, table.rows)}) == 1
    by_name = {cells[0].text: cells for cells in table.rows}
    own = results["sampling_summary"].query("panel == 'held_out'").set_index("sampler")
    assert by_name.keys() == set(own.index)
    p = results["sampling_against_random"].query(
        "sampler == 'share_wrong' and panel == 'held_out' and rate == 10 and metric == 'tau_b'"
    )["p_holm"]
    assert by_name["share_wrong"][2] == f"{p.iloc[0]:.3f}"
    assert by_name["random"][2] == "—"
    assert by_name["random"][4] == f"{own.loc['random', 'spearman_sd']:.3f}"
    assert by_name["random"][7] == f"{own.loc['random', 'items_for_tau_b']:,}"


def test_every_sampler_is_drawn_in_the_random_band(results: dict[str, Any]) -> None:
    chart = results["sampling_curves_plot"]
    names = [trace["name"] for trace in chart["data"]]
    assert len(names) == 2 + 4
    assert names[:2] == ["random subsets, 95%", "random subsets, median"]
    drawn = next(trace for trace in chart["data"] if "word_length" in str(trace.get("hovertext")))
    own = results["sampling_curves"].query(
        "sampler == 'word_length' and panel == 'held_out' and metric == 'tau_b'"
    )
    assert drawn["y"] == pytest.approx(own.sort_values("rate")["mean"].tolist(), abs=1e-5)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (np.full((3, 60), np.nan, np.float32), "No model answered enough items"),
        (make_answers(models=2), "Only 2 models answered enough items"),
        (np.ones((8, 60), np.float32), "all models have equal scores"),
        (make_answers(models=4), "(in-sample)"),
    ],
    ids=["no responses", "two models", "equal scores", "no held-out models"],
)
def test_insufficient_data_are_reported(answers: np.ndarray, message: str) -> None:
    outputs = run(answers)
    html = outputs["sampling_report"]
    assert message in html
    metrics = outputs["sampling_metrics"]
    assert metrics["n_models"] == len(outputs["sampling_panels"].models)
    assert all(np.isfinite(value) for value in metrics.values())
