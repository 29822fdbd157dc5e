"""Two models' answers to the same items, and what is missing of them."""

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchwright.answers.answer_files import Choice, is_address
from benchwright.answers.read_answers import read_items, read_sides
from benchwright.answers.source import Source
from benchwright.answers.table import Answers, State
from benchwright.core.configuration import parse_configuration
from benchwright.core.errors import InputError, expected
from benchwright.core.file_kinds import is_there
from benchwright.core.option_letters import LETTERS
from benchwright.core.wording import count
from benchwright.statistics.paired_tests import PairedDifference
from benchwright.verdicts.comparable import Broken, Premises, check_premises, refusals

MANY_MISSING = 0.01
"""Share of a model's answers that may be missing, or unreadable, before a verdict says so."""


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
        items: texts of known items, as in `Answers`.
        unread: (2, n), which answers could not be read, and count as wrong; or None.
        premises: what the comparison rests on.
        may_leave_out: whether items that one side lacks are shown not to have been asked there.
        unusable: lines on files that may hold answers and were not read.
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
    premises: Premises = Premises()
    may_leave_out: bool = False
    unusable: tuple[str, ...] = ()

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

        Missing answers of B are wrong and those of A right at the lowest, else the other way. At
        the lowest, unreadable answers that A has more of than B are right too.
        """
        first, second = self.answers
        lowest = np.nan_to_num(second, nan=0.0) - np.nan_to_num(first, nan=1.0)
        highest = np.nan_to_num(second, nan=1.0) - np.nan_to_num(first, nan=0.0)
        if self.unread is not None:
            lowest[np.flatnonzero(self.unread[0])[: self.more_unread]] -= 1
        return lowest, highest

    @property
    def names(self) -> tuple[str, str]:
        """The names of both models, or A and B where these are the same."""
        if self.first.model == self.second.model:
            return "A", "B"
        return self.first.model, self.second.model

    @property
    def more_unread(self) -> int:
        """How many more answers of A than of B are unreadable, 0 if hardly more."""
        more = self.first.unreadable - self.second.unreadable
        return more if more > MANY_MISSING * len(self.item_ids) else 0

    @property
    def is_bounded(self) -> bool:
        """Whether missing or unreadable answers leave room for another difference."""
        return self.more_unread > 0 or not self.both.all()


def read_pair(
    a: str,
    b: str,
    items_file: Path | None = None,
    choice: Choice = Choice(),  # noqa: B008 - immutable
    *,
    common: bool = False,
    allow: Collection[str] = (),
    whole: bool = False,
) -> Pair:
    """Read two models' answers, and join those to the same items.

    Args:
        a: a file or folder, or `PATH:MODEL` with the name of a model or of its configuration.
        b: the same.
        items_file: a table of items with subject and passage_id, by item_id.
        choice: which answers count.
        common: leave out the items that one of them is shown not to have been asked.
        allow: kinds of premises that may differ: `score`, `prompts` or `items`.
        whole: refuse files of which a part cannot be used, and broken premises.

    Raises:
        InputError: a path or model is unknown or ambiguous, a model has several answers to an item,
            or no item was answered by both.
    """
    (path_a, model_a), (path_b, model_b) = _split(a), _split(b)
    parts = [[path] for path in dict.fromkeys((path_a, path_b))]
    read = _read_sides(parts, choice, items_file)
    known = (read.sides[0], read.sides[-1])
    unusable = tuple(dict.fromkeys((*known[0].unusable, *known[1].unusable)))
    if whole and unusable:
        more = f" (and {count(len(unusable) - 1, 'file')} more)" if len(unusable) > 1 else ""
        raise InputError(f"{unusable[0]}{more}; nothing is decided on a part of the files")
    names = (_choose(known[0], model_a), _choose(known[1], model_b))
    pair = _join(known, names, read, common=common, allow=allow)
    if whole and pair.premises.broken:
        raise InputError("; ".join(refusals(pair.premises.broken)))
    said = (*pair.notes, *known[0].notes, *known[1].notes)
    notes = dict.fromkeys(note for note in said if note not in unusable)
    if path_a == path_b and names[0] == names[1]:
        notes = {"A and B are the same answers": None, **notes}
    contrary = tuple(dict.fromkeys((*known[0].contradicting, *known[1].contradicting)))
    return pair._replace(
        notes=tuple(notes), contradicting=contrary, items=read.about, unusable=unusable
    )


class Panel(NamedTuple):
    """Pairs of a baseline, A, and each of the other models, B; notes on all and on some of them."""

    baseline: str
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]
    left_out: tuple[str, ...]  # a line per file that was not read, and one of models without pair


def read_panel(
    paths: Sequence[Path],
    baseline: str,
    items_file: Path | None = None,
    choice: Choice = Choice(),  # noqa: B008 - immutable
    *,
    common: bool = False,
    allow: Collection[str] = (),
) -> Panel:
    """Pair a baseline with each of the other models in files and folders.

    The arguments are those of `read_pair`. A model that answered none of the baseline's items, or
    has several answers to one, has a note instead of a pair.

    Raises:
        InputError: as for `read_pair`, or there is no other model.
    """
    read = _read_sides([paths], choice, items_file)
    known = read.sides[0]
    first = _choose(known, baseline)
    _refuse_disputed(known, first)  # an error of the baseline is not one of each other model
    pairs, reasons = [], {}
    for name in known.models:
        if name == first:
            continue
        try:
            pair = _join((known, known), (first, name), read, common=common, allow=allow)
        except InputError as error:
            reasons[name] = f"left out: {error}"
        else:
            pairs.append(pair._replace(unusable=known.unusable))
    if not pairs:
        raise InputError(f"{known.source}: no model answered an item that {first} answered")
    left_out = [f"not read: {problem}" for problem in known.unusable]
    if reasons:
        models = count(len(reasons), "model")
        left_out.append(f"left out: {models} ({', '.join(reasons)}); see the notes")
    notes = [note for note in known.notes if note not in known.unusable]
    return Panel(first, tuple(pairs), (*reasons.values(), *notes), tuple(left_out))


class _Read(NamedTuple):
    """Answers of the sides, what is known of the items, and the scale."""

    sides: list[Answers]
    about: pd.DataFrame
    scale: Scale


def _read_sides(parts: Sequence[Sequence[Path]], choice: Choice, items_file: Path | None) -> _Read:
    sides = read_sides(parts, choice)
    about = read_items(items_file) if items_file else sides[0].items
    if about is None:
        raise InputError(f"{sides[0].source}: no items")
    return _Read(sides, about, Scale(*choice.scale))


def _join(
    known: tuple[Answers, Answers],
    names: tuple[str, str],
    read: _Read,
    *,
    common: bool,
    allow: Collection[str],
) -> Pair:
    """Join two models' answers to the same items, those that either was asked."""
    rows = [part.models.index(name) for part, name in zip(known, names, strict=True)]
    for part, name in zip(known, names, strict=True):
        _refuse_disputed(part, name)
    state = np.array([part.states()[row] for part, row in zip(known, rows, strict=True)])
    scores = np.array([part.correct[row] for part, row in zip(known, rows, strict=True)])
    answers = np.where(state == State.MISSING, np.nan, scores.astype(np.float64))
    asked = (state != State.UNASKED) & (state != State.BLANK)
    either = asked.any(axis=0)
    both = asked.all(axis=0)
    empty = (state == State.BLANK).all(axis=0)  # asked, and answered by neither
    common = common or "items" in allow
    doubts = [
        _why_asked(
            np.flatnonzero(asked[1 - side] & ~asked[side]),
            np.flatnonzero(both),
            known[side],
            names[side],
            other=known[1 - side],
        )
        for side in (0, 1)
    ]
    if common and "items" not in allow and any(doubts):
        raise InputError(
            f"--common: {doubts[0] or doubts[1]}; without --common they count as missing, and "
            "--allow items leaves them out all the same"
        )
    at = np.flatnonzero((both if common else either) | empty)
    if not len(at) or np.isnan(answers[:, at]).any(axis=0).all():
        raise InputError(f"no item was answered by both models; {_where_they_begin(known, names)}")
    item_ids = tuple(known[0].item_ids[place] for place in at)
    shared = (
        known[0]
        ._replace(items=read.about)
        .select(np.zeros(len(known[0].models), dtype=bool), np.isin(np.arange(len(either)), at))
    )
    first, second = (
        Side(part.source, name, accuracy=math.nan, missing=0, unreadable=0)
        for part, name in zip(known, names, strict=True)
    )
    texts = read.about.set_index("item_id")["question"].reindex(list(item_ids)).fillna("")
    # An items file states what the groups are; else the tasks of logs come first.
    tasks = known[0].tasks if read.about is known[0].items else {}
    of_task = np.array([tasks.get(item, "no task") for item in item_ids], object)
    by_task = len(set(of_task)) > 1
    letters = [_letters(part, row)[at] for part, row in zip(known, rows, strict=True)]
    sides = [_sources_of(part, name, at) for part, name in zip(known, names, strict=True)]
    pair = Pair(
        first,
        second,
        item_ids,
        answers=answers[:, at],
        clusters=shared.clusters(),
        groups=of_task if by_task else shared.subjects(),
        notes=tuple(_notes(answers[:, at][:, both[at]])),
        scale=read.scale,
        left_out=int(either.sum() - both.sum()) if common else 0,
        questions=texts.to_numpy(dtype=object) if texts.any() else None,
        chosen=np.array(letters, object),
        grouped_by="task" if by_task else "subject",
        unread=(state == State.UNREAD)[:, at],
        premises=check_premises(sides[0], sides[1], allow),
        may_leave_out=not common and bool((either & ~both).any()) and not any(doubts),
    )
    pair = pair.select(np.arange(len(at)))  # which computes the scores of both
    return pair._replace(premises=_with_items(pair, sides))


