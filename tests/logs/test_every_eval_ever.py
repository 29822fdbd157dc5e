"""Samples of Every Eval Ever: every shape of the converters, and what they lose."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchwright.logs import every_eval_ever
from benchwright.logs.find import find_logs, logs_in
from benchwright.logs.opened_file import OpenedFile
from benchwright.logs.sample import Log, Mark, Sample

CHOICES = ["a fox", "a hen", "a crow", "an owl"]
Write = Callable[..., Path]


def row(**fields: Any) -> dict[str, Any]:
    """A sample of schema 0.3.0 as HELM's converter writes it, with other values of some fields."""
    made: dict[str, Any] = {
        "schema_version": "0.3.0",
        "evaluation_id": "birds/org_m/1",
        "model_id": "org/m",
        "evaluation_name": "birds",
        "evaluation_result_id": "exact_match:test",
        "sample_id": "id1",
        "interaction_type": "single_turn",
        "input": {"raw": "Which one hoots?\nAnswer:", "reference": ["an owl"], "choices": CHOICES},
        "output": {"raw": [" D"]},
        "answer_attribution": [{"extracted_value": "D", "is_terminal": True}],
        "evaluation": {"score": 1.0, "is_correct": True},
        "metadata": None,
    }
    return made | fields


def answered(answer: str) -> dict[str, Any]:
    return {
        "output": {"raw": [f" {answer}"]},
        "answer_attribution": [{"extracted_value": answer, "is_terminal": True}],
    }


def marked(score: float) -> dict[str, Any]:
    return {"evaluation": {"score": score, "is_correct": score > 0}}


def asked(raw: str, reference: Sequence[str], choices: Sequence[str] | None) -> dict[str, Any]:
    return {"input": {"raw": raw, "reference": list(reference), "choices": choices}}


def inspect_row(answer: str, epoch: int = 1, **fields: Any) -> dict[str, Any]:
    made = row(
        evaluation_result_id="choice:accuracy",
        **asked("Which one hoots?", ["D"], CHOICES),
        **answered(answer) | {"answer_attribution": []},
        metadata={"stop_reason": "stop", "epoch": str(epoch)},
    )
    return made | fields


def lm_eval_row(answer: str, **fields: Any) -> dict[str, Any]:
    metadata = {"doc_hash": "00", "filter": "none", "lm_eval_metrics": '{"acc": 1.0}'}
    made = row(evaluation_result_id="acc", **answered(answer), metadata=metadata)
    return made | fields


def result(name: str, score: float, task: str = "birds", **metric: Any) -> dict[str, Any]:
    return {
        "evaluation_result_id": name,
        "evaluation_name": task,
        "metric_config": {"metric_name": name, **metric},
        "score_details": {"score": score},
    }


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_files(*rows: dict[str, Any], aggregate: dict[str, Any] | None = None) -> Path:
        path = tmp_path / "0a_samples.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        if aggregate is not None:
            (tmp_path / "0a.json").write_text(json.dumps(aggregate, indent=1), encoding="utf-8")
        return path

    return write_files


def one(path: Path) -> tuple[Log, list[Sample]]:
    (log,) = logs_in(path) or []
    return log, list(log.samples())


def test_samples_are_recognised_by_their_first_line_and_belong_to_their_aggregate(
    write: Write,
) -> None:
    path = write(row(), aggregate={"schema_version": "0.3.0", "evaluation_id": "birds/org_m/1"})
    assert every_eval_ever.recognises(OpenedFile(path, path.read_bytes()))
    for head in (path.with_name("0a.json").read_bytes(), b'{"doc_id": 1, "doc": {}}', b""):
        assert not every_eval_ever.recognises(OpenedFile(path, head))
    found = find_logs([path.parent])
    assert [log.format for log in found.logs] == ["Every Eval Ever"]
    assert found.others == []


def test_of_several_metrics_one_counts_with_all_its_splits(write: Write) -> None:
    path = write(
        row(evaluation_result_id="prefix_exact_match:test"),
        row(),
        row(evaluation_result_id="exact_match@5:test"),
        row(evaluation_result_id="exact_match:valid", sample_id="id2", **marked(0.0)),
        row(evaluation_result_id="exact_match:test", sample_id="id3"),
        aggregate={
            "evaluation_results": [
                result("prefix_exact_match:test", 0.9),
                result("exact_match:test", 1.0),
                result("exact_match:valid", 0.25),
            ]
        },
    )
    log, samples = one(path)
    assert [(sample.number, sample.correct) for sample in samples] == [
        ("id1", 1.0),
        ("id2", 0.0),
        ("id3", 1.0),
    ]
    by_samples = pytest.approx((1.0 * 2 + 0.25) / 3)  # of each split
    assert log.scores == {Mark("exact_match"): by_samples}


