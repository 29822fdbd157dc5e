"""The interface of a model backend: prompts in, log-likelihoods or written answers out."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

Progress = Callable[[int], object]
"""Called with the number of prompts that are newly done."""


class PromptText(NamedTuple):
    """One prompt: the model reads `prefix + text`, and each continuation is scored after it.

    `prefix` is shared by many prompts and computed once. `template` is `chat` if the text already
    carries the model's special tokens, `messages` if it is a user's message that the backend (an
    endpoint) puts into the model's template, else `none`. A prompt for a written answer has no
    continuations.
    """

    prefix: str
    text: str
    continuations: tuple[str, ...]
    template: str = "none"

    @property
    def shown(self) -> str:
        """All that the model reads."""
        return self.prefix + self.text


Prompts = Sequence[PromptText]


class PromptScore(NamedTuple):
    """Scores of one prompt.

    `logprobs` are the natural log-likelihoods of the continuations given the prompt, summed over
    their tokens; None if the prompt exceeds the model's context, empty if a server listed none.
    """

    logprobs: tuple[float, ...] | None
    option_tokens: tuple[int, ...]  # of each continuation
    prompt_tokens: int  # before the continuation


class Sampling(NamedTuple):
    """How a model writes its answers; an answer depends on seed and prompt alone if possible."""

    max_tokens: int  # per answer
    samples: int = 1  # answers per prompt
    temperature: float = 0.0  # 0 takes the most probable token each time
    top_p: float = 1.0  # probability mass of the tokens drawn from, (0, 1]
    stop: tuple[str, ...] = ()  # texts that end an answer and are not part of it
    seed: int = 0

    def cut(self, text: str) -> tuple[str, bool]:
        """Return the text up to its first stop text, and whether it has one."""
        ends = [place for place in map(text.find, self.stop) if place >= 0]
        return (text[: min(ends)], True) if ends else (text, False)


class Generated(NamedTuple):
    """The written answers to one prompt; no texts if the prompt exceeds the model's context."""

    texts: tuple[str, ...] | None  # one per sample
    finish: tuple[str, ...]  # per sample: `stop` (model or stop text), `length` (a token limit)
    generated_tokens: int  # of all samples
    prompt_tokens: int


class LanguageModel(Protocol):
    """A model that can score continuations and write answers.

    Both methods take batches (the shards of the store) and yield the results of each as soon as
    possible, in the order of the batches and of their prompts. A backend may read batches ahead
    to keep its hardware or connections busy.
    """

    def score_batches(
        self, batches: Iterable[Prompts], progress: Progress
    ) -> Iterator[list[PromptScore]]:
        """Yield the log-likelihoods of the continuations."""
        ...

    def generate_batches(
        self, batches: Iterable[Prompts], sampling: Sampling, progress: Progress
    ) -> Iterator[list[Generated]]:
        """Yield the written answers."""
        ...

    def close(self) -> None:
        """Free the weights, so that the next model has the memory."""
        ...


class Ask(Protocol):
    """A model that can be asked."""

    def __call__(self, texts: Sequence[str], attempt: int = 1) -> list[str | None]:
        """Return the reply to each text, a user's message.

        The first attempt takes the most probable tokens; each later one is drawn anew. A reply is
        None if the message exceeds the model's context.
        """
        ...


class Batch(NamedTuple):
    """Prompts that are answered together; without `sampling` their continuations are scored."""

    sampling: Sampling | None
    prompts: tuple[PromptText, ...]


Answers = list[PromptScore] | list[Generated]


def ask(
    model: LanguageModel, batches: Sequence[Batch], progress: Progress
) -> Iterator[tuple[int, Answers]]:
    """Yield the number of each batch with its answers, in order."""
    numbers = itertools.count()
    for sampling, members in itertools.groupby(batches, key=lambda batch: batch.sampling):
        prompts = (batch.prompts for batch in members)
        if sampling is None:
            for scored in model.score_batches(prompts, progress):
                yield next(numbers), scored
        else:
            for written in model.generate_batches(prompts, sampling, progress):
                yield next(numbers), written
