"""Columns are iterated part by part, with the values of plain iteration."""

import numpy as np
import pandas as pd
import pytest

from benchwright.core import cells as module
from benchwright.core.cells import cells, records

FRAME = pd.DataFrame(
    {
        "text": pd.Series(["a", None, "c", "d", "e"], dtype="str"),
        "choices": [["x"], np.array(["y", "z"]), [], ["w"], None],
        "number": [1, 2, 3, 4, 5],
        "share": [0.5, np.nan, 1.0, 0.0, 2.5],
        "right": [True, False, True, True, False],
    }
)


@pytest.fixture(autouse=True)
def two_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS", 2)


@pytest.mark.parametrize("name", FRAME.columns)
def test_cells_are_those_of_plain_iteration(name: str) -> None:
    found, plain = list(cells(FRAME[name])), list(FRAME[name])
    assert [type(value) for value in found] == [type(value) for value in plain]
    assert repr(found) == repr(plain)
    assert list(cells(FRAME[name].iloc[:0])) == []


def test_records_are_those_of_the_whole_frame() -> None:
    odd = FRAME.set_axis([7, 7, 0, 3, 1])
    assert repr(list(records(odd))) == repr(odd.to_dict("records"))
    assert list(records(FRAME.iloc[:0])) == []
