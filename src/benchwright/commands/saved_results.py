"""Find saved responses and audits of runs by version, and read responses from files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.configuration import configuration_name
from benchwright.core.content_hash import content_hash
from benchwright.core.errors import InputError
from benchwright.core.item_clusters import item_clusters
from benchwright.core.natural_order import natural_key
from benchwright.datasets.response_files import LoadedFile, log_file, read_table, told_apart
from benchwright.datasets.response_matrix import ResponseMatrixDataset, is_response_matrix
from benchwright.logs.find import find_logs
from benchwright.logs.sample import Log
from benchwright.params.responses import TABLE_TYPES, ResponseFileParams
from benchwright.responses.import_responses import import_responses
from benchwright.responses.items_of_logs import items_of_logs
from benchwright.responses.response_matrices import build_response_matrices
from benchwright.saved_runs import find_run, saved_versions
from benchwright.tables.items import Items
from benchwright.tables.responses import Calibration, Responses

ANSWERED_BY = 0.5
"""Minimum share of the models that answered an item."""
MIN_COVERAGE = 0.95
"""Minimum share of these items that a model answered."""
AUDIT = "item_audit.parquet"
COVERAGE = "rule_coverage.parquet"

_AUDIT_COLUMNS = (
    *("item_id", "subject", "decision", "removed_by", "reasons", "neighbour"),
    *("question", "choices", "answer"),
)
_ITEM_COLUMNS = {"subject": "", "question": "", "choices": None, "passage_id": None}
_ANSWER_COLUMNS = ("item_id", "model", "condition", "style", "shots", "correct", "score")
_QUESTION = "question"


class KnownResponses(NamedTuple):
    """Responses of m models to n items, and the items' texts if known.

    Attributes:
        source: their origin, as text.
        models: m sorted names; `<model>@<style>-<shots>` if a table states style and shots.
        item_ids: n ids, from files in natural order; `<task>/<row>` for logs of other tasks.
        correct: (m, n) float32 in [0, 1], NaN where a response is missing.
        items: columns item_id, subject, question, choices and passage_id of known items, or None.
        families: family by model, if a run saved them.
        curves: a run's `SamplingCurves`, or None.
        notes: caveats.
        unreadable: items by model whose answer in a file held no option; they count as wrong.
    """

    source: str
    models: tuple[str, ...]
    item_ids: tuple[str, ...]
    correct: NDArray[np.float32]
    items: pd.DataFrame | None = None
    families: Mapping[str, str] = {}
    curves: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()
    unreadable: Mapping[str, frozenset[str]] = {}

    def clusters(self) -> NDArray[np.intp]:
        """Return (n,) labels, equal for items that share a passage or stem."""
        rows = self._rows()
        return np.arange(len(self.item_ids)) if rows is None else item_clusters(rows)

    def subjects(self) -> NDArray[np.object_] | None:
        """Return the (n,) subjects; None for a single or unknown subject."""
        rows = self._rows()
        if rows is None or rows["subject"].nunique() < 2:
            return None
        return rows["subject"].astype(str).to_numpy(dtype=object)

    def strata(self) -> NDArray[np.intp] | None:
        """Return (n,) labels by subject; None for a single or unknown subject."""
        subjects = self.subjects()
        return None if subjects is None else pd.factorize(subjects, sort=True)[0]

    def item_texts(self) -> list[str]:
        """Return question and choices of the known items."""
        rows = self._rows()
        if rows is None:
            return []
        pairs = zip(rows["question"].astype(str), rows["choices"], strict=True)
        return [text for q, texts in pairs if (text := "\n".join([q, *map(str, texts)]).strip())]

    def _rows(self) -> pd.DataFrame | None:
        """Return a row per item, in order; unknown items have empty texts."""
        if self.items is None:
            return None
        rows = self.items.set_index("item_id").reindex(list(self.item_ids)).reset_index()
        empty = {"subject": "", "question": ""}
        return rows.fillna(empty).assign(choices=rows["choices"].map(_as_list))


def _as_list(choices: Any) -> list[str]:
    if isinstance(choices, str):
        return [choices]
    return [] if choices is None or isinstance(choices, float) else [str(c) for c in choices]


class SavedAudit(NamedTuple):
    """One saved item audit.

    Attributes:
        path: its item_audit.parquet.
        version: its version, "" if no run saved it.
        coverage: the rule_coverage.parquet of the same version, if it exists.
        where: benchmark and variant, from the folder names; "" without a version.
    """

    path: Path
    version: str
    coverage: Path | None
    where: str = ""

    @property
    def name(self) -> str:
        """The version, else the path."""
        return self.version or str(self.path)

    @property
    def stem(self) -> str:
        """The version, else the folder's name."""
        return self.version or self.path.parent.name


