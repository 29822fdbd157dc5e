"""What a backend takes and gives: prompts in; log-likelihoods or written answers out."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

Progress = Callable[[int], object]
"""Told how many more prompts are done."""


class PromptText(NamedTuple):
    """One prompt: the model reads `prefix + text`, each continuation is scored after it.

    `prefix` is shared by many prompts and is computed once. `template` is `chat` where the text
    already carries the model's special tokens, `messages` where it is what the user says and the
    backend (an endpoint) puts it into the model's template, else `none`. A prompt to be answered
    in the model's own words has no continuations.
    """

    prefix: str
    text: str
    continuations: tuple[str, ...]
    template: str = "none"


class PromptScore(NamedTuple):
    """What a model makes of one prompt.

    Attributes:
        logprobs: natural log-likelihood of each continuation given the prompt, summed over its
            tokens; None where the prompt is longer than the model's context, empty where a server
            listed none of them.
        option_tokens: tokens of each continuation.
        prompt_tokens: tokens before the continuation.
    """

    logprobs: tuple[float, ...] | None
    option_tokens: tuple[int, ...]
    prompt_tokens: int


class Sampling(NamedTuple):
    """How a model writes its answers.

    Attributes:
        max_tokens: the most it may write per answer.
        samples: answers per prompt.
        temperature: 0 takes the most probable token each time.
        top_p: probability mass of the tokens drawn from, (0, 1].
        stop: texts that end an answer; they are not part of it.
        seed: of the draws; an answer depends on it and on its prompt alone, where the backend can.
    """

    max_tokens: int
    samples: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    stop: tuple[str, ...] = ()
    seed: int = 0


class Generated(NamedTuple):
    """What a model wrote after one prompt.

    Attributes:
        texts: one per sample; None where the prompt is longer than the model's context.
        finish: per sample, `stop` where the model or a stop text ended it, `length` where
            `max_tokens` or the context did; empty where `texts` is None.
        generated_tokens: tokens of all samples together.
        prompt_tokens: tokens of the prompt.
    """

    texts: tuple[str, ...] | None
    finish: tuple[str, ...]
    generated_tokens: int
    prompt_tokens: int


class LanguageModel(Protocol):
    """A model that can score continuations and write answers.

    Both methods take batches (the shards of the store) and give the results of each as soon as
    they are there, in the order of the batches and of the prompts in them. A backend may read
    batches ahead to keep its hardware or its connections busy.
    """

    def score_batches(
        self, batches: Iterable[Sequence[PromptText]], progress: Progress
    ) -> Iterator[list[PromptScore]]:
        """Log-likelihoods of the continuations."""
        ...

    def generate_batches(
        self, batches: Iterable[Sequence[PromptText]], sampling: Sampling, progress: Progress
    ) -> Iterator[list[Generated]]:
        """Answers in the model's own words."""
        ...

    def close(self) -> None:
        """Let go of the weights, so that the next model has the memory."""
        ...


class Ask(Protocol):
    """One model, ready to be asked."""

    def __call__(self, texts: Sequence[str], attempt: int = 1) -> list[str | None]:
        """The reply to each text, a user's message, in their order.

        The first attempt takes the most probable words; later ones are drawn, each anew. None
        where the message does not fit the model's context.
        """
        ...


class Batch(NamedTuple):
    """Prompts that are answered together; `sampling` None scores their continuations."""

    sampling: Sampling | None
    prompts: tuple[PromptText, ...]


Answers = list[PromptScore] | list[Generated]


def ask(
    model: LanguageModel, batches: Sequence[Batch], progress: Progress
) -> Iterator[tuple[int, Answers]]:
    """Ask a loaded model; the number of each batch with its answers, in order."""
    numbers = itertools.count()
    for sampling, own in itertools.groupby(batches, key=lambda batch: batch.sampling):
        prompts = (batch.prompts for batch in own)
        if sampling is None:
            for scored in model.score_batches(prompts, progress):
                yield next(numbers), scored
        else:
            for written in model.generate_batches(prompts, sampling, progress):
                yield next(numbers), written
