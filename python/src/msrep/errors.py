"""The exceptions of msrep. Their text is the one-line message of the library."""

from __future__ import annotations

from typing import Any

__all__ = ["DeviceError", "Error", "ForkError", "InputError", "NotConverged"]


class Error(Exception):
    """An error of the library."""


class InputError(Error, ValueError):
    """An argument or a file is wrong; the message names it."""


class DeviceError(Error):
    """A device failed. The plan can only be closed."""


class ForkError(Error):
    """The process is the child of a fork, and the library was in use before the fork.

    The library runs threads, which a child of a fork does not have. Start workers by the method ``spawn`` or
    ``forkserver`` of multiprocessing, or use msrep only in the children.
    """


class NotConverged(Error):
    """A solver ended before it reached the tolerance.

    Attributes
    ----------
    x : numpy.ndarray or None
        The best vector that it found.
    info : object
        What it did, such as a `Solution`.
    """

    def __init__(self, message: str, x: Any | None = None, info: Any | None = None) -> None:
        super().__init__(message)
        self.x = x
        self.info = info
