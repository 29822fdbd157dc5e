"""Read answers of models to a benchmark's items, from files or from a saved run."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from benchwright.answers.answer_files import (
    Choice,
    check_names_used,
    find_answer_files,
    say_others,
)
from benchwright.answers.answer_rows import FAILED, MISSING, answers
from benchwright.answers.answer_tables import column_kind, has_letters
from benchwright.answers.calibration import configurations
from benchwright.answers.item_index import ResponseIndex
from benchwright.answers.items_of_logs import LogItems
from benchwright.answers.join_files import JoinedFiles, join_logs
from benchwright.answers.loaded_file import LoadedFile
from benchwright.answers.option_orders import plain_text
from benchwright.answers.response_matrices import matrix_of_rows, one_of_repeats
from benchwright.answers.source import Source
from benchwright.answers.table import Answers, State, item_columns
from benchwright.answers.table_files import read_table
from benchwright.answers.tally import SAME_SCORE, Tally
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.natural_order import sort_items
from benchwright.core.response_matrix import ResponseMatrix
from benchwright.core.text_folding import normal_text
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
    others: list[Path] = []
    for paths in sides:
        files, not_read = find_answer_files(paths, choice)
        others += not_read
        if not files:
            types = f"logs of evaluation tools or {', '.join(TABLE_TYPES)} files"
            raise InputError(f"{paths[0]}: no responses; expected {types}")
        loaded.append(files)
        sources.append(", ".join(path.name for path in paths))
    answers = answers_of_files(loaded, sources, choice)
    check_names_used(choice, [source for side in answers for source in side.sources])
    if others:
        answers[0] = answers[0]._replace(notes=(*answers[0].notes, say_others(others)))
    return answers


def answers_of_files(
    sides: Sequence[Mapping[str, LoadedFile]],
    sources: Sequence[str],
    choice: Choice = Choice(),  # noqa: B008 - immutable
) -> list[Answers]:
    """Return the answers in files of several sides that are loaded already; see `read_sides`.

    Raises:
        InputError: a side has no answer.
    """
    has_logs = any(file.log is not None for files in sides for file in files.values())
    usable = [
        {name: _judged(file, with_text=not has_logs) for name, file in files.items()}
        for files in sides
    ]
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
    # Of one id in the tables of several sides, the first that has a subject, or a text.
    bare = (items["subject"] == "") & (items["question"] == items["item_id"])
    first = items.assign(bare=bare).sort_values("bare", kind="stable")
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
        what = "; ".join(filter(None, (tally.detail() for tally in joined.tallies.values())))
        said = f"{source}: no responses under the condition {_QUESTION}"
        raise InputError(f"{said}: {what}" if what else said)
    lacking = _lacking_repeats(rows, joined) if repeats == "mean" else rows[:0]
    chosen = np.where(matrix.answered(), matrix.prediction, np.int16(-1))
    disputed = _cells(rows[rows["disputed"].astype(bool)], matrix)
    return Answers(
        source,
        matrix.models,
        matrix.item_ids,
        matrix.correct,
        notes=(*problems, *_notes(joined, files)),
        state=_states(rows, matrix, files, lacking),
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
    rows: pd.DataFrame,
    matrix: ResponseMatrix,
    files: Mapping[str, LoadedFile],
    lacking: pd.DataFrame,
) -> NDArray[np.uint8]:
    """Return (m, n) what became of each item; the more doubtful state of several counts.

    `lacking` has rows of items of which some repeats are missing.
    """
    state = np.where(matrix.answered(), State.READ, State.UNASKED).astype(np.uint8)
    for name, code in ((FAILED, State.UNREAD), (MISSING, State.MISSING)):
        state[_cells(rows[rows["extraction"] == name], matrix)] = code
    state[_cells(lacking, matrix)] = State.MISSING
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
        if is_cut or said or tally.is_notable or any(getattr(tally, counter) for counter in _NOTED):
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
    they are parts of one, such as the tasks of a suite, and the name is the model's.
    """
    asked = rows[["model", "style", "shots"]].drop_duplicates()
    names = pd.Series(configurations(asked), asked.index, dtype=object)
    unclear = names.duplicated(keep=False)
    for row in asked.index[unclear]:
        _, style, shots = asked.loc[row]
        way = [style] if style else []
        way.append(f"{shots} shots" if shots >= 0 else "unknown shots")
        names[row] = f"{names[row]} ({', '.join(way)})"
    once = rows.drop_duplicates([*asked, "position"])
    twice = once["model"][once.duplicated(["model", "position"])]
    models = asked["model"].astype(object)
    parts = models.duplicated(keep=False) & ~models.isin(twice)
    names.update(models[parts])
    codes = rows.groupby([*asked], sort=False, observed=True).ngroup().to_numpy(dtype=np.intp)
    return rows.assign(configuration=names.to_numpy()[codes])


