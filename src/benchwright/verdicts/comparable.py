"""What a comparison of two models rests on: whether both were asked and scored in the same way.

A premise is established where both sides state the same, broken where they state different things,
and not stated where one of them is silent.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from benchwright.answers.source import Source
from benchwright.core.configuration import SCORED_AS
from benchwright.core.wording import count, joined
from benchwright.logs.direction import HIGHER_IS_BETTER
from benchwright.logs.json_values import shared_start

Kind = Literal["score", "prompts", "items", "read"]
"""Kinds of premises; all but `read` may be allowed to differ."""
ALLOWED: tuple[Kind, ...] = ("score", "prompts", "items")
_ADVICE: dict[Kind, str] = {
    "score": "choose one with --metric, --filter or --scorer, or add --allow score",
    "prompts": "answers to different prompts are different tests; to compare them, --allow prompts",
    "items": "to leave these out, --allow items",
    "read": "check which filter or scorer reads these answers",
}


class Broken(NamedTuple):
    """A premise of which the sides state different things."""

    kind: Kind
    text: str


class Premises(NamedTuple):
    """What a verdict rests on.

    Attributes:
        rests_on: what both sides state alike, in a few words each.
        not_stated: what a side does not say, with the value of the one that does.
        broken: what they state differently, and was not allowed.
        allowed: the same, where it was allowed.
    """

    rests_on: tuple[str, ...] = ()
    not_stated: tuple[str, ...] = ()
    broken: tuple[Broken, ...] = ()
    allowed: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return what stands under a verdict."""
        lines = [f"allowed to differ: {text}" for text in self.allowed]
        if self.rests_on:
            lines.append(f"rests on: {' · '.join(self.rests_on)}")
        if self.not_stated:
            lines.append(f"not stated by the files: {', '.join(self.not_stated)}")
        return lines


class _Fact(NamedTuple):
    """Something that sources state: its name, what it is a premise of, and how to read it."""

    name: str
    kind: Kind
    value: Callable[[Source], str | None]
    shown: str = "{}"  # where both say the same
    topic: str = ""  # facts of one topic stand together
    hidden: bool = False  # whether the value is a digest, which says nothing to a reader
    expected: bool = True  # whether it is missed where neither side states it
    matters: Callable[[Source], bool] = lambda source: True  # to the answers of a source


def _score(source: Source) -> str | None:
    scorer = "" if source.scorer in ("none", source.metric) else source.scorer
    if source.metric and scorer:
        return f"{source.metric} ({scorer})"
    return source.metric or scorer or None


def _direction(source: Source) -> str | None:
    better = source.higher_is_better
    if better is None and (source.metric or source.scorer) in HIGHER_IS_BETTER:
        better = True
    if better is None:
        return None
    return "higher is better" if better else "lower is better"


def _scoring(source: Source) -> str | None:
    known = source.settings.scoring
    rules = [known[name] for name in ("", source.metric, source.scorer) if name in known]
    return " ".join(rules) or None


def _reducer(source: Source) -> str | None:
    reducer = source.settings.reducer
    if reducer in (None, "mean"):
        return reducer
    return f"{reducer} of {source.settings.repeats}"


def _shots(source: Source) -> str | None:
    return None if source.shots < 0 else count(source.shots, "shot")


def _style(source: Source) -> str | None:
    return _STYLES.get(SCORED_AS.get(source.style, source.style))


def _chat_template(source: Source) -> str | None:
    used = source.settings.chat_template
    return None if used is None else "used" if used else _NONE


def _instruction(source: Source) -> str | None:
    text = source.settings.instruction
    if text is None:
        return None
    words = " ".join(text.split())
    return f"“{words}”" if words else _NONE


def _sampling(name: str) -> Callable[[Source], str | None]:
    def value(source: Source) -> str | None:
        return source.settings.sampling.get(name)

    return value


def _is_repeated(source: Source) -> bool:
    return (source.settings.repeats or 1) > 1


def _is_written(source: Source) -> bool:
    """Return whether answers may be written, and not log-likelihoods."""
    return source.style in ("", "generate")


def _is_drawn(source: Source) -> bool:
    """Return whether written answers may be drawn at random."""
    sampling = source.settings.sampling
    is_greedy = sampling.get("temperature") == "0" or sampling.get("do_sample") == "0"
    return _is_written(source) and not is_greedy


