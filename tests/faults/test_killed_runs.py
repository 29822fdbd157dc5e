"""Runs that are killed at random moments lose nothing; `make faults` kills everything 20 times."""

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
def test_what_has_its_name_is_whole_and_the_next_run_ends_with_the_same_bytes(
    name: str, server: Server, tmp_path: Path, show: Callable[[str], None]
) -> None:
    (subject,) = (one for one in SUBJECTS if one.name == name)
    check(subject, server, tmp_path, show)


@pytest.mark.long
def test_so_it_is_for_every_stage_and_command(
    server: Server, tmp_path: Path, show: Callable[[str], None]
) -> None:
    for number, subject in enumerate(LONG.values()):
        check(subject, server, tmp_path / str(number), show)


def test_a_torn_file_a_strange_one_and_litter_would_be_seen(tmp_path: Path) -> None:
    version = tmp_path / "a.parquet" / "2026-01-01T00.00.00.000Z"
    version.mkdir(parents=True)
    (version / "a.parquet").write_bytes(b"half")
    (version / ".a.parquet.0.tmp").write_bytes(b"")
    left = left_in(tmp_path)
    assert left.files == {"a.parquet/@/a.parquet": {version.name: b"half"}}
    assert left.hidden == [str(version / ".a.parquet.0.tmp")]
