"""Scores of the comparison against values computed by hand."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.wicked.comparison.compared_responses import (
    ComparedResponses,
    align_responses,
    asking_styles,
)
from benchwright.methods.wicked.comparison.coverage import (
    collect_comparison_metrics,
    count_unchecked,
)
from benchwright.methods.wicked.comparison.score_comparison import compare_scores, follow_responses
from benchwright.params.evaluation import EvaluationParams
from benchwright.tables.responses import Models, Responses
from benchwright.tables.wicked import (
    ComparisonScores,
    ComparisonSummary,
)

IDS = ("q0", "q1", "q2", "q3")
NO_RESPONSES = Responses.empty()
NO_MODELS = Models.empty()
FEW = EvaluationParams(bootstrap_samples=50)


def matrix(condition: str, *, prediction: Any = None, **answers: list[float]) -> ResponseMatrix:
    correct = np.array(list(answers.values()), dtype=np.float32).reshape(len(answers), len(IDS))
    names = tuple(name.replace("__", "@").replace("_", "-") for name in answers)
    chosen = None if prediction is None else np.array(prediction, dtype=np.int16)
    return ResponseMatrix.of(names, IDS, correct=correct, prediction=chosen, condition=condition)


def changes(**marks: str) -> pd.DataFrame:
    """By condition, a letter per item: `.` unaltered, `k` altered, `g` without its gold option."""
    rows = [
        (condition.replace("_", "-"), "item", item, mark in "kg", (mark in "kg") - 1, mark == "g")
        for condition, letters in marks.items()
        for item, mark in zip(IDS, letters, strict=True)
    ]
    columns = ["condition", "role", "item_id", "altered", "removed_index", "gold_removed"]
    return pd.DataFrame(rows, columns=columns)


def perturbed_items(*conditions: str) -> pd.DataFrame:
    """Every item with "None of the above" as its last of three options."""
    rows = [
        (condition, "item", item, ["one", "two", "None of the above"])
        for condition in conditions
        for item in IDS
    ]
    return pd.DataFrame(rows, columns=["condition", "role", "item_id", "choices"])


def items(*passages: str | None) -> pd.DataFrame:
    """Four items with different stems and optional passages."""
    rows = zip(IDS, passages or [None] * 4, strict=True)
    return pd.DataFrame(
        [(item, passage, f"Question {item}?", ["one", "two", "three"]) for item, passage in rows],
        columns=["item_id", "passage_id", "question", "choices"],
    )


APART = items()


def align(
    original: ResponseMatrix,
    perturbed: dict[str, ResponseMatrix],
    marks: pd.DataFrame,
    rows: pd.DataFrame = APART,
    responses: pd.DataFrame = NO_RESPONSES,
    live: pd.DataFrame = NO_RESPONSES,
) -> dict[str, ComparedResponses]:
    return align_responses(
        original, perturbed, responses, live, marks, perturbed_items(*perturbed), rows
    )


def compare(*args: Any, **kwargs: Any) -> pd.DataFrame:
    return compare_scores(align(*args, **kwargs), FEW, 0)[0]


def test_accuracies_differences_and_ranks_equal_those_by_hand() -> None:
    original = matrix("question", a=[1, 1, 1, 0], b=[1, 1, 0, 0])
    perturbed = {
        "wicked-0": matrix("wicked-0", a=[1, 0, 1, 0], b=[1, 1, 0, 0]),
        "wicked-1": matrix("wicked-1", a=[0, 0, 1, 0], b=[1, 1, 0, 1]),
    }
    marks = changes(wicked_0="kg..", wicked_1="g.k.")
    scores = compare(original, perturbed, marks)
    a, b = scores.set_index("configuration").loc[["a", "b"]].to_dict("records")
    assert (a["n_items"], a["copies"]) == (4, 2)
    assert (a["accuracy_original"], a["accuracy_mean"]) == (0.75, 0.375)
    assert a["accuracy_sd"] == pytest.approx(np.std([0.5, 0.25], ddof=1))
    assert (a["delta"], b["delta"]) == (-0.375, 0.125)
    # Differences by item, over the copies: −.5, −1, 0, 0.
    error = np.std([-0.5, -1, 0, 0], ddof=1) / 2
    assert a["delta_se"] == pytest.approx(error)
    assert a["delta_low"] == pytest.approx(-0.375 - 3.1824463 * error)  # t with 3 degrees
    assert a["accuracy_altered"] == pytest.approx(2 / 4)  # q0 right, q1 wrong, q0 wrong, q2 right
    assert a["accuracy_altered_original"] == 1
    assert a["accuracy_gold_removed"] == 0
    assert (a["rank_original"], a["rank_mean"]) == (1, 2)


def test_the_mean_over_models_has_an_interval_over_items() -> None:
    original = matrix("question", a=[1, 1, 1, 0], b=[1, 1, 0, 0])
    perturbed = {"wicked-0": matrix("wicked-0", a=[0, 0, 1, 0], b=[0, 1, 0, 0])}
    _, summary = compare_scores(align(original, perturbed, changes(wicked_0="kkkk")), FEW, 0)
    result = summary.set_index("metric").loc["mean_delta"]
    by_item = np.array([-1, -0.5, 0, 0])
    assert result["value"] == by_item.mean()
    reach = 3.1824463 * by_item.std(ddof=1) / 2
    assert result["high"] == pytest.approx(by_item.mean() + reach)
    assert result["n_models"] == 2
    tau = summary.set_index("metric").loc["kendall_tau_b"]
    assert np.isnan(tau["value"])
    assert tau["reason"] == "2 models; at least 3 are needed"


def test_transitions_add_up_for_gold_kept_and_removed() -> None:
    original = matrix("question", a=[1, 1, 0, 0])
    perturbed = {"wicked-0": matrix("wicked-0", a=[1, 0, 1, 0])}
    seen, _ = follow_responses(align(original, perturbed, changes(wicked_0="kkkg")), NO_MODELS)
    kept, removed = seen.sort_values("gold").to_dict("records")
    shares = ["stayed_right", "became_wrong", "became_right", "stayed_wrong"]
    assert [kept[name] for name in shares] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert [removed[name] for name in shares] == [0, 0, 0, 1]
    assert (kept["n"], removed["n"]) == (3, 1)


def test_none_rates_are_counted_for_gold_kept_and_removed() -> None:
    original = matrix("question", a=[1, 1, 0, 0])
    perturbed = {"wicked-0": matrix("wicked-0", a=[1, 0, 0, 0], prediction=[[2, 2, 0, 2]])}
    # q3 is unaltered: its last option does not count as added.
    _, rates = follow_responses(align(original, perturbed, changes(wicked_0="gkk.")), NO_MODELS)
    kept, removed = rates.sort_values("gold").to_dict("records")
    assert (kept["picked"], kept["n"], kept["share"]) == (1, 2, 0.5)
    assert (removed["picked"], removed["n"], removed["share"]) == (1, 1, 1)
    assert 0 < kept["low"] < 0.5 < kept["high"] < 1
    assert kept["by_chance"] == pytest.approx(1 / 3)


def test_only_items_with_all_answers_are_compared() -> None:
    original = matrix("question", a=[1, 1, np.nan, 0], b=[1, 0, 0, 0], silent=[np.nan] * 4)
    perturbed = {"wicked-0": matrix("wicked-0", a=[1, 1, 1, 1], b=[np.nan, 0, 0, 1], only=[1] * 4)}
    scores = compare(original, perturbed, changes(wicked_0="...."))
    assert scores["configuration"].tolist() == ["a", "b"]
    assert scores["n_items"].tolist() == [2, 2]  # q1 and q3
    assert scores["accuracy_original"].tolist() == [0.5, 0]
    assert scores["accuracy_altered"].isna().all()
    assert scores["accuracy_sd"].isna().all()  # one copy has no spread


def test_items_of_one_passage_form_a_cluster_in_the_standard_error() -> None:
    original = matrix("question", a=[1, 1, 0, 0])
    perturbed = {"wicked-0": matrix("wicked-0", a=[0, 0, 0, 0])}
    marks = changes(wicked_0="kkkk")
    apart = compare(original, perturbed, marks)
    together = compare(original, perturbed, marks, items("p", "p", "r", "r"))
    assert together["delta_se"].iloc[0] > 1.2 * apart["delta_se"].iloc[0]


def test_failed_extractions_count_as_wrong(stage: Any) -> None:
    name = "m@generate-0"
    original = matrix("question", m__generate_0=[1, np.nan, 1, 1])
    perturbed = {"wicked-0": matrix("wicked-0", m__generate_0=[1, 1, np.nan, np.nan])}
    before = stage.answers((name,), IDS, "question")
    before["extraction"] = ["ok", "failed", "ok", "ok"]
    after = stage.answers((name,), IDS, "wicked-0")
    after["extraction"] = ["ok", "ok", "failed", "too_long"]
    marks = changes(wicked_0="kkkk")
    seen = align(original, perturbed, marks, responses=before, live=after)["wicked"]
    assert seen.item_ids == ("q0", "q1", "q2")  # a prompt that did not fit is no answer
    assert seen.original.tolist() == [[1, 0, 1]]
    assert seen.perturbed.tolist() == [[[1, 1, 0]]]
    assert seen.failed_original.tolist() == [[False, True, False]]
    assert seen.failed_perturbed.tolist() == [[[False, False, True]]]


def test_models_are_ranked_within_their_asking_style() -> None:
    names = ("a@cloze-3", "a@cloze_bytes-3", "b@cloze-3", "b@letters-5", "c@cloze-3")
    ways = asking_styles(names)
    assert list(ways) == ["cloze-3", "letters-5", "cloze_bytes-3"]
    assert ways["cloze-3"] == [0, 2, 4]
    assert asking_styles(("plain", "other")) == {"": [0, 1]}
    assert asking_styles(("a@letters-5", "a@letters-0")) == {"letters-5": [0], "letters-0": [1]}


def metrics(scores: pd.DataFrame, marks: pd.DataFrame, known: dict[str, list[str]]) -> Any:
    return collect_comparison_metrics(
        scores,
        ComparisonSummary.empty(),
        marks,
        known,
    )


def test_unlabelled_items_without_gold_option_are_counted() -> None:
    original = matrix("question", a=[1, 1, 1, 0])
    perturbed = {"wicked-0": matrix("wicked-0", a=[1, 0, 1, 0])}
    marks = changes(wicked_0="ggk.")
    scores = compare(original, perturbed, marks)
    checked = {"sba": ["q3"], "other": ["q1"]}
    results = metrics(scores, marks, checked)
    assert results["gold_removed_unchecked"] == 1  # q0; q1 was read and found without
    assert (results["share_altered"], results["share_gold_removed"]) == (0.75, 0.5)
    assert results["delta.wicked.a"] == -0.25
    assert "accuracy_sd.wicked.a" not in results  # one copy has none
    counts = count_unchecked(marks, checked, set(IDS))
    assert (counts.lost, counts.lost_unchecked) == (2, 1)
    assert (counts.sba, counts.other, counts.unchecked) == (1, 1, 2)


def test_two_transforms_of_an_item_count_once() -> None:
    first, second = changes(wicked_0="g..."), changes(wicked_0="kk..")
    both = pd.concat([first, second])
    results = metrics(ComparisonScores.empty(), both, {"sba": [], "other": []})
    assert (results["share_altered"], results["share_gold_removed"]) == (0.5, 0.25)
    original = matrix("question", a=[1, 1, 1, 0])
    perturbed = {"wicked-0": matrix("wicked-0", a=[0, 1, 1, 0])}
    seen, _ = follow_responses(align(original, perturbed, both), NO_MODELS)
    assert seen.set_index("gold")["n"].to_dict() == {"kept": 1, "removed": 1}
