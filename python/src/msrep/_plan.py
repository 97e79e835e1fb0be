"""Plans: matrices that are stored for many products."""

from __future__ import annotations

import ctypes
import json
import weakref
from ctypes import byref, c_int64, c_uint64
from typing import Any

import numpy as np

from . import _arrays, _gpu
from . import _library as c
from ._call import Call
from .errors import InputError

__all__ = ["Plan", "TransposedPlan", "aslinearoperator", "plan"]


# The memory of an array as an argument of the library, in a tenth of the time of __array_interface__.
_memory: Any = (ctypes.c_char * 0).from_buffer


_empty = np.empty
_BY_ROW = ctypes.c_int(0)
_COUNTS = {n: c_int64(n) for n in range(1, 65)}
# A plan with fewer entries takes less than 50 ms, and no thread of its own so that Ctrl-C ends it.
_SHORT = 100_000
# Arguments of this package by what the library calls them.
_NAMES = {"y": "out", "val": "values"}


def _address(array: np.ndarray) -> Any:
    """Return the memory of a contiguous array as an argument of the library."""
    return _memory(array) if array.flags.carray else _arrays.address(array)


class _Products:
    """The products of a plan or of its transpose."""

    __slots__ = ()
    shape: tuple[int, int]
    dtype: np.dtype
    ndim = 2
    __array_ufunc__ = None  # NumPy leaves array @ plan to __rmatmul__
    _transpose: int
    # Of the plan:
    _rows: int
    _cols: int
    _contiguous: tuple[int]
    _handle: int
    _multiply: Any
    _multiply_many: Any
    _multiply_on_gpu: Any
    # The functions that products and products of blocks call, without the types of their parameters: converting arguments
    # that are ctypes objects already takes a tenth of the time of a small product.
    _direct: tuple[Any, Any]
    # Rows and columns of op(A), and arguments of the library that are the same in all products, as its types: converting
    # integers takes a fifth of the time of a small product.
    _fixed: tuple[int, int, Any, Any, Any, Any, Any, Any]

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a plan is memory of this process: it cannot be copied or pickled; make another of the matrix")

    def multiply(self, x: Any, out: np.ndarray | None = None, *, alpha: float = 1.0, beta: float = 0.0,
                 transpose: bool = False) -> np.ndarray:
        """Compute ``alpha * op(A) @ x + beta * out``.

        Parameters
        ----------
        x : array_like
            A vector of ``shape[1]`` elements, or several as the columns of a matrix. Other values than the plan's are
            converted to its `dtype`. A vector on a GPU (of CuPy, torch, or with ``__cuda_array_interface__``) is used
            there, if the plan is on this GPU only; the result is on the GPU too.
        out : numpy.ndarray, optional
            The result, of the plan's `dtype`; a new array unless given. It must not overlap `x`. It is not read if
            `beta` is 0.
        alpha, beta : float
            Factors. `beta` needs `out`.
        transpose : bool
            Whether op(A) is the transpose; `x` then has ``shape[0]`` rows.

        Returns
        -------
        numpy.ndarray
            `out`, or the new array.

        Examples
        --------
        >>> import msrep, numpy as np
        >>> a = msrep.plan(np.array([[2.0, 0.0], [1.0, 3.0]]))
        >>> y = np.ones(2)
        >>> a.multiply([1.0, 2.0], out=y, alpha=10, beta=1)
        array([21., 71.])
        """
        flip = self._transpose ^ bool(transpose)
        if type(x) is not np.ndarray or x.dtype is not self.dtype:
            if _gpu.holds(x):
                return self._on_gpu(flip, alpha, x, beta, out)
            x = _arrays.dense(x, "x")
            if x.dtype != self.dtype or not x.flags.aligned:
                x = _arrays.real(x, "x", self.dtype)
        if out is None:
            if beta != 0:
                raise InputError("beta: it multiplies out, which is not given")
            out = _like(x, self._cols if flip else self._rows, self.dtype)
        elif not isinstance(out, np.ndarray) or out.dtype != self.dtype or not out.flags.writeable:
            raise InputError(f"out: it must be a writeable array of {self.dtype}")
        try:
            if x.ndim == 1 and out.ndim == 1:
                if x.strides != self._contiguous:
                    x = np.ascontiguousarray(x)
                if out.strides != self._contiguous and len(out) > 1:
                    raise InputError("out: its elements are not contiguous")
                if not x.flags.aligned:
                    x = x.copy()
                status = self._multiply(self._handle, flip, alpha, x.shape[0], _address(x), beta, out.shape[0], _address(out))
            elif x.ndim == 2 and out.ndim == 2:
                status = self._many(flip, alpha, x, beta, out)
            else:
                raise InputError(f"x: {x.ndim} dimensions and out: {out.ndim}: both must have 1, or both 2")
        except ctypes.ArgumentError as e:
            c.real("alpha", alpha), c.real("beta", beta)
            raise InputError(str(e)) from None
        if status:
            raise c.exception(status, "the plan is closed", _NAMES)
        return out

    def _on_gpu(self, flip: int, alpha: float, x: Any, beta: float, out: Any) -> Any:
        """Multiply a vector in the memory of the plan's GPU."""
        v = _gpu.Vector(x, "x", self.dtype)
        if out is None:
            if beta != 0:
                raise InputError("beta: it multiplies out, which is not given")
            out = _gpu.empty(x, self._cols if flip else self._rows)
        w = _gpu.Vector(out, "out", self.dtype, write=True)
        status = self._multiply_on_gpu(
            self._handle, flip, c.real("alpha", alpha), v.length, v.address, c.real("beta", beta), w.length, w.address)
        if status:
            raise c.exception(status, "the plan is closed", _NAMES)
        return out

    def _many(self, flip: int, alpha: float, x: np.ndarray, beta: float, out: np.ndarray) -> int:
        """Multiply the columns of x."""
        count = x.shape[1]
        if out.shape[1] != count:
            raise InputError(f"out: {out.shape[1]} columns: x has {count}")
        if count == 0:
            return c.OK
        if x.flags.carray and out.flags.carray:  # rows, as in __matmul__
            return self._multiply_many(
                self._handle, flip, count, alpha, x.shape[0], _memory(x), count, beta, out.shape[0], _memory(out), count, 0)
        stride = _stride(out, False)
        by_column = stride is None
        if by_column:
            stride = _stride(out, True)
        if stride is None:
            raise InputError("out: neither its rows nor its columns are contiguous")
        x_stride = _stride(x, by_column) if x.flags.aligned else None
        if x_stride is None:
            x = np.array(x, order="F" if by_column else "C")
            x_stride = x.shape[0] if by_column else count
        return self._multiply_many(
            self._handle, flip, count, alpha, x.shape[0], _arrays.address(x), max(x_stride, 1), beta, out.shape[0], _arrays.address(out),
            max(stride, 1), by_column)

    def __matmul__(self, x: Any) -> np.ndarray:
        # A fast path for arrays in C order. multiply takes the others, those that cannot be written or are not aligned, and
        # errors.
        dtype = self.dtype
        if type(x) is np.ndarray and x.dtype is dtype:
            shape, (rows, cols, handle, transpose, nx, ny, one, zero) = x.shape, self._fixed
            try:
                if shape == (cols,):
                    out = _empty(rows, dtype)
                    status = self._direct[0](handle, transpose, one, nx, _memory(x), zero, ny, _memory(out))
                else:
                    m, columns = shape
                    if m != cols or not columns:
                        return self.multiply(x)
                    out = _empty((rows, columns), dtype)
                    count = _COUNTS.get(columns) or c_int64(columns)
                    status = self._direct[1](
                        handle, transpose, count, one, nx, _memory(x), count, zero, ny, _memory(out), count, _BY_ROW)
                if not status:
                    return out
            except (BufferError, TypeError, ValueError):
                pass
        return self.multiply(x)

    def __rmatmul__(self, x: Any) -> np.ndarray:
        if _gpu.holds(x):
            return self.multiply(x, transpose=True)
        return self.multiply(_arrays.dense(x, "x").T, transpose=True).T

    dot = __matmul__

    def matvec(self, x: Any) -> np.ndarray:
        """Return ``A @ x`` for a vector, also as one column."""
        return _column(self.multiply, x)

    def rmatvec(self, x: Any) -> np.ndarray:
        """Return ``A.T @ x`` for a vector, also as one column."""
        return _column(lambda v: self.multiply(v, transpose=True), x)

    def matmat(self, x: Any) -> np.ndarray:
        """Return ``A @ X`` for several vectors, the columns of X."""
        return self.multiply(x)

    def rmatmat(self, x: Any) -> np.ndarray:
        """Return ``A.T @ X`` for several vectors, the columns of X."""
        return self.multiply(x, transpose=True)

    def aslinearoperator(self) -> Any:
        """Return a ``scipy.sparse.linalg.LinearOperator`` of these products. It needs SciPy."""
        from scipy.sparse.linalg import LinearOperator

        return LinearOperator(
            self.shape, matvec=self.matvec, rmatvec=self.rmatvec, matmat=self.matmat, rmatmat=self.rmatmat, dtype=self.dtype)


