"""From log-likelihoods of options to probabilities, predictions and ties."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def padded(lists: Sequence[Any]) -> Array:
    """(n, K) the lists as rows, NaN after their end; None gives a row of NaN."""
    lengths = np.array([0 if values is None else len(values) for values in lists], dtype=np.intp)
    width = int(lengths.max(initial=0))
    out = np.full((len(lists), width), np.nan)
    given = [np.asarray(values, dtype=np.float64) for values in lists if values is not None]
    if given and width:
        # Row-major order of the mask is the order in which the lists follow each other.
        out[np.arange(width) < lengths[:, None]] = np.concatenate(given)
    return out


def style_scores(
    style: str, logprobs: Sequence[Any], option_bytes: Sequence[Any], option_tokens: Sequence[Any]
) -> Array:
    """(n, K) the scores that options are compared by in this style, NaN after the last option.

    `cloze_bytes` and `cloze_tokens` divide the log-likelihood by the option's bytes or tokens;
    the other styles compare the log-likelihoods themselves.
    """
    scores = padded(logprobs)
    if style == "cloze_bytes":
        return scores / padded(option_bytes)
    if style == "cloze_tokens":
        return scores / padded(option_tokens)
    return scores


def log_softmax(scores: Array, temperature: float) -> Array:
    """(n, K) log-probabilities of softmax(scores / temperature); NaN stays NaN."""
    if scores.shape[1] == 0:
        return scores
    best = np.fmax.reduce(scores, axis=1, keepdims=True)
    shifted = (scores - best) / temperature
    total = np.nansum(np.exp(shifted), axis=1, keepdims=True)
    # A row without scores sums to 0; it is all NaN anyway.
    return np.asarray(shifted - np.log(np.where(total > 0, total, 1.0)))


def best_options(scores: Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(n,) the first option with the highest score (−1 without scores), and whether it is tied."""
    if scores.shape[1] == 0:
        return np.full(len(scores), -1, dtype=np.int64), np.zeros(len(scores), dtype=bool)
    comparable = np.where(np.isnan(scores), -np.inf, scores)
    first = comparable.argmax(axis=1).astype(np.int64)
    first[np.isnan(scores).all(axis=1)] = -1
    tied = (scores == comparable.max(axis=1, keepdims=True)).sum(axis=1) > 1
    return first, np.asarray(tied)
