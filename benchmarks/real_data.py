"""The folder of real benchmarks and answers; a script that needs it says so where it is absent."""

import os
from pathlib import Path

DATA = Path(
    os.environ.get(
        "BENCHWRIGHT_SHARED_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"
    )
)


def real_data(folder: Path = DATA) -> Path:
    """Return the folder; print one line and end the program with exit code 0 where it is absent."""
    if not folder.is_dir():
        print(f"not run: no real data at {folder} (set BENCHWRIGHT_SHARED_DATA to its folder)")
        raise SystemExit(0)
    return folder
