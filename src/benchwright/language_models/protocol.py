"""What a backend takes and gives: prompts with continuations, and their log-likelihoods."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol


class PromptText(NamedTuple):
    """One prompt: the model reads `prefix + text`, each continuation is scored after it.

    `prefix` is shared by many prompts and is computed once. `template` is `chat` where the text
    already carries the model's special tokens, else `none`.
    """

    prefix: str
    text: str
    continuations: tuple[str, ...]
    template: str = "none"


class PromptScore(NamedTuple):
    """What a model makes of one prompt.

    Attributes:
        logprobs: natural log-likelihood of each continuation given the prompt, summed over its
            tokens; None where the prompt is longer than the model's context.
        option_tokens: tokens of each continuation.
        prompt_tokens: tokens before the continuation.
    """

    logprobs: tuple[float, ...] | None
    option_tokens: tuple[int, ...]
    prompt_tokens: int


class LanguageModel(Protocol):
    """A model that can score continuations."""

    def score(
        self, prompts: Sequence[PromptText], progress: Callable[[int], object] | None = None
    ) -> list[PromptScore]:
        """Scores in the order of `prompts`; `progress` is told how many more are done."""
        ...

    def close(self) -> None:
        """Let go of the weights, so that the next model has the memory."""
        ...