def _lacking_repeats(rows: pd.DataFrame, joined: JoinedFiles) -> pd.DataFrame:
    """Return the rows of items that lack repeats: fewer than others have, or than a log states."""
    key = ["configuration", "source"]
    of_item = rows.groupby([*key, "position"], observed=True)["repeat"].transform("size")
    most = of_item.groupby([rows[name] for name in key], observed=True).transform("max")
    stated = {name: source.settings.repeats or 0 for name, source in joined.sources.items()}
    wanted = np.maximum(most, rows["source"].astype(str).map(stated).fillna(0))
    return rows[(of_item < wanted).to_numpy(dtype=bool)]


def _judged(file: LoadedFile, *, with_text: bool) -> LoadedFile:
    """Return a table with its layout, which must state correctness: the options are unknown."""
    spec, table = file.spec, file.table
    if table is None:
        return file
    table = table.rename_columns([_item_id(name, table) for name in table.column_names])
    table = _with_plain_ids(table)
    marked = {"item_id", *("correct", "score")} & {*table.column_names}
    if "model" not in table.column_names and "item_id" in marked and len(marked) > 1:
        table = table.append_column("model", pa.array([Path(file.name).stem] * len(table)))
    names = table.column_names
    if "item_id" in names and pa.types.is_nested(table.schema.field("item_id").type):
        why = f"{file.name}, column 'item_id': expected text or numbers, got lists or objects"
        return LoadedFile(spec, None, problem=why)
    scored = bool({"correct", "score"} & set(names))
    if "item_id" not in names and (scored or "model" not in names):
        lacking = "'item_id', 'item' or 'id'" if scored else "'item_id' or 'model'"
        why = f"{file.name}: no column {lacking}; it has {', '.join(names[:12])}"
    elif not {"item_id", "model"} <= set(names):
        return LoadedFile(spec.model_copy(update={"layout": "wide", "values": "correct"}), table)
    elif scored:
        kept = [*_ANSWER_COLUMNS, "question"] if with_text else _ANSWER_COLUMNS
        table = table.select([name for name in names if name in kept])
        return LoadedFile(spec.model_copy(update={"layout": "tidy"}), table)
    else:
        why = (
            f"{file.name}: no column 'correct' or 'score'; letters need the items: "
            "`benchwright read --benchmark NAME --out FILE` marks them"
        )
    return LoadedFile(spec, None, problem=why)


def _with_plain_ids(table: pa.Table) -> pa.Table:
    """Return a table with ids in Unicode's NFC, and questions with single spaces as well."""
    names = [plain_text(name) for name in table.column_names]
    table = table.rename_columns(names)
    for name, fold in (("item_id", plain_text), ("question", normal_text)):
        if name in names and column_kind(table[name]) == "text":
            texts = [None if each is None else fold(each) for each in table[name].to_pylist()]
            table = table.set_column(names.index(name), name, pa.array(texts, pa.large_string()))
    return table


def _item_id(name: str, table: pa.Table) -> str:
    """Return `item_id` for `item` or `id` in a table without such a column, else the name."""
    others = {"item_id", "item"} if name == "id" else {"item_id"}
    known = name in ("item", "id") and not others & {*table.column_names}
    return "item_id" if known else name


class _Known(NamedTuple):
    """What tables say of an item."""

    subject: str = ""
    question: str = ""


def nameless_items(files: Mapping[str, LoadedFile], known: Collection[str] = ()) -> pd.DataFrame:
    """Return an open-ended item for each id in tables that is not known, with what is said of it.

    Raises:
        InputError: there is no id, an item has two subjects, or answers are letters alone.
    """
    items: dict[str, _Known] = {}
    for file in files.values():
        if file.table is not None:
            _add_ids(items, file, file.table)
    new = items.keys() - {"model", "None", *known}
    if not new and not known:
        raise InputError(f"{next(iter(files))}: no item ids")
    columns = Items.empty().columns
    blank = dict.fromkeys(columns) | {"split": "test", "answer": -1}
    blank |= {"choices": [], "answer_text": "", "correct_set": []}
    rows = []
    for name in sorted(new):
        question = items[name].question or name
        about = {"item_id": name, "subject": items[name].subject, "question": question}
        rows.append({**blank, **about, "content_hash": content_hash(question)})
    return pd.DataFrame(rows, columns=columns)


def _add_ids(items: dict[str, _Known], file: LoadedFile, table: pa.Table) -> None:
    """Add the items of a table, with subject and question if it has them."""
    names = table.column_names
    chosen = "prediction" in names or has_letters(file, table)
    if chosen and not {"correct", "score"} & {*names}:
        raise InputError(f"{file.name}: no column 'correct' or 'score'; letters need `items`")
    if "item_id" not in names:
        for name in names:
            items.setdefault(name, _Known())
        return
    about = [
        table[name].to_pylist() if name in names else repeat(None)
        for name in ("item_id", "subject", "question")
    ]
    for item_id, subject, question in dict.fromkeys(zip(*about, strict=False)):
        name = str(item_id)
        before = items.get(name, _Known())
        own = "" if subject is None else str(subject)
        if own and before.subject and own != before.subject:
            why = f"item {name} is of subject {before.subject!r} and {own!r}"
            raise InputError(f"{file.name}: {why}; give each an id of its own")
        text = "" if question is None else str(question)
        items[name] = _Known(before.subject or own, before.question or text)
