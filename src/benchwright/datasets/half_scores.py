"""Results on the halves of a sealed benchmark (`benchwright evaluate-sealed --out`)."""

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from benchwright.core.errors import InputError, first_problem
from benchwright.datasets.read_only import ReadOnly

FORMAT: Literal["benchwright-half-score-1"] = "benchwright-half-score-1"
"""The format named in each file."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SealedIdentity(_Strict):
    """The identity of a sealed benchmark."""

    name: str
    canary: str  # of the public half
    validation: str = Field(pattern=r"^[0-9a-f]{64}$")  # SHA-256 of `validation.jsonl`
    test: str = Field(pattern=r"^[0-9a-f]{64}$")  # SHA-256 of `test.sealed`, new at each sealing


class GroupResult(_Strict):
    """Answered items, accuracy 0–1 and its standard error over clusters; None if withheld."""

    n: int = Field(ge=0)
    accuracy: float | None = Field(ge=0, le=1)
    se: float | None = Field(ge=0)


class HalfResult(_Strict):
    """The results of one configuration on one half, as aggregates."""

    format: Literal["benchwright-half-score-1"]
    version: str  # of the package that scored
    benchmark: SealedIdentity
    half: Literal["validation", "test"]
    model: str
    style: str
    shots: int = Field(ge=0)  # demonstrations come from the public half
    all: GroupResult
    fields: dict[str, GroupResult]  # small fields are pooled
    unanswered: int = Field(ge=0)
    reason: str  # why accuracies are withheld, or ""


class HalfScores(ReadOnly[dict[str, HalfResult]]):
    """A folder of results: one `.json` file per configuration and half, also in subfolders."""

    def load(self) -> dict[str, HalfResult]:
        """Return the results by relative path, sorted.

        Raises:
            InputError: there is no file, or one has another format.
        """
        files = sorted(self.place.rglob("*.json"))
        if not files:
            raise InputError(
                f"{self.place}: no results; write them with benchwright evaluate-sealed "
                "test.sealed validation.jsonl --model … --out <folder>"
            )
        return {str(file.relative_to(self.place)): read_half_result(file) for file in files}


def read_half_result(file: Path) -> HalfResult:
    """Read one file of results.

    Raises:
        InputError: the file cannot be read or has another format; the message names a field.
    """
    try:
        return HalfResult.model_validate(json.loads(file.read_text(encoding="utf-8")))
    except ValidationError as error:
        raise InputError(
            f"{file}: {first_problem(error)}; the folder may only contain files written by "
            f"benchwright evaluate-sealed --out ({FORMAT})"
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: not valid JSON ({type(error).__name__})") from None
