"""The closed half: seal it, open it in memory, score models on it, and refer to it by keyed ids."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as column
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.core.array_types import Bools, Floats, Integers
from benchwright.core.errors import InputError
from benchwright.datasets.half_scores import GroupResult, SealedIdentity
from benchwright.exports.hub_folder import card_licence
from benchwright.methods.mmlu_cf.sealing.key import KeyedNames, SealKey, read_sealed, seal_bytes
from benchwright.statistics.paired_differences import clustered_se
from benchwright.transforms.altered_item import MultipleChoice
from benchwright.transforms.released_order import leak_test_facts, released_order

VALIDATION = "validation.jsonl"
TEST = "test.sealed"
CARD = "README.md"
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class SealedItem:
    """A closed question, in memory; its representation hides the texts.

    `cluster` is the keyed hash of its passage or document, or its own id.
    """

    item_id: str
    field: str
    difficulty: int | None
    question: str = column(repr=False)
    choices: tuple[str, ...] = column(repr=False)
    answer: int = column(repr=False)
    cluster: str = column(repr=False)

    def __reduce__(self) -> str:
        raise TypeError("sealed items cannot be pickled")


@dataclass(frozen=True)
class SealedBenchmark:
    """The closed half, in memory."""

    name: str
    canary: str = column(repr=False)
    items: tuple[SealedItem, ...] = column(repr=False)


def seal_halves(
    items: pd.DataFrame, assignment: pd.DataFrame, name: str, key: SealKey, licence: str = ""
) -> dict[str, bytes]:
    """Make the content of `validation.jsonl`, a card, `test.sealed` and a manifest, by name.

    Nothing of a test item is in the clear: no text, answer or address, and no hash against
    which a guess could be checked without the key. The options of public items are in orders that
    the key chose (`released_order`), for `benchwright leak-test`. `licence` is that of the
    documents.

    `items` have item_id, question, choices, answer, field, difficulty; optionally passage, doc_id,
    url, domain and explanation. `assignment` is a `SplitAssignment` of some or all of them.

    Raises:
        InputError: a half is empty.
    """
    halves = _halves(items, assignment)
    names = KeyedNames(key, name)
    canary = names.canary("validation")
    public = [_public_row(row, canary, names.orders) for row in halves["validation"]]
    closed = [_closed_row(row, names) for row in halves["test"]]
    closed.sort(key=lambda row: str(row["item_id"]))
    first = {"name": name, "half": "test", "canary": names.canary("test"), "items": len(closed)}
    validation = _lines(public)
    test = seal_bytes(_lines([first, *closed]), key)
    manifest = {
        "name": name,
        "canary": canary,
        "leak_test": leak_test_facts(names.orders, VALIDATION),
        "validation": _file_entry(VALIDATION, validation, len(public)),
        "test": _file_entry(TEST, test, len(closed)),
        "fields": {half: _field_counts(rows) for half, rows in halves.items()},
    }
    return {
        VALIDATION: validation,
        CARD: _card(name, public, len(closed), licence).encode(),
        TEST: test,
        MANIFEST: (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode(),
    }


def _file_entry(file: str, content: bytes, items: int) -> dict[str, Any]:
    return {"file": file, "items": items, "sha256": hashlib.sha256(content).hexdigest()}


def _field_counts(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    return dict(sorted(Counter(str(row["field"]) for row in rows).items()))


def public_assignment(assignment: pd.DataFrame, key: SealKey, name: str) -> pd.DataFrame:
    """Return a `SplitAssignment` that may be saved, with keyed ids of test items."""
    names = KeyedNames(key, name)
    closed = assignment["half"].eq("test")
    ids = assignment["item_id"].where(~closed, assignment["item_id"].map(names.item_id))
    return assignment.assign(item_id=ids).sort_values("item_id", ignore_index=True)


def open_sealed(path: Path, key: SealKey) -> SealedBenchmark:
    """Open the closed half in memory, as `read_sealed`; nothing is written."""
    try:
        first, *rows = map(json.loads, read_sealed(path, key).splitlines())
        items = tuple(SealedItem(**row | {"choices": tuple(row["choices"])}) for row in rows)
        return SealedBenchmark(str(first["name"]), str(first["canary"]), items)
    except InputError:
        raise
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path}: sealed by another version; its items cannot be read") from None


def _halves(items: pd.DataFrame, assignment: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, Any] = {str(row["item_id"]): row for row in items.to_dict("records")}
    halves: dict[str, list[dict[str, Any]]] = {"validation": [], "test": []}
    for item_id, half in zip(assignment["item_id"], assignment["half"], strict=True):
        halves[half].append(rows[item_id])
    for half, members in halves.items():
        if not members:
            raise InputError(f"sealing: the {half} half has no items")
    return halves


def _body(row: Mapping[str, Any]) -> dict[str, Any]:
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


def _public_row(row: Mapping[str, Any], canary: str, orders: bytes) -> dict[str, Any]:
    more = {name: _text(row.get(name)) or None for name in ("explanation", "domain", "url")}
    cluster = _cluster(row)
    digest = hashlib.sha256(cluster.encode()).hexdigest()[:32] if cluster else row["item_id"]
    body = _body(row)
    choices = tuple(body["choices"])
    item = MultipleChoice(str(row["item_id"]), body["question"], choices, answer=body["answer"])
    released = released_order(item, orders)
    body |= {"choices": list(released.choices), "answer": released.answer}
    return {"item_id": row["item_id"], **body, "cluster": digest, **more, "canary": canary}


def _closed_row(row: Mapping[str, Any], names: KeyedNames) -> dict[str, Any]:
    item_id = names.item_id(str(row["item_id"]))
    cluster = _cluster(row)
    keyed = names.cluster(cluster) if cluster else item_id
    return {"item_id": item_id, **_body(row), "cluster": keyed}


def _cluster(row: Mapping[str, Any]) -> str:
    return _text(row.get("passage")) or _text(row.get("doc_id"))


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def _card(name: str, public: Sequence[Mapping[str, Any]], n_closed: int, licence: str) -> str:
    canary = public[0]["canary"]
    domains = {row["domain"] for row in public} - {None}
    return f"""---
