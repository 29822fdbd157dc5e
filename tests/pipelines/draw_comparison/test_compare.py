"""What a perturbation costs each configuration."""

import numpy as np
import pandas as pd
import pytest

from benchwright.pipelines.draw_comparison.compare import compare_draws
from benchwright.response_matrix import ResponseMatrix

IDS = ("q0", "q1", "q2", "q3")


def matrix(condition: str, **answers: list[float]) -> ResponseMatrix:
    correct = np.array(list(answers.values()), dtype=np.float32).reshape(len(answers), len(IDS))
    return ResponseMatrix.of(tuple(answers), IDS, correct=correct, condition=condition)


def changes(**marks: str) -> pd.DataFrame:
    """By condition a letter per item: `.` a copy, `k` altered, `g` altered and the gold removed."""
    rows = [
        (condition.replace("_", "-"), "item", item, mark in "kg", mark == "g")
        for condition, letters in marks.items()
        for item, mark in zip(IDS, letters, strict=True)
    ]
    columns = ["condition", "role", "item_id", "altered", "gold_removed"]
    return pd.DataFrame(rows, columns=columns)


def items(*passages: str | None) -> pd.DataFrame:
    """Four items with stems of their own, perhaps of shared passages."""
    rows = zip(IDS, passages or [None] * 4, strict=True)
    return pd.DataFrame(
        [(item, passage, f"Question {item}?") for item, passage in rows],
        columns=["item_id", "passage_id", "question"],
    )


APART = items()


def test_accuracies_differences_and_ranks_by_hand() -> None:
    original = matrix("question", a=[1, 1, 1, 0], b=[1, 1, 0, 0])
    drawn = {
        "wicked-0": matrix("wicked-0", a=[1, 0, 1, 0], b=[1, 1, 0, 0]),
        "wicked-1": matrix("wicked-1", a=[0, 0, 1, 0], b=[1, 1, 0, 1]),
    }
    marks = changes(wicked_0="kg..", wicked_1="g.k.")
    scores, _ = compare_draws(original, drawn, marks, APART)
    a, b = scores.set_index("configuration").loc[["a", "b"]].to_dict("records")
    assert (a["n_items"], a["draws"]) == (4, 2)
    assert (a["accuracy_original"], a["accuracy_mean"]) == (0.75, 0.375)
    assert a["accuracy_sd"] == pytest.approx(np.std([0.5, 0.25], ddof=1))
    assert (a["delta"], b["delta"]) == (-0.375, 0.125)
    # Differences by item, over the draws: −.5, −1, 0, 0.
    assert a["delta_se"] == pytest.approx(np.std([-0.5, -1, 0, 0], ddof=1) / 2)
    assert a["accuracy_altered"] == pytest.approx(2 / 4)  # q0 right, q1 wrong, q0 wrong, q2 right
    assert a["accuracy_altered_original"] == 1
    assert a["accuracy_gold_removed"] == 0
    assert (a["rank_original"], a["rank_mean"]) == (1, 2)


def test_what_became_of_answers_adds_up_apart_for_gold_kept_and_removed() -> None:
    original = matrix("question", a=[1, 1, 0, 0])
    drawn = {"wicked-0": matrix("wicked-0", a=[1, 0, 1, 0])}
    _, seen = compare_draws(original, drawn, changes(wicked_0="kkkg"), APART)
    kept, removed = seen.sort_values("gold").to_dict("records")
    shares = ["stayed_right", "became_wrong", "became_right", "stayed_wrong"]
    assert [kept[name] for name in shares] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert [removed[name] for name in shares] == [0, 0, 0, 1]
    assert (kept["n"], removed["n"]) == (3, 1)


def test_only_items_that_all_answered_throughout_are_compared() -> None:
    original = matrix("question", a=[1, 1, np.nan, 0], b=[1, 0, 0, 0], silent=[np.nan] * 4)
    drawn = {"wicked-0": matrix("wicked-0", a=[1, 1, 1, 1], b=[np.nan, 0, 0, 1], only=[1] * 4)}
    scores, _ = compare_draws(original, drawn, changes(wicked_0="...."), APART)
    assert scores["configuration"].tolist() == ["a", "b"]
    assert scores["n_items"].tolist() == [2, 2]  # q1 and q3
    assert scores["accuracy_original"].tolist() == [0.5, 0]
    assert scores["accuracy_altered"].isna().all()
    assert scores["accuracy_sd"].isna().all()  # one draw has no spread


def test_perturbations_are_kept_apart_and_draws_counted() -> None:
    same = {"a": [1.0, 0.0, 1.0, 0.0]}
    drawn = {name: matrix(name, **same) for name in ("wicked-0", "wicked-1", "shuffled-0")}
    marks = changes(wicked_0="kkkk", wicked_1="kkkk", shuffled_0="kkkk")
    scores, _ = compare_draws(matrix("question", **same), drawn, marks, APART)
    assert scores.set_index("perturbation")["draws"].to_dict() == {"shuffled": 1, "wicked": 2}
    assert (scores["delta"] == 0).all()


def test_items_of_one_passage_are_one_draw_in_the_standard_error() -> None:
    original = matrix("question", a=[1, 1, 0, 0])
    drawn = {"wicked-0": matrix("wicked-0", a=[0, 0, 0, 0])}
    marks = changes(wicked_0="kkkk")
    apart, _ = compare_draws(original, drawn, marks, APART)
    together, _ = compare_draws(original, drawn, marks, items("p", "p", "r", "r"))
    assert together["delta_se"].iloc[0] > 1.2 * apart["delta_se"].iloc[0]


def test_nothing_to_compare_gives_empty_tables() -> None:
    nobody = ResponseMatrix.empty(IDS)
    scores, transitions = compare_draws(
        nobody, {"wicked-0": nobody}, changes(wicked_0="...."), APART
    )
    assert scores.empty
    assert transitions.empty
    assert compare_draws(nobody, {}, changes(), APART)[0].empty


def test_items_that_lost_their_answer_unchecked_are_counted() -> None:
    from benchwright.pipelines.draw_comparison.compare import collect_draw_metrics

    original = matrix("question", a=[1, 1, 1, 0])
    drawn = {"wicked-0": matrix("wicked-0", a=[1, 0, 1, 0])}
    marks = changes(wicked_0="ggk.")
    scores, _ = compare_draws(original, drawn, marks, APART)
    checked = {"single": ["q3"], "several": ["q1"]}
    figures = collect_draw_metrics(scores, marks, checked)
    assert figures["gold_removed_unchecked"] == 1  # q0; q1 was read and found without
    assert (figures["share_altered"], figures["share_gold_removed"]) == (0.75, 0.5)
    assert figures["delta.wicked.a"] == -0.25
    assert "accuracy_sd.wicked.a" not in figures  # one draw has none


def test_two_transforms_of_an_item_are_one_change() -> None:
    from benchwright.pipelines.draw_comparison.compare import collect_draw_metrics

    first, second = changes(wicked_0="g..."), changes(wicked_0="kk..")
    both = pd.concat([first, second])
    nobody = {"single": [], "several": []}
    figures = collect_draw_metrics(pd.DataFrame(), both, nobody)
    assert (figures["share_altered"], figures["share_gold_removed"]) == (0.5, 0.25)
    original = matrix("question", a=[1, 1, 1, 0])
    drawn = {"wicked-0": matrix("wicked-0", a=[0, 1, 1, 0])}
    _, seen = compare_draws(original, drawn, both, APART)
    assert seen.set_index("gold")["n"].to_dict() == {"kept": 1, "removed": 1}
