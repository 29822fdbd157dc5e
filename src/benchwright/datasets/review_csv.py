"""CSV files for spreadsheet programs."""

import contextlib
import csv
import io
import math
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError
from benchwright.core.kedro_internals import LocalFile
from benchwright.core.verbatim import listed, read_errors

LONGEST_CELL = 32_767
"""Maximum characters of a spreadsheet cell; programs truncate or split longer text."""

# Spreadsheet programs read these as formulas (also full-width signs), numbers or dates: an id 007
# becomes 7. A leading apostrophe prevents that.
_GUARDED = re.compile(r"[=+\-@＝＋－＠]|[0-9][0-9.,/:+\-eE ]*\Z")
_GUARD = "'"


class ReviewCsv(LocalFile[pd.DataFrame]):
    """A table of texts as CSV for spreadsheets: UTF-8 with byte order mark, line ends CRLF.

    Texts that would become formulas, numbers or dates get a leading apostrophe, which loading
    removes. Surrounding white space is lost, line ends in cells are LF, and cells are truncated at
    `LONGEST_CELL` characters.
    """

    def load(self) -> pd.DataFrame:
        """Return the table as texts."""
        return read_spreadsheet(self.load_path())

    def save(self, data: pd.DataFrame) -> None:
        """Write the table atomically."""
        with written_aside(self.save_path()) as aside:
            aside.write_bytes(spreadsheet_bytes(data))


def spreadsheet_bytes(table: pd.DataFrame) -> bytes:
    """Return the table as CSV for spreadsheet programs; see `ReviewCsv`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(table.columns)
    for row in table.itertuples(index=False, name=None):
        writer.writerow([_guarded(cell) for cell in row])
    return out.getvalue().encode("utf-8-sig")


def read_spreadsheet(
    path: Path, columns: Sequence[str] = (), optional: Sequence[str] = ()
) -> pd.DataFrame:
    """Read `columns` and `optional` of a CSV file as text; by default all columns.

    The separator may be comma, semicolon or tab, the encoding UTF-8, UTF-16 or Windows-1252. The
    case of column names does not matter. Cells are stripped of white space and of the guarding
    apostrophe. Empty lines are kept: row i of the table (from 0) is row i + 2 of the sheet.

    Raises:
        InputError: the file cannot be read, lacks or repeats a column, or has a row with more cells
            than columns.
    """
    first, *lines = _lines(path) or [list(columns)]
    header = [cell.strip().casefold() for cell in first]
    wanted = [*columns, *optional] if columns else header
    for name in wanted:
        if name in columns and name not in header:
            raise InputError(f"{path}: no column {name!r}; it has {listed(header)}")
        if header.count(name) > 1:
            raise InputError(f"{path}: column {name!r} is not unique")
    rows = []
    for number, cells in enumerate(lines, start=2):
        if any(cell.strip() for cell in cells[len(header) :]):
            raise InputError(
                f"{path}, row {number}: {len(cells)} cells for {len(header)} columns; quote cells "
                "that contain the separator"
            )
        row = dict(zip(header, cells, strict=False))
        rows.append([_unguarded(row.get(name, "")) for name in wanted])
    while rows and not any(rows[-1]):
        rows.pop()
    return pd.DataFrame(rows, columns=wanted, dtype="object")


def cell_text(cell: object) -> str:
    """Return a cell as stripped text: "" if missing, 7 for 7.0."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def _guarded(cell: object) -> str:
    text = _with_line_feeds(cell_text(cell))
    number = isinstance(cell, int | float)  # no formula, also below 0
    guard = _GUARD if not number and _GUARDED.match(text.lstrip(_GUARD)) else ""
    return (guard + text)[:LONGEST_CELL]


def _unguarded(cell: str) -> str:
    text = _with_line_feeds(cell.strip())
    guarded = text.startswith(_GUARD) and _GUARDED.match(text.lstrip(_GUARD))
    return text[len(_GUARD) :] if guarded else text


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _lines(path: Path) -> list[list[str]]:
    """Return the cells of each line, by the separator that is most frequent in the first one."""
    with read_errors(path):
        raw = path.read_bytes()
    utf16 = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if utf16 else ("utf-8-sig", "cp1252"):
        with contextlib.suppress(UnicodeDecodeError):
            text = raw.decode(encoding)
            break
    else:
        raise InputError(f"{path}: unknown encoding; save the file as CSV in UTF-8")
    if not text.strip():
        return []
    separator = max(",;\t", key=text.splitlines()[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        return list(reader)
    except csv.Error as error:
        message = f"{path}, line {reader.line_num}: {error}; double the quotes inside cells"
        raise InputError(message) from None