_NONE = "none"
_STYLES = {
    "letters": "log-likelihoods of letters",
    "cloze": "log-likelihoods of the options' texts",
    "generate": "written answers",
}
_SCORED = partial(_Fact, kind="score", topic="score")
_ASKED = partial(_Fact, kind="prompts", topic="question")
_DRAWN = partial(_Fact, kind="prompts", topic="sampling", matters=_is_drawn)
_FACTS = (
    _SCORED("score", value=_score),
    _SCORED("direction", value=_direction),
    _SCORED(
        "scoring rules", value=_scoring, shown="same scoring rules", hidden=True, expected=False
    ),
    _SCORED(
        "reducer of repeats",
        value=_reducer,
        shown="repeats by {}",
        expected=False,
        matters=_is_repeated,
    ),
    _ASKED("prompt style", value=_style),
    _ASKED("shots", value=_shots),
    _ASKED(
        "prompt template",
        value=lambda source: source.settings.template,
        shown="same template",
        hidden=True,
    ),
    _ASKED("task version", value=lambda source: source.settings.task_version, shown="version {}"),
    _ASKED(
        "data revision",
        value=lambda source: source.settings.dataset_revision,
        shown="data {}",
    ),
    _ASKED("system instruction", value=_instruction, shown="system instruction {}"),
    _ASKED("chat template", value=_chat_template, shown="chat template {}"),
    _DRAWN(
        "temperature",
        value=_sampling("temperature"),
        shown="temperature {}",
        matters=_is_written,
    ),
    _DRAWN("top-p", value=_sampling("top_p"), shown="top-p {}"),
    _DRAWN("top-k", value=_sampling("top_k"), shown="top-k {}", expected=False),
    _DRAWN(
        "answers per prompt", value=_sampling("n"), shown="{} answers per prompt", expected=False
    ),
    _DRAWN(
        "limit of tokens",
        value=_sampling("max_tokens"),
        shown="at most {} tokens",
        matters=_is_written,
    ),
)
_LONG = 42  # characters of a value
_MOST_TASKS = 3  # named in a line
_MOST_VALUES = 2  # named in a line, each with its tasks


def check_premises(
    a: Sequence[Source], b: Sequence[Source], allow: Collection[str] = ()
) -> Premises:
    """Compare what the sources of two models state, task by task.

    Args:
        a: sources of the first model's answers to the compared items.
        b: those of the second's.
        allow: kinds of premises that may differ.
    """
    of_tasks = _paired(a, b)
    pairs: list[_Asked] = []
    rests_on: dict[str, list[str]] = {}
    not_stated: list[str] = []
    broken: list[Broken] = []
    for pair in of_tasks:
        left_open = _left_open(pair)
        if not left_open:
            pairs.append(pair)
            continue
        named = f" in {pair.task}" if len(of_tasks) > 1 else ""
        not_stated.append(left_open + named)
    for fact in _FACTS:
        found = _compare_fact(fact, pairs)
        rests_on.setdefault(fact.topic, []).extend(found.alike_in_words(fact))
        not_stated += found.with_tasks(found.silent)
        broken += [Broken(fact.kind, text) for text in found.with_tasks(found.different)]
    allowed = [each.text for each in broken if each.kind in allow]
    refused = [each for each in broken if each.kind not in allow]
    topics = [", ".join(texts) for texts in rests_on.values() if texts]
    return Premises(tuple(topics), tuple(not_stated), tuple(refused), tuple(allowed))


class _Asked(NamedTuple):
    """The sources of both sides that are of one task."""

    task: str
    a: list[Source]
    b: list[Source]


def _left_open(pair: _Asked) -> str:
    """Return what a side leaves open that states nothing, such as a table; "" if both do not."""
    said: dict[str, dict[_Fact, str]] = {"A": {}, "B": {}}
    for name, side in (("A", pair.a), ("B", pair.b)):
        for fact in _FACTS:
            value = _stated(fact, side)
            if value is not None:
                said[name][fact] = _in_words(fact, value)
    silent = [name for name, facts in said.items() if not facts]
    if not silent:
        return ""
    text = f"how the answers of {joined(silent)} were asked and scored"
    for name, facts in said.items():
        if facts:
            shown = [words for fact, words in facts.items() if not fact.hidden]
            text += f" ({name}: {', '.join(shown)})"
    return text


