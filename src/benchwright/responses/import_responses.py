"""Import recorded responses: join them to items, merge files, and report on every row."""

from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.verbatim import no_rows
from benchwright.datasets.response_files import LoadedFile
from benchwright.params.scoring import ModelsParams, ScoringParams
from benchwright.responses.calibration import configurations
from benchwright.responses.choose_filter_models import check_filter_models
from benchwright.responses.item_index import ItemIndex, ResponseIndex
from benchwright.responses.join_logs import foreign_runs, read_log
from benchwright.responses.tally import EXAMPLES, Tally
from benchwright.responses.tidy_files import (
    ANSWER,
    KEY,
    ROWS,
    contradictions,
    disagree,
    looks_tidy,
    read_tidy,
    unknown_condition,
)
from benchwright.responses.wide_files import WideResponses, read_wide
from benchwright.tables.responses import ImportReport, Responses

Float = NDArray[np.float32]
Mask = NDArray[np.bool_]
_VALUES = [*ANSWER, "option_bytes", "option_tokens"]
Block = tuple[NDArray[np.intp], ...]


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
    scoring: ScoringParams | None = None,
    perturbed_items: pd.DataFrame | None = None,
) -> Imported:
    """Join recorded responses to the items, and report rows that do not fit.

    Rows are joined by text if they have one, else by id. Rows of tidy files and logs become
    a `Responses` table if they have log-likelihoods; responses of other models become matrices.
    Wide files stay matrices, merged if they share models. Of several responses to the same
    question, the first file's counts, and the report lists the others. Tidy files and logs come
    before wide files; otherwise the order is that of the files.

    Answers whose condition is a copy of this run belong to the copy's items and its gold. Those to
    other copies, including copies of the same name with other texts, are left out and reported.

    Args:
        response_files: files by name, in order.
        items: an `Items` table.
        calibration_items: the same columns, possibly empty; responses to them are kept too.
        perturbed_items: a `PerturbedItems` table, if this run has copies.
        filter_models: as in `choose_filter_models`; unknown names are found here, early.
        models: the models of conf; None checks no names.
        scoring: what the run asks itself.

    Returns:
        The rows, the matrices (those of wide files first) and the report.

    Raises:
        InputError: a file does not have its layout, or has no response; a filter model is unknown.
    """
    index = ResponseIndex(items, calibration_items, perturbed_items)
    rows, wide, report = join_responses(response_files, index)
    scored, matrices = unscored_matrices(rows, index)
    imported = Imported(as_responses(scored, index), [*wide, *matrices], report)
    if models is not None and all(file.is_found for file in response_files.values()):
        live = scoring.configurations if scoring is not None and scoring.mode == "live" else ()
        answering = {*configurations(imported.imported_responses), *live}
        answering.update(*(matrix.models for matrix in imported.wide_matrices))
        if answering:
            check_filter_models(filter_models, answering, models.models)
    return imported


def join_responses(
    response_files: dict[str, LoadedFile], index: ResponseIndex
) -> tuple[pd.DataFrame, list[ResponseMatrix], pd.DataFrame]:
    """Find the item of every recorded response; see `import_responses`.

    Return rows of tidy files and logs, one per key (`tidy_files.ROWS`); matrices of wide files,
    merged if they share models; and an `ImportReport` table.
    """
    foreign = foreign_runs(response_files.values(), index)
    tallies: dict[str, Tally] = {}
    tidy: list[pd.DataFrame] = []
    wide: list[WideResponses] = []
    for name, file in response_files.items():
        if file.table is None and file.log is None:
            tallies[name] = Tally(name, file.spec.layout)
            tallies[name].notes.append(f"file not found in {' or '.join(file.looked_in)}")
        elif file.log is not None:
            rows, tallies[name] = read_log(file, index, foreign)
            if len(rows):
                tidy.append(rows)
        elif file.spec.layout == "tidy" or (file.spec.layout == "auto" and looks_tidy(file)):
            rows, tallies[name] = read_tidy(file, index)
            tidy.append(rows)
        else:
            responses, tallies[name] = _read_wide(file, index)
            wide += responses
    rows = _merge_rows(tidy, index, tallies)
    matrices = [_merge_wide(group, rows, index, tallies) for group in _sharing_models(wide)]
    report = ImportReport.from_rows([tallies[name].as_row() for name in response_files])
    return rows, matrices, report


