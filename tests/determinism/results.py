"""What runs leave, made comparable: of what may differ, exactly that is taken out, by name."""

import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from faults.what_differs import MAY_DIFFER, table_bytes

Files = Mapping[str, bytes]

VERSION = re.compile(rb"\d{4}-\d\d-\d\dT\d\d\.\d\d\.\d\d\.\d{3}Z")
# Files that say which saved run they read, by its version.
TELL_VERSIONS = ("out/plan.json", "out/plan.html", "out/diff.html")
# The report quotes rejected rows by their number in the source; nothing else in it may differ.
_REJECTED = re.compile(r'(<tr><th scope="row">[^<]*</th><td class="n">\d+</td>)<td class="text">.*')


def differing(one: Files, other: Files, backwards: bool = False) -> list[str]:
    """Names of files that only one has, or that say something else.

    Args:
        one: contents by path.
        other: of another run.
        backwards: whether one read sources whose rows were backwards; then numbers of rows in them
            may differ.
    """
    return sorted(
        name
        for name in {*one, *other}
        if one.get(name) != other.get(name)
        and (
            not (name in one and name in other)
            or comparable(name, one[name], backwards) != comparable(name, other[name], backwards)
        )
    )


def comparable(name: str, content: bytes, backwards: bool = False) -> bytes:
    """The content of a file without what equal runs may leave different."""
    if name.endswith(TELL_VERSIONS):
        return VERSION.sub(b"@", content)
    own = {**MAY_DIFFER, **(OF_ROWS if backwards else {})}.get(Path(name).name)
    return content if own is None else own(content)


def _rejected_items(content: bytes) -> bytes:
    """Row and reason tell the place in the source; the rows are in its order."""
    table = pd.read_parquet(io.BytesIO(content)).drop(columns=["row", "detail"])
    return table_bytes(table.sort_values("raw"))


def _report(content: bytes) -> bytes:
    """Quotes one rejected row of each kind, with its place."""
    return _REJECTED.sub(r"\1", content.decode("utf-8")).encode("utf-8")


OF_ROWS: dict[str, Callable[[bytes], bytes]] = {
    "rejected_items.parquet": _rejected_items,
    "report.html": _report,
}
