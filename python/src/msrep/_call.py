"""Long calls of the library, which signals and callbacks can end."""

from __future__ import annotations

import _thread
import time
from typing import Any, Callable

from . import _library as c


class Call:
    """A long call of the library in a thread of its own. closed is as in `exception` of the library.

    The thread that asks for it waits, and runs the caller's callback. So Python's signal handlers run as usual: Ctrl-C, or any
    exception of a handler or of the callback, ends the call and propagates.

    Attributes
    ----------
    function : ctypes function
        The progress callback for the library.
    error : Exception or None
        The exception of the status that `run` returned.
    """

    def __init__(self, callback: Callable[[int, float], Any] | None = None, closed: str | None = None) -> None:
        self._callback, self._closed = callback, closed
        self._news, self._answer = _thread.allocate_lock(), _thread.allocate_lock()  # acquired: there is none
        self._news.acquire()
        self._answer.acquire()
        self._step: tuple[int, float] = (0, 1.0)
        self._stopping = self._ended = False
        self._status = c.OK
        self.error: Exception | None = None
        self.function = c.Progress(self._progress)

    def _progress(self, iteration: int, residual: float, _: Any) -> int:
        """Pass a step to the thread that waits. The library's thread calls this, also between iterations, every 20 ms."""
        if self._callback is not None and not self._stopping:
            self._step = iteration, residual
            _release(self._news)
            while not self._answer.acquire(timeout=0.05) and not self._stopping:
                pass
        return self._stopping

    def run(self, call: Callable[[], int], stop: Callable[[], Any] | None = None, made: Callable[[], Any] | None = None) -> int:
        """Return the status of call.

        stop ends a call that takes no progress callback. made releases what a call has made that succeeds although an
        exception, which propagates, was to end it.
        """

        def work() -> None:
            try:
                self._status = call()
                self.error = None if self._status == c.OK else c.exception(self._status, self._closed)  # its text is that of this thread
            except BaseException as e:  # call is a call of ctypes: this is an argument that has no C type
                self._status, self.error = c.FAILED, e if isinstance(e, Exception) else c.Error(repr(e))
            finally:
                self._ended = True
                _release(self._news)

        started = False
        try:
            _thread.start_new_thread(work, ())
            started = True
            while not self._ended:
                # A signal ends this wait if it arrives in this thread. The time limit is for others.
                if self._news.acquire(timeout=0.05) and not self._ended and self._callback is not None:
                    self._stopping = bool(self._callback(*self._step))
                    _release(self._answer)
        except BaseException:
            self._stopping = True
            while started and not self._ended:
                _release(self._answer)
                if stop is not None:
                    stop()  # again and again: the call may not have begun
                time.sleep(0.002)
            if made is not None and self._ended and self._status == c.OK:
                made()
            raise
        return self._status


def _release(lock: Any) -> None:
    """Release a lock that only this thread releases, unless the other thread has not taken the last release."""
    if lock.locked():
        lock.release()
