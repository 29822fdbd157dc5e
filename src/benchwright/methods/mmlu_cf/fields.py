"""The 14 fields of questions, assigned by a classifier or by judges (MMLU-CF, section 3.1)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.errors import InputError
from benchwright.core.seeding import item_uniforms
from benchwright.language_models.protocol import Ask
from benchwright.methods.mmlu_cf.field_examples import EXAMPLES
from benchwright.methods.mmlu_cf.judging.judges import ask_judges, shown_options
from benchwright.methods.mmlu_cf.judging.replies import parse_choice
from benchwright.params.mmlu_cf import FieldsParams
from benchwright.statistics.proportion import wilson_interval
from benchwright.tables.mmlu_cf import FieldAccuracy, FieldPredictions

FIELDS = (
    "Math", "Physics", "Chemistry", "Law", "Engineering", "Economics", "Health", "Psychology",
    "Business", "Biology", "Philosophy", "Computer Science", "History", "Other",
)  # fmt: skip
SPELLINGS = {
    **{field: field for field in FIELDS},
    "Mathematics": "Math",
    "Maths": "Math",
    "Computing": "Computer Science",
    "Medicine": "Health",
    "None of these": "Other",
}
"""The field of each spelling that a judge may use."""

Float = NDArray[np.float64]
Vectors = NDArray[np.floating]

_DECIMALS = 6
_TEMPERATURES = np.geomspace(0.02, 20, 121)
_TASK = (
    "Which field does the question below belong to? Do not answer the question. Reply with one of "
    f"these names and nothing else: {', '.join(FIELDS)}."
)


def text_to_encode(question: str, choices: Sequence[str], with_choices: bool) -> str:
    """Return the text of a question that the encoder reads."""
    return " ".join([question, *choices]) if with_choices else question


def bundled_examples() -> pd.DataFrame:
    """Return the bundled questions: item_id, question, choices (none), field."""
    rows = [
        (f"bundled/{field}/{number}", question, list[str](), field)
        for field in FIELDS
        for number, question in enumerate(EXAMPLES[field], start=1)
    ]
    return pd.DataFrame(rows, columns=["item_id", "question", "choices", "field"])


class FieldClassifier(NamedTuple):
    """A linear classifier: P(field) = softmax((vector · weights + intercepts) / temperature).

    `weights` are (k, d), `intercepts` (k,). The temperature is 1 if it is not calibrated.
    """

    fields: tuple[str, ...]
    weights: Float
    intercepts: Float
    temperature: float

    def probabilities(self, vectors: Vectors) -> Float:
        """Compute the probabilities (n, k) of n vectors (n, d)."""
        scores = np.asarray(vectors, dtype=np.float64) @ self.weights.T + self.intercepts
        scores /= self.temperature
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def train_classifier(
    vectors: Vectors, fields: Sequence[str], ids: Sequence[str], params: FieldsParams
) -> FieldClassifier:
    """Train on labelled examples, and calibrate on predictions out of fold.

    The temperature maximises the likelihood of the true fields out of fold (Guo et al. 2017). The
    classifier is not calibrated if there are too few examples, or fewer of a field than folds.
    `vectors` (n, d) have length 1. A field without examples is never predicted. The folds depend on
    the ids, not on the order of the examples.

    Raises:
        InputError: there are fewer than two fields, or a field is unknown.
    """
    if unknown := sorted(set(fields) - set(FIELDS)):
        raise InputError(f"fields: {unknown[0]!r} is not a field; use one of {', '.join(FIELDS)}")
    present = tuple(field for field in FIELDS if field in set(fields))
    if len(present) < 2:
        raise InputError(
            f"fields: the examples have {len(present)} field(s); at least 2 are needed"
        )
    order = np.argsort(np.asarray(ids, dtype=str), kind="stable")
    x = np.asarray(vectors, dtype=np.float64)[order]
    y = np.array([present.index(fields[place]) for place in order])
    weights, intercepts = _fit(x, y, len(present), params)
    temperature = 1.0
    if len(y) >= params.min_calibration_examples and np.bincount(y).min() >= params.folds:
        scores = _out_of_fold(x, y, [str(ids[place]) for place in order], len(present), params)
        temperature = _temperature(scores, y)
    return FieldClassifier(present, weights, intercepts, temperature)


def predict_fields(
    item_ids: Sequence[str], vectors: Vectors, classifier: FieldClassifier
) -> pd.DataFrame:
    """Predict the two most probable fields of each item, as a `FieldPredictions` table.

    Probabilities are rounded to 6 decimals.
    """
    # Finer digits depend on the number of threads and on the order of items.
    probability = np.round(classifier.probabilities(vectors), _DECIMALS)
    order = np.argsort(-probability, axis=1, kind="stable")
    names = np.array(classifier.fields, dtype=object)
    return FieldPredictions.from_rows(
        [
            (item_id, names[best], float(row[best]), names[second], "classifier")
            for item_id, row, (best, second) in zip(
                item_ids, probability, order[:, :2], strict=True
            )
        ]
    )


def _fit(x: Float, y: NDArray[np.integer], k: int, params: FieldsParams) -> tuple[Float, Float]:
    """Return weights (k, d) and intercepts (k,); a class without examples scores lowest."""
    present = np.unique(y)
    weights, intercepts = np.zeros((k, x.shape[1])), np.full(k, -1e3)
    if params.kind == "nearest_centroid" or len(present) < 2:
        centres = np.stack([x[y == label].mean(axis=0) for label in present])
        length = np.linalg.norm(centres, axis=1, keepdims=True)
        weights[present], intercepts[present] = centres / np.where(length > 0, length, 1), 0
        return weights, intercepts
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1):  # equal bits with any number of threads
        fitted = LogisticRegression(C=params.strength, max_iter=2000, tol=1e-6).fit(x, y)
    if len(present) == 2:  # one row: the second class against the first
        weights[present[1]], intercepts[present] = fitted.coef_[0], (0, fitted.intercept_[0])
    else:
        weights[present], intercepts[present] = fitted.coef_, fitted.intercept_
    return weights, intercepts


def _out_of_fold(
    x: Float, y: NDArray[np.integer], ids: list[str], k: int, params: FieldsParams
) -> Float:
    """Return the scores (n, k) of each example by a classifier trained without its fold."""
    hashed = pd.Series(item_uniforms(0, "field_folds", ids))
    fold = hashed.groupby(y).rank(method="first").to_numpy().astype(np.intp) % params.folds
    scores = np.empty((len(y), k))
    for number in range(params.folds):
        held = fold == number
        weights, intercepts = _fit(x[~held], y[~held], k, params)
        scores[held] = x[held] @ weights.T + intercepts
    return scores


def _temperature(scores: Float, y: NDArray[np.integer]) -> float:
    """Return the temperature of the grid at which the true fields are most probable."""
    losses = []
    for temperature in _TEMPERATURES:
        scaled = scores / temperature
        top = scaled.max(axis=1, keepdims=True)
        log_total = np.log(np.exp(scaled - top).sum(axis=1)) + top[:, 0]
        losses.append((log_total - scaled[np.arange(len(y)), y]).mean())
    return float(_TEMPERATURES[int(np.argmin(losses))])


def field_accuracy(labels: str, true: pd.Series, predicted: pd.DataFrame) -> pd.DataFrame:
    """Measure recall and precision of all questions and by field, as a `FieldAccuracy` table.

    `true` has the fields by item id; `labels` names these questions. An item without a predicted
    field counts as missed.
    """
    chosen = predicted.set_index("item_id")[["field", "confidence"]].reindex(true.index)
    hit = (chosen["field"] == true).to_numpy()
    rows: list[tuple[Any, ...]] = []
    for field in ("", *FIELDS):
        of_field = (true == field).to_numpy() | (field == "")
        named = (chosen["field"].notna() if field == "" else chosen["field"] == field).to_numpy()
        n, right = int(of_field.sum()), int(hit[of_field].sum())
        bounds = wilson_interval(right, n)
        recall = right / n if n else np.nan
        precision = float(hit[named].mean()) if named.any() else np.nan
        mean = float(chosen["confidence"][of_field].mean())
        metrics = (recall, bounds.low, bounds.high, int(named.sum()), precision, mean)
        rows.append((labels, field, n, *metrics))
    return FieldAccuracy.from_rows(rows)


def field_prompt(question: str, choices: Sequence[str]) -> str:
    """Write the prompt that asks a judge for the field of a question."""
    return f"{_TASK}\n\nQuestion: {question}\n{shown_options(choices)}\n\nField:"


def judge_fields(
    items: pd.DataFrame, judges: Mapping[str, Ask], attempts: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Choose the field that most judges name: tables `FieldPredictions` and `JudgeRounds`.

    Confidence is the share of judges that name the field, unknown for a single judge. A tie goes to
    the first of `FIELDS`. `items` have item_id, question and choices (list[str]).
    """
    ids = [str(item_id) for item_id in items["item_id"]]
    questions = [
        (str(question), [str(choice) for choice in choices])
        for question, choices in zip(items["question"], items["choices"], strict=True)
    ]

    def read(place: int, reply: str) -> str | None:
        question, choices = questions[place]
        return parse_choice(reply, SPELLINGS, "field", [_TASK, question, shown_options(choices)])

    prompts = [field_prompt(question, choices) for question, choices in questions]
    answers, rounds = ask_judges("fields", judges, prompts, read, attempts)
    votes = [Counter[str]() for _ in ids]
    for answer in answers.values():
        for named, last in zip(votes, answer.last, strict=True):
            named.update([last.value] if last.value is not None else [])
    rows = [_row(item_id, named) for item_id, named in zip(ids, votes, strict=True)]
    return FieldPredictions.from_rows(rows), rounds


def _row(item_id: str, named: Counter[str]) -> tuple[Any, ...]:
    if not named:
        return (item_id, None, np.nan, None, "not_judged")
    ranked = sorted(named, key=lambda field: (-named[field], FIELDS.index(field)))
    total = named.total()
    confidence = named[ranked[0]] / total if total > 1 else np.nan
    return (item_id, ranked[0], confidence, ranked[1] if len(ranked) > 1 else None, "judges")
