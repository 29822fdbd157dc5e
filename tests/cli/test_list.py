"""What `benchwright list benchmarks` says of the needs of each."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchwright.cli import cli
from benchwright.cli.list import list_of
from benchwright.runs.run_records import RunRecord, write_record


def test_what_a_benchmark_needs_is_said(repository: Path) -> None:
    needs = {row["benchmark"]: row["needs"] for row in list_of("benchmarks", repository, None, {})}
    assert needs["demo"] == needs["documents"] == "nothing"
    assert needs["arc_challenge"] == "network or mirror_root"
    assert needs["arc"] == "network or mirror_root, models"
    known = {row["benchmark"]: row for row in list_of("benchmarks", repository, "evidence", {})}
    assert known.keys() > needs.keys()
    assert known["arc_challenge"]["needs"] == "mirror_root"


@pytest.fixture
def saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> Path:
    """A data folder with three runs of `smart`, one of them with two tables, and one of `dele`."""
    monkeypatch.chdir(repository)
    for folder in ("07_model_output/demo/smart/kept", "08_reporting/demo/smart/report"):
        for second in (1, 2, 3) if "07" in folder else (1,):
            place = tmp_path / folder / f"2026-11-01T00.00.0{second}.000Z"
            place.mkdir(parents=True)
            (place / "table").write_text("text")
    (tmp_path / "07_model_output/demo/dele/kept/2026-10-01T00.00.00.000Z").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("keep", "answer", "left", "said"),
    [
        ("2", "y\n", ["dele/kept", "smart/kept", "smart/kept"], "delete 1 of 4 runs"),
        ("1", "y\n", ["dele/kept", "smart/kept"], "delete 2 of 4 runs"),
        ("2", "n\n", 3 * ["smart/kept"] + ["dele/kept", "smart/report"], "Aborted"),
        ("3", "", 3 * ["smart/kept"] + ["dele/kept", "smart/report"], "no older runs"),
    ],
)
def test_older_runs_are_deleted_where_the_user_agrees(
    saved: Path, keep: str, answer: str, left: list[str], said: str
) -> None:
    words = ["list", "runs", "--data-root", str(saved), "--prune", keep]
    done = CliRunner().invoke(cli, words, input=answer)
    assert said in done.output
    folders = ["/".join(place.parts[-3:-1]) for place in saved.glob("*/demo/*/*/*")]
    assert sorted(folders) == sorted(left)


def test_only_finished_runs_are_kept_for_their_number(saved: Path) -> None:
    write_record(saved, "2026-11-01T00.00.03.000Z", RunRecord({}, {}))
    words = ["list", "runs", "--data-root", str(saved)]
    lines = CliRunner().invoke(cli, words).output.splitlines()
    assert [line.split()[-1] for line in lines[1:]] == [*3 * ["finished"], "unfinished"]
    CliRunner().invoke(cli, [*words, "--prune", "1"], input="y\n")
    left = sorted(place.name[17:19] for place in saved.glob("*/demo/smart/kept/*"))
    assert left == ["02", "03"]


def test_only_runs_of_a_folder_are_deleted(saved: Path) -> None:
    for words in (["models"], ["runs", "--data-root", str(saved / "new")]):
        done = CliRunner().invoke(cli, ["list", *words, "--prune", "1"])
        said = "--prune deletes runs" if "models" in words else "new: there is no such folder\n"
        assert (done.exit_code, said in done.output) == (3, True)
