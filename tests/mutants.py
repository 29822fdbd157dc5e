"""How many small changes of the source do the tests notice? A random sample, one at a time.

cosmic-ray's operators make the changes, through its API: its own runner starts pytest anew for each
of them, with all tests. (mutmut 3 turns each function into a trampoline; nodes, whose parameters
are read from their signatures, do not survive that.) Strings, annotations and logging are left
alone. A line is drawn first, then one of its changes.

A change is made in a copy of the commit, with changes of known files, and meets the test files that
run its line, or for a line that is run on import, those that run its module or one that imports it:
mirrored files first, then the quickest. What each file runs is recorded once for a commit, in
.cache/; a test that fails without any change is left out.
"""

import argparse
import ast
import contextlib
import gc
import importlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from importlib.metadata import entry_points
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.operators.provider import OperatorProvider
from coverage import CoverageData
from parso.python.tree import Keyword, ReturnStmt

REPOSITORY = Path(__file__).resolve().parents[1]
SOURCE = "src/benchwright"
KINDS = re.compile(
    r"Replace\w+Operator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Mul|Mod_Mul|Pow_Mul|BitOr_BitAnd"
    r"|BitAnd_BitOr|Eq_NotEq|NotEq_Eq|Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt|Lt_GtE|LtE_Gt|Gt_LtE|GtE_Lt"
    r"|Is_IsNot|IsNot_Is|Delete_\w+)|AddNot|Replace(And|Or|True|False|Break|Continue)With\w+"
    r"|NumberReplacer|ZeroIterationForLoop"
)
UNCHANGED_CALLS = ("log", "logger", "logging", "warnings")
IMPORTS = """
import importlib, pkgutil, sys, benchwright
for module in pkgutil.walk_packages(benchwright.__path__, "benchwright."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print(*sys.modules, "torch", "transformers", "sklearn.cluster", "hypothesis.extra.numpy")
"""
SECONDS = 90  # of tests for a change
OPTIONS = ("-q", "-m", "not long", "-p", "no:cacheprovider", "--hypothesis-seed=0", "-W", "ignore")


