"""The 14 fields of questions, assigned by a classifier or by judges (MMLU-CF, section 3.1)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from io import StringIO

import numpy as np
import pandas as pd

from benchwright.core.array_types import AnyFloats
from benchwright.core.option_letters import lettered
from benchwright.language_models.protocol import Ask
from benchwright.methods.mmlu_cf.judging.judges import ask_judges
from benchwright.methods.mmlu_cf.judging.replies import read_reply

FIELDS = (
    "Math", "Physics", "Chemistry", "Law", "Engineering", "Economics", "Health", "Psychology",
    "Business", "Biology", "Philosophy", "Computer Science", "History", "Other",
)  # fmt: skip
_BY_SPELLING = {
    **{field.casefold(): field for field in FIELDS},
    "mathematics": "Math",
    "maths": "Math",
    "computing": "Computer Science",
    "medicine": "Health",
    "none of these": "Other",
}

_DECIMALS = 6
_STRENGTH = 10.0  # inverse of the L2 penalty, for 140 examples
_TASK = (
    f"Which field does the question below belong to: {', '.join(FIELDS)}? Do not answer the "
    'question. Reply with JSON and nothing else: {"field": "<name>"}.'
)


def bundled_examples() -> pd.DataFrame:
    """Return ten questions of each field, written for this project: field, question."""
    file = files("benchwright.methods.mmlu_cf") / "field_examples.csv"
    return pd.read_csv(StringIO(file.read_text(encoding="utf-8")), keep_default_na=False)


def predict_fields(
    item_ids: Sequence[str], vectors: AnyFloats, example_vectors: AnyFloats, fields: Sequence[str]
) -> pd.DataFrame:
    """Predict the most probable field of each item: item_id, field, confidence.

    Logistic regression learns from examples of known `fields`. Vectors (n, d) have length 1.
    """
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    y = [FIELDS.index(field) for field in fields]
    classifier = LogisticRegression(C=_STRENGTH, max_iter=2000, tol=1e-6)
    with threadpool_limits(limits=1):  # equal bits with any number of threads
        classifier.fit(example_vectors.astype(np.float64), y)
    # Finer digits depend on the number of threads and on the order of items.
    probability = np.round(classifier.predict_proba(vectors.astype(np.float64)), _DECIMALS)
    best = classifier.classes_[probability.argmax(axis=1)]
    return pd.DataFrame(
        {
            "item_id": list(item_ids),
            "field": np.array(FIELDS, dtype=object)[best],
            "confidence": probability.max(axis=1),
        }
    )


def judge_fields(
    items: pd.DataFrame, judges: Mapping[str, Ask], attempts: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Choose the field that most judges name: item_id, field, confidence; and `ROUNDS`.

    Confidence is the share of judges that name the field, unknown for a single judge. A tie goes to
    the first of `FIELDS`.
    """
    options = [list(map(str, choices)) for choices in items["choices"]]
    prompts = [
        f"{_TASK}\n\nQuestion: {question}\n{lettered(choices)}\n\nReply:"
        for question, choices in zip(items["question"], options, strict=True)
    ]

    def read(place: int, reply: str) -> str | None:
        named = read_reply(reply, {"field": _BY_SPELLING}, options[place])
        return None if named is None else named["field"]

    answers, rounds = ask_judges("fields", judges, prompts, read, attempts)
    rows: list[tuple[str, str | None, float]] = []
    for place, item_id in enumerate(items["item_id"]):
        replies = [answer.last[place].value for answer in answers.values()]
        votes = Counter(field for field in replies if field is not None)
        field = max(FIELDS, key=votes.__getitem__) if votes else None
        share = votes[field] / votes.total() if field and votes.total() > 1 else np.nan
        rows.append((str(item_id), field, share))
    table = pd.DataFrame(rows, columns=["item_id", "field", "confidence"])
    return table.astype({"field": object, "confidence": np.float64}), rounds
