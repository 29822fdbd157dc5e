"""Which field a question belongs to (`fields:` in conf; docs/judges.md)."""

from typing import Literal

from pydantic import Field

from benchwright.params.judging import JudgesParams


class FieldsParams(JudgesParams):
    """One of 14 fields for each question (MMLU-CF, section 3.1 and Figure 6).

    Attributes:
        by: a `classifier` on sentence vectors, or `judges`.
        kind: `logistic` regression, or the `nearest_centroid` by cosine.
        encoder: sentence encoder, by its name under `models.encoders`.
        text: what is encoded.
        strength: of the L2 penalty of logistic regression is 1/`strength`.
        folds: of the cross-validation that calibrates probabilities.
        fewest_to_calibrate: with fewer labelled examples probabilities are not calibrated; the
            bundled 140 are too few.
    """

    by: Literal["classifier", "judges"] = "classifier"
    kind: Literal["logistic", "nearest_centroid"] = "logistic"
    encoder: str = "all-minilm-l6-v2"
    text: Literal["question", "question_and_choices"] = "question_and_choices"
    strength: float = Field(default=10.0, gt=0)
    folds: int = Field(default=5, ge=2, le=20)
    fewest_to_calibrate: int = Field(default=500, ge=1)
