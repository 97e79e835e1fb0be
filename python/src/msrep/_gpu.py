"""Vectors in the memory of a GPU: arrays of CuPy, torch and others that have ``__cuda_array_interface__``."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .errors import InputError


def holds(x: Any, name: str = "x") -> bool:
    """Return whether x is an array on a GPU."""
    try:
        return hasattr(x, "__cuda_array_interface__")
    except Exception as e:  # such as torch for a tensor that needs gradients
        raise InputError(f"{name}: an array on a GPU: {e}") from e


class Vector:
    """A vector on a GPU: its length and address, for the library."""

    def __init__(self, x: Any, name: str, dtype: np.dtype, write: bool = False) -> None:
        if not holds(x, name):
            raise InputError(f"{name}: {type(x).__name__}: x and out must be on the GPU both, or neither")
        if hasattr(x, "_multiply_many") or hasattr(x, "tocsr"):
            raise InputError(f"{name}: a matrix: a vector on the GPU is expected")
        described = x.__cuda_array_interface__
        shape, kind, strides = tuple(described["shape"]), np.dtype(described["typestr"]), described.get("strides")
        if len(shape) != 1:
            raise InputError(f"{name}: an array on a GPU with {len(shape)} dimensions: only vectors can be multiplied there")
        if kind != dtype:
            raise InputError(f"{name}: {kind} values on a GPU: the plan has {dtype}, and they are not converted there")
        if strides is not None and shape[0] > 1 and tuple(strides) != (dtype.itemsize,):
            raise InputError(f"{name}: its elements on the GPU are not contiguous")
        if described.get("mask") is not None:
            raise InputError(f"{name}: a masked array")
        self.address, read_only = described["data"]
        self.length = shape[0]
        if write and read_only:
            raise InputError(f"{name}: it cannot be written")


def empty(like: Any, n: int) -> Any:
    """Return a new vector of n elements of the type of like, from the same library."""
    new = getattr(like, "new_empty", None)  # torch
    if new is not None:
        return new(n)
    library = sys.modules.get(type(like).__module__.partition(".")[0])
    if library is None or not hasattr(library, "empty"):  # CuPy has it
        raise InputError(f"out: a vector on the GPU is needed: {type(like).__name__} has no way to make one that is known here")
    return library.empty(n, dtype=like.dtype)
