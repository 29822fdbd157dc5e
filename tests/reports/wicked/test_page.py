"""The report of perturbed benchmarks, with many and with few results."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.core.wording import joined, points
from benchwright.methods.wicked.comparison.coverage import Unchecked
from benchwright.params.perturbation import PerturbationParams
from benchwright.reports.wicked.findings import (
    PerturbationReach,
    judge_comparison,
    write_headline,
)
from benchwright.tables.wicked import ComparisonScores, ComparisonSummary, ComparisonWritten
from methods.wicked.comparison.comparison_examples import panel_stage
from reports.page_text import text


@pytest.fixture(scope="module")
def stage() -> Any:
    return panel_stage()


NO_LABELS = Unchecked(0, 0, 0, 0, 0)


def headline(
    value: float,
    low: float,
    high: float,
    tau: tuple[float, str] = (0.6, ""),
    noise: tuple[float, float] = (0.7, 1.0),
    models: int = 3,
    altered: float = 0.9,
) -> list[str]:
    rows = [
        ("mean_delta", value, low, high, ""),
        ("kendall_tau_b", tau[0], 0.5, 0.7, tau[1]),
        ("tau_b_resampled", 0.85, *noise, ""),
    ]
    summary = ComparisonSummary.from_rows(
        [
            ("wicked", "letters-5", metric, estimate, a, b, models, 395, 5, why)
            for metric, estimate, a, b, why in rows
        ]
    )
    blank = dict.fromkeys(ComparisonScores.columns(), 0)
    names = {"perturbation": "wicked", "style": "letters", "asking_style": "letters-5"}
    blank |= names | {"n_items": 395, "copies": 5}
    scores = ComparisonScores.from_rows(
        [blank | {"configuration": f"m{k}@letters-5", "model": f"m{k}"} for k in range(models)]
    )
    reach = PerturbationReach("wicked", 395, altered, NO_LABELS)
    return write_headline(scores, summary, PerturbationParams(), reach)


@pytest.mark.parametrize(
    ("metrics", "sentence"),
    [
        (
            (-0.0904, -0.1091, -0.0712),
            "“None of the above” in place of one option costs 3 models 9.0 points on average "
            "[7.1, 10.9] on 395 items (5 copies; letters, 5 demonstrations).",
        ),
        ((0.05, 0.03, 0.07), "gives 3 models 5.0 points more on average [3.0, 7.0]"),
        ((-0.01, -0.03, 0.01), "by −1.0 points on average [−3.0, +1.0] on 395 items"),
        ((-0.01, np.nan, np.nan), "by −1.0 points on average, without an interval, on"),
    ],
)
def test_headline_states_the_cost_with_its_interval(
    metrics: tuple[float, float, float], sentence: str
) -> None:
    cost = headline(*metrics)[0]
    assert sentence in cost
    assert ("no clear difference" in cost) == (metrics[2] == 0.01)


def test_headline_of_one_model_and_of_no_altered_item() -> None:
    assert "costs m0 10.0 points [5.0, 20.0] on" in headline(-0.1, -0.2, -0.05, models=1)[0]
    assert headline(0.0, 0.0, 0.0, altered=0.0)[0].startswith("No item was altered")


def test_order_of_models_is_compared_with_resampled_items() -> None:
    more = headline(-0.1, -0.2, -0.05)[1]
    assert "the order changes more than with another choice of items" in more
    within = headline(-0.1, -0.2, -0.05, noise=(0.6, 1.0))[1]
    assert "the order changes no more than with another choice of items" in within
    few = headline(-0.1, -0.2, -0.05, tau=(np.nan, "2 models; at least 3 are needed"))[1]
    assert few == "The rankings of models are not compared: 2 models; at least 3 are needed."


def test_numbers_are_formatted() -> None:
    assert [points(n) for n in (-0.00004, 0.0904, float("nan"))] == ["0.0", "+9.0", "—"]
    assert joined(["a", "b", "c"]) == "a, b and c"


def test_page_has_all_sections(stage: Any) -> None:
    page = stage.outputs["comparison_report"]
    shown = text(page)
    assert "costs 12 models" in shown
    assert "WiCkeD, Table 1" in shown
    assert "One option replaced, gold option removed" in shown
    assert "One option replaced, gold option kept" in shown
    assert "Unaltered: an option already says none or all of the above" in shown
    assert "Labels of this benchmark: 1." in shown
    assert "perturbation.copies" in shown
    assert page.count("<svg") == 1
    assert "http://" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


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


def test_page_says_that_no_item_was_altered(stage: Any) -> None:
    unaltered = {"altered": False, "reason": "single_best_answer", "removed_choice": None}
    changes = stage.inputs(configurations=(), n=10)["perturbation_changes"]
    outputs = stage.run(
        configurations=stage.panel[:3],
        n=10,
        single_best_answer_ids={"sba": list(stage.items(10)["item_id"]), "other": []},
        perturbation_changes=changes.assign(**unaltered, removed_index=-1, gold_removed=False),
    )
    shown = text(outputs["comparison_report"])
    assert "No item was altered" in shown
    assert "10 items are labelled as single-best-answer items" in shown


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
    assert f"{lost} items without the gold option in at least one copy" in shown
    assert "sba: none reads no labels" in shown


def test_ranks_changes_of_answers_and_choices_of_none_are_those_of_the_tables(stage: Any) -> None:
    outputs = stage.run(configurations=("<b>x</b>@letters-5", "a@letters-5"), n=20)
    shown = text(outputs["comparison_report"])
    plot = outputs["comparison_ranks_plot"]
    assert "(letters, 5 demonstrations)" in plot["layout"]["meta"]["caption"]
    scores = outputs["comparison_scores"].sort_values("rank_original")
    starts = [f"{share:.1%}" for share in scores["accuracy_original"]]
    assert [text.split("  ")[1] for text in plot["layout"]["yaxis"]["ticktext"]] == starts
    row = (
        outputs["comparison_transitions"]
        .query("gold == 'removed' and configuration == 'a@letters-5'")
        .iloc[0]
    )
    changes = ("stayed_right", "became_right", "became_wrong", "stayed_wrong")
    shares = " ".join(f"{row[name]:.1%}" for name in changes)
    assert f"a@letters-5 removed {row['n']} {shares}" in shown
    row = (
        outputs["comparison_none_rates"]
        .query("gold == 'kept' and configuration == 'a@letters-5'")
        .iloc[0]
    )
    share = f"{row['share']:.1%} [{row['low']:.1%}, {row['high']:.1%}]"
    assert f"a@letters-5 kept {row['n']} {row['by_chance']:.1%} {share}" in shown


def notes(copies: dict[str, int], *transforms: dict[str, str], style: str = "letters") -> str:
    """Return the warnings for numbers of copies by perturbation."""
    scores = pd.DataFrame(
        [(name, f"m{k}", number, 10) for name, number in copies.items() for k in range(9)],
        columns=["perturbation", "model", "copies", "n_items"],
    )
    names = scores["model"] + f"@{style}-3"
    scores = scores.assign(style=style, configuration=names, asking_style=f"{style}-3")
    settings = PerturbationParams.model_validate(
        {"name": "cf", "transforms": transforms, "cumulative": len(transforms) > 1}
    )
    unknown = (np.nan, np.nan, np.nan, 9, 10, 1, "few")
    metrics = ("kendall_tau_b", "tau_b_resampled")
    rows = [(name, f"{style}-3", metric, *unknown) for name in copies for metric in metrics]
    summary = ComparisonSummary.from_rows(rows)
    reach = PerturbationReach("cf", 10, 0.0, NO_LABELS)
    written = ComparisonWritten.empty()
    return " ".join(judge_comparison(scores, summary, written, settings, reach)["notes"])


def test_warnings_are_about_the_main_perturbation_and_unlisted_options() -> None:
    shuffled, replaced = {"transform": "shuffle_choices"}, {"transform": "replace_choice"}
    assert "one copy" not in notes({"cf_1": 1, "cf_2": 5}, shuffled, replaced)
    assert "one copy" in notes({"cf_1": 5, "cf_2": 1}, shuffled, replaced)
    warning = "prompts of 9 configurations (cloze) do not list the options"
    assert warning in notes({"cf": 5}, replaced, style="cloze_bytes")
    assert "(cloze)" not in notes({"cf": 5}, replaced)
    assert "(cloze)" not in notes({"cf": 5}, shuffled, style="cloze")
