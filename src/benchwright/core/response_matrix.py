"""Answers of models as matrices: the input of filters, samplers and statistics."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchwright.core.array_types import Bools

Float = NDArray[np.float32]
_FIELDS = ("correct", "p_answer", "p_prediction", "prediction")


@dataclass(frozen=True)
class ResponseMatrix:
    """Answers of m models to n items under one condition.

    Attributes:
        models: m unique configuration names (`<model>@<style>-<shots>`, or the model name if it is
            unknown how it was asked).
        item_ids: n unique item ids.
        correct: (m, n) float32 in [0, 1], NaN without an answer.
        p_answer: (m, n) float32, probability of the gold option; NaN if unknown.
        p_prediction: (m, n) float32, probability of the chosen option; NaN if unknown.
        prediction: (m, n) int16, index of the chosen option; −1 if unknown.
        condition: `question`, `choices_only`, …
    """

    models: tuple[str, ...]
    item_ids: tuple[str, ...]
    correct: Float
    p_answer: Float
    p_prediction: Float
    prediction: NDArray[np.int16]
    condition: str = "question"

    def __post_init__(self) -> None:
        shape = (len(self.models), len(self.item_ids))
        for name in _FIELDS:
            seen = getattr(self, name).shape
            if seen != shape:
                raise ValueError(f"{name} has shape {seen}; expected models × items, {shape}")
        for name, values in (("models", self.models), ("item_ids", self.item_ids)):
            if len(set(values)) != len(values):
                raise ValueError(f"{name} of a response matrix must be unique")

    @classmethod
    def of(
        cls,
        models: tuple[str, ...],
        item_ids: tuple[str, ...],
        *,
        correct: Float | None = None,
        p_answer: Float | None = None,
        p_prediction: Float | None = None,
        prediction: NDArray[np.int16] | None = None,
        condition: str = "question",
    ) -> Self:
        """Create a matrix of the known fields; the others are missing throughout.

        A missing field is one read-only value, broadcast, and takes no memory.
        """
        shape = (len(models), len(item_ids))
        blank: Float = np.broadcast_to(np.float32(np.nan), shape)
        unknown: NDArray[np.int16] = np.broadcast_to(np.int16(-1), shape)
        return cls(
            models,
            item_ids,
            correct=blank if correct is None else correct,
            p_answer=blank if p_answer is None else p_answer,
            p_prediction=blank if p_prediction is None else p_prediction,
            prediction=unknown if prediction is None else prediction,
            condition=condition,
        )

    @classmethod
    def empty(cls, item_ids: tuple[str, ...], condition: str = "question") -> Self:
        """Create a matrix without models."""
        return cls.of((), item_ids, condition=condition)

    def select_models(self, models: list[str] | tuple[str, ...]) -> Self:
        """Return the rows of `models`, in that order; raise KeyError for unknown names."""
        index = {name: i for i, name in enumerate(self.models)}
        rows = np.array([index[name] for name in models], dtype=np.intp)
        fields: dict[str, Any] = {name: getattr(self, name)[rows] for name in _FIELDS}
        return replace(self, models=tuple(models), **fields)

    def select_items(self, item_ids: list[str] | tuple[str, ...]) -> Self:
        """Return the columns of `item_ids`, in that order; unknown items are all-missing."""
        if tuple(item_ids) == self.item_ids:
            return self
        index = {name: i for i, name in enumerate(self.item_ids)}
        columns = np.array([index.get(name, -1) for name in item_ids], dtype=np.intp)
        known = columns >= 0

        def take(name: str) -> NDArray[Any]:
            values: NDArray[Any] = getattr(self, name)
            missing = -1 if name == "prediction" else np.nan
            out = np.full((len(self.models), len(columns)), missing, dtype=values.dtype)
            out[:, known] = values[:, columns[known]]
            return out

        fields: dict[str, Any] = {name: take(name) for name in _FIELDS}
        return replace(self, item_ids=tuple(item_ids), **fields)

    def answered(self) -> Bools:
        """Return (m, n) True where the model answered."""
        return ~np.isnan(self.correct)
