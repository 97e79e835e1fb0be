"""Eigenvalues and singular values."""

from __future__ import annotations

from ctypes import byref
from typing import Any, Callable

import numpy as np

from . import _arrays
from . import _library as c
from ._call import Call
from .errors import NotConverged

__all__ = ["eigsh", "svds"]

# What SciPy calls the values to find.
_SCIPY = {"LA": "largest", "SA": "smallest", "LM": "magnitude", "SM": "near"}


def eigsh(
    A: Any,
    k: int = 6,
    sigma: float | None = None,
    which: str = "LM",
    *,
    v0: Any = None,
    ncv: int = 0,
    maxiter: int = 0,
    tol: float = 0,
    return_eigenvectors: bool = True,
    method: str = "lanczos",
    seed: int = 0,
    deterministic: bool = False,
    callback: Callable[[int, float], Any] | None = None,
    devices: str = "auto",
    threads: int | None = None,
) -> Any:
    """Find k eigenvalues of a symmetric matrix, and their eigenvectors.

    Parameters
    ----------
    A : matrix
        As in `plan`; symmetric.
    k : int
        How many.
    sigma : float, optional
        A number to which the eigenvalues shall be nearest. Factors of ``A - sigma I`` find them.
    which : str
        ``"LM"`` or ``"magnitude"`` (the largest absolute values), ``"LA"`` or ``"largest"``, ``"SA"`` or ``"smallest"``,
        ``"SM"`` (nearest to 0, as ``sigma=0``). Not used with `sigma`.
    v0 : array_like, optional
        The first vector.
    ncv, maxiter, tol
        Vectors of the basis, greatest number of iterations, and greatest residual ``|A v - w v|`` relative to the norm of A.
        0 means the default, for `tol` 1e-10.
    return_eigenvectors : bool
        Whether to return the vectors too.
    method : str
        ``"lanczos"`` or ``"lobpcg"``.
    seed : int
        Selects the random first vector.
    deterministic, callback, devices, threads
        As in `solve`.

    Returns
    -------
    w : numpy.ndarray
        The eigenvalues, ascending.
    v : numpy.ndarray
        Column i is the eigenvector of ``w[i]``, of length 1.

    Examples
    --------
    >>> import msrep
    >>> w, v = msrep.eigsh(msrep.read("gen:stencil:n=10"), 2, which="SA")
    >>> w.round(4)
    array([0.162 , 0.3985])
    """
    given, k = _arrays.matrix(A), c.integer("k", k)
    if sigma is not None:
        what = "near"
    else:
        what, sigma = _SCIPY.get(which, which) if isinstance(which, str) else which, 0.0
    n = max(min(k, given.shape[0]), 0)  # the library refuses a larger k
    values, residuals, vectors = np.empty(n), np.empty(n), np.empty((n, given.shape[0]))
    call = _Call(given.shape[1], what, sigma, tol, maxiter, ncv, v0, seed, method, deterministic, callback)
    lib, system = c.library(), c.system(devices, threads)
    status = call.run(lambda options, result: lib.msrep_eigs(
        system, given.reference, k, options, _arrays.address(values), _arrays.address(vectors),
        _arrays.address(residuals), result))
    n = call.result.count
    order = np.argsort(values[:n], kind="stable")
    found = values[:n][order], vectors[:n][order].T
    call.check(status, found)
    return found if return_eigenvectors else found[0]


def svds(
    A: Any,
    k: int = 6,
    *,
    which: str = "LM",
    v0: Any = None,
    ncv: int = 0,
    maxiter: int = 0,
    tol: float = 0,
    return_singular_vectors: bool = True,
    seed: int = 0,
    deterministic: bool = False,
    callback: Callable[[int, float], Any] | None = None,
    devices: str = "auto",
    threads: int | None = None,
) -> Any:
    """Find k singular values of a matrix, and their vectors.

    Parameters
    ----------
    A : matrix
        As in `plan`.
    which : str
        ``"LM"`` or ``"largest"``, ``"SM"`` or ``"smallest"`` (by factors).
    return_singular_vectors : bool
        Whether to return u and vt too.
    k, v0, ncv, maxiter, tol, seed, deterministic, callback, devices, threads
        As in `eigsh`.

    Returns
    -------
    u, s, vt : numpy.ndarray
        ``A @ vt.T`` is ``u * s``. s descends with ``"LM"`` and ascends with ``"SM"``.

    Examples
    --------
    >>> import msrep, numpy as np
    >>> u, s, vt = msrep.svds(np.diag([1.0, 2.0, 3.0]), 1)
    >>> s.round(10)
    array([3.])
    """
    given, k = _arrays.matrix(A), c.integer("k", k)
    what = {"LM": "largest", "SM": "smallest"}.get(which, which) if isinstance(which, str) else which
    n = max(min(k, *given.shape), 0)
    values, residuals, u, v = np.empty(n), np.empty(n), np.empty((n, given.shape[0])), np.empty((n, given.shape[1]))
    call = _Call(given.shape[1], what, 0.0, tol, maxiter, ncv, v0, seed, None, deterministic, callback)
    lib, system = c.library(), c.system(devices, threads)
    status = call.run(lambda options, result: lib.msrep_svds(
        system, given.reference, k, options, _arrays.address(values), _arrays.address(u), _arrays.address(v),
        _arrays.address(residuals), result))
    n = call.result.count
    found = u[:n].T, values[:n], v[:n]
    call.check(status, found)
    return found if return_singular_vectors else found[1]


class _Call:
    """A call of msrep_eigs or msrep_svds."""

    def __init__(
        self,
        cols: int,
        which: str,
        sigma: float,
        tol: float,
        maxiter: int,
        ncv: int,
        v0: Any,
        seed: int,
        method: str | None,
        deterministic: bool,
        callback: Callable[[int, float], Any] | None,
    ) -> None:
        self.call = Call(callback)
        self.start = None if v0 is None else _arrays.vector(v0, "v0")
        _arrays.length(self.start, "v0", cols)
        self.options = c.EigsOptions(
            which=c.string("which", which), sigma=c.real("sigma", sigma), tol=c.real("tol", tol),
            max_iter=c.integer("maxiter", maxiter or 0), basis=c.integer("ncv", ncv or 0),
            start=None if self.start is None else _arrays.address(self.start),
            seed=c.integer("seed", seed, unsigned=True), method=c.string("method", method), flags=c.DETERMINISTIC if deterministic else 0,
            progress=self.call.function)
        self.result = c.EigsResult()

    def run(self, function: Callable[[Any, Any], int]) -> int:
        return self.call.run(lambda: function(byref(self.options), byref(self.result)))

    def check(self, status: int, found: Any) -> None:
        """Raise the exception of a status, with what was found."""
        if status == c.STOPPED:
            raise NotConverged("the callback stopped the search", found)
        if self.call.error is not None:
            if isinstance(self.call.error, NotConverged):
                self.call.error.x = found
            raise self.call.error
