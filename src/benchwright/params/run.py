"""Top-level values of `--params`, outside any section."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from benchwright.core.errors import InputError, expected

_SCORES = ("live", "imported", "benchmark")


def _whole(value: Any, least: int) -> bool:
    """Return whether a value is an integer from `least` that fits into 64 bits."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**63


def _name(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip() != ""


def _path(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != "" and not re.search("\0|://", value)


_ACCEPTED: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "benchmark": (_name, "the name of a benchmark"),
    "variant": (_name, "the name of a variant"),
    "data_root": (_path, "a folder of this machine"),
    "mirror_root": (
        lambda value: value in (None, "") or _path(value),
        "a folder of this machine, or empty",
    ),
    "score": (lambda value: value is None or value in _SCORES, f"one of {', '.join(_SCORES)}"),
    "limit": (lambda value: value is None or _whole(value, 1), "a positive integer, or null"),
    "seed": (lambda value: _whole(value, 0), "a non-negative integer"),
}


RUN_VALUES = _ACCEPTED.keys()
"""The names of these values."""
HIDDEN = {"benchmarks", "variants", "_benchmarks", "_variants"}


def unknown_parameters(given: Mapping[str, Any], declared: Iterable[str]) -> str | None:
    """Return an error message for the first invalid key of `--params`, or None.

    Kedro accepts any key: `--params benchmrk=arc` would run the default benchmark.
    """
    names = {name for name in declared if not name.startswith("_")} - HIDDEN
    for key in given:
        if key in HIDDEN:
            return (
                f"--params {key}.… has no effect, since benchmark and variant are resolved first; "
                "override the resolved section, e.g. filtering.easy.confidence=0.9"
            )
        if key not in names:
            return f"--params {key}: unknown parameter; {expected(key, names)}"
    return None


def check_run_values(
    given: Mapping[str, Any],
    where: Callable[[str], str] = lambda _: "--params ",
    project: Path = Path(),
) -> None:
    """Check the values in `--params` or in conf/ that a run would misread or fail on later.

    Args:
        given: the nested parameters; sections and unknown names are ignored.
        where: the beginning of the message about a name.
        project: the folder that a relative data_root is in.

    Raises:
        InputError: benchmark, variant, data_root, mirror_root, score, limit or seed is invalid, or
            data_root is below a file.
    """
    for name, value in given.items():
        fits, accepted = _ACCEPTED.get(name, (lambda _: True, ""))
        if not fits(value):
            text = "" if value is None else f"{value!r:.60}"
            raise InputError(f"{where(name)}{name}={text}: expected {accepted}")
    if "data_root" in given:
        folder = project / given["data_root"]
        existing = next((path for path in (folder, *folder.parents) if path.exists()), None)
        if existing is not None and not existing.is_dir():
            place = where("data_root")
            raise InputError(f"{place}data_root={folder}: {existing} is a file, not a folder")


def run_part(limit: int | None, seed: int | None) -> str:
    """Return the subfolder of a run with a limit or another seed than 0: `limit50-seed1`, or ""."""
    return "-".join(
        f"{name}{value}" for name, value in (("limit", limit), ("seed", seed or None)) if value
    )
