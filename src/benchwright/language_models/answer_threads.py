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
    """Answers to questions that belong together, as they come in."""

    def __init__(self, size: int) -> None:
        self.answers: list[Any] = [None] * size
        self.missing = size
        self.error: Exception | None = None


class _Backlog(Generic[Question, Answer]):
    """Batches that have been begun and not yielded, and the questions to come."""

    def __init__(self, batches: Iterable[Sequence[Question]]) -> None:
        self._under_way: deque[_Batch[Answer]] = deque()
        self._coming = self._jobs(batches)

    def _jobs(
        self, batches: Iterable[Sequence[Question]]
    ) -> Iterator[tuple[_Batch[Answer], int, Question]]:
        for questions in batches:
            batch: _Batch[Answer] = _Batch(len(questions))
            self._under_way.append(batch)
            for position, question in enumerate(questions):
                yield batch, position, question

    def next(self, most_held: int) -> tuple[_Batch[Answer], int, Question] | None:
        """What to ask next; None where nothing is left, or too many answers wait already."""
        later = itertools.islice(self._under_way, 1, None)
        held = sum(len(batch.answers) - batch.missing for batch in later)
        return None if held >= most_held else next(self._coming, None)

    def note(self, batch: _Batch[Answer], position: int, found: Answer | Exception) -> bool:
        """Take in an answer, or an error; whether it is an answer."""
        if isinstance(found, Exception):
            batch.error = batch.error or found
            return False
        batch.answers[position] = found
        batch.missing -= 1
        return True

    def complete(self) -> Iterator[list[Answer]]:
        """The first batches, as far as they are answered; raises the error of one that is not."""
        while self._under_way and (self._under_way[0].error or not self._under_way[0].missing):
            first = self._under_way.popleft()
            if first.error:
                raise first.error
            yield first.answers


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
    backlog: _Backlog[Question, Answer] = _Backlog(batches)
    waiting = 0
    try:
        while True:
            yield from backlog.complete()
            while waiting < 2 * threads and (job := backlog.next(_HELD * threads)):
                pool.ask(*job)
                waiting += 1
            if not waiting:
                yield from backlog.complete()  # empty batches at the end
                return
            answered = pool.answered.get()
            waiting -= 1
            if backlog.note(*answered):
                progress(1)
    finally:
        pool.stop()