def _sources_of(known: Answers, model: str, at: NDArray[np.intp]) -> list[Source]:
    """Return the sources that have a model's answers to some of the items."""
    of_model = [source for source in known.sources if model in source.models]
    return [
        source
        for source in of_model
        if not len(source.positions) or np.isin(source.positions, at).any()
    ]


def _with_items(pair: Pair, sides: Sequence[Sequence[Source]]) -> Premises:
    """Return the premises with the items, and with what could be read of the answers."""
    premises = pair.premises
    n = len(pair.item_ids)
    by_text = all(source.format != "table" for side in sides for source in side)
    shared = f"{n:,} items by {'text' if by_text else 'id'}"
    read: list[str] = []
    broken = list(premises.broken)
    for name, side in (("A", pair.first), ("B", pair.second)):
        answered = n - side.missing
        read.append(f"{(answered - side.unreadable) / n:.1%}".replace(".0%", "%"))
        if answered and side.unreadable == answered:
            text = f"none of {answered:,} answers of {name} could be read"
            broken.append(Broken("read", text))
    rests_on = (*premises.rests_on, shared, f"read: {', '.join(read)}")
    return premises._replace(rests_on=rests_on, broken=tuple(broken))


def _why_asked(
    lacking: NDArray[np.intp], own: NDArray[np.intp], known: Answers, model: str, *, other: Answers
) -> str:
    """Return why items that a model lacks may have been asked, "" if they were not.

    They were not where its logs state a limit, or where its own items come first in the other
    side's order.
    """
    if not len(lacking):
        return ""
    of_model = [source for source in known.sources if model in source.models]
    if of_model and all(source.settings.limit is not None for source in of_model):
        return ""
    in_order = [position for source in other.sources for position in source.positions.tolist()]
    rank = {position: place for place, position in reversed(list(enumerate(in_order)))}
    own_ranks = [rank[place] for place in own.tolist() if place in rank]
    lacking_ranks = [rank[place] for place in lacking.tolist() if place in rank]
    if lacking_ranks and max(own_ranks, default=-1) < min(lacking_ranks):
        return ""
    return (
        f"{known.source} does not show that {model} was not asked {count(len(lacking), 'item')}, "
        f"e.g. {known.item_ids[lacking[0]]}: it states no limit, and they are not the last ones"
    )