class ReturnNone(Operator):
    """Return nothing."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        if isinstance(node, ReturnStmt) and node.children[1].get_code() != " None":
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        node.children[1:] = [Keyword("None", (0, 0), prefix=" ")]
        return node

    examples = ()


PROVIDED = OperatorProvider()
OPERATORS = [*(PROVIDED[name] for name in PROVIDED if KINDS.fullmatch(name)), ReturnNone]


class Mutant(NamedTuple):
    """The `occurrence`-th place of a file where an operator applies."""

    path: str
    line: int
    operator: type[Operator]
    occurrence: int


class Recorded(NamedTuple):
    """What a file of tests takes, which of its tests fail, and the lines of functions it runs."""

    seconds: float
    failed: list[str]
    lines: dict[str, list[int]]


def list_mutants(path: str, code: str) -> Iterator[Mutant]:
    """Every change of `code` that is worth a try."""
    unchanged, seen = list(_unchanged_spans(ast.parse(code))), Counter[type[Operator]]()
    for node in ast_nodes(get_ast(code)):
        for operator in OPERATORS:
            for start, _ in operator().mutation_positions(node):
                if not any(first <= start < last for first, last in unchanged):
                    yield Mutant(path, start[0], operator, seen[operator])
                seen[operator] += 1


def _unchanged_spans(tree: ast.AST) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    for node in ast.walk(tree):
        parts = [*map(vars(node).get, ("annotation", "returns"))]
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[0] in UNCHANGED_CALLS:
            parts.append(node)
        for part in filter(None, parts):
            yield (part.lineno, part.col_offset), (part.end_lineno, part.end_col_offset)


def draw_mutants(codes: dict[str, str], count: int, seed: str) -> list[Mutant]:
    """`count` changes of different lines."""
    lines: dict[tuple[str, int], list[Mutant]] = {}
    for path, code in codes.items():
        for mutant in list_mutants(path, code):
            lines.setdefault((path, mutant.line), []).append(mutant)
    rng = random.Random(seed)  # noqa: S311
    return [rng.choice(lines[it]) for it in rng.sample(sorted(lines), min(count, len(lines)))]


def lines_of_functions(code: str) -> dict[int, range]:
    """For each line that no import runs, the lines of its statement, without those of its body."""
    nodes = [it for it in ast.walk(ast.parse(code)) if isinstance(it, ast.stmt)]  # outermost first
    spans: dict[int, range] = {}
    for it in nodes:
        body = getattr(it, "body", None)
        span = range(it.lineno, body[0].lineno if body else (it.end_lineno or 0) + 1)
        spans |= dict.fromkeys(span, span)
    bodies = [it for it in nodes if isinstance(it, ast.FunctionDef)]
    lines = {n for it in bodies for n in range(it.body[0].lineno, (it.end_lineno or 0) + 1)}
    return {n: span for n, span in spans.items() if n in lines}


def find_tests(mutant: Mutant, codes: dict[str, str], known: dict[str, Recorded]) -> list[str]:
    """The test files that would notice the change, the likeliest and quickest first."""
    span = lines_of_functions(codes[mutant.path]).get(mutant.line)
    module = mutant.path.removeprefix("src/").removesuffix(".py").replace("/", ".")
    near = {mutant.path, *(it for it, code in codes.items() if f"{module} import" in code)}
    found = [
        name
        for name, (_, _, lines) in known.items()
        if ({*span} & {*lines.get(mutant.path, ())} if span else near & lines.keys())
    ]
    mirrored = mirrored_tests(mutant.path)
    found.sort(key=lambda name: (not name.startswith(mirrored), known[name].seconds))
    spent = accumulate(known[name].seconds for name in found)
    return [name for name, until in zip(found, spent, strict=True) if until < SECONDS] or found[:1]


def mirrored_tests(path: str) -> str:
    """Where the names of the tests of a source file or folder begin."""
    inside = Path(path).relative_to(SOURCE)
    if inside.suffix and inside.parent == Path():
        return f"tests/test_{inside.name}"
    return f"tests/{inside.parent if inside.suffix else inside}/"


class Copy:
    """A copy of a commit in `folder`; its tests run in processes forked from this one."""

    def __init__(self, folder: Path, commit: str) -> None:
        self.folder, self.failed = folder, folder / ".failed"
        archive = subprocess.run(["git", "archive", commit], stdout=subprocess.PIPE, check=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        os.environ["PYTHONPATH"] = str(folder / "src")
        os.environ.setdefault("BENCHWRIGHT_SHARED_DATA", str(REPOSITORY.parent / "shared/data"))
        run = subprocess.run([sys.executable, "-c", IMPORTS], stdout=subprocess.PIPE, check=True)
        for name in run.stdout.decode().split():  # once, and not in each forked process
            if not name.startswith(("benchwright", "__")):
                with contextlib.suppress(Exception):
                    importlib.import_module(name)
        for plugin in entry_points(group="pytest11"):
            plugin.load()
        gc.freeze()
        files = sorted((folder / SOURCE).rglob("*.py"))
        self.codes = {str(it.relative_to(folder)): it.read_text() for it in files}

    def run_tests(self, limit: float, *arguments: str) -> tuple[int | None, float]:
        """The exit status of pytest (None after `limit` seconds), and the processor's seconds."""
        self.failed.write_text("")
        child = os.fork()
        if not child:
            self._become_pytest(arguments)
        end, done = time.monotonic() + limit, 0
        while not done and time.monotonic() < end:
            time.sleep(0.02)
            done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return None, limit

    def _become_pytest(self, arguments: tuple[str, ...]) -> None:
        status: int = pytest.ExitCode.INTERNAL_ERROR
        try:
            os.setsid()
            os.chdir(self.folder)
            for stream in (1, 2):
                os.dup2(os.open(self.folder / ".output", os.O_WRONLY | os.O_CREAT), stream)
            sys.path[0] = str(self.folder / "src")  # instead of the folder of this file
            status = pytest.main([*OPTIONS, *arguments], plugins=[self])
        finally:
            os._exit(status)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note, in the forked process, what fails."""
        if report.failed:
            self.failed.write_text(self.failed.read_text() + report.nodeid + "\n")

    def record(self, name: str) -> Recorded:
        """Run a file of tests and see what it does."""
        data, conf = self.folder / ".coverage", self.folder / ".coveragerc"
        data.unlink(missing_ok=True)
        conf.write_text("[run]\npatch = subprocess\n")
        os.environ["COVERAGE_FILE"] = str(data)
        options = (f"--cov={self.folder / SOURCE}", "--cov-report=", f"--cov-config={conf}")
        _, seconds = self.run_tests(900, *options, name)
        read, lines = CoverageData(str(data)), {}
        read.read()
        for path, code in self.codes.items():
            run = lines_of_functions(code).keys() & {*(read.lines(str(self.folder / path)) or ())}
            lines |= {path: sorted(run)} if run else {}
        return Recorded(seconds, self.failed.read_text().splitlines(), lines)

    def record_all(self, names: list[str], store: Path) -> dict[str, Recorded]:
        """What each of the test files does: read from `store`, or seen now."""
        store.parent.mkdir(parents=True, exist_ok=True)
        store.touch()
        known = {name: Recorded(*it) for name, it in map(json.loads, store.open())}
        for name in names:
            if name not in known:
                known[name] = self.record(name)
                with store.open("a") as file:
                    file.write(json.dumps([name, known[name]]) + "\n")
        return {name: known[name] for name in names}

    def try_mutant(self, mutant: Mutant, tests: dict[str, Recorded]) -> tuple[str, str]:
        """What becomes of a change (killed, survived, timeout, uncovered), and the lines of it."""
        file, code = self.folder / mutant.path, self.codes[mutant.path]
        changed = mutate_code(code, mutant.operator(), mutant.occurrence)
        pairs = zip(code.split("\n"), changed.split("\n"), strict=False)
        change = next(f"  - {a}\n  + {b}" for a, b in pairs if a != b)
        if not tests:
            return "uncovered", change
        failing = [f"--deselect={test}" for it in tests.values() for test in it.failed]
        file.write_text(changed)
        limit = 30 + 6 * sum(it.seconds for it in tests.values())
        status, _ = self.run_tests(limit, "-x", *failing, *tests)
        file.write_text(code)
        return {None: "timeout", 0: "survived", 5: "survived"}.get(status, "killed"), change


def main() -> None:
    """Draw, try, and list what survived."""
    parser = argparse.ArgumentParser(description="Which changes of the source does no test notice?")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", help="the commit's hash, unless given")
    parser.add_argument("--only", nargs="+", default=[], help="files or folders of the source")
    given = parser.parse_args()
    os.chdir(REPOSITORY)
    ask = partial(subprocess.check_output, text=True)
    commit = ask(["git", "stash", "create"]).strip() or "HEAD"
    tree, head = ask(["git", "rev-parse", f"{commit}^{{tree}}", "HEAD"]).split()
    store = REPOSITORY / f".cache/mutants/{tree}.jsonl"
    mirrored = tuple(map(mirrored_tests, given.only)) or ("tests/",)
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder), commit)
        codes = {it: copy.codes[it] for it in copy.codes if it.startswith((*given.only,) or SOURCE)}
        drawn = draw_mutants(codes, given.count, given.seed or head)
        files = (str(it.relative_to(folder)) for it in Path(folder, "tests").rglob("test_*.py"))
        known = copy.record_all(sorted(it for it in files if it.startswith(mirrored)), store)
        counts = Counter[str]()
        for it in drawn:
            tests = {name: known[name] for name in find_tests(it, copy.codes, known)}
            outcome, change = copy.try_mutant(it, tests)
            counts[outcome] += 1
            if outcome != "killed":
                print(f"{outcome} {it.path}:{it.line}\n{change}", flush=True)  # noqa: T201
    print(f"{counts['killed'] / len(drawn):.0%} of {len(drawn)} killed:", dict(counts))  # noqa: T201


if __name__ == "__main__":
    main()
