"""Requests for JSON to one server: retries, pauses, time limits, and answers in order."""

import functools
import itertools
import json
import logging
import math
import queue
import re
import socket
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, NamedTuple, TypeVar

import httpx2
import tenacity

from benchwright.core.errors import InputError
from benchwright.params.scoring import EndpointParams

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

_RETRIED = {408, 409, 429}  # and 5xx
_FIRST_WAIT = 0.5  # seconds, doubled after each try
_LOG_INTERVAL = 10.0  # seconds between two log messages about failed attempts
_MESSAGE_LENGTH = 200  # characters of a server's message
_LARGEST_REPLY = 16 << 20  # bytes; the echo of 131,072 tokens has about 10 MiB
_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size|limit)|exceed_context"
    r"|maximum (model|sequence|input|prompt) length"
    r"|(prompt|input)\b.{0,40}\btoo (long|many tokens)|too many (input |prompt )?tokens",
    re.IGNORECASE | re.DOTALL,
)
_QUOTA = re.compile(r"insufficient_quota")
Question = TypeVar("Question")
_PATIENCE = 1.0  # seconds for all threads to end
_HELD = 32  # answers per thread that may wait for those of an earlier batch


class RefusedError(Exception):
    """A refusal that a retry would not change, with the server's message on one short line."""

    def __init__(self, status: int, message: str, too_long: bool = False) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message
        self.too_long = too_long


class BadReplyError(Exception):
    """A reply of unexpected content, which a retry may change."""


class StoppedError(Exception):
    """The caller no longer wants the answer."""


class Reply(NamedTuple):
    """A server's complete answer."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class _FaultError(Exception):
    """A failed attempt; `wait` is the pause in seconds that the server asks for."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


class Connection:
    """The connection of one thread, which any thread may cut.

    A timeout per read does not end a reply that arrives byte by byte, so a timer cuts the
    connection when the whole attempt takes too long.
    """

    def __init__(self, client: httpx2.Client, stopped: threading.Event) -> None:
        self.stopped = stopped
        self._client = client
        self._socket: socket.socket | None = None
        self._is_cut = False

    def post(self, url: httpx2.URL, body: bytes, seconds: float) -> Reply:
        """Send one request and read the whole reply.

        Raises:
            httpx2.RequestError: there is no complete reply within this many seconds.
            BadReplyError: the reply is compressed, which was not asked for, or too large.
        """
        self._is_cut = False
        if self.stopped.is_set():
            raise httpx2.ReadTimeout("cut")
        timer = threading.Timer(seconds, self.cut)
        timer.daemon = True
        timer.start()
        try:
            with self._client.stream(
                "POST", url, content=body, timeout=seconds, extensions={"trace": self._watch}
            ) as response:
                reply = Reply(response.status_code, response.headers, _read(response))
        except httpx2.RequestError:
            if not self._is_cut:
                raise
        finally:
            timer.cancel()
        if self._is_cut:  # a cut body without a length looks complete
            raise httpx2.ReadTimeout("cut")
        return reply

    def _watch(self, event: str, info: dict[str, Any]) -> None:
        """Remember the socket; httpx2 calls this at each step."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            opened = info["return_value"].get_extra_info("socket")
            self._socket = opened if isinstance(opened, socket.socket) else None
            if self._is_cut:
                self.cut()

    def cut(self) -> None:
        """End the current request; may be called from another thread."""
        self._is_cut = True
        if self._socket is not None:
            with suppress(OSError):
                # The method of ssl.SSLSocket would break a concurrent read.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket."""
        self._client.close()


