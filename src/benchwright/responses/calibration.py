"""One softmax temperature per configuration, fitted on the calibration items."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.params.responses import ResponsesParams
from benchwright.responses.configurations import live_first
from benchwright.responses.item_index import ItemIndex
from benchwright.responses.option_scores import log_softmax, style_scores
from benchwright.tables.responses import Calibration

# A gold option of probability 0 must not make the whole likelihood infinite.
_FLOOR = -50.0


class Fit(NamedTuple):
    """A temperature and the mean negative log-likelihood of the gold without and with it."""

    temperature: float
    nll_before: float
    nll_after: float


def fit_temperatures(
    live_responses: pd.DataFrame,
    imported_responses: pd.DataFrame,
    calibration_items: pd.DataFrame,
    parameters: ResponsesParams,
) -> pd.DataFrame:
    """Fit one softmax temperature per configuration on items that the benchmark does not use.

    A softmax over log-likelihoods of texts is far too sure of itself (or, divided by length, far
    too unsure), and rules ask for a probability above 0.8. The temperature minimises the negative
    log-likelihood of the gold under the condition `question`; it serves the configuration's other
    conditions too, since options shown without their question would calibrate themselves to no
    confidence at all.

    Args:
        live_responses: a `Responses` table, perhaps empty.
        imported_responses: the same; a live answer to the same question comes first.
        calibration_items: the gold; columns of `Items`, perhaps without rows.
        parameters: which styles are fitted, from how many answers, between which bounds.

    Returns:
        A `Calibration` table, a row for every configuration with log-likelihoods; temperature 1
        where its style is not fitted or too few calibration items were answered.
    """
    rows = live_first(
        live_responses[live_responses["logprobs"].notna()],
        imported_responses[imported_responses["logprobs"].notna()],
    )
    index = ItemIndex(calibration_items) if len(calibration_items) else None
    fitted = []
    for name, own in sorted(rows.groupby("configuration"), key=lambda pair: str(pair[0])):
        scores, answer = _calibration_scores(own, index)
        fitted.append(_row(str(name), str(own["style"].iloc[0]), scores, answer, parameters))
    return Calibration.from_rows(fitted)


def _calibration_scores(
    own: pd.DataFrame, index: ItemIndex | None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Option scores and gold of one configuration's calibration rows, in the items' order."""
    nothing = np.zeros((0, 0)), np.zeros(0, dtype=np.int64)
    if index is None:
        return nothing
    own = own[own["condition"] == "question"].drop_duplicates("item_id", keep="first")
    own = own.assign(position=index.find(own["item_id"]))
    own = own[own["position"] >= 0].sort_values("item_id")
    own = own[index.answer[own["position"].to_numpy()] >= 0]
    if own.empty:
        return nothing
    lists = (own[name].tolist() for name in ("logprobs", "option_bytes", "option_tokens"))
    scores = style_scores(str(own["style"].iloc[0]), *lists)
    answer = index.answer[own["position"].to_numpy()]
    usable = ~np.isnan(scores[np.arange(len(scores)), answer])
    return scores[usable], answer[usable]


def _row(
    name: str,
    style: str,
    scores: NDArray[np.float64],
    answer: NDArray[np.int64],
    parameters: ResponsesParams,
) -> tuple[str, int, float, float, float, float]:
    n = len(answer)
    if n == 0:
        return name, 0, 1.0, np.nan, np.nan, np.nan
    accuracy = float(np.mean(np.nanargmax(scores, axis=1) == answer))
    if style not in parameters.calibrate_styles or n < parameters.min_calibration_rows:
        before = negative_log_likelihood(scores, answer, 1.0)
        return name, n, 1.0, before, before, accuracy
    fit = fit_temperature(
        scores, answer, low=parameters.min_temperature, high=parameters.max_temperature
    )
    return name, n, fit.temperature, fit.nll_before, fit.nll_after, accuracy


def negative_log_likelihood(
    scores: NDArray[np.float64], answer: NDArray[np.int64], temperature: float
) -> float:
    """Mean of −log p(gold) with p = softmax(scores / temperature), in nats.

    Args:
        scores: (n, K), NaN after the last option.
        answer: (n,) index of the gold.
        temperature: > 0.
    """
    log_p = log_softmax(scores, temperature)[np.arange(len(answer)), answer]
    return float(-np.maximum(log_p, _FLOOR).mean())


def fit_temperature(
    scores: NDArray[np.float64], answer: NDArray[np.int64], *, low: float, high: float
) -> Fit:
    """The temperature in [low, high] with the least negative log-likelihood of the gold.

    Args:
        scores: (n, K), NaN after the last option.
        answer: (n,) index of the gold.
        low: lowest temperature, > 0.
        high: highest temperature.
    """
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda log_t: negative_log_likelihood(scores, answer, float(np.exp(log_t))),
        bounds=(np.log(low), np.log(high)),
        method="bounded",
        options={"xatol": 1e-6},
    )
    temperature = float(np.exp(found.x))
    return Fit(
        temperature,
        negative_log_likelihood(scores, answer, 1.0),
        negative_log_likelihood(scores, answer, temperature),
    )
