"""A server asked for JSON by many threads: retries, pauses, and a time limit per try."""

import functools
import json
import logging
import math
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

import httpx2
import tenacity

from benchwright.core.errors import InputError
from benchwright.params.scoring import EndpointParams

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

_TRIED_AGAIN = {408, 409, 429}  # and 5xx
_FIRST_WAIT = 0.5  # seconds, doubled after each try
_TOLD_EVERY = 10.0  # seconds between two lines in the log about tries that failed
_MESSAGE_LENGTH = 200  # characters of what a server says
_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size|limit)|exceed_context"
    r"|maximum (model|sequence|input|prompt) length"
    r"|(prompt|input)\b.{0,40}\btoo (long|many tokens)|too many (input |prompt )?tokens",
    re.IGNORECASE | re.DOTALL,
)
_QUOTA = re.compile(r"insufficient_quota")


class RefusedError(Exception):
    """An answer that asking again would not change.

    Attributes:
        status: of HTTP.
        message: what the server says, on one short line, without the key.
        too_long: whether it says that the prompt is longer than the model's context.
    """

    def __init__(self, status: int, message: str, too_long: bool = False) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message
        self.too_long = too_long


class BadReplyError(Exception):
    """A reply that is not what was asked for; another try may be."""


class StoppedError(Exception):
    """The answer is no longer wanted."""


class _FaultError(Exception):
    """A try that failed, and how many seconds the server wants to be left alone."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


class Connection:
    """One thread's connection; any thread may cut it.

    A time limit on each read does not end a reply that comes byte by byte, so a timer cuts the
    connection when the whole try has taken too long.
    """

    def __init__(self, client: httpx2.Client, stopped: threading.Event) -> None:
        self.stopped = stopped
        self._client = client
        self._socket: socket.socket | None = None
        self._is_cut = False

    def post(self, url: httpx2.URL, body: bytes, seconds: float) -> httpx2.Response:
        """Send one request and read all of the reply.

        Raises:
            httpx2.RequestError: there is no whole reply after so many seconds.
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
                response.read()
        except httpx2.RequestError:
            if self._is_cut:
                raise httpx2.ReadTimeout("cut") from None
            raise
        finally:
            timer.cancel()
        if self._is_cut:  # a body without a length looks whole
            raise httpx2.ReadTimeout("cut")
        return response

    def _watch(self, event: str, info: dict[str, Any]) -> None:
        """Keep hold of the socket; called by httpx2 at each step."""
        if event.endswith(("connect_tcp.complete", "start_tls.complete")):
            found = info["return_value"].get_extra_info("socket")
            self._socket = found if isinstance(found, socket.socket) else None
            if self._is_cut:
                self.cut()

    def cut(self) -> None:
        """End the request that is under way, from another thread."""
        self._is_cut = True
        if self._socket is not None:
            with suppress(OSError):
                # Not the method of ssl.SSLSocket, which pulls the rug from under the reader.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the socket."""
        self._client.close()


