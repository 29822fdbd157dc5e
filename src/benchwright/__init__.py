"""Make multiple-choice benchmarks smaller, cleaner, harder and leak-resistant, with evidence."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchwright.core.stopping import follow_parent_in_workers

if TYPE_CHECKING:
    from benchwright.api import (
        estimate,
        judge_subset,
        load_run,
        perturb,
        read_logs,
        sample,
        smart,
        suspect_items,
    )

    __version__: str

__all__ = [
    "estimate",
    "judge_subset",
    "load_run",
    "perturb",
    "read_logs",
    "sample",
    "smart",
    "suspect_items",
]

follow_parent_in_workers()


def _is_not_about_logging(record: logging.LogRecord) -> bool:
    return "as logging configuration" not in record.getMessage()


# Outside a project, Kedro says at import where its logging configuration is.
logging.getLogger("kedro.framework.project").addFilter(_is_not_about_logging)


def __getattr__(name: str) -> Any:
    """Import the Python API on its first use, so that `import benchwright` is fast."""
    if name == "__version__":
        return import_module("benchwright.core.version").VERSION
    if name in __all__:
        return getattr(import_module("benchwright.api"), name)
    raise AttributeError(f"module 'benchwright' has no attribute {name!r}")
