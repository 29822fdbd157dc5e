import csv
import io
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.core.errors import InputError
from benchwright.datasets.optional_table import OptionalReviewCsv
from benchwright.datasets.review_csv import (
    LONGEST_CELL,
    read_spreadsheet,
    spreadsheet_bytes,
)

COLUMNS = ["item_id", "rule", "verdict"]


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "review_sheet.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def cells_of(table: pd.DataFrame) -> list[list[str]]:
    """The cells as a spreadsheet program sees them."""
    text = spreadsheet_bytes(table).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


def column(*cells: str) -> pd.DataFrame:
    return pd.DataFrame({"text": list(cells), "other": ["x"] * len(cells)})


def test_file_has_a_byte_order_mark_and_windows_line_ends() -> None:
    raw = spreadsheet_bytes(pd.DataFrame({"a": ["é\nsecond line"], "b": ['say "x", y']}))
    assert raw == b'\xef\xbb\xbfa,b\r\n"\xc3\xa9\nsecond line","say ""x"", y"\r\n'


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-x", "@SUM(A1)", "＝1", "''@x", "007", "3/4"])
def test_cells_cannot_become_formulas_numbers_or_dates(cell: str) -> None:
    assert cells_of(column(cell))[1][0] == f"'{cell}"


@pytest.mark.parametrize("cell", ["'quoted'", "3 apples", "a=b", "None", ""])
def test_other_cells_are_unchanged(cell: str) -> None:
    assert cells_of(column(cell))[1][0] == cell


def test_missing_values_are_empty_cells() -> None:
    table = pd.DataFrame({"a": [None, float("nan"), 3], "b": ["x", "y", "z"]}, dtype=object)
    assert [row[0] for row in cells_of(table)[1:]] == ["", "", "3"]
    assert len(cells_of(column("x" * 40_000))[1][0]) == LONGEST_CELL


@given(st.lists(st.tuples(st.text(max_size=12), st.text("=+-@'\"\t\n\r;, 01x", max_size=8))))
def test_sheet_round_trips(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    rows = [(f"k{i}", *row) for i, row in enumerate(rows)]  # type: ignore[misc]
    table = pd.DataFrame(rows, columns=["key", "any", "nasty"], dtype="object")
    path = tmp_path_factory.getbasetemp() / "sheet.csv"
    path.write_bytes(spreadsheet_bytes(table))
    back = read_spreadsheet(path)

    def plain(text: str) -> str:
        return text.replace("\r\n", "\n").replace("\r", "\n").strip()

    assert back["key"].tolist() == table["key"].tolist()
    for name in ("any", "nasty"):
        assert [plain(t) for t in back[name]] == [plain(t) for t in table[name]]


@pytest.mark.parametrize(
    ("encoding", "separator", "line_end"),
    [
        ("utf-8", ",", "\n"),
        ("utf-8-sig", ";", "\r\n"),
        ("utf-16", "\t", "\n"),
        ("cp1252", ";", "\r"),
    ],
)
def test_separators_and_encodings_are_detected(
    tmp_path: Path, encoding: str, separator: str, line_end: str
) -> None:
    lines = [["Item_ID ", "rule", "Verdict"], ["é/1", '"a;b,c\td"', " agree "], ["é/2", "", ""]]
    text = line_end.join(separator.join(line) for line in lines) + line_end
    table = read_spreadsheet(written(tmp_path, text.encode(encoding)), COLUMNS)
    assert table.to_numpy().tolist() == [["é/1", "a;b,c\td", "agree"], ["é/2", "", ""]]


def test_empty_rows_are_kept_except_at_the_end(tmp_path: Path) -> None:
    path = written(tmp_path, "mine,verdict,rule,item_id\n\n?,agree,easy,a\n,,\n\n")
    table = read_spreadsheet(path, COLUMNS, ["note"])
    assert table.columns.tolist() == [*COLUMNS, "note"]
    assert table.to_numpy().tolist() == [["", "", "", ""], ["a", "easy", "agree", ""]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item_id;rule\na;b\n", "no column 'verdict'; it has item_id, rule"),
        ("item_id,rule,verdict,Verdict\na,b,c,d\n", "column 'verdict' is not unique"),
        ("item_id,rule,verdict\na,b,c\na,b,c,d\n", "row 3: 4 cells for 3 columns"),
        ('item_id,rule,verdict\na,b,"open\n', "line 2: unexpected end of data"),
        (b"item_id,rule,verdict\n\x81\x8d\n", "save the file as CSV in UTF-8"),
    ],
)
def test_unreadable_files_are_reported_with_the_position(
    tmp_path: Path, content: str | bytes, message: str
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError) as error:
        read_spreadsheet(path, COLUMNS)
    assert str(error.value).startswith(str(path))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_or_empty_user_files_have_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "review_sheet.csv"
    dataset = OptionalReviewCsv(filepath=str(path), columns=COLUMNS, optional=["note"])
    for content in (None, "", "\n", "item_id,rule,verdict\n"):
        if content is not None:
            written(tmp_path, content)
        table = dataset.load()
        assert table.columns.tolist() == [*COLUMNS, "note"]
        assert table.empty
