"""Read answers of models to a benchmark's items, from files or from a saved run."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from benchwright.answers.answer_files import Choice, find_answer_files, read_table
from benchwright.answers.answer_rows import FAILED, MISSING, answers
from benchwright.answers.answer_tables import has_letters
from benchwright.answers.calibration import configurations
from benchwright.answers.item_index import ResponseIndex
from benchwright.answers.items_of_logs import LogItems
from benchwright.answers.join_files import JoinedFiles, join_logs
from benchwright.answers.loaded_file import LoadedFile
from benchwright.answers.response_matrices import matrix_of_rows, one_of_repeats
from benchwright.answers.source import Source
from benchwright.answers.table import Answers, State, item_columns
from benchwright.answers.tally import SAME_SCORE, Tally
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.natural_order import sort_items
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.params.responses import TABLE_TYPES
from benchwright.runs.saved_runs import find_run
from benchwright.tables.items import Items

_ANSWER_COLUMNS = (
    "item_id",
    "model",
    "condition",
    "style",
    "shots",
    "repeat",
    "correct",
    "score",
    "prediction",
    "extraction",
    "subject",
)
_QUESTION = "question"
_NOTED = ("doubled", "dropped", "not_joined", "failed", "contradicting", "several")


def known_answers(
    project: Path | None,
    env: str | None,
    files: Sequence[Path],
    params: Mapping[str, Any],
    items_file: Path | None = None,
    choice: Choice = Choice(),  # noqa: B008 - immutable
) -> Answers:
    """Read answers from files (`read_answers`), or the latest that a run saved.

    `items_file` is a table of items (`read_items`); `params` are those of the run.

    Raises:
        InputError: a file cannot be read, or no run has saved a matrix.
    """
    if files or project is None:
        responses = read_answers(files, choice)
    else:
        responses = _responses_of_run(project, env, params)
    return responses._replace(items=read_items(items_file)) if items_file else responses


def _responses_of_run(project: Path, env: str | None, params: Mapping[str, Any]) -> Answers:
    run = find_run(project, ["response_matrix"], params, env)

    def table(name: str) -> pd.DataFrame | None:
        return pd.read_parquet(path) if (path := run.path(name)).exists() else None

    matrix, items, models = run.load("response_matrix"), table("items"), table("models_table")
    return Answers(
        str(run),
        matrix.models,
        matrix.item_ids,
        matrix.correct,
        None if items is None else item_columns(items),
        {} if models is None else dict(zip(models["model"], models["family"], strict=True)),
    )


def read_items(file: Path) -> pd.DataFrame:
    """Read a table of items: item_id, and optionally question, choices, subject, passage_id.

    Raises:
        InputError: the file cannot be read, lacks item_id, or repeats an id.
    """
    table = read_table(file).to_pandas()
    if "item_id" not in table:
        raise InputError(f"{file}: no column 'item_id'; it has {', '.join(map(str, table))}")
    repeated = table["item_id"][table["item_id"].duplicated()]
    if len(repeated):
        raise InputError(f"{file}: item_id {repeated.iloc[0]!r} is not unique")
    return item_columns(table)


def read_answers(paths: Sequence[Path], choice: Choice = Choice()) -> Answers:  # noqa: B008 - immutable
    """Read answers from files and folders of tables, saved matrices and logs.

    A tidy table has a row per item and model with `correct` or `score`; a wide table has items and
    models as rows and columns. The first answer of a model to an item counts. The items of logs are
    the questions in them.

    Raises:
        InputError: a file is missing or has another format, or there is no answer.
    """
    return read_sides([paths], choice)[0]


def read_sides(sides: Sequence[Sequence[Path]], choice: Choice = Choice()) -> list[Answers]:  # noqa: B008 - immutable
    """Read answers of several sides, each file once, joined to the same items.

    Raises:
        InputError: as for `read_answers`.
    """
    loaded: list[dict[str, LoadedFile]] = []
    sources: list[str] = []
    for paths in sides:
        files = find_answer_files(paths, choice).files
        if not files:
            types = f"logs of evaluation tools or {', '.join(TABLE_TYPES)} files"
            raise InputError(f"{paths[0]}: no responses; expected {types}")
        loaded.append(files)
        sources.append(", ".join(path.name for path in paths))
    return answers_of_files(loaded, sources, choice)


def answers_of_files(
    sides: Sequence[Mapping[str, LoadedFile]],
    sources: Sequence[str],
    choice: Choice = Choice(),  # noqa: B008 - immutable
) -> list[Answers]:
    """Return the answers in files of several sides that are loaded already; see `read_sides`.

    Raises:
        InputError: a side has no answer.
    """
    usable = [{name: _judged(file) for name, file in files.items()} for files in sides]
    joined, of_logs = join_logs(usable)
    items = _items_of(usable, of_logs)
    if items is None:
        errors = (*(file.problem for file in usable[0].values()), *joined[0].errors.values())
        raise InputError(str(next(filter(None, errors), "the logs have no questions")))
    index = ResponseIndex(items)
    texts = items["question"].mask(items["question"] == items["item_id"], "")
    known = items.assign(question=texts)
    tables: list[Answers] = []
    for files, side, source in zip(usable, joined, sources, strict=True):
        if of_logs is not None:
            side.move(index.items.find(of_logs.items["item_id"]))
        side.add_tables(files, index)
        answers_of_side = _answers(files, side, index, choice.repeats, source=source)
        tasks = {} if of_logs is None else of_logs.tasks
        tables.append(answers_of_side._replace(items=known, tasks=tasks))
    return tables


def _items_of(
    sides: Sequence[Mapping[str, LoadedFile]], of_logs: LogItems | None
) -> pd.DataFrame | None:
    """Return the items of logs and the ids in tables, in natural order; None if there are none."""
    parts = [] if of_logs is None else [of_logs.items]
    known = set() if of_logs is None else set(of_logs.items["item_id"])
    with_tables = [files for files in sides if any(f.table is not None for f in files.values())]
    parts += [nameless_items(files, known) for files in with_tables]
    if not parts:
        return None
    items = pd.concat(parts, ignore_index=True)
    # Of one id in the tables of several sides, the first that has a subject.
    first = items.assign(bare=items["subject"] == "").sort_values("bare", kind="stable")
    kept = first.drop_duplicates("item_id").index.sort_values()
    return sort_items(items.loc[kept].reset_index(drop=True))


def _answers(
    files: Mapping[str, LoadedFile],
    joined: JoinedFiles,
    index: ResponseIndex,
    repeats: str,
    *,
    source: str,
) -> Answers:
    """Return the answers of one side to all items."""
    rows = joined.merged(files, index)
    problems = [file.problem for file in files.values() if file.problem]
    problems += [
        str(joined.errors[name])
        for name, file in files.items()
        if name in joined.errors and not file.problem
    ]
    if rows.empty and problems:
        raise InputError(problems[0])
    rows = _named(rows[rows["condition"] == _QUESTION])
    given = rows[rows["extraction"] != MISSING]
    correct, options = answers(given, index)
    given = one_of_repeats(given.assign(correct=correct, prediction=options), repeats)
    matrix = matrix_of_rows(given, _QUESTION, index).select_items(tuple(index.ids))
    if not matrix.models:
        raise InputError(f"{source}: no responses under the condition {_QUESTION}")
    chosen = np.where(matrix.answered(), matrix.prediction, np.int16(-1))
    disputed = _cells(rows[rows["disputed"].astype(bool)], matrix)
    return Answers(
        source,
        matrix.models,
        matrix.item_ids,
        matrix.correct,
        notes=(*problems, *_notes(joined, files)),
        state=_states(rows, matrix, files),
        chosen=chosen if (chosen >= 0).any() else None,
        disputed=disputed if disputed.any() else None,
        sources=tuple(_sources(rows, joined, files)),
        contradicting=tuple(_contradicting(joined, files)),
        unusable=tuple(problems),
    )


def _sources(
    rows: pd.DataFrame, joined: JoinedFiles, files: Mapping[str, LoadedFile]
) -> Iterator[Source]:
    """Yield what each file states, with the names of its models."""
    named = rows[["source", "configuration"]].drop_duplicates()
    by_file = named.groupby(named["source"].astype(str))["configuration"].agg(tuple)
    for name in files:
        if name in joined.sources and name in by_file.index:
            yield replace(joined.sources[name], models=by_file[name])


def _cells(rows: pd.DataFrame, matrix: ResponseMatrix) -> NDArray[np.bool_]:
    """Return (m, n) which cells some rows are of."""
    marked = np.zeros((len(matrix.models), len(matrix.item_ids)), dtype=bool)
    row = pd.Index(matrix.models).get_indexer(pd.Index(rows["configuration"]))
    known = row >= 0
    marked[row[known], rows["position"].to_numpy(dtype=np.intp)[known]] = True
    return marked


def _states(
    rows: pd.DataFrame, matrix: ResponseMatrix, files: Mapping[str, LoadedFile]
) -> NDArray[np.uint8]:
    """Return (m, n) what became of each item; the more doubtful state of several counts."""
    state = np.where(matrix.answered(), State.READ, State.UNASKED).astype(np.uint8)
    for name, code in ((FAILED, State.UNREAD), (MISSING, State.MISSING)):
        state[_cells(rows[rows["extraction"] == name], matrix)] = code
    places = {item: place for place, item in enumerate(matrix.item_ids)}
    for file, of_file in rows.groupby("source", observed=True):
        table = files[str(file)].table
        if table is None or files[str(file)].spec.layout != "wide":
            continue
        names = table.column_names
        ids = table["item_id"].to_pylist() if "item_id" in names else names
        columns = [places[each] for each in map(str, ids) if each in places]
        for model in of_file["configuration"].unique():
            cells = state[matrix.models.index(model)]
            asked = np.isin(np.arange(len(cells)), columns)
            cells[asked & (cells == State.UNASKED)] = State.BLANK
    return state


def _notes(joined: JoinedFiles, files: Mapping[str, LoadedFile]) -> Iterator[str]:
    """Yield what a report should say of the files that were used."""
    for name, file in files.items():
        tally = joined.tallies[name]
        if name in joined.errors:
            continue
        is_cut = False  # answers that are not there
        if tally.accuracy is not None and tally.log_score is not None:
            is_cut = abs(tally.accuracy - tally.log_score) > SAME_SCORE
        said = tally.detail() if file.log is None else file.log.notes
        if is_cut or said or any(getattr(tally, counter) for counter in _NOTED):
            yield f"{Path(name).name}: {tally.detail()}"


def _contradicting(joined: JoinedFiles, files: Mapping[str, LoadedFile]) -> Iterator[str]:
    """Say how many answers contradict a key, by model or table, and how both keys score them."""
    contrary: defaultdict[str, list[Tally]] = defaultdict(list)
    for name, file in files.items():
        if joined.tallies[name].contradicting:
            contrary[file.spec.model or name].append(joined.tallies[name])
    for name in sorted(contrary):
        tallies = contrary[name]
        total = sum(tally.contradicting for tally in tallies)
        said = f"{total:,} answers of {name} contrary to an answer key"
        scores = [(tally.log_score, tally.accuracy) for tally in tallies]
        if all(None not in pair for pair in scores):
            weights = [tally.rows for tally in tallies]
            own, here = np.average(np.array(scores, dtype=float), axis=0, weights=weights)
            said += f": {own:.2%} right by its log, {here:.2%} by the key in use"
        yield f"{said}; see the notes"


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """Add `configuration`, a name for each way in which a model was asked.

    Ways of which not all is known are told apart in the name. If no item was asked in two ways,
    they are parts of one, and the name is the model's.
    """
    asked = rows[["model", "style", "shots"]].drop_duplicates()
    names = pd.Series(configurations(asked), asked.index, dtype=object)
    unclear = names.duplicated(keep=False)
    once = rows.drop_duplicates([*asked, "position"])
    twice = once["model"][once.duplicated(["model", "position"])]
    for row in asked.index[unclear]:
        _, style, shots = asked.loc[row]
        way = [style] * bool(style) + [f"{shots} shots" if shots >= 0 else "unknown shots"]
        names[row] = f"{names[row]} ({', '.join(way)})"
    clear = asked["model"][~unclear].astype(object)
    parts = clear.duplicated(keep=False) & ~clear.isin(twice)
    names.update(clear[parts])
    codes = rows.groupby([*asked], sort=False, observed=True).ngroup().to_numpy(dtype=np.intp)
    return rows.assign(configuration=names.to_numpy()[codes])


def _judged(file: LoadedFile) -> LoadedFile:
    """Return a table with its layout, which must state correctness: the options are unknown."""
    spec, table = file.spec, file.table
    if table is None:
        return file
    table = table.rename_columns([_item_id(name, table) for name in table.column_names])
    marked = {"item_id", *("correct", "score")} & {*table.column_names}
    if "model" not in table.column_names and "item_id" in marked and len(marked) > 1:
        table = table.append_column("model", pa.array([Path(file.name).stem] * len(table)))
    names = table.column_names
    scored = bool({"correct", "score"} & set(names))
    if "item_id" not in names and (scored or "model" not in names):
        lacking = "'item_id', 'item' or 'id'" if scored else "'item_id' or 'model'"
        why = f"{file.name}: no column {lacking}; it has {', '.join(names[:12])}"
    elif not {"item_id", "model"} <= set(names):
        return LoadedFile(spec.model_copy(update={"layout": "wide", "values": "correct"}), table)
    elif scored:
        table = table.select([name for name in names if name in _ANSWER_COLUMNS])
        return LoadedFile(spec.model_copy(update={"layout": "tidy"}), table)
    else:
        why = (
            f"{file.name}: no column 'correct' or 'score'; letters need the items: "
            "`benchwright read --benchmark NAME --out FILE` marks them"
        )
    return LoadedFile(spec, None, problem=why)


def _item_id(name: str, table: pa.Table) -> str:
    """Return `item_id` for `item` or `id` in a table without such a column, else the name."""
    others = {"item_id", "item"} if name == "id" else {"item_id"}
    known = name in ("item", "id") and not others & {*table.column_names}
    return "item_id" if known else name


def nameless_items(files: Mapping[str, LoadedFile], known: Collection[str] = ()) -> pd.DataFrame:
    """Return an open-ended item for each id in tables that is not known, with its subject if any.

    Raises:
        InputError: there is no id, an item has two subjects, or answers are letters alone.
    """
    subjects: dict[str, str] = {}
    for file, table in ((f, f.table) for f in files.values() if f.table is not None):
        names = table.column_names
        chosen = "prediction" in names or has_letters(file, table)
        if chosen and not {"correct", "score"} & {*names}:
            raise InputError(f"{file.name}: no column 'correct' or 'score'; letters need `items`")
        ids = table["item_id"].to_pylist() if "item_id" in names else names
        stated = table["subject"].to_pylist() if {"item_id", "subject"} <= {*names} else repeat("")
        for name, subject in dict.fromkeys(zip(ids, stated, strict=False)):
            own = "" if subject is None else str(subject)
            first = subjects.get(str(name)) or own
            if own and first != own:
                why = f"item {name} is of subject {first!r} and {own!r}"
                raise InputError(f"{file.name}: {why}; give each an id of its own")
            subjects[str(name)] = first
    new = subjects.keys() - {"model", "None", *known}
    if not new and not known:
        raise InputError(f"{next(iter(files))}: no item ids")
    columns = Items.empty().columns
    blank = dict.fromkeys(columns) | {"split": "test", "answer": -1}
    blank |= {"choices": [], "answer_text": "", "correct_set": []}
    rows = [
        {**blank, "item_id": name, "question": name, "content_hash": content_hash(name)}
        | {"subject": subjects[name]}
        for name in sorted(new)
    ]
    return pd.DataFrame(rows, columns=columns)
