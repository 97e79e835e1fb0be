"""Products beside SciPy's."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import msrep

FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]


def close(y, a, x, ref):
    """Check |y - ref| <= c eps (|A| |x|), element by element."""
    eps = np.finfo(y.dtype).eps
    bound = 32 * eps * (abs(a).toarray().astype(float) @ abs(np.asarray(x, float))) + np.finfo(y.dtype).tiny
    assert y.shape == ref.shape
    assert (abs(y - ref) <= bound).all()


@pytest.mark.parametrize("case", range(500))
def test_random_products(case):
    r = np.random.default_rng(case)
    rows, cols = (int(n) for n in r.integers(1, 60, 2))
    dtype = [np.float64, np.float32, np.int32, np.int64, bool][case % 5]
    dense = (r.random((rows, cols)) < r.random()) * r.integers(-9, 10, (rows, cols))
    dense = dense.astype(dtype)
    a = sp.coo_array(dense).asformat(FORMATS[case % 7])
    if case % 3 == 0 and hasattr(a, "indptr"):
        a.indptr, a.indices = a.indptr.astype(np.int64), a.indices.astype(np.int64)
    if case % 2:
        a = getattr(sp, f"{a.format}_matrix")(a)
    p = msrep.plan(a, f"cpu:{1 + case % 3}", deterministic=case % 11 == 0)
    x = r.standard_normal(cols).astype(p.dtype)
    z = r.standard_normal(rows).astype(p.dtype)
    close(p @ x, sp.csr_matrix(a), x, dense @ x.astype(float))
    close(p.T @ z, sp.csr_matrix(a).T, z, dense.T @ z.astype(float))
    block = r.standard_normal((cols, 1 + case % 9)).astype(p.dtype)
    close(p @ block, sp.csr_matrix(a), block, dense @ block.astype(float))
    fortran = np.asfortranarray(block)
    y = p @ fortran
    close(y, sp.csr_matrix(a), fortran, dense @ block.astype(float))
    assert y.flags.f_contiguous or fortran.flags.c_contiguous
    close(p @ block[:, ::-2], sp.csr_matrix(a), block[:, ::-2], dense @ block[:, ::-2].astype(float))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 7), (7, 1), (4, 4)])
def test_shapes_without_entries(shape):
    p = msrep.plan(sp.csr_array(shape))
    assert (p @ np.ones(shape[1]) == np.zeros(shape[0])).all()
    assert (p.T @ np.ones((shape[0], 3))).shape == (shape[1], 3)


def test_alpha_beta_out():
    a = sp.random(30, 20, 0.3, random_state=1, format="csr")
    p = msrep.plan(a)
    x, y = np.linspace(-1, 1, 20), np.arange(30.0)
    want = 2.5 * (a @ x) - 0.5 * y
    assert p.multiply(x, out=y, alpha=2.5, beta=-0.5) is y
    assert np.allclose(y, want, rtol=0, atol=1e-13)
    nan = np.full(30, np.nan)
    p.multiply(x, out=nan)
    assert np.allclose(nan, a @ x)
    wide = np.zeros((30, 8))
    p.multiply(np.ones((20, 4)), out=wide[:, 2:6])
    assert np.allclose(wide[:, 2:6], (a @ np.ones(20))[:, None]) and not wide[:, [0, 1, 6, 7]].any()


def test_update():
    for fmt in ["csr", "csc", "coo"]:
        a = sp.random(40, 40, 0.2, random_state=2, format=fmt)
        for copies in [True, False]:
            p = msrep.plan(a, copy=copies)
            x = np.ones(40)
            b = a.copy()
            b.data = np.arange(1.0, b.nnz + 1)
            p.update(b.data)
            assert np.allclose(p @ x, b @ x)
            with pytest.raises(msrep.InputError, match="values"):
                p.update(b.data[1:])


def test_operands():
    a = sp.random(25, 25, 0.3, random_state=3, format="csr")
    p = msrep.plan(a)
    x = np.linspace(0, 1, 25)
    assert np.allclose(x @ p, x @ a)
    assert np.allclose(np.ones((2, 25)) @ p, np.ones((2, 25)) @ a)
    assert np.allclose(p @ list(x), a @ x)
    assert np.allclose(p @ x.astype(np.float32), a @ x.astype(np.float32))
    assert np.allclose(p @ np.repeat(x, 2)[::2], a @ x)
    assert p.matvec(x[:, None]).shape == (25, 1)
    assert np.allclose(p.T.T @ x, a @ x)


def test_linear_operator():
    from scipy.sparse.linalg import cg, eigsh

    a = msrep.read("gen:stencil:n=20")
    x, info = cg(msrep.aslinearoperator(a), np.ones(400))
    assert info == 0 and np.linalg.norm(a @ x - 1) < 1e-3
    assert np.allclose(eigsh(msrep.plan(a).aslinearoperator(), 2, return_eigenvectors=False), eigsh(a, 2, return_eigenvectors=False))


@pytest.mark.parametrize("bad, message", [
    (lambda: msrep.plan(sp.csr_array(np.eye(3) * 1j)), "complex128"),
    (lambda: msrep.plan("text"), "str"),
    (lambda: msrep.plan(np.ones(3)), "1 dimensions"),
    (lambda: msrep.plan(sp.eye_array(3), "gpu"), "gpu"),
    (lambda: msrep.plan(sp.eye_array(3), form="sliced"), "sliced"),
    (lambda: msrep.plan(sp.eye_array(3)) @ np.ones(4), "4 elements"),
    (lambda: msrep.plan(sp.eye_array(3)) @ np.ones((4, 2)), "4"),
    (lambda: msrep.plan(sp.eye_array(3)) @ np.ones((3, 2, 2)), "3 dimensions"),
    (lambda: msrep.plan(sp.eye_array(3)).multiply(np.ones(3), out=np.ones(3, np.float32)), "out"),
    (lambda: msrep.plan(sp.eye_array(3)).multiply(np.ones(3), beta=1), "beta"),
    (lambda: msrep.plan(msrep.CSR(np.ones(2), np.array([0, 9]), np.array([0, 1, 2]), (2, 2))), "9"),
    (lambda: msrep.plan(msrep.CSR(np.ones(2), np.array([0, 1]), np.array([0, 2]), (2, 2))), "pointers"),
    (lambda: msrep.read("/nonexistent.mtx"), "nonexistent"),
])
def test_bad_input_is_one_line(bad, message):
    with pytest.raises(msrep.InputError, match=message) as e:
        bad()
    assert "\n" not in str(e.value)


def test_closed_plan():
    with msrep.plan(sp.eye_array(3)) as p:
        t = p.T
    x = np.ones(3)
    for call in [lambda: p @ x, lambda: t @ x, lambda: p @ np.ones((3, 2)), lambda: p.multiply(x, out=np.ones(3)), lambda: p.update(x),
                 p.describe, lambda: msrep.solve(p, x)]:
        with pytest.raises(msrep.Error, match="^the plan is closed$"):
            call()


def test_plans_are_not_copied():
    p = msrep.plan(sp.eye_array(3))
    for call in [pickle.dumps, copy.copy, copy.deepcopy]:
        for q in [p, p.T]:
            with pytest.raises(TypeError, match="pickled"):
                call(q)


class OnDevice:
    """An array of DLPack on a device of the kind given."""

    def __init__(self, array, kind):
        self.array, self.kind = array, kind

    def __dlpack_device__(self):
        return self.kind, 0

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


class Cuda:
    __cuda_array_interface__ = {"shape": (3,), "typestr": "<f8", "data": (0, False), "version": 3}


def test_dlpack():
    p = msrep.plan(np.diag([1.0, 2.0, 3.0]))
    assert (p @ OnDevice(np.ones(3), 1) == [1, 2, 3]).all()
    assert (msrep.plan(OnDevice(np.eye(3), 1)) @ np.ones(3) == 1).all()
    with pytest.raises(msrep.InputError, match="on a GPU: copy it to the host"):
        msrep.solve(np.eye(3), Cuda())
    for x, message in [(OnDevice(np.ones(3), 2), "on a GPU: copy it to the host"), (Cuda(), "^out: a vector on the GPU is needed")]:
        for call in [lambda: p @ x, lambda: p.multiply(x), lambda: p.T @ x, lambda: x @ p]:  # noqa: B023
            with pytest.raises(msrep.InputError, match=message):
                call()
    with pytest.raises(msrep.InputError, match="^x: in the memory of a GPU: the system has device cpu:0"):
        msrep.plan(np.eye(3), "cpu").multiply(Cuda(), out=Cuda())


@pytest.mark.parametrize("bad, message", [
    (lambda p, x: p @ p, "x: a plan"),
    (lambda p, x: p @ sp.eye_array(3), "x: a sparse matrix"),
    (lambda p, x: p @ "text", "x"),
    (lambda p, x: p @ 3.0, "x"),
    (lambda p, x: p @ [[1], [2, 3]], "x"),
    (lambda p, x: p.multiply(x, alpha="a"), "alpha: 'a'"),
    (lambda p, x: p.multiply(x, out=np.ones(3), beta="b"), "beta: 'b'"),
    (lambda p, x: p.multiply(x, alpha=1j), "alpha"),
    (lambda p, x: p.multiply(x, out=np.ones(4)), "^out: "),
    (lambda p, x: p.multiply(np.ones((3, 2)), out=np.ones((4, 2))), "^out: "),
    (lambda p, x: p.multiply(x, out=np.frombuffer(bytearray(25), np.uint8)[1:].view(float)), "^out: "),
    (lambda p, x: p.update(np.ones(9)), "^values: "),
    (lambda p, x: p.update(np.ones((3, 1))), "^values: "),
    (lambda p, x: msrep.plan(np.eye(3), expected_products=2**70), "expected_products"),
    (lambda p, x: msrep.plan(np.eye(3), expected_products=1e3), "expected_products"),
    (lambda p, x: msrep.plan(np.eye(3), expected_transposed="1"), "expected_transposed"),
    (lambda p, x: msrep.plan(np.eye(3), form="sl\0"), "form"),
    (lambda p, x: msrep.plan(np.eye(3), format=1), "format"),
    (lambda p, x: msrep.plan(np.eye(3), threads=2.5), "threads"),
    (lambda p, x: msrep.plan(msrep.CSR(np.ones(1), np.array([2**63], np.uint64), np.array([0, 1]), (1, 1))), "indices: 922337203685"),
    (lambda p, x: msrep.plan([[1, 2], [3]]), "matrix"),
    (lambda p, x: msrep.plan(p), "matrix"),
])
def test_bad_arguments_are_named(bad, message):
    with pytest.raises(msrep.InputError, match=message) as e:
        bad(msrep.plan(sp.eye_array(3)), np.ones(3))
    assert "\n" not in str(e.value)


def test_lists_and_matrices_of_numpy():
    for a in [[[2, 0], [1, 3]], sp.csr_matrix([[2.0, 0], [1, 3]]).todense()]:
        assert (msrep.plan(a) @ [1, 2] == [2, 7]).all()


def test_misaligned_arrays():
    def misaligned(a):
        out = np.zeros(a.nbytes + 1, np.uint8)[1:].view(a.dtype).reshape(a.shape)
        out[:] = a
        assert not out.flags.aligned
        return out

    a = sp.random(20, 20, 0.3, random_state=1, format="csr")
    for x in [np.linspace(0, 1, 20), np.linspace(0, 1, 60).reshape(20, 3)]:
        want = a @ x
        assert np.allclose(msrep.plan(a) @ misaligned(x), want) and np.allclose(msrep.plan(a).T @ misaligned(x), a.T @ x)
    given = msrep.CSR(misaligned(a.data), misaligned(a.indices), misaligned(a.indptr), a.shape)
    assert np.allclose(msrep.plan(given) @ x, want)
    b = misaligned(np.ones(20))
    assert np.allclose(msrep.solve(sp.eye_array(20), b), 1)


def test_read_only_arrays():
    x, block = np.ones(3), np.ones((3, 2))
    x.flags.writeable = block.flags.writeable = False
    p = msrep.plan(np.eye(3))
    assert (p @ x == 1).all() and (p @ block == 1).all() and (x @ p == 1).all()
    with pytest.raises(msrep.InputError, match="out"):
        p.multiply(np.ones(3), out=x)
