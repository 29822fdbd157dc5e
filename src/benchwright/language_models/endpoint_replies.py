"""What OpenAI-compatible servers answer: texts, log-probabilities, counts of tokens."""

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from benchwright.language_models.http_retries import BadReplyError

_LOWEST = -9999.0  # what servers write for a probability of 0
_LEAST_MASS = 1e-9  # probability left for tokens that are not listed, where rounding leaves none
_UNKNOWN = -1
_SPACES = " \t\r\n\u2581\u0120"  # the last two are SentencePiece's and byte-level BPE's space
_PART_OF_A_CHARACTER = re.compile("\ufffd|\\Abytes:|\\A<0x[0-9A-F]{2}>\\Z|\\A\\Z")


_CONTEXT = re.compile(r"(?:context|model) length (?:is|of) (\d+)")
_READ = re.compile(r"(\d+) (?:input tokens|in the messages|in your prompt)")


class Echo(NamedTuple):
    """The tokens of an echoed text.

    Attributes:
        text: what the server wrote, echo and all; "" where it does not say.
        tokens: as the server spells them.
        logprobs: natural, one per token; None where the server gives none, as for the first.
        offsets: where each token begins, in characters; None where the server does not say.
    """

    text: str
    tokens: list[str]
    logprobs: list[float | None]
    offsets: list[int] | None


class Ranking(NamedTuple):
    """The most probable first tokens of an answer with their log-probabilities, in any order."""

    tokens: list[tuple[str, float]]
    prompt_tokens: int


class Written(NamedTuple):
    """Text and finish reason of each answer to one request, and its tokens."""

    answers: list[tuple[str, str]]
    generated_tokens: int
    prompt_tokens: int


@contextmanager
def _as_expected() -> Iterator[None]:
    """Turn a reply of another shape into one that is asked for again."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise BadReplyError(f"a reply of another shape: {type(error).__name__}") from None


def _choices(reply: Any) -> list[Any]:
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not isinstance(choices, list) or not choices:
        raise BadReplyError("a reply without choices")
    if all(isinstance(choice.get("index"), int) for choice in choices):
        return sorted(choices, key=lambda choice: choice["index"])
    return choices


def _usage(reply: Any, name: str) -> int:
    count = (reply.get("usage") or {}).get(name)
    return count if isinstance(count, int) else _UNKNOWN


def read_echo(reply: Any) -> Echo | None:
    """The tokens of an echoed text; None where the server gives no log-probabilities.

    Raises:
        BadReplyError: the reply has no choices, or another shape.
    """
    with _as_expected():
        [choice, *_] = _choices(reply)
        given = choice.get("logprobs")
        if not given:
            return None
        if "content" in given:  # as llama.cpp writes it
            content = given["content"] or []
            tokens = [str(one["token"]) for one in content]
            values = [one.get("logprob") for one in content]
            offsets = None
        else:
            tokens = [str(token) for token in given.get("tokens") or []]
            values = given.get("token_logprobs") or []
            offsets = [int(offset) for offset in given.get("text_offset") or []]
        if len(values) != len(tokens):
            raise BadReplyError("a reply with more tokens than log-probabilities")
        logprobs = [None if value is None else _logprob(value) for value in values]
        aligned = offsets if offsets and len(offsets) == len(tokens) else None
        return Echo(choice.get("text") or "", tokens, logprobs, aligned) if tokens else None


def _logprob(value: Any) -> float:
    """A log-probability as a finite number.

    Raises:
        ValueError: it is not a number.
    """
    number = float(value)
    if math.isnan(number):
        raise ValueError("NaN")
    return max(_LOWEST, min(0.0, number))


def read_ranking(reply: Any) -> Ranking | None:
    """The most probable first tokens; None where the server gives no log-probabilities.

    Of two tokens spelled alike, which completions cannot tell apart, chat lists both.

    Raises:
        BadReplyError: the reply has no choices, or another shape.
    """
    with _as_expected():
        [choice, *_] = _choices(reply)
        given = choice.get("logprobs")
        if not given:
            return None
        counted = _usage(reply, "prompt_tokens")
        if "content" in given:
            content = given["content"] or []
            first = content[0].get("top_logprobs") if content else []
        else:
            [first, *_] = given.get("top_logprobs") or [None]
        if first is None or (not first and "content" in given and given["content"]):
            return None
        if isinstance(first, dict):
            pairs = list(first.items())
        else:
            pairs = [(one["token"], one["logprob"]) for one in first]
        return Ranking([(str(token), _logprob(value)) for token, value in pairs], counted)


def room_left(message: str) -> int:
    """Tokens left to write, where a refusal says how long context and prompt are; else 0."""
    context, read = _CONTEXT.search(message), _READ.search(message)
    return max(0, int(context[1]) - int(read[1])) if context and read else 0


def read_written(reply: Any) -> Written:
    """What the model wrote, without its reasoning.

    Raises:
        BadReplyError: the reply has no choices, or another shape, or the server gave up half-way.
    """
    with _as_expected():
        answers = []
        for choice in _choices(reply):
            reason = choice.get("finish_reason")
            if reason in {"error", "abort"}:
                raise BadReplyError(f"an answer that ends with {reason}")
            message = choice.get("message")
            text = choice["text"] if message is None else _content(message.get("content"))
            answers.append((str(text or ""), _finish(reason)))
        generated = _usage(reply, "completion_tokens")
        return Written(answers, generated, _usage(reply, "prompt_tokens"))


def _content(content: Any) -> str:
    """A message's text, which some servers give in parts; "" where there is none."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    return content or ""