class JsonServer:
    """A server that answers JSON requests with JSON.

    A request is retried, after pauses that double with jitter, on 408, 409, 429, 5xx, a timeout, a
    broken connection and an unreadable or unexpected reply. Where the server says how long to
    wait, all threads wait, up to `max_wait`.
    """

    def __init__(self, name: str, endpoint: EndpointParams, key: str | None) -> None:
        self._where = f"models.{name}.endpoint"
        self._endpoint = endpoint
        self._key = key
        self._paused_until = 0.0
        self._last_logged = -math.inf
        self._lock = threading.Lock()
        try:
            self._url = httpx2.URL(endpoint.url)
        except httpx2.InvalidURL as error:
            raise InputError(f"{self._where}: url {endpoint.url!r}: {error}") from None

    @property
    def address(self) -> str:
        """The server's address, without user, password and query."""
        return str(self._url.copy_with(userinfo=b"", query=None))

    def connect(self, stopped: threading.Event) -> Connection:
        """Open a connection for one thread; the event ends its requests and pauses."""
        # A small compressed reply could fill the memory.
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key}"
        limits = httpx2.Limits(max_connections=1, max_keepalive_connections=1)
        client = httpx2.Client(headers=headers, verify=_certificates(), limits=limits)
        return Connection(client, stopped)

    def ask(
        self,
        connection: Connection,
        path: str,
        fields: Mapping[str, Any],
        read: Callable[[Any], Answer],
    ) -> Answer:
        """Post one request to a path below the server's address until it is answered.

        `read` turns the reply into the answer and raises BadReplyError if it cannot.

        Raises:
            RefusedError: 4xx that a retry would not change.
            InputError: all attempts failed, or the server cannot be reached.
            StoppedError: the connection's event is set.
        """
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._endpoint.retries + 1),
            wait=self._wait,
            retry=tenacity.retry_if_exception_type(_FaultError),
            sleep=lambda seconds: _sleep(seconds, connection.stopped),
            before_sleep=self._log_retry,
            reraise=True,
        )
        url = self._url.copy_with(path=self._url.path.rstrip("/") + path)
        body = json.dumps(fields).encode()
        try:
            return retrying(self._try, connection, url, body, read)
        except _FaultError as fault:
            tries = self._endpoint.retries + 1
            raise InputError(
                f"{self._where}: no answer from {self.address} after {tries} "
                f"{'attempt' if tries == 1 else 'attempts'}, the last: {fault}; finished prompts "
                "are kept: run again later, or raise endpoint.retries, max_wait or timeout"
            ) from None

    def _try(
        self, connection: Connection, url: httpx2.URL, body: bytes, read: Callable[[Any], Answer]
    ) -> Answer:
        while (pause := self._paused_until - time.monotonic()) > 0:
            _sleep(pause, connection.stopped)
        if connection.stopped.is_set():
            raise StoppedError
        reply = self._post(connection, url, body)
        if not 200 <= reply.status < 300:
            raise self._refusal(reply)
        try:
            parsed = json.loads(reply.content)
        except (ValueError, RecursionError):
            message = self.clean(_text(reply.content))
            raise _FaultError(f"the reply is not JSON: {message}") from None
        try:
            return read(parsed)
        except BadReplyError as bad:
            message = _error_message(parsed)
            raise _FaultError(self.clean(f"{bad} ({message})" if message else str(bad))) from None

    def _post(self, connection: Connection, url: httpx2.URL, body: bytes) -> Reply:
        try:
            return connection.post(url, body, self._endpoint.timeout)
        except BadReplyError as bad:
            raise _FaultError(str(bad)) from None
        except httpx2.TimeoutException:
            if connection.stopped.is_set():
                raise StoppedError from None
            raise _FaultError(f"no complete answer within {self._endpoint.timeout:g} s") from None
        except (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError) as error:
            raise InputError(f"{self._where}: url: {self.clean(str(error))}") from None
        except httpx2.RequestError as error:
            message = self.clean(str(error)) or type(error).__name__
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise InputError(
                    f"{self._where}: {self.address}: {message}; SSL_CERT_FILE may name the "
                    "certificates to trust"
                ) from None
            raise _FaultError(f"the connection failed: {message}") from None

    def _refusal(self, reply: Reply) -> Exception:
        text = _text(reply.content)
        with suppress(ValueError, RecursionError):
            text = _error_message(json.loads(reply.content)) or text
        message = self.clean(text) or "no message"
        too_long = _TOO_LONG.search(text) is not None
        retried = reply.status in _RETRIED or reply.status >= 500
        if too_long or not retried or _QUOTA.search(_text(reply.content)):
            return RefusedError(reply.status, message, too_long)
        wait = retry_after(reply.headers, datetime.now(UTC))
        if wait > 0:
            until = time.monotonic() + min(wait, self._endpoint.max_wait)
            with self._lock:
                self._paused_until = max(self._paused_until, until)
        return _FaultError(f"{reply.status}: {message}", wait)

    def clean(self, text: str) -> str:
        """Return the text on one short line, without the key."""
        if self._key:
            text = text.replace(self._key, "[key]")
        line = " ".join(text.split())
        return line if len(line) <= _MESSAGE_LENGTH else f"{line[: _MESSAGE_LENGTH - 1]}…"

    def _wait(self, state: tenacity.RetryCallState) -> float:
        longest = self._endpoint.max_wait
        doubled = tenacity.wait_exponential(multiplier=_FIRST_WAIT, max=longest)
        backoff = doubled + tenacity.wait_random(0, _FIRST_WAIT)
        fault = state.outcome.exception() if state.outcome else None
        requested = fault.wait if isinstance(fault, _FaultError) else 0.0
        return min(longest, max(requested, backoff(state)))

    def _log_retry(self, state: tenacity.RetryCallState) -> None:
        fault = state.outcome.exception() if state.outcome else None
        now = time.monotonic()
        with self._lock:
            recent = now - self._last_logged < _LOG_INTERVAL
            self._last_logged = self._last_logged if recent else now
        level = logging.DEBUG if recent else logging.INFO
        logger.log(level, "%s: %s; next try in %.1f s", self._where, fault, state.upcoming_sleep)


