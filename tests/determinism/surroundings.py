"""Environments that must not affect results."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from determinism import commands
from faults.project_runs import KEY, REPOSITORY, empty_root

STARTUP = Path(__file__).with_name("startup")
COMMON = {
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_WAIT_POLICY": "PASSIVE",
    "BENCHWRIGHT_MLFLOW": "off",
    "BENCHWRIGHT_SEAL_KEY": KEY,
    "BENCHWRIGHT_CACHE": str(REPOSITORY / "data" / "06_models" / "cache"),
    "PYTHONPATH": str(STARTUP),
}
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def threads(count: int) -> dict[str, str]:
    """Variables that set the number of threads."""
    return dict.fromkeys(THREADS, str(count))


class Surroundings(NamedTuple):
    """Where and how commands are run.

    Attributes:
        environment: variables in addition to the common ones.
        runner: name of Kedro's runner.
        folder: the current folder, relative to the repository.
        backwards: whether the rows of all sources are reversed.
    """

    environment: Mapping[str, str] = {}
    runner: str = "SequentialRunner"
    folder: str = "."
    backwards: bool = False


PLAIN = Surroundings({"PYTHONHASHSEED": "0", "TZ": "UTC", "LC_ALL": "C.UTF-8", **threads(1)})
TURKISH = {"LC_ALL": "tr_TR.UTF-8", "NUMBERS_TOO": "1"}
ASCII = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
HOSTILE = Surroundings(
    {
        **ASCII,
        **threads(2),
        "PYTHONHASHSEED": "4242",
        "TZ": "Pacific/Kiritimati",
        "LISTED": "backwards",
        "UMASK": "077",
    },
    runner="ThreadRunner",
    folder="docs",
    backwards=True,
)


def with_turkish(folder: Path) -> dict[str, str]:
    """Compile the Turkish locale into a folder; return its variables, none without a compiler."""
    compiler = shutil.which("localedef")
    if compiler is None:
        return {}
    target = folder / "tr_TR.UTF-8"
    folder.mkdir(parents=True, exist_ok=True)
    words = [compiler, "--no-archive", "-i", "tr_TR", "-f", "UTF-8", str(target)]
    done = subprocess.run(words, capture_output=True, check=False)
    return {"LOCPATH": str(folder)} if done.returncode == 0 and target.is_dir() else {}


class Commands:
    """Runs commands in their surroundings; `said` is the last output."""

    def __init__(
        self, process: "subprocess.Popen[str]", logs: Path, surroundings: Surroundings
    ) -> None:
        self._process = process
        self._logs = logs
        self._surroundings = surroundings
        self._count = 0
        self.said = ""

    def run(self, words: Sequence[str], answers: Sequence[int] = (0,)) -> None:
        """Run a command that must end with one of these exit codes."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._count += 1
        log = self._logs / f"{self._count}.log"
        request = {
            "words": list(words),
            "log": str(log),
            "folder": str(REPOSITORY / self._surroundings.folder),
        }
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        code = self._process.stdout.readline().strip()
        self.said = log.read_text(encoding="utf-8", errors="replace")
        assert int(code) in answers, self.said[-3000:]

    def pipeline(self, name: str, params: str, root: Path) -> None:
        """Run a pipeline in a data folder."""
        given = f"data_root={root}" + (f",{params}" if params else "")
        runner = self._surroundings.runner
        self.run(["run", "--pipeline", name, "--runner", runner, "--params", given])


def environment_of(surroundings: Surroundings) -> dict[str, str]:
    """Return all variables of a process in these surroundings."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("LC_", "LANG", "PYTHON", "TZ")) and name not in THREADS
    }
    return {**inherited, **COMMON, **PLAIN.environment, **surroundings.environment}


@contextmanager
def commands_in(
    surroundings: Surroundings, logs: Path, more: Mapping[str, str] | None = None
) -> Iterator[Commands]:
    """Start a process with all imports in its surroundings; it forks one per command."""
    logs.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(
        [sys.executable, commands.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=REPOSITORY,
        env={**environment_of(surroundings), **(more or {})},
    ) as process:
        yield Commands(process, logs, surroundings)
        assert process.stdin is not None
        process.stdin.close()


def data_folder(folder: Path, backwards: bool) -> Path:
    """A data folder with the demo and some bundled documents, their rows reversed if asked."""
    root = empty_root(folder)
    if backwards:
        demo = root / "01_raw" / "demo"
        original = demo.resolve()
        demo.unlink()
        shutil.copytree(original, demo)
        for file in sorted((root / "01_raw").glob("d*/*.jsonl")):
            lines = file.read_bytes().splitlines(keepends=True)
            file.write_bytes(b"".join(reversed(lines)))
        for file in sorted(demo.glob("*.csv")):
            header, *lines = file.read_bytes().splitlines(keepends=True)
            file.write_bytes(b"".join([header, *reversed(lines)]))
        for file in sorted(demo.glob("responses/*.parquet")):
            table = pq.read_table(file)
            pq.write_table(table.take(list(range(table.num_rows))[::-1]), file)
    return root
