"""What `benchwright evaluate-sealed` saves of both halves, and when it refuses to."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchwright import __version__
from benchwright.cli import cli
from benchwright.cli import evaluate_sealed as command
from benchwright.core.errors import InputError
from benchwright.datasets.half_scores import GroupResult, HalfScores
from benchwright.methods.mmlu_cf.sealing.key import SealKey
from benchwright.methods.mmlu_cf.sealing.seal import SealedScore
from benchwright.methods.mmlu_cf.splitting.gap import half_gaps, pair_halves
from sealed_files import SealedFiles, seal_in

SECRET = "-".join(["a", "key", "for", "tests", "only"])
N = 320  # at least 50 of each field in either half
SCORE = SealedScore(
    GroupResult(n=9, accuracy=0.5, se=None), {"law": GroupResult(n=9, accuracy=0.5, se=0.1)}, 1, ""
)


def sealed_in(folder: Path, seed: int = 0, n: int = N) -> SealedFiles:
    random = np.random.default_rng(seed)
    words = np.array([f"word{i}" for i in range(2_000)])
    items = pd.DataFrame(
        {
            "item_id": [f"q{i}" for i in range(n)],
            "question": [" ".join(random.choice(words, 8)) for _ in range(n)],
            "choices": [[" ".join(random.choice(words, 4)) for _ in range(4)] for _ in range(n)],
            "answer": random.integers(0, 4, n),
            "field": ["math" if i % 3 else "law" for i in range(n)],
            "difficulty": 5.0,
        }
    )
    halves = ["test" if i % 2 else "validation" for i in range(n)]
    assignment = items[["item_id", "field", "difficulty"]].assign(half=halves, stratum="-")
    return seal_in(folder, items, assignment, SealKey(SECRET))


@pytest.fixture
def files(tmp_path: Path) -> SealedFiles:
    return sealed_in(tmp_path / "sealed")


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch, repository: Path) -> list[str]:
    """Scores without models: one that read the public half, one that did not."""
    asked: list[str] = []

    def scorer(request: command.SealedRequest, *_: Any) -> Callable[[Sequence[Any]], Any]:
        def score(items: Sequence[Any]) -> list[float]:
            asked.append(f"{request.model} {request.shots} {request.file.name}")
            leaked = request.model == "gemma-3-270m" and request.file.suffix == ".jsonl"
            return [float(i % 10 < (9 if leaked else 5)) for i, _ in enumerate(items)]

        return score

    monkeypatch.setattr(command, "model_scorer", scorer)
    monkeypatch.setenv("BENCHWRIGHT_SEAL_KEY", SECRET)
    monkeypatch.chdir(repository)
    return asked


def invoke(*words: object) -> Any:
    return CliRunner().invoke(cli, ["evaluate-sealed", *map(str, words)])


def test_each_model_and_shots_has_a_file_that_the_monitor_pairs(
    files: SealedFiles, scripted: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "half_scores"
    models = ["--model", "smollm2-135m-instruct", "--model", "gemma-3-270m"]
    shots = ["--shots", 0, "--shots", 2, "--demonstrations", files.validation]
    words = [files.test, files.validation, *models, *shots, "--out", out]
    done = invoke(*words)
    assert done.exit_code == 0, done.output
    assert len(scripted) == len(set(scripted)) == 8
    names = sorted(path.name for path in out.iterdir())
    assert len(names) == 8
    assert names[0] == "gemma-3-270m@letters-0.test.json"
    saved = json.loads((out / "gemma-3-270m@letters-2.validation.json").read_text())
    manifest = json.loads(files.manifest.read_text())
    assert saved["version"] == __version__
    assert saved["benchmark"]["canary"] == manifest["canary"]
    assert saved["benchmark"]["test"] == manifest["test"]["sha256"]
    assert (saved["half"], saved["shots"], saved["all"]["n"]) == ("validation", 2, N // 2)
    assert saved["all"]["accuracy"] == pytest.approx(0.9)
    assert set(saved["fields"]) == {"law", "math"}
    # Nothing but results and names: no text of an item, no id.
    questions = [json.loads(row)["question"] for row in files.validation.read_text().splitlines()]
    written = "".join(path.read_text() for path in out.iterdir())
    assert not any(question in written for question in questions)
    assert "q0" not in written

    gaps = half_gaps(pair_halves(HalfScores(folder=str(out)).load())[0], {})
    whole = gaps[gaps["field"].eq("")].set_index(["model", "shots"])["suspicious"]
    assert whole.groupby("model").all().to_dict() == {
        "gemma-3-270m": True,
        "smollm2-135m-instruct": False,
    }
    assert len(gaps) == 4 * 3


def test_results_need_the_manifest_of_the_same_sealing(
    files: SealedFiles, scripted: list[str], tmp_path: Path
) -> None:
    other = sealed_in(tmp_path / "other", seed=1)
    shutil.copy(other.test, files.test)
    words = [files.test, "--model", "gemma-3-270m", "--out", tmp_path / "x"]
    done = invoke(*words)
    assert done.exit_code == 3
    assert "manifest.json is of another test half" in done.stderr
    files.manifest.unlink()
    done = invoke(*words)
    assert "manifest.json: cannot be read (FileNotFoundError)" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert scripted == []  # told before any model is asked
    assert not (tmp_path / "x").exists()
    assert invoke(*words[:3]).exit_code == 0  # shown, not saved


def test_half_that_is_too_small_to_report_is_not_asked(scripted: list[str], tmp_path: Path) -> None:
    done = invoke(sealed_in(tmp_path, n=98).test, "--model", "gemma-3-270m")
    assert (done.exit_code, scripted) == (3, [])
    assert "has 49 questions; accuracies of fewer than 50 are withheld" in done.stderr


def test_demonstrations_of_another_benchmark_are_rejected(
    files: SealedFiles, tmp_path: Path
) -> None:
    other = sealed_in(tmp_path / "other", seed=1)
    request = command.SealedRequest(files.test, "m", shots=2, demonstrations=other.validation)
    with pytest.raises(InputError, match="is not the public half of"):
        command.identity_of(request)
    command.identity_of(request._replace(demonstrations=files.validation))
    command.identity_of(request._replace(shots=0))  # none are shown


def test_missing_results_are_null_and_file_names_are_safe(
    files: SealedFiles, tmp_path: Path
) -> None:
    request = command.SealedRequest(files.validation, "org/some model", "cloze", 5)
    file = command.write_score(request, SCORE, tmp_path / "folder")
    assert file == tmp_path / "folder" / "org_some_model@cloze-5.validation.json"
    saved = json.loads(file.read_text())
    assert saved["all"] == {"n": 9, "accuracy": 0.5, "se": None}
    assert saved["fields"] == {"law": {"n": 9, "accuracy": 0.5, "se": 0.1}}
    assert saved["unanswered"] == 1
