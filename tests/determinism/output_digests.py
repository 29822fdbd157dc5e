"""Digests of the outputs of pipelines and commands, which a refactoring must not change.

    python tests/determinism/output_digests.py record FILE [NAME ...]
    python tests/determinism/output_digests.py compare BEFORE AFTER

`record` runs each scenario in a separate data folder and saves a digest of every output file.
`compare` lists the files whose digests differ. A file with another path but the same content is
listed as renamed and is no difference. Scenarios on real benchmarks are omitted where the folder of
real data is absent (BENCHWRIGHT_SHARED_DATA).
"""

import hashlib
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from determinism.results import comparable
from determinism.surroundings import PLAIN, Commands, commands_in
from faults.project_runs import REPOSITORY, empty_root, left_in

SHARED = Path(os.environ.get("BENCHWRIGHT_SHARED_DATA", REPOSITORY.parent / "shared" / "data"))
IMPORTED = "scoring.mode=imported"
FEW_DRAWS = "evaluation.random_subsets=100,evaluation.bootstrap_samples=100"
FEW_SAMPLERS = "sampling.samplers=random+word_length+flesch+anchor_points+discrimination"

Digests = dict[str, dict[str, str]]


class Scenario(NamedTuple):
    """Commands that run in sequence in one data folder.

    Attributes:
        commands: arguments of each; `{root}` stands for the data folder.
        real: whether it needs the folder of real benchmarks.
    """

    commands: Sequence[Sequence[str]]
    real: bool = False


def _run(pipeline: str, params: str = "") -> list[str]:
    given = "data_root={root}" + (f",{params}" if params else "")
    return ["run", "--pipeline", pipeline, "--params", given]


def _real(benchmark: str, params: str) -> str:
    return f"benchmark={benchmark},mirror_root={SHARED},{params}"


SMART = f"{IMPORTED},{FEW_DRAWS}"
PLAN = "--se .05 --tau .8 --subsets 20 --json {root}/out/plan.json --page {root}/out/plan.html"
ESTIMATE = (
    "{root}/new.csv --training {root}/known.csv --out {root}/out/estimates.json "
    "--subset {root}/08_reporting/demo/dele/limit60/harness_subset"
)
SEEDS = [f"{{root}}/07_model_output/demo/smart/{part}" for part in ("limit100", "limit100-seed1")]
SCENARIOS = {
    "smart": Scenario([_run("smart", SMART)]),
    "smart live": Scenario([_run("smart", f"limit=30,{FEW_DRAWS}")]),
    "smart variants": Scenario(
        [_run("smart", f"{SMART},variant={name}") for name in ("smart_paper", "no_similar")]
    ),
    "smart arc": Scenario([_run("smart", _real("arc", SMART))], real=True),
    "smart mmlu": Scenario([_run("smart", _real("mmlu", f"limit=600,{SMART}"))], real=True),
    "wicked": Scenario([_run("wicked", "limit=12")]),
    "dele": Scenario(
        [
            _run("dele", "limit=60,sampling.repeats=3"),
            ["estimate", *ESTIMATE.split()],
        ]
    ),
    "dele arc_challenge": Scenario(
        [_run("dele", _real("arc_challenge_leaderboard", f"{FEW_SAMPLERS},sampling.repeats=3"))],
        real=True,
    ),
    "documents": Scenario([_run("documents")]),
    "mmlu_cf": Scenario([_run("mmlu_cf")]),
    "export_perturbed": Scenario([_run("export_perturbed", "limit=100")]),
    "sweep, diff, plan": Scenario(
        [
            ["sweep", "--seeds", "0,1", "--params", f"data_root={{root}},limit=100,{SMART}"],
            ["diff", *SEEDS, "--out", "{root}/out/diff.html"],
            ["plan", "--data-root", "{root}", "--limit", "100", *PLAN.split()],
        ]
    ),
    "small pipelines": Scenario(
        [
            _run("budget", "limit=60"),
            _run("answers", f"limit=60,{IMPORTED}"),
        ]
    ),
}


def record(file: Path, names: Sequence[str]) -> Digests:
    """Save and return digests of the outputs, by scenario and path.

    The file is written after each scenario; other scenarios in it are kept.
    """
    digests: Digests = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    with tempfile.TemporaryDirectory() as folder, commands_in(PLAIN, Path(folder) / "logs") as runs:
        for name, scenario in SCENARIOS.items():
            if (names and name not in names) or (scenario.real and not SHARED.is_dir()):
                continue
            began = time.monotonic()
            digests[name] = _record_scenario(
                scenario, runs, Path(folder) / re.sub(r"\W+", "_", name)
            )
            file.write_text(json.dumps(digests, indent=1, sort_keys=True), encoding="utf-8")
            _say(f"{name}: {len(digests[name])} files, {time.monotonic() - began:.0f} s")
    return digests


def _record_scenario(scenario: Scenario, runs: Commands, folder: Path) -> dict[str, str]:
    root = empty_root(folder)
    for words in scenario.commands:
        runs.run([word.replace("{root}", str(root)) for word in words])
    digests = {}
    for path, content in left_in(root).newest().items():
        normal = comparable(path, content).replace(str(root).encode(), b"{root}")
        digests[path] = hashlib.sha256(normal).hexdigest()
    return digests


def differences(before: Digests, after: Digests) -> tuple[list[str], list[str]]:
    """Return lines on different and on renamed files, of scenarios that both recorded."""
    changed, renamed = [], []
    for scenario in (name for name in before if name in after):
        old, new = before[scenario], after[scenario]
        changed += [f"{scenario}: {path}" for path in old if path in new and old[path] != new[path]]
        gone = {path: digest for path, digest in old.items() if path not in new}
        come = {path: digest for path, digest in new.items() if path not in old}
        for path, digest in gone.items():
            same = next((other for other, its in come.items() if its == digest), None)
            if same is None:
                changed.append(f"{scenario}: {path} is gone")
            else:
                renamed.append(f"{scenario}: {path} -> {same}")
                del come[same]
        changed += [f"{scenario}: {path} is new" for path in come]
    return changed, renamed


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201


def main(words: list[str]) -> int:
    """Run `record` or `compare`; return 1 if anything differs."""
    match words:
        case ["record", file, *names]:
            began = time.monotonic()
            digests = record(Path(file), names)
            files = sum(map(len, digests.values()))
            _say(f"{files} files of {len(digests)} scenarios, {time.monotonic() - began:.0f} s")
            return 0
        case ["compare", before, after]:
            old, new = (json.loads(Path(f).read_text(encoding="utf-8")) for f in (before, after))
            changed, renamed = differences(old, new)
            for line in renamed:
                _say(f"renamed  {line}")
            for line in changed:
                _say(f"differs  {line}")
            both = old.keys() & new.keys()
            _say(f"compared: {', '.join(sorted(both))}")
            files = sum(len(old[name]) for name in both)
            _say(f"{files} files; {len(renamed)} renamed, {len(changed)} differ, are gone or new")
            return int(bool(changed))
        case _:
            _say(__doc__ or "")
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
