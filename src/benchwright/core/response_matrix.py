"""Answers of models as matrices: what filters, samplers and statistics take."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float32]


@dataclass(frozen=True)
class ResponseMatrix:
    """Answers of m models to n items under one condition.

    Attributes:
        models: m configuration names, unique (`<model>@<style>-<shots>`, or the plain model name
            where an import does not say how it was asked).
        item_ids: n item ids, unique.
        correct: (m, n) float32 in [0, 1], NaN where there is no answer.
        p_answer: (m, n) float32, probability of the gold option in [0, 1]; NaN where unknown.
        p_prediction: (m, n) float32, probability of the chosen option; NaN where unknown.
        prediction: (m, n) int16, index of the chosen option; −1 where unknown.
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
        for name in ("correct", "p_answer", "p_prediction", "prediction"):
            seen = getattr(self, name).shape
            if seen != shape:
                raise ValueError(f"{name} has shape {seen}, models × items is {shape}")
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
        """A matrix of the fields that are known; the others are missing throughout.

        A missing field is one read-only value seen m × n times, and takes no memory.
        """
        shape = (len(models), len(item_ids))
        blank: Float = np.broadcast_to(np.float32(np.nan), shape)
        unknown: NDArray[np.int16] = np.broadcast_to(np.int16(-1), shape)
        return cls(
            models,
            item_ids,
            blank if correct is None else correct,
            blank if p_answer is None else p_answer,
            blank if p_prediction is None else p_prediction,
            unknown if prediction is None else prediction,
            condition,
        )

    @classmethod
    def empty(cls, item_ids: tuple[str, ...], condition: str = "question") -> Self:
        """No models over the given items."""
        return cls.of((), item_ids, condition=condition)

    def select_models(self, models: list[str] | tuple[str, ...]) -> Self:
        """The rows of `models`, in that order; names that are absent raise KeyError."""
        index = {name: i for i, name in enumerate(self.models)}
        rows = np.array([index[name] for name in models], dtype=np.intp)
        return replace(
            self,
            models=tuple(models),
            correct=self.correct[rows],
            p_answer=self.p_answer[rows],
            p_prediction=self.p_prediction[rows],
            prediction=self.prediction[rows],
        )

    def select_items(self, item_ids: list[str] | tuple[str, ...]) -> Self:
        """The columns of `item_ids`, in that order; an item without any answer is all-missing."""
        if tuple(item_ids) == self.item_ids:
            return self
        index = {name: i for i, name in enumerate(self.item_ids)}
        columns = np.array([index.get(name, -1) for name in item_ids], dtype=np.intp)

        def take(values: NDArray[Any], missing: float) -> NDArray[Any]:
            if values.shape[1] == 0:
                return np.full((len(self.models), len(columns)), missing, dtype=values.dtype)
            out = values[:, columns].copy()
            out[:, columns < 0] = missing
            return out

        return replace(
            self,
            item_ids=tuple(item_ids),
            correct=take(self.correct, np.nan),
            p_answer=take(self.p_answer, np.nan),
            p_prediction=take(self.p_prediction, np.nan),
            prediction=take(self.prediction, -1),
        )

    def answered(self) -> NDArray[np.bool_]:
        """(m, n) True where the model answered."""
        return ~np.isnan(self.correct)
