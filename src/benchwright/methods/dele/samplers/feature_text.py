"""Which of an item's words features and encoders read."""

from collections.abc import Iterable
from typing import Literal

import pandas as pd

FeatureText = Literal["question", "question_and_choices"]


def feature_texts(items: pd.DataFrame, kind: FeatureText) -> tuple[str, ...]:
    """The text of each row of an `Items` table, in order.

    With its choices, each stands on a line of its own, without a letter: letters and their points
    are no words of the benchmark. An open-ended item (no choices) is its question either way.
    """
    if kind == "question":
        return tuple(items["question"])
    return tuple(
        _with_choices(question, choices)
        for question, choices in zip(items["question"], items["choices"], strict=True)
    )


def _with_choices(question: str, choices: Iterable[str]) -> str:
    return "\n".join([question, *choices])
