"""Two models' answers to the same items, and what is missing of them."""

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.answers.answer_files import Choice, find_answer_files, is_address
from benchwright.answers.items_of_logs import collect_items
from benchwright.answers.known_responses import KnownResponses, read_items, read_responses
from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError, expected
from benchwright.core.natural_order import natural_key
from benchwright.core.values import LETTERS
from benchwright.core.wording import count
from benchwright.statistics.paired_tests import PairedDifference


class Side(NamedTuple):
    """A model whose answers are compared.

    Attributes:
        source: its file or folder.
        model: its name there.
        accuracy: its mean score, a share of the scale, on the items that both answered.
        missing: number of the pair's items to which it has no answer.
        unreadable: number of them whose answer could not be read, and counts as wrong.
    """

    source: str
    model: str
    accuracy: float
    missing: int
    unreadable: int


class Scale(NamedTuple):
    """Lowest and highest score, in which results are written."""

    low: float = 0.0
    high: float = 1.0

    @property
    def width(self) -> float:
        """The width in points."""
        return 100.0 if self == Scale() else self.high - self.low

    def points(self, share: float, *, signed: bool = False) -> str:
        """Write a difference of shares in points, of which a scale of 0 to 1 has 100."""
        if np.isnan(share):
            return "–"
        return f"{self.width * share:{'+' if signed else ''}.2f}".replace("-", "−")

    def between(self, low: float, high: float) -> str:
        """Write the bounds of a difference of shares in points."""
        return f"[{self.points(low, signed=True)}, {self.points(high, signed=True)}]"

    def estimate(self, found: PairedDifference, unit: str = " points") -> str:
        """Write a difference of shares and its bounds in points."""
        mean = self.points(found.difference, signed=True)
        return f"{mean}{unit} {self.between(found.low, found.high)}"

    def mean(self, share: float) -> str:
        """Write a mean score."""
        if self == Scale():
            return f"{self.points(share)}%"
        return f"{self.low + (self.high - self.low) * share:.3g} of {self.low:g}–{self.high:g}"


