"""What counts in logs and tables as their tools count it, and which samples are of one item."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from answers.lm_eval_examples import results, scored, write_log, wrote
from benchwright.answers.answer_files import Choice
from benchwright.answers.read_answers import read_answers, read_sides
from benchwright.answers.table import State
from benchwright.core.errors import InputError

EVAL = {"task": "birds", "model": "org/m", "dataset": {"samples": 2}, "config": {}}


def inspect_file(path: Path, samples: list[dict[str, Any]], **config: Any) -> Path:
    rows = [{"epoch": 1, "target": "x", "metadata": {}, **row} for row in samples]
    header = {"version": 2, "status": "success", "eval": {**EVAL, "config": config}}
    path.write_text(json.dumps({**header, "samples": rows}))
    return path


def asked(number: int, image: str, value: Any, epoch: int = 1) -> dict[str, Any]:
    parts = [{"type": "text", "text": "How many birds?"}, {"type": "image", "image": image}]
    scores = {"match": {"value": value, "answer": "x"}}
    message = {"role": "user", "content": parts}
    return {"id": number, "epoch": epoch, "input": [message], "scores": scores}


def test_one_question_about_several_images_is_several_items(tmp_path: Path) -> None:
    a = inspect_file(tmp_path / "a.json", [asked(0, "red", "C"), asked(1, "blue", "I")])
    b = inspect_file(tmp_path / "b.json", [asked(5, "blue", "C"), asked(6, "red", "I")])
    first, second = read_sides([[a], [b]])
    assert first.item_ids == ("birds/0", "birds/1")
    assert first.correct.tolist() == [[1, 0]]
    assert second.correct.tolist() == [[0, 1]]
    assert len(set(first.clusters())) == 2


def test_equal_contents_are_paired_by_the_logs_own_numbers_and_never_by_rank(
    tmp_path: Path,
) -> None:
    doc = {"question": "How many birds?", "answer": "2"}
    for name, numbers in (("a", (0, 1, 2)), ("b", (1, 2))):
        rows = [wrote(number, doc, "2", number == 1) for number in numbers]
        write_log(tmp_path / name, rows, "birds", results("birds", model=name))
    first, second = read_sides([[tmp_path / "a"], [tmp_path / "b"]])
    assert first.item_ids == ("birds/0", "birds/1", "birds/2")
    np.testing.assert_array_equal(second.correct, [[np.nan, 1, 0]])


def test_values_that_inspect_counts_are_marks(tmp_path: Path) -> None:
    values = ["yes", "No", "true", "0.5", "C"]
    rows = [asked(number, str(number), value) for number, value in enumerate(values)]
    answers = read_answers([inspect_file(tmp_path / "a.json", rows)])
    assert answers.correct.tolist() == [[1, 0, 1, 0.5, 1]]


def test_an_item_without_all_epochs_that_a_log_states_is_missing(tmp_path: Path) -> None:
    rows = [asked(0, "red", "C", epoch) for epoch in (1, 2)] + [asked(1, "blue", "C")]
    answers = read_answers([inspect_file(tmp_path / "a.json", rows, epochs=2)])
    assert answers.states().tolist() == [[State.READ, State.MISSING]]


def test_repeats_that_others_have_are_missing_in_a_table(tmp_path: Path) -> None:
    rows = [("a", 1, 1), ("a", 2, 0), ("b", 1, 1)]
    table = pd.DataFrame(rows, columns=["item_id", "repeat", "score"]).assign(model="m")
    table.to_csv(tmp_path / "t.csv", index=False)
    assert read_answers([tmp_path / "t.csv"]).states().tolist() == [[State.READ, State.MISSING]]
    first = read_answers([tmp_path / "t.csv"], Choice(repeats="first"))
    assert first.states().tolist() == [[State.READ, State.READ]]


def test_marks_count_where_they_contradict_the_golds_that_are_read(tmp_path: Path) -> None:
    rows = [
        scored(
            n, {"question": f"{n} and 1?", "choices": ["2", "0", "1"]}, ["2", "0", "1"], logs, gold
        )
        for n, (logs, gold) in enumerate([((-1, -2, -3), 0), ((-2, -1, -3), 1), ((-2, -3, -1), 2)])
    ]
    write_log(tmp_path, rows, "sums")
    answers = read_answers([tmp_path])
    assert answers.correct.tolist() == [[1, 1, 1]]
    assert "marked otherwise than options and golds read here" in answers.notes[0]


@pytest.mark.parametrize(("metric", "kept"), [("4096", 1), ("acc", 2)])
def test_a_mark_below_zero_is_left_out_where_the_metric_is_a_length(
    tmp_path: Path, metric: str, kept: int
) -> None:
    rows = [
        {
            **wrote(n, {"question": f"Q{n}?", "answer": "x"}, "x", True),
            "metrics": [metric],
            metric: v,
        }
        for n, v in enumerate((1.0, -1.0))
    ]
    write_log(tmp_path, rows, "niah")
    if kept == 2:
        with pytest.raises(InputError, match=r"1 of 2 scores are outside 0–1, e.g. -1"):
            read_answers([tmp_path])
    else:
        assert np.nansum(read_answers([tmp_path]).correct) == 1


def test_a_score_of_the_whole_corpus_is_no_mark(tmp_path: Path) -> None:
    row = {**wrote(0, {"page": "…"}, "", True), "metrics": ["word_perplexity"]}
    row = {**row, "word_perplexity": [-9.5, 4], "filtered_resps": [], "resps": []}
    stated = {"wiki": {"word_perplexity,none": 12.5, "sample_len": 1}}
    write_log(tmp_path, [row], "wiki", results("wiki", results=stated))
    with pytest.raises(InputError, match="word_perplexity,none: of the whole corpus; no sample"):
        read_answers([tmp_path])


def test_ids_are_the_same_in_two_unicode_forms(tmp_path: Path) -> None:
    for name, item in (("a", "é"), ("b", "e\u0301 ")):
        rows = pd.DataFrame({"item_id": [item], "model": [name], "score": [1]})
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    first, second = read_sides([[tmp_path / "a.csv"], [tmp_path / "b.csv"]])
    assert first.item_ids == ("é",)
    assert second.correct.tolist() == [[1]]


def test_items_of_tables_with_other_questions_are_others(tmp_path: Path) -> None:
    for name, texts in (("a", ["One?", "Two?"]), ("b", ["One?", "Three?"])):
        rows = pd.DataFrame({"item_id": ["1", "2"], "question": texts, "score": [1, 1]})
        rows.assign(model=name).to_csv(tmp_path / f"{name}.csv", index=False)
    _, second = read_sides([[tmp_path / "a.csv"], [tmp_path / "b.csv"]])
    np.testing.assert_array_equal(second.correct, [[1, np.nan]])


def test_a_suite_is_chosen_by_patterns_and_names_apply_where_they_are(tmp_path: Path) -> None:
    doc = {"question": "Q?", "choices": ["x", "y"], "answer": "y"}
    write_log(tmp_path, [scored(0, doc, ["x", "y"], [-1, -2], 0)], "mmlu_a")
    by = [
        wrote(0, {**doc, "question": "G?"}, "y", by == "last", by=by) for by in ("strict", "last")
    ]
    write_log(tmp_path, by, "gsm")
    both = read_answers([tmp_path], Choice(filter=("last",)))
    assert [source.scorer for source in both.sources] == ["last", "none"]
    own = read_answers([tmp_path], Choice(filter=("g*=last",), task=("gsm",)))
    assert own.item_ids == ("gsm/0",)
    assert own.correct.tolist() == [[1]]
    with pytest.raises(InputError, match=r"--task arc: .* has no such task; there is gsm, mmlu_a"):
        read_answers([tmp_path], Choice(task=("arc",)))
    with pytest.raises(InputError, match="no score last; there are: acc,none"):
        read_answers([tmp_path], Choice(filter=("mmlu*=last",), task=("mmlu*",)))