def _finish(reason: str | None) -> str:
    """`stop` where the model or a stop text ended the answer, else `length`: it was cut short."""
    ended = {"stop", "eos", "eos_token", "stop_sequence", "end_turn"}
    return "stop" if reason is not None and reason.lower() in ended else "length"


def scored_span(echo: Echo, text: str, at: int, limit: int) -> tuple[int, int]:
    """Which tokens of an echoed text belong to the continuation.

    Tokens are matched to the text from its end, since servers count a token that begins the text,
    drop the space before a word, and split a character over tokens, so that their offsets drift
    from the text's. Where that fails, the offsets are taken, as counted from the end.

    Args:
        echo: what the server gave for the text.
        text: prompt and continuation.
        at: where the continuation begins, in characters.
        limit: tokens that the server was asked to write after the text.

    Returns:
        The first token that ends after `at`, and the first that follows the text; (0, 0) where
        the tokens are not those of the text.
    """
    for written in sorted({limit, 0, 1}, key=lambda n: abs(n - limit)):
        end = len(echo.tokens) - written
        start = first_scored(echo.tokens[:end], text, at)
        if start:
            return start, end
    end = len(echo.tokens) - limit
    if echo.offsets is None or end < 1 or not echo.text.startswith(text):
        return 0, 0
    ends = [o + len(t) for o, t in zip(echo.offsets, echo.tokens, strict=True)][:end]
    drift = ends[-1] - len(text)
    return next((i for i, after in enumerate(ends) if after - drift > at), 0), end


def first_scored(tokens: Sequence[str], text: str, at: int) -> int | None:
    """The first token that ends after character `at` of a text; None where they do not match it.

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
    """Where a token ends that comes before character `before`, but for some hidden ones."""
    bare = len(text[:before].rstrip())
    nearest = range(before, max(-1, before - hidden - 1), -1)
    for end in (*nearest, bare):
        if text.endswith(token, 0, end):
            return end
    return None


def label_logprobs(
    ranking: Sequence[tuple[str, float]], labels: Sequence[str]
) -> tuple[float, ...] | None:
    """Log-probability of each label, from the most probable first tokens of an answer.

    A label has the summed probability of its spellings, with and without spaces. One that is not
    listed has at most the least probability listed, and at most what the listed ones leave over;
    it is given the smaller of the two, an upper bound. None where no label is listed.
    """
    spelled: dict[str, list[float]] = {label: [] for label in labels}
    for token, logprob in ranking:
        if (bare := token.strip(_SPACES)) in spelled:
            spelled[bare].append(logprob)
    if not any(spelled.values()):
        return None
    left = 1 - math.fsum(math.exp(logprob) for _, logprob in ranking)
    least = min(logprob for _, logprob in ranking)
    bound = min(least, math.log(max(left, _LEAST_MASS)))
    return tuple(_log_sum(spelled[label]) if spelled[label] else bound for label in labels)


def _log_sum(logprobs: Sequence[float]) -> float:
    """Logarithm of the sum of probabilities, at most 0."""
    highest = max(logprobs)
    total = math.fsum(math.exp(logprob - highest) for logprob in logprobs)
    return min(0.0, highest + math.log(total))