def _read_wide(file: LoadedFile, index: ResponseIndex) -> tuple[list[WideResponses], Tally]:
    condition = file.spec.condition
    items = index.of(condition)
    if items is not None:
        responses, tally = read_wide(file, items)
        return [responses], tally
    _, tally = read_wide(file, index.items)
    tally.not_joined, tally.joined_by_id = tally.not_joined + tally.joined_by_id, 0
    tally.notes.append(unknown_condition(condition))
    return [], tally


def _names(rows: pd.DataFrame, index: ResponseIndex, mask: Mask) -> list[str]:
    marked = rows[mask]
    items = index.ids.to_numpy()[marked["position"].to_numpy()]
    return [f"{i} × {m}" for i, m in sorted(zip(items, marked["model"], strict=True))[:EXAMPLES]]


def _merge_rows(
    files: list[pd.DataFrame], index: ResponseIndex, tallies: dict[str, Tally]
) -> pd.DataFrame:
    """Merge the rows of all tidy files by key; later files only fill in missing values."""
    if not files:
        return no_rows(ROWS)
    if len(files) == 1:
        return files[0]
    rows = pd.concat(files, ignore_index=True)
    # Keys are unique in a file; comparing only shared keys is fast for thousands of logs.
    shared = rows.duplicated(KEY, keep=False).to_numpy(dtype=bool)
    if not shared.any():
        return rows
    ends = np.cumsum([len(file) for file in files])[:-1]
    parts = zip(files, np.split(shared, ends), strict=True)
    merged = _merge_shared([file[mask] for file, mask in parts if mask.any()], index, tallies)
    return pd.concat([rows[~shared], merged], ignore_index=True)


def _merge_shared(
    files: list[pd.DataFrame], index: ResponseIndex, tallies: dict[str, Tally]
) -> pd.DataFrame:
    merged = files[0].reset_index(drop=True)
    for later in files[1:]:
        places = pd.Series(np.arange(len(merged)), index=pd.MultiIndex.from_frame(merged[KEY]))
        matched = places.reindex(pd.MultiIndex.from_frame(later[KEY])).to_numpy(dtype=float)
        shared = later[~np.isnan(matched)].reset_index(drop=True)
        at = matched[~np.isnan(matched)].astype(np.intp)
        if len(shared):
            merged = _add_to(merged, at, shared, index, tallies[shared["source"].iloc[0]])
        merged = pd.concat([merged, later[np.isnan(matched)]], ignore_index=True)
    return merged


def _missing(values: pd.Series) -> Mask:
    missing = values < 0 if values.name == "prediction" else values.isna()
    return np.asarray(missing, dtype=bool)


def _add_to(
    merged: pd.DataFrame,
    at: NDArray[np.intp],
    later: pd.DataFrame,
    index: ResponseIndex,
    tally: Tally,
) -> pd.DataFrame:
    """Fill the rows `at` of `merged` from `later` where they do not contradict each other."""
    first = merged.iloc[at].reset_index(drop=True)
    filled = first.copy()
    doubled = np.zeros(len(later), dtype=bool)
    for name in _VALUES:
        lacking = _missing(first[name])
        doubled |= ~lacking & ~_missing(later[name])
        filled[name] = filled[name].where(~lacking, later[name])
    clash = disagree(first, later) | (
        contradictions(filled, index)
        & ~contradictions(first, index)
        & ~contradictions(later, index)
    )
    by_hash = later["by_hash"].to_numpy(dtype=bool)
    tally.joined_by_hash -= int((doubled & by_hash).sum())
    tally.joined_by_id -= int((doubled & ~by_hash).sum())
    _count_shared(tally, doubled, clash, len(later), lambda mask: _names(later, index, mask))
    out = merged.copy()
    good = np.flatnonzero(~clash)
    for name in _VALUES:
        values = out[name].to_numpy(copy=True)
        values[at[good]] = filled[name].to_numpy()[good]
        out[name] = values
    return out


