"""Tasks for the tests of engines, in a module that other processes can load."""

from collections.abc import Iterator

import pyarrow as pa

from benchwright.core.errors import InputError


def twice(number: int) -> Iterator[str]:
    """Two parts; none for 3."""
    if number != 3:
        yield from (f"{number}a", f"{number}b")


def rows_of(table: pa.Table) -> Iterator[int]:
    yield table.num_rows


def refused(number: int) -> Iterator[int]:
    if number == 2:
        raise InputError("row 2: a bad value")
    yield number