def known_responses(
    project: Path | None,
    env: str | None,
    files: Sequence[Path],
    params: Mapping[str, Any],
    items_file: Path | None = None,
) -> KnownResponses:
    """Read responses from files, or the latest that a run saved.

    Args:
        project: the project folder; not needed for files.
        env: as `--env`.
        files: tables, saved matrices, lm-eval logs, or folders of these.
        params: of the run, as for `find_run`.
        items_file: a table of items (item_id, question, choices, subject, passage_id).

    Raises:
        InputError: a file cannot be read, or no run has saved a matrix.
    """
    items = None if items_file is None else read_items(items_file)
    if files:
        responses = read_responses(files)
    elif project is not None:
        responses = _responses_of_run(project, env, params)
    else:
        raise ValueError("project must be given if there are no files")
    return responses if items is None else responses._replace(items=items)


def _responses_of_run(project: Path, env: str | None, params: Mapping[str, Any]) -> KnownResponses:
    try:
        run = find_run(project, ["response_matrix"], params, env)
    except InputError as error:
        raise InputError(f"{error}; run kedro run --pipeline answers, or give a file") from None

    def table(name: str) -> pd.DataFrame | None:
        return pd.read_parquet(path) if (path := run.path(name)).exists() else None

    matrix, items, models = run.load("response_matrix"), table("items"), table("models_table")
    return KnownResponses(
        str(run),
        matrix.models,
        matrix.item_ids,
        matrix.correct,
        None if items is None else _checked_items(items),
        {} if models is None else dict(zip(models["model"], models["family"], strict=True)),
        table("sampling_curves"),
    )


