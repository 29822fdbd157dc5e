"""A model behind an OpenAI-compatible server: OpenAI's, `vllm serve`, llama.cpp's and others.

Servers differ in what they take and in what they give for it. What one refuses is asked in its
other wording (`max_completion_tokens`, five log-probabilities for twenty, one sample at a time);
what it leaves out ends the run with a line that says which setting would do.
"""

import hashlib
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from benchwright.core.errors import InputError
from benchwright.language_models.answer_threads import in_order
from benchwright.language_models.endpoint_replies import (
    Echo,
    Ranking,
    Written,
    label_logprobs,
    read_echo,
    read_ranking,
    read_written,
    room_left,
    scored_span,
)
from benchwright.language_models.http_retries import Connection, JsonServer, RefusedError
from benchwright.language_models.protocol import (
    Generated,
    Progress,
    PromptScore,
    PromptText,
    Sampling,
)
from benchwright.language_models.tokenization import common_length, encode
from benchwright.params.scoring import ModelParams

Answer = TypeVar("Answer")

_TOP = 20  # most probable first tokens asked for; OpenAI's chat and vLLM give at most as many
_FEW = 5  # where a server gives fewer, as OpenAI's completions do
_STOPS = 4  # stop texts that servers take; answers are cut at the others here
_BYTES_PER_TOKEN = 3  # where there is no tokenizer to count with; English has four
_SPECIAL_TOKENS = 8  # room for those a tokenizer adds by itself
_TEMPLATE_TOKENS = 64  # room for those of a chat template
_UNKNOWN = -1
_LABEL = re.compile(r"\s\S{1,3}")


class _TooLongError(Exception):
    """The server refuses a prompt as longer than the model's context; what it says."""


class _Asked(NamedTuple):
    """A prompt, and its tokens where there is a tokenizer to count them.

    `prompt_tokens` is −1 where there is none, `option_tokens` 1 each.
    """

    prompt: PromptText
    prompt_tokens: int
    option_tokens: tuple[int, ...]

    @property
    def text(self) -> str:
        return self.prompt.prefix + self.prompt.text


