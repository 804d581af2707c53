"""A process of its own that answers questions one at a time, within limits of time and memory.

A question that takes too long is ended with its process, and the next question gets a new one.
"""

from __future__ import annotations

import json
import signal
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

from ..errors import InputError, SymgraphError

__all__ = ["LARGEST_ANSWER", "Answer", "Worker"]

Answer: TypeAlias = Callable[[Mapping[str, str]], Mapping[str, Any]]
"""From the texts of a question to what JSON can hold."""

LARGEST_ANSWER = 16_000_000
"""The most bytes of an answer."""
_MEMORY = 4 * 2**30
_START = 60.0
"""Seconds to start a process and to import the library there."""


class Worker:
    """Answers questions in a process that is started at the first one.

    Parameters
    ----------
    answer : callable
        A function of a module, so that another process finds it.
    seconds : float
        The time limit of a question.
    """

    def __init__(self, answer: Answer, seconds: float) -> None:
        self._answer = answer
        self._seconds = seconds
        self._lock = threading.Lock()
        self._process: Any = None
        self._pipe: Connection | None = None

    def ask(self, question: Mapping[str, str]) -> bytes:
        """The answer as JSON; `{"error": ...}` if there is none."""
        if not self._lock.acquire(timeout=self._seconds):
            return _error(InputError("Another question is still at work.", mend="Ask again."))
        try:
            return self._asked(question)
        finally:
            self._lock.release()

    def close(self) -> None:
        """End the process."""
        if self._pipe is not None:
            self._pipe.close()
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None

    def _asked(self, question: Mapping[str, str]) -> bytes:
        try:
            pipe = self._started()
            pipe.send_bytes(json.dumps(dict(question)).encode())
            if pipe.poll(self._seconds):
                return pipe.recv_bytes(LARGEST_ANSWER)
        except (EOFError, OSError):
            self.close()
            what = "The process that answers has ended, perhaps for want of memory."
            return _error(InputError(what, mend="Ask for something smaller."))
        self.close()
        what = f"The answer takes more than {self._seconds:g} seconds."
        mend = "Ask for something smaller, or start symgraph serve with more --seconds."
        return _error(InputError(what, mend=mend))

    def _started(self) -> Connection:
        if self._pipe is not None and self._process.is_alive():
            return self._pipe
        self.close()
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, self._answer), daemon=True)
        process.start()
        theirs.close()
        self._process, self._pipe = process, ours
        if not ours.poll(_START):
            raise EOFError
        ours.recv_bytes()
        return ours


# -- in the other process --------------------------------------------------------------------------
def _work(pipe: Connection, answer: Answer) -> None:
    """Answer until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the server's
    _limit_memory()
    pipe.send_bytes(b"ready")
    with suppress(EOFError, OSError):
        while True:
            found = _answered(answer, json.loads(pipe.recv_bytes()))
            if len(found) > LARGEST_ANSWER:
                found = _error(InputError("The answer is too large to show."))
            pipe.send_bytes(found)


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    with suppress(ValueError, OSError):
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = _MEMORY if hard == resource.RLIM_INFINITY else min(_MEMORY, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _answered(answer: Answer, question: Mapping[str, str]) -> bytes:
    try:
        return json.dumps(dict(answer(question))).encode()
    except SymgraphError as error:
        return _error(error)
    except (MemoryError, RecursionError) as error:
        what = f"The answer needs too much memory ({type(error).__name__})."
        return _error(InputError(what, mend="Ask for something smaller."))
    except Exception:
        traceback.print_exc()
        what = "symgraph failed at this; the terminal of symgraph serve shows where."
        return json.dumps({"error": f"error: {what}"}).encode()


def _error(error: SymgraphError) -> bytes:
    """The error as the command line prints it."""
    error.frame = None  # the user wrote no line of Python
    return json.dumps({"error": f"{type(error).__name__}: {error}"}).encode()
