"""What a model's chat template puts before and after a user's message."""

from typing import Any, NamedTuple

_PLACE = "\x1eplace\x1e"


class ChatFrame(NamedTuple):
    """The text before and after a message, and `PromptText.template` of a prompt made so."""

    before: str
    after: str
    template: str


def chat_frame(tokenizer: Any) -> ChatFrame:
    """The frame of one user message to be answered.

    Raises:
        ValueError: the tokenizer has no chat template.
    """
    message = [{"role": "user", "content": _PLACE}]
    text = tokenizer.apply_chat_template(message, tokenize=False, add_generation_prompt=True)
    before, _, after = text.partition(_PLACE)
    return ChatFrame(before, after, "chat")
