"""Sentences, plots and the page of the sampling stage."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from benchwright.params.scoring import ModelsParams
from benchwright.pipelines.sampling import create_pipeline
from benchwright.reports.dele.page import show_samplers
from benchwright.reports.dele.sampling_headline import write_headline
from benchwright.reports.page.parts import Table
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
        "band_subsets": 20,
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


def headline(results: dict[str, Any]) -> tuple[str, ...]:
    names = ("sampling_panels", "sampling_against_random", "sampling_summary", "sampler_choice")
    luck = results.get("subject_luck", {})
    return tuple(write_headline(*(results[name] for name in names), luck, PARAMS))


def test_headline_agrees_with_the_tables(results: dict[str, Any]) -> None:
    kept, beaten, chosen = headline(results)
    held_out = len(results["sampling_panels"].groups["held_out"])
    table = results["sampling_against_random"]
    row = table.query(
        "sampler == 'random' and panel == 'held_out' and rate == 10 and metric == 'tau_b'"
    ).iloc[0]
    assert kept.startswith(
        f"A random subset of 6 of 60 items (10%) ranks {held_out} held-out models as all items do "
        f"with Kendall tau-b {row['random_median']:.3f} ["
    )
    assert "after Holm's correction" in beaten
    assert "1 split" in chosen


def test_headline_names_significant_samplers(results: dict[str, Any]) -> None:
    table = results["sampling_against_random"].copy()
    shown = (table["panel"] == "held_out") & (table["metric"] == "tau_b") & (table["rate"] == 10)
    table["verdict"] = "no difference shown"
    none = headline({**results, "sampling_against_random": table})[1]
    assert none.startswith("None of 3 samplers is significantly better than random subsets")
    table.loc[shown & (table["sampler"] == "word_length"), "verdict"] = "better"
    table.loc[shown & (table["sampler"] == "share_wrong"), "verdict"] = "worse"
    some = headline({**results, "sampling_against_random": table})[1]
    assert some.startswith("Of 3 samplers, word_length is significantly better than random subsets")
    assert some.endswith("; share_wrong is significantly worse.")


def test_page_escapes_data_and_shows_every_plot(results: dict[str, Any]) -> None:
    html = results["sampling_report"]
    assert "Demo &lt;b&gt;benchmark&lt;/b&gt;" in html
    assert "<b>benchmark</b>" not in html
    assert html.count("<figure>") == 4
    assert run(make_answers())["sampling_report"] == html


def test_the_table_of_samplers_starts_with_the_random_band(results: dict[str, Any]) -> None:
    tested = results["sampling_against_random"].query("panel == 'held_out'").copy()
    tested["verdict"] = "no difference shown"
    better = (tested["sampler"] == "word_length") & (tested["metric"] == "tau_b")
    tested.loc[better & (tested["rate"] == 10), "verdict"] = "better"
    tested.loc[better & (tested["rate"] == 22.5), "verdict"] = "worse"
    names = ("sampling_panels", "sampling_summary")
    (section,) = show_samplers(
        sampling_against_random=tested, sampling=PARAMS, **{name: results[name] for name in names}
    )
    table = next(block for block in section.blocks if isinstance(block, Table))
    assert len({len(table.head), *map(len, table.rows)}) == 1
    by_name = {cells[0].text: cells for cells in table.rows[1:]}
    assert table.rows[0][0] == "random subsets, 95%"
    band = tested.query("rate == 10 and metric == 'wasserstein'").iloc[0]
    assert table.rows[0][4] == f"[{100 * band.random_low:.2f}, {100 * band.random_high:.2f}]"
    assert by_name["random"][2] == "baseline"
    assert by_name["word_length"][2].text == "better at 10%, worse at 22.5%"
    assert by_name["share_wrong"][2].text == "no difference"
    own = results["sampling_summary"].query("panel == 'held_out'").set_index("sampler")
    assert by_name["random"][3].under == [f"{own.loc['random', 'spearman_sd']:.3f}"]
    items = f"{own.loc['random', 'items_for_tau_b']:,} items"
    assert by_name["random"][6].under[0] == items


def test_every_sampler_is_drawn_in_the_random_band(results: dict[str, Any]) -> None:
    chart = results["sampling_curves_plot"]
    names = [(trace["yaxis"], trace["name"]) for trace in chart["data"]]
    panels = {panel for panel, _ in names}
    assert len(panels) == 3  # tau-b, Spearman, Wasserstein
    assert len(names) == 3 * (2 + 4)
    assert {panel for panel, name in names if name == "random subsets, 95%"} == panels
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
        (np.ones((8, 60), np.float32), "have equal scores"),
        (make_answers(models=4), "held out)"),
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
