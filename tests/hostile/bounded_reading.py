"""Read decompression bombs and false Parquet files in a separate process; print failures."""

import gzip
import io
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchwright.core.errors import one_line
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.datasets.response_matrix import ResponseMatrixDataset
from hostile.readers import READERS

MEMORY_KIB = 2_000_000
MATRIX = "a response matrix"


def outcome(name: str, path: Path) -> str:
    """Return `read`, `refused`, or the failure."""
    began = time.monotonic()
    try:
        READERS[name][1](path)
        result = "read"
    except Exception as error:
        result = "refused" if one_line(error) else f"{type(error).__name__}: {error}"[:300]
    return result if time.monotonic() - began < 30 else f"slow, {result}"


def of_parquet() -> list[str]:
    """Readers of Parquet."""
    return [name for name, (file, _) in READERS.items() if file.endswith(".parquet")]


def whole(name: str, folder: Path) -> bytes:
    """Return a Parquet file that the reader accepts."""
    path = folder / "whole.parquet"
    if name == MATRIX:
        correct = np.array([[1, 0, np.nan], [1, 1, 1]], dtype=np.float32)
        matrix = ResponseMatrix.of(("m", "n"), ("q1", "q2", "01"), correct=correct)
        ResponseMatrixDataset(filepath=str(path)).save(matrix)
        return path.read_bytes()
    texts = dict.fromkeys(("question", "A", "B", "text", "doc_id", "name", "half"), ["x", "y"] * 4)
    ids = {
        "id": list("abcdefgh"),
        "item_id": ["q1", "q2", "01", *"defgh"],
        "model": list("abcdefgh"),
    }
    numbers = {"gold": [0, 1] * 4, "correct": [1, 0] * 4, "avg": [0.5] * 8}
    pq.write_table(pa.table({**texts, **ids, **numbers, "choices": [["a", "b"]] * 8}), path)
    return path.read_bytes()


def lies(content: bytes, draw: random.Random) -> bytes:
    """Return the file with a few bytes of footer, pages or end changed."""
    changed = bytearray(content)
    footer = len(changed) - 8 - int.from_bytes(changed[-8:-4], "little")
    for _ in range(draw.choice((1, 1, 2, 4))):
        at = draw.randrange(footer if draw.random() < 0.6 else 0, len(changed))
        changed[at] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
    return bytes(changed[: draw.randrange(len(changed))] if draw.random() < 0.1 else changed)


def check_lies(folder: Path, count: int) -> dict[str, int]:
    """Count the outcomes."""
    draw = random.Random(0)  # noqa: S311
    counts: dict[str, int] = {}
    names = of_parquet()
    contents = {name: whole(name, folder) for name in names}
    for name in names:
        (folder / READERS[name][0]).write_bytes(contents[name])
        result = outcome(name, folder / READERS[name][0])
        assert result == "read", (name, result)
    for number in range(count):
        name = names[number % len(names)]
        path = folder / READERS[name][0]
        path.write_bytes(lies(contents[name], draw))
        result = outcome(name, path)
        key = result if result in ("read", "refused") else f"{name}: {result}"
        counts[key] = counts.get(key, 0) + 1
    return counts


def parquet_bomb(**more: Any) -> bytes:
    """Write a text of a megabyte 100,000 times: 100 GB in a few kilobytes."""
    rows = 100_000
    indices = pa.array(np.zeros(rows, dtype=np.int32))
    text = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * 1_000_000]))
    out = io.BytesIO()
    named = dict.fromkeys(("text", "question", "model", "item_id"), text)
    pq.write_table(pa.table({**named, **more}), out, compression="zstd")
    return out.getvalue()


def packed(line: bytes, total: int) -> bytes:
    """Write one line of this many bytes, as gzip."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9, mtime=0) as stream:
        block = line * (1_000_000 // len(line))
        for _ in range(total // len(block)):
            stream.write(block)
    return out.getvalue()


def check_bombs(folder: Path, total: int) -> dict[str, str]:
    """Return the outcome by reader; reading a bomb is a failure."""
    lines = packed(b'{"text": "' + b"x" * 90_000 + b'"}\n', total)
    cells = packed(b"item_id,model,correct,id\n", total)
    parquet = parquet_bomb()
    unexpected = {}
    for name, (file, _) in READERS.items():
        content = {".csv.gz": cells, ".jsonl.gz": lines, ".parquet": parquet}
        bomb = next((data for end, data in content.items() if file.endswith(end)), None)
        if bomb is None or name == MATRIX:
            continue
        (folder / file).write_bytes(bomb)
        began = time.monotonic()
        result = outcome(name, folder / file)
        sys.stderr.write(f"{name}: {result}, {time.monotonic() - began:.1f} s\n")
        # Documents are read up to the limit, and the rest is reported.
        if result != ("read" if name.startswith("documents") else "refused"):
            unexpected[name] = result
    return unexpected


def main() -> None:
    """`bounded_reading.py <lies> <bytes of a bomb>`."""
    count, total = int(sys.argv[1]), int(sys.argv[2])
    # Larger allocations fail at once, without affecting other processes.
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    with tempfile.TemporaryDirectory() as folder:
        summary = {"lies": check_lies(Path(folder), count)}
        summary |= {"bombs": check_bombs(Path(folder), total)}  # type: ignore[dict-item]
    summary |= {"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}  # type: ignore[dict-item]
    print(json.dumps(summary))  # noqa: T201


if __name__ == "__main__":
    main()
