"""Details of lighteval and of the first Open LLM Leaderboard are read in all their layouts."""

import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchwright.core.errors import InputError
from benchwright.logs import lighteval
from benchwright.logs.find import is_log, logs_in
from benchwright.logs.sample import Log, Mark, Sample

TIME = "2026-01-02T03-04-05.678901"
QUERY = "Question: Which is warm?\nAnswer:"


def nested(**of_doc: Any) -> dict[str, Any]:
    """A row of 0.11 and later."""
    doc = {"query": QUERY, "choices": [" ice", " fire"], "gold_index": 1, "id": "5"}
    doc |= {"task_name": "toy|2", "fewshot_samples": [{"query": "Q"}, {"query": "R"}], **of_doc}
    response = {"logprobs": [-2.0, -1.0], "text": [], "input_tokens": [1, 2]}
    return {"doc": doc, "metric": {"acc": 1, "acc_norm": 0}, "model_response": response}


def flat(**cells: Any) -> dict[str, Any]:
    """A row of 0.8 to 0.10."""
    row: dict[str, Any] = {"example": QUERY, "full_prompt": f"Question: Q?\nAnswer: A\n\n{QUERY}"}
    row |= {"choices": [" ice", " fire"], "gold_index": [1], "predictions": [-2.0, -1.0]}
    row |= {"metrics": {"acc": 1.0}, "num_asked_few_shots": 3, "num_effective_few_shots": 2}
    return {**row, **cells}


def written(folder: Path, rows: list[dict[str, Any]], name: str = "custom|toy|2") -> Path:
    place = folder / "details" / "org" / "model" / TIME
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"details_{name}_{TIME}.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def only(path: Path) -> tuple[Log, list[Sample]]:
    (log,) = logs_in(path) or []
    assert log.format in (lighteval.NAME, lighteval.LEADERBOARD)
    return log, list(log.samples())


def test_nested_rows_are_read_with_the_argmax_as_the_chosen_option(tmp_path: Path) -> None:
    log, (sample,) = only(written(tmp_path, [nested()]))
    assert (log.format, log.task, log.shots) == ("lighteval", "toy", 2)
    assert (log.model, log.scores, log.main) == ("org/model", {}, Mark("acc"))
    assert (sample.number, sample.prompt, sample.choices) == ("5", QUERY, ("ice", "fire"))
    assert (sample.chosen, sample.gold, sample.correct) == (1, (1,), 1)
    assert (sample.continuations, sample.logprobs) == ((" ice", " fire"), (-2, -1))


def test_letters_are_not_texts_of_options(tmp_path: Path) -> None:
    _, (sample,) = only(written(tmp_path, [nested(choices=[" A", " B"], gold_index=[0, 1])]))
    assert (sample.choices, sample.continuations) == ((), (" A", " B"))
    assert (sample.chosen, sample.gold) == (1, (0, 1))


def test_results_name_model_revision_and_score(tmp_path: Path) -> None:
    path = written(tmp_path, [flat()])
    results = tmp_path / "results" / "org" / "model" / f"results_{TIME}.json"
    results.parent.mkdir(parents=True)
    general = {"model_name": "org/other", "model_sha": "abc"}
    scores = {"custom|toy|2": {"acc": 0.25, "acc_norm": 0.75}}
    results.write_text(json.dumps({"config_general": general, "results": scores}))
    log, _ = only(path)
    assert (log.model, log.revision, log.scores[log.main]) == ("org/other", "abc", 0.25)
    assert log.files == (path, results)
    results.write_text("{")
    with pytest.raises(InputError, match=f"results_{TIME}.json: cannot be read"):
        logs_in(path)


def test_columns_of_python_literals_are_read_as_the_typed_ones(tmp_path: Path) -> None:
    typed = flat(predictions=[-2.0, -1.0])
    literals = {
        name: cell if isinstance(cell, str) else repr(cell)
        for name, cell in typed.items()
        if name != "predictions"
    }
    literals["predictions"] = "[(-2.0, False), (-1.0, True)]"
    log, samples = only(written(tmp_path / "new", [typed]))
    older, older_samples = only(written(tmp_path / "old", [literals]))
    assert samples == older_samples
    assert (log.shots, log.task) == (older.shots, older.task) == (2, "custom|toy")
    assert samples[0].prompt == QUERY


def test_winogrande_has_its_options_in_the_contexts(tmp_path: Path) -> None:
    text = "The cup is in the box"
    row = flat(example=text, full_prompt=text, choices=["cup", "box"])
    _, (sample,) = only(written(tmp_path, [row], "harness|winogrande|5"))
    assert (sample.continuations, sample.contexts) == (("", ""), ("cup", "box"))
    assert (sample.chosen, sample.logprobs) == (1, (-2, -1))


@pytest.mark.parametrize("cell", ["[nan, -1.0]", "__import__('os').getcwd()", "(" * 5_000, ""])
def test_a_literal_that_cannot_be_read_fails_its_sample_alone(tmp_path: Path, cell: str) -> None:
    rows = [flat(predictions=text) for text in (cell, "[-2.0, -1.0]")]
    _, (broken, whole) = only(written(tmp_path, rows))
    assert broken.outcome == "failed"
    assert math.isnan(broken.correct)
    assert (whole.outcome, whole.chosen) == ("answered", 1)


