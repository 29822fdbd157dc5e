import pyarrow as pa
import pytest

from benchwright.core.errors import InputError
from benchwright.responses.cell_values import texts

CELLS = ["m", None, "n", "m", " ", "NA"]


@pytest.mark.parametrize(
    "column",
    [
        pa.chunked_array([CELLS]),
        pa.chunked_array([CELLS[:2], CELLS[2:2], CELLS[2:]], pa.string()),
        pa.chunked_array([CELLS], pa.large_string()),
        pa.chunked_array([CELLS]).dictionary_encode(),
        pa.chunked_array([pa.array(part).dictionary_encode() for part in (CELLS[:4], CELLS[4:])]),
    ],
    ids=["one piece", "pieces", "large", "dictionary", "two dictionaries"],
)
def test_texts_are_verbatim_in_every_storage_type(column: pa.ChunkedArray) -> None:
    read = texts(column, "a.parquet")
    assert read.tolist() == CELLS
    assert read[0] is read[3]


def test_integers_become_digits_and_missing_stays_missing() -> None:
    assert texts(pa.chunked_array([[7, None, -1]]), "a").tolist() == ["7", None, "-1"]
    assert texts(pa.chunked_array([pa.nulls(2)]), "a").tolist() == [None, None]
    assert texts(pa.chunked_array([], pa.string()), "a").tolist() == []


def test_other_types_are_rejected() -> None:
    with pytest.raises(InputError, match=r"^a\.csv, column 'x': expected text, got type double$"):
        texts(pa.chunked_array([[0.5]]), "a.csv, column 'x'")
