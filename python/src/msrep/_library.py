"""The C library: loading, prototypes, structs, and statuses as exceptions. msrep.h documents all functions."""

from __future__ import annotations

import atexit
import ctypes
import operator
import os
import threading
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_char, c_char_p, c_double, c_float, c_int, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Callable

from .errors import DeviceError, Error, ForkError, InputError, NotConverged

OK, BAD_INPUT, BAD_HANDLE, DEVICE_ERROR, NOT_CONVERGED, FAILED, STOPPED, FORKED = range(8)
DETERMINISTIC, BORROW = 1, 2
CSR, CSC, COO = range(3)

Progress = CFUNCTYPE(c_int, c_int64, c_double, c_void_p)


class _Sized(Structure):
    """A struct whose first field is its size."""

    def __init__(self, **fields: object) -> None:
        super().__init__(size=ctypes.sizeof(type(self)), **fields)


class Matrix(_Sized):
    """msrep_matrix"""

    _fields_ = [
        ("size", c_size_t), ("rows", c_int64), ("cols", c_int64), ("nnz", c_int64), ("layout", c_int), ("pointer_bits", c_int),
        ("index_bits", c_int), ("value_bits", c_int), ("base", c_int), ("pointers", c_void_p), ("indices", c_void_p), ("values", c_void_p),
    ]


class PlanOptions(_Sized):
    """msrep_plan_options"""

    _fields_ = [
        ("size", c_size_t), ("flags", c_int), ("expected_products", c_int64), ("expected_transposed", c_int64), ("format", c_char_p),
        ("form", c_char_p), ("progress", Progress), ("arg", c_void_p),
    ]


class ReadOptions(_Sized):
    """msrep_read_options"""

    _fields_ = [("size", c_size_t), ("progress", Progress), ("arg", c_void_p)]


class SolveOptions(_Sized):
    """msrep_solve_options"""

    _fields_ = [
        ("size", c_size_t), ("method", c_char_p), ("precond", c_char_p), ("order", c_char_p), ("tol", c_double), ("max_iter", c_int64),
        ("restart", c_int64), ("seconds", c_double), ("max_bytes", c_int64), ("flags", c_int), ("progress", Progress), ("arg", c_void_p),
    ]


class SolveResult(_Sized):
    """msrep_solve_result"""

    _fields_ = [
        ("size", c_size_t), ("iterations", c_int64), ("residual", c_double), ("seconds", c_double), ("method", c_char * 32),
        ("precond", c_char * 32), ("order", c_char * 32), ("least_squares", c_int),
    ]


class EigsOptions(_Sized):
    """msrep_eigs_options"""

    _fields_ = [
        ("size", c_size_t), ("which", c_char_p), ("sigma", c_double), ("tol", c_double), ("max_iter", c_int64), ("basis", c_int64),
        ("start", c_void_p), ("seed", c_uint64), ("method", c_char_p), ("flags", c_int), ("progress", Progress), ("arg", c_void_p),
    ]


class EigsResult(_Sized):
    """msrep_eigs_result"""

    _fields_ = [
        ("size", c_size_t), ("count", c_int64), ("iterations", c_int64), ("products", c_int64), ("norm", c_double), ("seconds", c_double),
    ]


class PageRankOptions(_Sized):
    """msrep_pagerank_options"""

    _fields_ = [
        ("size", c_size_t), ("damping", c_double), ("tol", c_double), ("max_iter", c_int64), ("teleport", c_void_p), ("start", c_void_p),
        ("dangling", c_char_p), ("weighted", c_int), ("flags", c_int), ("progress", Progress), ("arg", c_void_p),
    ]


class PageRankResult(_Sized):
    """msrep_pagerank_result"""

    _fields_ = [("size", c_size_t), ("iterations", c_int64), ("residual", c_double), ("dangling", c_int64), ("seconds", c_double)]


# The parameters of each function that returns a status.
_PROTOTYPES = {
    "msrep_open": [c_char_p, c_int, POINTER(c_uint64)],
    "msrep_close": [c_uint64],
    "msrep_plan_matrix": [c_uint64, POINTER(Matrix), POINTER(PlanOptions), POINTER(c_uint64)],
    "msrep_update": [c_uint64, c_int64, c_void_p],
    "msrep_update_single": [c_uint64, c_int64, c_void_p],
    "msrep_multiply": [c_uint64, c_int, c_double, c_int64, c_void_p, c_double, c_int64, c_void_p],
    "msrep_multiply_single": [c_uint64, c_int, c_float, c_int64, c_void_p, c_float, c_int64, c_void_p],
    "msrep_multiply_many": [
        c_uint64, c_int, c_int64, c_double, c_int64, c_void_p, c_int64, c_double, c_int64, c_void_p, c_int64, c_int],
    "msrep_multiply_many_single": [
        c_uint64, c_int, c_int64, c_float, c_int64, c_void_p, c_int64, c_float, c_int64, c_void_p, c_int64, c_int],
    "msrep_multiply_on_gpu": [c_uint64, c_int, c_double, c_int64, c_void_p, c_double, c_int64, c_void_p],
    "msrep_multiply_on_gpu_single": [c_uint64, c_int, c_float, c_int64, c_void_p, c_float, c_int64, c_void_p],
    "msrep_describe": [c_uint64, c_void_p, c_size_t, POINTER(c_size_t)],
    "msrep_info": [POINTER(Matrix), c_void_p, c_size_t, POINTER(c_size_t)],
    "msrep_solve_with": [
        c_uint64, POINTER(Matrix), c_int64, c_void_p, c_int64, c_void_p, POINTER(SolveOptions), POINTER(SolveResult)],
    "msrep_plan_solve": [c_uint64, c_int64, c_void_p, c_int64, c_void_p, POINTER(SolveOptions), POINTER(SolveResult)],
    "msrep_stop": [c_uint64],
    "msrep_factor": [c_uint64, POINTER(Matrix), c_char_p, c_char_p, POINTER(c_uint64)],
    "msrep_factor_solve": [c_uint64, c_int64, c_void_p, c_void_p],
    "msrep_factor_update": [c_uint64, c_int64, c_void_p],
    "msrep_eigs": [
        c_uint64, POINTER(Matrix), c_int64, POINTER(EigsOptions), c_void_p, c_void_p, c_void_p, POINTER(EigsResult)],
    "msrep_svds": [
        c_uint64, POINTER(Matrix), c_int64, POINTER(EigsOptions), c_void_p, c_void_p, c_void_p, c_void_p, POINTER(EigsResult)],
    "msrep_pagerank": [c_uint64, POINTER(Matrix), c_int64, c_void_p, POINTER(PageRankOptions), POINTER(PageRankResult)],
    "msrep_read_with": [c_char_p, POINTER(ReadOptions), POINTER(Matrix)],
    "msrep_matrix_free": [POINTER(Matrix)],
    "msrep_write": [c_char_p, POINTER(Matrix)],
}

