"""Matrices in files."""

from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Union

import numpy as np

from . import _arrays
from . import _library as c
from ._call import Call
from .errors import InputError

__all__ = ["info", "mmread", "mmwrite", "read", "write"]

Path = Union[str, "os.PathLike[str]"]


def read(path: Path) -> Any:
    """Read a matrix from a file, or generate one.

    Parameters
    ----------
    path : str or os.PathLike
        A file: Matrix Market (``.mtx``), Rutherford-Boeing, Harwell-Boeing, ``.npz`` of SciPy, a SNAP edge list, ``.msr``
        of msrep; also gzipped or in a tar archive. Or a name such as ``"gen:stencil:n=100"``.

    Returns
    -------
    scipy.sparse.csr_array or CSR
        Values of float64; a `CSR` if SciPy is not installed.

    Examples
    --------
    >>> import msrep
    >>> msrep.read("gen:stencil:n=3").shape
    (9, 9)
    """
    m, lib, call, name = c.Matrix(), c.library(), Call(), _name(path)
    options = c.ReadOptions(progress=call.function)
    call.run(lambda: lib.msrep_read_with(name, ctypes.byref(options), ctypes.byref(m)), made=lambda: lib.msrep_matrix_free(ctypes.byref(m)))
    if call.error is not None:
        raise call.error
    try:
        pointers = _copy(m.pointers, ctypes.c_int64, m.rows + 1)
        indices = _copy(m.indices, ctypes.c_int32, m.nnz)
        data = _copy(m.values, ctypes.c_double, m.nnz)
        shape = (m.rows, m.cols)
    finally:
        c.check(lib.msrep_matrix_free(ctypes.byref(m)))
    try:
        from scipy.sparse import csr_array
    except ImportError:
        return _arrays.CSR(data, indices, pointers, shape)
    if m.nnz <= np.iinfo(np.int32).max:
        pointers = pointers.astype(np.int32)
    return csr_array((data, indices, pointers), shape=shape)


def write(path: Path, A: Any) -> None:
    """Write a matrix to a file; the extension of its name says the format.

    Parameters
    ----------
    path : str or os.PathLike
        The file, such as ``a.mtx``, ``a.mtx.gz``, ``a.npz``, ``a.rb`` or ``a.msr``. It appears when it is complete.
    A : matrix
        As in `plan`.
    """
    c.check(c.library().msrep_write(_name(path), _arrays.matrix(A).reference))


mmread, mmwrite = read, write


def info(A: Any) -> dict[str, Any]:
    """Return figures of a matrix: row lengths, bandwidth, bytes in each format, and the recommended one.

    Parameters
    ----------
    A : matrix
        As in `plan`.

    Examples
    --------
    >>> import msrep
    >>> msrep.info(msrep.read("gen:stencil:n=3"))["nnz"]
    33
    """
    given = _arrays.matrix(A)
    return json.loads(c.text(lambda *to: c.library().msrep_info(given.reference, *to)))


def _name(path: Path) -> bytes:
    """Return a path for C."""
    try:
        name = os.fsencode(path)
    except TypeError:
        raise InputError(f"path: {path!r} is no path") from None
    if b"\0" in name:
        raise InputError(f"path: {path!r} has a character 0")
    return name


def _copy(at: int, kind: Any, n: int) -> np.ndarray:
    """Return n elements of the library's memory as an array of Python."""
    if n == 0:
        return np.empty(0, kind)
    return np.ctypeslib.as_array(ctypes.cast(at, ctypes.POINTER(kind)), (n,)).copy()
