"""Which sealed benchmark a half belongs to, by the manifest that was written beside it."""

import hashlib
import json
from pathlib import Path
from typing import Literal

from benchwright.core.errors import InputError
from benchwright.datasets.half_scores import SealedIdentity
from benchwright.methods.mmlu_cf.sealing.seal import MANIFEST


def sealed_identity(file: Path, half: Literal["validation", "test"]) -> SealedIdentity:
    """The benchmark of `validation.jsonl` or `test.sealed`; nothing is opened.

    Raises:
        InputError: there is no manifest beside the file, or it is of another one.
    """
    manifest = file.parent / MANIFEST
    try:
        told = json.loads(manifest.read_text(encoding="utf-8"))
        hashes = {name: str(told[name]["sha256"]) for name in ("validation", "test")}
        identity = SealedIdentity(name=told["name"], canary=told["canary"], **hashes)
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(
            f"{manifest}: cannot be read ({type(error).__name__}); figures are saved with the "
            "manifest that was written beside the halves, so that they are never paired with "
            "another benchmark's"
        ) from None
    if file_hash(file) != hashes[half]:
        raise InputError(
            f"{file}: {manifest} is of another {half} half; keep the files of one sealing together"
        )
    return identity


def file_hash(file: Path) -> str:
    """SHA-256 of a file.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({type(error).__name__})") from None
