"""Top-level values of `--params` that belong to no section."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from benchwright.core.errors import InputError

_SCORES = ("live", "imported", "benchmark")


def _whole(value: Any, least: int) -> bool:
    """Whether a value is an integer that fits a column of 64 bits."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63


def _name(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip() != ""


def _place(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != "" and "\0" not in value


_ACCEPTED: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "benchmark": (_name, "the name of one benchmark"),
    "variant": (_name, "the name of one variant"),
    "data_root": (_place, "a folder"),
    "mirror_root": (lambda value: value in (None, "") or _place(value), "a folder, or nothing"),
    "score": (lambda value: value is None or value in _SCORES, ", ".join(_SCORES)),
    "limit": (lambda value: value is None or _whole(value, 1), "a whole number from 1, or null"),
    "seed": (lambda value: _whole(value, 0), "a whole number from 0"),
}


def check_run_values(given: Mapping[str, Any]) -> None:
    """Raise if `--params` holds values that a run would misread or fail on later.

    Args:
        given: `--params`, nested; sections and unknown names are ignored.

    Raises:
        InputError: benchmark, variant, data_root, mirror_root, score, limit or seed is invalid, or
            data_root lies in a file.
    """
    for name, value in given.items():
        fits, accepted = _ACCEPTED.get(name, (lambda _: True, ""))
        if not fits(value):
            shown = "" if value is None else f"{value!r:.60}"
            raise InputError(f"--params {name}={shown}; accepted: {accepted}")
    if "data_root" in given:
        folder = Path(given["data_root"])
        existing = next((path for path in (folder, *folder.parents) if path.exists()), None)
        if existing is not None and not existing.is_dir():
            raise InputError(f"--params data_root={folder}: {existing} is a file; name a folder")
