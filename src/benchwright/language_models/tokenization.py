"""Prompts as token ids: where the context ends and what is scored after it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from benchwright.language_models.protocol import Prompts

SPECIAL_TOKENS = 8
"""Tokens of a context that are reserved for special tokens."""
BYTES_PER_TOKEN = 3
"""At least so many on average, where there is no tokenizer; English has four."""
_END = 100  # characters of a prompt, at least, that are read again with each option
_SETTLED = 8  # tokens at the end of a prompt that must not depend on what is before


class Encoded(NamedTuple):
    """Token ids of a prompt: the context and, for each option, what follows it."""

    context: list[int]
    options: list[list[int]]

    @property
    def option_tokens(self) -> tuple[int, ...]:
        """Tokens of each option, at least 1."""
        return tuple(max(1, len(option)) for option in self.options)

    @property
    def longest(self) -> int:
        """Tokens of the context with the longest option."""
        return len(self.context) + max(map(len, self.options))

    @property
    def row_length(self) -> int:
        """Tokens of the forward pass: the context and all options but their last tokens."""
        return len(self.context) + sum(max(0, len(option) - 1) for option in self.options)


def common_length(sequences: Sequence[list[int]] | Sequence[list[str]]) -> int:
    """Return how many first elements all sequences share."""
    # The two that differ first, in dictionary order.
    low = min(sequences)
    high = max(sequences)
    for position, (a, b) in enumerate(zip(low, high, strict=False)):
        if a != b:
            return position
    return min(len(low), len(high))


def encode(tokenizer: Any, prompts: Prompts) -> list[Encoded]:
    """Tokenise each prompt together with each of its continuations.

    So no token boundary is forced that the model has not seen in training. The context is what all
    options share of the prompt's tokens: where one is joined with the end of the prompt, all are
    scored from one token earlier. Only a prompt's last words are read again for each option, if
    their tokens are the same without the words before.
    """
    special = {prompt.template for prompt in prompts} != {"chat"}
    contexts = _tokens(tokenizer, [prompt.shown for prompt in prompts], special)
    ends: list[str] = []  # of each prompt, alone and with each option
    for prompt in prompts:
        start = prompt.shown.rfind(" ", 0, -_END)
        end = prompt.shown[max(0, start) :]
        ends.append(end)
        ends.extend(end + option for option in prompt.continuations)
    read = iter(_tokens(tokenizer, ends, False))
    encoded = []
    for prompt, context in zip(prompts, contexts, strict=True):
        end_alone = next(read)
        ends_with = [next(read) for _ in prompt.continuations]
        wholes = _joined(context, end_alone, ends_with)
        if wholes is None:
            texts = [prompt.shown + option for option in prompt.continuations]
            wholes = _tokens(tokenizer, texts, special)
        encoded.append(_split(tokenizer, context, wholes))
    return encoded


def _tokens(tokenizer: Any, texts: list[str], special: bool) -> list[list[int]]:
    if not texts:
        return []
    ids: list[list[int]] = tokenizer(texts, add_special_tokens=special).input_ids
    return ids


def _joined(
    context: list[int], end: list[int], ends_with: list[list[int]]
) -> list[list[int]] | None:
    """Return the context with each option, None if its end has other tokens without the rest."""
    first = max(0, len(end) - _SETTLED)
    if len(context) <= _SETTLED or context[-_SETTLED:] != end[first:]:
        return None
    if any(tokens[:first] != end[:first] for tokens in ends_with):
        return None
    return [context[:-_SETTLED] + tokens[first:] for tokens in ends_with]


def encode_contexts(tokenizer: Any, prompts: Prompts) -> list[list[int]]:
    """Return the token ids of each prompt; an empty one is the token that begins or ends a text."""
    contexts = []
    for prompt in prompts:
        special = prompt.template != "chat"
        ids = tokenizer(prompt.shown, add_special_tokens=special).input_ids
        contexts.append(ids or [_start(tokenizer)])
    return contexts


def _start(tokenizer: Any) -> int:
    """Return the token from which the first token of a text is predicted."""
    if tokenizer.bos_token_id is None:
        return int(tokenizer.eos_token_id)
    return int(tokenizer.bos_token_id)


def _split(tokenizer: Any, context: list[int], wholes: list[list[int]]) -> Encoded:
    shared = min(common_length([context, whole]) for whole in wholes)
    if shared == 0:  # nothing to predict the first token from
        return Encoded([_start(tokenizer)], wholes)
    return Encoded(context[:shared], [whole[shared:] for whole in wholes])


_PLACE = "\x1eplace\x1e"


class ChatFrame(NamedTuple):
    """The text before and after a user's message, and the `PromptText.template` it amounts to."""

    before: str
    after: str
    template: str


def chat_frame(tokenizer: Any) -> ChatFrame:
    """Return the frame of one user message that the model is to answer.

    Raises:
        ValueError: the tokenizer has no chat template.
    """
    text = tokenizer.apply_chat_template(
        [{"role": "user", "content": _PLACE}], tokenize=False, add_generation_prompt=True
    )
    before, _, after = text.partition(_PLACE)
    return ChatFrame(before, after, "chat")
