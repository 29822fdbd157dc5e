"""Predictions of OpenCompass are read with what its results and its configuration say."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from benchwright.logs.find import logs_in
from benchwright.logs.sample import Log, Mark, Sample

PROMPT = "Question: Which is warm?\nA. ice\nB. fire\nAnswer:"
CONFIG = """
datasets=[
    dict(abbr='toy-5', infer_cfg=dict(
        retriever=dict(fix_id_list=[0, 1, 2, 3, 4], type='x.FixKRetriever')), path='/data/toy'),
    dict(abbr='toy', infer_cfg=dict(
        retriever=dict(type='x.ZeroRetriever')), n={n}, path='/data/toy'),
    ]
models=[dict(abbr='m', path='/data/m')]
"""


def generated(prediction: Any, gold: str | None = "B", prompt: Any = PROMPT) -> dict[str, Any]:
    answer = {"origin_prompt": prompt, "prediction": prediction}
    return answer if gold is None else {**answer, "gold": gold}


def scored(prompts: dict[str, str], prediction: Any, gold: Any) -> dict[str, Any]:
    labels = {
        f"label: {name}": {"testing input": text, "prompt": f"demo\n{text}", "PPL": 1.0}
        for name, text in prompts.items()
    }
    first = next(iter(prompts.values()))
    answer: dict[str, Any] = {"in-context examples": "demo", "origin_prompt": first, **labels}
    return {**answer, "prediction": prediction, "gold": gold}


def write(path: Path, answers: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({str(n): answer for n, answer in enumerate(answers)}, indent=4))
    return path


def predicted(work: Path, answers: list[dict[str, Any]], name: str = "toy") -> Path:
    return write(work / "predictions" / "m" / f"{name}.json", answers)


def result(work: Path, details: Any, name: str = "toy", **scores: Any) -> Path:
    path = work / "results" / "m" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"accuracy": 50.0, **scores, "details": details}))
    return path


def configured(work: Path, n: int = 1) -> Path:
    path = work / "configs" / "20260101_000000.py"
    path.parent.mkdir(parents=True)
    path.write_text(CONFIG.format(n=n))
    return path


def only(path: Path) -> tuple[Log, list[Sample]]:
    (log,) = logs_in(path) or []
    assert log.format == "OpenCompass"
    return log, list(log.samples())


def test_letters_and_marks_come_from_the_results(tmp_path: Path) -> None:
    texts = ["I say B", "B or A?", "no idea"]
    path = predicted(tmp_path, [generated(text) for text in texts])
    readings = [("B", True), ("A", False), ("", False)]
    rows = {
        str(n): {"pred": read, "refr": "B", "is_correct": right}
        for n, (read, right) in enumerate(readings)
    }
    results, config = result(tmp_path, {"type": "GEN", **rows}), configured(tmp_path)
    log, samples = only(path)
    assert (log.model, log.task, log.shots) == ("m", "toy", 0)
    assert log.scores == {Mark("accuracy"): 0.5}
    assert log.files == (path, results, config)
    assert [s.outcome for s in samples] == ["answered", "answered", "unreadable"]
    assert [s.chosen for s in samples] == [1, 0, -1]
    assert [s.correct for s in samples] == [1, 0, 0]
    assert {(s.gold, s.prompt, s.choices) for s in samples} == {((1,), PROMPT, ())}


def test_details_without_marks_compare_the_letter_with_the_reference(tmp_path: Path) -> None:
    path = predicted(tmp_path, [generated("x", gold=None), generated("y", gold=None)])
    rows = [{"predictions": "A", "references": "A"}, {"predictions": "B", "references": "A"}]
    result(tmp_path, {"type": "GEN", "0": rows[0], "1": rows[1]})
    _, samples = only(path)
    assert [(s.chosen, s.gold, s.correct) for s in samples] == [(0, (0,), 1), (1, (0,), 0)]


def test_without_results_the_letters_or_the_text_is_read(tmp_path: Path) -> None:
    texts = (" B.", "A. ice", "A, B", " \n")
    log, (bare, prose, both, empty) = only(predicted(tmp_path, [generated(t) for t in texts]))
    assert (log.scores, log.shots, len(log.files)) == ({}, -1, 1)
    assert (bare.chosen, prose.chosen, prose.text) == (1, -1, "A. ice")
    assert both.several == (0, 1)
    assert empty.outcome == "unreadable"


def test_options_are_cut_from_the_prompts_of_perplexity(tmp_path: Path) -> None:
    texts = {
        label: f"Question: Which?\nAnswer: the {end}" for label, end in zip("AB", "xy", strict=True)
    }
    log, (sample,) = only(predicted(tmp_path, [scored(texts, "B", "A")]))
    assert sample.prompt == "Question: Which?\nAnswer:"
    assert sample.choices == sample.continuations == ("the x", "the y")
    assert (sample.chosen, sample.gold) == (1, (0,))
    assert math.isnan(sample.correct)
    assert log.style == ""


def test_labels_may_be_numbers_and_endings_letters(tmp_path: Path) -> None:
    texts = {str(n): f"{PROMPT} {letter}" for n, letter in enumerate("AB")}
    _, (sample,) = only(predicted(tmp_path, [scored(texts, 0, 1)]))
    assert (sample.choices, sample.continuations) == ((), ("A", "B"))
    assert (sample.prompt, sample.chosen, sample.gold) == (PROMPT, 0, (1,))


def test_options_that_cannot_be_cut_are_left_in_the_prompt(tmp_path: Path) -> None:
    texts = {"A": "The man runs home", "B": "The man runs away"}
    _, (sample,) = only(predicted(tmp_path, [scored(texts, "A", "A")]))
    assert (sample.choices, sample.continuations) == ((), None)
    assert all(text in sample.prompt for text in texts.values())


def test_parts_are_one_log_and_count_on(tmp_path: Path) -> None:
    first = predicted(tmp_path, [generated("A"), generated("B")], "toy_0")
    second = predicted(tmp_path, [generated("A")], "toy_1")
    rows = [{"pred": "A", "refr": "B", "is_correct": False} for _ in range(3)]
    rows[2] = {"pred": "B", "refr": "B", "is_correct": True}
    result(tmp_path, {str(n): row for n, row in enumerate(rows)})
    log, samples = only(first)
    assert log.files[:2] == (first, second)
    assert [(s.number, s.correct) for s in samples] == [("0", 0), ("1", 0), ("2", 1)]
    assert logs_in(second) == []


def test_a_numbered_dataset_without_a_first_part_is_whole(tmp_path: Path) -> None:
    log, samples = only(predicted(tmp_path, [generated("A")], name="toy_7"))
    assert (log.task, len(samples)) == ("toy_7", 1)


def test_a_dataset_whose_name_ends_in_a_number_is_no_part(tmp_path: Path) -> None:
    path = predicted(tmp_path, [generated("A")], "toy_0")
    result(tmp_path, {}, "toy_0")
    predicted(tmp_path, [generated("A")], "toy_1")
    log, _ = only(path)
    assert (log.task, log.files[0]) == ("toy_0", path)
    assert len(log.files) == 2


def test_replicas_are_repeats(tmp_path: Path) -> None:
    path = predicted(tmp_path, [generated("x") for _ in range(4)])
    detail = {"pred": ["A", "B"], "refr": ["B", "B"], "is_correct": [False, True]}
    other = {"pred": ["B", "B"], "refr": ["B", "B"], "is_correct": [True, True]}
    scores: dict[str, Any] = {"accuracy": [50.0, 100.0], "accuracy (2 runs average)": 75.0}
    result(tmp_path, [detail, other], **scores)
    log, samples = only(path)
    assert log.scores == {Mark("accuracy (2 runs average)"): 0.75}
    assert [(s.number, s.repeat, s.chosen) for s in samples] == [
        ("0", 1, 0),
        ("1", 1, 1),
        ("0", 2, 1),
        ("1", 2, 1),
    ]


def test_replicas_without_details_are_those_of_the_configuration(tmp_path: Path) -> None:
    path = predicted(tmp_path, [generated("A") for _ in range(4)])
    configured(tmp_path, n=2)
    _, samples = only(path)
    assert [(s.number, s.repeat) for s in samples] == [("0", 1), ("1", 1), ("0", 2), ("1", 2)]


def test_shots_are_those_of_the_dataset(tmp_path: Path) -> None:
    configured(tmp_path)
    assert only(predicted(tmp_path, [generated("A")], "toy-5"))[0].shots == 5


def test_turns_are_one_prompt(tmp_path: Path) -> None:
    turns = [{"role": "HUMAN", "prompt": "one"}, {"role": "BOT", "prompt": "two"}]
    _, (sample,) = only(predicted(tmp_path, [generated("A", prompt=turns)]))
    assert sample.prompt == "one\ntwo"


def test_real_predictions_are_read(shared_data: Path) -> None:
    folder = shared_data / "logs" / "opencompass" / "20261122_125759" / "predictions"
    model = "smollm2-135m-instruct-hf"
    log, samples = only(folder / model / "ARC-c-ppl.json")
    assert (log.model, log.shots, len(log.files)) == (model, 0, 3)
    assert log.scores == {Mark("accuracy"): pytest.approx(4 / 11)}
    assert [len(s.choices) for s in samples] == [4] * 11
    assert sum(s.correct for s in samples) == sum(s.chosen in s.gold for s in samples) == 4
    log, samples = only(folder / model / "ARC-c-gen.json")
    assert log.scores == {Mark("accuracy"): pytest.approx(1 / 11)}
    assert sum(s.correct for s in samples) == 1
    assert [s.outcome for s in samples].count("unreadable") == 5
