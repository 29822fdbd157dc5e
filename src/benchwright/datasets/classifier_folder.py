"""A trained classifier in a folder: JSON, and the weights of its encoder if any."""

import json
import re
import shutil
import uuid
from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset

from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError

_WEIGHTS = re.compile(r"weights-[0-9a-f]{12}")


class ClassifierFolder(AbstractDataset[dict[str, Any], dict[str, Any] | None]):
    """`<folder>/classifier.json`; loading returns None if there is no classifier.

    The saved document may have an object with `save(folder)` under the key `weights`. It is saved
    to a folder next to the JSON, whose path is `weights_folder` in the loaded document. The JSON is
    written last and older weights are then removed, so that a killed run leaves the old classifier.
    """

    def __init__(self, *, folder: str, metadata: dict[str, Any] | None = None) -> None:
        self.folder = Path(folder)
        self._document = self.folder / "classifier.json"
        self.metadata = metadata

    def load(self) -> dict[str, Any] | None:
        """Return the document, or None; InputError if it is not a classifier."""
        if not self._document.exists():
            return None
        try:
            document = json.loads(self._document.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            document = None
        weights = document.pop("weights", None) if isinstance(document, dict) else None
        # Only names that `save` writes: a path could load files of another folder.
        is_valid = weights is None or (isinstance(weights, str) and _WEIGHTS.fullmatch(weights))
        if not isinstance(document, dict) or not is_valid or "threshold" not in document:
            raise InputError(
                f"{self._document}: not a classifier; run kedro run --pipeline sba to train one"
            )
        if weights:
            document["weights_folder"] = str((self.folder / weights).absolute())
        return document

    def save(self, data: dict[str, Any]) -> None:
        """Write the weights, then the document, then remove older weights."""
        document = dict(data)
        weights = document.pop("weights", None)
        self.folder.mkdir(parents=True, exist_ok=True)
        older = [path for path in self.folder.glob("weights-*") if path.is_dir()]
        if weights is not None:
            name = f"weights-{uuid.uuid4().hex[:12]}"
            weights.save(self.folder / name)
            document["weights"] = name
        with written_aside(self._document) as aside:
            aside.write_text(json.dumps(document, indent=2, sort_keys=True), encoding="utf-8")
        for path in older:
            shutil.rmtree(path, ignore_errors=True)

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"folder": str(self.folder)}
