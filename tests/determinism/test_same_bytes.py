"""Results are the same bytes in any locale, time zone, hash seed, number of threads, …"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from determinism.results import differing
from determinism.surroundings import (
    COMMON,
    HOSTILE,
    PLAIN,
    TURKISH,
    Commands,
    Surroundings,
    commands_in,
    data_folder,
    with_turkish,
)
from faults.project_run import _exit_code
from faults.project_runs import CHEAP, DELE, REPOSITORY, left_in

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="runs are forked")

QUICK = {"smart": f"{CHEAP},variant=no_similar"}  # no encoder, which takes most of the time
BY_ITSELF = {"smart": CHEAP, "documents": ""}
MORE = {"export_perturbed": "limit=40", "dele": DELE, "mmlu_cf": "", "budget": "limit=60"}
PLAN = "plan --limit 60 --se .05 --tau .8 --subsets 20 --out {out}/plan.json --page {out}/plan.html"
OF_SMART = "{out}/../07_model_output/demo/smart"
DIFF = f"diff {OF_SMART}/limit60 {OF_SMART}/limit60-seed1 --out {{out}}/diff.json"
TURKISH_AND_HOSTILE = Surroundings(
    {**HOSTILE.environment, **TURKISH, "PYTHONUTF8": "", "TZ": "America/Los_Angeles"},
    runner="ThreadRunner",
    backwards=True,
)


class Attempt(NamedTuple):
    """Surroundings with their command process and data folder."""

    surroundings: Surroundings
    commands: Commands
    folder: Path

    def left(self, pipelines: Mapping[str, str], with_commands: bool = False) -> dict[str, bytes]:
        """Return the outputs of pipelines in separate folders; `smart` runs twice for a diff."""
        files: dict[str, bytes] = {}
        for name, params in pipelines.items():
            root = data_folder(self.folder / name, self.surroundings.backwards)
            self.commands.pipeline(name, params, root)
            if with_commands and name == "smart":
                self.commands.pipeline(name, f"{params},variant=no_similar", root)
                self.commands.pipeline(name, f"{params},seed=1", root)
                self._run(PLAN, root, "--data-root", str(root))
                self._run(DIFF, root, "--data-root", str(root))
            left = left_in(root).newest()
            files |= {f"{name}: {path}": content for path, content in left.items()}
        return files

    def _run(self, command: str, root: Path, *more: str) -> None:
        self.commands.run([*(word.format(out=root / "out") for word in command.split()), *more])


class Here(Commands):
    """Runs commands in this process, which saves the imports of another."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings

    def run(self, words: Sequence[str]) -> None:
        assert _exit_code(list(words)) == 0


Attempts = Callable[[str, Surroundings], Attempt]


@pytest.fixture(scope="module")
def attempt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attempts]:
    running = []

    def start(name: str, surroundings: Surroundings) -> Attempt:
        folder = tmp_path_factory.mktemp(name.replace(" ", "_"))
        speaks_turkish = surroundings.environment.get("LC_ALL") == TURKISH["LC_ALL"]
        more = with_turkish(folder / "locales") if speaks_turkish else {}
        if speaks_turkish and not more:
            pytest.skip("localedef cannot make the Turkish locale here")
        context = commands_in(surroundings, folder / "logs", more)
        running.append(context)
        return Attempt(surroundings, context.__enter__(), folder)

    yield start
    for context in running:
        context.__exit__(None, None, None)


@pytest.fixture(scope="module")
def plain(attempt: Attempts) -> Attempt:
    return attempt("plain", PLAIN)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The outputs of runs in this process, in the surroundings that the tests have."""
    here = Attempt(PLAIN, Here(PLAIN), tmp_path_factory.mktemp("here"))
    with pytest.MonkeyPatch.context() as patch:
        for name in COMMON.keys() - {"PYTHONPATH"}:
            patch.setenv(name, COMMON[name])
        patch.chdir(REPOSITORY)
        return here.left(QUICK)


def test_all_hostile_surroundings_at_once_give_the_same_bytes(
    attempt: Attempts, quick: dict[str, bytes], show: Callable[[str], None]
) -> None:
    now = attempt("hostile", HOSTILE).left(QUICK)
    show(f"same bytes in hostile surroundings: {len(now)} files of {', '.join(QUICK)}")
    assert len(now) > 80
    assert differing(now, quick, backwards=True) == []


@pytest.fixture(scope="module")
def everything(plain: Attempt) -> dict[str, bytes]:
    other = plain._replace(folder=plain.folder / "everything")
    return other.left({**BY_ITSELF, **MORE}, with_commands=True)


@pytest.mark.long
@pytest.mark.parametrize("name", ["ASCII", "Turkish"])
def test_every_pipeline_and_command_gives_the_same_bytes(
    name: str, attempt: Attempts, everything: dict[str, bytes], show: Callable[[str], None]
) -> None:
    surroundings = {"ASCII": HOSTILE, "Turkish": TURKISH_AND_HOSTILE}[name]
    now = attempt(f"all {name}", surroundings).left({**BY_ITSELF, **MORE}, with_commands=True)
    show(f"same bytes, all pipelines and commands, {name}: {len(now)} files")
    assert differing(now, everything, backwards=True) == []


def test_comparison_detects_changed_new_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"1")
    before = left_in(tmp_path).newest()
    (tmp_path / "a.json").write_bytes(b"2")
    (tmp_path / "b.json").write_bytes(b"1")
    assert differing(left_in(tmp_path).newest(), before) == ["a.json", "b.json"]
    assert differing({}, before) == ["a.json"]
