"""Prompts as token ids: where the context ends and what is scored after it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from benchwright.language_models.protocol import PromptText

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
    low, high = min(sequences), max(sequences)  # the two that differ first, in dictionary order
    for position, (a, b) in enumerate(zip(low, high, strict=False)):
        if a != b:
            return position
    return min(len(low), len(high))


def encode(tokenizer: Any, prompts: Sequence[PromptText]) -> list[Encoded]:
    """Tokenise each prompt together with each of its continuations.

    So no token boundary is forced that the model has not seen in training. The context is what all
    options share of the prompt's tokens: where one is joined with the end of the prompt, all are
    scored from one token earlier. Only a prompt's last words are read again for each option, if
    their tokens are the same without the words before.
    """
    special = {prompt.template for prompt in prompts} != {"chat"}
    texts = [prompt.prefix + prompt.text for prompt in prompts]
    contexts = _tokens(tokenizer, texts, special)
    ends = [text[max(0, text.rfind(" ", 0, -_END)) :] for text in texts]
    options = [("", *prompt.continuations) for prompt in prompts]
    pairs = zip(ends, options, strict=True)
    longer = [end + option for end, own in pairs for option in own]
    read = iter(_tokens(tokenizer, longer, False))
    encoded = []
    for own, text, context in zip(options, texts, contexts, strict=True):
        end, *wholes = [next(read) for _ in own]
        first = max(0, len(end) - _SETTLED)
        same = len(context) > _SETTLED and context[-_SETTLED:] == end[first:]
        if same and all(whole[:first] == end[:first] for whole in wholes):
            wholes = [context[:-_SETTLED] + whole[first:] for whole in wholes]
        else:
            wholes = _tokens(tokenizer, [text + option for option in own[1:]], special)
        encoded.append(_split(tokenizer, context, wholes))
    return encoded


def _tokens(tokenizer: Any, texts: list[str], special: bool) -> list[list[int]]:
    ids: list[list[int]] = tokenizer(texts, add_special_tokens=special).input_ids if texts else []
    return ids


def encode_contexts(tokenizer: Any, prompts: Sequence[PromptText]) -> list[list[int]]:
    """Return the token ids of each prompt; an empty one is the token that begins or ends a text."""
    texts = [prompt.prefix + prompt.text for prompt in prompts]
    special = [prompt.template != "chat" for prompt in prompts]
    encoded = (tokenizer(t, add_special_tokens=s) for t, s in zip(texts, special, strict=True))
    return [each.input_ids or [_start(tokenizer)] for each in encoded]


def _start(tokenizer: Any) -> int:
    """Return the token from which the first token of a text is predicted."""
    bos = tokenizer.bos_token_id
    return int(tokenizer.eos_token_id if bos is None else bos)


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
    message = [{"role": "user", "content": _PLACE}]
    text = tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
    before, _, after = text.partition(_PLACE)
    return ChatFrame(before, after, "chat")
