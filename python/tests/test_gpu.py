"""Products of vectors in the memory of a GPU. MSREP_LIBCUDA is the driver, or a stand-in for it; without it they are skipped.

The vectors are made by the driver, so that no other package is needed.
"""

import ctypes
import os
import sys
from ctypes import byref

import numpy as np
import pytest
import scipy.sparse as sp

import msrep

if "MSREP_LIBCUDA" not in os.environ:
    pytest.skip("MSREP_LIBCUDA is not set", allow_module_level=True)


class Driver:
    """The functions of the driver that the tests need. Each call fails the test unless it succeeds."""

    def __init__(self):
        self.lib = ctypes.CDLL(os.environ["MSREP_LIBCUDA"])
        gpu, self.context, self.stream = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", byref(gpu), 0)
        self.call("cuDevicePrimaryCtxRetain", byref(self.context), gpu)
        self.call("cuCtxSetCurrent", self.context)
        self.call("cuStreamCreate", byref(self.stream), 0)

    def pinned(self, like):
        """Return an array of host memory from which streams copy. It is never freed."""
        at = ctypes.c_void_p()
        self.call("cuMemHostAlloc", byref(at), ctypes.c_size_t(max(like.nbytes, 1)), 0)
        return np.ctypeslib.as_array((ctypes.c_char * like.nbytes).from_address(at.value)).view(like.dtype).reshape(like.shape)

    def call(self, name, *arguments):
        assert getattr(self.lib, name)(*arguments) == 0, name


@pytest.fixture(scope="module")
def driver():
    return Driver()


class Array:
    """A vector on the GPU, as CuPy and torch describe theirs."""

    def __init__(self, driver, values, **described):
        values = np.ascontiguousarray(values)
        self.driver, self.dtype, self.host = driver, values.dtype, driver.pinned(values)
        self.host[...] = values
        self.address = ctypes.c_uint64()
        driver.call("cuMemAlloc_v2", byref(self.address), ctypes.c_size_t(values.nbytes))
        # The product waits for this copy.
        driver.call(
            "cuMemcpyHtoDAsync_v2", self.address, ctypes.c_void_p(self.host.ctypes.data), ctypes.c_size_t(values.nbytes), driver.stream)
        self.__cuda_array_interface__ = {
            "shape": values.shape, "typestr": values.dtype.str, "data": (self.address.value, False), "version": 3} | described

    def read(self):
        out = self.driver.pinned(self.host)
        self.driver.call(
            "cuMemcpyDtoHAsync_v2", ctypes.c_void_p(out.ctypes.data), self.address, ctypes.c_size_t(out.nbytes), self.driver.stream)
        self.driver.call("cuStreamSynchronize", self.driver.stream)
        return out

    def new_empty(self, n):
        return Array(self.driver, np.full(n, np.nan, self.dtype))


@pytest.fixture(scope="module", params=[np.float64, np.float32])
def case(request, driver):
    rng = np.random.default_rng(1)
    a = sp.random_array((90, 70), density=0.1, format="csr", rng=rng).astype(request.param)
    return a, msrep.plan(a, "cuda:0"), rng.standard_normal(70).astype(request.param), rng.standard_normal(90).astype(request.param)


def close(y, want):
    assert np.abs(y - want).max() <= 100 * np.finfo(want.dtype).eps


def test_products(driver, case):
    a, p, x, y = case
    on_x, on_y = Array(driver, x), Array(driver, y)
    for made in [p @ on_x, p.multiply(on_x), p.T.T @ on_x]:
        assert type(made) is Array
        close(made.read(), a @ x)
    close((p.T @ on_y).read(), a.T @ y)
    close((on_y @ p).read(), a.T @ y)
    assert p.multiply(on_x, out=on_y, alpha=2, beta=-3) is on_y
    close(on_y.read(), 2 * (a @ x) - 3 * y)
    assert (on_x.read() == x).all()


def test_arrays_of_cupy_are_made_by_its_empty(driver, case, monkeypatch):
    a, p, x, _ = case

    class Cupy(Array):
        new_empty = property()  # an AttributeError, as where there is none
    Cupy.__module__ = "cupy.like"

    class Module:
        @staticmethod
        def empty(n, dtype):
            return Cupy(driver, np.zeros(n, dtype))
    with pytest.raises(msrep.InputError, match="^out: a vector on the GPU is needed: Cupy has no way"):
        p @ Cupy(driver, x)
    monkeypatch.setitem(sys.modules, "cupy", Module)
    close((p @ Cupy(driver, x)).read(), a @ x)


def test_wrong_arguments(driver, case):
    a, p, x, y = case
    on_x, on_y = Array(driver, x), Array(driver, y)
    other = np.float32 if a.dtype == np.float64 else np.float64
    for message, given, out in [
        ("^x: float.* values on a GPU: the plan has float", Array(driver, x.astype(other)), None),
        ("^x: an array on a GPU with 2 dimensions", Array(driver, x.reshape(-1, 1)), on_y),
        ("^x: its elements on the GPU are not contiguous", Array(driver, x, strides=(16,)), on_y),
        ("^x: a masked array", Array(driver, x, mask=x), on_y),
        ("^x: 90 elements", Array(driver, y), on_y),
        ("^x: .*not memory of this GPU", Array(driver, x, data=(x.ctypes.data, False)), on_y),
        ("^out: 70 elements", on_x, Array(driver, x)),
        ("^out: it cannot be written", on_x, Array(driver, y, data=(on_y.address.value, True))),
        ("^out: overlaps x", Array(driver, x, data=(on_y.address.value, False)), on_y),
        ("^out: ndarray: x and out must be on the GPU both", on_x, y),
        ("^out: it must be a writeable array", x, on_y),
        ("^x: an array on a GPU: no gradients", Unreadable(), on_y),
    ]:
        with pytest.raises(msrep.InputError, match=message):
            p.multiply(given, out=out)
    with pytest.raises(msrep.InputError, match="^beta: "):
        p.multiply(on_x, beta=1)
    with pytest.raises(msrep.InputError, match="^alpha: 'a' is no number"):
        p.multiply(on_x, alpha="a")
    with pytest.raises(msrep.InputError, match="^x: in the memory of a GPU: the system has device cpu:0"):
        msrep.plan(a, "cpu").multiply(on_x, out=on_y)
    with pytest.raises(msrep.InputError, match="^x: in the memory of a GPU: the system has 2 devices"):
        msrep.plan(a, "cuda:0,0").multiply(on_x, out=on_y)
    assert (on_y.read() == y).all()


class Unreadable:
    """A tensor of torch that needs gradients refuses to be read."""

    @property
    def __cuda_array_interface__(self):
        raise RuntimeError("no gradients")
