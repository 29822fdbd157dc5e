"""Recorded answers as rows, also of models without log-likelihoods, to see what was joined."""

import pandas as pd

from benchwright.datasets.response_files import LoadedFile
from benchwright.responses.import_answers import Imported, as_responses, join_answers
from benchwright.responses.item_index import AnswerIndex


def import_as_rows(
    files: dict[str, LoadedFile],
    items: pd.DataFrame,
    calibration_items: pd.DataFrame,
    perturbed_items: pd.DataFrame | None = None,
) -> Imported:
    """`import_answers`, before answers without log-likelihoods become matrices."""
    index = AnswerIndex(items, calibration_items, perturbed_items)
    rows, wide, report = join_answers(files, index)
    return Imported(as_responses(rows, index), wide, report)