_lock = threading.Lock()
_loaded: ctypes.CDLL | None = None
_systems: dict[tuple[str, int, bool], int] = {}


def library() -> ctypes.CDLL:
    """Return the library, loaded at the first call: until then a process may fork."""
    global _loaded
    if _loaded is None:
        with _lock:
            if _loaded is None:
                _loaded = _load()
    return _loaded


def _load() -> ctypes.CDLL:
    path = os.environ.get("MSREP_LIBRARY") or str(Path(__file__).with_name("libmsrep.so"))
    try:
        lib = ctypes.CDLL(path)
    except OSError as e:
        raise ImportError(f"msrep: cannot load its library: {e}") from None
    for name, parameters in _PROTOTYPES.items():
        function = getattr(lib, name)
        function.argtypes = parameters
        function.restype = c_int
    lib.msrep_version.restype = lib.msrep_last_error.restype = c_char_p
    atexit.register(_close_systems)
    return lib


def untyped(name: str) -> Any:
    """Return a function of the library whose arguments must be ctypes objects of the right types."""
    function = library()[name]
    function.restype = c_int
    return function


def check(status: int) -> None:
    """Raise the exception of a status."""
    if status != OK:
        raise exception(status)


def exception(status: int, closed: str | None = None, names: dict[str, str] | None = None) -> Exception:
    """Return the exception of a status that is not OK.

    closed is its text for a closed handle; names has what the package calls arguments of the library.
    """
    message = library().msrep_last_error().decode()
    argument, colon, rest = message.partition(": ")
    if names is not None and argument in names:
        message = names[argument] + colon + rest
    if status == BAD_HANDLE and closed is not None:
        message = closed
    kinds: dict[int, Callable[[str], Exception]] = {
        BAD_INPUT: InputError, DEVICE_ERROR: DeviceError, NOT_CONVERGED: NotConverged, FORKED: ForkError}
    return kinds.get(status, Error)(message)


def system(devices: str, threads: int | None, stoppable: bool = False) -> int:
    """Return the handle of open devices. Plans with the same devices share them.

    If it is stoppable, only the main thread uses it, for calls that msrep_stop may end.
    """
    lib = library()
    if not isinstance(devices, str):
        raise InputError(f"devices: {devices!r} is no string, such as 'auto' or 'cpu:2'")
    key = (devices, integer("threads", threads or 0, 32), stoppable and threading.current_thread() is threading.main_thread())
    with _lock:
        if key not in _systems:
            handle = c_uint64()
            check(lib.msrep_open(string("devices", devices), key[1], byref(handle)))
            _systems[key] = handle.value
        return _systems[key]


def integer(name: str, value: object, bits: int = 64, unsigned: bool = False) -> int:
    """Return an integer argument that has a C type."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{name}: {value!r} is no integer") from None
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not low <= number <= high:
        raise InputError(f"{name}: {number} is too large") if number > 0 else InputError(f"{name}: {number} is too small")
    return number


def real(name: str, value: object) -> float:
    """Return a real argument."""
    if isinstance(value, (str, bytes)):
        raise InputError(f"{name}: {value!r} is no number")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}: {value!r} is no number") from None


def string(name: str, value: object) -> bytes | None:
    """Return a text argument for C; None is a null pointer."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"{name}: {value!r} is no string")
    if "\0" in value:
        raise InputError(f"{name}: {value!r} has a character 0")
    try:
        return value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name}: {value!r} is no text of UTF-8") from None


def _close_systems() -> None:
    """Close all devices, which ends their threads."""
    with _lock:
        for handle in _systems.values():
            library().msrep_close(handle)
        _systems.clear()


def text(call: Callable[[ctypes.Array | None, int, object], int], closed: str | None = None) -> str:
    """Return the text that a function writes: call(buffer, capacity, length) calls it. closed is as in exception."""
    length = c_size_t()
    status = call(None, 0, byref(length))
    if status:
        raise exception(status, closed)
    buffer = ctypes.create_string_buffer(length.value)
    check(call(buffer, length.value, byref(length)))
    return buffer.value.decode()
