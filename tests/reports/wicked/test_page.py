"""The report of perturbed benchmarks, with many and with few results."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.methods.wicked.comparison.coverage import Unchecked
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.page.wording import joined
from benchwright.reports.wicked.findings import Headline, PerturbationReach, write_headline
from benchwright.reports.wicked.terms import interval, points
from benchwright.tables.wicked import ComparisonScores, ComparisonSummary

NO_LABELS = Unchecked(0, 0, 0.0, 0, 0, 0)


def text(page: str) -> str:
    """Return the text of a page without tags, scripts and styles."""
    body = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def headline(
    value: float,
    low: float,
    high: float,
    tau: tuple[float, str] = (0.6, ""),
    noise: tuple[float, float] = (0.7, 1.0),
    models: int = 3,
    altered: float = 0.9,
) -> Headline:
    rows = [
        ("mean_accuracy_original", 0.7, 0.6, 0.8, ""),
        ("mean_accuracy", 0.6, 0.5, 0.7, ""),
        ("mean_delta", value, low, high, ""),
        ("kendall_tau_b", tau[0], 0.5, 0.7, tau[1]),
        ("tau_b_between_copies", 0.9, 0.8, 1.0, ""),
        ("tau_b_resampled", 0.85, *noise, ""),
        ("pairs", 3.0, np.nan, np.nan, ""),
        ("reversed_pairs", 1.0, np.nan, np.nan, ""),
        ("significant_reversals", 0.0, np.nan, np.nan, ""),
    ]
    summary = ComparisonSummary.from_rows(
        [
            ("wicked", "letters-5", metric, estimate, a, b, models, 395, 5, why)
            for metric, estimate, a, b, why in rows
        ]
    )
    blank = dict.fromkeys(ComparisonScores.columns(), 0)
    scores = ComparisonScores.from_rows(
        [
            blank
            | {"perturbation": "wicked", "configuration": f"m{k}@letters-5", "model": f"m{k}"}
            | {"style": "letters", "asking_style": "letters-5", "n_items": 395, "copies": 5}
            for k in range(models)
        ]
    )
    reach = PerturbationReach("wicked", 395, altered, NO_LABELS)
    return write_headline(scores, summary, PerturbationParams(), reach)


def test_headline_gives_the_cost_with_its_interval() -> None:
    sentence = headline(-0.0904, -0.1091, -0.0712).cost
    assert sentence == (
        "“None of the above” in place of one option costs 3 models 9.0 points on average "
        "[7.1, 10.9] on 395 items (5 copies; letters, 5 demonstrations)."
    )


@pytest.mark.parametrize(
    ("metrics", "sentence"),
    [
        ((0.05, 0.03, 0.07), "gives 3 models 5.0 points more on average [3.0, 7.0]"),
        ((-0.01, -0.03, 0.01), "by −1.0 points on average [−3.0, +1.0] on 395 items"),
        ((-0.01, np.nan, np.nan), "by −1.0 points on average, without an interval, on"),
    ],
)
def test_headline_states_gains_unclear_differences_and_missing_intervals(
    metrics: tuple[float, float, float], sentence: str
) -> None:
    cost = headline(*metrics).cost
    assert sentence in cost
    assert ("no clear difference" in cost) == (metrics[2] == 0.01)


def test_order_of_models_is_compared_with_resampled_items() -> None:
    assert (
        "the order changes more than with another choice of items"
        in headline(-0.1, -0.2, -0.05).order
    )
    within = headline(-0.1, -0.2, -0.05, noise=(0.5, 1.0)).order
    assert "the order changes no more than with another choice of items" in within
    assert "1 of 3 pairs reverses order, none significantly" in within
    few = headline(-0.1, -0.2, -0.05, tau=(np.nan, "2 models; at least 3 are needed"))
    assert few.order == "The rankings of models are not compared: 2 models; at least 3 are needed."


def test_single_model_is_named_without_an_average() -> None:
    cost = headline(-0.1, -0.2, -0.05, models=1).cost
    assert "costs m0 10.0 points [5.0, 20.0] on" in cost


def test_headline_says_that_no_item_was_altered() -> None:
    assert headline(0.0, 0.0, 0.0, altered=0.0).cost.startswith("No item was altered")


def test_numbers_are_formatted() -> None:
    assert points(-0.00004) == "0.0"
    assert points(0.0904) == "+9.0"
    assert points(float("nan")) == "—"
    assert interval(-0.1, None) == ""
    assert joined(["a", "b", "c"]) == "a, b and c"


def test_page_has_all_sections(stage: Any) -> None:
    page = stage.outputs["comparison_report"]
    shown = text(page)
    assert "costs 12 models" in shown
    assert "WiCkeD, Table 1" in shown
    assert "One option replaced, gold option removed" in shown
    assert "One option replaced, gold option kept" in shown
    assert "Unaltered: an option already says none or all of the above" in shown
    assert "1 item of this benchmark has a label" in shown
    assert "perturbation.copies" in shown
    assert page.count("<svg") == 2 * 4  # no step-by-step ablation
    assert "http://" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


def test_same_inputs_give_same_bytes(stage: Any) -> None:
    first, second = (stage.run(configurations=stage.panel[:2], n=15) for _ in range(2))
    assert first["comparison_report"] == second["comparison_report"]


def test_html_in_data_is_escaped(stage: Any) -> None:
    outputs = stage.run(configurations=("<img src=x>@letters-5",), n=6)
    page = outputs["comparison_report"]
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<img" not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "Demo &lt;i&gt;benchmark" in page


def test_page_without_answers_says_so(stage: Any) -> None:
    outputs = stage.run(configurations=(), n=20)
    shown = text(outputs["comparison_report"])
    assert "No model answered the original items and all of their copies" in shown
    assert "One option replaced, gold option removed" in shown  # copies are shown without answers
    assert outputs["comparison_scores"].empty


@pytest.mark.parametrize("n", [1, 2])
def test_page_states_one_copy_and_too_few_models(stage: Any, n: int) -> None:
    settings = PerturbationParams(copies=1)
    outputs = stage.run(configurations=stage.panel[:n], n=n, settings=settings)
    shown = text(outputs["comparison_report"])
    assert "There is one copy" in shown
    assert "at least 3 are needed" in shown


def test_page_says_that_no_item_was_altered(stage: Any) -> None:
    ids = list(stage.items(10)["item_id"])
    outputs = stage.run(
        configurations=stage.panel[:3],
        n=10,
        single_best_answer_ids={"sba": ids, "other": []},
        perturbation_changes=copies(stage, 10),
    )
    shown = text(outputs["comparison_report"])
    assert "No item was altered" in shown
    assert "10 items are labelled as single-best-answer items" in shown


def copies(stage: Any, n: int) -> pd.DataFrame:
    changes = stage.inputs(configurations=(), n=n)["perturbation_changes"]
    return changes.assign(
        altered=False,
        reason="single_best_answer",
        removed_choice=None,
        removed_index=-1,
        gold_removed=False,
    )


def test_warning_names_labels_that_were_not_read(stage: Any) -> None:
    outputs = stage.run(
        configurations=stage.panel[:3],
        n=20,
        settings=PerturbationParams(copies=2, sba="none"),
        single_best_answer_ids={"sba": [], "other": []},
    )
    shown = text(outputs["comparison_report"])
    lost = int(outputs["comparison_metrics"]["gold_removed_unchecked"])
    assert lost > 0
    assert f"{lost} items lost their gold option in at least one copy" in shown
    assert "sba: none reads no labels" in shown


def test_plots_have_captions_and_escape_names(stage: Any) -> None:
    outputs = stage.run(configurations=("<b>x</b>@letters-5", "y@letters-5", "z@letters-5"), n=20)
    for name in ("deltas", "ranks", "transitions", "none_rates"):
        plot = outputs[f"comparison_{name}_plot"]
        assert "letters, 5 demonstrations" in plot.layout.meta["caption"]
        assert "<b>x</b>" not in plot.to_json().replace("\\u003c", "<").replace("\\u003e", ">")
    deltas = outputs["comparison_deltas_plot"]
    scores = outputs["comparison_scores"].sort_values("accuracy_original", ascending=False)
    assert list(deltas.data[0].x) == pytest.approx(scores["accuracy_original"].tolist(), abs=1e-6)
    assert list(deltas.data[2].x) == pytest.approx((100 * scores["delta"]).tolist(), abs=1e-5)


def test_changes_of_answers_are_grouped_by_kind_of_model(stage: Any) -> None:
    configurations = tuple(f"{name}@letters-5" for name in ("a", "b-it", "c", "d-it"))
    outputs = stage.run(configurations=configurations, n=20)
    plot = outputs["comparison_transitions_plot"]
    bars = plot.data[0]
    groups = ("<b>instruct, mean of 2</b>", "b-it (instruct)", "d-it (instruct)")
    assert plot.layout.yaxis.ticktext == (*groups, "<b>base, mean of 2</b>", "a (base)", "c (base)")
    assert bars.x[0] == pytest.approx((bars.x[1] + bars.x[2]) / 2, abs=2e-6)
    table = outputs["comparison_transitions"].set_index(["gold", "configuration"])
    assert bars.x[5] == pytest.approx(table.loc[("kept", "c@letters-5"), "stayed_right"], abs=1e-6)
    assert table.loc["kept", "kind"].tolist() == ["base", "instruct", "base", "instruct"]
    alone = stage.run(configurations=("a@letters-5", "c@letters-5"), n=20)
    assert alone["comparison_transitions_plot"].layout.yaxis.ticktext == ("a", "c")
