"""Models behind an OpenAI-compatible server: OpenAI's, `vllm serve`, llama.cpp's and others.

Servers accept and return different fields. A refused request is repeated in another form
(`max_completion_tokens`, five log-probabilities in place of twenty, one sample at a time); a
missing field ends the run with an error that names the setting to change.
"""

import hashlib
import math
import os
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from httpx2 import AsyncClient
from pydantic import SecretStr

from benchwright.core.errors import InputError
from benchwright.language_models.http_retries import (
    BadReplyError,
    JsonServer,
    RefusedError,
    in_order,
)
from benchwright.language_models.protocol import (
    Generated,
    Progress,
    Prompts,
    PromptScore,
    PromptText,
    Sampling,
)
from benchwright.language_models.tokenization import (
    BYTES_PER_TOKEN,
    SPECIAL_TOKENS,
    common_length,
    encode,
)
from benchwright.params.scoring import ModelParams

Answer = TypeVar("Answer")

_LOWEST = -9999.0  # servers write this for a probability of 0
_LEAST_MASS = 1e-9  # least probability of all unlisted tokens, where rounding leaves none
_SPACES = " \t\r\n\u2581\u0120"  # the last two are SentencePiece's and byte-level BPE's space
_PART_OF_A_CHARACTER = re.compile("\ufffd|\\Abytes:|\\A<0x[0-9A-F]{2}>\\Z|\\A\\Z")
_ENDED = {"stop", "eos", "eos_token", "stop_sequence", "end_turn"}
_TOP = 20  # requested number of most probable first tokens: the maximum of OpenAI's chat and vLLM
_FEW = 5  # the maximum of OpenAI's completions
_STOPS = 4  # stop texts that servers accept; answers are cut at the others here
_TEMPLATE_TOKENS = 64  # reserved for a chat template
_UNKNOWN = -1
_BAD_REQUEST = {400, 422}  # HTTP status codes of a request with a wrong field or value
_ALTERNATIVE = (
    "set endpoint.logprobs: none to sample answers, or endpoint.logprobs: top for letters"
)


class _Request(NamedTuple):
    """A prompt and its token counts."""

    prompt: PromptText
    prompt_tokens: int  # −1 without a tokenizer
    option_tokens: tuple[int, ...]  # 1 each without a tokenizer


