"""Create a project folder for users of the installed package."""

import shutil
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from benchwright.core.errors import InputError

_PYPROJECT = """\
# A benchwright project: conf/ holds the settings, data/ the inputs and results.
[tool.kedro]
package_name = "benchwright"
project_name = "{name}"
kedro_init_version = "{kedro}"
source_dir = "src"
"""

_IGNORED = """\
data/*
!data/01_raw/
conf/local/*
mlflow.db*
mlruns/
.viz/
.ipynb_checkpoints/
"""


def new_project(folder: Path) -> None:
    """Create `folder` with conf, the bundled benchmark, notebooks and pinned requirements.

    It is created whole or not at all.

    Raises:
        InputError: `folder` is not empty, or the package is an editable install, which lacks the
            files: its clone is already a project.
    """
    from kedro import __version__ as kedro

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is not empty; choose a new or empty folder")
    package = files("benchwright")
    template = package / "project"
    if not template.is_dir():
        raise InputError(
            "this package is installed from a clone, which is already a project; use the clone"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as aside:
        made = Path(aside) / "project"
        with as_file(template) as source:
            shutil.copytree(source, made)
        (made / "conf" / "local").mkdir(exist_ok=True)
        (made / "src").mkdir()
        readme = (package / "cli" / "project_readme.md").read_text(encoding="utf-8")
        for name, text in {
            "pyproject.toml": _PYPROJECT.format(name=folder.name, kedro=kedro),
            ".gitignore": _IGNORED,
            "README.md": readme.replace("{name}", folder.name),
        }.items():
            (made / name).write_text(text, encoding="utf-8")
        if folder.exists():
            folder.rmdir()
        made.rename(folder)