def _count_shared(
    tally: Tally, doubled: Mask, clash: Mask, shared: int, names: Callable[[Mask], Iterable[str]]
) -> None:
    tally.add("doubled", "duplicates of an earlier file", doubled.sum(), names(doubled))
    tally.add("contradicting", "different in an earlier file", clash.sum(), names(clash))
    tally.note_disagreement(int(clash.sum()), shared)


def _sharing_models(files: list[WideResponses]) -> list[list[WideResponses]]:
    """Group files of one condition that share models, directly or through other files.

    Files without a common model stay apart, so that thousands of models with a hundred items need
    no cells for all items of another file.
    """
    groups: list[tuple[set[str], list[WideResponses]]] = []
    for file in files:
        names, members = set(file.models), [file]
        apart = []
        for group in groups:
            if group[1][0].condition == file.condition and group[0] & names:
                names |= group[0]
                members = group[1] + members
            else:
                apart.append(group)
        groups = [*apart, (names, members)]
    order = {id(file): place for place, file in enumerate(files)}
    return [sorted(members, key=lambda file: order[id(file)]) for _, members in groups]


def _merge_wide(
    files: list[WideResponses], rows: pd.DataFrame, index: ResponseIndex, tallies: dict[str, Tally]
) -> ResponseMatrix:
    """Merge wide files of one condition into a matrix over the items that any of them has."""
    models = sorted({model for file in files for model in file.models})
    positions = np.unique(np.concatenate([file.positions for file in files]))
    row_of = {model: row for row, model in enumerate(models)}
    shape = (len(models), len(positions))
    condition = files[0].condition
    items = index.of(condition) or index.items
    merged = _Merged(items, positions, shape, letters=any(f.prediction is not None for f in files))
    tidy = rows[rows["condition"] == condition]
    merged.note_rows(tidy.assign(position=tidy["position"] - index.start(condition)), row_of)
    for file in files:
        at = np.ix_(
            np.array([row_of[m] for m in file.models], dtype=np.intp),
            np.searchsorted(positions, file.positions),
        )
        merged.add(file, at, tallies[file.file])
    return ResponseMatrix.of(
        tuple(models),
        tuple(items.ids[positions]),
        correct=merged.finished(),
        prediction=merged.prediction,
        condition=condition,
    )