def test_a_letter_names_an_option_beside_texts(write: Write) -> None:
    _, (sample,) = one(write(row()))
    assert (sample.chosen, sample.gold) == (3, (3,))
    assert sample.choices == tuple(CHOICES)
    assert (sample.question, sample.prompt) == ("", "Which one hoots?\nAnswer:")


def test_inspect_stores_the_question_alone_and_letters(write: Write) -> None:
    path = write(
        inspect_row("D"),
        inspect_row("", sample_id="2", **marked(0.0)),
        inspect_row("A, C", sample_id="3", **marked(0.0)),
        inspect_row("I cannot say.", sample_id="4", **marked(0.0)),
        inspect_row("", sample_id="5", error="timeout", **marked(0.0)),
    )
    _, samples = one(path)
    assert samples[0].question == "Which one hoots?"
    assert not samples[0].prompt
    assert [(sample.chosen, sample.outcome) for sample in samples] == [
        (3, "answered"),
        (-1, "unreadable"),
        (-1, "answered"),
        (-1, "answered"),
        (-1, "failed"),
    ]
    assert [sample.several for sample in samples] == [(), (), (0, 2), (), ()]
    assert math.isnan(samples[4].correct)


def test_a_letter_of_inspect_is_no_text_of_an_option(write: Write) -> None:
    swapped = asked("Which letter comes first?", ["B"], ["B", "A"])
    _, (sample,) = one(write(inspect_row("B", **swapped)))
    assert (sample.chosen, sample.gold) == (1, (1,))


def test_the_mean_of_epochs_is_no_mark_of_one(write: Write) -> None:
    path = write(
        inspect_row("D", epoch=1, **marked(0.5)),
        inspect_row("A", epoch=2, **marked(0.5)),
        inspect_row("D", epoch=1, sample_id="2"),
        inspect_row("D", epoch=2, sample_id="2"),
    )
    _, samples = one(path)
    assert [sample.repeat for sample in samples] == [1, 2, 1, 2]
    assert [sample.chosen for sample in samples] == [3, 0, 3, 3]
    assert [math.isnan(sample.correct) for sample in samples] == [True, True, False, False]


def test_letters_of_lm_eval_are_positions_only(write: Write) -> None:
    prompt = "Which one hoots?\nA. a fox\nB. an owl\nAnswer:"
    _, (sample,) = one(write(lm_eval_row("B", **asked(prompt, ["1"], ["A", "B"]))))
    assert sample.choices == ()
    assert (sample.chosen, sample.gold) == (1, (1,))


@pytest.mark.parametrize(
    ("reference", "gold"), [("2", ()), ("0", (0,)), ("an owl", ()), ("1", (1,))]
)
def test_an_index_that_is_the_text_of_another_option_is_no_right_option(
    reference: str, gold: tuple[int, ...], write: Write
) -> None:
    _, (sample,) = one(write(lm_eval_row("7", **asked("1 + 1 =", [reference], ["2", "7", "11"]))))
    assert (sample.gold, sample.target) == (gold, "" if gold else reference)


def test_answers_under_acc_norm_are_not_the_marked_ones(write: Write) -> None:
    acc_norm = {"evaluation_result_id": "acc_norm"}
    log, (sample,) = one(write(lm_eval_row("a fox", **acc_norm)))
    assert (sample.chosen, sample.correct, log.scores) == (-1, 1.0, {})
    _, (sample,) = one(write(lm_eval_row("a fox", **acc_norm), lm_eval_row("an owl")))
    assert sample.chosen == 3  # `acc` counts


@pytest.mark.parametrize("metadata", [{"doc_hash": "00", "lm_eval_metrics": "{}"}, None])
def test_logs_without_metrics_have_no_marks_but_the_score(
    metadata: dict[str, str] | None, write: Write
) -> None:
    lost: dict[str, Any] = {"evaluation_result_id": None, "metadata": metadata, **marked(0.0)}
    path = write(
        row(**lost, **answered("D")),
        row(sample_id="id2", **lost, **answered("A")),
        aggregate={"evaluation_results": [result("acc", 0.5), result("acc_norm", 0.25)]},
    )
    log, samples = one(path)
    assert all(math.isnan(sample.correct) for sample in samples)
    assert [sample.chosen for sample in samples] == [3, 0]
    assert log.scores == {Mark("acc"): 0.5}


