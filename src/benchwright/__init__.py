"""Make multiple-choice benchmarks smaller, cleaner, harder and leak-resistant, with evidence."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from benchwright.core.stopping import follow_parent_in_workers

if TYPE_CHECKING:
    from benchwright.api.answers import compare, gate, plan, read_logs, suspects
    from benchwright.api.documents import read_questions
    from benchwright.api.functions import (
        estimate,
        judge_subset,
        perturb,
        sample,
        smart,
        suspect_items,
    )
    from benchwright.api.saved import load_run

    __version__: str

_MODULES = {
    "answers": ("compare", "gate", "plan", "read_logs", "suspects"),
    "documents": ("read_questions",),
    "functions": ("estimate", "judge_subset", "perturb", "sample", "smart", "suspect_items"),
    "saved": ("load_run",),
}
__all__ = [
    "compare",
    "estimate",
    "gate",
    "judge_subset",
    "load_run",
    "perturb",
    "plan",
    "read_logs",
    "read_questions",
    "sample",
    "smart",
    "suspect_items",
    "suspects",
]

follow_parent_in_workers()


# Outside a project, Kedro says at import where its logging configuration is.
logging.getLogger("kedro.framework.project").addFilter(
    lambda record: "as logging configuration" not in record.getMessage()
)


def __getattr__(name: str) -> Any:
    """Import the Python API on its first use, so that `import benchwright` is fast."""
    if name == "__version__":
        return import_module("benchwright.core.version").VERSION
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"benchwright.api.{module}"), name)
    raise AttributeError(f"module 'benchwright' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
