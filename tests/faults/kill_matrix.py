"""Kill every stage and command at random moments and report losses: `make faults`.

    python tests/faults/kill_matrix.py [KILLS] [NAME …]

prints a line for each subject. After every kill all files must be complete: the bytes that an
undisturbed run writes. The next attempt starts from what the kills left. An undisturbed run at the
end must give the same bytes and leave no temporary files.
"""

import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults.project_runs import (
    CHEAP,
    DELE,
    KEY,
    Server,
    copied,
    empty_root,
    forking_server,
    left_in,
)
from faults.what_differs import MAY_DIFFER
from speed import speed_up

Words = Callable[[Path], list[str]]


def run_of(pipeline: str, params: str, *words: str) -> Words:
    """`run --pipeline …` in a data folder."""

    def of(root: Path) -> list[str]:
        given = f"data_root={root}" + (f",{params}" if params else "")
        return ["run", "--pipeline", pipeline, *words, "--params", given]

    return of


def command(words: Sequence[str]) -> Words:
    """Another command; `{root}` stands for the data folder."""
    return lambda root: [word.replace("{root}", str(root)) for word in words]


class Subject(NamedTuple):
    """A command to kill."""

    name: str
    prior: tuple[Words, ...]  # commands that run before, undisturbed
    words: Words
    timed: str = ""  # paths that contain times; checked only to be readable


SMART = run_of("smart", CHEAP)
STAGES = ("ingestion", "embedding", "scoring", "responses", "filtering", "evaluation", "exports")
PLAN = (
    "plan --data-root {root} --limit 60 --se .05 --subsets 20 "
    "--out {root}/out/p.json --page {root}/out/p.html"
)
ESTIMATE = (
    "estimate {root}/new.csv --training {root}/known.csv "
    "--subset {root}/08_reporting/demo/dele/limit60/harness_subset --out {root}/out/estimates.json"
)
SWEEP = f"sweep --variants no_similar --params data_root={{root}},{CHEAP}"
DIFF = "diff --data-root {root} --limit 60 --out {root}/out/d.json"
SUBJECTS = (
    *(
        Subject(f"smart: {stage}", (SMART,), run_of("smart", CHEAP, "--namespaces", stage))
        for stage in STAGES
    ),
    Subject("export_perturbed", (), run_of("export_perturbed", "limit=40")),
    Subject("dele", (), run_of("dele", DELE)),
    Subject("plan", (SMART,), command(PLAN.split())),
    Subject("diff", (SMART, SMART), command(DIFF.split())),
    Subject("estimate", (run_of("dele", DELE),), command(ESTIMATE.split())),
    Subject("documents", (), run_of("documents", "")),
    Subject("mmlu_cf", (), run_of("mmlu_cf", "")),
    Subject("sweep", (SMART,), command(SWEEP.split()), timed="/sweeps/"),
)


class Outcome(NamedTuple):
    """Counts of one subject."""

    tried: int  # kills of a run that had not ended
    survived: int  # after which every file was complete
    lost: int  # the others
    aside: int  # temporary files that the kills left, removed in the end
    same: bool  # whether the run after them gave the same bytes and left no such files
    seconds: float  # of all attempts


class Matrix:
    """Runs subjects; their initial data folders are created once."""

    def __init__(self, server: Server, work: Path, seed: int = 1) -> None:
        self._server = server
        self._work = work
        self._drawn = random.Random(seed)  # noqa: S311
        self._count = 0
        self._bases: dict[tuple[str, ...], Path] = {}

    def base(self, prior: tuple[Words, ...]) -> Path:
        """Return a data folder in which these commands have run."""
        name = tuple(" ".join(words(Path("root"))) for words in prior)
        if name not in self._bases:
            if prior:
                root = copied(self.base(prior[:-1]), self._work / f"base-{len(self._bases)}")
                self._server.must(prior[-1](root))
            else:
                root = empty_root(self._work / f"base-{len(self._bases)}")
            self._bases[name] = root
        return self._bases[name]

    def kill(self, subject: Subject, kills: int) -> Outcome:
        """Kill a subject `kills` times, each time resuming from what the last kill left."""
        base = self.base(subject.prior)
        peace = copied(base, self._work / "peace")
        seconds = self._server.must(subject.words(peace))
        expected = comparable(peace, subject)
        self._count += 1
        root = copied(base, self._work / f"root-{self._count}")
        words = subject.words(root)
        started = time.monotonic()
        tried = survived = aside = 0
        for _ in range(2 * kills):
            if tried == kills:
                break
            pause = self._drawn.choice((0.0, 0.02, 0.1))
            moment = self._drawn.uniform(0, seconds * (1.3 if pause else 1.0))
            ended = self._server.run(words, moment=moment, pause=pause)
            if ended["code"] != -signal.SIGKILL:
                assert ended["code"] == 0, self._server.said[-2000:]
                seconds = min(seconds, ended["seconds"])  # the machine was busier before
                continue  # the command ended before the kill
            tried += 1
            left = comparable(root, subject)
            aside += len(left_in(root).hidden)
            torn = [name for name in left if left[name] - expected.get(name, set())]
            survived += not torn
            for name in torn:
                print(f"  {subject.name}: {name} is torn or strange")  # noqa: T201
        ended = self._server.run(words)
        hidden = left_in(root).hidden
        now, then = comparable(root, subject), expected
        same = ended["code"] == 0 and now == then and not hidden
        if not same:
            other = [name for name in {*now, *then} if now.get(name) != then.get(name)]
            print(f"  {subject.name}: {ended['code']} {other[:5]} {hidden[:5]}")  # noqa: T201
        spent = time.monotonic() - started
        for folder in (peace, root):
            shutil.rmtree(folder)
        return Outcome(tried, survived, tried - survived, aside, same, spent)


def comparable(root: Path, subject: Subject) -> dict[str, set[bytes]]:
    """Return the distinct contents of each file over all versions, by path.

    Encrypted files differ at each run and are compared decrypted. Partial files raise an error.
    """
    contents: dict[str, set[bytes]] = {}
    for name, versions in left_in(root).files.items():
        relative = name.replace(str(root), "root")
        if subject.timed and subject.timed in name:
            continue
        normal = partial(_normal, name, root)
        contents[relative] = {normal(content) for content in versions.values()}
    return contents


def _normal(name: str, root: Path, content: bytes) -> bytes:
    normalise = MAY_DIFFER.get(Path(name).name)
    # Some pages and logs contain paths and versions.
    return content.replace(str(root).encode(), b"root") if normalise is None else normalise(content)


def main(kills: int, names: Sequence[str]) -> int:
    """Print the table; return 1 if anything was lost or no kill hit a live run."""
    import os

    os.environ["BENCHWRIGHT_SEAL_KEY"] = KEY
    speed_up()  # as the server does: keys are derived in the same way
    lost = 0
    say: Callable[[str], Any] = partial(print, flush=True)
    say(f"{'what':22} tried survived lost  left aside  same after  seconds")
    with tempfile.TemporaryDirectory() as work, forking_server(Path(work) / "logs") as server:
        matrix = Matrix(server, Path(work))
        for subject in SUBJECTS:
            if names and not any(name in subject.name for name in names):
                continue
            o = matrix.kill(subject, kills)
            lost += o.lost + (not o.same) + (not o.tried)
            say(
                f"{subject.name:22} {o.tried:5} {o.survived:8} {o.lost:4} {o.aside:11}"
                f"  {'yes' if o.same else 'NO':>10} {o.seconds:8.0f}"
            )
    return int(lost > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, sys.argv[2:]))
