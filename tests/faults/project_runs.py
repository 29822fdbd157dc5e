"""Shared by the fault tests: data folders, the forking server, outputs of a run."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from benchwright.hooks.records import RecordHook
from benchwright.hooks.versions import VersionsHook
from faults import project_run

REPOSITORY = Path(__file__).resolve().parents[2]
KEY = "a key of some length"
CHEAP = (
    "limit=60,scoring.mode=imported,evaluation.random_subsets=10,evaluation.bootstrap_samples=10"
)
DELE = (
    "limit=60,sampling.samplers=random+irt_clusters,sampling.repeats=2,"
    "sampling.export.sampler=irt_clusters,sampling.export.size=20"
)
FEW_DOCUMENTS = 60
_VERSION = re.compile(r"\d{4}-\d\d-\d\dT\d\d\.\d\d\.\d\d\.\d{3}Z")
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "BENCHWRIGHT_MLFLOW": "off",
    "BENCHWRIGHT_SEAL_KEY": KEY,
}


class Server:
    """Runs the project's commands in forked processes; see `project_run.attempt`."""

    def __init__(self, process: "subprocess.Popen[str]", logs: Path) -> None:
        self._process = process
        self._logs = logs
        self._count = 0
        self.said = ""

    def run(self, words: list[str], **how: Any) -> dict[str, Any]:
        """Run a command; `said` then holds its output."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._count += 1
        log = self._logs / f"{self._count}.log"
        request = {"words": words, "log": str(log), **how}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        ended: dict[str, Any] = json.loads(self._process.stdout.readline())
        self.said = log.read_text(errors="replace")
        return ended

    def must(self, words: list[str]) -> float:
        """Run a command that must succeed; return the seconds from its first node."""
        ended = self.run(words)
        assert ended["code"] == 0, self.said[-3000:]
        return float(ended["seconds"])


@contextmanager
def forking_server(logs: Path) -> Iterator[Server]:
    """A process with all imports that forks a process per command."""
    logs.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(
        [sys.executable, project_run.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
        env={**os.environ, **ENVIRONMENT},
    ) as process:
        yield Server(process, logs)
        assert process.stdin is not None
        process.stdin.close()


def empty_root(folder: Path) -> Path:
    """A data folder with the demo's raw data and some bundled documents."""
    raw = folder / "01_raw"
    raw.mkdir(parents=True)
    bundled = REPOSITORY / "data" / "01_raw"
    for name in ("demo", "single_best_answer"):
        (raw / name).symlink_to(bundled / name)
    documents = raw / "documents"
    documents.mkdir()
    lines = (bundled / "documents" / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    kept = lines[:FEW_DOCUMENTS]
    (documents / "documents.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    ids = {json.loads(line)["doc_id"] for line in kept}
    labels = (bundled / "documents" / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    known = [line for line in labels if json.loads(line)["doc_id"] in ids]
    (documents / "labels.jsonl").write_text("\n".join(known) + "\n", encoding="utf-8")
    cache = REPOSITORY / "data" / "06_models" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    (folder / "06_models").mkdir()
    (folder / "06_models" / "cache").symlink_to(cache)
    _write_answers(folder / "known.csv", range(8))
    _write_answers(folder / "new.csv", range(8, 10))
    return folder


def _write_answers(file: Path, models: Sequence[int]) -> None:
    """Write invented answers of models to all items of the demo; later models are better."""
    lines = (REPOSITORY / "data/01_raw/demo/items.jsonl").read_text(encoding="utf-8").splitlines()
    ids = list(dict.fromkeys(str(json.loads(line)["id"]) for line in lines))
    drawn = random.Random(models[0])  # noqa: S311
    rows = [
        f"model {number},{item},{int(drawn.random() < 0.3 + number / 20)}"
        for number in models
        for item in ids
    ]
    file.write_text("\n".join(["model,item_id,correct", *rows]) + "\n", encoding="utf-8")


def version_hooks(data_root: Path) -> tuple[RecordHook, VersionsHook]:
    """Return the hooks with which a run with this data folder begins; the last goes first."""
    record = RecordHook()
    record.after_context_created(
        SimpleNamespace(params={"data_root": str(data_root)}, project_path=Path())
    )
    return record, VersionsHook()


def copied(root: Path, to: Path) -> Path:
    """A copy of a data folder."""
    shutil.copytree(root, to, symlinks=True)
    return to


class Left(NamedTuple):
    """The contents of a data folder.

    Attributes:
        files: content by path, its version written as `@`, then by version ("" for none).
        hidden: files and folders with hidden names.
    """

    files: dict[str, dict[str, bytes]]
    hidden: list[str]

    def newest(self) -> dict[str, bytes]:
        """The content of the newest version of each file."""
        return {name: versions[max(versions)] for name, versions in self.files.items()}


def left_in(root: Path) -> Left:
    """Read a data folder, without raw data, cached weights and records of runs."""
    files: dict[str, dict[str, bytes]] = {}
    hidden = []
    for where, folders, names in os.walk(root):
        place = Path(where)
        if place == root:
            folders[:] = [name for name in folders if name not in ("01_raw", "runs")]
        hidden += [str(place / name) for name in (*folders, *names) if name.startswith(".")]
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            if name.startswith("."):
                continue
            relative = (place / name).relative_to(root).as_posix()
            version = (_VERSION.findall(relative) or [""])[0]
            key = _VERSION.sub("@", relative)
            files.setdefault(key, {})[version] = (place / name).read_bytes()
    return Left(files, hidden)
