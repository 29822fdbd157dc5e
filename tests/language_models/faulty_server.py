"""A local OpenAI-compatible server with a toy model and faults on demand."""

import functools
import gzip
import hashlib
import json
import math
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

LETTERS = "ABCDEFGHIJ"
VOCABULARY = (
    *(f" {letter}" for letter in LETTERS),
    *LETTERS,
    *(" the", " of", " and", " a", " to", " in", " is", " was", " for", " it", " with", " as"),
    *(" his", " on", " be", " at", " by", " had"),
)
START = "<s>"
OUT_OF_ORDER = b"<html>out of order</html>"
BODIES = {
    "truncated": b'{"choices": [{"text": "half',
    "not json": b"<html>welcome</html>",
    "no choices": b'{"object": "error", "choices": []}',
    "error in 200": b'{"error": {"message": "upstream is down"}}',
}

COMPRESSED = gzip.compress(b" " * 10**6)
ENDLESS = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n"

PASSING_FAULTS = (
    "429",
    "408",
    "500",
    "hang",
    "truncated",
    "dropped",
    "not json",
    "no choices",
    "error in 200",
    "dribbled",
    "dribbled headers",
)


def tokenize(text: str) -> list[str]:
    """Words with the space before them; digits in threes, counted from the right."""
    return re.findall(r" ?[^\s\d]+|\d{1,3}(?=(?:\d{3})*(?!\d))|\s", text)


@functools.lru_cache(maxsize=1 << 16)
def _logits(context: str) -> tuple[bytes, dict[str, float], float]:
    """State after a text, logit of each known token, and the logarithm of their sum."""
    state = hashlib.blake2b(context.encode(), digest_size=16).digest()
    known = {token: _logit(state, token) for token in VOCABULARY}
    return state, known, math.log(math.fsum(map(math.exp, known.values())))


def _logit(state: bytes, token: str) -> float:
    digest = hashlib.blake2b(state + token.encode(), digest_size=8).digest()
    return 8 * int.from_bytes(digest) / 2**64


def logprob(context: Sequence[str], token: str) -> float:
    """Of a token after others; those beyond the vocabulary share what is left, unevenly."""
    state, _, total = _logits("\0".join(context))
    return _logit(state, token) - total - math.log(1.05)


def echoed_logprob(prompt: str, continuation: str) -> float:
    """What a continuation's tokens sum to where no token straddles the border."""
    context, tokens = tokenize(prompt), tokenize(continuation)
    return math.fsum(logprob([*context, *tokens[:i]], token) for i, token in enumerate(tokens))


def ranking(context: Sequence[str], most: int) -> list[tuple[str, float]]:
    """The most probable next tokens, best first."""
    _, known, total = _logits("\0".join(context))
    result = [(token, logit - total - math.log(1.05)) for token, logit in known.items()]
    return sorted(result, key=lambda pair: (-pair[1], pair[0]))[:most]


def written(prompt: str, seed: int, sample: int) -> list[str]:
    """Tokens of an answer in words."""
    digest = hashlib.blake2b(repr((prompt, seed, sample)).encode(), digest_size=2).digest()
    return ["The", " answer", " is", f" {LETTERS[digest[0] % 4]}", ".", f" ({digest[1]})"]


