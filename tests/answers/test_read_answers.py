"""Responses read from files of every kind, without a benchmark."""

import json
import sys
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import pytest

from benchwright.answers.answer_files import Choice
from benchwright.answers.read_answers import read_answers
from benchwright.answers.read_logs import read_logs
from benchwright.answers.table import Answers, State, select_answered
from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.datasets.response_matrix import ResponseMatrixDataset

VALUES = np.array([[1, 0, 1], [0, 0.5, np.nan]], dtype=np.float32)
MODELS, IDS = ("ann", "bob"), ("q/2", "q/9", "q/10")


def items_of(answers: Answers, state: State) -> dict[str, set[str]]:
    """Return the items in a state by model."""
    found = {}
    for model, states in zip(answers.models, answers.states(), strict=True):
        found[model] = {
            item for item, s in zip(answers.item_ids, states, strict=True) if s == state
        }
    return {model: items for model, items in found.items() if items}


def tidy() -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"item_id": item, "model": model, "correct": VALUES[i, j]}
            for i, model in enumerate(MODELS)
            for j, item in enumerate(IDS)
            if not np.isnan(VALUES[i, j])
        ]
    )


def sample(doc_id: int, acc: float, **doc: Any) -> dict[str, Any]:
    return {
        "doc_id": doc_id,
        "doc": doc,
        "target": "0" if acc else "1",
        "arguments": {
            "gen_args_0": {"arg_0": "Q", "arg_1": " A"},
            "gen_args_1": {"arg_0": "Q", "arg_1": " B"},
        },
        "resps": [[["-1.0", "False"]], [["-2.0", "False"]]],
        "filtered_resps": [["-1.0", "False"], ["-2.0", "False"]],
        "filter": "none",
        "acc": acc,
    }


def log(folder: Path, task: str, model: str, *samples: dict[str, Any], time: str = "00") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stamp = f"2026-11-20T22-25-{time}.198528"
    text = "".join(json.dumps(sample) + "\n" for sample in samples)
    (folder / f"samples_{task}_{stamp}.jsonl").write_text(text)
    (folder / f"results_{stamp}.json").write_text(json.dumps({"model_name": model}))


@pytest.mark.parametrize("kind", ["tidy.csv", "tidy.parquet", "wide.csv", "across.csv.gz", "saved"])
def test_all_table_formats_give_the_same_responses(kind: str, tmp_path: Path) -> None:
    file = tmp_path / kind
    if kind == "tidy.csv":
        tidy().to_csv(file, index=False)
    elif kind == "tidy.parquet":
        tidy().to_parquet(file)
    elif kind == "wide.csv":
        frame = pd.DataFrame(VALUES.T, columns=list(MODELS))
        frame.insert(0, "item_id", IDS)
        frame.to_csv(file, index=False)
    elif kind == "across.csv.gz":
        frame = pd.DataFrame(VALUES, columns=list(IDS))
        frame.insert(0, "model", MODELS)
        frame.to_csv(file, index=False)
    else:
        file = tmp_path / "response_matrix.parquet"
        order = [2, 0, 1]
        matrix = ResponseMatrix.of(MODELS, tuple(IDS[i] for i in order), correct=VALUES[:, order])
        ResponseMatrixDataset(filepath=str(file)).save(matrix)
    result = read_answers([file])
    assert (result.models, result.item_ids, result.notes) == (MODELS, IDS, ())
    np.testing.assert_array_equal(result.correct, VALUES)


@pytest.mark.parametrize("name", ["item_id", "item", "id"])
def test_a_table_without_models_is_one_named_by_its_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "ann.csv").write_text(f"{name},correct\nq1,1\nq2,0\n")
    (tmp_path / "both.csv").write_text(f"{name},model,correct\nq1,bob,1\nq2,bob,0\n")
    for file, model in (("ann", "ann"), ("both", "bob")):
        known = read_answers([tmp_path / f"{file}.csv"])
        assert (known.models, known.item_ids) == ((model,), ("q1", "q2"))
        assert known.correct.tolist() == [[1, 0]]


