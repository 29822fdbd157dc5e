"""What a comparison of two models rests on: whether both were asked and scored in the same way.

A premise is established where both sides state the same, broken where they state different things,
and not stated where one of them is silent.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from benchwright.answers.source import Source
from benchwright.core.configuration import SCORED_AS
from benchwright.core.wording import count, joined

Kind = Literal["score", "prompts", "items", "read"]
"""Kinds of premises; all but `read` may be allowed to differ."""
ALLOWED: tuple[Kind, ...] = ("score", "prompts", "items")


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
    hidden: bool = False  # whether the value is a digest, which says nothing to a reader


def _score(source: Source) -> str | None:
    if not source.metric:
        return None
    scorer = source.scorer if source.scorer not in ("none", source.metric) else ""
    return f"{source.metric} ({scorer})" if scorer else source.metric


def _direction(source: Source) -> str | None:
    if source.higher_is_better is None:
        return None
    return "higher is better" if source.higher_is_better else "lower is better"


def _shots(source: Source) -> str | None:
    return None if source.shots < 0 else count(source.shots, "shot")


def _style(source: Source) -> str | None:
    return _STYLES.get(SCORED_AS.get(source.style, source.style))


_STYLES = {"letters": "letters", "cloze": "texts of options", "generate": "written answers"}


def _chat_template(source: Source) -> str | None:
    used = source.settings.chat_template
    return None if used is None else "used" if used else "not used"


def _instruction(source: Source) -> str | None:
    text = source.settings.instruction
    if text is None:
        return None
    words = " ".join(text.split())
    return f"“{words[:40]}…”" if len(words) > 40 else f"“{words}”" if words else "none"


def _sampling(name: str) -> Callable[[Source], str | None]:
    def value(source: Source) -> str | None:
        return source.settings.sampling.get(name)

    return value


_FACTS = (
    _Fact("score", "score", _score, "{} on both"),
    _Fact("direction", "score", _direction),
    _Fact("reducer of repeats", "score", lambda source: source.settings.reducer, "repeats by {}"),
    _Fact("shots", "prompts", _shots),
    _Fact("prompt style", "prompts", _style),
    _Fact(
        "prompt template",
        "prompts",
        lambda source: source.settings.template,
        "same template",
        hidden=True,
    ),
    _Fact("task version", "prompts", lambda source: source.settings.task_version, "version {}"),
    _Fact("data revision", "prompts", lambda source: source.settings.dataset_revision, "data {}"),
    _Fact("system instruction", "prompts", _instruction, "system instruction {}"),
    _Fact("chat template", "prompts", _chat_template, "chat template {}"),
    _Fact("temperature", "prompts", _sampling("temperature"), "temperature {}"),
    _Fact("top-p", "prompts", _sampling("top_p"), "top-p {}"),
    _Fact("top-k", "prompts", _sampling("top_k"), "top-k {}"),
    _Fact("sampling", "prompts", _sampling("do_sample"), "sampling {}"),
    _Fact("answers per prompt", "prompts", _sampling("n"), "{} answers per prompt"),
    _Fact("limit of tokens", "prompts", _sampling("max_tokens"), "at most {} tokens"),
)
_SILENT = (
    "reducer of repeats",
    "data revision",
    "top-p",
    "top-k",
    "sampling",
    "answers per prompt",
    "limit of tokens",
)
"""Facts that are not missed where neither side states them."""
_OF_WRITTEN = {"temperature", "top-p", "top-k", "sampling", "answers per prompt", "limit of tokens"}
"""Facts that matter where answers are written, and are missed only there."""
_MOST_TASKS = 3  # named in a line


def check_premises(
    a: Sequence[Source], b: Sequence[Source], allow: Collection[str] = ()
) -> Premises:
    """Compare what the sources of two models state, task by task.

    Args:
        a: sources of the first model's answers to the compared items.
        b: those of the second's.
        allow: kinds of premises that may differ.
    """
    if all(source.format == "table" for source in (*a, *b)):
        return Premises(
            not_stated=("how the answers were asked and scored, since tables do not say",)
        )
    pairs = _paired(a, b)
    rests_on: list[str] = []
    not_stated: list[str] = []
    broken: list[Broken] = []
    for fact in _FACTS:
        found = _compare_fact(fact, pairs)
        rests_on += _with_tasks(found.alike, found.several_values(pairs))
        not_stated += _with_tasks(found.silent, found.several_values(pairs))
        broken += [Broken(fact.kind, text) for text in _with_tasks(found.different, len(pairs) > 1)]
    allowed = [each.text for each in broken if each.kind in allow]
    refused = [each for each in broken if each.kind not in allow]
    return Premises(tuple(rests_on), tuple(not_stated), tuple(refused), tuple(allowed))


class _Found(NamedTuple):
    """What both sides say of a fact, in words, with the tasks of which they say so."""

    alike: dict[str, list[str]]
    silent: dict[str, list[str]]
    different: dict[str, list[str]]

    def several_values(self, pairs: Sequence[Any]) -> bool:
        """Return whether tasks differ, so that they must be named."""
        return len(pairs) > 1 and len(self.alike) + len(self.silent) > 1


def _compare_fact(fact: _Fact, pairs: Sequence[tuple[str, list[Source], list[Source]]]) -> _Found:
    found = _Found({}, {}, {})
    for task, first, second in pairs:
        of_a = _stated(fact, first)
        of_b = _stated(fact, second)
        if of_a is not None and of_a == of_b:
            found.alike.setdefault(fact.shown.format(of_a), []).append(task)
        elif of_a is not None and of_b is not None:
            values = "A and B have others" if fact.hidden else f"A {of_a}, B {of_b}"
            found.different.setdefault(f"{fact.name}: {values}", []).append(task)
        elif not _is_idle(fact, (*first, *second)):
            said = _of_one_side(fact, of_a, of_b)
            if said or fact.name not in _SILENT:
                found.silent.setdefault(fact.name + said, []).append(task)
    return found


def _of_one_side(fact: _Fact, of_a: str | None, of_b: str | None) -> str:
    """Return the value that only one side states, "" if neither does."""
    for name, value in (("A", of_a), ("B", of_b)):
        if value is not None:
            return f" ({name}: {'stated' if fact.hidden else value})"
    return ""


def _with_tasks(texts: Mapping[str, Sequence[str]], named: bool) -> list[str]:
    """Return texts, where `named` with the tasks that they are true of."""
    if not named:
        return list(texts)
    return [f"{text} in {_named(tasks)}" for text, tasks in texts.items()]


def _paired(
    a: Sequence[Source], b: Sequence[Source]
) -> list[tuple[str, list[Source], list[Source]]]:
    """Return the sources of both sides by task; all together where no task is on both."""
    tasks = sorted({source.task for source in a} & {source.task for source in b} - {""})
    if not tasks:
        return [("", list(a), list(b))]
    return [
        (task, [s for s in a if s.task == task], [s for s in b if s.task == task]) for task in tasks
    ]


def _stated(fact: _Fact, sources: Sequence[Source]) -> str | None:
    """Return what sources state, None if any is silent; several values are joined."""
    values = [fact.value(source) for source in sources]
    known = sorted({value for value in values if value is not None})
    if len(known) == 0 or None in values:
        return None
    return joined(known)


def _is_idle(fact: _Fact, sources: Sequence[Source]) -> bool:
    """Return whether a fact is none of sources whose answers are log-likelihoods."""
    scored = all(source.style not in ("", "generate") for source in sources)
    return scored and fact.name in _OF_WRITTEN


def _named(tasks: Sequence[str]) -> str:
    shown = list(tasks[:_MOST_TASKS])
    if len(tasks) > len(shown):
        shown.append(f"{len(tasks) - len(shown):,} more")
    return joined(shown)


def advice_of(broken: Broken) -> str:
    """Return what would do about a broken premise."""
    if broken.kind == "score":
        return "choose one with --metric, --filter or --scorer, or add --allow score"
    if broken.kind == "prompts":
        return "answers to different prompts are different tests; to compare them, --allow prompts"
    return "check which filter or scorer reads these answers"
