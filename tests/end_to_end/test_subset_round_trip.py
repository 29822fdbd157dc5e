"""The full score estimated from a harness log of an exported subset."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchwright.cli import cli
from benchwright.core.content_hash import content_hash
from benchwright.datasets.harness_tasks import HarnessTasks
from benchwright.datasets.subset_manifest import read_subset
from benchwright.exports.export import export_subset
from benchwright.params.exports import ExportsParams
from benchwright.params.sampling import SamplingParams
from benchwright.params.scoring import ScoringParams
from benchwright.responses.known_responses import read_responses
from benchwright.tables.dele import ChosenSubset
from exports.export_examples import benchmark, item, table

pytest.importorskip("lm_eval")
pytestmark = pytest.mark.long

ASKED = [
    ("Which gas do plants take in?", ("oxygen", "carbon dioxide", "helium", "neon"), 1),
    ("What force pulls objects to Earth?", ("gravity", "friction", "heat"), 0),
    ("Which of these is a mammal?", ("a whale", "a trout", "a hen", "an ant"), 0),
    ("What melts ice?", ("cold", "darkness", "heat", "silence"), 2),
    ("Which planet is closest to the Sun?", ("Mars", "Venus", "Mercury", "the Moon"), 2),
    ("How many legs has a spider?", ("six", "eight", "ten", "four"), 1),
    ("Which is a metal?", ("iron", "wood", "glass", "wool"), 0),
    ("What do bees make?", ("milk", "honey", "silk", "salt"), 1),
]
WEIGHTS = {6: 0.4, 1: 0.3, 3: 0.2, 4: 0.1}


@pytest.mark.live
def test_log_of_a_subset_gives_an_estimate(tmp_path: Path, smollm2_folder: Path) -> None:
    rows = [item(f"colours/{n}", "s", *asked) for n, asked in enumerate(ASKED)]
    items = table(*rows)
    assert items["content_hash"][0] == content_hash(ASKED[0][0], ASKED[0][1])
    subset = ChosenSubset.from_rows([(f"colours/{n}", n, w, math.nan) for n, w in WEIGHTS.items()])
    exported = export_subset(
        items,
        subset,
        pd.DataFrame({"split": [-1], "winner": ["random"]}),
        table(item("dev/0", "s", "What is wet?", ("sand", "water"), 1)),
        SamplingParams.model_validate({"export": {"sampler": "anchor_points"}}),
        "",
        benchmark(),
        ScoringParams(),
        ExportsParams(styles=("cloze",)),
        "dele",
        None,
        0,
    )
    folder, logs = tmp_path / "subset", tmp_path / "results"
    HarnessTasks(path=str(folder)).save(exported)
    task = "benchwright_colours_anchor_points_4_cloze"
    command = [
        *(sys.executable, "-m", "lm_eval", "--model", "hf"),
        *("--model_args", f"pretrained={smollm2_folder},dtype=float32", "--device", "cpu"),
        *("--tasks", task, "--include_path", str(folder), "--num_fewshot", "1"),
        *("--log_samples", "--output_path", str(logs)),
    ]
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
    subprocess.run(command, check=True, env=os.environ | offline, capture_output=True)

    (log,) = logs.rglob("samples_*.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    right = {line["doc"]["item_id"]: line["acc"] for line in lines}
    assert {line["doc"]["item_id"]: line["doc"]["weight"] for line in lines} == {
        f"colours/{n}": w for n, w in WEIGHTS.items()
    }
    read = read_responses([logs])
    assert dict(zip(read.item_ids, read.correct[0].tolist(), strict=True)) == right

    known = np.random.default_rng(0).integers(0, 2, (30, len(ASKED)))
    training = pd.DataFrame(known, columns=items["item_id"].tolist())
    training.insert(0, "model", [f"t{i}" for i in range(30)])
    training.to_csv(tmp_path / "training.csv", index=False)
    out = tmp_path / "estimate.json"
    words = ["estimate", str(logs), "--subset", str(folder), "--out", str(out)]
    done = CliRunner().invoke(cli, [*words, "--training", str(tmp_path / "training.csv")])
    assert done.exit_code == 0, done.output
    (model,) = json.loads(out.read_text())["models"]
    assert model["answered"] == 4
    score = sum(
        w * right[name]
        for name, w in zip(read_subset(folder).item_ids, WEIGHTS.values(), strict=True)
    )
    assert model["on_subset"] == pytest.approx(score)
    assert model["low"] <= model["score"] <= model["high"]