class _Merged:
    """Cells of several wide files being merged; `_tidy` holds the same cells of tidy files."""

    def __init__(
        self,
        index: ItemIndex,
        positions: NDArray[np.intp],
        shape: tuple[int, int],
        *,
        letters: bool,
    ) -> None:
        self.index = index
        self.positions = positions
        self.correct = np.full(shape, np.nan, dtype=np.float32)
        self.prediction = np.full(shape, -1, dtype=np.int16) if letters else None
        self._tidy: tuple[Float, NDArray[np.int16]] | None = None

    def note_rows(self, rows: pd.DataFrame, row_of: dict[str, int]) -> None:
        """Keep the same cells of tidy files, to count duplicates."""
        if len(rows) == 0 or len(self.positions) == 0:
            return
        names = configurations(rows)
        position = rows["position"].to_numpy(dtype=np.intp)
        place = np.minimum(np.searchsorted(self.positions, position), len(self.positions) - 1)
        here = np.isin(names, list(row_of)) & (self.positions[place] == position)
        if not here.any():
            return
        at = ([row_of[name] for name in names[here]], place[here])
        correct = np.full(self.correct.shape, np.nan, dtype=np.float32)
        prediction = np.full(self.correct.shape, -1, dtype=np.int16)
        correct[at] = rows["correct"].to_numpy(dtype=np.float32)[here]
        prediction[at] = rows["prediction"].to_numpy(dtype=np.int16)[here]
        self._tidy = correct, prediction

    def add(self, file: WideResponses, at: Block, tally: Tally) -> None:
        """Add a file's cells that are still empty and contradict nothing."""
        correct, chosen = self._known(at)
        judged, named = ~np.isnan(correct), chosen >= 0
        columns = at[1].ravel()
        cells: Any
        values: Any
        if file.correct is not None:
            cells, values = self.correct, file.correct
            present = ~np.isnan(values)
            doubled = present & judged
            clash = (doubled & (correct != values)) | (
                present & self._is_against(values, chosen, columns)
            )
        else:
            cells, values = self.prediction, file.prediction
            present = values >= 0
            doubled = present & named
            clash = (doubled & (chosen != values)) | (
                present & self._is_against(correct, values, columns)
            )
        cells[at] = np.where(present & ~doubled & ~clash, values, cells[at])
        tally.joined_by_id -= int(doubled.sum())
        shared = int((present & (judged | named)).sum())
        _count_shared(tally, doubled, clash, shared, lambda mask: self._cells(file, mask))

    def _known(self, at: Block) -> tuple[Float, NDArray[np.int16]]:
        """Return correctness and option known before, NaN and −1 if unknown."""
        correct = self.correct[at]
        chosen = np.full(correct.shape, -1, dtype=np.int16)
        if self.prediction is not None:
            chosen = self.prediction[at]
        if self._tidy is not None:
            tidy_correct, tidy_chosen = self._tidy[0][at], self._tidy[1][at]
            correct = np.where(np.isnan(tidy_correct), correct, tidy_correct)
            chosen = np.where(tidy_chosen < 0, chosen, tidy_chosen)
        return correct, chosen

    def _right(self, chosen: NDArray[np.int16], columns: NDArray[np.intp]) -> Float:
        """Return correctness by the gold of options chosen in `columns`, NaN if unknown."""
        if not (chosen >= 0).any():
            return np.full(chosen.shape, np.nan, dtype=np.float32)
        where = np.broadcast_to(self.positions[columns], chosen.shape)
        right = self.index.is_right(where.ravel(), chosen.ravel().astype(np.int64))
        return right.reshape(chosen.shape).astype(np.float32)

    def _is_against(
        self, correct: Float, chosen: NDArray[np.int16], columns: NDArray[np.intp]
    ) -> Mask:
        """Return where correctness and chosen option are incompatible, for items with one gold."""
        right = self._right(chosen, columns)
        whole = (correct == 0) | (correct == 1)
        single = self.index.single[self.positions[columns]]
        return np.asarray(whole & ~np.isnan(right) & single & (right != correct))

    def _cells(self, file: WideResponses, cells: Mask) -> Iterable[str]:
        ids = self.index.ids[file.positions]
        for column in sorted(np.flatnonzero(cells.any(axis=0)), key=lambda i: ids[i])[:EXAMPLES]:
            for row in np.flatnonzero(cells[:, column])[:EXAMPLES]:
                yield f"{ids[column]} × {file.models[row]}"

    def finished(self) -> Float:
        """Return the correctness of every cell, by the gold if only the option is known."""
        if self.prediction is None:
            return self.correct
        derived = self._right(self.prediction, np.arange(len(self.positions)))
        return np.where(np.isnan(self.correct), derived, self.correct)


