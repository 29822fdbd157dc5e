"""The closed half: sealed, opened in memory, and told of under keyed ids."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as shown
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

from benchwright.core.atomic_files import written_aside
from benchwright.core.errors import InputError
from benchwright.datasets.half_scores import SealedIdentity
from benchwright.methods.mmlu_cf.sealing.key import KeyedNames, SealKey, read_sealed, write_sealed
from benchwright.tables.mmlu_cf import LeakPairs

VALIDATION, TEST, CARD, MANIFEST = "validation.jsonl", "test.sealed", "README.md", "manifest.json"


class SealedFiles(NamedTuple):
    """What was written."""

    validation: Path
    card: Path
    test: Path
    manifest: Path


@dataclass(frozen=True)
class SealedItem:
    """A closed question, in memory; its representation shows nothing of it.

    `cluster` is the keyed hash of its passage or document, its own id where it has none.
    """

    item_id: str
    field: str
    difficulty: int | None
    question: str = shown(repr=False)
    choices: tuple[str, ...] = shown(repr=False)
    answer: int = shown(repr=False)
    cluster: str = shown(repr=False)

    def __reduce__(self) -> str:
        raise TypeError("sealed items are not pickled")


@dataclass(frozen=True)
class SealedBenchmark:
    """The closed half, in memory."""

    name: str
    canary: str = shown(repr=False)
    items: tuple[SealedItem, ...] = shown(repr=False)


def seal_halves(
    items: pd.DataFrame, assignment: pd.DataFrame, folder: Path, name: str, key: SealKey
) -> SealedFiles:
    """Write `validation.jsonl`, its card, `test.sealed` and a manifest into a folder.

    Nothing of a test item is written in the clear: no text, no answer, no address, no hash that a
    guess could be checked against without the key.

    Args:
        items: columns item_id, question, choices, answer, field, difficulty; passage, doc_id, url,
            domain and explanation where there are any.
        assignment: a `SplitAssignment` of (some of) them.
        folder: made where absent; files in it are replaced.
        name: of the benchmark.
        key: seals the test half.

    Raises:
        InputError: an assigned item is missing, a half is empty, or a gold is none of the options.
    """
    halves = _halves(items, assignment)
    names = KeyedNames(key, name)
    canary = names.canary("validation")
    public = [_public_row(row, canary) for row in halves["validation"]]
    closed = sorted(
        (_closed_row(row, names) for row in halves["test"]), key=lambda row: str(row["item_id"])
    )
    files = SealedFiles(*(folder / one for one in (VALIDATION, CARD, TEST, MANIFEST)))
    _write(files.validation, _lines(public))
    about = {"name": name, "half": "test", "canary": names.canary("test"), "items": len(closed)}
    write_sealed(files.test, _lines([about, *closed]), key)
    _write(files.card, _card(name, len(public), len(closed), canary).encode())
    manifest = {
        "name": name,
        "canary": canary,
        "validation": {
            "file": VALIDATION,
            "items": len(public),
            "sha256": file_hash(files.validation),
        },
        "test": {"file": TEST, "items": len(closed), "sha256": file_hash(files.test)},
        "fields": {
            half: dict(sorted(Counter(str(row["field"]) for row in rows).items()))
            for half, rows in halves.items()
        },
    }
    _write(files.manifest, (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode())
    return files


def keyed_assignment(assignment: pd.DataFrame, key: SealKey, name: str) -> pd.DataFrame:
    """A `SplitAssignment` that may be saved: test items by their keyed ids."""
    names = KeyedNames(key, name)
    closed = assignment["half"].eq("test")
    ids = assignment["item_id"].where(~closed, assignment["item_id"].map(names.item_id))
    return assignment.assign(item_id=ids).sort_values("item_id", ignore_index=True)


def open_sealed(path: Path, key: SealKey) -> SealedBenchmark:
    """The closed half, in memory; nothing is written.

    Raises:
        InputError: see `read_sealed`.
    """
    try:
        about, *rows = (json.loads(line) for line in read_sealed(path, key).splitlines())
        items = tuple(SealedItem(**{**row, "choices": tuple(row["choices"])}) for row in rows)
        return SealedBenchmark(str(about["name"]), str(about["canary"]), items)
    except InputError:
        raise
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path}: sealed by another version; its items cannot be read") from None


def _halves(items: pd.DataFrame, assignment: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, Any] = {str(row["item_id"]): row for row in items.to_dict("records")}
    halves: dict[str, list[dict[str, Any]]] = {"validation": [], "test": []}
    for item_id, half in zip(assignment["item_id"], assignment["half"], strict=True):
        if item_id not in rows:
            raise InputError(f"sealing: item {item_id!r} of the split is not among the items")
        row = rows[item_id]
        if not 0 <= int(row["answer"]) < len(row["choices"]):
            raise InputError(
                f"sealing: item {item_id!r} has answer {row['answer']}; an index into its "
                f"{len(row['choices'])} choices is accepted"
            )
        halves[half].append(row)
    for half, own in halves.items():
        if not own:
            raise InputError(f"sealing: the {half} half has no items")
    return halves


def _body(row: Mapping[str, Any]) -> dict[str, Any]:
    """What a model is shown and how it is judged, alike in both halves."""
    passage = _text(row.get("passage"))
    question = str(row["question"])
    level = row.get("difficulty")
    return {
        "field": str(row["field"]),
        "difficulty": None if level is None or pd.isna(level) else int(level),
        "question": f"{passage}\n\n{question}" if passage else question,
        "choices": [str(choice) for choice in row["choices"]],
        "answer": int(row["answer"]),
    }


def _public_row(row: Mapping[str, Any], canary: str) -> dict[str, Any]:
    more = {name: _text(row.get(name)) or None for name in ("explanation", "domain", "url")}
    cluster = _cluster(row)
    digest = hashlib.sha256(cluster.encode()).hexdigest()[:32] if cluster else row["item_id"]
    return {"item_id": row["item_id"], **_body(row), "cluster": digest, **more, "canary": canary}


def _closed_row(row: Mapping[str, Any], names: KeyedNames) -> dict[str, Any]:
    item_id, cluster = names.item_id(str(row["item_id"])), _cluster(row)
    own = names.cluster(cluster) if cluster else item_id
    return {"item_id": item_id, **_body(row), "cluster": own}


def _cluster(row: Mapping[str, Any]) -> str:
    return _text(row.get("passage")) or _text(row.get("doc_id"))


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _write(path: Path, content: bytes) -> None:
    with written_aside(path) as aside:
        aside.write_bytes(content)


def _card(name: str, n_public: int, n_closed: int, canary: str) -> str:
    return f"""# {name}