@dataclass
class Server:
    """How the server behaves, and what it has seen.

    Attributes:
        faults: the fault of a try, from the request and how often it came before; None for none.
        zero_tokens: whether `max_tokens: 0` is taken.
        echoes: whether `echo` is obeyed.
        logprobs: whether any are given.
        start_token: whether a token that begins the text is echoed.
        hides_spaces: whether tokens are spelled without the space before them.
        most_ranked: largest `logprobs` or `top_logprobs` taken.
        several: whether `n` is obeyed.
        limit_name: the only name it knows for the most tokens in chat.
        context: tokens it can read.
        refusal: status and message of every answer.
        replies: what is answered first, as it is.
        reasoning: put before each answer in chat, in a field of its own.
        delay: seconds before each answer.
        arrivals: time, path, request and headers of each try.
        answered: how often each request was answered in full.
    """

    faults: Callable[[dict[str, Any], int], str | None] = lambda _body, _tries: None
    zero_tokens: bool = True
    echoes: bool = True
    logprobs: bool = True
    start_token: bool = False
    hides_spaces: bool = False
    most_ranked: int = 20
    several: bool = True
    limit_name: str = "max_tokens"
    context: int = 4096
    refusal: tuple[int, str] | None = None
    replies: list[Any] = field(default_factory=list)
    reasoning: str | None = None
    delay: float = 0.0
    retry_after: dict[str, str] = field(default_factory=lambda: {"Retry-After": "0.05"})
    arrivals: list["Arrival"] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)
    faulted: Counter[str] = field(default_factory=Counter)
    busy: int = 0
    busiest: int = 0

    def __enter__(self) -> Self:
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self._tries: Counter[str] = Counter()
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.toy = self
        threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def fault(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> str | None:
        """Record a request and return its fault, if any."""
        key = json.dumps(body, sort_keys=True)
        with self.lock:
            self.arrivals.append(Arrival(time.monotonic(), path, body, headers))
            tries = self._tries[key]
            self._tries[key] += 1
        result = self.faults(body, tries)
        with self.lock:
            self.faulted[str(result)] += 1
        return result

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """Return status and reply of a request without fault."""
        if self.replies:
            return 200, self.replies.pop(0)
        refused = self.refusal or self._refused(path, body)
        if refused is not None:
            return refused[0], {"error": {"message": refused[1], "type": "invalid_request_error"}}
        chat = path.endswith("/chat/completions")
        prompt = body["messages"][0]["content"] if chat else body["prompt"]
        read = len(tokenize(prompt))
        choices: list[dict[str, Any]] = []
        generated = 0
        for sample in range(body.get("n", 1) if self.several else 1):
            made = (self._chat_choice if chat else self._choice)(prompt, body, sample)
            generated += made.pop("tokens")
            choices.insert(0, {"index": sample, **made})  # in no order
        usage = {"prompt_tokens": read, "completion_tokens": generated}
        return 200, {"object": "completion", "choices": choices, "usage": usage}

    def _refused(self, path: str, body: dict[str, Any]) -> tuple[int, str] | None:
        chat = path.endswith("/chat/completions")
        other = ({"max_tokens", "max_completion_tokens"} - {self.limit_name}).pop()
        ranked = body.get("top_logprobs" if chat else "logprobs") or 0
        prompt = body["messages"][0]["content"] if chat else body["prompt"]
        asked = len(tokenize(prompt)) + body.get(self.limit_name, 16)
        if chat and other in body:
            return 400, f"Unsupported parameter: '{other}'. Use '{self.limit_name}' instead."
        if not self.zero_tokens and body.get("max_tokens") == 0:
            return 400, "0 is less than the minimum of 1 - 'max_tokens'"
        if ranked > self.most_ranked:
            return 400, f"logprobs must be at most {self.most_ranked}"
        if asked > self.context:
            return 400, (
                f"This model's maximum context length is {self.context} tokens. However, you "
                f"requested {asked} tokens ({len(tokenize(prompt))} in the messages, "
                f"{asked - len(tokenize(prompt))} in the completion)."
            )
        return None

    def _choice(self, prompt: str, body: dict[str, Any], sample: int) -> dict[str, Any]:
        most = body.get("max_tokens", 16)
        wanted = body.get("logprobs")
        context = tokenize(prompt)
        if wanted is not None and not body.get("stop"):
            new = [ranking(context, 1)[0][0]][:most]
        else:
            new = written(prompt, body.get("seed", 0), sample)[:most]
        echo = self.echoes and body.get("echo", False)
        shown = [*context, *new] if echo else new
        start = 0 if echo else len(context)
        whole = [*context, *new]
        choice: dict[str, Any] = {
            "text": "".join(shown),
            "tokens": len(new),
            "finish_reason": self._finish(new, most),
            "logprobs": None,
        }
        if wanted is None or not self.logprobs:
            return choice
        values = [
            None if start + i == 0 else logprob(whole[: start + i], token)
            for i, token in enumerate(shown)
        ]
        top = [
            None if start + i == 0 else dict(ranking(whole[: start + i], wanted))
            for i in range(len(shown))
        ]
        if echo and self.start_token:
            shown, values, top = [START, *shown], [None, *values], [None, *top]
        spelled = [token.strip(" ") if self.hides_spaces else token for token in shown]
        choice["logprobs"] = {"tokens": spelled, "token_logprobs": values, "top_logprobs": top}
        return choice

    def _chat_choice(self, prompt: str, body: dict[str, Any], sample: int) -> dict[str, Any]:
        most = body.get(self.limit_name, 16)
        new = written(prompt, body.get("seed", 0), sample)[:most]
        message: dict[str, Any] = {"role": "assistant", "content": "".join(new)}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        choice: dict[str, Any] = {
            "message": message,
            "tokens": len(new),
            "finish_reason": self._finish(new, most),
            "logprobs": None,
        }
        if body.get("logprobs") and self.logprobs:
            top = ranking(tokenize(prompt), body["top_logprobs"])
            listed = [{"token": token, "logprob": value} for token, value in top]
            choice["logprobs"] = {"content": [{**listed[0], "top_logprobs": listed}]}
        return choice

    def _finish(self, new: list[str], most: int) -> str:
        return "length" if len(new) >= most else "stop"


class Arrival(NamedTuple):
    """One attempt of a request."""

    time: float
    path: str
    body: dict[str, Any]
    headers: dict[str, str]


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    toy: Server

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect, which tests do on purpose."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def do_POST(self) -> None:
        toy = self.server.toy
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        fault = toy.fault(self.path, body, dict(self.headers))
        with toy.lock:
            toy.busy += 1
            toy.busiest = max(toy.busiest, toy.busy)
        try:
            toy.closing.wait(toy.delay)
            if fault is not None:
                self._fail(fault)
                return
            status, reply = toy.answer(self.path, body)
            data = json.dumps(reply).encode()
            if status == 200:  # counted before the client can have it
                with toy.lock:
                    toy.answered[json.dumps(body, sort_keys=True)] += 1
            self._send(status, data)
        finally:
            with toy.lock:
                toy.busy -= 1

    def _send(
        self, status: int, data: bytes, headers: dict[str, str] | None = None, missing: int = 0
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data) + missing))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _fail(self, fault: str) -> None:
        toy = self.server.toy
        self.close_connection = fault not in {"429", "500", "not json", "no choices"}
        if fault.isdigit():
            body = b'{"error": {"message": "slow down"}}' if fault == "429" else OUT_OF_ORDER
            self._send(int(fault), body, toy.retry_after if fault == "429" else {})
        elif fault == "compressed":
            self._send(200, COMPRESSED, {"Content-Encoding": "gzip"})
        elif fault == "endless":
            self.wfile.write(ENDLESS)
            self._write_on()
        elif fault == "redirected":
            self._send(307, b"", {"Location": "/elsewhere"})
        elif fault in BODIES:
            self._send(200, BODIES[fault], missing=100 if fault == "truncated" else 0)
        elif fault == "hang":
            toy.closing.wait(30)
        elif fault == "dribbled":
            self._send(200, b"", missing=10**6)
            self._dribble()
        elif fault == "dribbled headers":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            self._dribble()
        else:
            assert fault == "dropped", fault

    def _write_on(self) -> None:
        with suppress(OSError):
            while not self.server.toy.closing.is_set():
                self.wfile.write(b"x" * 2**16)

    def _dribble(self) -> None:
        with suppress(OSError):
            while not self.server.toy.closing.wait(0.02):
                self.wfile.write(b" ")


def seeded_faults(
    seed: int, share: float, kinds: Sequence[str], most: int
) -> Callable[[dict[str, Any], int], str | None]:
    """Faults in a share of the attempts, with a maximum per request."""

    def fault(body: dict[str, Any], tries: int) -> str | None:
        content = json.dumps([seed, body, tries], sort_keys=True).encode()
        digest = hashlib.blake2b(content, digest_size=8).digest()
        hit = int.from_bytes(digest[:4]) / 2**32 < share
        return kinds[int.from_bytes(digest[4:]) % len(kinds)] if hit and tries < most else None

    return fault
