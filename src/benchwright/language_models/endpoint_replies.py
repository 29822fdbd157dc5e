"""Replies of OpenAI-compatible servers: texts, log-probabilities, token counts."""

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchwright.language_models.http_retries import BadReplyError

_LOWEST = -9999.0  # servers write this for a probability of 0
_LEAST_MASS = 1e-9  # least probability of all unlisted tokens, where rounding leaves none
_UNKNOWN = -1
_SPACES = " \t\r\n\u2581\u0120"  # the last two are SentencePiece's and byte-level BPE's space
_PART_OF_A_CHARACTER = re.compile("\ufffd|\\Abytes:|\\A<0x[0-9A-F]{2}>\\Z|\\A\\Z")
_ENDED = {"stop", "eos", "eos_token", "stop_sequence", "end_turn"}


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
    if "content" in listed:
        first = listed["content"][0]["top_logprobs"] if listed["content"] else []
        pairs = [(entry["token"], entry["logprob"]) for entry in first]
        given = bool(first) or not listed["content"]
    else:
        given = bool(listed.get("top_logprobs"))
        pairs = list(listed["top_logprobs"][0].items()) if given else []
    ranked = [(str(token), _logprob(value)) for token, value in pairs]
    return Ranking(ranked, _usage(reply, "prompt_tokens")) if given else None


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
        answers.append((text or "", "stop" if str(reason).lower() in _ENDED else "length"))
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
    bare = len(text[:before].rstrip())
    nearest = range(before, max(-1, before - hidden - 1), -1)
    for end in (*nearest, bare):
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
        if (bare := token.strip(_SPACES)) in spelled:
            spelled[bare].append(logprob)
    if not any(spelled.values()):
        return None
    left = 1 - math.fsum(math.exp(logprob) for _, logprob in ranking)
    least = min(logprob for _, logprob in ranking)
    bound = min(least, math.log(max(left, _LEAST_MASS)))
    sums = {label: np.logaddexp.reduce(found) for label, found in spelled.items() if found}
    return tuple(min(0.0, float(sums.get(label, bound))) for label in labels)
