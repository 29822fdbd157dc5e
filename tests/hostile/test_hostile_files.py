"""Every reader × invalid content: refused at once in one line, without running code."""

import time
from pathlib import Path

import pytest

from benchwright.core.errors import one_line
from hostile.files import KINDS, PACKERS, planted
from hostile.readers import READERS

SECONDS = 30
_NO_LABELS = {"nothing", "an empty line"}
_PACKED = ("", ", gzip", ", bzip2", ", zstd")
READ = {
    **{
        f"documents as {kind}": _NO_LABELS
        for kind in ("WARC", "WARC, packed", *(f"JSON lines{end}" for end in _PACKED))
    },
    # An absent file and an empty one are equivalent: there are no labels.
    "labels of documents": _NO_LABELS,
    # Spreadsheet programs save these; the columns are found, and the cells are texts.
    "a review sheet": {"nothing", "an empty line", "UTF-16", "stray bytes in a cell", "semicolons"},
    "ratings": {"nothing", "an empty line", "UTF-16", "stray bytes in a cell", "semicolons"},
    "single-best-answer labels": {
        *("nothing", "an empty line", "UTF-16", "stray bytes in a cell", "semicolons"),
    },
}
"""Members of `KINDS` that a reader may accept."""


def error_line(name: str, path: Path) -> str | None:
    """Return the error message; None if the file is read."""
    began = time.monotonic()
    try:
        READERS[name][1](path)
    except Exception as error:
        line = one_line(error)
        if line is None:
            raise
        return line
    finally:
        assert time.monotonic() - began < SECONDS
    return None


def contents(file: str, raw: bytes) -> list[bytes]:
    """Return the bytes, compressed if the name requires it."""
    packed = [pack(raw) for end, pack in PACKERS.items() if file.endswith(end)]
    return [raw, *packed]


@pytest.mark.parametrize("name", READERS)
def test_an_unreadable_file_is_reported_in_one_line_with_its_name(
    name: str, tmp_path: Path
) -> None:
    file = READERS[name][0]
    for kind, raw in KINDS.items():
        for number, content in enumerate(contents(file, raw)):
            path = tmp_path / f"{kind}-{number}".replace(" ", "_") / file
            path.parent.mkdir()
            path.write_bytes(content)
            line = error_line(name, path)
            if kind in READ.get(name, ()):
                assert line is None or file.endswith(tuple(PACKERS)), f"{kind}: {line}"
                continue
            assert line is not None, f"{kind} was read"
            assert file.split(".")[0] in line, line
            assert len(line) < 600, line[:700]


@pytest.mark.parametrize("name", READERS)
def test_a_pickle_with_another_file_name_is_never_loaded(name: str, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    for number, content in enumerate(contents(READERS[name][0], planted(marker))):
        path = tmp_path / str(number) / READERS[name][0]
        path.parent.mkdir()
        path.write_bytes(content)
        assert error_line(name, path) is not None
        assert not marker.exists()


@pytest.mark.parametrize(
    "name", [reader for reader in READERS if not reader.startswith(("a saved", "saved"))]
)
def test_a_folder_instead_of_a_file_is_reported_without_traceback(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / READERS[name][0]
    path.mkdir()
    error_line(name, path)  # the report of the import counts missing answers
