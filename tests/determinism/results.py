"""Make outputs of runs comparable by removing what may differ."""

import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from faults.what_differs import MAY_DIFFER, table_bytes

Files = Mapping[str, bytes]

VERSION = re.compile(rb"\d{4}-\d\d-\d\dT\d\d\.\d\d\.\d\d\.\d{3}Z")
# Files with the version of the run that they read.
TELL_VERSIONS = ("out/plan.json", "out/plan.html", "out/diff.json")
# The report shows rejected rows by their position in the source; nothing else may differ.
_REJECTED = re.compile(r"<td>Row \d+: .*?</td>", re.DOTALL)


def differing(first: Files, second: Files, backwards: bool = False) -> list[str]:
    """Return the names of files that only one has or whose contents differ.

    Args:
        first: contents by path.
        second: contents of another run by path.
        backwards: whether one run read sources in reverse order; positions of rows may then
            differ.
    """
    return sorted(
        name
        for name in {*first, *second}
        if first.get(name) != second.get(name)
        and (
            not (name in first and name in second)
            or comparable(name, first[name], backwards) != comparable(name, second[name], backwards)
        )
    )


def comparable(name: str, content: bytes, backwards: bool = False) -> bytes:
    """Return a file's content without what may differ between equal runs."""
    if name.endswith(TELL_VERSIONS):
        return VERSION.sub(b"@", content)
    normalise = {**MAY_DIFFER, **(OF_ROWS if backwards else {})}.get(Path(name).name)
    return content if normalise is None else normalise(content)


def _rejected_items(content: bytes) -> bytes:
    """Remove positions in the source, and sort the rows."""
    table = pd.read_parquet(io.BytesIO(content)).drop(columns=["row", "detail"])
    return table_bytes(table.sort_values("raw"))


def _report(content: bytes) -> bytes:
    """Remove the rejected rows that the report shows with their positions."""
    return _REJECTED.sub("", content.decode("utf-8")).encode("utf-8")


OF_ROWS: dict[str, Callable[[bytes], bytes]] = {
    "rejected_items.parquet": _rejected_items,
    "report.html": _report,
}