def _refuse_disputed(known: Answers, model: str) -> None:
    """Raise InputError if a model has different answers to an item."""
    if known.disputed is None:
        return
    disputed = np.flatnonzero(known.disputed[known.models.index(model)])
    if len(disputed):
        raise InputError(
            f"{known.source}: {model} has different answers to {count(len(disputed), 'item')}, "
            f"e.g. {known.item_ids[disputed[0]]}; give one of the files, or a column `repeat` "
            "for answers to be averaged"
        )


def _where_they_begin(known: tuple[Answers, Answers], names: tuple[str, str]) -> str:
    """Say with which item the answers of each of two models begin."""
    parts = []
    for part, name in zip(known, names, strict=True):
        answered = np.flatnonzero(~np.isnan(part.correct[part.models.index(name)]))
        begins = f"those of {name} begin with {part.item_ids[answered[0]]}" if len(answered) else ""
        parts.append(begins or f"{name} has no answer")
    return ", ".join(parts)


def _letters(known: Answers, row: int) -> NDArray[np.object_]:
    """Return the letters (n,) of the options that a model chose, "" where unknown."""
    letters = np.full(len(known.item_ids), "", dtype=object)
    if known.chosen is not None:
        for place in np.flatnonzero(known.chosen[row] >= 0):
            option = int(known.chosen[row, place])
            letters[place] = LETTERS[option] if option < len(LETTERS) else ""
    return letters


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
        if is_there(path):
            return path, ":".join(parts[end:]) or None
    raise InputError(f"{given}: there is no such file or folder")


def _choose(known: Answers, wanted: str | None) -> str:
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
