"""Runs killed at random moments lose nothing; `make faults` kills each command 20 times."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.kill_matrix import SUBJECTS, Matrix, Subject
from faults.project_runs import Server, left_in

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")

KILLS = int(os.environ.get("BENCHWRIGHT_KILLS", "2"))
QUICK = ("export_perturbed",)
LONG = {subject.name: subject for subject in SUBJECTS if subject.name not in QUICK}


def check(subject: Subject, server: Server, work: Path, show: Callable[[str], None]) -> None:
    outcome = Matrix(server, work).kill(subject, KILLS)
    show(f"{subject.name}: {outcome.tried} kills, {outcome.lost} lost, {outcome.aside} left aside")
    assert outcome.tried > 0
    assert outcome.lost == 0
    assert outcome.same


@pytest.mark.parametrize("name", QUICK)
def test_killed_run_leaves_complete_files_and_the_next_gives_the_same_bytes(
    name: str, server: Server, tmp_path: Path, show: Callable[[str], None]
) -> None:
    (subject,) = (subject for subject in SUBJECTS if subject.name == name)
    check(subject, server, tmp_path, show)


@pytest.mark.long
def test_every_killed_stage_and_command_leaves_complete_files(
    server: Server, tmp_path: Path, show: Callable[[str], None]
) -> None:
    for number, subject in enumerate(LONG.values()):
        check(subject, server, tmp_path / str(number), show)


def test_kills_hit_runs_of_a_machine_that_is_less_busy_than_before(tmp_path: Path) -> None:
    class Fast:
        """Says that the first run took 100 seconds; each later one takes a tenth of a second."""

        def must(self, words: list[str]) -> float:
            return 100.0

        def run(self, words: list[str], moment: float = 1.0, **_: object) -> dict[str, float]:
            return {"code": -9 if moment < 0.1 else 0, "seconds": min(moment, 0.1)}

    subject = Subject("none", (), lambda _: ["run"])
    for seed in range(20):
        matrix = Matrix(Fast(), tmp_path / str(seed), seed)  # type: ignore[arg-type]
        assert matrix.kill(subject, KILLS).tried > 0


def test_check_detects_partial_and_temporary_files(tmp_path: Path) -> None:
    version = tmp_path / "a.parquet" / "2026-01-01T00.00.00.000Z"
    version.mkdir(parents=True)
    (version / "a.parquet").write_bytes(b"half")
    (version / ".a.parquet.0.tmp").write_bytes(b"")
    left = left_in(tmp_path)
    assert left.files == {"a.parquet/@/a.parquet": {version.name: b"half"}}
    assert left.hidden == [str(version / ".a.parquet.0.tmp")]
