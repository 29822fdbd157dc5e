"""A figure on the bound of the random band is inside, also where its last decimals differ."""

from typing import Any

import pytest

from benchwright.reports.smart.comparisons import yardstick_rows
from benchwright.reports.smart.judgement import judge_against_random
from benchwright.tables.evidence import Yardstick


@pytest.mark.parametrize("off", [-1e-10, -7e-15, 0, 7e-15, 1e-10])
@pytest.mark.parametrize("bound", [6.9, 8.2])
def test_rounding_does_not_decide_about_headroom(small: Any, bound: float, off: float) -> None:
    spread = {**small.spread, "value": bound + off}
    table = Yardstick.from_rows([small.yardstick_row(), small.yardstick_row(**spread)])
    assert judge_against_random(table, "held_out", 20).headroom == "inside"
    rows = yardstick_rows(table, "held_out")[0]["rows"]
    assert [row["outside"] for row in rows] == [True, False]  # tau-b, range
