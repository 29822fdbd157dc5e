"""What every reader of logs yields: logs, and the answers in them."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchwright.logs.json_values import as_number, as_object, as_text

INVALID = "[invalid]"
"""What filters of lm-eval return for an answer that they cannot read."""
Outcome = Literal["answered", "unreadable", "failed"]
"""`unreadable`: the model wrote something in which the tool found no option. `failed`: there is no
answer (an error, a refusal of the provider, an answer that was never asked for)."""


class Mark(NamedTuple):
    """The name of a score in a log: its metric, and the filter or scorer that it comes from."""

    metric: str = ""
    source: str = ""

    def __str__(self) -> str:
        """Return `metric,source`, as lm-eval writes it."""
        return ",".join(filter(None, self)) or "score"


NO_MARK = Mark()


@dataclass(frozen=True)
class Settings:
    """How a log says that its questions were asked; None, or empty, where it does not say.

    Attributes:
        task_version: of the task, as text.
        dataset_revision: of the data of the task.
        template: a digest of the task's own template, or of its solvers; never of rendered prompts.
        instruction: the system instruction of the run, "" for none.
        chat_template: whether prompts were put into a chat template.
        sampling: settings of generation that were set for the run, by their usual names.
        samples: number of items that the run was to ask.
        limit: the limit on items that was set for the run.
        repeats: number of answers per item.
        reducer: how repeats become one score, `mean` of a single answer.
        scoring: rules or digests of them, by the metric or scorer that follows them, "" for all.
        missing_files: names of files that belong to the log and are not there.
    """

    task_version: str | None = None
    dataset_revision: str | None = None
    template: str | None = None
    instruction: str | None = None
    chat_template: bool | None = None
    sampling: Mapping[str, str] = field(default_factory=dict)
    samples: int | None = None
    limit: str | None = None
    repeats: int | None = None
    reducer: str | None = None
    scoring: Mapping[str, str] = field(default_factory=dict)
    missing_files: tuple[str, ...] = ()


SAMPLING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
    "do_sample": "do_sample",
    "max_tokens": "max_tokens",
    "max_new_tokens": "max_tokens",
    "max_gen_toks": "max_tokens",
    "max_out_len": "max_tokens",
    "num_outputs": "n",
    "num_choices": "n",
    "n": "n",
}
"""Settings of generation that a run may set, and their names in `Settings.sampling`."""


SYSTEM_MESSAGE = "system_message"
"""The solver of Inspect that gives the system instruction."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")  # `<function f at 0x7f3a>`, of a process


_TRUTH = {"true": 1, "false": 0}


def setting_text(value: object) -> str | None:
    """Return a setting as text, the same for all ways to write a number; None if it is not set."""
    if not isinstance(value, int | float | str):
        return None
    number = as_number(_TRUTH.get(str(value).lower(), value))
    return str(value) if math.isnan(number) else f"{number:g}"


def sampling_of(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings of generation among others, as text; what is None is not set."""
    found: dict[str, str] = {}
    for theirs, ours in SAMPLING.items():
        text = setting_text(settings.get(theirs))
        if text is not None:
            found[ours] = text
    return found


def solver_steps(steps: Sequence[Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return the solvers of a plan of Inspect with the parameters that they were given.

    Later versions list defaults too, beside `params_passed`.
    """
    found: list[tuple[str, dict[str, Any]]] = []
    for step in map(as_object, steps):
        given = as_object(step.get("params_passed", step.get("params")))
        passed = {name: value for name, value in given.items() if value}
        found.append((as_text(step.get("solver")), passed))
    return found


def instruction_of(steps: Sequence[tuple[str, dict[str, Any]]]) -> str | None:
    """Return the system instruction of a plan, "" if it has none, None if there is no plan."""
    texts = [as_text(given.get("template")) for name, given in steps if name == SYSTEM_MESSAGE]
    return "\n".join(texts) if steps else None


def template_of(steps: Sequence[tuple[str, dict[str, Any]]]) -> str | None:
    """Return a digest of the solvers of a plan but for its system instruction."""
    return digest_of([step for step in steps if step[0] != SYSTEM_MESSAGE])


def digest_of(*parts: object) -> str | None:
    """Return a short digest of what makes a template, None where all of it is missing."""
    stated = [part or None for part in parts]
    if stated.count(None) == len(stated):
        return None
    text = _ADDRESS.sub("", json.dumps(stated, sort_keys=True, default=str))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]


class Sample(NamedTuple):
    """One answer of a model to one question, as a log states it, options in the log's order.

    Either `question` or `prompt` is there, or a `doc` that has both.
    """

    number: str  # the log's own name of the question, for messages only
    question: str = ""  # the question alone, verbatim
    prompt: str = ""  # what the model read, where the log does not have the question alone
    beside: str = ""  # a digest of what else was asked: images, and earlier turns
    choices: tuple[str, ...] = ()  # texts of the options; empty if the log has letters only
    gold: tuple[int, ...] = ()  # positions of the right options, empty if unknown
    doc: Mapping[str, Any] | None = None  # the task's source row, or the sample's metadata
    repeat: int = 1  # epochs, trials and replicas count from 1
    outcome: Outcome = "answered"
    chosen: int = -1  # position of the chosen option or letter, −1 if the log does not have one
    several: tuple[int, ...] = ()  # positions of the chosen options, if they are more than one
    text: str = ""  # what the model wrote, where the log does not have what it chose
    continuations: tuple[str, ...] | None = None  # texts whose log-likelihoods were taken
    contexts: tuple[str, ...] | None = None  # their contexts, if all continuations are equal
    logprobs: tuple[float, ...] | None = None  # one per continuation
    option_tokens: tuple[int, ...] | None = None  # of each continuation, if `logprobs` is there
    target: str = ""  # the right option as written, where its position needs the item
    marks: Mapping[Mark, float] = {}  # all scores, on the scale of the log
    correct: float = math.nan  # the one that counts; a log with one score may state only this
    skipped: str = ""  # why the sample is no answer to the item (a perturbation)

    def choosing(self, named: Sequence[int]) -> "Sample":
        """Return the sample with the options that its answer names: none, one or several."""
        if len(named) == 1:
            return self._replace(chosen=named[0])
        return self._replace(chosen=-1, several=tuple(named))

    @property
    def names_option(self) -> bool:
        """Whether the log has the option, or the options, that were chosen."""
        return self.chosen >= 0 or bool(self.several)


@dataclass(frozen=True)
class Log:
    """The answers of one model to one task. `samples` reads them anew, one at a time."""

    files: tuple[Path, ...]  # all that were read; the first names the log
    format: str  # the tool: Inspect, HELM, …
    samples: Callable[[], Iterator[Sample]]
    version: str = ""  # of the format, or of the tool
    task: str = ""
    model: str = ""
    revision: str = ""
    style: str = ""  # "" if the continuations show it
    shots: int = -1  # −1 unknown
    scores: Mapping[Mark, float] = field(
        default_factory=dict
    )  # what the log states of all its samples
    main: Mark = NO_MARK  # the score that the log itself calls its main one
    first_counts: bool = False  # whether the first score of the samples is it, where none is named
    # by metric: whether higher is better, where the log says so
    directions: Mapping[str, bool] = field(default_factory=dict)
    settings: Settings = Settings()
    failure: str = "no answer"  # why samples have the outcome `failed`
    notes: tuple[str, ...] = ()  # what a report should say of the log

    @property
    def only_mark(self) -> Mark:
        """The name of the score of samples that state only one."""
        return next(iter(self.scores), NO_MARK)