@functools.cache  # reading the machine's certificates takes a while
def _certificates() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


def _sleep(seconds: float, stopped: threading.Event) -> None:
    if stopped.wait(seconds):
        raise StoppedError


def retry_after(headers: Mapping[str, str], now: datetime) -> float:
    """Return the seconds to wait from `retry-after-ms` or `Retry-After`, 0 without either."""
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * scale
        except ValueError:
            try:
                until = parsedate_to_datetime(value)
            except ValueError:
                continue
            seconds = (until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds()
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return 0.0


def _read(response: httpx2.Response) -> bytes:
    if (coding := response.headers.get("content-encoding", "identity")) != "identity":
        raise BadReplyError(f"the reply is compressed ({coding[:20]}), which was not asked for")
    content = bytearray()
    for piece in response.iter_raw():
        content += piece
        if len(content) > _LARGEST_REPLY:
            raise BadReplyError(f"the reply has over {_LARGEST_REPLY / 2**20:g} MiB")
    return bytes(content)


def _text(body: bytes) -> str:
    return body.decode("utf-8", errors="replace")


def _error_message(reply: Any) -> str:
    """Return the message of a server's error, or ""."""
    if isinstance(reply, str):
        return reply
    if isinstance(reply, list):
        return "; ".join(filter(None, map(_error_message, reply)))
    if not isinstance(reply, dict):
        return ""
    named = (_error_message(reply.get(name)) for name in ("error", "message", "msg", "detail"))
    return next(filter(None, named), "")


class _Batch(Generic[Answer]):
    """Answers to the questions of one batch, or their first error."""

    def __init__(self, size: int) -> None:
        self.answers: list[Any] = [None] * size
        self.missing = size
        self.error: Exception | None = None

    def take(self, position: int, outcome: Answer | Exception) -> bool:
        """Keep an answer or the first error; return whether it is an answer."""
        if isinstance(outcome, Exception):
            self.error = self.error or outcome
            return False
        self.answers[position] = outcome
        self.missing -= 1
        return True


class _Threads(Generic[Question, Answer]):
    """Threads, each with a connection, that answer questions in any order."""

    def __init__(
        self,
        answer: Callable[[Connection, Question], Answer],
        connect: Callable[[threading.Event], Connection],
        most: int,
    ) -> None:
        self._answer, self._connect, self._most = answer, connect, most
        self._stopped = threading.Event()
        self._failed = False
        self._threads: list[tuple[threading.Thread, Connection]] = []
        self._asked: queue.SimpleQueue[tuple[_Batch[Answer], int, Question] | None]
        self._asked = queue.SimpleQueue()
        self.answered: queue.SimpleQueue[tuple[_Batch[Answer], int, Answer | Exception]]
        self.answered = queue.SimpleQueue()

    def ask(self, batch: _Batch[Answer], position: int, question: Question) -> None:
        if len(self._threads) < self._most:
            connection = self._connect(self._stopped)
            # A daemon: a thread that hangs in a system call must not delay the exit.
            thread = threading.Thread(target=self._work, args=(connection,), daemon=True)
            self._threads.append((thread, connection))
            thread.start()
        self._asked.put((batch, position, question))

    def _work(self, connection: Connection) -> None:
        while (asked := self._asked.get()) is not None:
            if self._failed or self._stopped.is_set():
                break  # the rest of the queue comes after the failed question
            batch, position, question = asked
            try:
                self.answered.put((batch, position, self._answer(connection, question)))
            except Exception as error:
                self._failed = True
                self.answered.put((batch, position, error))
        connection.close()

    def stop(self) -> None:
        """End all requests and threads."""
        self._stopped.set()
        for _, connection in self._threads:
            connection.cut()
            self._asked.put(None)
        end = time.monotonic() + _PATIENCE
        for thread, _ in self._threads:
            thread.join(max(0.0, end - time.monotonic()))


def in_order(
    batches: Iterable[Sequence[Question]],
    answer: Callable[[Connection, Question], Answer],
    connect: Callable[[threading.Event], Connection],
    threads: int,
    progress: Callable[[int], object],
) -> Iterator[list[Answer]]:
    """Yield the answers to batches of questions in order, asked by several threads.

    Questions of later batches are asked while earlier ones wait: twice as many as there are threads
    are read ahead, until `_HELD` answers per thread wait for a slow earlier batch (a crash would
    lose them). After an error nothing new is asked; it is raised once the batches before it have
    been yielded. The threads end with this iterator.

    Each thread answers with a connection from `connect`, whose event ends requests and pauses;
    `progress` is called in the caller's thread.
    """
    pool = _Threads(answer, connect, threads)
    under_way: deque[_Batch[Answer]] = deque()

    def to_ask() -> Iterator[tuple[_Batch[Answer], int, Question]]:
        for questions in batches:
            batch: _Batch[Answer] = _Batch(len(questions))
            under_way.append(batch)
            for position, question in enumerate(questions):
                yield batch, position, question

    def held() -> int:
        later = itertools.islice(under_way, 1, None)
        return sum(len(batch.answers) - batch.missing for batch in later)

    coming, waiting = to_ask(), 0
    try:
        while True:
            yield from _complete(under_way)
            while (
                waiting < 2 * threads and held() < _HELD * threads and (job := next(coming, None))
            ):
                pool.ask(*job)
                waiting += 1
            if waiting:
                batch, position, outcome = pool.answered.get()
                waiting -= 1
                if batch.take(position, outcome):
                    progress(1)
            elif not under_way:
                return
    finally:
        pool.stop()


def _complete(under_way: deque[_Batch[Answer]]) -> Iterator[list[Answer]]:
    """Yield the answers of the first complete batches; raise the error of a failed one."""
    while under_way and (under_way[0].error or not under_way[0].missing):
        first = under_way.popleft()
        if first.error:
            raise first.error
        yield first.answers
