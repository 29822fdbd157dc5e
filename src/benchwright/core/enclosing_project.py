"""The project that holds the current folder."""

from pathlib import Path


def enclosing_project() -> Path | None:
    """Return the project that holds the current folder, if one does."""
    here = (Path.cwd(), *Path.cwd().parents)
    return next((at for at in here if (at / "conf/base/parameters/variants").is_dir()), None)
