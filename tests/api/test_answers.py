"""The functions on files of answers, through the package."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

import benchwright as bw
from audit_examples import row, save
from benchwright.cli import cli
from benchwright.core.errors import InputError

N = 60


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = []
    for name, right in (("a", 45), ("b", 20)):
        scores = [5 * (n < right) for n in range(N)]
        table = pd.DataFrame(
            {"item_id": [f"q{n}" for n in range(N)], "model": name, "score": scores}
        )
        paths.append(tmp_path / f"{name}.csv")
        table.to_csv(paths[-1], index=False)
    return paths[0], paths[1]


def test_functions_do_what_the_commands_do(files: tuple[Path, Path]) -> None:
    a, b = files
    with pytest.raises(InputError, match="--scale 0:5"):
        bw.gate(a, b, 0.02)
    assert bw.gate(a, b, 0.02, scale=(0, 5)).decision == "worse"
    assert bw.gate(b, a, 0.02, scale=(0, 5), anytime=True).decision == "not worse"
    compared = bw.compare(a, f"{b}:b", scale=(0, 5))
    assert compared.overall.difference == pytest.approx(-25 / N)
    assert repr(compared).startswith("a is better by 2.08 points")
    assert repr(bw.gate(a, b, 0.02, scale=(0, 5))).startswith("worse: B − A is below")
    found = bw.compare(a.parent, baseline="a", scale=(0, 5))
    assert found.rows["difference"].tolist() == [compared.overall.difference]
    assert repr(found).startswith("1 model against a: 0 better, 1 worse")
    with pytest.raises(InputError, match="give b, or the baseline"):
        bw.compare(a)
    tables = [pd.read_csv(file) for file in files]
    assert bw.compare(*tables, scale=(0, 5)).groups.equals(compared.groups)
    assert repr(bw.compare(*tables, scale=(0, 5))).startswith("a is better by 2.08 points")
    assert bw.gate(*tables, 0.02, scale=(0, 5)).decision == "worse"
    rows = [table.to_dict("records") for table in tables]
    assert bw.compare(*rows, scale=(0, 5)).groups.equals(compared.groups)
    with pytest.raises(InputError, match=r"^A: 45 of 60 scores are outside 0–1, e\.g\. 5"):
        bw.compare(rows[0], b)
    with pytest.raises(InputError, match=r"^A: a has different answers to 45 items"):
        bw.gate(pd.concat([tables[0], tables[0].assign(score=0)]), b, 0.02, scale=(0, 5))
    with pytest.raises(InputError, match=r"^answers: expected a DataFrame, got None"):
        bw.plan(None, standard_errors=0.05)
    found = bw.compare(pd.concat(tables), baseline="a", scale=(0, 5))
    assert found.rows["difference"].tolist() == [compared.overall.difference]
    with pytest.warns(UserWarning, match="2 models; with fewer than 10"):
        planned = bw.plan(pd.concat(tables), standard_errors=0.05, scale="0:5")
    rows = bw.plan([a, b], standard_errors=[0.05], scale=(0, 5))
    assert set(rows["goal"]) == {"standard_error"}
    pd.testing.assert_frame_equal(planned, rows)
    with pytest.raises(InputError, match="scale '5': expected lowest and highest score"):
        bw.gate(a, b, 0.02, scale="5")
    named = tables[0].rename(columns={"item_id": "question_id"})
    with pytest.raises(InputError, match="no column 'item_id', 'item' or 'id'; it has question_id"):
        bw.compare(named, b, scale=(0, 5))
    with pytest.raises(InputError, match="does not say what was asked"):
        bw.suspects(tables[0])
    with pytest.raises(InputError, match="scores are outside 0–1"):
        bw.suspects(a)
    with pytest.raises(InputError, match="no log, and tables do not say what was asked"):
        bw.suspects(a, scale="0:5")
    with pytest.raises(InputError, match="no log"):
        bw.read_logs(a)


def test_a_run_outside_a_project_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is not in a project"):
        bw.load_run("demo")


def test_a_missing_run_names_the_calls_for_those_that_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "07_model_output" / "demo" / "smart" / "limit60"
    save(folder, "2026-01-01T00.00.00.000Z", row("a"))
    with pytest.raises(InputError, match=r"; there is load_run\('demo', 'smart', limit=60, seed=0"):
        bw.load_run("demo", data_root=tmp_path)
    assert len(bw.load_run("demo", limit=60, data_root=tmp_path)["item_audit"]) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"alpha": 0.95}, "alpha 0.95: Input should be less than or equal to 0.25"),
        ({"alpha": 2}, "alpha 2: Input should be less than or equal to 0.25"),
        ({"alpha": 0}, "alpha 0: Input should be greater than or equal to 0.000001"),
        ({"alpha": -1}, "alpha -1: Input should be greater than or equal to 0.000001"),
        ({"alpha": float("nan")}, "alpha nan: Input should be a finite number"),
        ({"margin": -0.1}, "margin -0.1: Input should be greater than or equal to 0"),
        ({"margin": 2}, "margin 2: the scale is 0 to 1; give 0.05 for 5%"),
        ({"margin": 5, "scale": "0:5"}, "margin 5: the scale is 0 to 5; give 0.25 for 5%"),
        ({"repeats": "best"}, "repeats 'best': Input should be 'mean' or 'first'"),
    ],
)
def test_options_outside_the_limits_of_the_command_line_are_refused(
    files: tuple[Path, Path], options: dict[str, Any], said: str
) -> None:
    a, b = files
    with pytest.raises(InputError) as error:
        bw.gate(a, b, **{"margin": 0.02} | options)
    assert str(error.value) == said


def test_margin_is_in_points_of_the_scale_as_on_the_command_line(
    files: tuple[Path, Path],
) -> None:
    a, b = files
    for margin in (2, 3):
        made = bw.gate(a, b, margin, scale="0:5")
        words = ["gate", str(a), str(b), "--margin", str(margin), "--scale", "0:5"]
        done = CliRunner().invoke(cli, words)
        assert made.request.margin == margin / 5
        assert done.output.splitlines()[0] == repr(made).splitlines()[0]