class Plan(_Products):
    """A sparse matrix, split among devices and stored for many products. `plan` makes it.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns.
    dtype : numpy.dtype
        float64 or float32: the type of the values, of ``x`` and of the result.
    nnz : int
        Stored entries.

    Notes
    -----
    ``P @ x`` multiplies by a vector, ``P @ X`` by several, ``P.T @ x`` and ``x @ P`` by the transpose. NumPy's arrays are
    used in place where rows or columns are contiguous. A product releases the GIL. Products of one plan run one after the
    other; different plans may run in different threads.
    """

    _transpose = 0

    def __init__(self, given: _arrays.Given, devices: str, threads: int | None, options: c.PlanOptions) -> None:
        lib, system = c.library(), c.system(devices, threads)
        handle = c_uint64()
        if given.struct.nnz < _SHORT:
            c.check(lib.msrep_plan_matrix(system, given.reference, byref(options), byref(handle)))
        else:
            call = Call()
            options.progress = call.function
            call.run(
                lambda: lib.msrep_plan_matrix(system, given.reference, byref(options), byref(handle)),
                made=lambda: lib.msrep_close(handle))
            if call.error is not None:
                raise call.error
        self.shape, self.dtype, self.nnz = given.shape, given.dtype, given.struct.nnz
        self._rows, self._cols = given.shape
        self._contiguous = (self.dtype.itemsize,)
        self._handle = handle.value
        self._borrowed = given if options.flags & c.BORROW else None
        single = "_single" if self.dtype == _arrays.FLOAT32 else ""
        self._multiply = getattr(lib, "msrep_multiply" + single)
        self._multiply_many = getattr(lib, "msrep_multiply_many" + single)
        self._multiply_on_gpu = getattr(lib, "msrep_multiply_on_gpu" + single)
        self._direct = c.untyped("msrep_multiply" + single), c.untyped("msrep_multiply_many" + single)
        self._update = getattr(lib, "msrep_update" + single)
        number = ctypes.c_float if single else ctypes.c_double
        one, zero, m, n = number(1), number(0), c_int64(self._rows), c_int64(self._cols)
        self._fixed = self._rows, self._cols, handle, ctypes.c_int(0), n, m, one, zero
        self._fixed_transposed = self._cols, self._rows, handle, ctypes.c_int(1), m, n, one, zero
        self._closing = weakref.finalize(self, lib.msrep_close, self._handle)

    @property
    def T(self) -> TransposedPlan:
        """The transpose, which multiplies with the same plan."""
        return TransposedPlan(self)

    def transpose(self) -> TransposedPlan:
        """Return `T`."""
        return self.T

    def update(self, values: Any) -> None:
        """Replace the values and keep the structure.

        Parameters
        ----------
        values : array_like
            `nnz` values in the order in which the matrix stores them, such as ``A.data``. For a matrix in another format
            than CSR, CSC or COO, the order of ``A.tocsr().data``.
        """
        new = _arrays.real(values, "values", self.dtype)
        if new.ndim != 1:
            raise InputError(f"values: an array of {new.ndim} dimensions: 1 is expected")
        status = self._update(self._handle, new.size, _arrays.address(new))
        if status:
            raise c.exception(status, "the plan is closed", _NAMES)
        if self._borrowed is not None:
            self._borrowed.data = new

    def describe(self) -> dict[str, Any]:
        """Return the devices, what each stores, in which form, and why."""
        return json.loads(c.text(lambda *to: c.library().msrep_describe(self._handle, *to), "the plan is closed"))

    def close(self) -> None:
        """Release the plan now. Otherwise that happens when no reference to it is left."""
        self._closing()

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<msrep.Plan of {self.shape[0]} x {self.shape[1]}, {self.nnz} entries of {self.dtype}>"


