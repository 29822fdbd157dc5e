"""A sealed benchmark in a folder, as the pipeline saves it."""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from benchwright.methods.mmlu_cf.sealing.key import SealKey
from benchwright.methods.mmlu_cf.sealing.seal import seal_halves


class SealedFiles(NamedTuple):
    """The files of a sealed benchmark."""

    validation: Path
    card: Path
    test: Path
    manifest: Path


def seal_in(
    folder: Path, items: pd.DataFrame, assignment: pd.DataFrame, key: SealKey
) -> SealedFiles:
    """Seal a benchmark named "demo" and write its files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = seal_halves(items, assignment, "demo", key)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return SealedFiles(*(folder / name for name in files))