class Pair(NamedTuple):
    """Two models' answers to the n items that either was asked, in natural order of the ids.

    Attributes:
        first, second: the models A and B.
        item_ids: n ids.
        answers: (2, n) shares in [0, 1], NaN where an answer is missing.
        clusters: (n,) labels, equal for items of one passage or stem.
        groups: (n,) tasks, of a single task subjects, or None.
        notes: caveats.
        scale: of the scores.
        left_out: number of items that only one side was asked, left out by request.
        questions: (n,) texts, or None.
        chosen: (2, n) letters of the chosen options, "" where unknown.
        grouped_by: `task` or `subject`.
        contradicting: lines on answers whose mark or file contradicts the key of the item.
        items: texts of known items, as in `KnownResponses`.
        unread: (2, n), which answers could not be read, and count as wrong; or None.
    """

    first: Side
    second: Side
    item_ids: tuple[str, ...]
    answers: NDArray[np.float64]
    clusters: NDArray[np.intp]
    groups: NDArray[np.object_] | None
    notes: tuple[str, ...] = ()
    scale: Scale = Scale()
    left_out: int = 0
    questions: NDArray[np.object_] | None = None
    chosen: NDArray[np.object_] | None = None
    grouped_by: str = "subject"
    contradicting: tuple[str, ...] = ()
    items: pd.DataFrame | None = None
    unread: NDArray[np.bool_] | None = None

    @property
    def d(self) -> NDArray[np.float64]:
        """Differences (n,), B − A, NaN where an answer is missing."""
        return self.answers[1] - self.answers[0]

    @property
    def both(self) -> NDArray[np.bool_]:
        """Which items (n,) both answered."""
        return ~np.isnan(self.d)

    def select(self, places: NDArray[np.intp]) -> "Pair":
        """Return the pair on the items at some places; −1 is an item that nobody answered."""
        known = places >= 0

        def picked(values: Any, otherwise: Any = "") -> Any:
            return None if values is None else np.where(known, values[..., places], otherwise)

        answers = picked(self.answers, np.nan)
        both = ~np.isnan(answers).any(axis=0)
        unread = picked(self.unread, otherwise=False)
        counts = (0, 0) if unread is None else unread.sum(axis=1)
        first, second = (
            Side(side.source, side.model, float(row[both].mean()), int(np.isnan(row).sum()), int(k))
            for side, row, k in zip((self.first, self.second), answers, counts, strict=True)
        )
        return self._replace(
            first=first,
            second=second,
            item_ids=tuple(picked(np.array(self.item_ids, object))),
            answers=answers,
            clusters=picked(self.clusters, self.clusters.max() + 1 + np.arange(len(places))),
            groups=picked(self.groups),
            questions=picked(self.questions),
            chosen=picked(self.chosen),
            unread=unread,
        )

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the differences (n,) at their lowest, and at their highest.

        Missing answers of B are wrong and those of A right at the lowest, else the other way.
        """
        first, second = self.answers
        lowest = np.nan_to_num(second, nan=0.0) - np.nan_to_num(first, nan=1.0)
        highest = np.nan_to_num(second, nan=1.0) - np.nan_to_num(first, nan=0.0)
        return lowest, highest


def read_pair(
    a: str,
    b: str,
    items_file: Path | None = None,
    choice: Choice = Choice(),  # noqa: B008 - immutable
    *,
    common: bool = False,
    whole: bool = False,
) -> Pair:
    """Read two models' answers, and join those to the same items.

    Args:
        a: a file or folder, or `PATH:MODEL` with the name of a model or of its configuration.
        b: the same.
        items_file: a table of items with subject and passage_id, by item_id.
        choice: which answers count.
        common: leave out the items that only one of them was asked.
        whole: refuse files of which a part cannot be used.

    Raises:
        InputError: a path or model is unknown or ambiguous, a model has several answers to an item,
            or no item was answered by both.
    """
    (path_a, model_a), (path_b, model_b) = _split(a), _split(b)
    read = _read_answers(dict.fromkeys([(path_a,), (path_b,)]), choice, items_file)
    known = (read.known[path_a,], read.known[path_b,])
    if whole and (problems := [problem for part in known for problem in part.unusable]):
        raise InputError(f"{problems[0]}; nothing is decided on a part of the files")
    names = (_choose(known[0], model_a), _choose(known[1], model_b))
    pair = _join(known, names, read, common=common)
    same = ["A and B are the same answers"] * (path_a == path_b and names[0] == names[1])
    notes = dict.fromkeys((*same, *pair.notes, *known[0].notes, *known[1].notes))
    contrary = tuple(dict.fromkeys((*known[0].contradicting, *known[1].contradicting)))
    return pair._replace(notes=tuple(notes), contradicting=contrary, items=read.about)


class Panel(NamedTuple):
    """Pairs of a baseline, A, and each of the other models, B; notes on all and on some of them."""

    baseline: str
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]
    left_out: tuple[str, ...]  # a line with the models and files that could not be used, or none


def read_panel(
    paths: Sequence[Path],
    baseline: str,
    items_file: Path | None = None,
    choice: Choice = Choice(),  # noqa: B008 - immutable
    *,
    common: bool = False,
) -> Panel:
    """Pair a baseline with each of the other models in files and folders.

    The arguments are those of `read_pair`. A model that answered none of the baseline's items, or
    has several answers to one, has a note instead of a pair.

    Raises:
        InputError: as for `read_pair`, or there is no other model.
    """
    read = _read_answers([tuple(paths)], choice, items_file)
    known = read.known[tuple(paths)]
    first = _choose(known, baseline)
    _answers(known, first)  # an error of the baseline is not one of each other model
    pairs, reasons = [], {}
    for name in known.models:
        if name == first:
            continue
        try:
            pairs.append(_join((known, known), (first, name), read, common=common))
        except InputError as error:
            reasons[name] = f"left out: {error}"
    if not pairs:
        raise InputError(f"{known.source}: no model answered an item that {first} answered")
    lost = [f"{count(len(reasons), 'model')} ({', '.join(reasons)})"] * bool(reasons)
    lost += [count(len(known.unusable), "unusable file")] * bool(known.unusable)
    left_out = [f"left out: {' and '.join(lost)}; see the notes"] * bool(lost)
    return Panel(first, tuple(pairs), (*reasons.values(), *known.notes), tuple(left_out))


class _Read(NamedTuple):
    """Answers by their paths, what is known of the items, the tasks by item, and the scale."""

    known: dict[tuple[Path, ...], KnownResponses]
    about: pd.DataFrame
    tasks: Mapping[str, str]
    scale: Scale


def _read_answers(
    parts: Collection[tuple[Path, ...]], choice: Choice, items_file: Path | None
) -> _Read:
    logs = [log for paths in parts for log in find_answer_files(paths, choice).logs]
    of_logs = collect_items(logs) if logs else None
    items = None if of_logs is None else of_logs.items
    known = {paths: read_responses(paths, items, choice) for paths in parts}
    scale = Scale(*choice.scale)
    if items_file:
        return _Read(known, read_items(items_file), {}, scale)
    about = pd.concat([part.items for part in known.values()])
    about = about.sort_values("subject", ascending=False, kind="stable").drop_duplicates("item_id")
    return _Read(known, about, {} if of_logs is None else of_logs.tasks, scale)


def _join(
    known: tuple[KnownResponses, KnownResponses],
    names: tuple[str, str],
    read: _Read,
    *,
    common: bool,
) -> Pair:
    """Join two models' answers to the same items."""
    rows = [_answers(part, name) for part, name in zip(known, names, strict=True)]
    asked = [row.index for row in rows]
    either = asked[0].union(asked[1])
    chosen_ids = asked[0].intersection(asked[1]) if common else either
    wide = [set().union(*k.listed.get(name, ())) for k, name in zip(known, names, strict=True)]
    empty = (wide[0] & wide[1]).difference(either)  # asked, and answered by neither
    ids = pd.Index(sorted({*chosen_ids, *empty}, key=natural_key))
    answers = np.array([row.reindex(ids) for row in rows], dtype=np.float64)
    if not len(ids) or np.isnan(answers).any(axis=0).all():
        begins = [
            f"those of {name} begin with {row.index[0]}" if len(row) else f"{name} has no answer"
            for name, row in zip(names, rows, strict=True)
        ]
        raise InputError(f"no item was answered by both models; {', '.join(begins)}")
    item_ids = tuple(map(str, ids))
    shared = KnownResponses("", (), item_ids, np.empty((0, len(ids)), np.float32), read.about)
    first, second = (
        Side(part.source, name, math.nan, 0, 0) for part, name in zip(known, names, strict=True)
    )
    unread = [
        ids.isin(k.unreadable.get(name, frozenset())) for k, name in zip(known, names, strict=True)
    ]
    texts = read.about.set_index("item_id")["question"].reindex(ids).fillna("")
    tasks = np.array([read.tasks.get(item, "no task") for item in item_ids], object)
    by_task = len(set(tasks)) > 1
    pair = Pair(
        first,
        second,
        item_ids,
        answers,
        shared.clusters(),
        tasks if by_task else shared.subjects(),
        tuple(_notes(answers[:, ~np.isnan(answers).any(axis=0)])),
        read.scale,
        len(either) - len(chosen_ids),
        texts.to_numpy(dtype=object) if texts.any() else None,
        np.array([_letters(part, n, ids) for part, n in zip(known, names, strict=True)], object),
        "task" if by_task else "subject",
        unread=np.array(unread),
    )
    return pair.select(np.arange(len(ids)))  # which computes the scores of both


