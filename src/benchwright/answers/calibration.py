"""Calibrate option scores: styles, softmax, and one temperature per configuration."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.configuration import configuration_name
from benchwright.params.responses import ResponsesParams
from benchwright.tables.responses import Calibration

Array = NDArray[np.float64]
# A gold option of probability 0 must not make the whole likelihood infinite.
_FLOOR = -50.0
_FEWEST = 20  # calibration items; with fewer the temperature stays 1
_LOW, _HIGH = 0.05, 100.0  # bounds of the temperature


def expand_styles(rows: pd.DataFrame) -> pd.DataFrame:
    """Add rows of the length-normalised styles that follow from `cloze` rows.

    A row of style `cloze` with log-likelihoods and the options' bytes (tokens) gives a row of style
    `cloze_bytes` (`cloze_tokens`), unless the shots are unknown, since the configurations would
    then share a name. Derived rows come last and have no prediction or correctness.
    """
    parts = [rows]
    cloze = rows[(rows["style"] == "cloze") & (rows["shots"] >= 0) & rows["logprobs"].notna()]
    for style, needed in (("cloze_bytes", "option_bytes"), ("cloze_tokens", "option_tokens")):
        able = cloze[cloze[needed].notna()]
        if len(able):
            blank = {"prediction": -1, "p_answer": np.nan, "p_prediction": np.nan}
            parts.append(able.assign(style=style, correct=np.nan, **blank))
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else rows


def configurations(rows: pd.DataFrame) -> NDArray[np.object_]:
    """Return the (n,) configuration names of rows."""
    asked = rows[["model", "style", "shots"]]
    # Groups are numbered in order of appearance, the order of the distinct rows.
    distinct = asked.drop_duplicates().itertuples(index=False, name=None)
    names = np.array([configuration_name(*key) for key in distinct], dtype=object)
    codes = asked.groupby(["model", "style", "shots"], sort=False).ngroup().to_numpy()
    return np.asarray(names[codes]) if len(names) else np.empty(0, dtype=object)


def live_first(live: pd.DataFrame, recorded: pd.DataFrame) -> pd.DataFrame:
    """Concatenate live and recorded rows, with normalised styles and a `configuration` column."""
    parts = [expand_styles(part) for part in (live, recorded) if len(part)]
    if not parts:
        return live.assign(configuration=pd.Series(dtype=object))
    both = pd.concat(parts, ignore_index=True)
    return both.assign(configuration=configurations(both))


def padded(lists: Sequence[Any]) -> Array:
    """Return lists as rows of an (n, K) matrix, padded with NaN; None is a row of NaN."""
    lengths = np.array([0 if values is None else len(values) for values in lists], dtype=np.intp)
    width = int(lengths.max(initial=0))
    out = np.full((len(lists), width), np.nan)
    known = [np.asarray(values, dtype=np.float64) for values in lists if values is not None]
    if known and width:
        # In row-major order, the mask selects the cells of the concatenated lists.
        out[np.arange(width) < lengths[:, None]] = np.concatenate(known)
    return out


def scores_of(rows: pd.DataFrame) -> Array:
    """Return (n, K) scores of the options, NaN after the last, for rows of one style.

    `cloze_bytes` and `cloze_tokens` divide the log-likelihood by the option's bytes or tokens; the
    other styles use the log-likelihoods themselves.
    """
    divisor = {"cloze_bytes": "option_bytes", "cloze_tokens": "option_tokens"}
    scores = padded(rows["logprobs"].tolist())
    lengths = divisor.get(str(rows["style"].iloc[0]))
    return scores if lengths is None else scores / padded(rows[lengths].tolist())


def log_softmax(scores: Array, temperature: float) -> Array:
    """Return (n, K) log-probabilities of softmax(scores / temperature); NaN stays NaN."""
    if scores.shape[1] == 0:
        return scores
    best = np.fmax.reduce(scores, axis=1, keepdims=True)
    shifted = (scores - best) / temperature
    total = np.nansum(np.exp(shifted), axis=1, keepdims=True)
    # A row without scores has the sum 0 and is all NaN.
    return np.asarray(shifted - np.log(np.where(total > 0, total, 1.0)))


def best_options(scores: Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the (n,) first best option (−1 without scores) and whether it is tied."""
    if scores.shape[1] == 0:
        return np.full(len(scores), -1, dtype=np.int64), np.zeros(len(scores), dtype=bool)
    comparable = np.where(np.isnan(scores), -np.inf, scores)
    first = comparable.argmax(axis=1).astype(np.int64)
    first[np.isnan(scores).all(axis=1)] = -1
    tied = (scores == comparable.max(axis=1, keepdims=True)).sum(axis=1) > 1
    return first, np.asarray(tied)


