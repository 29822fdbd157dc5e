"""The manifest of an exported subset, from which full scores can be estimated."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from benchwright.core.errors import InputError, first_problem

MANIFEST = "manifest.json"
_ROUNDING = 1e-6
_SAME = 1e-3


_STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SubsetItem(BaseModel):
    """One item of the subset; earlier exports said more of it."""

    model_config = _STRICT | ConfigDict(extra="ignore")

    item_id: str
    weight: float = Field(ge=0, le=1)  # weights sum to 1
    content_hash: str  # of question and choices
    # known probability of being drawn; None if equal or unknown
    inclusion: float | None = Field(None, gt=0, le=1)


class SubsetManifest(BaseModel):
    """The section `subset` of an exported subset's manifest, with limit and seed of the run."""

    model_config = _STRICT

    benchmark: str
    sampler: str
    seed: int
    rate: float  # percent of the benchmark's items
    of_items: int = Field(ge=1)
    of_items_hash: str  # `ids_hash` of all ids of the benchmark
    items_hash: str  # `ids_hash` of ids with content hashes
    draws_hash: str = ""  # of ids with weights and inclusion; earlier exports have none
    equal_weights: bool  # if True, the score is the plain mean
    scoring: str  # how to score the responses, as text
    items: tuple[SubsetItem, ...] = Field(min_length=1)  # in the sampler's order
    run: dict[str, int | None] = Field({}, exclude=True)  # not in the section itself

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if len({item.item_id for item in self.items}) < len(self.items):
            raise ValueError("an item is listed more than once")
        total = sum(item.weight for item in self.items)
        if abs(total - 1) > _ROUNDING:
            raise ValueError(f"weights sum to {total:g}, not 1")
        if ids_hash(hashed(self.items)) != self.items_hash:
            raise ValueError("the items differ from the exported ones (items_hash)")
        if self.draws_hash and ids_hash(drawn(self.items)) != self.draws_hash:
            raise ValueError("weights or inclusion differ from the exported ones (draws_hash)")
        if self.inclusion is not None:
            if self.inclusion.min() == 1 and len(self.items) < self.of_items:
                raise ValueError("inclusion is 1 for every item, but not all items were drawn")
            inverse = 1 / self.inclusion
            if not np.allclose(self.weights, inverse / inverse.sum(), rtol=_SAME):
                raise ValueError("the weights do not follow from the inclusion probabilities")
            equal = len(self.items) / self.of_items
            if self.equal_weights and not np.allclose(self.inclusion, equal, rtol=_SAME):
                raise ValueError(f"inclusion: expected {equal:g} for equal weights")
        return self

    def of_run(self) -> dict[str, str | int | None]:
        """Return the settings of the run that exported it."""
        return {"benchmark": self.benchmark, **self.run}

    @property
    def item_ids(self) -> tuple[str, ...]:
        """Item ids in the sampler's order."""
        return tuple(item.item_id for item in self.items)

    @property
    def weights(self) -> NDArray[np.float64]:
        """Weights in the order of `item_ids`."""
        return np.array([item.weight for item in self.items])

    @property
    def inclusion(self) -> NDArray[np.float64] | None:
        """Probabilities of being drawn, in the order of `item_ids`; None if unknown."""
        known = [item.inclusion for item in self.items if item.inclusion is not None]
        return np.array(known) if len(known) == len(self.items) else None


def hashed(items: Iterable[SubsetItem]) -> list[str]:
    """Return id and content hash of each item, joined."""
    return [f"{item.item_id} {item.content_hash}" for item in items]


def drawn(items: Iterable[SubsetItem]) -> list[str]:
    """Return id, weight and inclusion of each item, joined."""
    return [f"{item.item_id} {item.weight!r} {item.inclusion!r}" for item in items]


def ids_hash(ids: Sequence[str]) -> str:
    """Return a hash of texts that does not depend on their order."""
    return hashlib.sha256(json.dumps(sorted(ids)).encode()).hexdigest()


def read_subset(path: Path) -> SubsetManifest:
    """Read the subset in an exported folder or manifest.

    Raises:
        InputError: there is no manifest, or it differs from the exported one.
    """
    file = path
    try:
        if path.is_dir():
            file = path / MANIFEST
        manifest = json.loads(file.read_text(encoding="utf-8"))
        run = {name: manifest[name] for name in ("limit", "seed") if name in manifest}
        section = {**manifest["subset"], "run": run}
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from error
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(
            f"{file}: not the manifest of an exported subset (no section 'subset')"
        ) from error
    try:
        return SubsetManifest.model_validate(section)
    except ValidationError as error:
        raise InputError(f"{file}: {first_problem(error, 'subset')}") from error
