"""The command `benchwright plan`, and the responses that it reads from saved runs."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from benchwright.answers.read_answers import known_answers, read_items
from benchwright.answers.table import Answers, select_answered
from benchwright.cli import cli
from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.datasets.response_matrix import ResponseMatrixDataset

N, M = 60, 8


def answers() -> np.ndarray:
    rng = np.random.default_rng(2)
    logits = rng.normal(0, 1, (M, 1)) - rng.normal(0, 1, (1, N))
    return (rng.random((M, N)) < 1 / (1 + np.exp(-logits))).astype(np.float32)


IDS = tuple(f"q/{n}" for n in range(N))
MODELS = tuple(f"m{i}" for i in range(M))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    frame = pd.DataFrame(answers().T, columns=list(MODELS))
    frame.insert(0, "item_id", IDS)
    frame.to_csv(tmp_path / "answers.csv", index=False)
    return tmp_path / "answers.csv"


def items() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "item_id": IDS,
            "question": ["x" * 32] * N,
            "choices": [["yes", "no!"]] * N,
            "subject": ["a", "b"] * (N // 2),
            "passage_id": [f"p{n // 2}" for n in range(N)],
        }
    )


def test_plan_is_printed_and_written(table: Path, tmp_path: Path) -> None:
    items().to_parquet(tmp_path / "items.parquet")
    words = ["plan", str(table), "--items", str(tmp_path / "items.parquet"), "--se", "0.05"]
    words += ["--se", "0.0001", "--mdd", ".4", "--tau", ".6", "--subsets", "40"]
    words += ["--out", str(tmp_path / "p.json"), "--page", str(tmp_path / "p.html")]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    assert "answers.csv: 8 models, 60 items" in done.output
    assert "note: 8 models; with fewer than 10 the figures may not hold" in done.output
    header = next(line for line in done.output.splitlines() if line.startswith("goal "))
    columns = re.split("  +", header)
    names = "goal, whose, sampler, items, share, value, with all, reason"
    assert columns == names.split(", ")
    assert re.search(r"0\.05 +worst model, benchmark +random  ", done.output)
    page = (tmp_path / "p.html").read_text()
    assert "<title>Items for a target precision</title>" in page
    assert "answers.csv: responses of 8 models to 60 items" in page
    assert "not reached" in done.output
    saved = json.loads((tmp_path / "p.json").read_text())
    assert (saved["models"], saved["items"]) == (M, N)
    by = {(r["goal"], r["wanted"], r["whose"], r["target"], r["sampler"]): r for r in saved["rows"]}
    row = by["standard_error", 0.05, "worst model", "benchmark", "random"]
    single = answers().var(axis=1, ddof=1, dtype=np.float64).max()
    assert row["items"] == int(np.ceil(single / (0.05**2 + single / N)))
    assert by["standard_error", 0.0001, "worst model", "ability", "random"]["items"] is None
    assert ("tau_b", 0.6, "stronger models", "benchmark", "random") in by
    page = (tmp_path / "p.html").read_text()
    share = f"{row['items'] / N:.0%}"
    verdict = f"{row['items']} ({share}) are enough for standard error 0.05 (worst model); "
    assert f"Of {N} items, chosen at random: {verdict}" in page
    assert ">Standard error</text>" in page
    assert page.index("Standard error of a score") < page.index("Items needed for each target")
    for caption in (
        "Standard error of a score",
        "Smallest detectable difference",
        "tau-b with the ranking",
    ):
        assert caption in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no target"),
        (["--gap", ".1", "--order", ".5"], "'--order': 0.5 is not in the range 0.5<x<1"),
        (["--se", "1"], "'--se': 1.0 is not in the range 0<x<1"),
        (["--tau", ".5", "--subsets", "19"], "'--subsets': 19 is not in the range x>=20"),
        (["--se", ".1", "--items", "{answers}"], ""),
    ],
)
def test_errors_are_one_line(words: list[str], message: str, table: Path) -> None:
    given = [word.replace("{answers}", str(table)) for word in words]
    done = CliRunner().invoke(cli, ["plan", str(table), *given])
    assert (done.exit_code != 0) == bool(message)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_passages_and_subjects_come_from_the_items_table(table: Path, tmp_path: Path) -> None:
    file = tmp_path / "items.parquet"
    items().sample(frac=1, random_state=0).iloc[:-1].to_parquet(file)
    known = known_answers(None, None, [table], {}, file)
    assert len(set(known.clusters().tolist())) in (N // 2, N // 2 + 1)
    subjects = known.subjects()
    assert subjects is not None
    assert len(subjects) == N
    bare = known_answers(None, None, [table], {})
    assert bare.subjects() is None
    np.testing.assert_array_equal(bare.clusters(), np.arange(N))


def test_duplicate_items_and_missing_ids_are_rejected(tmp_path: Path) -> None:
    pd.concat([items(), items().iloc[:1]]).to_parquet(tmp_path / "i.parquet")
    with pytest.raises(InputError, match="item_id 'q/0' is not unique"):
        read_items(tmp_path / "i.parquet")
    items().drop(columns="item_id").to_parquet(tmp_path / "j.parquet")
    with pytest.raises(InputError, match="no column 'item_id'"):
        read_items(tmp_path / "j.parquet")


def gaps() -> Answers:
    correct = answers()
    correct[:5, :10] = np.nan  # items that three of eight models answered
    correct[7, 20:] = np.nan  # a model with few answers
    return Answers("f", MODELS, IDS, correct)


def test_items_with_few_responses_are_dropped_before_models_with_gaps() -> None:
    selected = select_answered(gaps())
    assert selected.item_ids == IDS[10:]
    assert selected.models == MODELS[:7]
    assert not np.isnan(selected.correct).any()
    assert selected.notes == (
        "excluded: 10 items that fewer than half of the models answered",
        "excluded: 1 models that answered fewer than 95% of the items",
    )


def test_all_items_keeps_items_and_the_models_that_answered_them() -> None:
    selected = select_answered(gaps(), all_items=True)
    assert selected.item_ids == IDS
    assert selected.models == MODELS[5:7]


def test_responses_are_required() -> None:
    blank = np.full((M, N), np.nan, dtype=np.float32)
    with pytest.raises(InputError, match="f: no model answered"):
        select_answered(gaps()._replace(correct=blank))


def save_matrix(root: Path, variant: str, version: str, models: int) -> None:
    folder = root / "07_model_output" / "demo" / variant / "response_matrix.parquet" / version
    folder.mkdir(parents=True)
    matrix = ResponseMatrix.of(MODELS[:models], IDS, correct=answers()[:models])
    ResponseMatrixDataset(filepath=str(folder / "response_matrix.parquet")).save(matrix)


def test_newest_saved_responses_are_the_default(tmp_path: Path, repository: Path) -> None:
    params = {"benchmark": "demo", "data_root": str(tmp_path)}
    with pytest.raises(
        InputError, match=r"no run of benchmark 'demo' has saved response_matrix; .*: none; run "
    ):
        known_answers(repository, None, [], params)
    save_matrix(tmp_path, "smart", "2026-01-01T00.00.00.000Z", 4)
    save_matrix(tmp_path, "dele", "2026-02-01T00.00.00.000Z", 6)
    save_matrix(tmp_path, "smart", "2026-01-02T00.00.00.000Z", 5)
    families = tmp_path / "07_model_output/demo/dele/models_table.parquet"
    (families / "2026-02-01T00.00.00.000Z").mkdir(parents=True)
    pd.DataFrame({"model": ["m0", "m1"], "family": ["f", "g"]}).to_parquet(
        families / "2026-02-01T00.00.00.000Z" / "models_table.parquet"
    )
    newest = known_answers(repository, None, [], params)
    assert newest.models == MODELS[:6]
    assert newest.source == "demo · dele · 2026-02-01T00.00.00.000Z"
    assert newest.families == {"m0": "f", "m1": "g"}
    smart = known_answers(repository, None, [], params | {"variant": "smart"})
    assert (smart.models, smart.families) == (MODELS[:5], {})
