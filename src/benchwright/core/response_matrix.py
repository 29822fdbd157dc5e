"""Answers of models as matrices: what filters, samplers and statistics take."""

from dataclasses import dataclass, field
from typing import Self

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
    condition: str = field(default="question")

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
        blank = np.empty((0, len(item_ids)), dtype=np.float32)
        return cls((), item_ids, blank, blank, blank, blank.astype(np.int16), condition)

    def select_models(self, models: list[str] | tuple[str, ...]) -> Self:
        """The rows of `models`, in that order; names that are absent raise KeyError."""
        index = {name: i for i, name in enumerate(self.models)}
        rows = np.array([index[name] for name in models], dtype=np.intp)
        return type(self)(
            tuple(models),
            self.item_ids,
            self.correct[rows],
            self.p_answer[rows],
            self.p_prediction[rows],
            self.prediction[rows],
            self.condition,
        )

    def select_items(self, item_ids: list[str] | tuple[str, ...]) -> Self:
        """The columns of `item_ids`, in that order; an item without any answer is all-missing."""
        if tuple(item_ids) == self.item_ids:
            return self
        index = {name: i for i, name in enumerate(self.item_ids)}
        columns = np.array([index.get(name, -1) for name in item_ids], dtype=np.intp)
        absent = columns < 0

        def take(values: Float) -> Float:
            if values.shape[1] == 0:
                return np.full((len(self.models), len(columns)), np.nan, dtype=np.float32)
            out = values[:, columns].copy()
            out[:, absent] = np.nan
            return out

        if self.prediction.shape[1] == 0:
            prediction = np.full((len(self.models), len(columns)), -1, dtype=np.int16)
        else:
            prediction = self.prediction[:, columns].copy()
            prediction[:, absent] = -1
        return type(self)(
            self.models,
            tuple(item_ids),
            take(self.correct),
            take(self.p_answer),
            take(self.p_prediction),
            prediction,
            self.condition,
        )

    def answered(self) -> NDArray[np.bool_]:
        """(m, n) True where the model answered."""
        return ~np.isnan(self.correct)
