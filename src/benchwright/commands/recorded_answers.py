"""Answers in files, without a benchmark's conf: items are whatever the files name."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.natural_order import natural_key
from benchwright.datasets.lm_eval_samples import is_sample_log, read_run, read_samples
from benchwright.datasets.response_files import LoadedFile, read_table
from benchwright.datasets.response_matrix import ResponseMatrixDataset, is_response_matrix
from benchwright.params.responses import FILE_TYPES, ResponseFileParams
from benchwright.responses.import_answers import import_answers
from benchwright.responses.response_matrices import build_response_matrices
from benchwright.tables.items import Items
from benchwright.tables.responses import Calibration, Responses

Float = NDArray[np.float32]
_TASK = re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT[\d.-]+\.jsonl", re.DOTALL)
_OF_ITEMS = ("item_id", "model", "condition", "style", "shots", "correct", "score")
_QUESTION = "question"


class RecordedAnswers(NamedTuple):
    """Answers of m models to n items, and what their files said besides.

    Attributes:
        models: m names, sorted; `<model>@<style>-<shots>` where a table says how it was asked.
        item_ids: n ids in their natural order. A log of a task that is not ours has
            `<task>/<row>`.
        correct: (m, n) float32 in [0, 1], NaN where there is no answer.
        texts: of items whose documents stand in a log: the question and its choices.
        notes: a line for each thing that was left out.
    """

    models: tuple[str, ...]
    item_ids: tuple[str, ...]
    correct: Float
    texts: dict[str, str]
    notes: tuple[str, ...]


def read_answers(paths: Sequence[Path]) -> RecordedAnswers:
    """Answers in files, and in the files of folders: tables, saved matrices, logs of lm-eval.

    Tidy tables have a row per item and model with `correct` or `score`; wide ones a table of items
    and models, 0–1; logs are those of `lm_eval --log_samples`. Of two answers of a model to an item
    the first counts, logs after tables, and a note says so.

    Raises:
        InputError: a file is absent, is none of these, or holds no answer.
    """
    files = [file for path in paths for file in _files(path)]
    logs = [file for file in files if file.name.endswith(".jsonl") and is_sample_log(file)]
    matrices = [file for file in files if is_response_matrix(file)]
    tables = [file for file in files if file not in {*logs, *matrices}]
    notes: list[str] = []
    texts: dict[str, str] = {}
    frames = [_matrix(file) for file in matrices]
    if tables:
        frames.append(_tables(tables, notes))
    if logs:
        frames.append(_logs(logs, texts, notes))
    frame = _together(frames, notes)
    frame = frame.loc[sorted(frame.index), sorted(frame.columns, key=natural_key)]
    return RecordedAnswers(
        tuple(map(str, frame.index)),
        tuple(map(str, frame.columns)),
        frame.to_numpy(np.float32),
        texts,
        tuple(notes),
    )


def _files(path: Path) -> list[Path]:
    """The file, or the files of answers in and below a folder."""
    if path.is_file():
        if not path.name.endswith(FILE_TYPES):
            raise InputError(f"{path}: must end in {', '.join(FILE_TYPES)}")
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: there is no such file or folder")
    logs = sorted(path.rglob("samples_*.jsonl"))
    other = sorted(p for p in path.iterdir() if p.is_file() and p.name.endswith(FILE_TYPES))
    found = list(dict.fromkeys([*other, *logs]))
    if not found:
        raise InputError(
            f"{path}: holds no answers; {', '.join(FILE_TYPES)} in it are read, and "
            "samples_*.jsonl in folders below"
        )
    return found


def _matrix(file: Path) -> pd.DataFrame:
    matrix = ResponseMatrixDataset(filepath=str(file)).load()
    return pd.DataFrame(matrix.correct, index=list(matrix.models), columns=list(matrix.item_ids))


def _tables(files: Sequence[Path], notes: list[str]) -> pd.DataFrame:
    """Tidy and wide tables by the pipeline's own import, over the items that they name."""
    loaded = {str(file): _loaded(file) for file in files}
    ids = sorted({name for file, told in loaded.items() for name in _item_ids(file, told)})
    if not ids:
        raise InputError(f"{files[0]}: names no item")
    items = _nameless_items(ids)
    imported = import_answers(loaded, items, items.head(0))
    for row, file in zip(imported.import_report.to_dict("records"), files, strict=True):
        if row["doubled"] or row["dropped"] or row["not_joined"]:
            notes.append(f"{file.name}: {row['detail']}")
    matrix = build_response_matrices(
        Responses.empty(),
        imported.imported_responses,
        imported.wide_matrices,
        Calibration.empty(),
        items,
    ).response_matrix
    if not matrix.models:
        raise InputError(
            f"{files[0]}: has no answers to the plain question (condition {_QUESTION})"
        )
    return pd.DataFrame(matrix.correct, index=list(matrix.models), columns=list(matrix.item_ids))


