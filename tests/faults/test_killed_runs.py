"""Runs killed at random moments lose nothing; `make faults` kills each command 20 times."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.kill_matrix import SUBJECTS, Matrix, Subject
from faults.project_runs import Server

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
