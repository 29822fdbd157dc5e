"""Runs of HELM are read with the answers that HELM itself read and marked."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from benchwright.core.errors import InputError
from benchwright.logs.find import logs_in
from benchwright.logs.sample import Log, Mark, Sample

OPTIONS = ("ice", "fire", "snow")


def instance(name: str = "id1", split: str = "test", right: int = 1, **more: Any) -> dict[str, Any]:
    references = [
        {"output": {"text": text}, "tags": ["correct"] if n == right else []}
        for n, text in enumerate(more.pop("options", OPTIONS))
    ]
    question = {"text": more.pop("question", f"Which of {name}?")}
    return {"input": question, "references": references, "split": split, "id": name, **more}


def joint(text: str = "B", trial: int = 0, **of_instance: Any) -> dict[str, Any]:
    asked = instance(**of_instance)
    letters = {"ABC"[n]: r["output"]["text"] for n, r in enumerate(asked["references"])}
    result = {"success": True, "completions": [{"text": text, "logprob": 0.0, "tokens": []}]}
    request = {"prompt": "Which?"}
    return {
        "instance": asked,
        "train_trial_index": trial,
        "output_mapping": letters,
        "request": request,
        "result": result,
    }


def separate(logprobs: list[float], mode: str = "original", end: str = "") -> list[dict[str, Any]]:
    states = []
    for n, (option, logprob) in enumerate(zip(OPTIONS, logprobs, strict=True)):
        texts = ["Which", "?", f" {option[:2]}", option[2:], *([end] if end else [])]
        tokens = [{"text": text, "logprob": logprob} for text in texts]
        result = {"success": True, "completions": [{"text": "", "tokens": tokens}]}
        states.append(
            {
                "instance": instance(),
                "train_trial_index": 0,
                "reference_index": n,
                "request_mode": mode,
                "result": result,
            }
        )
    return states


def stats(
    name: str = "id1", trial: int = 0, more: dict[str, Any] | None = None, **means: float
) -> Any:
    rows = [{"name": {"name": metric, "split": "test"}, "mean": m} for metric, m in means.items()]
    return {"instance_id": name, "train_trial_index": trial, "stats": rows, **(more or {})}


def total(metric: str, mean: float, split: str = "test", **more: Any) -> dict[str, Any]:
    return {"name": {"name": metric, "split": split, **more}, "mean": mean}


def run(folder: Path, method: str = "multiple_choice_joint", **files: Any) -> Path:
    path = folder / "toy:subject=x,model=org_m"
    path.mkdir()
    adapter = {"method": method, "model": "org/m", "max_train_instances": 5}
    spec = {"name": "toy:subject=x,model=org_m", "adapter_spec": adapter}
    for name, content in {"run_spec": spec, **files}.items():
        value = {"request_states": content} if name == "scenario_state" else content
        (path / f"{name}.json").write_text(json.dumps(value))
    return path


def only(path: Path) -> tuple[Log, list[Sample]]:
    (log,) = logs_in(path) or []
    assert log.format == "HELM"
    return log, list(log.samples())


def test_joint_answers_are_mapped_by_letter(tmp_path: Path) -> None:
    states = [joint(" B", name="id1"), joint("A", name="id2"), joint("Because", name="id3")]
    marks = [
        stats("id1", exact_match=1.0),
        stats("id2", exact_match=0.0),
        stats("id3", exact_match=0.0),
    ]
    log, (right, wrong, unread) = only(
        run(tmp_path, scenario_state=states, per_instance_stats=marks)
    )
    assert (log.task, log.model, log.shots) == ("toy:subject=x", "org/m", 5)
    assert (log.scores, log.style) == ({}, "")
    assert right.question == "Which of id1?"
    assert (right.choices, right.gold, right.number) == (OPTIONS, (1,), "id1")
    assert (right.chosen, right.correct) == (1, 1)
    assert (wrong.chosen, wrong.correct, wrong.outcome) == (0, 0, "answered")
    assert (unread.chosen, unread.text) == (-1, "Because")


def test_twin_options_are_told_apart_by_letter(tmp_path: Path) -> None:
    states = [joint("B", options=("same", "same", "other"), right=0)]
    _, (sample,) = only(run(tmp_path, scenario_state=states))
    assert (sample.chosen, sample.gold) == (1, (0,))


def test_a_pattern_is_not_run_but_what_helm_mapped_with_it_is_read(tmp_path: Path) -> None:
    states = [joint("The answer is C", name="id1"), joint("The answer is B", name="id2")]
    shown = [{"instance_id": "id1", "train_trial_index": 0, "mapped_output": "snow"}]
    marks = [stats("id1", exact_match=0.0), stats("id2", exact_match=1.0)]
    _, (mapped, marked) = only(
        run(
            tmp_path,
            scenario_state=states,
            display_predictions=shown,
            per_instance_stats=marks,
        )
    )
    assert (mapped.chosen, mapped.outcome) == (2, "answered")
    assert (marked.chosen, marked.outcome, marked.correct) == (-1, "answered", 1)


def test_trials_are_repeats_with_their_own_marks(tmp_path: Path) -> None:
    states = [joint("B", trial=0), joint("C", trial=1)]
    marks = [stats(trial=1, exact_match=0.0), stats(trial=0, exact_match=1.0)]
    _, samples = only(run(tmp_path, scenario_state=states, per_instance_stats=marks))
    assert [(s.repeat, s.chosen, s.correct) for s in samples] == [(1, 1, 1), (2, 2, 0)]


def test_perturbed_instances_are_skipped_with_their_marks(tmp_path: Path) -> None:
    noise: dict[str, Any] = {"perturbation": {"name": "typos"}}
    states = [joint("B"), joint("C", question="Wich?", **noise)]
    marks = [stats(exact_match=1.0), stats(more=noise, exact_match=0.0)]
    _, (plain, perturbed) = only(run(tmp_path, scenario_state=states, per_instance_stats=marks))
    assert (plain.correct, plain.skipped) == (1, "")
    assert perturbed.skipped == "perturbed"


def test_failed_requests_and_hidden_texts_have_their_own_counts(tmp_path: Path) -> None:
    failed, silent = joint(name="id1"), joint(name="id2")
    failed["result"] = {"success": False, "error": "rate limit", "completions": []}
    del silent["result"]
    states = [failed, silent, joint(name="id3", question="[redacted]")]
    states.append(joint(name="id4", options=("[encrypted_text_1]", "b", "c")))
    marks = [stats(f"id{n}", exact_match=0.0) for n in (1, 2, 3, 4)]
    _, samples = only(run(tmp_path, scenario_state=states, per_instance_stats=marks))
    assert [s.outcome for s in samples[:2]] == ["failed", "failed"]
    assert all(math.isnan(s.correct) for s in samples[:2])
    assert {s.skipped for s in samples[2:]} == {"text redacted or encrypted"}


def test_separate_answers_have_log_likelihoods_of_the_options(tmp_path: Path) -> None:
    states = separate([-2.0, -1.0, -3.0])
    marks = [stats(predicted_index=1.0, exact_match=1.0)]
    log, (sample,) = only(
        run(
            tmp_path,
            "multiple_choice_separate_original",
            scenario_state=states,
            per_instance_stats=marks,
        )
    )
    assert log.style == "cloze_tokens"
    assert sample.continuations == (" ice", " fire", " snow")
    assert (sample.logprobs, sample.option_tokens) == ((-4, -2, -6), (2, 2, 2))
    assert (sample.chosen, sample.correct) == (1, 1)


@pytest.mark.parametrize("kind", ["calibrated", "template"])
def test_other_sums_than_those_of_the_options_are_no_log_likelihoods(
    tmp_path: Path, kind: str
) -> None:
    states = separate([-2.0, -1.0, -3.0], end="<|im_end|>" if kind == "template" else "")
    if kind == "calibrated":
        pairs = zip(states, separate([-1.0, -9.0, -1.0], "calibration"), strict=True)
        states = [state for pair in pairs for state in pair]
    marks = [stats(predicted_index=2.0, exact_match=0.0)]
    method = f"multiple_choice_separate_{'calibrated' if kind == 'calibrated' else 'original'}"
    _, (sample,) = only(run(tmp_path, method, scenario_state=states, per_instance_stats=marks))
    assert (sample.chosen, sample.logprobs, sample.option_tokens) == (2, None, None)


def test_displayed_predictions_do_without_requests(tmp_path: Path) -> None:
    shown = [
        {"instance_id": "id1", "train_trial_index": 0, "predicted_text": " B"},
        {
            "instance_id": "id2",
            "train_trial_index": 0,
            "predicted_text": "so C",
            "mapped_output": "snow",
        },
        {"instance_id": "id1", "train_trial_index": 0, "perturbation": {"name": "typos"}},
    ]
    shown[0] |= {"mapped_output": "fire", "stats": {"exact_match": 1.0}}
    noisy = instance("id1", question="Wich?", perturbation={"name": "typos"})
    asked = [instance("id1"), noisy, instance("id2")]
    path = run(tmp_path, display_predictions=shown, instances=asked)
    _, samples = only(path)
    assert [(s.question, s.chosen) for s in samples[:2]] == [
        ("Which of id1?", 1),
        ("Which of id2?", 2),
    ]
    assert (samples[0].correct, samples[2].skipped) == (1, "perturbed")
    (path / "instances.json").unlink()
    with pytest.raises(InputError, match=r"instances\.json is missing"):
        only(path)


def test_the_score_is_the_mean_over_splits_by_their_items(tmp_path: Path) -> None:
    scores = [
        total("exact_match", 0.5),
        total("exact_match", 0.0, "valid"),
        total("exact_match", 0.1, perturbation={"name": "robustness"}),
        total("num_instances", 3.0),
        total("num_instances", 1.0, "valid"),
    ]
    log, _ = only(run(tmp_path, scenario_state=[joint()], stats=scores))
    assert log.scores == {Mark("exact_match"): 0.375}


def test_open_questions_have_a_target_and_no_options(tmp_path: Path) -> None:
    states = [joint("42", options=("42",), right=0)]
    _, (sample,) = only(run(tmp_path, "generation", scenario_state=states))
    assert (sample.choices, sample.gold, sample.target) == ((), (), "42")
    assert sample.outcome == "answered"


REAL = [("joint,shots=2", 12, 4, 2), ("separate_original", 6, 1, 0), ("mmlu-subject", 10, 1, 5)]


@pytest.mark.parametrize(("name", "items", "right", "shots"), REAL)
def test_real_runs_are_read(
    shared_data: Path, name: str, items: int, right: int, shots: int
) -> None:
    runs = shared_data / "logs" / "helm" / "runs"
    (path,) = (path for path in runs.iterdir() if name in path.name)
    log, samples = only(path)
    assert (len(samples), log.shots) == (items, shots)
    assert set(log.files) == set(path.iterdir())
    assert sum(s.correct for s in samples) == sum(s.chosen in s.gold for s in samples) == right
    assert log.scores == {Mark("exact_match"): pytest.approx(right / items)}
    assert {s.outcome for s in samples} == {"answered"}
