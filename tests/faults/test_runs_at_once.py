"""Two simultaneous runs in one project both succeed, each with its own files."""

import os
from pathlib import Path

import pytest

from benchwright.datasets.harness_tasks import HarnessExport, HarnessTasks
from faults.kill_matrix import run_of
from faults.project_runs import Server, copied, left_in

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")

BY_LABELS = run_of("export_perturbed", "limit=60")
WITHOUT = run_of("export_perturbed", "limit=60,perturbation.sba=none")
EXPORTS = ("/harness", "/hub")  # folders without versions: those of one of the runs


@pytest.mark.long
def test_simultaneous_runs_do_not_read_each_others_files(
    server: Server, root: Path, tmp_path: Path
) -> None:
    alone = []
    for number, words in enumerate((BY_LABELS, WITHOUT)):
        copy = copied(root, tmp_path / str(number))
        server.must(words(copy))
        alone.append(left_in(copy).newest())
    ended = server.run(BY_LABELS(root), beside=WITHOUT(root), pause=0.02)
    assert (ended["code"], ended["beside"]) == (0, 0), server.said[-2000:]
    both = left_in(root)
    assert both.hidden == []
    exported = {name for name in both.files if any(part in name for part in EXPORTS)}
    tables = [name for name in both.files if name.endswith(".parquet") and name not in exported]
    assert len(tables) > 4
    for name in tables:
        saved, expected = set(both.files[name].values()), {copy[name] for copy in alone}
        assert saved <= expected if "/latest/" in name else saved == expected, name
    for part in EXPORTS:
        names = sorted(name for name in exported if part in name)
        found = [next(iter(both.files[name].values())) for name in names]
        assert found in [[copy[name] for name in names] for copy in alone]


def test_simultaneous_writers_always_leave_a_complete_export(tmp_path: Path) -> None:
    folder, rounds = tmp_path / "harness", 50

    def write(fact: str) -> None:
        for number in range(rounds):
            written = HarnessExport([], "how", {"by": fact, "n": number}, reader=b"")
            HarnessTasks(path=str(folder)).save(written)

    write("nobody")
    children = []
    for name in ("one", "two"):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                write(name)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    seen = set()
    for child in children:
        while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            seen.add(HarnessTasks(path=str(folder)).load()["by"])
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0]
    assert HarnessTasks(path=str(folder)).load()["n"] == rounds - 1
    assert [path.name for path in tmp_path.iterdir()] == ["harness"]
    assert seen