def test_items_of_logs_have_exported_ids_or_task_and_row(tmp_path: Path) -> None:
    ours = sample(0, 1.0, item_id="q/2", question="Why?", choices=["a", "b"])
    other = sample(7, 0.0, question="How?", choices={"text": ["c", "d"]})
    drawn = sample(1, 1.0, item_id="q/9", condition="wicked-1")
    log(tmp_path / "m", "arc_easy", "org/m", ours, other, drawn)
    result = read_answers([tmp_path])
    assert result.models == ("org/m",)
    assert result.item_ids == ("arc_easy/7", "q/2")
    assert result.correct.tolist() == [[0, 1]]
    assert result.items is not None
    texts = dict(zip(result.items["item_id"], result.items["question"], strict=True))
    assert texts == {"q/2": "Why?", "arc_easy/7": "How?"}
    (note,) = result.notes
    assert "1 not joined, e.g. doc 1" in note


def test_first_of_duplicate_responses_counts_with_a_note(tmp_path: Path) -> None:
    log(tmp_path / "m", "t", "m", sample(0, 1.0), sample(1, 1.0), time="01")
    log(tmp_path / "m", "t", "m", sample(0, 0.0), sample(1, 1.0), time="02")
    result = read_answers([tmp_path])
    assert result.correct.tolist() == [[1, 1]]
    (note,) = result.notes
    assert "2 duplicates of an earlier file" in note
    assert "1 different in an earlier file" in note


def test_metric_and_filter_are_chosen(tmp_path: Path) -> None:
    rows = [sample(n, 1.0) | {"filter": f} for f in ("strict", "last") for n in range(2)]
    rows[2] |= {"acc": 0.0, "f1": 0.25}
    log(tmp_path, "t", "m", *rows)
    first = read_answers([tmp_path])
    assert first.correct.tolist() == [[1, 1]]
    assert "acc,strict counts, the log's first, beside acc,last" in first.notes[0]
    with pytest.raises(InputError, match=r"--metric bleu: no answers have it; there is acc"):
        read_answers([tmp_path], Choice(metric=("bleu",)))
    assert read_answers([tmp_path], Choice(filter=("last",))).correct.tolist() == [[0, 1]]
    graded = read_answers([tmp_path], Choice(metric=("f1",)))
    assert graded.correct[0, 0] == 0.25
    assert [*items_of(graded, State.MISSING).values()] == [{"t/1"}]


def test_duplicate_rows_of_a_table_are_reported(tmp_path: Path) -> None:
    twice = pd.concat([tidy(), tidy().iloc[:1].assign(correct=0.0)])
    twice.to_csv(tmp_path / "t.csv", index=False)
    result = read_answers([tmp_path / "t.csv"])
    np.testing.assert_array_equal(result.correct, VALUES)
    assert len(result.notes) == 1
    assert "t.csv: 1 duplicates" in result.notes[0]
    assert result.disputed is not None
    assert np.argwhere(result.disputed).tolist() == [[0, 0]]


