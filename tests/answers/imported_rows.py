"""Recorded answers as rows, also of models without log-likelihoods, to see what was joined."""

import pandas as pd

from benchwright.answers.answer_rows import MISSING
from benchwright.answers.import_responses import (
    Imported,
    as_responses,
    unscored_matrices,
)
from benchwright.answers.item_index import ResponseIndex
from benchwright.answers.join_files import join_files
from benchwright.answers.loaded_file import LoadedFile


def import_as_rows(
    files: dict[str, LoadedFile],
    items: pd.DataFrame,
    calibration_items: pd.DataFrame,
    perturbed_items: pd.DataFrame | None = None,
) -> Imported:
    """`import_responses`, before answers without log-likelihoods become matrices."""
    index = ResponseIndex(items, calibration_items, perturbed_items)
    joined = join_files(files, index)
    rows = joined.merged(files, index)
    report = joined.report(files)
    answered = rows[rows["extraction"] != MISSING]
    _, matrices = unscored_matrices(answered, index)
    return Imported(as_responses(answered, index), matrices, report)
