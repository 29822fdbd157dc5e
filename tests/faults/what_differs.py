"""Remove from files what may differ between equal runs."""

import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from faults.project_runs import KEY


def documents_read(content: bytes) -> bytes:
    """Replace the folder in the names of the files that were read."""
    table = pd.read_parquet(io.BytesIO(content))
    table["file"] = [Path(file).name for file in table["file"]]
    return table_bytes(table)


def opened(content: bytes) -> bytes:
    """Decrypt a file that is encrypted with a new nonce each time."""
    from benchwright.methods.mmlu_cf.sealing.key import read_key
    from benchwright.methods.mmlu_cf.sealing.seal import open_sealed
    from benchwright.params.mmlu_cf import SealingParams

    with tempfile.TemporaryDirectory() as folder:
        sealed, key = Path(folder) / "test.sealed", Path(folder) / "key"
        sealed.write_bytes(content)
        key.write_text(KEY, encoding="utf-8")
        return repr(open_sealed(sealed, read_key(SealingParams(key_file=str(key))))).encode()


OF_EACH_RUN = ["wall_seconds", "version"]


def sweep_summary_csv(content: bytes) -> bytes:
    """Remove the duration and version of each run."""
    return table_bytes(pd.read_csv(io.BytesIO(content)).drop(columns=OF_EACH_RUN))


def manifest(content: bytes) -> bytes:
    """Remove the hash of the encrypted half, if any."""
    read = json.loads(content)
    read.get("test", {}).pop("sha256", None)
    return json.dumps(read).encode("utf-8")


def table_bytes(table: pd.DataFrame) -> bytes:
    """A table's content, independent of its compression."""
    return table.to_json(orient="records").encode("utf-8")


MAY_DIFFER: dict[str, Callable[[bytes], bytes]] = {
    "documents_read.parquet": documents_read,
    "test.sealed": opened,
    "manifest.json": manifest,
    "summary.csv": sweep_summary_csv,
}