class EndpointModel:
    """A model behind an OpenAI-compatible server; see `LanguageModel`.

    With `endpoint.logprobs: echo` each continuation is sent after its prompt, and the
    log-probabilities of its tokens are read off the echo; as with the local backend, a token that
    straddles the border counts to the continuation, and all continuations of that prompt are then
    scored from the same token on. Where they are all labels after a space and the server lists
    every one, spelled just so, among the most probable next tokens, one request gives the same
    numbers and is enough.

    With `top` the labels are looked up among the most probable first tokens of an answer; see
    `label_logprobs`. Where none is listed, `logprobs` is None although the prompt was read.

    A prompt that the tokenizer or the server finds too long is no error: its logprobs or texts are
    None. Tokens are counted by the server, else by the tokenizer; `prompt_tokens` is −1 where
    nobody did.

    Args:
        name: of the model, as conf has it.
        params: of the model, with its endpoint.
        context: tokens that the model may read and write.
        tokenizer: of the model, to find prompts that are too long before they are sent.

    Raises:
        InputError: the key's environment variable is not set, or the url is none.
    """

    def __init__(
        self, name: str, params: ModelParams, context: int, tokenizer: Any | None = None
    ) -> None:
        if params.endpoint is None:
            raise InputError(f"models.{name}: backend openai needs an endpoint with its url")
        self._where = f"models.{name}.endpoint"
        self._endpoint = params.endpoint
        self._model = params.endpoint.model or name
        self._chat = params.endpoint.api == "chat"
        self._context = context
        self._tokenizer = tokenizer
        self._server = JsonServer(name, params.endpoint, _key(self._where, params.endpoint.key_env))
        # What this server was found to take.
        self._limit_name = "max_tokens"
        self._echo_limit = 0
        self._top = _TOP
        self._ranks_labels = True
        self._gives_several = True

    def score_batches(
        self, batches: Iterable[Sequence[PromptText]], progress: Progress
    ) -> Iterator[list[PromptScore]]:
        """Log-likelihoods of the continuations.

        Raises:
            InputError: the server cannot be reached, refuses what it is asked, or gives no
                log-probabilities.
        """
        return self._answers(batches, self._score, progress)

    def generate_batches(
        self, batches: Iterable[Sequence[PromptText]], sampling: Sampling, progress: Progress
    ) -> Iterator[list[Generated]]:
        """Answers in the model's own words; its reasoning is left out where the server parts it.

        Raises:
            InputError: the server cannot be reached, or refuses what it is asked.
        """

        def answer(connection: Connection, asked: _Asked) -> Generated:
            return self._write(connection, asked, sampling)

        return self._answers(batches, answer, progress)

    def close(self) -> None:
        """Nothing to let go of: connections end with the iterator that opened them."""

    def _answers(
        self,
        batches: Iterable[Sequence[PromptText]],
        answer: Callable[[Connection, _Asked], Answer],
        progress: Progress,
    ) -> Iterator[list[Answer]]:
        def answered(connection: Connection, asked: _Asked) -> Answer:
            try:
                return answer(connection, asked)
            except RefusedError as refused:
                raise InputError(self._advice(refused)) from None

        # Counted here, in one thread: tokenizers do not like several.
        counted = (self._counted(batch) for batch in batches)
        threads = self._endpoint.concurrency
        return in_order(counted, answered, self._server.connect, threads, progress)

    def _counted(self, prompts: Sequence[PromptText]) -> list[_Asked]:
        if self._tokenizer is None:
            return [_Asked(p, _UNKNOWN, (1,) * len(p.continuations)) for p in prompts]
        # Encoding needs something to score; what a model writes begins after the prompt alone.
        scored = [p if p.continuations else p._replace(continuations=("",)) for p in prompts]
        return [
            _Asked(p, len(e.context), tuple(max(1, len(option)) for option in e.options))
            for p, e in zip(prompts, encode(self._tokenizer, scored), strict=True)
        ]

    def _score(self, connection: Connection, asked: _Asked) -> PromptScore:
        unread = PromptScore(None, asked.option_tokens, asked.prompt_tokens)
        if asked.prompt_tokens + max(asked.option_tokens) > self._context:
            return unread
        try:
            if self._endpoint.logprobs != "echo":
                return self._top_score(connection, asked)
            return self._ranked_labels(connection, asked) or self._echo_score(connection, asked)
        except _TooLongError:
            return unread

    def _echo_score(self, connection: Connection, asked: _Asked) -> PromptScore:
        texts = [asked.text + option for option in asked.prompt.continuations]
        echoes = [self._echo(connection, text) for text in texts]
        spans = [
            scored_span(echo, text, len(asked.text), self._echo_limit)
            for echo, text in zip(echoes, texts, strict=True)
        ]
        start = common_length(
            [echo.tokens[:first] for echo, (first, _) in zip(echoes, spans, strict=True)]
        )
        sums = []
        for echo, (_, end) in zip(echoes, spans, strict=True):
            known = [value for value in echo.logprobs[start:end] if value is not None]
            if start == 0 or len(known) < len(echo.logprobs[start:end]):
                raise InputError(
                    f"{self._where}: {self._server.address} gives no log-probabilities of the "
                    f"echoed prompt: {self._less}"
                )
            sums.append(math.fsum(known))
        return PromptScore(tuple(sums), tuple(end - start for _, end in spans), start)

    def _ranked_labels(self, connection: Connection, asked: _Asked) -> PromptScore | None:
        """The labels' scores from one request, where it surely gives the same as the echo does."""
        options = asked.prompt.continuations
        labels = len(options) > 1 and all(map(_LABEL.fullmatch, options))
        # After a word, a space begins a token in every tokenizer.
        after_a_word = asked.text != "" and not asked.text[-1].isspace()
        if not (labels and after_a_word and self._ranks_labels):
            return None
        try:
            ranking = self._rank(connection, asked)
        except RefusedError as refused:
            if refused.status not in {400, 422}:
                raise
            ranking = None
        if ranking is None:
            self._ranks_labels = False
            return None
        listed = dict(ranking.tokens)
        if not all(option in listed for option in options):
            return None
        values = tuple(listed[option] for option in options)
        return PromptScore(values, (1,) * len(options), _read(ranking, asked))

    def _top_score(self, connection: Connection, asked: _Asked) -> PromptScore:
        ranking = self._rank(connection, asked)
        if ranking is None:
            raise InputError(self._silent)
        labels = [option.strip() for option in asked.prompt.continuations]
        logprobs = label_logprobs(ranking.tokens, labels)
        # No label among the most probable: an answer that is no option, not a prompt too long.
        return PromptScore(logprobs or (), asked.option_tokens, _read(ranking, asked))

    @property
    def _silent(self) -> str:
        return (
            f"{self._where}: {self._server.address} answers without log-probabilities: {self._less}"
        )

    @property
    def _less(self) -> str:
        """How to ask a server that does not give the log-probabilities that are asked for."""
        sampled = "set endpoint.logprobs: none to sample answers"
        if self._endpoint.logprobs == "top":
            return sampled
        return f"{sampled}, or endpoint.logprobs: top for letters"

    def _echo(self, connection: Connection, text: str) -> Echo:
        def fields() -> dict[str, Any]:
            asked = {"max_tokens": self._echo_limit, "echo": True, "logprobs": 1}
            return {"prompt": text, **asked, "temperature": 0}

        echo = self._post(connection, fields, read_echo)
        if echo is None:
            raise InputError(self._silent)
        return echo

    def _rank(self, connection: Connection, asked: _Asked) -> Ranking | None:
        def fields() -> dict[str, Any]:
            wanted = {"logprobs": True, "top_logprobs": self._top}
            top = wanted if self._chat else {"logprobs": self._top}
            return {**self._shown(asked), self._limit_name: 1, "temperature": 0, **top}

        return self._post(connection, fields, read_ranking)

    def _write(self, connection: Connection, asked: _Asked, sampling: Sampling) -> Generated:
        if asked.prompt_tokens >= self._context:
            return Generated(None, (), 0, asked.prompt_tokens)
        answers: list[tuple[str, str]] = []
        generated, prompt_tokens = 0, asked.prompt_tokens
        while (done := len(answers)) < sampling.samples:
            left = sampling.samples - done
            try:
                written = self._draw(connection, asked, sampling, done)
            except _TooLongError:
                return Generated(None, (), 0, asked.prompt_tokens)
            answers += [cut_at_stop(*answer, sampling.stop) for answer in written.answers[:left]]
            generated += max(0, written.generated_tokens)
            prompt_tokens = max(prompt_tokens, written.prompt_tokens)
            if len(written.answers) < left:
                self._gives_several = False
        texts, finish = zip(*answers, strict=True)
        return Generated(texts, finish, generated, prompt_tokens)

    def _draw(
        self, connection: Connection, asked: _Asked, sampling: Sampling, done: int
    ) -> Written:
        """The samples after the first `done`, or one of them.

        Raises:
            _TooLongError: the prompt leaves no room for an answer.
        """
        most = self._room(asked, sampling.max_tokens)

        def fields() -> dict[str, Any]:
            made = {**self._shown(asked), self._limit_name: most}
            made["temperature"] = sampling.temperature
            if sampling.temperature > 0:
                made |= {"top_p": sampling.top_p, "seed": sample_seed(sampling.seed, done)}
            if sampling.samples - done > 1 and self._gives_several:
                made["n"] = sampling.samples - done
            if sampling.stop:
                made["stop"] = list(sampling.stop[:_STOPS])
            return made

        while True:
            try:
                return self._post(connection, fields, read_written)
            except _TooLongError as refused:
                room = room_left(str(refused))
                if not 0 < room < most:
                    raise
                most = room

    def _room(self, asked: _Asked, wanted: int) -> int:
        """Tokens that may be written, so that a server does not refuse what cannot fit.

        Prompts are built to leave half of the context to a long answer.
        """
        special = _TEMPLATE_TOKENS if self._chat else _SPECIAL_TOKENS
        if asked.prompt_tokens >= 0:
            left = self._context - asked.prompt_tokens - (special if self._chat else 0)
        else:
            used = math.ceil(len(asked.text.encode()) / _BYTES_PER_TOKEN) + special
            left = max(self._context - used, self._context // 2)
        return max(1, min(wanted, left))

    def _shown(self, asked: _Asked) -> dict[str, Any]:
        if self._chat:
            return {"messages": [{"role": "user", "content": asked.text}]}
        return {"prompt": asked.text}

    def _post(
        self,
        connection: Connection,
        fields: Callable[[], dict[str, Any]],
        read: Callable[[Any], Answer],
    ) -> Answer:
        """Ask, in other words where the server refuses these.

        Raises:
            _TooLongError: the prompt is longer than the model's context.
            RefusedError: any other refusal.
        """
        path = "/chat/completions" if self._chat else "/completions"
        while True:
            asked = fields()
            body = {"model": self._model, **asked, **self._endpoint.extra_body}
            body = {name: value for name, value in body.items() if value is not None}
            try:
                return self._server.ask(connection, path, body, read)
            except RefusedError as refused:
                if refused.too_long:
                    raise _TooLongError(refused.message) from None
                if refused.status not in {400, 422} or not self._learns(asked, refused.message):
                    raise

    def _learns(self, asked: Mapping[str, Any], message: str) -> bool:
        """Whether a refusal says how to ask otherwise; if so, all later requests do."""
        few = {asked.get("logprobs"), asked.get("top_logprobs")} & {_TOP}
        if "max_completion_tokens" in message and self._chat and "max_tokens" in asked:
            self._limit_name = "max_completion_tokens"
        elif asked.get("echo") and asked["max_tokens"] == 0:
            self._echo_limit = 1
        elif few and "logprobs" in message:
            self._top = _FEW
        elif "n" in asked and re.search(r"\bn\b|\bbest_of\b", message):
            self._gives_several = False
        else:
            return False
        return True

    def _advice(self, refused: RefusedError) -> str:
        said = f"{self._where}: {self._server.address} answers {refused.status}: {refused.message}"
        variable = self._endpoint.key_env
        if refused.status in {401, 403}:
            advice = (
                f"look at the key in {variable} (endpoint.key_env)"
                if variable
                else "set endpoint.key_env to the environment variable that holds the key"
            )
        elif refused.status == 404:
            advice = f"look at endpoint.url, endpoint.api and endpoint.model ({self._model})"
        elif refused.status == 429:
            advice = "look at the quota of the account"
        elif self._endpoint.logprobs != "none" and re.search("logprobs|echo", refused.message):
            advice = self._less
        elif refused.status in {400, 422}:
            advice = (
                f"look at endpoint.model ({self._model}), endpoint.api, endpoint.logprobs "
                f"({self._endpoint.logprobs}) and endpoint.extra_body (null drops a field), and "
                "whether the model's context is as conf says"
            )
        else:
            advice = "look at endpoint.url"
        return f"{said}; {advice}"


def _key(where: str, variable: str | None) -> str | None:
    if variable is None:
        return None
    key = os.environ.get(variable, "").strip()
    if not key:
        raise InputError(
            f"{where}.key_env: environment variable {variable} is not set: put the server's key "
            "there, or set key_env: null for a server that takes none"
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise InputError(
            f"{where}.key_env: environment variable {variable} holds spaces or characters beyond "
            "ASCII: put the key there and nothing else"
        )
    return key


def cut_at_stop(text: str, finish: str, stop: Sequence[str]) -> tuple[str, str]:
    """An answer up to the first of the stop texts, for servers that include or ignore them."""
    ends = [at for at in (text.find(one) for one in stop) if at >= 0]
    return (text[: min(ends)], "stop") if ends else (text, finish)


def sample_seed(seed: int, sample: int) -> int:
    """The seed of one sample where they are asked for one by one; the first has `seed` itself."""
    if sample == 0:
        return seed
    digest = hashlib.blake2b(f"{seed}:{sample}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) >> 1


def _read(ranking: Ranking, asked: _Asked) -> int:
    """Tokens of a prompt as the server counts them, else as the tokenizer does."""
    return ranking.prompt_tokens if ranking.prompt_tokens >= 0 else asked.prompt_tokens
