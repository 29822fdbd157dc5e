"""The command `benchwright subset`, and estimates from ready-made subsets."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchwright.cli import cli
from benchwright.methods.dele.ready_made import load_ready_made
from benchwright.verdicts.gate import GateRequest, gate_subset
from benchwright.verdicts.pair import Pair, Side


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
    made = CliRunner().invoke(cli, ["subset", "gsm8k", "--size", "100"])
    assert "rows for lm_eval are not written: add --samples gsm8k-100.json" in made.output
    assert "--tasks gsm8k --samples gsm8k-100.json" in made.output
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
    assert "ignored items outside the subset: 1,072" in made.output
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


def test_gate_decides_for_the_whole_benchmark(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    first = rng.random(1172) < 0.7
    changed = rng.random(1172) < 0.2
    scores = {"a": first, "b": np.where(changed, rng.random(1172) < 0.2, first)}
    files = {name: tmp_path / f"{name}.csv" for name in scores}
    for name, right in scores.items():
        ids = [f"arc_challenge/{row}" for row in range(1172)]
        subjects = ["physics", "biology"] * 586  # do not keep ids from naming the items
        table = pd.DataFrame({"item_id": ids, "model": name, "correct": right})
        table.assign(subject=subjects).to_csv(files[name], index=False)
    out, page = tmp_path / "gate.json", tmp_path / "gate.html"
    words = ["gate", *map(str, files.values()), "--margin", "0.02", "--subset"]
    made = CliRunner().invoke(cli, [*words, "arc_challenge-300", f"--out={out}"])
    assert made.exit_code == 1, made.output
    assert "bounds of B − A on all 1,172 items: " in made.output
    saved = json.loads(out.read_text())
    found = saved["gate"]
    d = scores["b"].astype(float) - scores["a"]
    asked = d[load_ready_made("arc_challenge").draw(300)]
    assert saved["difference"] == pytest.approx(asked.mean())
    reach = 1.65 * np.sqrt((1 - 300 / 1172) / 300) * asked.std()
    bounds = found["low"], found["high"]
    assert bounds == pytest.approx((asked.mean() - reach, asked.mean() + reach), abs=2e-3)
    made = CliRunner().invoke(cli, [*words, "gsm8k-300", f"--page={page}"])
    assert (made.exit_code, "0 of its 300 items are answered" in made.stderr) == (3, True)


def test_bounds_of_real_models_hold_for_all_items(shared_data: Path) -> None:
    texts = pd.read_parquet(shared_data / "benchmarks/mmlu.parquet").assign(passage_id=None)
    right = pd.read_parquet(shared_data / "responses/mmlu_correct_23models.parquet").dropna()
    correct = right.drop(columns="item_id").to_numpy(np.float64).T
    ready, ids = load_ready_made("mmlu"), tuple(right["item_id"])
    places, subset = ready.find(texts, ids), ready.manifest(300)
    assert len(places) == pytest.approx(len(ready.keys), abs=30)
    sides = [Side("s", name, np.nan, 0, 0) for name in "ab"]
    inside = []
    for answers in pairwise(correct):
        pair = Pair(*sides, ids, np.array(answers), np.arange(len(ids)), None)
        found = gate_subset(pair, subset, GateRequest(0.1, 0.05), places).figures
        inside.append(found["low"] < pair.d.mean() < found["high"])
    assert np.mean(inside) > 0.8
