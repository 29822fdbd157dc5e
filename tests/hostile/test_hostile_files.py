"""Every reader × content that it cannot read: refused in one line, at once, and nothing is run."""

import pickle
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
    # An absent file and an empty one say the same: there are no labels.
    "labels of documents": _NO_LABELS,
    # Spreadsheet programs save these; the columns are found, and the cells are texts.
    "a review sheet": {"nothing", "an empty line", "UTF-16", "stray bytes in a cell", "semicolons"},
    "ratings": {"nothing", "an empty line", "UTF-16", "stray bytes in a cell", "semicolons"},
    "single-best-answer labels": {
        *("nothing", "an empty line", "UTF-16", "stray bytes in a cell", "semicolons"),
    },
}
"""What a reader may read of `KINDS`."""


def told(name: str, path: Path) -> str | None:
    """What the user is told; None where the file is read."""
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
    """The bytes as they stand and, where the name says so, packed."""
    packed = [pack(raw) for end, pack in PACKERS.items() if file.endswith(end)]
    return [raw, *packed]


@pytest.mark.parametrize("name", READERS)
def test_what_cannot_be_read_is_told_in_a_line_that_names_the_file(
    name: str, tmp_path: Path
) -> None:
    file = READERS[name][0]
    for kind, raw in KINDS.items():
        for number, content in enumerate(contents(file, raw)):
            path = tmp_path / f"{kind}-{number}".replace(" ", "_") / file
            path.parent.mkdir()
            path.write_bytes(content)
            line = told(name, path)
            if kind in READ.get(name, ()):
                assert line is None or file.endswith(tuple(PACKERS)), f"{kind}: {line}"
                continue
            assert line is not None, f"{kind} was read"
            assert file.split(".")[0] in line, line
            assert len(line) < 600, line[:700]


@pytest.mark.parametrize("name", READERS)
def test_a_pickle_under_the_name_of_a_file_is_never_loaded(name: str, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    for number, content in enumerate(contents(READERS[name][0], planted(marker))):
        path = tmp_path / str(number) / READERS[name][0]
        path.parent.mkdir()
        path.write_bytes(content)
        assert told(name, path) is not None
        assert not marker.exists()


def test_the_planted_pickle_would_leave_its_mark(tmp_path: Path) -> None:
    pickle.loads(planted(tmp_path / "marker"))  # noqa: S301
    assert (tmp_path / "marker").is_dir()


@pytest.mark.parametrize(
    "name", [one for one in READERS if not one.startswith(("a saved", "saved"))]
)
def test_a_folder_in_the_place_of_a_file_ends_in_no_traceback(name: str, tmp_path: Path) -> None:
    path = tmp_path / READERS[name][0]
    path.mkdir()
    told(name, path)  # answers that are not there are told in the report of the import
