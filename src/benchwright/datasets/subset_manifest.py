"""What an exported subset says of itself, enough to estimate full scores from its answers."""

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
    """One item of the subset.

    Attributes:
        item_id: its id in the benchmark.
        weight: its part of the weighted mean; all of them sum to 1.
        content_hash: of question and choices.
        stock: task of lm-evaluation-harness and row in it; None where not known.
    """

    item_id: str
    weight: float = Field(ge=0, le=1)
    content_hash: str
    stock: tuple[str, int] | None = None


class SubsetManifest(_Part):
    """The section `subset` of an exported subset's manifest.

    Attributes:
        benchmark: its name.
        sampler: that chose the items.
        seed: of the draw.
        rate: percent of the benchmark's items.
        of_items: items of the benchmark.
        of_items_hash: `ids_hash` of all ids.
        items_hash: `ids_hash` of the subset's ids, each with its content hash.
        equal_weights: whether all items count alike, so that the plain mean is the score.
        scoring: what to do with the answers, in words.
        items: in the order of choice.
    """

    benchmark: str
    sampler: str
    seed: int
    rate: float
    of_items: int = Field(ge=1)
    of_items_hash: str
    items_hash: str
    equal_weights: bool
    scoring: str
    items: tuple[SubsetItem, ...] = Field(min_length=1)

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
        """In the order of choice."""
        return tuple(item.item_id for item in self.items)

    @property
    def weights(self) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """In the order of `item_ids`."""
        return np.array([item.weight for item in self.items])


def hashed(items: Iterable[SubsetItem]) -> list[str]:
    """Id and content hash of each item, as one text."""
    return [f"{item.item_id} {item.content_hash}" for item in items]


def ids_hash(ids: Sequence[str]) -> str:
    """A hash of texts, whatever their order."""
    return hashlib.sha256(json.dumps(sorted(ids)).encode()).hexdigest()


def read_subset(path: Path) -> SubsetManifest:
    """The subset of an exported folder, or of its manifest.

    Raises:
        InputError: there is none, or it is not what was exported.
    """
    file = path / MANIFEST if path.is_dir() else path
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
        section = told["subset"]
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(
            f"{file}: is not the manifest of an exported subset (no section 'subset')"
        ) from error
    try:
        return SubsetManifest.model_validate(section)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, ("subset", *first["loc"])))
        raise InputError(f"{file}: {where}: {first['msg']}") from error
