"""Runs killed at random moments lose nothing; `make faults` kills each command 20 times."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.kill_matrix import SUBJECTS, Matrix
from faults.project_runs import Server

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")


@pytest.mark.parametrize(
    "quick", [True, pytest.param(False, marks=pytest.mark.long)], ids=["export", "all others"]
)
def test_killed_runs_leave_complete_files_and_the_next_gives_the_same_bytes(
    quick: bool, server: Server, tmp_path: Path, show: Callable[[str], None]
) -> None:
    for number, subject in enumerate(SUBJECTS):
        if (subject.name == "export_perturbed") == quick:
            outcome = Matrix(server, tmp_path / str(number)).kill(subject, 2)
            show(f"{subject.name}: {outcome.tried} kills, {outcome.aside} left aside")
            assert outcome.tried > 0
            assert (outcome.lost, outcome.same) == (0, True)