def test_trials_are_repeats_without_marks_and_perturbations_are_skipped(write: Write) -> None:
    other_shots = asked("Another example.\nWhich one hoots?\nAnswer:", ["an owl"], CHOICES)
    path = write(
        row(**answered("A"), **marked(0.0)),
        row(**other_shots),
        row(evaluation_result_id="exact_match:test:typos"),
    )
    _, samples = one(path)
    assert [(sample.repeat, sample.skipped) for sample in samples] == [
        (1, ""),
        (2, ""),
        (1, "perturbation typos"),
    ]
    assert [math.isnan(sample.correct) for sample in samples[:2]] == [False, True]


def test_samples_of_single_options_are_one_answer(write: Write) -> None:
    requests = [
        row(**asked(f"Which one hoots? {choice}", ["an owl"], CHOICES), **answered(""))
        for choice in CHOICES
    ]
    _, samples = one(write(*requests, *requests))
    assert [sample.repeat for sample in samples if not sample.skipped] == [1, 2]
    assert {sample.skipped for sample in samples} == {"", "another option of the same sample"}
    assert (samples[0].chosen, samples[0].correct, samples[0].outcome) == (-1, 1.0, "answered")


def test_old_schemas_have_single_texts_and_metrics(write: Write) -> None:
    old = row(
        schema_version="instance_level_eval_0.0.1",
        input={"raw": "Which one hoots?", "reference": "an owl", "choices": CHOICES},
        output={"raw": "an owl"},
        metrics={"score": "1.0"},
    )
    for name in ("evaluation", "evaluation_result_id", "answer_attribution"):
        del old[name]
    log, (sample,) = one(write(old))
    assert log.version == "0.0.1"
    assert (sample.chosen, sample.gold, sample.correct) == (3, (3,), 1.0)


def test_a_file_may_have_several_evaluations(write: Write) -> None:
    path = write(row(), row(model_id="org/n"), row(evaluation_name="fish"), row(sample_id="id2"))
    logs = logs_in(path) or []
    assert [(log.model, log.task, len(list(log.samples()))) for log in logs] == [
        ("org/m", "birds", 2),
        ("org/n", "birds", 1),
        ("org/m", "fish", 1),
    ]


def test_revision_and_shots_are_those_of_the_aggregate(write: Write) -> None:
    settings = {"generation_config": {"additional_details": {"num_fewshot": "5"}}}
    aggregate = {
        "model_info": {"additional_details": {"revision": "abc"}},
        "evaluation_results": [result("acc", 50, metric_unit="percent") | settings],
    }
    log, _ = one(write(lm_eval_row("a fox", **marked(0.0)), aggregate=aggregate))
    assert (log.revision, log.shots, log.scores) == ("abc", 5, {Mark("acc"): 0.5})


def test_real_samples_of_every_converter_are_read(shared_data: Path) -> None:
    folder = shared_data / "logs" / "every_eval_ever"
    if not folder.is_dir():
        pytest.skip(f"no logs in {folder}")
    found = find_logs([folder])
    assert found.others == []
    read = {}
    for log in found.logs:
        samples = list(log.samples())
        right = sum(sample.correct for sample in samples)
        read[log.version, log.task] = (
            log.model,
            len(samples),
            right,
            *log.scores.values(),
        )
        if log.task != "demo-source.demo_bench":
            assert all(s.outcome == "answered" and s.chosen >= 0 and s.gold for s in samples)
            assert right == sum(sample.chosen in sample.gold for sample in samples)
    assert read == {
        ("0.2.1", "mmlu"): ("openai/gpt2", 10, 1),
        ("0.3.0", "mmlu"): ("openai/gpt2", 10, 1, 0.1),
        ("0.3.0", "arc_easy"): ("ollama/qwen2.5-0.5b", 3, 1, pytest.approx(1 / 3)),
        ("0.3.0", "leaderboard_mmlu_pro_local"): (
            "HuggingFaceTB/SmolLM2-135M-Instruct",
            *(16, 3, 0.1875),
        ),
        ("0.3.0", "demo-source.demo_bench"): ("demo-org/demo-model", 1, 1, 0.75),
    }
