"""What it costs to ask so many items."""

from typing import NamedTuple

from benchwright.core.errors import InputError


class Cost(NamedTuple):
    """Of one evaluation; None where not known.

    Attributes:
        prompts: one for each item and model.
        tokens: of all prompts.
        price: in the currency of `per_million_tokens`.
        seconds: one prompt after the other.
    """

    prompts: int
    tokens: float | None
    price: float | None
    seconds: float | None


class CostPerPrompt(NamedTuple):
    """What a prompt costs.

    Attributes:
        tokens: of an item's text, on average; None where there are no texts.
        counted_by: how tokens were counted, in words.
        models: that are asked.
        shots: demonstrations before each question, each as long as an item.
        per_million_tokens: price of prompts' tokens.
        seconds: of one prompt.
    """

    tokens: float | None = None
    counted_by: str = "no texts are known"
    models: int = 1
    shots: int = 0
    per_million_tokens: float | None = None
    seconds: float | None = None

    def of(self, items: int) -> Cost:
        """The cost of asking so many items."""
        prompts = items * self.models
        tokens = None if self.tokens is None else prompts * self.tokens * (1 + self.shots)
        priced = tokens is not None and self.per_million_tokens is not None
        return Cost(
            prompts,
            tokens,
            tokens * self.per_million_tokens / 1e6 if priced else None,  # type: ignore[operator]
            None if self.seconds is None else prompts * self.seconds,
        )


def checked_cost(cost: CostPerPrompt) -> CostPerPrompt:
    """The same cost.

    Raises:
        InputError: a number makes no sense.
    """
    for option, value, least in (
        ("--models", cost.models, 1),
        ("--shots", cost.shots, 0),
        ("--price", cost.per_million_tokens, 0),
        ("--seconds", cost.seconds, 0),
    ):
        if value is not None and not value >= least:
            raise InputError(f"{option} {value}: at least {least} is accepted")
    return cost
