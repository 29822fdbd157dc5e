"""Pages build as a site offline, point at what exists, and name every pipeline."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import benchwright
from benchwright.pipeline_registry import register_pipelines

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = sorted(
    [
        *REPOSITORY.glob("*.md"),
        *REPOSITORY.glob("docs/**/*.md"),
        *REPOSITORY.glob("data/01_raw/*/*.md"),
    ]
)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEAD = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchor(head: str) -> str:
    """The anchor that a Markdown reader gives a heading."""
    return re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_are_valid(page: Path) -> None:
    for link in _LINK.findall(page.read_text()):
        if "://" in link:
            continue
        name, _, part = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        if part:
            assert part in {anchor(head) for head in _HEAD.findall(target.read_text())}, link


def test_every_pipeline_and_page_is_in_the_index() -> None:
    docs = REPOSITORY / "docs"
    index = (docs / "index.md").read_text()
    for name in register_pipelines().keys() - {"__default__"}:
        assert f"`{name}`" in index, name
    for page in docs.glob("*/*.md"):
        assert f"({page.relative_to(docs)})" in index, page.name


def test_release_files_agree_on_the_version() -> None:
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())
    assert citation["version"] == benchwright.__version__
    assert citation["license"] == "Apache-2.0"
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert "## Unreleased" in (REPOSITORY / "CHANGELOG.md").read_text()


def pages_in(nav: Any) -> Iterator[str]:
    """The pages that a navigation lists, whatever sections they are in."""
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from pages_in(part)


def test_site_builds_strictly(tmp_path: Path) -> None:
    shutil.copytree(REPOSITORY / "docs", tmp_path / "docs")
    shutil.copy(REPOSITORY / "zensical.toml", tmp_path)
    zensical = Path(sys.executable).with_name("zensical")
    built = subprocess.run(
        [zensical, "build", "--strict"], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert (tmp_path / ".site" / "index.html").is_file()


def test_navigation_lists_every_page_once() -> None:
    nav = tomllib.loads((REPOSITORY / "zensical.toml").read_text())["project"]["nav"]
    docs = REPOSITORY / "docs"
    assert sorted(pages_in(nav)) == sorted(
        str(page.relative_to(docs)) for page in docs.rglob("*.md")
    )
