"""A trained classifier in a folder: plain JSON, and the weights of an encoder where it has some."""

import json
import re
import shutil
import uuid
from pathlib import Path
from typing import Any, Protocol

from kedro.io import AbstractDataset
from pydantic import ValidationError

from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError
from benchwright.params.single_best_answer import ClassifierDocument

_WEIGHTS = re.compile(r"weights-[0-9a-f]{12}")


class Weights(Protocol):
    """A fine-tuned encoder."""

    def save(self, folder: Path) -> None:
        """Write it to a folder."""
        ...


class ClassifierFolder(AbstractDataset[dict[str, Any], dict[str, Any] | None]):
    """`<folder>/classifier.json`; loading gives None where nothing was trained.

    What is saved is a JSON document; under the key `weights` it may have an object with
    `save(folder)` (or None). That goes to a folder of its own beside the JSON, which then names it;
    loading gives its path as `weights_folder`. The JSON is renamed into place last, and older
    weights go after that, so that a killed run leaves the old classifier.
    """

    def __init__(self, *, folder: str, metadata: dict[str, Any] | None = None) -> None:
        """Args:
        folder: a local folder; it need not exist.
        metadata: for kedro-viz and MLflow.
        """
        self.folder = Path(folder)
        self.metadata = metadata

    @property
    def _document(self) -> Path:
        return self.folder / "classifier.json"

    def load(self) -> dict[str, Any] | None:
        """The document, or None.

        Raises:
            InputError: it is no JSON document, a part is missing or of another kind, lengths
                differ, or a number is not finite or out of its range; the first field is named.
        """
        if not self._document.exists():
            return None
        try:
            read = json.loads(self._document.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            read = None
        weights = read.pop("weights", None) if isinstance(read, dict) else None
        # A name of ours: a path would make another folder's files be loaded.
        ours = weights is None or (isinstance(weights, str) and _WEIGHTS.fullmatch(weights))
        if not isinstance(read, dict) or not ours:
            raise InputError(
                f"{self._document} is no classifier; kedro run --pipeline sba writes it again"
            )
        self._check(read)
        if weights:
            read["weights_folder"] = str((self.folder / weights).absolute())
        return read

    def _check(self, read: dict[str, Any]) -> None:
        try:
            ClassifierDocument.model_validate(read)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"]))
            said = first["msg"].removeprefix("Value error, ")
            raise InputError(
                f"{self._document}: {where}{': ' if where else ''}{said}; "
                "kedro run --pipeline sba writes it again"
            ) from None

    def save(self, data: dict[str, Any]) -> None:
        """Write weights, then the document, then remove older weights."""
        document = dict(data)
        weights: Weights | None = document.pop("weights", None)
        self.folder.mkdir(parents=True, exist_ok=True)
        older = [path for path in self.folder.glob("weights-*") if path.is_dir()]
        if weights is not None:
            name = f"weights-{uuid.uuid4().hex[:12]}"
            weights.save(self.folder / name)
            document["weights"] = name
        with written_aside(self._document) as aside:
            aside.write_text(
                json.dumps(document, indent=2, sort_keys=True, allow_nan=True), encoding="utf-8"
            )
        for path in older:
            shutil.rmtree(path, ignore_errors=True)

    def _exists(self) -> bool:
        return True

    def _describe(self) -> dict[str, Any]:
        return {"folder": str(self.folder)}