class TransposedPlan(_Products):
    """The transpose of a plan: ``TransposedPlan(P) @ x`` is ``P.T @ x``."""

    _transpose = 1
    __slots__ = (
        "T", "_cols", "_contiguous", "_direct", "_fixed", "_handle", "_multiply", "_multiply_many", "_multiply_on_gpu", "_rows",
        "dtype")

    def __init__(self, of: Plan) -> None:
        self.T = of
        self.dtype = of.dtype
        self._rows, self._cols, self._contiguous, self._handle = of._rows, of._cols, of._contiguous, of._handle
        self._multiply, self._multiply_many, self._fixed = of._multiply, of._multiply_many, of._fixed_transposed
        self._multiply_on_gpu, self._direct = of._multiply_on_gpu, of._direct

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self._cols, self._rows

    @property
    def nnz(self) -> int:
        """Stored entries."""
        return self.T.nnz

    def __repr__(self) -> str:
        return f"<the transpose of {self.T!r}>"


def plan(A: Any, devices: str = "auto", *, threads: int | None = None, expected_products: int = 0,
         expected_transposed: int = 0, deterministic: bool = False, format: str | None = None, form: str | None = None,
         copy: bool = True) -> Plan:
    """Store a matrix for many products.

    Parameters
    ----------
    A : sparse matrix or array of SciPy, msrep.CSR, or numpy.ndarray
        Any format and any type of indices. Values of float32 stay float32; others become float64. Complex values are
        refused.
    devices : str
        ``"auto"`` (all GPUs that the library can use, else the CPU), ``"cpu"``, ``"cpu:2"``, ``"cuda"``, ``"cuda:0,1"``.
    threads : int, optional
        CPU threads; all unless given.
    expected_products, expected_transposed : int
        How many products with A and with its transpose will follow, as far as known. The search for the fastest layout
        then takes a fraction of their time.
    deterministic : bool
        Whether results have the same bits on any devices with any number of threads.
    format : str, optional
        ``"csr"``, ``"csc"`` or ``"coo"``: the format by which the matrix is split.
    form : str, optional
        A layout such as ``"slices"``, instead of the fastest.
    copy : bool
        False uses indices of 32 bits and the values in place; do not change them while the plan exists.

    Returns
    -------
    Plan

    Examples
    --------
    >>> import msrep, numpy as np
    >>> a = msrep.plan(np.array([[2.0, 0.0], [1.0, 3.0]]))
    >>> a @ np.array([1.0, 2.0])
    array([2., 7.])
    >>> a.T @ np.array([1.0, 2.0])
    array([4., 6.])
    """
    flags = (c.DETERMINISTIC if deterministic else 0) | (0 if copy else c.BORROW)
    options = c.PlanOptions(
        flags=flags, expected_products=c.integer("expected_products", expected_products),
        expected_transposed=c.integer("expected_transposed", expected_transposed), format=c.string("format", format),
        form=c.string("form", form))
    return Plan(_arrays.matrix(A), devices, threads, options)


