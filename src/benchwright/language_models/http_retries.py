"""Requests for JSON to one server: retries, pauses, time limits, and answers in order."""

import asyncio
import json
import logging
import random
import re
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2

from benchwright.core.errors import InputError
from benchwright.core.text_folding import single_spaced
from benchwright.params.scoring import EndpointParams

logger = logging.getLogger(__name__)

Question = TypeVar("Question")
Answer = TypeVar("Answer")

FIRST_WAIT = 0.5
"""Seconds before the second attempt, doubled after each one."""
HELD = 32
"""Questions of later batches per connection that are read while an earlier batch waits."""

_RETRIED = {408, 409, 429}  # and 5xx
_MESSAGE_LENGTH = 200  # characters of a server's message
_LARGEST_REPLY = 16 << 20  # bytes; the echo of 131,072 tokens has about 10 MiB
_PATIENCE = 1.0  # seconds for all requests to end
_OF_ANOTHER_SHAPE = (KeyError, IndexError, TypeError, ValueError, AttributeError)
_TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size|limit)|exceed_context"
    r"|maximum (model|sequence|input|prompt) length"
    r"|(prompt|input)\b.{0,40}\btoo (long|many tokens)|too many (input |prompt )?tokens",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(eq=False)
class RefusedError(Exception):
    """A refusal that a retry would not change, with the server's message on one short line."""

    status: int
    message: str
    too_long: bool


class BadReplyError(Exception):
    """A failed attempt, such as a reply of unexpected content, which a retry may change."""