Multiple-choice questions in two halves with the same distribution of fields and difficulty.

- `{VALIDATION}`: {n_public} public questions, one JSON object per line (`item_id`, `field`,
  `difficulty` 0–9, `question`, `choices`, `answer` as an index from 0, `cluster`, `explanation`,
  `domain`, `url`, `canary`).
- `{TEST}`: {n_closed} closed questions, encrypted. Models are scored on them with
  `benchwright evaluate-sealed`, which tells accuracies only.
- `{MANIFEST}`: counts and SHA-256 of both files.

These questions are for testing. Please keep them out of training data; filter by this string:

    {name} canary {canary}
"""


def sealed_identity(file: Path, half: Literal["validation", "test"]) -> SealedIdentity:
    """The benchmark of `validation.jsonl` or `test.sealed`; nothing is opened.

    Raises:
        InputError: there is no manifest beside the file, or it is of another one.
    """
    manifest = file.parent / MANIFEST
    try:
        told = json.loads(manifest.read_text(encoding="utf-8"))
        hashes = {name: str(told[name]["sha256"]) for name in ("validation", "test")}
        identity = SealedIdentity(name=told["name"], canary=told["canary"], **hashes)
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(
            f"{manifest}: cannot be read ({type(error).__name__}); figures are saved with the "
            "manifest that was written beside the halves, so that they are never paired with "
            "another benchmark's"
        ) from None
    if file_hash(file) != hashes[half]:
        raise InputError(
            f"{file}: {manifest} is of another {half} half; keep the files of one sealing together"
        )
    return identity


def file_hash(file: Path) -> str:
    """SHA-256 of a file.

    Raises:
        InputError: it cannot be read.
    """
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({type(error).__name__})") from None


def keyed_leak_pairs(
    pairs: pd.DataFrame, assignment: pd.DataFrame, key: SealKey, name: str
) -> pd.DataFrame:
    """A `LeakPairs` table in which only public items have their own ids.

    Items that were dropped have keyed ids as well: one may say what a closed item says.

    Args:
        pairs: a `LeakPairs` table with the items' own ids.
        assignment: the `SplitAssignment` of the items that stayed, with their own ids.
        key: of the sealed benchmark.
        name: of the benchmark.

    Returns:
        The pairs by their new ids, each in order.
    """
    if pairs.empty:
        return LeakPairs.empty()
    names = KeyedNames(key, name)
    public = set(assignment.loc[assignment["half"].eq("validation"), "item_id"])

    def told(item_id: str) -> str:
        return item_id if item_id in public or not item_id else names.item_id(item_id)

    both = zip(pairs["item_id"].map(told), pairs["other"].map(told), strict=True)
    ids, others = zip(*map(sorted, both), strict=True)
    keyed = pairs.assign(item_id=ids, other=others, removed=pairs["removed"].map(told))
    keyed = keyed.sort_values(["item_id", "other"], ignore_index=True)
    return pd.DataFrame(LeakPairs.validate(keyed))