def aslinearoperator(A: Any, **options: Any) -> Any:
    """Return a ``scipy.sparse.linalg.LinearOperator`` whose products msrep computes; options are those of `plan`."""
    return (A if isinstance(A, _Products) else plan(A, **options)).aslinearoperator()


def _like(x: np.ndarray, rows: int, dtype: np.dtype) -> np.ndarray:
    """Return a new result for x, in the order of x."""
    if x.ndim == 1:
        return np.empty(rows, dtype)
    if x.ndim != 2:
        raise InputError(f"x: {x.ndim} dimensions: 1 or 2 are expected")
    return np.empty((rows, x.shape[1]), dtype, order="F" if x.flags.f_contiguous and not x.flags.c_contiguous else "C")


def _stride(x: np.ndarray, by_column: bool) -> int | None:
    """Return the elements from one row to the next, or from one column to the next; None if the order is another."""
    inner, outer = (0, 1) if by_column else (1, 0)
    size, length = x.itemsize, x.shape[inner]
    if x.shape[outer] <= 1 or length == 0:
        contiguous = length <= 1 or x.strides[inner] == size
        return length if contiguous else None
    if (length > 1 and x.strides[inner] != size) or x.strides[outer] < length * size or x.strides[outer] % size:
        return None
    return x.strides[outer] // size


def _column(multiply: Any, x: Any) -> np.ndarray:
    """Multiply a vector, which may be a column."""
    x = _arrays.dense(x, "x")
    if x.ndim == 2 and x.shape[1] == 1:
        return multiply(x[:, 0])[:, None]
    return multiply(x)


