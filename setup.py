"""What a wheel needs beside the code: the files that `benchwright new` starts a project with."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
FILES = ("constraints.txt", "weights.txt", "weights-large.txt", ".telemetry")
FOLDERS = (
    "conf",
    "notebooks",
    "data/01_raw/demo",
    "data/01_raw/documents",
    "data/01_raw/single_best_answer",
)


def _private(folder: str, names: list[str]) -> set[str]:
    """Nothing of `conf/local` is packed: it holds keys and credentials."""
    return set(names) if Path(folder).name == "local" else {"__pycache__", ".ipynb_checkpoints"}


class BuildWithProject(build_py):
    """Copies conf and the bundled data into the package; an editable install has them already."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "benchwright" / "project"
        shutil.rmtree(target, ignore_errors=True)
        for name in FOLDERS:
            shutil.copytree(ROOT / name, target / name, ignore=_private)
        for name in FILES:
            shutil.copy(ROOT / name, target / name)


setup(cmdclass={"build_py": BuildWithProject})