def test_empty_cells_are_missing_and_unreadable_ones_are_wrong(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("item_id,model,score\na,m,1\nb,m,\nc,m,error\nd,m,nan\n")
    result = read_answers([file])
    np.testing.assert_array_equal(result.correct, [[1, np.nan, 0, np.nan]])
    assert items_of(result, State.MISSING) == {"m": {"b", "d"}}
    assert items_of(result, State.UNREAD) == {"m": {"c"}}
    assert "(expected 0–1), e.g. row 3, column 'score': 'error'; 2 dropped" in result.notes[0]
    file.write_text("item_id,m\na,A\nb,?\n")
    with pytest.raises(InputError, match=r"got 'A' in row 1; .*; letters are marked by"):
        read_answers([file])


def test_prompts_of_one_model_are_told_apart_where_they_asked_the_same_items(
    tmp_path: Path,
) -> None:
    rows = [("a", 0, 1), ("b", 0, 0), ("a", 5, 0), ("b", 5, 1)]
    frame = pd.DataFrame(rows, columns=["item_id", "shots", "correct"]).assign(model="m")
    frame.to_csv(tmp_path / "t.csv", index=False)
    result = read_answers([tmp_path / "t.csv"])
    assert result.models == ("m (0 shots)", "m (5 shots)")
    assert result.correct.tolist() == [[1, 0], [0, 1]]
    frame.assign(style="letters").iloc[[0, 3]].to_csv(tmp_path / "t.csv", index=False)
    result = read_answers([tmp_path / "t.csv"])
    assert (result.models, result.correct.tolist()) == (("m",), [[1, 1]])


def test_repeats_are_averaged_or_the_first_counts(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item_id": ["a"] * 4, "repeat": [1, 2, 3, 4], "correct": [1, 0, 0, 0]})
    frame.assign(model="m").to_csv(tmp_path / "t.csv", index=False)
    assert read_answers([tmp_path / "t.csv"]).correct.tolist() == [[0.25]]
    first = read_answers([tmp_path / "t.csv"], Choice(repeats="first"))
    assert (first.correct.tolist(), first.disputed) == ([[1]], None)


def test_files_with_the_same_name_in_two_folders_are_read(tmp_path: Path) -> None:
    for name in MODELS:
        (tmp_path / name).mkdir()
        tidy().query("model == @name").to_csv(tmp_path / name / "a.csv", index=False)
    result = read_answers([tmp_path / "ann" / "a.csv", tmp_path / "bob" / "a.csv"])
    np.testing.assert_array_equal(result.correct, VALUES)


def test_tables_take_precedence_over_logs(tmp_path: Path) -> None:
    tidy().to_csv(tmp_path / "t.csv", index=False)
    log(tmp_path, "t", "ann", sample(0, 0.0, item_id="q/2"), sample(1, 1.0, item_id="q/77"))
    result = read_answers([tmp_path])
    assert result.item_ids == (*IDS, "q/77")
    assert result.correct[0].tolist() == [1, 0, 1, 1]
    assert "1 different in an earlier file, e.g. q/2 × ann" in result.notes[0]
    assert result.disputed is not None
    assert np.argwhere(result.disputed).tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "item_id,model,prediction\nq,m,A\n", "no column 'correct' or 'score'"),
        ("a.csv", "x,y\n1,2\n", "no column 'item_id' or 'model'; it has x, y"),
        ("a.csv", "item_id,m\nq,maybe\n", "expected 0–1"),
        ("a.txt", "", "unknown file type; expected one of"),
        ("b/", "", "no responses; expected"),
        ("c.csv", None, "does not exist"),
    ],
)
def test_files_without_responses_are_rejected(
    name: str, text: str | None, message: str, tmp_path: Path
) -> None:
    file = tmp_path / name
    if name.endswith("/"):
        file.mkdir()
    elif text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_answers([file])


def test_items_of_half_the_models_and_models_with_95_percent_of_them_are_selected() -> None:
    correct = np.ones((4, 21), np.float32)
    correct[2, 0] = correct[3, :2] = np.nan  # 19 of 20 items are 95%, 18 are not
    correct[:2, 19] = np.nan  # half of the models answered
    correct[:3, 20] = np.nan  # fewer
    items = tuple(f"q{n}" for n in range(21))
    known = select_answered(Answers("f", ("a", "b", "c", "d"), items, correct))
    assert known.models == ("a", "b", "c")
    assert known.item_ids == items[:20]
    assert known.correct.shape == (3, 20)
    assert known.notes == (
        "excluded: 1 items that fewer than half of the models answered",
        "excluded: 1 models that answered fewer than 95% of the items",
    )
    every = select_answered(Answers("f", ("a", "d"), items[:20], correct[[2, 3], :20]), True)
    assert every.models == ("a",)
    with pytest.raises(InputError, match="no model answered 95% of the 0 items"):
        select_answered(Answers("f", ("a",), ("q",), np.full((1, 1), np.nan, np.float32)))


def test_a_file_that_cannot_be_used_is_noted(tmp_path: Path) -> None:
    tidy().to_csv(tmp_path / "a.csv", index=False)
    tidy().assign(correct=7.0).to_csv(tmp_path / "b.csv", index=False)
    result = read_answers([tmp_path])
    (note,) = result.notes
    assert "scores are outside 0–1" in note
    assert result.unusable == (note,)


