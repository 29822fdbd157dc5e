"""What a command prints and writes: files are checked before it begins, and written whole."""

import json
import tempfile
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError
from benchwright.core.file_kinds import is_there
from benchwright.core.printable import escape_controls
from benchwright.core.progress import say
from benchwright.core.version import VERSION


def check_outputs(files: Collection[Path], inputs: Collection[Path]) -> None:
    """Check that files can be written, are different files, and none is read by the command.

    Raises:
        InputError: otherwise.
    """
    places: list[Path] = []
    for file in files:
        try:
            place = file.resolve()
            with suppress(FileNotFoundError):
                file.stat()  # a loop of links, which `resolve` accepts from Python 3.13 on
            if file.exists() and not file.is_file():
                raise InputError(f"{file} is no file: choose another place")
            tempfile.TemporaryFile(dir=next(p for p in place.parents if p.exists())).close()
        except (OSError, RuntimeError) as error:  # a RuntimeError up to 3.12
            why = getattr(error, "strerror", None) or error
            raise InputError(f"{file} cannot be written: {why}; choose another place") from None
        if place in places:
            raise InputError(f"{file}: give each result a file of its own")
        if any(_is_read(place, path.resolve()) for path in inputs):
            raise InputError(f"{file} is an input: choose another place")
        places.append(place)


def _is_read(place: Path, path: Path) -> bool:
    from benchwright.answers.answer_files import find_answer_files

    if not path.is_dir() or not place.is_file() or not place.is_relative_to(path):
        return place == path
    for file in find_answer_files([path]).files.values():
        parts = file.log.files if file.log else [file.spec.file]
        if any(place.samefile(part) for part in parts if is_there(Path(part))):
            return True
    return False


def print_lines(lines: Iterable[str]) -> None:
    """Print lines; what would control a terminal, or forge a line, is shown escaped."""
    say("\n".join(map(escape_controls, lines)))


def write_output(
    file: Path | None, make_content: Callable[[], dict[str, Any] | str | bytes]
) -> None:
    """Write JSON with our version, a text or bytes to a file, if there is one, and name it."""
    if file is None:
        return
    content = make_content()
    if isinstance(content, dict):
        content = json.dumps({"benchwright": VERSION, **content}, indent=1) + "\n"
    with written_aside(file) as aside:
        aside.write_bytes(content if isinstance(content, bytes) else content.encode())
    say(f"written: {relative(file)}")


def relative(path: Path) -> Path:
    """Return a path in the current folder relative to it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
