"""Partial runs, in any selection and with any runner, give the same bytes as a full run."""

import os
from pathlib import Path

import pytest

from faults.kill_matrix import run_of
from faults.project_runs import CHEAP, Server, copied, left_in

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")


@pytest.mark.long
def test_all_runners_and_partial_runs_equal_a_full_run(
    server: Server, root: Path, tmp_path: Path
) -> None:
    smart = run_of("smart", CHEAP)
    server.must(smart(root))
    before = left_in(root)
    ways = {
        "threads": ("--runner", "ThreadRunner"),
        "processes": ("--runner", "ParallelRunner"),
        "stages": ("--namespaces", "filtering,evaluation"),
        "to": ("--to-nodes", "responses.build_response_matrices"),
        "missing": ("--only-missing-outputs",),
        "torn": ("--only-missing-outputs",),
    }
    for name, chosen in ways.items():
        again = copied(root, tmp_path / name)
        if name == "torn":
            (table,) = again.rglob("kept_items.parquet/*/kept_items.parquet")
            torn = table.rename(table.with_name(f".{table.name}.00000000-1-{'0' * 32}.tmp"))
            os.utime(torn, (0, 0))
        server.must([*smart(again), *chosen])
        left = left_in(again)
        assert left.hidden == []
        assert left.newest() == before.newest(), name
    items = next(name for name in before.files if name.endswith("/items.parquet"))
    assert left.files[items] == before.files[items]  # it existed, so it was not recreated
