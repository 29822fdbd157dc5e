"""Digests of the outputs of pipelines and commands, which a refactoring must not change.

    python tests/determinism/output_digests.py record FILE [NAME ...]
    python tests/determinism/output_digests.py compare BEFORE AFTER

`record` runs each scenario in a separate data folder and saves a digest of every output file and of
what commands print, and of each row and column of small tables. `compare` lists the files whose
digests differ; of tables it counts rows and names columns. A file with another path but the same
content is listed as renamed and is no difference. Scenarios on real benchmarks are omitted where
the folder of real data is absent (BENCHWRIGHT_SHARED_DATA).
"""

import hashlib
import io
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from determinism.results import VERSION, comparable
from determinism.surroundings import PLAIN, Commands, commands_in
from faults.project_runs import REPOSITORY, empty_root, left_in
from speed import speed_up

SHARED = Path(os.environ.get("BENCHWRIGHT_SHARED_DATA", REPOSITORY.parent / "shared" / "data"))
IMPORTED = "scoring.mode=imported"
FEW_DRAWS = "evaluation.random_subsets=100,evaluation.bootstrap_samples=100"
FEW_SAMPLERS = "sampling.samplers=random+word_length+flesch+irt_clusters+pass_rate"

MOST_ROWS = 5000
"""Tables with more rows have no digests of rows and columns."""

Digests = dict[str, dict[str, Any]]
"""By scenario and path: a digest, or those of a table's file, rows and columns."""


class Scenario(NamedTuple):
    """Commands that run in sequence in one data folder.

    Attributes:
        commands: arguments of each; `{root}` stands for the data folder, and a path with `*` for
            the newest match.
        real: whether it needs the folder of real benchmarks.
    """

    commands: Sequence[Sequence[str]]
    real: bool = False


def _run(pipeline: str, params: str = "") -> list[str]:
    given = "data_root={root}" + (f",{params}" if params else "")
    env = ["--env", "evidence"] if "mirror_root=" in params else []
    return ["run", *env, "--pipeline", pipeline, "--params", given]


def _real(benchmark: str, params: str) -> str:
    return f"benchmark={benchmark},mirror_root={SHARED},{params}"


SMART = f"{IMPORTED},{FEW_DRAWS}"
PLAN = "--se .05 --tau .8 --subsets 20 --out {root}/out/plan.json --page {root}/out/plan.html"
ESTIMATE = (
    "{root}/new.csv --training {root}/known.csv --out {root}/out/estimates.json "
    "--subset {root}/08_reporting/demo/dele/limit60/harness_subset"
)
SEEDS = [f"{{root}}/07_model_output/demo/smart/{part}" for part in ("limit100", "limit100-seed1")]
JUDGED = (
    "variant=mmlu_cf_judged,difficulty.at_most=6,difficulty.attempts=1,checking.attempts=1,"
    "checking.max_tokens=10,checking.size=6,sampling_by_difficulty.size=8"
)
JUDGE = (
    "limit=6,difficulty.judges=[smollm2-135m-instruct],checking.judges=[smollm2-135m-instruct],"
    "difficulty.attempts=1,checking.attempts=1,checking.max_tokens=10"
)
CLOSED = "{root}/08_reporting/documents/mmlu_cf/sealed_benchmark/*/sealed_benchmark"
LEAK_TEST = "--export {root}/out/release --out {root}/out/leak.json"
EVALUATE = "--style cloze --out {root}/01_raw/half_scores"
SMOLLM2 = ["--model", "smollm2-135m-instruct"]
SAVED = ["--data-root", "{root}"]
PAIR = ["{root}/new.csv:model 8", "{root}/new.csv:model 9"]
LOGS = SHARED / "logs"
SCENARIOS = {
    "smart": Scenario([_run("smart", SMART)]),
    "smart live": Scenario([_run("smart", f"limit=30,{FEW_DRAWS}")]),
    "smart variants": Scenario(
        [
            _run("smart", f"{SMART},variant={name}")
            for name in ("smart_paper", "smart_released_code", "no_similar")
        ]
    ),
    "smart arc": Scenario([_run("smart", _real("arc", SMART))], real=True),
    "smart mmlu": Scenario([_run("smart", _real("mmlu", f"limit=600,{SMART}"))], real=True),
    "encoders": Scenario([_run("encoders", "limit=60,embedding.compare=[all-minilm-l6-v2]")]),
    "wicked": Scenario([_run("wicked", "limit=12")]),
    "wicked_cot": Scenario(
        [_run("wicked", "variant=wicked_cot,limit=4,scoring.generation.max_tokens=24")]
    ),
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
    "mmlu_cf, evaluate-sealed, half_gap": Scenario(
        [
            _run("mmlu_cf"),
            *(
                ["evaluate-sealed", f"{CLOSED}/{half}", *SMOLLM2, *EVALUATE.split()]
                for half in ("test.sealed", "validation.jsonl")
            ),
            _run("half_gap"),
        ]
    ),
    "mmlu_cf_judged": Scenario([_run("mmlu_cf", JUDGED)]),
    "judge": Scenario([_run("judge", JUDGE)]),
    "memorisation": Scenario(
        [_run("memorisation", "limit=8,scoring.configurations=[smollm2-135m-instruct@generate-0]")]
    ),
    "release, leak-test": Scenario(
        [
            ["release", "{root}/released.jsonl", "{root}/out/release", "--name", "few"],
            ["leak-test", *SMOLLM2, *SAVED, *LEAK_TEST.split()],
        ]
    ),
    "export_perturbed": Scenario([_run("export_perturbed", "limit=100")]),
    "sweep, diff, plan": Scenario(
        [
            ["sweep", "--seeds", "0,1", "--params", f"data_root={{root}},limit=100,{SMART}"],
            ["diff", *SEEDS, "--out", "{root}/out/diff.json"],
            ["plan", *SAVED, "--limit", "100", *PLAN.split()],
        ]
    ),
    "compare, gate": Scenario(
        [
            ["compare", *PAIR, "--out", "{root}/out/compare.json"],
            ["gate", *PAIR, "--margin", ".05", "--out", "{root}/out/gate.json"],
            ["gate", *PAIR, "--margin", ".02", "--anytime", "--out", "{root}/out/any.json"],
        ]
    ),
    "read": Scenario(
        [["read", str(folder)] for folder in sorted(LOGS.glob("*")) if folder.is_dir()], real=True
    ),
    "small pipelines": Scenario(
        [
            _run("budget", "limit=60"),
            _run("answers", f"limit=60,{IMPORTED}"),
        ]
    ),
}
DECISIONS = ("gate", "leak-test")
"""Commands whose exit codes 1 and 2 are answers."""


