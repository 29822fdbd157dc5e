"""Partial runs, in any selection and with any runner, give the same bytes as a full run."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from faults.kill_matrix import run_of
from faults.project_runs import CHEAP, Server, copied, left_in

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")

PERTURBED = run_of("export_perturbed", "limit=30")


def whole(words: Callable[[Path], list[str]], server: Server, root: Path, to: Path) -> Path:
    made = copied(root, to)
    server.must(words(made))
    return made


def check(
    server: Server, words: Callable[[Path], list[str]], made: Path, to: Path, *chosen: str
) -> None:
    """Repeat the chosen part in a copy of a full run; it must leave the same bytes."""
    again = copied(made, to)
    server.must([*words(again), *chosen])
    left, expected = left_in(again), left_in(made)
    assert left.hidden == []
    assert left.newest() == expected.newest()


@pytest.mark.long
def test_runs_of_missing_outputs_and_chosen_nodes_equal_a_full_run(
    server: Server, root: Path, tmp_path: Path
) -> None:
    made = whole(PERTURBED, server, root, tmp_path / "whole")
    before = left_in(made).files
    check(server, PERTURBED, made, tmp_path / "from", "--from-nodes", "exports.export_perturbed")
    torn = copied(made, tmp_path / "missing")
    (table,) = (torn / "04_feature").rglob("perturbed_items.parquet/*/perturbed_items.parquet")
    table.rename(table.with_name(f".{table.name}.00000000-1-{'0' * 32}.tmp"))
    os.utime(table.with_name(f".{table.name}.00000000-1-{'0' * 32}.tmp"), (0, 0))
    server.must([*PERTURBED(torn), "--only-missing-outputs"])
    assert left_in(torn).hidden == []
    assert left_in(torn).newest() == left_in(made).newest()
    items = next(name for name in before if name.endswith("/items.parquet"))
    assert left_in(torn).files[items] == before[items]  # it existed, so it was not recreated


@pytest.mark.long
def test_all_runners_and_partial_runs_equal_a_full_run(
    server: Server, root: Path, tmp_path: Path
) -> None:
    smart = run_of("smart", CHEAP)
    made = whole(smart, server, root, tmp_path / "whole")
    ways = {
        "threads": ("--runner", "ThreadRunner"),
        "processes": ("--runner", "ParallelRunner"),
        "stages": ("--namespaces", "filtering,evaluation"),
        "to": ("--to-nodes", "responses.build_response_matrices"),
        "stage": ("--namespaces", "evaluation"),
        "missing": ("--only-missing-outputs",),
    }
    for name, chosen in ways.items():
        check(server, smart, made, tmp_path / name, *chosen)
