"""Every reader × invalid content: refused at once in one line, without running code."""

import time
from pathlib import Path

import pytest

from benchwright.core.errors import one_line
from hostile.files import KINDS, PACKERS, planted
from hostile.readers import READERS

SECONDS = 30
_NO_ROWS = {"nothing", "an empty line"}
_OF_SPREADSHEETS = {*_NO_ROWS, "UTF-16", "stray bytes in a cell", "semicolons"}
_PACKED = ("", ", gzip", ", bzip2", ", zstd")
READ = {
    **{
        f"documents as {kind}": _NO_ROWS
        for kind in ("WARC", "WARC, packed", *(f"JSON lines{end}" for end in _PACKED))
    },
    # An absent file and an empty one are equivalent: there are no labels.
    "labels of documents": _NO_ROWS,
    # Spreadsheet programs save these; the columns are found, and the cells are texts.
    "a review sheet": _OF_SPREADSHEETS,
    "ratings": _OF_SPREADSHEETS,
    "single-best-answer labels": _OF_SPREADSHEETS,
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


@pytest.mark.parametrize("name", READERS)
def test_an_unreadable_file_is_reported_in_one_line_with_its_name(
    name: str, tmp_path: Path
) -> None:
    file, marker = READERS[name][0], tmp_path / "marker"
    packed = [pack for end, pack in PACKERS.items() if file.endswith(end)]
    for kind, raw in {**KINDS, "a pickle": planted(marker)}.items():
        for number, content in enumerate([raw, *(pack(raw) for pack in packed)]):
            path = tmp_path / f"{kind}-{number}".replace(" ", "_") / file
            path.parent.mkdir()
            path.write_bytes(content)
            line = error_line(name, path)
            if kind in READ.get(name, ()):
                assert line is None or packed, f"{kind}: {line}"
                continue
            assert line is not None, f"{kind} was read"
            assert file.split(".")[0] in line, line
            assert len(line) < 600, line[:700]
    assert not marker.exists()
    if not name.startswith(("a saved", "saved")):
        (tmp_path / file).mkdir()  # a folder instead of a file; the import counts missing answers
        error_line(name, tmp_path / file)
