"""Items on which all filter models do the same thing, each with more confidence than asked."""

import numpy as np
from numpy.typing import NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.methods.smart.filter_models import some_of
from benchwright.methods.smart.finding import Bools, Finding

Probabilities = NDArray[np.float32]


def flag_unanimous(
    rule: str,
    matrix: ResponseMatrix,
    agree: Bools,
    probability: Probabilities,
    confidence: float | None,
    doing: str,
) -> Finding:
    """Flags the items of `matrix` on which all its models agree, each above `confidence`.

    An item is judged where every model answered. One model that disagrees or is not surer than
    `confidence` clears an item; where none does, an unknown probability leaves it unjudged.
    Without confidence (None) agreement is enough.

    Args:
        rule: name of the rule.
        matrix: answers of m models to n items.
        agree: (m, n) the model does what the rule looks for.
        probability: (m, n) how sure it was, in [0, 1], NaN where unknown.
        confidence: the comparison is strict, in the 32 bits of the answers: a stored 0.8 is not
            above 0.8.
        doing: what all models do, in words (`right`).
    """
    n = len(matrix.item_ids)
    answered = matrix.answered()
    complete = np.all(answered, axis=0)
    if confidence is None:
        judged, flagged = complete, complete & np.all(agree, axis=0)
    else:
        without = _without_probabilities(matrix.models, agree, probability)
        if without:
            reason = f"no probabilities where {doing}, from {some_of(matrix.models, without)}"
            return Finding.idle(rule, n, "not_run", reason)
        sure = agree & (probability.astype(np.float32) > np.float32(confidence))
        unknown = agree & np.isnan(probability)
        cleared = ~np.all(sure | unknown, axis=0)
        judged = complete & (cleared | ~np.any(unknown, axis=0))
        flagged = judged & np.all(sure, axis=0)
    lowest = _lowest(probability)
    detail = [""] * n
    for column in np.flatnonzero(flagged):
        low = lowest[column]
        sure_of_it = "" if np.isnan(low) else f", lowest probability {low:.3f}"
        detail[column] = f"all {len(matrix.models)} filter models {doing}{sure_of_it}"
    for column in np.flatnonzero(~judged):
        silent = [matrix.models[row] for row in np.flatnonzero(~answered[:, column])]
        silence = f"no answer from {some_of(matrix.models, silent)}"
        detail[column] = silence if silent else "unknown probability"
    return Finding(rule, "ran", "", judged, flagged, flagged, lowest, tuple(detail))


def _lowest(probability: Probabilities) -> NDArray[np.float64]:
    """The lowest known probability of each item, NaN where none is known."""
    lowest = np.where(np.isnan(probability), np.inf, probability).min(axis=0).astype(np.float64)
    lowest[np.isinf(lowest)] = np.nan
    return lowest


def _without_probabilities(
    models: tuple[str, ...], agree: Bools, probability: Probabilities
) -> list[str]:
    """Models of which a probability is needed and none is known."""
    lacking = np.any(agree, axis=1) & np.all(np.isnan(probability), axis=1)
    return [model for model, lacks in zip(models, lacking, strict=True) if lacks]
