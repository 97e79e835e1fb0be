"""Ranks of the nodes of graphs."""

from __future__ import annotations

from ctypes import byref
from typing import Any, Callable

import numpy as np

from . import _arrays
from . import _library as c
from ._call import Call
from .errors import NotConverged

__all__ = ["pagerank"]


def pagerank(
    A: Any,
    damping: float = 0.85,
    *,
    teleport: Any = None,
    dangling: str = "teleport",
    weighted: bool = False,
    start: Any = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
    callback: Callable[[int, float], Any] | None = None,
    devices: str = "auto",
    threads: int | None = None,
) -> np.ndarray:
    """Rank the nodes of a directed graph by PageRank.

    Parameters
    ----------
    A : matrix
        Square, as in `plan`: an entry (i, j) is a link from node i to node j.
    damping : float
        The probability that the walk follows a link.
    teleport : array_like, optional
        Where the walk starts anew: a number of at least 0 for each node; all nodes alike unless given.
    dangling : str
        Where nodes without links lead: ``"teleport"`` or ``"uniform"``.
    weighted : bool
        Whether the values of A are the weights of the links. Otherwise all links of a node are alike.
    start : array_like, optional
        The first ranks, such as those of an earlier graph.
    tol, max_iter
        The 1-norm of the difference of two iterates to reach, and the greatest number of iterations.
    callback, devices, threads
        As in `solve`.

    Returns
    -------
    numpy.ndarray
        The ranks; their sum is 1.

    Examples
    --------
    >>> import msrep, numpy as np
    >>> msrep.pagerank(np.array([[0, 1, 1], [0, 0, 1], [1, 0, 0]])).round(3)
    array([0.388, 0.215, 0.397])
    """
    given = _arrays.matrix(A)
    ranks, call = np.zeros(given.shape[0]), Call(callback)
    jump = None if teleport is None else _arrays.vector(teleport, "teleport")
    first = None if start is None else _arrays.vector(start, "start")
    for name, v in (("teleport", jump), ("start", first)):
        _arrays.length(v, name, given.shape[0])
    options = c.PageRankOptions(
        damping=c.real("damping", damping), tol=c.real("tol", tol), max_iter=c.integer("max_iter", max_iter),
        teleport=None if jump is None else _arrays.address(jump),
        start=None if first is None else _arrays.address(first), dangling=c.string("dangling", dangling), weighted=bool(weighted),
        progress=call.function)
    result, lib, system = c.PageRankResult(), c.library(), c.system(devices, threads)
    status = call.run(lambda: lib.msrep_pagerank(
        system, given.reference, len(ranks), _arrays.address(ranks), byref(options), byref(result)))
    if status == c.STOPPED:
        raise NotConverged(f"the callback stopped after {result.iterations} iterations", ranks)
    if call.error is not None:
        if isinstance(call.error, NotConverged):
            call.error.x = ranks
        raise call.error
    return ranks