def test_july_2023_is_the_leaderboard_with_native_ids_as_examples(tmp_path: Path) -> None:
    row = flat(query=QUERY, example="Mercury_1", gold=1, acc=0.0, acc_norm=1.0)
    row |= {"num_effective_few_shots": -1, "num_asked_few_shots": 25}
    del row["metrics"], row["gold_index"]
    folder = tmp_path / "details_org__a_model" / TIME.replace("-04-05", ":04:05")
    folder.mkdir(parents=True)
    path = written(tmp_path, [row], "harness|arc:challenge|25")
    path = path.rename(folder / path.name)
    log, (sample,) = only(path)
    assert (log.format, log.model) == ("Open LLM Leaderboard v1", "org/a_model")
    assert (log.task, log.shots) == ("harness|arc:challenge", 25)
    assert (sample.prompt, sample.gold, sample.correct) == (QUERY, (1,), 0)


def test_late_2023_is_the_leaderboard_by_its_task(tmp_path: Path) -> None:
    log, _ = only(written(tmp_path, [flat()], "harness|hellaswag|10"))
    assert (log.format, log.task) == ("Open LLM Leaderboard v1", "harness|hellaswag")


def test_options_of_several_metrics_are_not_those_of_the_item(tmp_path: Path) -> None:
    row = flat(metrics={"mc1": 1.0, "mc2": 0.4}, choices=["a", "b", "a", "c"])
    log, (sample,) = only(written(tmp_path, [row | {"predictions": [-1.0, -2.0, -1.0, -3.0]}]))
    assert log.main == Mark("mc1")
    assert (sample.choices, sample.logprobs, sample.chosen) == ((), None, -1)
    assert sample.correct == 1


def test_without_acc_the_normalised_mark_has_the_normalised_style(tmp_path: Path) -> None:
    log, (sample,) = only(written(tmp_path, [flat(metrics={"acc_norm": 0.0})]))
    assert (log.main, log.style, sample.chosen) == (Mark("acc_norm"), "cloze_bytes", -1)
    assert sample.logprobs == (-2, -1)


def test_written_answers_are_read_as_letters_or_not_at_all(tmp_path: Path) -> None:
    texts = [[" B"], ["I think so"], ["  "], ["A", "B"]]
    rows = [nested(choices=["A", "B", "C"]) for _ in texts]
    for row, text in zip(rows, texts, strict=True):
        row["model_response"] = {"logprobs": [], "text": text}
        row["metric"] = {"em": 1.0}
    _, (letter, prose, empty, first, second) = only(written(tmp_path, rows))
    assert (letter.chosen, prose.chosen, prose.outcome) == (1, -1, "answered")
    assert empty.outcome == "unreadable"
    assert [(s.repeat, s.chosen, math.isnan(s.correct)) for s in (first, second)] == [
        (1, 0, True),
        (2, 1, True),
    ]


def test_the_right_answer_alone_is_the_target(tmp_path: Path) -> None:
    row = nested(choices=["42"], gold_index=0)
    row["model_response"] = {"logprobs": [], "text": ["42"]}
    _, (sample,) = only(written(tmp_path, [row]))
    assert (sample.choices, sample.gold, sample.target) == ((), (), "42")


def test_other_parquet_files_are_not_recognised(tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    pq.write_table(pa.table({"doc": ["a"], "choices": ["b"]}), path)
    assert not is_log(path)
    path.write_bytes(b"PAR1 torn")
    assert not is_log(path)
    assert not is_log(tmp_path)


REAL = [
    ("lighteval/v0.13.0", "challenge", 16, 2, 0.1875, "HuggingFaceTB/SmolLM2-135M-Instruct"),
    ("lighteval/v0.13.0", "anatomy", 12, 3, 1 / 6, "HuggingFaceTB/SmolLM2-135M-Instruct"),
    ("lighteval/v0.9.2", "anatomy", 12, 3, 1 / 12, "HuggingFaceTB/SmolLM2-135M-Instruct"),
    ("lighteval/v0.7.0", "anatomy", 12, 3, 1 / 12, "HuggingFaceTB_SmolLM2-135M-Instruct"),
    ("open_llm_leaderboard/v1", "arc", 16, 2, 0.125, "HuggingFaceTB/SmolLM2-135M-Instruct"),
]


@pytest.mark.parametrize(("folder", "task", "items", "shots", "acc", "model"), REAL)
def test_real_details_are_read(
    shared_data: Path, folder: str, task: str, items: int, shots: int, acc: float, model: str
) -> None:
    (path,) = (p for p in (shared_data / "logs" / folder).rglob("*.parquet") if task in p.name)
    log, samples = only(path)
    assert (log.model, log.shots, len(samples)) == (model, shots, items)
    assert log.scores.get(log.main) == (None if "leaderboard" in folder else pytest.approx(acc))
    assert sum(s.correct for s in samples) / items == pytest.approx(acc)
    assert all((s.chosen in s.gold) == s.correct for s in samples)
    assert all(len(s.logprobs or ()) == len(s.continuations or ()) > 2 for s in samples)
    if acc in (0.1875, 0.125):  # their acc_norm, from the same log-likelihoods
        normed = 0
        for s in samples:
            shares = [
                p / len(c) for p, c in zip(s.logprobs or (), s.continuations or (), strict=True)
            ]
            normed += shares.index(max(shares)) in s.gold
        assert normed == {0.1875: 6, 0.125: 7}[acc]
