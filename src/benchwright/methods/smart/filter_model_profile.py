"""What the models that chose the items are like: accuracy, confidence, answers from options."""

import numpy as np
import pandas as pd

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.evaluation import EvaluationParams

COLUMNS = [
    "model",
    "n",
    "accuracy",
    "share_confident",
    "n_choices_only",
    "accuracy_choices_only",
    "temperature",
]


def profile_filter_models(
    response_matrix: ResponseMatrix,
    choices_only_matrix: ResponseMatrix,
    calibration: pd.DataFrame,
    filter_models: list[str],
    evaluation: EvaluationParams,
) -> pd.DataFrame:
    """Describe each filter model by all its answers.

    `share_confident` is the share of answers that are right with a probability above
    `confidence`: no model can call more items easy than that; it is empty where answers came
    without probabilities. `accuracy_choices_only` is the accuracy when only the options were
    shown.
    """
    temperature = dict(zip(calibration["configuration"], calibration["temperature"], strict=True))
    rows = []
    for model in filter_models:
        n, accuracy, confident = _answers(response_matrix, model, evaluation.confidence)
        n_options, accuracy_options, _ = _answers(choices_only_matrix, model, 1)
        scale = float(temperature.get(model, np.nan))
        rows.append((model, n, accuracy, confident, n_options, accuracy_options, scale))
    return pd.DataFrame(rows, columns=COLUMNS)


def _answers(matrix: ResponseMatrix, model: str, confidence: float) -> tuple[int, float, float]:
    """Items answered, accuracy, share answered right with more than `confidence`."""
    if model not in matrix.models:
        return 0, np.nan, np.nan
    row = matrix.models.index(model)
    answered = ~np.isnan(matrix.correct[row])
    n = int(answered.sum())
    if not n:
        return 0, np.nan, np.nan
    accuracy = float(matrix.correct[row][answered].astype(np.float64).mean())
    p_answer = matrix.p_answer[row][answered]
    if np.isnan(p_answer).all():
        return n, accuracy, np.nan
    # A missing probability counts as not confident: logs often leave it out where wrong.
    return n, accuracy, float((p_answer > confidence).mean())