def _loaded(file: Path) -> LoadedFile:
    """A table without what only a benchmark's items could explain."""
    table = read_table(file)
    # Files of several folders may share a name, so each goes by its path.
    spec = ResponseFileParams(file="answers.csv").model_copy(update={"file": str(file)})
    if {"item_id", "model"} <= set(table.column_names):
        if not {"correct", "score"} & set(table.column_names):
            raise InputError(
                f"{file}: needs a column 'correct' or 'score' (0–1); answers as letters or "
                "probabilities are read by a run (--benchmark)"
            )
        table = table.select([name for name in table.column_names if name in _OF_ITEMS])
        return LoadedFile(spec.model_copy(update={"layout": "tidy"}), table)
    return LoadedFile(spec.model_copy(update={"layout": "wide", "values": "correct"}), table)


def _item_ids(file: str, loaded: LoadedFile) -> list[str]:
    table = loaded.table
    if table is None:
        return []
    names = table.column_names
    if "item_id" in names:
        return [str(name) for name in table["item_id"].to_pylist() if name is not None]
    if "model" in names:
        return [name for name in names if name != "model"]
    raise InputError(f"{file}: needs a column 'item_id' or 'model'; it has {', '.join(names[:12])}")


def _nameless_items(ids: Sequence[str]) -> pd.DataFrame:
    """Items of which nothing but the id is known: open-ended, so that no gold is claimed."""
    texts = Items.empty()
    rows = []
    for name in ids:
        row = dict.fromkeys(texts.columns)
        row |= {"item_id": name, "split": "test", "subject": "", "question": name}
        row |= {"choices": [], "answer": -1, "answer_text": "", "correct_set": []}
        rows.append(row | {"content_hash": content_hash(name)})
    return pd.DataFrame(rows, columns=texts.columns)


def _logs(files: Sequence[Path], texts: dict[str, str], notes: list[str]) -> pd.DataFrame:
    cells: dict[tuple[str, str], float] = {}
    doubled = differing = drawn = 0
    for file in files:
        model = read_run(file).model or (file.parent.name if _TASK.fullmatch(file.name) else None)
        if not model:
            raise InputError(
                f"{file}: does not say its model; keep results_<time>.json of the run beside it"
            )
        for item, value, text in _samples(file):
            if item is None:
                drawn += 1
                continue
            known = cells.setdefault((model, item), value)
            if known is not value:
                doubled += 1
                differing += int(known != value)
            texts.setdefault(item, text)
    if doubled:
        notes.append(
            f"logs: {doubled:,} answers are there twice, {differing:,} of them differ; "
            "the first counts"
        )
    if drawn:
        notes.append(f"logs: {drawn:,} answers are to altered questions, and left out")
    if not cells:
        raise InputError(f"{files[0]}: no answer in it has acc or exact_match")
    by_model: dict[str, dict[str, float]] = {}
    for (model, item), value in cells.items():
        by_model.setdefault(model, {})[item] = value
    return pd.DataFrame.from_dict(by_model, orient="index")


def _samples(file: Path) -> list[tuple[str | None, float, str]]:
    """Item, right or not, and text of each sample of the first filter; item None of a draw."""
    table: pa.Table = read_samples(file)
    named = _TASK.fullmatch(file.name)
    task = named["task"] if named else file.stem
    rows = table.to_pylist()
    found: list[tuple[str | None, float, str]] = []
    for row in rows:
        if row["filter"] != rows[0]["filter"]:
            continue
        written = row["continuations"] is None and row["exact_match"] is not None
        value = row["exact_match"] if written else row["acc"]
        if value is None:
            continue
        doc = json.loads(row["doc"])
        own = doc.get("item_id")
        item = own if isinstance(own, str) and own else f"{task}/{row['doc_id']}"
        altered = isinstance(doc.get("condition"), str) and doc["condition"] != _QUESTION
        found.append((None if altered else item, float(value), _text(doc)))
    return found


def _text(doc: dict[str, object]) -> str:
    choices = doc.get("choices")
    if isinstance(choices, dict):
        choices = choices.get("text")
    listed = choices if isinstance(choices, list) else []
    return "\n".join(map(str, [doc.get("question") or "", *listed])).strip()


def _together(frames: Sequence[pd.DataFrame], notes: list[str]) -> pd.DataFrame:
    out = frames[0]
    for frame in frames[1:]:
        rows = out.index.intersection(frame.index)
        columns = out.columns.intersection(frame.columns)
        both = (out.loc[rows, columns].notna() & frame.loc[rows, columns].notna()).to_numpy().sum()
        if both:
            notes.append(f"{both:,} answers are in two kinds of file; the first counts")
        out = out.combine_first(frame)
    return out
