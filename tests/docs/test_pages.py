"""Pages point at what exists, name every pipeline, and agree on the version."""

import re
from pathlib import Path

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
