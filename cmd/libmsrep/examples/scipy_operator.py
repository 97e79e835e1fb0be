"""A SciPy LinearOperator whose products msrep computes, called through ctypes.

    python3 scipy_operator.py [libmsrep.so]
"""
import ctypes
import sys
import weakref

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

_lib = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libmsrep.so")
_lib.msrep_last_error.restype = ctypes.c_char_p
_i64, _f64 = ctypes.c_int64, ctypes.c_double
_array = lambda dtype: np.ctypeslib.ndpointer(dtype, flags="C_CONTIGUOUS")
_lib.msrep_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_uint64)]
_lib.msrep_plan_csr.argtypes = [
    ctypes.c_uint64, _i64, _i64, _i64, _array(np.int64), _array(np.int32), _array(np.float64), ctypes.c_int,
    ctypes.POINTER(ctypes.c_uint64)]
_lib.msrep_multiply.argtypes = [
    ctypes.c_uint64, ctypes.c_int, _f64, _i64, _array(np.float64), _f64, _i64, _array(np.float64)]
_lib.msrep_close.argtypes = [ctypes.c_uint64]


def _must(status):
    if status:
        raise RuntimeError(f"msrep: status {status}: {_lib.msrep_last_error().decode()}")


class Operator(scipy.sparse.linalg.LinearOperator):
    """A sparse matrix whose products msrep computes. devices is the argument of msrep_open."""

    def __init__(self, matrix, devices="auto"):
        a = scipy.sparse.csr_matrix(matrix, dtype=np.float64)
        super().__init__(np.float64, a.shape)
        system, plan = ctypes.c_uint64(), ctypes.c_uint64()
        _must(_lib.msrep_open(devices.encode(), 0, ctypes.byref(system)))
        weakref.finalize(self, _lib.msrep_close, system.value)  # closes the plan too
        _must(_lib.msrep_plan_csr(
            system, *a.shape, a.nnz, a.indptr.astype(np.int64), a.indices.astype(np.int32), a.data, 0, ctypes.byref(plan)))
        self._plan = plan

    def _multiply(self, transpose, x):
        x = np.ascontiguousarray(x, dtype=np.float64).ravel()
        y = np.empty(self.shape[1 if transpose else 0])
        _must(_lib.msrep_multiply(self._plan, transpose, 1.0, x.size, x, 0.0, y.size, y))
        return y

    def _matvec(self, x):
        return self._multiply(0, x)

    def _rmatvec(self, x):
        return self._multiply(1, x)


def main():
    n = 60
    line = scipy.sparse.diags([-1, 2, -1], [-1, 0, 1], shape=(n, n))
    a = (scipy.sparse.kron(line, scipy.sparse.eye(n)) + scipy.sparse.kron(scipy.sparse.eye(n), line)).tocsr()
    op = Operator(a, "cpu:2")
    x = np.sin(np.arange(n * n))
    assert np.allclose(op @ x, a @ x, rtol=0, atol=1e-13)
    wide = scipy.sparse.random(40, 70, 0.1, random_state=1)
    assert np.allclose(Operator(wide).rmatvec(np.ones(40)), wide.T @ np.ones(40))
    solution, info = scipy.sparse.linalg.cg(op, np.ones(n * n), atol=1e-9)
    assert info == 0 and np.linalg.norm(a @ solution - 1) < 1e-2
    largest = scipy.sparse.linalg.eigsh(op, k=2, return_eigenvectors=False)
    assert np.allclose(largest, scipy.sparse.linalg.eigsh(a, k=2, return_eigenvectors=False))
    try:
        op._multiply(0, np.ones(3))
    except RuntimeError as e:
        print("a wrong length:", e)
    else:
        sys.exit("msrep accepted a wrong length")
    print("SciPy's cg and eigsh give the same results with msrep as with SciPy's own matrix")


main()
