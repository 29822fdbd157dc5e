"""The documentation builds as a site, offline, without a dead link or an orphan page."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")


def pages_in(nav: Any) -> Iterator[str]:
    """The pages that a navigation lists, whatever sections they are in."""
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from pages_in(part)


def test_site_builds_strictly(repository: Path, tmp_path: Path) -> None:
    shutil.copytree(repository / "docs", tmp_path / "docs")
    shutil.copy(repository / "zensical.toml", tmp_path)
    zensical = Path(sys.executable).with_name("zensical")
    built = subprocess.run(
        [zensical, "build", "--strict"], check=False, cwd=tmp_path, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stdout + built.stderr
    assert (tmp_path / ".site" / "index.html").is_file()


def test_navigation_lists_every_page_once(repository: Path) -> None:
    nav = tomllib.loads((repository / "zensical.toml").read_text())["project"]["nav"]
    docs = repository / "docs"
    assert sorted(pages_in(nav)) == sorted(
        str(page.relative_to(docs)) for page in docs.rglob("*.md")
    )


def test_images_exist(repository: Path) -> None:
    for page in (repository / "docs").rglob("*.md"):
        for image in _IMAGE.findall(page.read_text()):
            assert (page.parent / image).is_file(), f"{page.name}: {image}"
