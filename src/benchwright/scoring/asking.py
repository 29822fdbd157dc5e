"""Written answers of chat models, with a store of replies, for any stage."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

from benchwright.core.errors import InputError
from benchwright.core.stored_shards import StoredShards
from benchwright.language_models.loading import message_frame
from benchwright.language_models.protocol import Ask, PromptText, Sampling
from benchwright.language_models.tokenization import ChatFrame
from benchwright.params.scoring import ModelParams, ModelsParams, ScoringParams
from benchwright.scoring.model_engine import answer_shards
from benchwright.scoring.score_shards import (
    absent,
    cut_shards,
    model_ingredients,
    score_key,
)

T = TypeVar("T")
_TEMPERATURE = 0.7  # of further attempts: another reply, still a sensible one

_STYLE = "ask"  # in the keys, since no item is answered


def ask_model(
    name: str,
    models: ModelsParams,
    scoring: ScoringParams,
    store: StoredShards,
    *,
    max_tokens: int,
    what: str,
) -> Ask:
    """Return a model of conf as a function that loads it for the first new text.

    Models with `instruct` (or `chat_template`) get a text as a user's message in their chat
    template, an endpoint with `api: chat` as `messages`, others the plain text. Replies are added
    to the store shard by shard, so that a killed run continues where it was. The first attempt has
    temperature 0; attempt n draws at .7 with seed n. `what` names the task in messages.

    Raises:
        InputError: the name is not known. When asked: weights, backend, server or chat template
            are missing.
    """
    return _Asker(name, models.named(name, what), scoring, store, max_tokens, what)


@dataclass
class _Asker:
    name: str
    model: ModelParams
    scoring: ScoringParams
    store: StoredShards
    max_tokens: int
    what: str

    def __call__(self, texts: Sequence[str], attempt: int = 1) -> list[str | None]:
        if not texts:
            return []
        temperature = 0.0 if attempt == 1 else _TEMPERATURE
        drawn = Sampling(self.max_tokens, temperature=temperature, seed=attempt)
        try:
            replies = self._replies(sorted(set(texts)), drawn)
        except InputError as error:
            raise InputError(f"{self.what} with {self.name}: {error}") from error
        return [replies[text] for text in texts]

    def _replies(self, texts: Sequence[str], drawn: Sampling) -> dict[str, str | None]:
        asked = model_ingredients(self.model, self.scoring) | {"sampling": json.dumps(drawn)}
        before, after, template = self._frame
        prompts = {text: PromptText("", before + text + after, (), template) for text in texts}
        keys = {text: score_key(asked, prompts[text], (), _STYLE, 0) for text in texts}
        by_key = {keys[text]: prompts[text] for text in texts}
        shards = cut_shards(self.name, by_key, drawn, self.scoring)
        shards.sort(key=lambda shard: shard.name)
        models = {self.name: self.model}
        answered = answer_shards(shards, self.store, models, self.scoring, f"{self.what} with")
        for name, frame in answered:
            self.store.add(name, frame)
        written: dict[str, str | None] = {}
        for shard in shards:
            frame = self.store[shard.name]
            for key, samples in zip(frame["key"], frame["texts"], strict=True):
                written[key] = None if absent(samples) else str(samples[0])
        return {text: written[key] for text, key in keys.items()}

    @cached_property
    def _frame(self) -> ChatFrame:
        in_template = self.model.instruct or self.model.chat_template
        try:
            return message_frame(self.model, self.scoring, in_template)
        except InputError:
            raise
        except ValueError as error:
            raise InputError(
                f"models.{self.name}: its tokenizer has no chat template for a user's message; "
                "set instruct: false to ask it in plain text"
            ) from error


class Reply(NamedTuple, Generic[T]):
    """A judge's reply to one text in one attempt."""

    place: int  # of the text
    attempt: int  # from 1
    reply: str | None  # None if the text does not fit the model's context
    value: T | None  # None if nothing could be read
    status: str  # parsed, unparsed or too_long


class Rounds(NamedTuple, Generic[T]):
    """All attempts in order, and the last one on each text (n,)."""

    attempts: list[Reply[T]]
    last: list[Reply[T]]


def ask_in_rounds(
    ask: Ask, texts: Sequence[str], parse: Callable[[int, str], T | None], attempts: int
) -> Rounds[T]:
    """Ask all texts, and ask again if a reply is unreadable.

    A text that does not fit the model's context is asked once. `parse` reads the value from the
    place of a text and the reply to it, or returns None. `attempts` is at least 1.
    """
    replies: list[Reply[T]] = []
    last: dict[int, Reply[T]] = {}
    open_places = list(range(len(texts)))
    for attempt in range(1, attempts + 1):
        if not open_places:
            break
        written = ask([texts[place] for place in open_places], attempt)
        for place, reply in zip(open_places, written, strict=True):
            value = None
            status = "too_long"
            if reply is not None:
                value = parse(place, reply)
                status = "unparsed" if value is None else "parsed"
            last[place] = Reply(place, attempt, reply, value, status)
            replies.append(last[place])
        open_places = [place for place in open_places if last[place].status == "unparsed"]
    return Rounds(replies, [last[place] for place in range(len(texts))])