def record(file: Path, names: Sequence[str]) -> Digests:
    """Save and return digests of the outputs, by scenario and path.

    The file is written after each scenario; other scenarios in it are kept.
    """
    speed_up()  # as the commands, so that sealed files can be opened
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


def _record_scenario(scenario: Scenario, runs: Commands, folder: Path) -> dict[str, Any]:
    root = empty_root(folder)
    _write_released(root)
    said = {}
    for number, words in enumerate(scenario.commands, 1):
        here = [_resolve(word.replace("{root}", str(root)), root) for word in words]
        runs.run(here, answers=(0, 1, 2) if words[0] in DECISIONS else (0,))
        if words[0] not in ("run", "sweep"):
            plain = re.sub(r"(?m)^\d\d:\d\d:\d\d ", "", runs.said)  # times of log lines
            said[f"said/{number} {words[0]}"] = VERSION.sub(b"@", plain.encode())
    digests: dict[str, Any] = {}
    for path, content in {**left_in(root).newest(), **said}.items():
        normal = comparable(path, content).replace(str(root).encode(), b"{root}")
        digests[path] = _digest(normal)
        if path.endswith(".parquet"):
            digests[path] = {"file": digests[path], **_digests_of_table(content)}
    return digests


def _resolve(word: str, root: Path) -> str:
    """Return the newest match of a path below the data folder that has a `*`."""
    if not (word.startswith(str(root)) and "*" in word):
        return word
    return str(max(root.glob(word.removeprefix(f"{root}/"))))


def _write_released(root: Path) -> None:
    """Write some of the demo's items as `benchwright release` takes them."""
    lines = (root / "01_raw/demo/items.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines[:60]) if len(set(row["options"])) == 4]
    items = [
        {
            "item_id": str(row["id"]),
            "question": row["question"],
            "choices": row["options"],
            "answer": "ABCD".index(row["answer"]),
        }
        for row in rows
        if row["answer"] in list("ABCD")
    ]
    kept = list({item["item_id"]: json.dumps(item) for item in items}.values())[:20]
    (root / "released.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digests_of_table(content: bytes) -> dict[str, Any]:
    """Return digests of the rows and columns of a table that is not large."""
    table = pd.read_parquet(io.BytesIO(content))
    if len(table) > MOST_ROWS:
        return {}
    texts = table.map(repr)
    return {
        "rows": [_digest("|".join(row).encode())[:8] for row in texts.itertuples(index=False)],
        "columns": {str(name): _digest("|".join(texts[name]).encode()) for name in texts},
    }


def _changed(old: Any, new: Any) -> str | None:
    """Return how a file differs, None if it does not."""
    if old == new:
        return None
    if not (isinstance(old, dict) and isinstance(new, dict) and "rows" in old and "rows" in new):
        return "differs"
    before, after = old["columns"], new["columns"]
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if not names:
        return None  # the same table, compressed or described in another way
    rows = sum((Counter(old["rows"]) - Counter(new["rows"])).values())
    return f"columns {', '.join(names)}; {rows} of {len(old['rows'])} rows differ"


def differences(before: Digests, after: Digests) -> tuple[list[str], list[str]]:
    """Return lines on different and on renamed files, of scenarios that both recorded."""
    changed, renamed = [], []
    for scenario in (name for name in before if name in after):
        old, new = before[scenario], after[scenario]
        ways = {path: _changed(old[path], new[path]) for path in old if path in new}
        changed += [f"{scenario}: {path}: {way}" for path, way in ways.items() if way]
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
