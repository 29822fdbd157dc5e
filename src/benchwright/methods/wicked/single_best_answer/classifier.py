"""Features of an item, and logistic regression on them (WiCkeD, appendix A)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.params.single_best_answer import FeatureGroup

_WORDS = re.compile(
    r"\b(?:best|better|main|mainly|chief|chiefly|primar(?:y|ily)|principal|principally"
    r"|(?:most|least)(?=\s+[a-z])|mostly|likely|likeliest|unlikely|typical(?:ly)?|usual(?:ly)?"
    r"|generally|preferred)\b",
    re.IGNORECASE,
)


def asks_for_the_best(question: str) -> bool:
    """Return whether the question asks for a degree, with words such as "best" or "most likely".

    Only the English question is read; the other options may still be plainly wrong.
    """
    return _WORDS.search(question) is not None


SURFACE = (
    "asks_for_the_best",
    "negation",
    "question_mark",
    "question_words",
    "option_words",
    "gold_longer",
    "options_with_digits",
    "digits_in_question",
)
"""Indicators (0/1) of the question, natural logarithms of numbers of words (+ 1), the gold option's
minus that of the mean option, the share of options with a digit."""

CLOSENESS = (
    "gold_to_nearest_distractor",
    "gold_to_distractors",
    "among_distractors",
    "question_to_gold",
    "question_to_nearest_distractor",
    "question_margin",
)
"""Cosines of sentence vectors, −1–1; the margin is the gold's to the question minus the nearest
distractor's."""

_DIGIT = re.compile(r"\d")
_NEGATION = re.compile(r"\b(?:not|except|never|false|incorrect)\b", re.IGNORECASE)


def judgeable(items: pd.DataFrame) -> NDArray[np.bool_]:
    """Return (n,) whether an item has at least two options and a known right one."""
    enough = items["choices"].map(len).to_numpy() >= 2
    return np.asarray(enough & (items["answer"].to_numpy() >= 0), dtype=np.bool_)


def texts_to_encode(items: pd.DataFrame, groups: Sequence[FeatureGroup]) -> list[str]:
    """Return the distinct questions and options whose vectors the groups need, sorted."""
    if "closeness" not in groups:
        return []
    texts = {choice for choices in items["choices"] for choice in choices}
    return sorted(texts.union(items["question"]))


def feature_table(
    items: pd.DataFrame, vectors: Mapping[str, NDArray[np.float32]], groups: Sequence[FeatureGroup]
) -> pd.DataFrame:
    """Return the features of judgeable items, in columns; none depends on the distractors' order.

    `vectors` are of length 1, by text, for `texts_to_encode(items, groups)`.
    """
    names = [name for group in groups for name in (SURFACE if group == "surface" else CLOSENESS)]
    asked = zip(items["question"], map(list, items["choices"]), items["answer"], strict=True)
    rows = [
        [
            value
            for group in groups
            for value in (_surface(*item) if group == "surface" else _closeness(*item, vectors))
        ]
        for item in asked
    ]
    return pd.DataFrame(rows, columns=names, dtype=np.float64)


def _surface(question: str, choices: list[str], answer: int) -> list[float]:
    words = [np.log1p(len(choice.split())) for choice in choices]
    return [
        float(asks_for_the_best(question)),
        float(_NEGATION.search(question) is not None),
        float(question.rstrip().endswith("?")),
        float(np.log1p(len(question.split()))),
        float(np.mean(words)),
        float(words[answer] - np.mean(words)),
        sum(_DIGIT.search(choice) is not None for choice in choices) / len(choices),
        float(_DIGIT.search(question) is not None),
    ]


def _closeness(
    question: str, choices: list[str], answer: int, vectors: Mapping[str, NDArray[np.float32]]
) -> list[float]:
    distractors = [vectors[choice] for place, choice in enumerate(choices) if place != answer]
    asked, gold, others = (
        np.asarray(vector, dtype=np.float64)
        for vector in (vectors[question], vectors[choices[answer]], distractors)
    )
    to_gold, to_question = others @ gold, others @ asked
    pairs = (others @ others.T)[np.triu_indices(len(others), 1)]
    return [
        float(to_gold.max()),
        float(to_gold.mean()),
        float(pairs.mean()) if len(pairs) else float(to_gold.mean()),
        float(gold @ asked),
        float(to_question.max()),
        float(gold @ asked - to_question.max()),
    ]


_STRENGTH = 0.1  # the inverse of the weight of the L2 penalty


def fit_logistic(features: pd.DataFrame, labels: NDArray[np.integer]) -> dict[str, Any]:
    """Fit P(1) = σ(Σ coefficientᵢ · (valueᵢ − meanᵢ) / scaleᵢ + intercept) with an L2 penalty.

    A constant feature has no effect. With labels of one kind only, every item gets the share of
    ones. `labels` are (n,) 0 or 1. Return names and numbers, as JSON.
    """
    table = np.ascontiguousarray(features)
    means, spread = table.mean(axis=0), table.std(axis=0)
    scales = np.where(spread > 1e-12, spread, 1.0)
    coefficients, intercept = np.zeros(len(means)), 30.0 if labels[0] == 1 else -30.0
    if len(np.unique(labels)) > 1:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=_STRENGTH, max_iter=5000, tol=1e-8)
        model.fit((table - means) / scales, labels)
        coefficients, intercept = model.coef_[0].astype(np.float64), float(model.intercept_[0])
    return {
        "features": list(features.columns),
        "means": means.tolist(),
        "scales": scales.tolist(),
        "coefficients": coefficients.tolist(),
        "intercept": intercept,
    }


def logistic_probabilities(
    fitted: Mapping[str, Any], features: pd.DataFrame
) -> NDArray[np.float64]:
    """Return (n,) probabilities of n items by the result of `fit_logistic`."""
    from scipy.special import expit

    means, scales, coefficients = (
        np.asarray(fitted[name]) for name in ("means", "scales", "coefficients")
    )
    scaled = (np.ascontiguousarray(features) - means) / scales
    return np.asarray(expit(scaled @ coefficients + fitted["intercept"]))
