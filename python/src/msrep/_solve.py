"""Linear systems."""

from __future__ import annotations

import weakref
from ctypes import byref, c_uint64
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

from . import _arrays
from . import _library as c
from ._call import Call
from ._plan import Plan, TransposedPlan
from .errors import InputError, NotConverged

__all__ = ["Factors", "Solution", "factorized", "lsmr", "solve"]


@dataclass(frozen=True)
class Solution:
    """How a system was solved.

    Attributes
    ----------
    method, precond, order : str
        What gave x.
    iterations : int
        Iterations of the method.
    residual : float
        ``|b - A x| / |b|``, computed from x.
    seconds : float
        Time of the whole solve.
    least_squares : bool
        Whether no x satisfies all equations, and x minimises ``|b - A x|``.
    """

    method: str
    precond: str
    order: str
    iterations: int
    residual: float
    seconds: float
    least_squares: bool


def solve(A: Any, b: Any, *, x0: Any = None, method: str | None = None, precond: str | None = None,
          order: str | None = None, tol: float = 1e-8, max_iter: int = 0, restart: int = 0, seconds: float = 0, max_bytes: int = 0,
          deterministic: bool = False, callback: Callable[[int, float], Any] | None = None, full_output: bool = False,
          devices: str = "auto", threads: int | None = None) -> Any:
    """Solve ``A x = b``.

    Without an option msrep chooses among iterative methods and its own sparse factors, and tries others if these fail. A
    matrix that is not square gives the least squares solution.

    Parameters
    ----------
    A : matrix or Plan
        As in `plan`. A `Plan` is used for its products: `method` is then an iterative one, GMRES unless given, without a
        preconditioner.
    b : array_like
        The right-hand side. The columns of a matrix b are solved one after the other.
    x0 : array_like, optional
        The first guess of iterative methods; 0 unless given.
    method : str, optional
        ``"cg"``, ``"minres"``, ``"bicgstab"``, ``"gmres"``, ``"fgmres"``, ``"idr"``, ``"lsmr"`` or ``"direct"``.
    precond : str, optional
        ``"none"``, ``"jacobi"``, ``"block-jacobi:N"``, ``"ilu"``, ``"ic"``, ``"ilut"``, ``"amg"`` or ``"chebyshev"``.
    order : str, optional
        The order of rows and columns for factors: ``"none"``, ``"rcm"`` or ``"amd"``.
    tol : float
        The relative residual ``|b - A x| / |b|`` to reach.
    max_iter, restart, seconds, max_bytes
        Limits: iterations, iterations between restarts, time, memory of factors; 0 means the default.
    deterministic : bool
        Whether x has the same bits on any devices with any number of threads.
    callback : callable, optional
        ``callback(iteration, residual)`` is called after iterations and about every 20 ms. If it returns a true value,
        the solve stops.
    full_output : bool
        Whether to return also a `Solution`.
    devices, threads
        As in `plan`.

    Returns
    -------
    numpy.ndarray, or a tuple of it and a `Solution`
        A list of `Solution` if b is a matrix.

    Raises
    ------
    NotConverged
        If the tolerance was not reached, or `callback` stopped the solve; the exception has the best x.

    Examples
    --------
    >>> import msrep, numpy as np
    >>> a = msrep.read("gen:stencil:n=30")
    >>> b = np.ones(900)
    >>> x, how = msrep.solve(a, b, full_output=True)
    >>> bool(np.linalg.norm(b - msrep.plan(a) @ x) <= 1e-8 * np.linalg.norm(b))
    True
    """
    if isinstance(A, TransposedPlan):
        raise InputError("A: the transpose of a plan: make a plan of A.T, or pass A.T itself")
    rhs = _arrays.real(b, "b", _arrays.FLOAT64)
    if rhs.ndim == 2:
        first = None if x0 is None else _arrays.real(x0, "x0", _arrays.FLOAT64)
        if first is not None and first.shape != (A.shape[1], rhs.shape[1]):
            raise InputError(f"x0: its shape is {first.shape}: {(A.shape[1], rhs.shape[1])} is expected")
        if not isinstance(A, Plan):
            A = _arrays.matrix(A)
        every = [
            solve(A, rhs[:, j], x0=None if first is None else first[:, j], method=method, precond=precond, order=order, tol=tol,
                  max_iter=max_iter, restart=restart, seconds=seconds, max_bytes=max_bytes, deterministic=deterministic,
                  callback=callback, full_output=True, devices=devices, threads=threads)
            for j in range(rhs.shape[1])]
        x = np.empty((A.shape[1], rhs.shape[1]))
        for j, (column, _) in enumerate(every):
            x[:, j] = column
        return (x, [how for _, how in every]) if full_output else x
    rhs = _arrays.vector(rhs, "b")
    call = Call(callback, "the plan is closed" if isinstance(A, Plan) else None)
    options = c.SolveOptions(
        method=c.string("method", method), precond=c.string("precond", precond), order=c.string("order", order), tol=c.real("tol", tol),
        max_iter=c.integer("max_iter", max_iter), restart=c.integer("restart", restart), seconds=c.real("seconds", seconds),
        max_bytes=c.integer("max_bytes", max_bytes), flags=c.DETERMINISTIC if deterministic else 0, progress=call.function)
    result, lib = c.SolveResult(), c.library()
    given = None if isinstance(A, Plan) else _arrays.matrix(A)
    cols = (A if given is None else given).shape[1]
    x = np.zeros(cols) if x0 is None else np.array(_arrays.vector(x0, "x0"))
    vectors = (len(rhs), _arrays.address(rhs), len(x), _arrays.address(x), byref(options), byref(result))
    if given is None:
        status = call.run(lambda: lib.msrep_plan_solve(A._handle, *vectors))
    else:
        system = c.system(devices, threads)
        status = call.run(lambda: lib.msrep_solve_with(system, given.reference, *vectors))
    how = Solution(
        result.method.decode(), result.precond.decode(), result.order.decode(), result.iterations, result.residual, result.seconds,
        bool(result.least_squares))
    if status == c.STOPPED:
        raise NotConverged(f"the callback stopped the solve after {how.iterations} iterations", x, how)
    if call.error is not None and not (how.least_squares and (method == "lsmr" or len(x) != len(rhs))):
        if isinstance(call.error, NotConverged):
            call.error.x, call.error.info = x, how
        raise call.error
    return (x, how) if full_output else x


