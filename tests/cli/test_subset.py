"""The command `benchwright subset`, and estimates from ready-made subsets."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchwright.cli import cli


def test_files_name_the_same_rows(tmp_path: Path) -> None:
    names = {name: tmp_path / name for name in ("samples", "ids", "out")}
    options = [f"--{name}={file}" for name, file in names.items()]
    made = CliRunner().invoke(cli, ["subset", "mmlu", "--size", "300", *options])
    assert made.exit_code == 0, made.output
    assert "mmlu-300: 300 of 14,042 items of cais/mmlu, all, split test" in made.output
    rows = json.loads(names["samples"].read_text())
    assert sum(map(len, rows.values())) == 300
    assert f"--tasks {','.join(rows)} --samples {names['samples']}" in made.output
    found = json.loads(names["out"].read_text())
    assert found["inclusion"] == 300 / 14042
    items = found["items"]
    assert {task: [i["row"] for i in items if i["task"] == task] for task in rows} == rows
    ids = names["ids"].read_text().strip().split(",")
    assert [int(number) - 1 for number in ids] == [item["split_row"] for item in items]


def test_unknown_benchmark_is_one_line() -> None:
    made = CliRunner().invoke(cli, ["subset", "hellaswag", "--size", "100"])
    assert made.exit_code == 3
    assert "no benchmark 'hellaswag'; expected one of arc_challenge, gsm8k" in made.stderr


def test_estimates_say_what_they_rest_on(tmp_path: Path) -> None:
    right = np.arange(1172) % 3 > 0
    ids = [f"arc_challenge/{row}" for row in range(1172)]
    table = pd.DataFrame({"item_id": ids, "model": "m", "correct": right})
    table.to_csv(tmp_path / "answers.csv", index=False)
    out = tmp_path / "out.json"
    words = [str(tmp_path / "answers.csv"), "--subset", "arc_challenge-100", f"--out={out}"]
    made = CliRunner().invoke(cli, ["estimate", *words])
    assert made.exit_code == 0, made.output
    assert "aipw, 190 training models (numbers of the package)" in made.output
    assert "1,072 items outside the subset are ignored" in made.output
    model = json.loads(out.read_text())["models"][0]
    assert model["answered"] == 100
    assert model["low"] < right.mean() < model["high"]
    made = CliRunner().invoke(cli, ["estimate", *words, "--no-training"])
    assert (made.exit_code, "predicts by itself: leave out" in made.stderr) == (3, True)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("arc_challenge", "predictions from 190 models for 803 items, none for the others"),
        ("mmlu", "predictions from 23 models\n"),
    ],
)
def test_items_with_predictions_are_counted(tmp_path: Path, name: str, said: str) -> None:
    words = ["subset", name, "--size", "100", "--out", str(tmp_path / "items.json")]
    assert said in CliRunner().invoke(cli, words).output
