"""What runs leave, made comparable: of what may differ, exactly that is taken out, by name."""

import io
import json
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from faults.project_runs import KEY

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
            or _comparable(name, one[name], backwards) != _comparable(name, other[name], backwards)
        )
    )


def _comparable(name: str, content: bytes, backwards: bool) -> bytes:
    if name.endswith(TELL_VERSIONS):
        return VERSION.sub(b"@", content)
    own = {**MAY_DIFFER, **(OF_ROWS if backwards else {})}.get(Path(name).name)
    return content if own is None else own(content)


def _documents_read(content: bytes) -> bytes:
    """Names the files that were read, with their folder."""
    table = pd.read_parquet(io.BytesIO(content))
    table["file"] = [Path(one).name for one in table["file"]]
    return _bytes(table)


def _rejected_items(content: bytes) -> bytes:
    """Row and reason tell the place in the source; the rows are in its order."""
    table = pd.read_parquet(io.BytesIO(content)).drop(columns=["row", "detail"])
    return _bytes(table.sort_values("raw"))


def _report(content: bytes) -> bytes:
    """Quotes one rejected row of each kind, with its place."""
    return _REJECTED.sub(r"\1", content.decode("utf-8")).encode("utf-8")


def _bytes(table: pd.DataFrame) -> bytes:
    return table.to_json(orient="records").encode("utf-8")


def _opened(content: bytes) -> bytes:
    """Encrypted with a new nonce each time: what it holds is compared."""
    from benchwright.construction.sealing.key import read_key
    from benchwright.construction.sealing.seal import open_sealed
    from benchwright.params.sealing import SealingParams

    with tempfile.TemporaryDirectory() as folder:
        sealed, key = Path(folder) / "test.sealed", Path(folder) / "key"
        sealed.write_bytes(content)
        key.write_text(KEY, encoding="utf-8")
        return repr(open_sealed(sealed, read_key(SealingParams(key_file=str(key))))).encode()


def _manifest(content: bytes) -> bytes:
    """Holds the hash of the encrypted half, where there is one."""
    manifest = json.loads(content)
    manifest.get("test", {}).pop("sha256", None)
    return json.dumps(manifest).encode("utf-8")


MAY_DIFFER: dict[str, Callable[[bytes], bytes]] = {
    "documents_read.parquet": _documents_read,
    "test.sealed": _opened,
    "manifest.json": _manifest,
}
OF_ROWS: dict[str, Callable[[bytes], bytes]] = {
    "rejected_items.parquet": _rejected_items,
    "report.html": _report,
}