def test_answers_at_an_address_are_those_of_a_copy(tmp_path: Path) -> None:
    log(tmp_path, "exam", "org/m", *(sample(n, n % 2, question=f"Q{n}") for n in range(4)))
    files = fsspec.filesystem("memory")
    files.put(str(tmp_path), "/runs", recursive=True)
    known = read_answers([Path("memory://runs")])
    here = read_answers([tmp_path])
    assert (known.source, known.models, known.item_ids) == ("runs", here.models, here.item_ids)
    np.testing.assert_array_equal(known.correct, here.correct)
    with pytest.raises(InputError, match="memory://none: "):
        read_answers([Path("memory://none")])


def test_missing_package_for_an_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(InputError, match="s3://bucket/run: Install s3fs"):
        read_answers([Path("s3://bucket/run")])


def test_score_of_a_log_is_the_one_of_its_metric_and_filter(tmp_path: Path) -> None:
    written = {"resps": [["B"]], "filtered_resps": ["B"], "arguments": [["Q", {}]]}
    of_exam = [
        sample(n, 1, question=f"Q{n}") | written | {"filter": "custom", "exact_match": 1.0}
        for n in range(4)
    ]
    for each in of_exam:
        del each["acc"]
    log(tmp_path, "exam", "org/m", *of_exam)
    (results,) = tmp_path.glob("results_*")
    scores = {"exact_match,none": 1.0, "exact_match,custom": 0.25}
    results.write_text(json.dumps({"model_name": "org/m", "results": {"exam": scores}}))
    read = read_logs([tmp_path])
    line = read.report.iloc[0]
    assert (line["accuracy"], line["log_score"]) == (1.0, 0.25)
    assert line["detail"] == (
        "exact_match,custom of the log is 0.2500, the mean of its 4 marks 1.0000"
    )
    assert read_answers([tmp_path]).correct.mean() == line["accuracy"]


def results_of(folder: Path, **results: Any) -> None:
    (file,) = folder.glob("results_*.json")
    file.write_text(json.dumps({"model_name": "org/m", **results}))


def test_a_metric_that_is_lower_for_better_answers_is_refused(tmp_path: Path) -> None:
    log(tmp_path, "quiz", "org/m", sample(0, 1.0, question="Q?"))
    results_of(tmp_path, higher_is_better={"quiz": {"acc": True}})
    assert read_answers([tmp_path]).correct.tolist() == [[1.0]]
    results_of(tmp_path, higher_is_better={"quiz": {"acc": False}})
    with pytest.raises(InputError, match="acc is lower for better answers"):
        read_answers([tmp_path])


def test_a_score_of_the_log_that_its_samples_do_not_have_is_noted(tmp_path: Path) -> None:
    log(tmp_path, "quiz", "org/m", sample(0, 1.0, question="Q?"))
    for score, noted in ((1.0, False), (0.5, True)):
        results_of(tmp_path, results={"quiz": {"acc,none": score}})
        notes = read_answers([tmp_path]).notes
        assert any("of the log is 0.5000, the mean of its 1 marks" in n for n in notes) == noted


def test_a_compressed_log_is_named_and_not_left_out_in_silence(tmp_path: Path) -> None:
    log(tmp_path, "quiz", "org/m", sample(0, 1.0, question="Q?"))
    packed = tmp_path / "samples_other.jsonl.gz"
    packed.write_bytes(b"\x1f\x8b")
    (why,) = read_answers([tmp_path]).unusable
    assert why.startswith(f"{packed}: cannot be read: ")
    with pytest.raises(InputError, match=r"jsonl\.gz: cannot be read: "):
        read_answers([packed])


def test_a_question_whose_right_option_is_unknown_has_the_score_of_the_log(tmp_path: Path) -> None:
    options = [{"output": {"text": text}, "tags": []} for text in ("x", "y")]
    asked = {"id": "id1", "input": {"text": "Q?"}, "references": options}
    files: dict[str, Any] = {
        "run_spec.json": {"name": "quiz:model=m", "adapter_spec": {"model": "m"}},
        "scenario_state.json": {
            "request_states": [
                {"instance": asked, "result": {"success": True, "completions": [{"text": "B"}]}}
            ]
        },
        "per_instance_stats.json": [
            {"instance_id": "id1", "stats": [{"name": {"name": "exact_match"}, "mean": 1.0}]}
        ],
    }
    files["run_spec.json"]["adapter_spec"]["method"] = "multiple_choice_joint"
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    assert read_answers([tmp_path]).correct.tolist() == [[1.0]]
