"""The manifest of an exported subset: enough to estimate full scores from its answers."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from benchwright.core.errors import InputError

MANIFEST = "manifest.json"
_ROUNDING = 1e-6


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SubsetItem(_Part):
    """One item of the subset."""

    item_id: str
    weight: float = Field(ge=0, le=1)  # in the weighted mean; all weights sum to 1
    content_hash: str  # of question and choices
    stock: tuple[str, int] | None = None  # task of lm-evaluation-harness and row in it, if known


class SubsetManifest(_Part):
    """The section `subset` of an exported subset's manifest."""

    benchmark: str
    sampler: str
    seed: int
    rate: float  # percent of the benchmark's items
    of_items: int = Field(ge=1)
    of_items_hash: str  # `ids_hash` of all ids of the benchmark
    items_hash: str  # `ids_hash` of the subset's ids, each with its content hash
    equal_weights: bool  # then the plain mean is the score
    scoring: str  # how to score the answers, in words
    items: tuple[SubsetItem, ...] = Field(min_length=1)  # in the order of choice

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if len({item.item_id for item in self.items}) < len(self.items):
            raise ValueError("an item is listed twice")
        total = sum(item.weight for item in self.items)
        if abs(total - 1) > _ROUNDING:
            raise ValueError(f"weights sum to {total:g}; they must sum to 1")
        if ids_hash(hashed(self.items)) != self.items_hash:
            raise ValueError("items are not those that were exported (items_hash)")
        return self

    @property
    def item_ids(self) -> tuple[str, ...]:
        """Item ids in the order of choice."""
        return tuple(item.item_id for item in self.items)

    @property
    def weights(self) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """Weights in the order of `item_ids`."""
        return np.array([item.weight for item in self.items])


def hashed(items: Iterable[SubsetItem]) -> list[str]:
    """Return id and content hash of each item, as one text."""
    return [f"{item.item_id} {item.content_hash}" for item in items]


def ids_hash(ids: Sequence[str]) -> str:
    """Return a hash of texts that does not depend on their order."""
    return hashlib.sha256(json.dumps(sorted(ids)).encode()).hexdigest()


def read_subset(path: Path) -> SubsetManifest:
    """Read the subset of an exported folder, or of its manifest.

    Raises:
        InputError: there is no manifest, or it is not the exported one.
    """
    file = path / MANIFEST if path.is_dir() else path
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        section = manifest["subset"]
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(
            f"{file}: not the manifest of an exported subset (no section 'subset')"
        ) from error
    try:
        return SubsetManifest.model_validate(section)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, ("subset", *first["loc"])))
        raise InputError(f"{file}: {where}: {first['msg']}") from error
