"""Questions answered by several threads, batches of answers in order."""

import itertools
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from benchwright.language_models.http_retries import Connection

Question = TypeVar("Question")
Answer = TypeVar("Answer")

_PATIENCE = 1.0  # seconds for threads to end
_HELD = 32  # answers per thread that may wait for those of an earlier batch


class _Batch(Generic[Answer]):
    """Answers to questions that belong together, as they come in, or the first error."""

    def __init__(self, size: int) -> None:
        self.answers: list[Any] = [None] * size
        self.missing = size
        self.error: Exception | None = None

    def take(self, position: int, found: Answer | Exception) -> bool:
        """Keep an answer, or the first error; whether it is an answer."""
        if isinstance(found, Exception):
            self.error = self.error or found
            return False
        self.answers[position] = found
        self.missing -= 1
        return True


class _Threads(Generic[Question, Answer]):
    """Threads with a connection each, which answer questions in any order."""

    def __init__(
        self,
        answer: Callable[[Connection, Question], Answer],
        connect: Callable[[threading.Event], Connection],
        most: int,
    ) -> None:
        self._answer = answer
        self._connect = connect
        self._most = most
        self._stopped = threading.Event()
        self._failed = False
        self._threads: list[threading.Thread] = []
        self._connections: list[Connection] = []
        self._asked: queue.SimpleQueue[tuple[_Batch[Answer], int, Question] | None]
        self._asked = queue.SimpleQueue()
        self.answered: queue.SimpleQueue[tuple[_Batch[Answer], int, Answer | Exception]]
        self.answered = queue.SimpleQueue()

    def ask(self, batch: _Batch[Answer], position: int, question: Question) -> None:
        if len(self._threads) < self._most:
            connection = self._connect(self._stopped)
            # A daemon: a thread that hangs in a system call must not hold up the exit.
            thread = threading.Thread(target=self._work, args=(connection,), daemon=True)
            self._connections.append(connection)
            self._threads.append(thread)
            thread.start()
        self._asked.put((batch, position, question))

    def _work(self, connection: Connection) -> None:
        while (asked := self._asked.get()) is not None:
            if self._failed or self._stopped.is_set():
                break  # what is still in the queue comes after what failed
            batch, position, question = asked
            try:
                self.answered.put((batch, position, self._answer(connection, question)))
            except Exception as error:
                self._failed = True
                self.answered.put((batch, position, error))
        connection.close()

    def stop(self) -> None:
        """End all requests and threads, at once."""
        self._stopped.set()
        for connection in self._connections:
            connection.cut()
            self._asked.put(None)
        end = time.monotonic() + _PATIENCE
        for thread in self._threads:
            thread.join(max(0.0, end - time.monotonic()))


def in_order(
    batches: Iterable[Sequence[Question]],
    answer: Callable[[Connection, Question], Answer],
    connect: Callable[[threading.Event], Connection],
    threads: int,
    progress: Callable[[int], object],
) -> Iterator[list[Answer]]:
    """Answers to batches of questions, in order, asked by several threads.

    Questions of coming batches are asked while earlier ones wait. Twice as many as there are
    threads are read ahead; a question that takes long does not hold up the others until `_HELD`
    answers per thread wait for it, which are what a crash would lose. After an error nothing new
    is asked; it is raised once the batches before it have been yielded. However this ends, the
    threads end with it.

    Args:
        batches: read as far as needed.
        answer: called in a thread, with its connection; the first error ends all.
        connect: makes a connection; the event it is given ends requests and pauses.
        threads: questions asked at once.
        progress: told of each question that is answered, in the caller's thread.
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
                batch, position, found = pool.answered.get()
                waiting -= 1
                if batch.take(position, found):
                    progress(1)
            elif not under_way:
                return
    finally:
        pool.stop()


def _complete(under_way: deque[_Batch[Answer]]) -> Iterator[list[Answer]]:
    """The first batches, as far as they are answered; raises the error of one that is not."""
    while under_way and (under_way[0].error or not under_way[0].missing):
        first = under_way.popleft()
        if first.error:
            raise first.error
        yield first.answers
