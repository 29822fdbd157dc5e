"""Recorded answers to copies: they are never taken for answers to the items."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from answers.imported_rows import import_as_rows
from answers.lm_eval_examples import TIME, counts, load, scored, write_log
from benchwright.answers.import_responses import Imported
from benchwright.answers.response_matrices import (
    build_perturbed_matrices,
    build_response_matrices,
)
from benchwright.params.perturbation import PerturbationParams
from benchwright.tables.items import Demonstrations
from benchwright.tables.responses import Calibration, Responses
from benchwright.tables.wicked import PerturbedItems
from benchwright.transforms.compose import perturb

Make = Callable[..., Any]
NAMES = [f"q{n}" for n in range(8)]


@pytest.fixture
def items(make_items: Make) -> pd.DataFrame:
    return pd.DataFrame(make_items(*NAMES))


def copies_of(items: pd.DataFrame, seed: int = 0, **params: Any) -> pd.DataFrame:
    given = PerturbationParams.model_validate({"copies": 2, **params})
    return pd.DataFrame(
        PerturbedItems.validate(perturb(items, items.iloc[:0], given, seed).perturbed_items)
    )


def doc(row: dict[str, Any], condition: str | None) -> dict[str, Any]:
    """A row as an exported task has it; without a condition, as an original has it."""
    names = ("item_id", "content_hash", "subject", "question", "answer")
    marked = {} if condition is None else {"condition": condition}
    return {name: row[name] for name in names} | {"choices": list(row["choices"])} | marked


def log_of(rows: Sequence[dict[str, Any]], condition: str | None, best: int) -> list[Any]:
    """A log with letters; the model always prefers the option at `best`."""
    likelihoods = [-1.0 if option == best else -2.0 - option for option in range(4)]
    return [
        scored(i, doc(row, condition), [" A", " B", " C", " D"], likelihoods, row["answer"])
        for i, row in enumerate(rows)
    ]


def rows_of(perturbed_items: pd.DataFrame, condition: str) -> list[dict[str, Any]]:
    return perturbed_items[perturbed_items["condition"] == condition].to_dict("records")


def imported(folder: Path, items: pd.DataFrame, perturbed_items: pd.DataFrame | None) -> Imported:
    return import_as_rows(load(folder), items, Demonstrations.empty(), perturbed_items)


def test_responses_to_a_copy_get_its_condition_and_gold(
    tmp_path: Path, items: pd.DataFrame
) -> None:
    perturbed_items = copies_of(items)
    write_log(tmp_path / "0", log_of(items.to_dict("records"), None, best=1), "original")
    for name in ("wicked-1", "wicked-2"):
        write_log(tmp_path / name, log_of(rows_of(perturbed_items, name), name, best=3), name)
    result = imported(tmp_path, items, perturbed_items)
    report = result.import_report
    assert report["joined_by_id"].tolist() == [8, 8, 8]
    assert report["not_joined"].sum() == report["contradicting"].sum() == 0
    responses = result.imported_responses
    assert responses.groupby("condition").size().to_dict() == {
        "question": 8,
        "wicked-1": 8,
        "wicked-2": 8,
    }
    given = (responses, result.wide_matrices, Calibration.empty(), items)
    before = build_response_matrices(Responses.empty(), *given)
    assert before.response_matrix.correct.tolist() == [[1] * 8]  # the gold of every item is 1
    assert set(before.responses["condition"]) == {"question"}
    matrices = build_perturbed_matrices(Responses.empty(), *given, perturbed_items)
    for name in ("wicked-1", "wicked-2"):
        expected = [float(row["answer"] == 3) for row in rows_of(perturbed_items, name)]
        assert matrices[name].models == ("org/model-7b@letters-5",)
        assert matrices[name].correct.tolist() == [expected]
        assert 0 < sum(expected) < 8


def test_unknown_copies_are_ignored_and_reported(tmp_path: Path, items: pd.DataFrame) -> None:
    rows = rows_of(copies_of(items), "wicked-1")
    write_log(tmp_path, log_of(rows, "wicked-9", best=3))
    for perturbed_items in (None, copies_of(items)):
        result = imported(tmp_path, items, perturbed_items)
        assert result.imported_responses.empty
        assert counts(result) == {"rows": 8, "not_joined": 8}
        detail = result.import_report["detail"].iloc[0]
        assert "unknown condition wicked-9" in detail


def test_unaltered_items_are_answered_in_both_conditions(tmp_path: Path, make_items: Make) -> None:
    items = make_items("q1", q2=["x", "None of the above"])  # q2 stays as it is
    perturbed_items = copies_of(items, copies=1)
    assert rows_of(perturbed_items, "wicked-1")[1]["content_hash"] == items["content_hash"].iloc[1]
    copy = rows_of(perturbed_items, "wicked-1")[1]
    lines = [scored(0, doc(copy, c), [" A", " B"], [-1, -2], 0) for c in (None, "wicked-1")]
    write_log(tmp_path, [lines[0]], "original")
    write_log(tmp_path, [lines[1]], "wicked_1")
    result = imported(tmp_path, items, perturbed_items)
    actual = result.imported_responses[["item_id", "condition"]].to_numpy().tolist()
    assert actual == [["q2", "question"], ["q2", "wicked-1"]]


def test_copy_with_another_seed_is_ignored_entirely(tmp_path: Path, items: pd.DataFrame) -> None:
    copies, other_copies = copies_of(items, seed=0), copies_of(items, seed=5)
    rows, theirs = rows_of(copies, "wicked-1"), rows_of(other_copies, "wicked-1")
    same = [a["content_hash"] == b["content_hash"] for a, b in zip(rows, theirs, strict=True)]
    assert 0 < sum(same) < 8  # some agree by chance, and would be a choice of items
    write_log(tmp_path, log_of(theirs, "wicked-1", best=3))
    result = imported(tmp_path, items, copies)
    assert result.imported_responses.empty
    assert counts(result) == {"rows": 8, "not_joined": 8}
    assert "texts differ from those of wicked-1" in result.import_report["detail"].iloc[0]


def test_logs_of_one_run_are_compared_together(tmp_path: Path, items: pd.DataFrame) -> None:
    copies, other_copies = copies_of(items, seed=0), copies_of(items, seed=5)
    pairs = list(zip(rows_of(copies, "wicked-1"), rows_of(other_copies, "wicked-1"), strict=True))
    same = [theirs for ours, theirs in pairs if ours["content_hash"] == theirs["content_hash"]]
    unlike = [theirs for ours, theirs in pairs if ours["content_hash"] != theirs["content_hash"]]
    write_log(tmp_path / "m", log_of(same, "wicked-1", best=3), "law")
    write_log(tmp_path / "m", log_of(unlike, "wicked-1", best=3), "anatomy")
    assert imported(tmp_path, items, copies).imported_responses.empty
    later = TIME.replace("22-25", "23-25")  # a run of its own, with this run's copy
    write_log(tmp_path / "m", log_of(rows_of(copies, "wicked-1"), "wicked-1", 3), "law", time=later)
    assert len(imported(tmp_path, items, copies).imported_responses) == 8


def test_a_few_changed_texts_do_not_exclude_the_copy(tmp_path: Path, make_items: Make) -> None:
    items = make_items(*(f"q{n}" for n in range(100)))
    perturbed_items = copies_of(items, copies=1)
    rows = rows_of(perturbed_items, "wicked-1")
    rows[7] = rows[7] | {"content_hash": "0" * 32, "question": "What was it?"}
    write_log(tmp_path, log_of(rows, "wicked-1", best=3))
    result = imported(tmp_path, items, perturbed_items)
    assert counts(result) == {"rows": 100, "joined_by_id": 99, "not_joined": 1}
    assert "q7" not in set(result.imported_responses["item_id"])


@pytest.mark.parametrize("seed", [0, 5])
def test_configured_condition_of_a_log_is_used(
    tmp_path: Path, items: pd.DataFrame, seed: int
) -> None:
    lines = log_of(rows_of(copies_of(items, seed=seed), "wicked-2"), None, best=3)
    write_log(tmp_path, lines).rename(tmp_path / "named.jsonl")
    named = {"file": "named.jsonl", "layout": "log", "model": "m", "condition": "wicked-2"}
    files = load(tmp_path, named)
    result = import_as_rows(files, items, Demonstrations.empty(), copies_of(items))
    if seed == 0:
        assert set(result.imported_responses["condition"]) == {"wicked-2"}
        assert counts(result) == {"rows": 8, "joined_by_id": 8}
    else:
        assert counts(result) == {"rows": 8, "not_joined": 8}


def test_logs_without_conditions_join_to_the_originals(tmp_path: Path, items: pd.DataFrame) -> None:
    rows = items.to_dict("records")
    write_log(tmp_path, log_of(rows, None, best=1), "benchwright_original")
    plain = [
        {"question": row["question"], "choices": list(row["choices"]), "condition": "chronic"}
        for row in rows
    ]
    lines = [
        scored(i, d, [" A", " B", " C", " D"], [-4, -1, -3, -5], 1) for i, d in enumerate(plain)
    ]
    write_log(tmp_path, lines, "stock", time=TIME.replace("2026", "2027"))
    for perturbed_items in (None, copies_of(items)):
        result = imported(tmp_path, items, perturbed_items)
        assert set(result.imported_responses["condition"]) == {"question"}
        assert result.import_report["not_joined"].tolist() == [0, 0]
        # An answer twice over: the older log's counts.
        assert result.import_report["joined_by_id"].tolist() == [8, 0]


def test_tidy_rows_have_conditions(make_file: Make, items: pd.DataFrame) -> None:
    perturbed_items = copies_of(items)
    perturbed = rows_of(perturbed_items, "wicked-1")
    cells = [
        {"item_id": row["item_id"], "model": "m", "condition": condition, "prediction": "D"}
        for row in perturbed
        for condition in ("wicked-1", "wicked-9", None)
    ]
    file = make_file(pa.Table.from_pylist(cells))
    result = import_as_rows({file.name: file}, items, Demonstrations.empty(), perturbed_items)
    assert counts(result) == {"rows": 24, "joined_by_id": 16, "not_joined": 8}
    assert "unknown condition wicked-9" in result.import_report["detail"].iloc[0]
    right = result.imported_responses.set_index(["condition", "item_id"])["correct"]
    assert [right["wicked-1", row["item_id"]] for row in perturbed] == [
        float(row["answer"] == 3) for row in perturbed
    ]
    assert right["question"].tolist() == [0.0] * 8


@pytest.mark.parametrize("seed", [0, 5])
def test_tidy_texts_must_match_the_copy(make_file: Make, items: pd.DataFrame, seed: int) -> None:
    perturbed_items = copies_of(items)
    cells = [
        {
            "item_id": row["item_id"],
            "model": "m",
            "condition": "wicked-1",
            "correct": 1.0,
            "content_hash": row["content_hash"],
        }
        for row in rows_of(copies_of(items, seed=seed), "wicked-1")
    ]
    file = make_file(pa.Table.from_pylist(cells))
    result = import_as_rows({file.name: file}, items, Demonstrations.empty(), perturbed_items)
    if seed == 0:
        assert counts(result) == {"rows": 8, "joined_by_id": 8}
    else:
        assert counts(result) == {"rows": 8, "not_joined": 8}
        assert "texts differ from those of wicked-1" in result.import_report["detail"].iloc[0]


def test_wide_file_of_a_copy_is_scored_with_its_gold(make_file: Make, items: pd.DataFrame) -> None:
    perturbed_items = copies_of(items)
    cells = {"item_id": NAMES, "m": ["D"] * 8}
    for condition in ("wicked-1", "wicked-9"):
        file = make_file(cells, values="letters", layout="wide", condition=condition)
        result = import_as_rows({file.name: file}, items, Demonstrations.empty(), perturbed_items)
        if condition == "wicked-9":
            assert result.wide_matrices == []
            assert counts(result) == {"rows": 8, "not_joined": 8}
            continue
        (matrix,) = result.wide_matrices
        expected = [float(row["answer"] == 3) for row in rows_of(perturbed_items, condition)]
        assert (matrix.condition, matrix.correct.tolist()) == (condition, [expected])


def test_wide_file_of_a_copy_does_not_affect_the_originals(
    make_file: Make, items: pd.DataFrame
) -> None:
    perturbed_items = copies_of(items)
    file = make_file({"item_id": NAMES, "m": [1] * 8}, layout="wide", condition="wicked-1")
    result = import_as_rows({file.name: file}, items, Demonstrations.empty(), perturbed_items)
    given = (result.imported_responses, result.wide_matrices, Calibration.empty(), items)
    matrices = build_response_matrices(Responses.empty(), *given)
    assert matrices.answer_coverage.empty
    perturbed = build_perturbed_matrices(Responses.empty(), *given, perturbed_items)
    assert perturbed["wicked-1"].correct.tolist() == [[1.0] * 8]
    assert perturbed["wicked-2"].models == ()


@pytest.mark.parametrize("condition", ["choices_only", "question_only"])
def test_other_conditions_are_not_copies(
    make_file: Make, items: pd.DataFrame, condition: str
) -> None:
    cells = {"item_id": NAMES, "model": ["m"] * 8, "correct": [1.0] * 8}
    file = make_file(cells, condition=condition)
    for perturbed_items in (None, copies_of(items)):
        result = import_as_rows({file.name: file}, items, Demonstrations.empty(), perturbed_items)
        assert result.imported_responses["condition"].tolist() == [condition] * 8