def as_responses(rows: pd.DataFrame, index: ResponseIndex) -> pd.DataFrame:
    """Return the `Responses` table of joined rows, sorted by its key."""
    if rows.empty:
        return Responses.empty()
    position = rows["position"].to_numpy(dtype=np.intp)
    prediction = rows["prediction"].to_numpy(dtype=np.int64)
    derived = index.is_right(position, prediction)
    frame = rows.assign(
        item_id=index.ids.to_numpy()[position],
        correct=rows["correct"].where(rows["correct"].notna(), derived),
        shots_used=-1,
        prompt_id=None,
    )
    frame = frame.sort_values(["model", "style", "shots", "condition", "position", "repeat"])
    return pd.DataFrame(Responses.validate(frame[Responses.columns()].reset_index(drop=True)))


def unscored_matrices(
    rows: pd.DataFrame, index: ResponseIndex
) -> tuple[pd.DataFrame, list[ResponseMatrix]]:
    """Put the answers of models without any log-likelihood into one matrix per condition.

    A row of a table takes two hundred bytes, a cell of a matrix fourteen, and without
    log-likelihoods there is nothing to calibrate. A model with some log-likelihoods keeps all its
    rows, since other styles may be derived from them, and so does one with repeats or unread
    answers. If several rows have one configuration name
    (shots unknown), the first by style and shots counts. Answers to calibration items are left out.

    Args:
        rows: joined rows, one per key (`tidy_files.ROWS`).
        index: what their positions mean.

    Returns:
        The other rows, and matrices in order of their conditions, over the items that any of
        their models answered.
    """
    kept = rows["logprobs"].notna() | (rows["repeat"] > 1) | (rows["extraction"] == "failed")
    scored = rows["model"][kept].unique()
    unscored = ~rows["model"].isin(scored).to_numpy(dtype=bool)
    matrices = [
        _matrix(
            str(condition), rows, np.flatnonzero(unscored & (rows["condition"] == condition)), index
        )
        for condition in sorted(rows["condition"][unscored].unique())
    ]
    rest = rows[~unscored] if unscored.any() else rows
    return rest, [matrix for matrix in matrices if matrix.models]


def _matrix(
    condition: str, rows: pd.DataFrame, at: NDArray[np.intp], index: ResponseIndex
) -> ResponseMatrix:
    # Column by column: there may be tens of millions of rows.
    items, start = index.of(condition) or index.items, index.start(condition)
    position = rows["position"].to_numpy(dtype=np.intp)
    at = at[position[at] - start < items.n_items]
    asked = rows[["model", "style", "shots"]].iloc[at]
    keys = [asked["shots"].to_numpy()]
    order = np.lexsort(keys + [pd.Categorical(asked[name]).codes for name in ("style", "model")])
    at = at[order]
    model, models = pd.factorize(configurations(asked)[order], sort=True)
    del asked, keys, order
    position = position[at]
    present, column = np.unique(position - start, return_inverse=True)
    shape = (len(models), len(present))
    _, first = np.unique(model * max(len(present), 1) + column, return_index=True)
    cells, at, position = (model[first], column[first]), at[first], position[first]
    del model, column, first

    def filled(values: NDArray[np.float64]) -> NDArray[np.float32] | None:
        if np.isnan(values).all():
            return None
        out = np.full(shape, np.nan, dtype=np.float32)
        out[cells] = values
        return out

    correct = rows["correct"].to_numpy(dtype=np.float64)[at]
    prediction = rows["prediction"].to_numpy(dtype=np.int64)[at]
    unknown = np.isnan(correct)
    correct[unknown] = index.is_right(position[unknown], prediction[unknown])
    chosen = None
    if (prediction >= 0).any():
        chosen = np.full(shape, -1, dtype=np.int16)
        chosen[cells] = prediction
    return ResponseMatrix.of(
        tuple(str(name) for name in models),
        tuple(items.ids[present]),
        correct=filled(correct),
        p_answer=filled(rows["p_answer"].to_numpy()[at]),
        p_prediction=filled(rows["p_prediction"].to_numpy()[at]),
        prediction=chosen,
        condition=condition,
    )
