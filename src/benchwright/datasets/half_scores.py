"""Figures of models on the halves of a sealed benchmark (`benchwright evaluate-sealed --out`)."""

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchwright.core.errors import InputError
from benchwright.datasets.read_only import ReadOnly

FORMAT: Literal["benchwright-half-score-1"] = "benchwright-half-score-1"
"""What a file of figures says it is."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SealedIdentity(_Strict):
    """Which sealed benchmark a half is of.

    Attributes:
        name: as it was sealed.
        canary: of the public half.
        validation: SHA-256 of `validation.jsonl`.
        test: SHA-256 of `test.sealed`, which each sealing makes another one.
    """

    name: str
    canary: str
    validation: str = Field(pattern=r"^[0-9a-f]{64}$")
    test: str = Field(pattern=r"^[0-9a-f]{64}$")


class GroupFigures(_Strict):
    """Answered items, accuracy 0–1 and its standard error over clusters; None: not told."""

    n: int = Field(ge=0)
    accuracy: float | None = Field(ge=0, le=1)
    se: float | None = Field(ge=0)


class HalfFigures(_Strict):
    """One model, asked in one way, on one half; aggregates only.

    Attributes:
        format: of the file.
        version: of the package that scored.
        benchmark: whose half.
        half: which.
        model: its name; with style and shots the configuration.
        style: how it was asked.
        shots: demonstrations, of the public half.
        all: all items.
        fields: those told by themselves, the others together.
        unanswered: items without an answer.
        reason: why accuracies are withheld, or "".
    """

    format: Literal["benchwright-half-score-1"]
    version: str
    benchmark: SealedIdentity
    half: Literal["validation", "test"]
    model: str
    style: str
    shots: int = Field(ge=0)
    all: GroupFigures
    fields: dict[str, GroupFigures]
    unanswered: int = Field(ge=0)
    reason: str


class HalfScores(ReadOnly[dict[str, HalfFigures]]):
    """A folder of figures, one `.json` file for each model, way of asking and half.

    Args:
        folder: looked through with its folders; it need not exist.
        metadata: for plugins.
    """

    def __init__(self, *, folder: str, metadata: dict[str, Any] | None = None) -> None:
        super().__init__(folder, metadata)

    def load(self) -> dict[str, HalfFigures]:
        """Figures by the file's name below the folder, in order.

        Raises:
            InputError: there is no file, or one is not of this format.
        """
        files = sorted(self.place.rglob("*.json"))
        if not files:
            raise InputError(
                f"{self.place}: no figures; write some with benchwright evaluate-sealed "
                "test.sealed validation.jsonl --model … --out that folder"
            )
        return {str(file.relative_to(self.place)): read_half_figures(file) for file in files}


def read_half_figures(file: Path) -> HalfFigures:
    """One file of figures.

    Raises:
        InputError: it cannot be read or is not of this format; the message names the first field.
    """
    try:
        return HalfFigures.model_validate(json.loads(file.read_text(encoding="utf-8")))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise InputError(
            f"{file}: {field}: {first['msg']}; a file that benchwright evaluate-sealed wrote with "
            f"--out is accepted ({FORMAT}); move others away"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: cannot be read as JSON ({type(error).__name__})") from None