pretty_name: {name}
{card_licence(licence or "unknown")}
task_categories: [multiple-choice, question-answering]
tags: [benchwright, evaluation]
configs:
  - config_name: default
    data_files: [{{split: validation, path: {VALIDATION}}}]
---

# {name}

Multiple-choice questions from web documents ({len(domains)} domains in the public half), in two
halves with the same distribution of fields and difficulty.

- `{VALIDATION}`: {len(public)} public questions, one JSON object per line (`item_id`, `field`,
  `difficulty` 0–9, `question`, `choices`, `answer` as an index from 0, `cluster`, `explanation`,
  `domain`, `url`, `canary`).
- `{TEST}`: {n_closed} closed questions, encrypted. Models are scored on them with
  `benchwright evaluate-sealed`, which reports accuracies only.
- `{MANIFEST}`: counts and SHA-256 of both files.

A secret key chose the order of the options of each public question; its hash is
`leak_test.commitment` in `{MANIFEST}`. `benchwright leak-test` tells from these orders whether a
model was trained on the public half.

These questions are for testing. Please keep them out of training data; filter by this string:

    {name} canary {canary}
"""


def sealed_identity(file: Path, half: Literal["validation", "test"]) -> SealedIdentity:
    """Read from the manifest which benchmark a `validation.jsonl` or `test.sealed` belongs to.

    Raises:
        InputError: there is no manifest beside the file, or it belongs to another file.
    """
    manifest = file.parent / MANIFEST
    try:
        content = json.loads(manifest.read_text(encoding="utf-8"))
        hashes = {name: str(content[name]["sha256"]) for name in ("validation", "test")}
        identity = SealedIdentity(name=content["name"], canary=content["canary"], **hashes)
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(
            f"{manifest}: cannot be read ({type(error).__name__}); results are only saved with the "
            "manifest that was written with the halves"
        ) from None
    if file_hash(file) != hashes[half]:
        raise InputError(
            f"{file}: {manifest} is of another {half} half; keep the files of one sealing together"
        )
    return identity


def file_hash(file: Path) -> str:
    """Compute the SHA-256 of a file; InputError if it cannot be read."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({type(error).__name__})") from None


Scorer = Callable[[Sequence[SealedItem]], Sequence[float | None]]
"""Scores a model on each item, 0–1 in their order; None without an answer."""

OTHER = "other fields"


class SealedScore(NamedTuple):
    """A model on the closed half: all fields, fields with enough items, and the others together.

    `unanswered` counts items without an answer; `reason` says why accuracies are withheld, or "".
    """

    whole: GroupResult
    fields: dict[str, GroupResult]
    unanswered: int
    reason: str = ""


def evaluate_sealed(sealed: SealedBenchmark, scorer: Scorer, min_group: int) -> SealedScore:
    """Score a model on the closed half and report aggregates only.

    A field is reported separately if at least `min_group` of its items were answered. The others
    are reported together, joined by the smallest of the large ones if they are still too few,
    because their accuracy would otherwise follow from the total. With fewer answers in total,
    nothing is reported.
    """
    correct = np.array(scorer(sealed.items), dtype=np.float64)  # None becomes NaN
    known = int(np.isfinite(correct).sum())
    unanswered = len(correct) - known
    if known < min_group:
        reason = f"{known} answers; accuracies of fewer than {min_group} are withheld"
        return SealedScore(GroupResult(n=known, accuracy=None, se=None), {}, unanswered, reason)
    _, clusters = np.unique([item.cluster for item in sealed.items], return_inverse=True)
    whole = _score(correct, clusters)
    field = np.array([item.field for item in sealed.items], dtype=object)
    fields = {}
    for name, members in _groups(field, ~np.isnan(correct), min_group):
        own = np.isin(field, members)
        fields[name] = _score(correct[own], clusters[own])
    return SealedScore(whole, fields, unanswered)


def _groups(
    field: NDArray[np.object_], answered: Bools, min_group: int
) -> list[tuple[str, list[str]]]:
    """Return the name and the fields of each group that is reported."""
    known = Counter(field[answered])
    sizes = {name: known[name] for name in sorted(set(field))}
    small = [name for name, size in sizes.items() if size < min_group]
    large = sorted(set(sizes) - set(small), key=lambda name: (sizes[name], name))
    while small and sum(sizes[name] for name in small) < min_group and large:
        small.append(large.pop(0))
    groups = [(name, [name]) for name in sorted(large)]
    return [*groups, (OTHER, small)] if small else groups


def _score(correct: Floats, clusters: Integers) -> GroupResult:
    error = float(clustered_se(correct[None, :], clusters)[0])
    answered = int((~np.isnan(correct)).sum())
    se = None if np.isnan(error) else error
    return GroupResult(n=answered, accuracy=float(np.nanmean(correct)), se=se)