def _answers(known: KnownResponses, model: str) -> pd.Series:
    """Return a model's answers by item, NaN where it did not answer, or not each repeat."""
    if disputed := known.disputed.get(model):
        raise InputError(
            f"{known.source}: {model} has different answers to {count(len(disputed), 'item')}, "
            f"e.g. {min(disputed, key=natural_key)}; give one of the files, or a column `repeat` "
            "for answers to be averaged"
        )
    row = pd.Series(known.correct[known.models.index(model)], index=list(known.item_ids)).dropna()
    silent = known.unanswered.get(model, frozenset())
    return pd.concat([row.drop(silent, errors="ignore"), pd.Series(np.nan, index=sorted(silent))])


def _letters(known: KnownResponses, model: str, ids: pd.Index) -> list[str]:
    if known.chosen is None:
        return [""] * len(ids)
    row = pd.Series(known.chosen[known.models.index(model)], index=list(known.item_ids))
    chosen = row.reindex(ids, fill_value=-1)
    return [LETTERS[option] if 0 <= option < len(LETTERS) else "" for option in chosen]


def _notes(answers: NDArray[np.float64]) -> list[str]:
    notes = []
    if (answers[0] == answers[1]).all():
        notes.append("A and B have the same score on every item")
    for value, what in ((0.0, "wrong"), (1.0, "right")):
        if (answers == value).all():
            notes.append(f"every answer of both models is {what}; check what the scores mean")
    return notes


def _split(given: str) -> tuple[Path, str | None]:
    """Split `PATH:MODEL`; colons may be part of either."""
    parts = given.split(":")
    if is_address(given):
        return Path(":".join(parts[:2])), ":".join(parts[2:]) or None
    for end in range(len(parts), 0, -1):
        path = Path(":".join(parts[:end]))
        if path.exists():
            return path, ":".join(parts[end:]) or None
    raise InputError(f"{given}: there is no such file or folder")


def _choose(known: KnownResponses, wanted: str | None) -> str:
    """Return the wanted model, or the only one."""
    found: Sequence[str] = known.models
    if wanted in known.models:
        return str(wanted)
    if wanted is not None:
        found = [name for name in known.models if parse_configuration(name).model == wanted]
        if not found:
            names = expected(wanted, known.models)
            raise InputError(f"{known.source}: no model {wanted!r}; {names}")
    if len(found) > 1:
        raise InputError(
            f"{known.source} has {len(found)} models; choose one as PATH:MODEL, or compare all "
            f"with --baseline MODEL: {', '.join(found)}"
        )
    return found[0]