def lsmr(A: Any, b: Any, **options: Any) -> Any:
    """Minimise ``|b - A x|`` by LSMR; options are those of `solve`."""
    return solve(A, b, method="lsmr", **options)


class Factors:
    """Complete factors of a matrix, which solve systems. `factorized` makes them; call them with a right-hand side."""

    def __init__(self, given: _arrays.Given, kind: str, order: str | None, threads: int | None) -> None:
        lib, system = c.library(), c.system("cpu", threads, stoppable=True)
        handle, call = c_uint64(), Call()
        names = c.string("kind", kind), c.string("order", order)
        call.run(lambda: lib.msrep_factor(system, given.reference, *names, byref(handle)), lambda: lib.msrep_stop(system))
        if call.error is not None:
            raise call.error
        self.shape = given.shape
        self.nnz = given.struct.nnz
        self._handle = handle.value
        self._closing = weakref.finalize(self, lib.msrep_close, self._handle)

    def __call__(self, b: Any) -> np.ndarray:
        """Return x of ``A x = b``. The columns of a matrix b are solved one after the other."""
        b = _arrays.dense(b, "b")
        if b.ndim == 2:
            return np.stack([self(column) for column in b.T], axis=1) if b.shape[1] else np.empty(b.shape)
        rhs = _arrays.vector(b, "b")
        x = np.empty(self.shape[1])
        if len(rhs) != self.shape[0]:
            raise InputError(f"b: {len(rhs)} elements: the matrix has {self.shape[0]} rows")
        status = c.library().msrep_factor_solve(self._handle, len(rhs), _arrays.address(rhs), _arrays.address(x))
        if status:
            error = c.exception(status, "the factors are closed")
            if isinstance(error, NotConverged):
                error.x = x
            raise error
        return x

    solve = __call__

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("factors are memory of this process: they cannot be copied or pickled; compute them again")

    def update(self, values: Any) -> None:
        """Replace the factors by those of the matrix with other values, in the order of `Plan.update`."""
        new = _arrays.real(values, "values", _arrays.FLOAT64)
        _arrays.length(new, "values", self.nnz)
        lib, call = c.library(), Call(closed="the factors are closed")
        call.run(lambda: lib.msrep_factor_update(self._handle, new.size, _arrays.address(new)), lambda: lib.msrep_stop(self._handle))
        if call.error is not None:
            raise call.error

    def close(self) -> None:
        """Release the factors now. Otherwise that happens when no reference to them is left."""
        self._closing()


def factorized(A: Any, kind: str = "lu", *, order: str | None = None, threads: int | None = None) -> Factors:
    """Compute complete factors of a square matrix, to solve many systems.

    Parameters
    ----------
    A : matrix
        As in `plan`.
    kind : str
        ``"lu"``, or ``"cholesky"`` for a symmetric positive definite matrix.
    order : str, optional
        ``"none"``, ``"rcm"`` or ``"amd"``; chosen unless given.
    threads : int, optional
        CPU threads; all unless given.

    Returns
    -------
    Factors

    Examples
    --------
    >>> import msrep, numpy as np
    >>> f = msrep.factorized(np.array([[2.0, 0.0], [1.0, 3.0]]))
    >>> f([2.0, 7.0])
    array([1., 2.])
    """
    return Factors(_arrays.matrix(A), kind, order, threads)
