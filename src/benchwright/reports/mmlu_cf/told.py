"""What the page tells, drawn from the tables once."""

from typing import NamedTuple

import pandas as pd

from benchwright.methods.mmlu_cf.summary.levels import Shortfall
from benchwright.methods.mmlu_cf.summary.parse_rates import ParseRate
from benchwright.methods.mmlu_cf.summary.steps import Steps


class Told(NamedTuple):
    """The evidence that headline and warnings speak of.

    Attributes:
        steps: documents and questions after each step.
        known: share of the clean questions that have a level of difficulty, 0–1.
        short: what the sample lacks.
        final_short: what the questions taken of those that passed lack; None where all are taken.
        rates: replies of each judge in each task.
        alphas: rows of `JudgeAgreement` that are of all judges.
        distances: `HalfDistances`.
        extraction: `ExtractionMeasures`.
        accuracy: `FieldAccuracy`.
        judged_leaks: a judge was to decide which pairs are one question.
        asked: the clean questions that judges and models were asked about; None for all.
    """

    steps: Steps
    known: float
    short: Shortfall
    final_short: Shortfall | None
    rates: list[ParseRate]
    alphas: pd.DataFrame
    distances: pd.DataFrame
    extraction: pd.DataFrame
    accuracy: pd.DataFrame
    judged_leaks: bool
    asked: int | None

    def judges(self, task: str) -> list[ParseRate]:
        """The judges that were asked in a task."""
        return [rate for rate in self.rates if rate.task == task]