class JsonServer:
    """A server that takes JSON and gives JSON.

    A request is tried again after 408, 409, 429, 5xx, a timeout, a broken connection and a reply
    that is not JSON or not what was asked for, after pauses that double, with jitter. Where the
    server says how long to wait, all threads do, up to `max_wait`.
    """

    def __init__(self, name: str, endpoint: EndpointParams, key: str | None) -> None:
        self._where = f"models.{name}.endpoint"
        self._endpoint = endpoint
        self._key = key
        self._paused_until = 0.0
        self._told = -math.inf
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
        """A connection for one thread; the event ends its requests and pauses."""
        headers = {"content-type": "application/json"}
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
        """Post one request until it is answered.

        Args:
            connection: of the calling thread.
            path: below the server's address, e.g. `/completions`.
            fields: the request.
            read: turns the reply into the answer; it raises BadReplyError where it cannot.

        Raises:
            RefusedError: 4xx; trying again would not help.
            InputError: no answer after all tries, or no way to the server.
            StoppedError: the connection's event is set.
        """
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(self._endpoint.retries + 1),
            wait=self._wait,
            retry=tenacity.retry_if_exception_type(_FaultError),
            sleep=lambda seconds: _sleep(seconds, connection.stopped),
            before_sleep=self._tell,
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
                f"{'try' if tries == 1 else 'tries'}, the last: {fault}; finished prompts are "
                "kept: run again later, or raise endpoint.retries, max_wait or timeout"
            ) from None

    def _try(
        self, connection: Connection, url: httpx2.URL, body: bytes, read: Callable[[Any], Answer]
    ) -> Answer:
        while (left := self._paused_until - time.monotonic()) > 0:
            _sleep(left, connection.stopped)
        if connection.stopped.is_set():
            raise StoppedError
        reply = self._post(connection, url, body)
        if not 200 <= reply.status_code < 300:
            raise self._refusal(reply)
        try:
            found = json.loads(reply.content)
        except ValueError:
            said = self.clean(_text(reply.content))
            raise _FaultError(f"a reply that is not JSON: {said}") from None
        try:
            return read(found)
        except BadReplyError as bad:
            said = _said(found)
            raise _FaultError(self.clean(f"{bad} ({said})" if said else str(bad))) from None

    def _post(self, connection: Connection, url: httpx2.URL, body: bytes) -> httpx2.Response:
        try:
            return connection.post(url, body, self._endpoint.timeout)
        except httpx2.TimeoutException:
            if connection.stopped.is_set():
                raise StoppedError from None
            raise _FaultError(f"no whole answer within {self._endpoint.timeout:g} s") from None
        except (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError) as error:
            raise InputError(f"{self._where}: url: {self.clean(str(error))}") from None
        except httpx2.RequestError as error:
            said = self.clean(str(error)) or type(error).__name__
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                raise InputError(
                    f"{self._where}: {self.address}: {said}; SSL_CERT_FILE may name the "
                    "certificates to trust"
                ) from None
            raise _FaultError(f"the connection failed: {said}") from None

    def _refusal(self, reply: httpx2.Response) -> Exception:
        said = _text(reply.content)
        with suppress(ValueError):
            said = _said(json.loads(reply.content)) or said
        message = self.clean(said) or "no message"
        too_long = _TOO_LONG.search(said) is not None
        again = reply.status_code in _TRIED_AGAIN or reply.status_code >= 500
        if too_long or not again or _QUOTA.search(_text(reply.content)):
            return RefusedError(reply.status_code, message, too_long)
        wait = retry_after(reply.headers, datetime.now(UTC))
        if wait > 0:
            until = time.monotonic() + min(wait, self._endpoint.max_wait)
            with self._lock:
                self._paused_until = max(self._paused_until, until)
        return _FaultError(f"{reply.status_code}: {message}", wait)

    def clean(self, text: str) -> str:
        """One short line, without the key."""
        if self._key:
            text = text.replace(self._key, "[key]")
        line = " ".join(text.split())
        return line if len(line) <= _MESSAGE_LENGTH else f"{line[: _MESSAGE_LENGTH - 1]}…"

    def _wait(self, state: tenacity.RetryCallState) -> float:
        longest = self._endpoint.max_wait
        fault = state.outcome.exception() if state.outcome else None
        asked = fault.wait if isinstance(fault, _FaultError) else 0.0
        doubled = tenacity.wait_exponential(multiplier=_FIRST_WAIT, max=longest)
        jittered = doubled + tenacity.wait_random(0, _FIRST_WAIT)
        return min(longest, max(asked, jittered(state)))

    def _tell(self, state: tenacity.RetryCallState) -> None:
        fault = state.outcome.exception() if state.outcome else None
        now = time.monotonic()
        with self._lock:
            often = now - self._told < _TOLD_EVERY
            self._told = self._told if often else now
        level = logging.DEBUG if often else logging.INFO
        logger.log(level, "%s: %s; next try in %.1f s", self._where, fault, state.upcoming_sleep)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Certificates of this machine; they take a while to read."""
    return httpx2.create_ssl_context()


def _sleep(seconds: float, stopped: threading.Event) -> None:
    if stopped.wait(seconds):
        raise StoppedError


def retry_after(headers: Mapping[str, str], now: datetime) -> float:
    """Seconds that a server asks to wait, from `retry-after-ms` or `Retry-After`; 0 where none."""
    for name, scale in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        said = headers.get(name)
        if said is None:
            continue
        try:
            seconds = float(said) * scale
        except ValueError:
            try:
                until = parsedate_to_datetime(said)
            except ValueError:
                continue
            seconds = (until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds()
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return 0.0


def _text(body: bytes) -> str:
    return body.decode("utf-8", errors="replace")


def _said(reply: Any) -> str:
    """The message in an error as servers write it, "" where there is none."""
    if isinstance(reply, list):
        return "; ".join(filter(None, map(_said, reply)))
    if isinstance(reply, str):
        return reply
    if not isinstance(reply, dict):
        return ""
    for name in ("error", "message", "msg", "detail"):
        if found := _said(reply.get(name)):
            return found
    return ""
