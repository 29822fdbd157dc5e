"""Human preference ratings of the panel's models."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError
from benchwright.params.evaluation import RatingsParams


class Ratings(NamedTuple):
    """Ratings by model name, and where they come from in words."""

    by_model: dict[str, float]
    source: str


def read_ratings(user_ratings: pd.DataFrame, ratings: RatingsParams) -> Ratings:
    """Take the user's ratings where there are any, otherwise those of the configuration.

    Ratings of two sources are never mixed: their scales differ.

    Raises:
        InputError: the user's file lacks a column, or a rating is missing, not a number, or given
            twice with different values.
    """
    if user_ratings.empty:
        return Ratings(dict(ratings.values), f"{ratings.source} {ratings.date}".strip())
    for column in ("model", "rating"):
        if column not in user_ratings:
            raise InputError(
                f"the ratings file has no column {column!r}; it needs `model` and `rating`"
            )
    numbers = pd.to_numeric(user_ratings["rating"], errors="coerce").to_numpy(dtype=np.float64)
    seen: dict[str, float] = {}
    for row, (model, number) in enumerate(zip(user_ratings["model"], numbers, strict=True), 1):
        if not np.isfinite(number):
            given = user_ratings["rating"].iloc[row - 1]
            raise InputError(f"the ratings file, row {row}: rating is {given!r}, not a number")
        if seen.setdefault(str(model), float(number)) != number:
            raise InputError(f"the ratings file, row {row}: {model!r} has two different ratings")
    return Ratings(seen, "the user's ratings file")


def rating_of(name: str, ratings: Ratings) -> float:
    """The rating of a configuration or model, NaN where there is none.

    An exact name is taken first; then the model's name without the way it was asked, without its
    organisation and in any case (`org/Model-7B@letters-5` finds `model-7b`).
    """
    if name in ratings.by_model:
        return ratings.by_model[name]
    plain = {_plain(model): rating for model, rating in ratings.by_model.items()}
    return plain.get(_plain(name), np.nan)


def _plain(name: str) -> str:
    return parse_configuration(name).model.rsplit("/", 1)[-1].casefold()
