"""Import recorded responses: join them to items, merge files, and report on every row."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchwright.answers.answer_rows import FAILED, MISSING
from benchwright.answers.calibration import configurations
from benchwright.answers.choose_filter_models import check_filter_models
from benchwright.answers.item_index import ResponseIndex
from benchwright.answers.join_files import join_files
from benchwright.answers.loaded_file import LoadedFile
from benchwright.answers.response_matrices import matrix_of_rows
from benchwright.core.errors import InputError
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.tables.responses import Responses

_NOTHING_LIVE = ScoringParams()
_COUNTS = ("shots_used", "prompt_tokens", "generated_tokens")  # known of live answers alone


class Imported(NamedTuple):
    """Recorded responses, and a report on each file."""

    imported_responses: pd.DataFrame
    wide_matrices: list[ResponseMatrix]
    import_report: pd.DataFrame


def import_responses(
    response_files: dict[str, LoadedFile],
    items: pd.DataFrame,
    calibration_items: pd.DataFrame,
    filter_models: Collection[str] | None = None,
    models: ModelsParams | None = None,
    scoring: ScoringParams = _NOTHING_LIVE,
    perturbed_items: pd.DataFrame | None = None,
) -> Imported:
    """Join recorded responses to the items, by text if they have one, else by id.

    Of several responses to the same question, the first file's counts. A file that cannot be read
    costs a line of the report. Answers to a copy of this run have the gold of the copy; those to
    other copies, also of the same name with other texts, are left out.

    Args:
        response_files: files by name, in order.
        items: an `Items` table.
        calibration_items: the same columns, possibly empty; responses to them are kept too.
        filter_models: as in `choose_filter_models`; unknown names are found here, early.
        models: the models of conf; None checks no names.
        scoring: what the run asks itself.
        perturbed_items: a `PerturbedItems` table, if this run has copies.

    Returns:
        A `Responses` table of the models with log-likelihoods, matrices of the others, and the
        report.

    Raises:
        InputError: a filter model is unknown, or answers should come from the hub, none does, and
            the run asks no model.
    """
    index = ResponseIndex(items, calibration_items, perturbed_items)
    joined = join_files(response_files, index)
    rows = joined.merged(response_files, index)
    report = joined.report(response_files)
    away = [file.problem for file in response_files.values() if file.spec.hub and file.problem]
    if away and rows.empty and scoring.mode == "imported":
        raise InputError(
            f"no answers from the hub ({away[0]}); without a network, put copies of "
            "the datasets into FOLDER/<owner>/<name> and set --params mirror_root=FOLDER, or ask "
            "models with score=live"
        )
    scored, matrices = unscored_matrices(rows[rows["extraction"] != MISSING], index)
    imported = Imported(as_responses(scored, index), matrices, report)
    if models is not None and not any(file.problem for file in response_files.values()):
        live = () if scoring.mode == "imported" else scoring.configurations
        answering = {*configurations(imported.imported_responses), *live}
        answering.update(*(matrix.models for matrix in imported.wide_matrices))
        if answering:
            check_filter_models(filter_models, answering, models.models)
    return imported


def as_responses(rows: pd.DataFrame, index: ResponseIndex) -> pd.DataFrame:
    """Return the `Responses` table of joined rows, sorted by its key."""
    if rows.empty:
        return Responses.empty()
    item_ids = index.ids.to_numpy()[rows["position"].to_numpy(dtype=np.intp)]
    frame = rows.assign(item_id=item_ids, prompt_id=None, **dict.fromkeys(_COUNTS, -1))
    frame = frame.sort_values(["model", "style", "shots", "condition", "position", "repeat"])
    return pd.DataFrame(Responses.validate(frame[Responses.columns()].reset_index(drop=True)))


def unscored_matrices(
    rows: pd.DataFrame, index: ResponseIndex
) -> tuple[pd.DataFrame, list[ResponseMatrix]]:
    """Put the answers of models without any log-likelihood into one matrix per condition.

    A row of a table takes two hundred bytes, a cell of a matrix fourteen. A model with some
    log-likelihoods, repeats or unread answers keeps all its rows. Return the rows of these models,
    and matrices over the items that any of the others answered, in order of the conditions.
    """
    kept = rows["logprobs"].notna() | (rows["repeat"] > 1) | (rows["extraction"] == FAILED)
    unscored = ~rows["model"].isin(rows["model"][kept].unique())
    conditions = sorted(rows["condition"][unscored].unique())
    named = rows.assign(configuration=configurations(rows))
    matrices = [matrix_of_rows(named, str(name), index, unscored) for name in conditions]
    rest = rows[~unscored] if unscored.any() else rows
    return rest, [matrix for matrix in matrices if matrix.models]
