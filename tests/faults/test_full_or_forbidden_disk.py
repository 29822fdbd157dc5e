"""A full or read-only disk: an error in one line, and unchanged old files."""

import os
from pathlib import Path

import pytest

from faults.kill_matrix import PLAN, SUBJECTS, command, run_of
from faults.project_runs import Server, left_in

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")

INGESTION = run_of("smart", "limit=60", "--namespaces", "ingestion")
LONG = run_of("smart", "limit=200", "--namespaces", "ingestion")
PERTURBED = next(subject.words for subject in SUBJECTS if subject.name == "export_perturbed")


def last_line(server: Server) -> str:
    assert "Traceback" not in server.said
    lines = server.said.strip().splitlines()
    return [line for line in lines if not line.startswith("to continue from there")][-1]


def test_full_or_read_only_disk_keeps_old_files_and_gives_a_one_line_error(
    server: Server, root: Path
) -> None:
    server.must(INGESTION(root))
    before = left_in(root)
    ended = server.run(LONG(root), limits={"RLIMIT_FSIZE": 5000})
    assert ended["code"] == 3
    message = last_line(server)
    assert message.startswith(f"benchwright: {root}/03_primary/demo/")
    assert "cannot be written: File too large; the old content is kept; free disk" in message
    after = left_in(root)
    assert after.hidden == []
    for name, versions in before.files.items():
        assert versions.items() <= after.files[name].items()
    for folder in (root / "03_primary").rglob("*.parquet"):
        if folder.is_dir():
            folder.chmod(0o555)
    ended = server.run([*INGESTION(root), "--runner", "ThreadRunner"], unprivileged=True)
    assert ended["code"] == 3
    assert "cannot be written: Permission denied; the old content is kept; " in last_line(server)
    assert left_in(root).files == after.files


@pytest.mark.long
def test_full_disk_keeps_the_old_export(server: Server, root: Path) -> None:
    server.must(PERTURBED(root))
    old = left_in(root).newest()
    ended = server.run(
        run_of("export_perturbed", "limit=60")(root), limits={"RLIMIT_FSIZE": 60_000}
    )
    assert ended["code"] == 3
    assert "cannot be written: File too large" in last_line(server)
    now = left_in(root)
    assert now.hidden == []
    exported = {name: content for name, content in old.items() if "/harness" in name}
    assert len(exported) > 10
    assert {name: now.newest()[name] for name in exported} == exported


def test_command_names_a_file_that_it_cannot_write(server: Server, root: Path) -> None:
    (root / "out").write_text("in the way")
    answers = root / "answers.csv"
    rows = [f"{model},q{i},{(i * model) % 3 // 2}" for model in range(1, 6) for i in range(30)]
    answers.write_text("\n".join(["model,item_id,correct", *rows]) + "\n")
    words = PLAN.replace("--data-root {root}", str(answers)).split()
    ended = server.run(command(words)(root))
    assert ended["code"] == 3
    assert f"{root}/out/p.json cannot be written: " in last_line(server)
    assert (root / "out").read_text() == "in the way"
