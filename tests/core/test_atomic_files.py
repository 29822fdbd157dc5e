"""Atomic writes: leftovers of killed writers are removed, files in use are not."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from benchwright.core.atomic_files import (
    clear_abandoned,
    folder_aside,
    written_aside,
)
from benchwright.core.errors import InputError, one_line


def left_by_killed(target: Path, kind: str = "written_aside") -> Path:
    """Leave the temporary file or folder of a writer that was killed."""
    source = (
        "import os, signal, sys, pathlib\n"
        f"from benchwright.core.atomic_files import {kind}\n"
        f"with {kind}(pathlib.Path(sys.argv[1])) as aside:\n"
        "    (aside / 'x' if aside.is_dir() else aside).write_bytes(b'half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", source, str(target)], check=False)
    (aside,) = (path for path in target.parent.iterdir() if path.name.endswith(".tmp"))
    return aside


@pytest.mark.parametrize("kind", ["written_aside", "folder_aside"])
def test_next_writer_removes_leftovers_of_a_killed_one(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "a[1].txt"
    assert left_by_killed(target, kind).exists()
    with written_aside(target) as aside:
        aside.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


@pytest.mark.parametrize("kind", [written_aside, folder_aside])
def test_temporary_files_in_use_are_kept(tmp_path: Path, kind: Any) -> None:
    with kind(tmp_path / "a") as aside:
        file = aside / "x" if aside.is_dir() else aside
        file.write_text("1")
        os.utime(aside, (0, 0))
        clear_abandoned([aside])
    written = tmp_path / "a"
    assert (written / "x" if written.is_dir() else written).read_text() == "1"


def test_content_is_flushed_to_the_disk_before_it_replaces_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, flushed = tmp_path / "a", []
    monkeypatch.setattr(
        os, "fsync", lambda file: flushed.append((os.fstat(file).st_size, target.exists()))
    )
    with written_aside(target) as aside:
        aside.write_text("whole")
    assert flushed == [(5, False)]


@pytest.mark.parametrize(("age", "kept"), [(3500, True), (3700, False)])
def test_only_old_leftovers_of_other_machines_are_removed(
    tmp_path: Path, age: int, kept: bool
) -> None:
    other = tmp_path / f".a.00000000-{os.getpid()}-{'0' * 32}.tmp"
    other.write_text("")
    os.utime(other, (time.time() - age,) * 2)
    clear_abandoned([other])
    assert other.exists() == kept


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "free disk space"),
        (errno.EACCES, "give this user write access"),
        (errno.ENOTDIR, "remove what is in its place"),
        (errno.ENOENT, "check the path"),  # a new folder in /proc
    ],
)
def test_disk_errors_are_reported_in_one_line(tmp_path: Path, number: int, advice: str) -> None:
    target = tmp_path / "t.parquet"
    target.write_text("old")

    def refused() -> None:
        with written_aside(target) as aside:
            aside.write_text("half")
            raise OSError(number, os.strerror(number))

    with pytest.raises(InputError) as caught:
        refused()
    message = str(one_line(caught.value))
    assert message.startswith(f"{target} cannot be written: {os.strerror(number)}; ")
    assert advice in message
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_folders_appear_complete_and_replace_none(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "folder"
    with folder_aside(target) as aside:
        (aside / "sub").mkdir()
        (aside / "sub" / "file").write_text("x")
        assert not target.exists()
    assert (target / "sub" / "file").read_text() == "x"
    assert list(target.parent.iterdir()) == [target]

    def fail() -> None:
        with folder_aside(tmp_path / "other") as aside:
            (aside / "file").write_text("half")
            raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
