"""Every script of benchmarks/ at its smallest size, on a small made-up folder of real data."""

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

SMALLEST = {
    "bench_engines": "--items 2 --shots 1 --ways vllm",
    "bench_irt": "--smallest",
    "bench_similarity": "--smallest",
    "bench_stages": "smart --stages ingestion --params data_root={tmp}",
    "bench_statistics": "--smallest",
    "filter_choices": "{made} --panels arc_challenge --draws 20 --splits 1",
    "gate_errors": "--smallest --replays 3",
    "gate_replays": "--smallest --replays 20 --orders 20",
    "grown_benchmark": "30 {tmp}",
    "known_draws": "{made} --benchmarks arc_challenge --rates 10 --draws 2",
    "ready_made": "{made} --benchmarks arc_challenge --draws 2 --sizes 20",
}
OTHERS = {"real_data"}
WITH_A_MODEL = {"bench_engines", "bench_stages"}
Script = Callable[..., Any]


def items(prefix: str, subjects: list[str], each: int) -> pd.DataFrame:
    rows = [
        {
            "item_id": f"{prefix}-{subject}-{number}",
            "subject": subject,
            "subset": subject,
            "split": ("test", "dev", "train")[0 if number > 10 else 1 + number % 2],
            "question": f"How many grams of {subject} metal {number} dissolve in cold water today?",
            "choices": [f"about {number + offset} grams" for offset in range(4)],
            "answer_index": number % 4,
        }
        for subject in subjects
        for number in range(each)
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder laid out as that of the real data, with a few made-up items and answers."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "benchmarks").mkdir()
    (folder / "responses").mkdir()
    generator = np.random.default_rng(0)
    for name, subjects in (("mmlu", ["history", "law"]), ("arc", ["ARC-Easy", "ARC-Challenge"])):
        table = items(name, subjects, 40)
        if name == "arc":
            table = table.drop(columns="subject")
        table.to_parquet(folder / f"benchmarks/{name}.parquet")
        answers = table.loc[table["split"] == "test", ["item_id"]].merge(
            pd.Series([f"m{i}" for i in range(7)], name="model"), "cross"
        )
        answers["correct"] = generator.random(len(answers)) < 0.6
        answers["p_answer"] = generator.random(len(answers))
        answers.to_parquet(folder / f"responses/{name}_7models.parquet")
    models = [f"model-{number}" for number in range(40)]
    chance = 1 / (1 + np.exp(generator.normal(size=60) - generator.normal(size=(40, 1))))
    right = pd.DataFrame((generator.random(chance.shape) < chance).astype(float))
    right.columns = [f"i{number}" for number in range(60)]
    right.insert(0, "model", models)
    right.to_parquet(folder / "responses/leaderboard_v1_arc_challenge.parquet")
    facts = {"name": models, "arch": [f"a{i // 4}" for i in range(40)], "size": 7.0, "arc": 50.0}
    asked = {"item_id": [f"i{n}" for n in range(80)], "split": "test", "question": "Which?"}
    pd.DataFrame(asked).to_parquet(folder / "benchmarks/arc_challenge.parquet")
    pd.DataFrame(facts).to_parquet(folder / "responses/leaderboard_v1_models.parquet")
    return folder


@pytest.fixture
def script(made: Path, tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> Script:
    """Import a script anew and hand it its arguments."""
    monkeypatch.setenv("BENCHWRIGHT_MLFLOW", "off")
    monkeypatch.setenv("BENCHWRIGHT_VLLM_PYTHON", str(tmp_path / "no-python"))

    def load(name: str, words: str, data: Path = made) -> Any:
        monkeypatch.setenv("BENCHWRIGHT_SHARED_DATA", str(data))
        places = {"made": made, "tmp": tmp_path, "here": repository / "benchmarks"}
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *words.format(**places).split()])
        for other in {*SMALLEST, *OTHERS} & {*sys.modules}:
            monkeypatch.delitem(sys.modules, other)
        return importlib.import_module(name)

    return load


def test_every_script_is_listed(repository: Path) -> None:
    assert {path.stem for path in (repository / "benchmarks").glob("*.py")} == {*SMALLEST} | OTHERS


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.long if name in WITH_A_MODEL else ())
        for name in SMALLEST
    ],
)
def test_benchmark_script_runs(
    name: str, script: Script, capsys: pytest.CaptureFixture[str]
) -> None:
    script(name, SMALLEST[name]).main()
    message = capsys.readouterr().out
    assert message
    assert "failed" not in message


def test_missing_real_data_is_reported(
    script: Script, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = script("grown_benchmark", "30 {tmp}", tmp_path / "none")
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert not ended.value.code
    assert capsys.readouterr().out.startswith("not run: no real data at ")


def test_engine_worker_runs(script: Script, tmp_path: Path) -> None:
    from faults.tiny_llama import save_tiny_llama

    asked, out = tmp_path / "asked.json", tmp_path / "out.json"
    asked.write_text(json.dumps([["", "Question: apple? Answer:", [" iron", " Mars"]]]))
    folder = save_tiny_llama(tmp_path / "model")
    script("bench_engines", f"--worker transformers {folder} float32 {asked} {out}").main()
    assert len(json.loads(out.read_text())["logprobs"][0]) == 2