class EndpointModel:
    """A model behind an OpenAI-compatible server; see `LanguageModel`.

    With `endpoint.logprobs: echo` each continuation is sent after its prompt, and the
    log-probabilities of its tokens are read from the echo; a token that straddles the border
    belongs to the continuation. With `top` the labels are looked up among the most probable first
    tokens of an answer; `logprobs` is empty if none is listed. Tokens are counted by the server,
    else by the tokenizer; `prompt_tokens` is −1 if by neither.

    Raises:
        InputError: the key's environment variable is not set, or the url is not valid.
    """

    def __init__(
        self, name: str, params: ModelParams, context: int, tokenizer: Any | None = None
    ) -> None:
        assert params.endpoint is not None  # noqa: S101  (ModelParams holds it)
        self._where = f"models.{name}.endpoint"
        self._endpoint = params.endpoint
        self._model = params.endpoint.model or name
        self._chat = params.endpoint.api == "chat"
        self._context = context
        self._tokenizer = tokenizer
        key = _key(self._where, params.endpoint.key_env)
        self._server = JsonServer(self._where, params.endpoint, key)
        # What this server was found to accept.
        self._limit_name = "max_tokens"
        self._echo_limit = 0
        self._top = _TOP
        self._gives_several = True

    def score_batches(
        self, batches: Iterable[Prompts], progress: Progress
    ) -> Iterator[list[PromptScore]]:
        """Yield the log-likelihoods of the continuations."""
        score = self._echo_score if self._endpoint.logprobs == "echo" else self._top_score

        def too_long(request: _Request) -> PromptScore:
            return PromptScore(None, request.option_tokens, request.prompt_tokens)

        return self._answers(batches, score, too_long, progress)

    def generate_batches(
        self, batches: Iterable[Prompts], sampling: Sampling, progress: Progress
    ) -> Iterator[list[Generated]]:
        """Yield written answers, without reasoning where the server separates it."""

        def too_long(request: _Request) -> Generated:
            return Generated(None, (), 0, request.prompt_tokens)

        write = partial(self._write, sampling=sampling)
        return self._answers(batches, write, too_long, progress)

    def close(self) -> None:
        """Do nothing: connections end with the iterator that opened them."""

    def _answers(
        self,
        batches: Iterable[Prompts],
        answer: Callable[[AsyncClient, _Request], Awaitable[Answer]],
        too_long: Callable[[_Request], Answer],
        progress: Progress,
    ) -> Iterator[list[Answer]]:
        async def answered(client: AsyncClient, request: _Request) -> Answer:
            if request.prompt_tokens + max(request.option_tokens, default=1) > self._context:
                return too_long(request)
            try:
                return await answer(client, request)
            except RefusedError as refused:
                if refused.too_long:
                    return too_long(request)
                raise InputError(self._advice(refused)) from None

        counted = map(self._counted, batches)
        most = self._endpoint.concurrency
        return in_order(counted, answered, self._server.client, most, progress)

    def _counted(self, prompts: Prompts) -> list[_Request]:
        if self._tokenizer is None:
            return [_Request(p, _UNKNOWN, (1,) * len(p.continuations)) for p in prompts]
        # `encode` needs a continuation.
        scored = [p._replace(continuations=p.continuations or ("",)) for p in prompts]
        encoded = encode(self._tokenizer, scored)
        return [
            _Request(prompt, len(tokens.context), tokens.option_tokens)
            for prompt, tokens in zip(prompts, encoded, strict=True)
        ]

    async def _echo_score(self, client: AsyncClient, request: _Request) -> PromptScore:
        shown = request.prompt.shown
        echoes = []
        before = []
        ends = []
        for option in request.prompt.continuations:
            text = shown + option
            echo = await self._post(client, partial(self._echo_fields, text), read_echo)
            if echo is None:
                raise self._no_logprobs()
            first, end = scored_span(echo.tokens, text, len(shown), self._echo_limit)
            echoes.append(echo)
            before.append(echo.tokens[:first])
            ends.append(end)
        start = common_length(before)
        sums = []
        for echo, end in zip(echoes, ends, strict=True):
            logprobs = echo.logprobs[start:end]
            known = [value for value in logprobs if value is not None]
            if start == 0 or len(known) < len(logprobs):
                raise self._no_logprobs()
            sums.append(math.fsum(known))
        return PromptScore(tuple(sums), tuple(end - start for end in ends), start)

    async def _top_score(self, client: AsyncClient, request: _Request) -> PromptScore:
        ranking = await self._post(client, partial(self._top_fields, request), read_ranking)
        if ranking is None:
            raise self._no_logprobs()
        labels = [option.strip() for option in request.prompt.continuations]
        logprobs = label_logprobs(ranking.tokens, labels)
        counted = ranking.prompt_tokens if ranking.prompt_tokens >= 0 else request.prompt_tokens
        # Empty if no label is listed: the answer is no option, the prompt is not too long.
        return PromptScore(logprobs or (), request.option_tokens, counted)

    def _top_fields(self, request: _Request) -> dict[str, Any]:
        fields = {**self._shown(request), self._limit_name: 1, "temperature": 0}
        if self._chat:
            return {**fields, "logprobs": True, "top_logprobs": self._top}
        return {**fields, "logprobs": self._top}

    def _no_logprobs(self) -> InputError:
        where = f"{self._where}: {self._server.address}"
        return InputError(f"{where} answers without log-probabilities: {_ALTERNATIVE}")

    def _echo_fields(self, text: str) -> dict[str, Any]:
        return {
            "prompt": text,
            "max_tokens": self._echo_limit,
            "echo": True,
            "logprobs": 1,
            "temperature": 0,
        }

    async def _write(self, client: AsyncClient, request: _Request, sampling: Sampling) -> Generated:
        answers: list[tuple[str, str]] = []
        generated = 0
        prompt_tokens = request.prompt_tokens
        while len(answers) < sampling.samples:
            done = len(answers)
            left = sampling.samples - done
            fields = partial(self._sample_fields, request, sampling, done)
            written = await self._post(client, fields, read_written)
            for text, finish in written.answers[:left]:  # some servers ignore or include stops
                answer, is_cut = sampling.cut(text)
                answers.append((answer, "stop" if is_cut else finish))
            generated += max(0, written.generated_tokens)
            prompt_tokens = max(prompt_tokens, written.prompt_tokens)
            if len(written.answers) < left:
                self._gives_several = False
        texts, finishes = zip(*answers, strict=True)
        return Generated(texts, finishes, generated, prompt_tokens)

    def _sample_fields(self, request: _Request, sampling: Sampling, done: int) -> dict[str, Any]:
        """Return the fields that ask for the samples after the first `done`, or for one of them."""
        body = {**self._shown(request), "temperature": sampling.temperature}
        body[self._limit_name] = self._room(request, sampling.max_tokens)
        if sampling.temperature > 0:
            body |= {"top_p": sampling.top_p, "seed": sample_seed(sampling.seed, done)}
        if sampling.samples - done > 1 and self._gives_several:
            body["n"] = sampling.samples - done
        if sampling.stop:
            body["stop"] = list(sampling.stop[:_STOPS])
        return body

    def _room(self, request: _Request, wanted: int) -> int:
        """Return how many tokens may be written; prompts leave half of the context to them."""
        special = _TEMPLATE_TOKENS if self._chat else SPECIAL_TOKENS
        if request.prompt_tokens >= 0:
            left = self._context - request.prompt_tokens
            if self._chat:
                left -= special
        else:
            used = math.ceil(len(request.prompt.shown.encode()) / BYTES_PER_TOKEN) + special
            left = max(self._context - used, self._context // 2)
        return max(1, min(wanted, left))

    def _shown(self, request: _Request) -> dict[str, Any]:
        if self._chat:
            return {"messages": [{"role": "user", "content": request.prompt.shown}]}
        return {"prompt": request.prompt.shown}

    async def _post(
        self,
        client: AsyncClient,
        fields: Callable[[], dict[str, Any]],
        read: Callable[[Any], Answer],
    ) -> Answer:
        """Post a request; where the server refuses it, adapt it and post it again."""
        path = "/chat/completions" if self._chat else "/completions"
        while True:
            sent = fields()
            body = {"model": self._model, **sent, **self._endpoint.extra_body}
            body = {name: value for name, value in body.items() if value is not None}
            try:
                return await self._server.ask(client, path, body, read)
            except RefusedError as refused:
                bad = refused.status in _BAD_REQUEST and not refused.too_long
                if not (bad and self._adapt(sent, refused.message)):
                    raise

    def _adapt(self, request: Mapping[str, Any], message: str) -> bool:
        """Change all later requests as a refusal suggests; return whether it suggests a change."""
        many = _TOP in (request.get("logprobs"), request.get("top_logprobs"))
        if "max_completion_tokens" in message and self._chat and "max_tokens" in request:
            self._limit_name = "max_completion_tokens"
        elif request.get("echo") and request["max_tokens"] == 0:
            self._echo_limit = 1
        elif many and "logprobs" in message:
            self._top = _FEW
        elif "n" in request and re.search(r"\bn\b|\bbest_of\b", message):
            self._gives_several = False
        else:
            return False
        return True

    def _advice(self, refused: RefusedError) -> str:
        status = refused.status
        named = self._endpoint.key_env
        advice = (
            f"check endpoint.url, endpoint.api and endpoint.model ({self._model}), "
            "endpoint.extra_body (null drops a field) and the model's context in conf"
        )
        if status in {401, 403}:
            variable = named.get_secret_value() if named else "no variable"
            advice = f"check the key in {variable} (endpoint.key_env)"
        elif status == 429:
            advice = "check the quota of the account"
        elif status in _BAD_REQUEST and re.search("logprobs|echo", refused.message):
            advice = _ALTERNATIVE
        answer = f"{self._server.address} answers {status}: {refused.message}"
        return f"{self._where}: {answer}; {advice}"


def _key(where: str, named: SecretStr | None) -> str | None:
    if named is None:
        return None
    key = os.environ.get(named.get_secret_value(), "").strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise InputError(  # without the name, which may be a key that was typed here
            f"{where}.key_env: must name an environment variable that holds the server's key"
        )
    return key


def sample_seed(seed: int, sample: int) -> int:
    """Return the seed of one sample of several requests; the first sample has `seed` itself."""
    if sample == 0:
        return seed
    digest = hashlib.blake2b(f"{seed}:{sample}".encode(), digest_size=4).digest()
    return int.from_bytes(digest) >> 1


# --- replies --------------------------------------------------------------------------------------


class Echo(NamedTuple):
    """The tokens of an echoed text, as the server spells them."""

    tokens: list[str]
    logprobs: list[float | None]  # natural; None where the server gives none, as for the first


class Ranking(NamedTuple):
    """The most probable first tokens of an answer with their log-probabilities, in any order."""

    tokens: list[tuple[str, float]]
    prompt_tokens: int


class Written(NamedTuple):
    """Text and finish reason of each answer to one request, and its token counts."""

    answers: list[tuple[str, str]]
    generated_tokens: int
    prompt_tokens: int


def _choices(reply: Any) -> list[Any]:
    choices = sorted(reply["choices"], key=lambda choice: choice.get("index") or 0)
    if not choices:
        raise BadReplyError("a reply without choices")
    return choices


def _usage(reply: Any, name: str) -> int:
    count = (reply.get("usage") or {}).get(name)
    return count if isinstance(count, int) else _UNKNOWN


def read_echo(reply: Any) -> Echo | None:
    """Return the tokens of an echoed text, None if the server gives no log-probabilities."""
    listed = _choices(reply)[0].get("logprobs")
    if not listed:
        return None
    tokens = [str(token) for token in listed.get("tokens") or []]
    values = listed.get("token_logprobs") or []
    logprobs = [None if value is None else _logprob(value) for value in values]
    if len(logprobs) != len(tokens):
        raise BadReplyError("a reply with more tokens than log-probabilities")
    return Echo(tokens, logprobs) if tokens else None


def _logprob(value: Any) -> float:
    number = float(value)
    if math.isnan(number):
        raise ValueError("NaN")
    return max(_LOWEST, min(0.0, number))


def read_ranking(reply: Any) -> Ranking | None:
    """Return the most probable first tokens, None if the server gives no log-probabilities.

    Chat lists tokens of equal spelling separately; completions cannot distinguish them.
    """
    listed = _choices(reply)[0].get("logprobs")
    if not listed:
        return None
    pairs: Iterable[tuple[Any, Any]] = ()
    if "content" in listed:
        if listed["content"]:
            first = listed["content"][0]["top_logprobs"]
            if not first:
                return None
            pairs = [(entry["token"], entry["logprob"]) for entry in first]
    elif listed.get("top_logprobs"):
        pairs = listed["top_logprobs"][0].items()
    else:
        return None
    ranked = [(str(token), _logprob(value)) for token, value in pairs]
    return Ranking(ranked, _usage(reply, "prompt_tokens"))


def read_written(reply: Any) -> Written:
    """Return the written answers, without reasoning.

    Raises:
        BadReplyError: there are no answers, or one ends with an error.
    """
    answers = []
    for choice in _choices(reply):
        reason = choice.get("finish_reason")
        if reason in {"error", "abort"}:
            raise BadReplyError(f"an answer that ends with {reason}")
        text = choice["message"]["content"] if "message" in choice else choice["text"]
        if isinstance(text, list):  # in parts
            text = "".join(part["text"] for part in text if part.get("type") == "text")
        finish = "stop" if str(reason).lower() in _ENDED else "length"
        answers.append((text or "", finish))
    generated = _usage(reply, "completion_tokens")
    return Written(answers, generated, _usage(reply, "prompt_tokens"))


def scored_span(tokens: Sequence[str], text: str, at: int, limit: int) -> tuple[int, int]:
    """Return the span of an echoed text's tokens that belong to the continuation.

    The continuation begins at character `at`; the server was asked to write `limit` tokens after
    `text`, which not all servers obey. Tokens are matched to the text from its end, since servers
    add tokens, drop spaces and split characters. Return the first token that ends after `at`, and
    the first after the text; (0, 0) if the tokens are not those of the text.
    """
    for written in sorted({limit, 0, 1}, key=lambda n: abs(n - limit)):
        end = len(tokens) - written
        if start := first_scored(tokens[:end], text, at):
            return start, end
    return 0, 0


def first_scored(tokens: Sequence[str], text: str, at: int) -> int | None:
    """Return the first token that ends after character `at`, None if the tokens do not match.

    A space that no token shows belongs to the token after it.
    """
    begins = len(text)  # where the tokens seen so far begin
    hidden = 0  # the most characters of tokens that cannot be read
    for index in range(len(tokens) - 1, -1, -1):
        if begins <= at and not hidden:
            return index + 1
        token = tokens[index]
        if _PART_OF_A_CHARACTER.search(token):
            hidden += max(1, len(token))
            continue
        ends = _end_of(token, text, begins, hidden)
        if ends is None:
            return None
        if ends <= at:
            return index + 1
        begins, hidden = ends - len(token), 0
    return 0 if begins <= at else None


def _end_of(token: str, text: str, before: int, hidden: int) -> int | None:
    """Return where a token ends that comes before character `before`, hidden characters aside."""
    nearest = range(before, max(-1, before - hidden - 1), -1)
    without_spaces = len(text[:before].rstrip())
    for end in (*nearest, without_spaces):
        if text.endswith(token, 0, end):
            return end
    return None


def label_logprobs(
    ranking: Sequence[tuple[str, float]], labels: Sequence[str]
) -> tuple[float, ...] | None:
    """Return the log-probability of each label, from the most probable first tokens of an answer.

    A label has the summed probability of its spellings, with and without spaces. An unlisted label
    gets an upper bound: the smaller of the least listed probability and the probability not
    listed. None if no label is listed.
    """
    spelled: dict[str, list[float]] = {label: [] for label in labels}
    for token, logprob in ranking:
        label = token.strip(_SPACES)
        if label in spelled:
            spelled[label].append(logprob)
    if not any(spelled.values()):
        return None
    left = 1 - math.fsum(math.exp(logprob) for _, logprob in ranking)
    least = min(logprob for _, logprob in ranking)
    bound = min(least, math.log(max(left, _LEAST_MASS)))
    sums = {label: np.logaddexp.reduce(found) for label, found in spelled.items() if found}
    return tuple(min(0.0, float(sums.get(label, bound))) for label in labels)