class JsonServer:
    """A server that answers JSON requests with JSON.

    A request is retried, after pauses that double with jitter, on 408, 409, 429, 5xx, a timeout, a
    broken connection and an unreadable or unexpected reply. Where the server says how many seconds
    to wait, all requests wait, up to `max_wait`.
    """

    def __init__(self, where: str, endpoint: EndpointParams, key: str | None) -> None:
        self._where = where
        self._endpoint = endpoint
        self._key = key
        self._paused_until = 0.0
        try:
            self._url = httpx2.URL(endpoint.url)
        except httpx2.InvalidURL as error:
            raise InputError(f"{where}: url {endpoint.url!r}: {error}") from None

    @property
    def address(self) -> str:
        """The server's address, without the query."""
        return str(self._url.copy_with(query=None))

    def client(self) -> httpx2.AsyncClient:
        """Return a client with a connection for each concurrent request."""
        # A small compressed reply could fill the memory.
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key}"
        return httpx2.AsyncClient(
            headers=headers,
            timeout=None,  # each attempt has a time limit as a whole
            limits=httpx2.Limits(max_connections=self._endpoint.concurrency),
        )

    async def ask(
        self,
        client: httpx2.AsyncClient,
        path: str,
        fields: Mapping[str, Any],
        read: Callable[[Any], Answer],
    ) -> Answer:
        """Post one request to a path below the server's address until `read` makes sense of it.

        Raises:
            RefusedError: 4xx that a retry would not change.
            InputError: all attempts failed, or the server cannot be reached.
        """
        url = self._url.copy_with(path=self._url.path.rstrip("/") + path)
        tries = self._endpoint.retries + 1
        fault = ""
        for attempt in range(tries):
            if attempt:
                pause = FIRST_WAIT * (2.0 ** (attempt - 1) + random.random())  # noqa: S311
                pause = min(pause, self._endpoint.max_wait)
                level = logging.INFO if attempt > 1 else logging.DEBUG
                logger.log(level, "%s: %s; next try in %.1f s", self._where, fault, pause)
                await asyncio.sleep(pause)
            while (pause := self._paused_until - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            try:
                return await self._try(client, url, json.dumps(fields).encode(), read)
            except BadReplyError as error:
                fault = self._clean(str(error))
        raise InputError(
            f"{self._where}: no answer from {self.address} after {tries} attempt(s), the last: "
            f"{fault}; finished prompts are kept: run again later, or raise endpoint.retries, "
            "max_wait or timeout"
        )

    async def _try(
        self,
        client: httpx2.AsyncClient,
        url: httpx2.URL,
        body: bytes,
        read: Callable[[Any], Answer],
    ) -> Answer:
        seconds = self._endpoint.timeout
        try:
            async with asyncio.timeout(seconds), client.stream("POST", url, content=body) as reply:
                content = await _content(reply)
        except TimeoutError:
            raise BadReplyError(f"no complete answer within {seconds:g} s") from None
        except httpx2.RequestError as error:
            message = str(error) or type(error).__name__
            raise BadReplyError(f"the connection failed: {message}") from None
        text = content.decode("utf-8", errors="replace")
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            parsed = None
        said = _error_message(parsed)
        if not reply.is_success:
            raise self._refusal(reply, said or text)
        if parsed is None:
            raise BadReplyError(f"the reply is not JSON: {text}")
        try:
            return read(parsed)
        except BadReplyError as bad:
            raise BadReplyError(f"{bad} {said}") from None
        except _OF_ANOTHER_SHAPE as error:
            shape = f"a reply of another shape: {type(error).__name__}"
            raise BadReplyError(f"{shape} {said}") from None

    def _refusal(self, reply: httpx2.Response, text: str) -> Exception:
        status = reply.status_code
        message = self._clean(text) or "no message"
        too_long = _TOO_LONG.search(text) is not None
        retried = status in _RETRIED or status >= 500
        if too_long or not retried or "insufficient_quota" in text:
            return RefusedError(status, message, too_long)
        wait = reply.headers.get("retry-after", "")
        if re.fullmatch(r"\d{1,9}(\.\d+)?", wait):
            until = time.monotonic() + min(float(wait), self._endpoint.max_wait)
            self._paused_until = max(self._paused_until, until)
        return BadReplyError(f"{status}: {message}")

    def _clean(self, text: str) -> str:
        if self._key:
            text = text.replace(self._key, "[key]")
        line = single_spaced(text)
        return line if len(line) <= _MESSAGE_LENGTH else f"{line[: _MESSAGE_LENGTH - 1]}…"


async def _content(reply: httpx2.Response) -> bytes:
    if reply.headers.get("content-encoding", "identity") != "identity":
        raise BadReplyError("the reply is compressed, which was not asked for")
    content = bytearray()
    async for piece in reply.aiter_raw():
        content += piece
        if len(content) > _LARGEST_REPLY:
            raise BadReplyError(f"the reply has over {_LARGEST_REPLY / 2**20:g} MiB")
    return bytes(content)


def _error_message(reply: Any) -> str:
    if isinstance(reply, str):
        return reply
    if not isinstance(reply, dict):
        return ""
    named = (_error_message(reply.get(name)) for name in ("error", "message", "detail"))
    return next(filter(None, named), "")


def in_order(
    batches: Iterable[Sequence[Question]],
    answer: Callable[[httpx2.AsyncClient, Question], Awaitable[Answer]],
    connect: Callable[[], httpx2.AsyncClient],
    most: int,
    progress: Callable[[int], object],
) -> Iterator[list[Answer]]:
    """Yield the answers to batches of questions in order; at most `most` are asked at once.

    Questions of later batches are asked while earlier ones wait, up to `HELD` per connection (a
    crash would lose their answers). After an error nothing new is asked; it is raised once the
    batches before it have been yielded. All requests end with this iterator. `progress` is called
    in the caller's thread.
    """
    gate = asyncio.Semaphore(most)
    under_way: deque[list[Future[Answer]]] = deque()
    failed = False

    async def answered(client: httpx2.AsyncClient, question: Question) -> Answer:
        nonlocal failed
        async with gate:
            if failed:  # whatever comes after the failed question is not wanted
                raise asyncio.CancelledError
            try:
                return await answer(client, question)
            except Exception:
                failed = True
                raise

    def first_batch() -> Iterator[Answer]:
        for future in under_way.popleft():
            yield future.result()
            progress(1)

    with _client_in_a_thread(connect) as (client, loop):
        for batch in batches:
            submitted = (answered(client, question) for question in batch)
            under_way.append([asyncio.run_coroutine_threadsafe(each, loop) for each in submitted])
            while sum(map(len, under_way)) - len(under_way[0]) >= HELD * most:
                yield list(first_batch())
        while under_way:
            yield list(first_batch())


@contextmanager
def _client_in_a_thread(
    connect: Callable[[], httpx2.AsyncClient],
) -> Iterator[tuple[httpx2.AsyncClient, asyncio.AbstractEventLoop]]:
    """Yield a client with its event loop, in a thread since a notebook has a loop of its own."""
    client = connect()
    loop = asyncio.new_event_loop()
    # A daemon: what hangs in a system call must not delay the exit.
    thread = threading.Thread(target=loop.run_forever, name="endpoint", daemon=True)
    thread.start()

    async def end() -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await client.aclose()
        loop.stop()

    try:
        yield client, loop
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop)
        thread.join(_PATIENCE)
