"""What every reader of logs yields: logs, and the answers in them."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

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


class Sample(NamedTuple):
    """One answer of a model to one question, as a log states it, options in the log's order.

    Either `question` or `prompt` is there, or a `doc` that has both.
    """

    number: str  # the log's own name of the question, for messages only
    question: str = ""  # the question alone, verbatim
    prompt: str = ""  # what the model read, where the log does not have the question alone
    choices: tuple[str, ...] = ()  # texts of the options; empty if the log has letters only
    gold: tuple[int, ...] = ()  # positions of the right options, empty if unknown
    doc: Mapping[str, Any] | None = None  # the task's source row, or the sample's metadata
    repeat: int = 1  # epochs, trials and replicas count from 1
    outcome: Outcome = "answered"
    # position of the chosen option or letter, −1 if the log does not have it, below −1 for several
    # (`options.option_code`)
    chosen: int = -1
    text: str = ""  # what the model wrote, where the log does not have what it chose
    continuations: tuple[str, ...] | None = None  # texts whose log-likelihoods were taken
    contexts: tuple[str, ...] | None = None  # their contexts, if all continuations are equal
    logprobs: tuple[float, ...] | None = None  # one per continuation
    option_tokens: tuple[int, ...] | None = None  # of each continuation, if `logprobs` is there
    target: str = ""  # the right option as written, where its position needs the item
    marks: Mapping[Mark, float] = {}  # all scores, on the scale of the log
    correct: float = math.nan  # the one that counts; a log with one score may state only this
    skipped: str = ""  # why the sample is no answer to the item (a perturbation)


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
    descending: frozenset[str] = frozenset()  # metrics that are lower for better answers
    failure: str = "no answer"  # why samples have the outcome `failed`
    notes: tuple[str, ...] = ()  # what a report should say of the log

    @property
    def only_mark(self) -> Mark:
        """The name of the score of samples that state only one."""
        return next(iter(self.scores), NO_MARK)