def select_answered(known: KnownResponses, all_items: bool = False) -> KnownResponses:
    """Select items that half of the models answered, then models that answered nearly all of them.

    With `all_items`, keep every item, and the models that answered nearly all items.

    Raises:
        InputError: no item or no model is left.
    """
    answered = ~np.isnan(known.correct)
    columns = np.asarray(answered.any(axis=0))
    if not all_items:
        columns &= answered.sum(axis=0) >= ANSWERED_BY * len(known.models)
    rows = answered[:, columns].mean(axis=1) >= MIN_COVERAGE if columns.any() else columns[:0]
    if not columns.any() or not rows.any():
        raise InputError(
            f"{known.source}: no model answered {MIN_COVERAGE:.0%} of the "
            f"{int(columns.sum()):,} items"
        )
    left_out = {
        "items that fewer than half of the models answered": int((~columns).sum()),
        f"models that answered fewer than {MIN_COVERAGE:.0%} of the items": int((~rows).sum()),
    }
    notes = (f"excluded: {count:,} {what}" for what, count in left_out.items() if count)
    return known._replace(
        models=tuple(np.array(known.models, object)[rows]),
        item_ids=tuple(np.array(known.item_ids, object)[columns]),
        correct=known.correct[np.ix_(rows, columns)],
        notes=(*known.notes, *notes),
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
    return _checked_items(table)


def _checked_items(table: pd.DataFrame) -> pd.DataFrame:
    lacking = {name: value for name, value in _ITEM_COLUMNS.items() if name not in table}
    table = table.assign(**lacking)[["item_id", *_ITEM_COLUMNS]].astype({"item_id": str})
    return table.fillna({"subject": "", "question": ""})


def find_audit(name: str, versions: Path, inside: Path) -> SavedAudit:
    """Find the audit that `name` refers to.

    Args:
        name: a version or its prefix, `latest`, `previous`, an audit file, the folder of a version,
            a folder of versions, a variant's folder, or a data folder.
        versions: the folder with the versions of this benchmark and variant.
        inside: the same folder, as a path in a data folder.

    Raises:
        InputError: there is no such audit; the message lists existing ones.
    """
    path = Path(name)
    if path.is_file():
        return _audit(path.resolve())
    if path.is_dir():
        for candidate in (path / AUDIT, path, path / inside):
            if candidate.is_file():
                return _audit(candidate.resolve())
            if known := saved_versions(candidate, AUDIT):
                return _audit(known[-1].resolve())
        raise InputError(f"{name}: no {AUDIT} in this folder or in {inside}")
    return _audit(_pick_version(name, versions))


def _pick_version(name: str, folder: Path) -> Path:
    known = {file.parent.name: file for file in saved_versions(folder)}
    if name in ("latest", "previous"):
        files = list(known.values())
        if not files:
            raise InputError(f"{name!r}: no run has saved {folder}; see benchwright list runs")
        if name == "previous" and len(files) < 2:
            raise InputError(f"'previous': {folder} has only one version, {files[0].parent.name}")
        return files[-1 if name == "latest" else -2]
    for file in folder.parent.glob(f"*/{AUDIT}/*/{AUDIT}"):  # of runs with a limit or seed
        known[file.parent.name] = file
    names = sorted(known, key=natural_key)
    matches = [version for version in names if version.startswith(name)]
    if len(matches) != 1:
        existing = ", ".join((matches or names)[-5:])
        problem = "matches several versions" if matches else "is neither a version nor a path"
        raise InputError(f"{name!r} {problem}; {folder} has {existing}")
    return known[matches[0]]


def _audit(path: Path) -> SavedAudit:
    """Describe an audit by its path; a run saves `…/item_audit.parquet/<version>/…`."""
    version, coverage, where = "", path.with_name(COVERAGE), ""
    if path.parent.parent.name == AUDIT:
        version = path.parent.name
        coverage = path.parents[2] / COVERAGE / version / COVERAGE
        where = " · ".join(path.as_posix().rpartition("/07_model_output/")[2].split("/")[-6:-3])
    return SavedAudit(path, version, coverage if coverage.is_file() else None, where)


def read_audit(path: Path) -> pd.DataFrame:
    """Read an item_audit.parquet with the columns that a comparison needs.

    Raises:
        InputError: it is not a Parquet file, or lacks a column.
    """
    try:
        audit = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a valid Parquet file: {error}") from error
    lacking = [column for column in _AUDIT_COLUMNS if column not in audit.columns]
    if lacking:
        raise InputError(f"{path}: not an item audit; missing columns: {', '.join(lacking)}")
    return audit


def read_responses(paths: Sequence[Path], items: pd.DataFrame | None = None) -> KnownResponses:
    """Read responses from files and folders of tables, saved matrices and logs.

    A tidy table has a row per item and model with `correct` or `score`; a wide table has items and
    models as rows and columns, with values 0–1. Logs are those of evaluation tools, and give the
    texts of the items, with the options as part of the question. The first response of a model to
    an item counts, with tables before logs; a note reports the others. `items` are those that logs
    are joined to, an `Items` table; None makes them of the logs.

    Raises:
        InputError: a file is missing, has another format, or has no response.
    """
    found = find_logs(paths)
    files = [file for path in paths for file in _tables_in(path, found.others)]
    matrices = [file for file in files if is_response_matrix(file)]
    tables = [file for file in files if file not in matrices]
    if not files and not found.logs:
        expected = f"logs of evaluation tools or {', '.join(TABLE_TYPES)} files"
        raise InputError(f"{paths[0]}: no responses; expected {expected}")
    notes: list[str] = []
    unreadable: dict[str, frozenset[str]] = {}
    texts = None
    frames = [
        pd.DataFrame(saved.correct, index=list(saved.models), columns=list(saved.item_ids))
        for saved in (ResponseMatrixDataset(filepath=str(file)).load() for file in matrices)
    ]
    if tables:
        loaded = {str(file): _loaded(file) for file in tables}
        frames.append(_tables(loaded, notes, unreadable))
    if found.logs:
        items = items_of_logs(found.logs) if items is None else items
        frames.append(_logs(found.logs, items, notes, unreadable))
        texts = _checked_items(items.assign(question=_texts(items)))
    source = ", ".join(path.name for path in paths)
    known = _known(source, _combine(frames, notes), texts, notes)
    return known._replace(unreadable=unreadable)


def responses_of_tables(files: Mapping[str, LoadedFile], source: str) -> KnownResponses:
    """Return the responses in tables that are loaded already; see `read_responses`.

    Raises:
        InputError: a table has another format or no response.
    """
    notes: list[str] = []
    loaded = {name: _with_layout(file) for name, file in files.items()}
    return _known(source, _tables(loaded, notes, {}), None, notes)


def _known(
    source: str, frame: pd.DataFrame, items: pd.DataFrame | None, notes: Sequence[str]
) -> KnownResponses:
    frame = frame.loc[sorted(frame.index), sorted(frame.columns, key=natural_key)]
    models, item_ids = (tuple(map(str, names)) for names in (frame.index, frame.columns))
    correct = frame.to_numpy(np.float32)
    return KnownResponses(source, models, item_ids, correct, items, notes=tuple(notes))


def _tables_in(path: Path, others: Sequence[Path]) -> list[Path]:
    """Return a table, or the tables in a folder but not in its subfolders."""
    if path.is_dir():
        return [p for p in others if p.parent == path and p.name.endswith(TABLE_TYPES)]
    if path in others and not path.name.endswith(TABLE_TYPES):
        raise InputError(f"{path}: unknown file type; expected one of {', '.join(TABLE_TYPES)}")
    return [path] if path in others else []


def _tables(
    loaded: dict[str, LoadedFile], notes: list[str], unreadable: dict[str, frozenset[str]]
) -> pd.DataFrame:
    """Import tidy and wide tables as a run does, with the items that they name."""
    return _imported(loaded, nameless_items(loaded), notes, unreadable)


def _imported(
    loaded: dict[str, LoadedFile],
    items: pd.DataFrame,
    notes: list[str],
    unreadable: dict[str, frozenset[str]],
) -> pd.DataFrame:
    imported = import_responses(loaded, items, items.head(0))
    for row, file in zip(imported.import_report.to_dict("records"), loaded, strict=True):
        if row["doubled"] or row["dropped"] or row["not_joined"] or row["failed"]:
            notes.append(f"{Path(file).name}: {row['detail']}")
    built = build_response_matrices(
        Responses.empty(),
        imported.imported_responses,
        imported.wide_matrices,
        Calibration.empty(),
        items,
    )
    matrix, rows = built.response_matrix, built.responses
    lost = rows[(rows["extraction"] == "failed") & (rows["condition"] == _QUESTION)]
    for (model, style, shots), ids in lost.groupby(["model", "style", "shots"])["item_id"]:
        name = configuration_name(str(model), str(style), int(str(shots)))
        unreadable[name] = unreadable.get(name, frozenset()) | set(ids)
    if not matrix.models:
        raise InputError(f"{next(iter(loaded))}: no responses under the condition {_QUESTION}")
    return pd.DataFrame(matrix.correct, index=list(matrix.models), columns=list(matrix.item_ids))


def _loaded(file: Path) -> LoadedFile:
    # Files in different folders may share a name, so paths identify them.
    spec = ResponseFileParams(file="answers.csv").model_copy(update={"file": str(file)})
    return _with_layout(LoadedFile(spec, read_table(file)))


def _with_layout(file: LoadedFile) -> LoadedFile:
    """Return a table with its layout, which must state correctness: the options are unknown."""
    spec, table = file.spec, file.table
    names: list[str] = getattr(table, "column_names", [])
    if table is None or not {"item_id", "model"} <= set(names):
        return LoadedFile(spec.model_copy(update={"layout": "wide", "values": "correct"}), table)
    if not {"correct", "score"} & set(names):
        raise InputError(
            f"{file.name}: no column 'correct' or 'score' (0–1); a run reads letters and "
            "probabilities: list the file in the benchmark and use --benchmark"
        )
    table = table.select([name for name in names if name in _ANSWER_COLUMNS])
    return LoadedFile(spec.model_copy(update={"layout": "tidy"}), table)


def _item_ids(file: str, loaded: LoadedFile) -> list[str]:
    table = loaded.table
    if table is None:
        return []
    names = table.column_names
    if "item_id" in names:
        return [str(name) for name in table["item_id"].to_pylist() if name is not None]
    if "model" in names:
        return [name for name in names if name != "model"]
    raise InputError(f"{file}: no column 'item_id' or 'model'; it has {', '.join(names[:12])}")


def nameless_items(files: Mapping[str, LoadedFile]) -> pd.DataFrame:
    """Return an open-ended item for each id in the tables, since nothing else is known of it.

    Raises:
        InputError: a table has no items.
    """
    ids = sorted({item for name, file in files.items() for item in _item_ids(name, file)})
    if not ids:
        raise InputError(f"{next(iter(files))}: no item ids")
    columns = Items.empty().columns
    blank = dict.fromkeys(columns) | {"split": "test", "subject": "", "answer": -1}
    blank |= {"choices": [], "answer_text": "", "correct_set": []}
    rows = [
        blank | {"item_id": name, "question": name, "content_hash": content_hash(name)}
        for name in ids
    ]
    return pd.DataFrame(rows, columns=columns)


def _logs(
    logs: Sequence[Log],
    items: pd.DataFrame,
    notes: list[str],
    unreadable: dict[str, frozenset[str]],
) -> pd.DataFrame:
    """Join logs to items; a log of several tools names one model apart."""
    entry = ResponseFileParams(file="log.json")
    specs = [entry.model_copy(update={"file": str(log.files[0])}) for log in logs]
    named = told_apart([log_file(log, spec) for log, spec in zip(logs, specs, strict=True)])
    return _imported({file.name: file for file in named}, items, notes, unreadable)


def _texts(items: pd.DataFrame) -> list[str]:
    """Return questions with their options, a line each."""
    texts = zip(items["question"], items["choices"], strict=True)
    return ["\n".join([question, *choices]).strip() for question, choices in texts]


def _combine(frames: Sequence[pd.DataFrame], notes: list[str]) -> pd.DataFrame:
    out = frames[0]
    for frame in frames[1:]:
        rows = out.index.intersection(frame.index)
        columns = out.columns.intersection(frame.columns)
        both = (out.loc[rows, columns].notna() & frame.loc[rows, columns].notna()).to_numpy().sum()
        if both:
            notes.append(f"{both:,} responses are in several kinds of files; the first counts")
        out = out.combine_first(frame)
    return out
