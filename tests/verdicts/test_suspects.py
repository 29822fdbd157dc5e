"""The command `benchwright suspects` on logs."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from answers.lm_eval_examples import results, scored, write_log
from benchwright.cli import cli

GOLD, WRONG_KEY = [0, 1, 2, 3, 0], 3  # the key of item 3 names another option than all models


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name in ("org-a", "org-b", "org-c"):
        rows = []
        for number, gold in enumerate(GOLD):
            chosen = 1 if number == WRONG_KEY else 0 if number == 4 and name == "org-a" else gold
            doc = {"question": f"Question {number}?", "choices": list("wxyz"), "answer": gold}
            logprobs = [0 if option == chosen else -2 for option in range(4)]
            rows.append(scored(number, doc, [f" {c}" for c in "ABCD"], logprobs, gold))
        write_log(tmp_path / name, rows, "exam", results("exam", model=f"{name}/m"))
    return tmp_path


def test_the_key_that_no_model_chooses_comes_first(logs: Path) -> None:
    out = logs / "suspects.json"
    done = CliRunner().invoke(cli, ["suspects", str(logs), "--top", "1", "--out", str(out)])
    assert done.exit_code == 0, done.output
    header, _, first, *_ = done.output.splitlines()
    assert header.startswith("5 items, 3 models")
    assert first.split()[:8] == ["exam/3", "100%", "of", "3", "D", "B,", "by", "3"]
    assert "note: 3 models; with fewer than 10, fewer of the first are errors" in done.output
    saved = json.loads(out.read_text())
    assert saved["items"][0]["item_id"] == "exam/3"
    assert len(saved["items"]) == 5
    assert (saved["items"][0]["alternative"], saved["items"][0]["n_alternative"]) == (1, 3)


def test_tables_and_single_models_are_refused(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item_id,model,score\nq,m,1\n")
    done = CliRunner().invoke(cli, ["suspects", str(tmp_path / "t.csv")])
    assert (done.exit_code, "tables do not say what was asked" in done.output) == (3, True)
    done = CliRunner().invoke(cli, ["suspects", str(logs / "org-a")])
    assert (done.exit_code, "suspects need several" in done.output) == (3, True)
