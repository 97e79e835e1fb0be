"""Matrices and vectors of Python as arrays of the C library."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _library as c
from .errors import InputError

FLOAT64, FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)


@dataclass(frozen=True)
class CSR:
    """A matrix in compressed rows, for programs without SciPy.

    Row ``i`` has the columns ``indices[indptr[i]:indptr[i+1]]`` and the values ``data[indptr[i]:indptr[i+1]]``.

    Parameters
    ----------
    data, indices, indptr : numpy.ndarray
        The arrays of ``scipy.sparse.csr_array``.
    shape : tuple of int
        Rows and columns.
    """

    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    shape: tuple[int, int]
    format: str = "csr"


class Given:
    """A matrix as the struct of the C library. It keeps the arrays alive."""

    def __init__(self, layout: int, shape: tuple[int, int], data: Any, indices: Any, pointers: Any) -> None:
        self.data = real(data, "data")
        self.indices, index_bits = _integers(indices, "indices")
        self.pointers, pointer_bits = _integers(pointers, "pointers")
        if layout == c.COO and index_bits != pointer_bits:
            self.indices, self.pointers = self.indices.astype(np.int64), self.pointers.astype(np.int64)
            index_bits = pointer_bits = 64
        if len(self.data) != len(self.indices):
            raise InputError(f"data: {len(self.data)} values for {len(self.indices)} indices")
        majors = {c.CSR: int(shape[0]) + 1, c.CSC: int(shape[1]) + 1, c.COO: len(self.data)}[layout]
        if len(self.pointers) != majors:
            raise InputError(f"pointers: {len(self.pointers)} elements: {majors} are expected")
        self.shape = (int(shape[0]), int(shape[1]))
        self.dtype = self.data.dtype
        self.struct = c.Matrix(
            rows=self.shape[0], cols=self.shape[1], nnz=len(self.data), layout=layout, pointer_bits=pointer_bits, index_bits=index_bits,
            value_bits=8 * self.dtype.itemsize, pointers=address(self.pointers), indices=address(self.indices), values=address(self.data))

    @property
    def reference(self) -> Any:
        """A pointer to the struct."""
        return ctypes.byref(self.struct)


def matrix(a: Any) -> Given:
    """Return a matrix of SciPy in any format, of msrep, or of NumPy for the C library."""
    if isinstance(a, Given):
        return a
    if hasattr(a, "_multiply_many"):
        raise InputError("matrix: a plan does not give its matrix back: pass the matrix")
    layout = getattr(a, "format", None)
    if layout is None and (isinstance(a, (np.ndarray, list, tuple)) or hasattr(a, "__array__") or hasattr(a, "__dlpack__")):
        a = np.asarray(dense(a, "matrix"))  # no numpy.matrix, whose rows have 2 dimensions
        if a.ndim != 2:
            raise InputError(f"matrix: an array of {a.ndim} dimensions: a matrix has 2")
        rows, cols = a.nonzero()
        return Given(c.COO, a.shape, a[rows, cols], cols, rows)
    if layout is None or not hasattr(a, "shape"):
        raise InputError(f"matrix: {type(a).__name__} is no sparse matrix of SciPy and no array of NumPy")
    if len(a.shape) != 2:
        raise InputError(f"matrix: {len(a.shape)} dimensions: a matrix has 2")
    if layout not in ("csr", "csc", "coo"):
        a, layout = a.tocsr(), "csr"  # SciPy converts its other formats
    if layout == "coo":
        return Given(c.COO, a.shape, a.data, a.col, a.row)
    return Given(c.CSR if layout == "csr" else c.CSC, a.shape, a.data, a.indices, a.indptr)


def dense(values: Any, name: str) -> np.ndarray:
    """Return what NumPy or DLPack can read as an array, without a copy where that is possible."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "tocsr") or hasattr(values, "_multiply_many"):
        kind = "sparse matrix" if hasattr(values, "tocsr") else "plan"
        raise InputError(f"{name}: a {kind}: products and solves take vectors and dense matrices")
    try:
        if hasattr(values, "__cuda_array_interface__") or (hasattr(values, "__dlpack_device__") and values.__dlpack_device__()[0] != _CPU):
            raise InputError(f"{name}: an array on a GPU: copy it to the host before, by x.get() of CuPy or x.cpu() of torch")
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            return np.from_dlpack(values)
        return np.asarray(values)
    except InputError:
        raise
    except Exception as e:  # of the object's own code
        raise InputError(f"{name}: {type(e).__name__}: {str(e).splitlines()[0] if str(e) else type(values).__name__}") from e


_CPU = 1  # kDLCPU of DLPack


def real(values: Any, name: str, dtype: np.dtype | None = None) -> np.ndarray:
    """Return values as a contiguous, aligned array of float64 or float32: of dtype, or of the one that keeps them exact."""
    array = dense(values, name)
    if dtype is None:
        dtype = FLOAT32 if array.dtype == FLOAT32 else FLOAT64
    if array.dtype.kind not in "fiub":
        raise InputError(f"{name}: {array.dtype} values: only real numbers are supported")
    if array.ndim == 0:
        raise InputError(f"{name}: a number: an array is expected")
    array = np.ascontiguousarray(array, dtype=dtype)
    return array if array.flags.aligned else array.copy()


def vector(values: Any, name: str) -> np.ndarray:
    """Return a vector of float64."""
    array = real(values, name, FLOAT64)
    if array.ndim != 1:
        raise InputError(f"{name}: an array of {array.ndim} dimensions: a vector has 1")
    return array


def length(v: np.ndarray | None, name: str, n: int) -> None:
    """Check that a vector that is given has n elements."""
    if v is not None and len(v) != n:
        raise InputError(f"{name}: {len(v)} elements: {n} are expected")


def _integers(values: Any, name: str) -> tuple[np.ndarray, int]:
    """Return indices as a contiguous array of int32 or int64, and its bits."""
    array = dense(values, name)
    if array.dtype.kind not in "iu":
        raise InputError(f"{name}: {array.dtype} values: integers are expected")
    if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise InputError(f"{name}: {array.max()} is too large")
    dtype = np.int32 if array.dtype.itemsize < 4 or array.dtype == np.int32 else np.int64
    array = np.ascontiguousarray(array, dtype=dtype)
    return array if array.flags.aligned else array.copy(), 8 * np.dtype(dtype).itemsize


def address(array: np.ndarray) -> int:
    """Return the address of the first element."""
    return array.__array_interface__["data"][0]