class _Found(NamedTuple):
    """What both sides say of a fact, in words, with the tasks of which they say so."""

    alike: dict[str, list[str]]
    silent: dict[str, list[str]]
    different: dict[str, list[str]]

    def with_tasks(self, texts: Mapping[str, Sequence[str]]) -> list[str]:
        """Return texts, with their tasks if these differ."""
        if sum(map(len, self)) < 2:
            return list(texts)
        return [f"{text} in {_named(tasks)}" for text, tasks in texts.items()]

    def alike_in_words(self, fact: _Fact) -> list[str]:
        """Return what both sides say alike, in short where tasks have many values."""
        if len(self.alike) > _MOST_VALUES:
            tasks = sum(map(len, self.alike.values()))
            return [f"same {fact.name} within each of {tasks:,} tasks"]
        return self.with_tasks(self.alike)


def _compare_fact(fact: _Fact, pairs: Sequence[_Asked]) -> _Found:
    found = _Found({}, {}, {})
    for task, first, second in pairs:
        if not any(fact.matters(source) for source in (*first, *second)):
            continue
        of_a = _stated(fact, first)
        of_b = _stated(fact, second)
        is_silent = any(fact.value(source) is None for source in (*first, *second))
        if of_a is not None and of_b is not None and of_a != of_b:
            start = len(shared_start(of_a, of_b))
            values = f"A {_short(of_a, start)}, B {_short(of_b, start)}"
            if fact.hidden:
                values = "not the same on A and B"
            found.different.setdefault(f"{fact.name}: {values}", []).append(task)
        elif of_a is not None and not is_silent:
            found.alike.setdefault(_in_words(fact, of_a), []).append(task)
        elif of_a is not None or of_b is not None or fact.expected:
            said = _of_one_side(fact, of_a, of_b)
            found.silent.setdefault(fact.name + said, []).append(task)
    return found


def _in_words(fact: _Fact, value: str) -> str:
    return f"no {fact.name}" if value == _NONE else fact.shown.format(_short(value))


def _short(value: str, start: int = 0) -> str:
    """Return a value, of a long one a part that begins shortly before `start`."""
    if len(value) <= _LONG:
        return value
    begin = max(0, start - 10)
    part = value[begin : begin + _LONG].strip("“”")
    before = "…" if begin else ""
    after = "…" if begin + _LONG < len(value) else ""
    return f"“{before}{part}{after}”"


def _of_one_side(fact: _Fact, of_a: str | None, of_b: str | None) -> str:
    """Return the value that only one side states, "" if neither does."""
    for name, value in (("A", of_a), ("B", of_b)):
        if value is not None:
            return f" (stated by {name})" if fact.hidden else f" ({name}: {_short(value)})"
    return ""


def _paired(a: Sequence[Source], b: Sequence[Source]) -> list[_Asked]:
    """Return the sources of both sides by task, and those of other tasks with shared items."""
    tasks = sorted({source.task for source in a} & {source.task for source in b} - {""})
    pairs: list[_Asked] = []
    for task in tasks:
        of_a = [source for source in a if source.task == task]
        of_b = [source for source in b if source.task == task]
        pairs.append(_Asked(task, of_a, of_b))
    others_of_a = [source for source in a if source.task not in tasks]
    others_of_b = [source for source in b if source.task not in tasks]
    of_a = _sharing(others_of_a, others_of_b)
    of_b = _sharing(others_of_b, others_of_a)
    if of_a and of_b:
        pairs.append(_Asked("other tasks", of_a, of_b))
    return pairs or [_Asked("", list(a), list(b))]


def _sharing(sources: Sequence[Source], others: Sequence[Source]) -> list[Source]:
    """Return the sources that have items of others."""
    items = [source.positions for source in others]
    known = np.concatenate(items) if items else np.empty(0)
    return [source for source in sources if np.isin(source.positions, known).any()]


def _stated(fact: _Fact, sources: Sequence[Source]) -> str | None:
    """Return what sources state, None if none does; several values are joined."""
    values = {fact.value(source) for source in sources}
    known = sorted(value for value in values if value is not None)
    return joined(known) if known else None


def _named(tasks: Sequence[str]) -> str:
    shown = list(tasks[:_MOST_TASKS])
    if len(tasks) > len(shown):
        shown.append(f"{len(tasks) - len(shown):,} more")
    return joined(shown)


def refusals(broken: Sequence[Broken]) -> list[str]:
    """Return a line for each kind of broken premises, with what would do about them."""
    texts: dict[Kind, list[str]] = {}
    for each in broken:
        texts.setdefault(each.kind, []).append(each.text)
    return ["; ".join((*of_kind, _ADVICE[kind])) for kind, of_kind in texts.items()]