def best_of_rows(rows: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the option (n,) with the highest score, −1 without scores, and whether it is tied."""
    best, tied = np.full(len(rows), -1, dtype=np.int64), np.zeros(len(rows), dtype=bool)
    scored = rows["logprobs"].notna().to_numpy(dtype=bool)
    for style in rows.loc[scored, "style"].unique():
        at = np.flatnonzero(scored & (rows["style"] == style).to_numpy())
        best[at], tied[at] = best_options(scores_of(rows.iloc[at]))
    return best, tied


def fit_temperatures(
    live_responses: pd.DataFrame,
    imported_responses: pd.DataFrame,
    calibration_items: pd.DataFrame,
    parameters: ResponsesParams,
) -> pd.DataFrame:
    """Fit one softmax temperature per configuration on the calibration items.

    A softmax over text log-likelihoods is overconfident (underconfident if divided by length) for
    rules that need a probability above 0.8. The temperature minimises the negative log-likelihood
    of the gold under the condition `question`, and applies to all conditions. Of two `Responses`
    tables, live responses take precedence. Return a `Calibration` table, a row per configuration
    with log-likelihoods; the temperature is 1 if the style is not fitted or there are too few
    responses to calibration items.
    """
    rows = live_first(
        live_responses[live_responses["logprobs"].notna()],
        imported_responses[imported_responses["logprobs"].notna()],
    )
    answer = calibration_items.set_index("item_id")["answer"]
    fitted = []
    for name, responses in rows.groupby("configuration"):  # sorted by name
        scores, gold = _calibration_scores(responses, answer[answer >= 0])
        style = str(responses["style"].iloc[0])
        is_fitted = style in parameters.calibrate_styles and len(gold) >= _FEWEST
        temperature = fit_temperature(scores, gold) if is_fitted else 1.0
        fitted.append((str(name), len(gold), temperature))
    return Calibration.from_rows(fitted)


def _calibration_scores(
    rows: pd.DataFrame, answer: pd.Series
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return option scores and gold of a configuration's calibration rows, by item id."""
    rows = rows[(rows["condition"] == "question") & rows["item_id"].isin(answer.index)]
    rows = rows.drop_duplicates("item_id").sort_values("item_id")
    gold = answer.reindex(rows["item_id"]).to_numpy(dtype=np.int64)
    if rows.empty:
        return np.zeros((0, 0)), gold
    scores = scores_of(rows)
    usable = ~np.isnan(scores[np.arange(len(scores)), gold])
    return scores[usable], gold[usable]


def negative_log_likelihood(
    scores: NDArray[np.float64], answer: NDArray[np.int64], temperature: float
) -> float:
    """Return the mean of −log p(gold) in nats, with p = softmax(scores / temperature).

    `scores` is (n, K), NaN after the last option; `answer` is (n,).
    """
    log_p = log_softmax(scores, temperature)[np.arange(len(answer)), answer]
    return float(-np.maximum(log_p, _FLOOR).mean())


def fit_temperature(scores: NDArray[np.float64], answer: NDArray[np.int64]) -> float:
    """Find the temperature in [0.05, 100] that minimises the negative log-likelihood."""
    from scipy.optimize import minimize_scalar

    best = minimize_scalar(
        lambda log_t: negative_log_likelihood(scores, answer, float(np.exp(log_t))),
        bounds=(np.log(_LOW), np.log(_HIGH)),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(np.exp(best.x))
