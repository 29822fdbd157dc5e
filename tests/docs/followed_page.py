"""A page of the documentation, followed to the letter in a copy of the project."""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\(\[[^\]]*\]\([^)]*\)\)")
_FILE = re.compile(r"`([\w./-]+\.(?:csv|jsonl|py|yml))`[^`]*:\s*$")


class Step(NamedTuple):
    """A fenced block: `kind` is its language, `before` the text that stands before it."""

    kind: str
    text: str
    before: str


def steps(page: str) -> Iterator[Step]:
    """The fenced blocks of a page, in order."""
    at = 0
    for fence in _FENCE.finditer(page):
        yield Step(fence[1], fence[2], page[at : fence.start()].strip())
        at = fence.end()


def commands(step: Step) -> list[list[str]]:
    """The commands of a shell block."""
    lines = step.text.splitlines() if step.kind == "sh" else ()
    return [shlex.split(line, comments=True) for line in lines if line]


def write(step: Step, root: Path) -> None:
    """Write the file of a block below `root`, or make its edits."""
    if step.kind == "sh":
        return
    if step.kind == "diff":
        first, block = step.text.split("\n", 1)
        path = root / first.removeprefix("--- ")
        path.write_text(edited(path.read_text(), block))
        return
    named = _FILE.search(_LINK.sub("", step.before))
    assert named, f"no file is named before the block:\n{step.text[:200]}"
    path = root / named[1]
    path.parent.mkdir(parents=True, exist_ok=True)
    assert not path.exists(), f"{named[1]} is there already"
    path.write_text(step.text)


def edited(text: str, block: str) -> str:
    """The text after a block of edits, whose old lines must stand in it exactly once."""
    lines = block.splitlines(keepends=True)
    assert {line[0] for line in lines} <= set(" +-")
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(old) == 1, f"stands {text.count(old)} times in the file:\n{old}"
    return text.replace(old, new)


def copy_project(repository: Path, to: Path) -> Path:
    """The project's code, conf and bundled data; no results and no environment."""
    for name in ("src", "conf"):
        shutil.copytree(
            repository / name, to / name, ignore=shutil.ignore_patterns("__pycache__", "local")
        )
    for name in ("pyproject.toml", ".telemetry"):
        shutil.copy(repository / name, to)
    (to / "conf" / "local").mkdir(exist_ok=True)
    bundled = repository / "data" / "01_raw" / "demo"
    (to / "data" / "01_raw").mkdir(parents=True)
    (to / "data" / "01_raw" / "demo").symlink_to(bundled)
    return to
