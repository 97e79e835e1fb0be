"""Eigenvalues, singular values, PageRank."""

import numpy as np
import pytest
import scipy.sparse as sp

import msrep


@pytest.mark.parametrize("which, pick", [
    ("LA", slice(-4, None)), ("SA", slice(0, 4)), ("largest", slice(-4, None)), ("smallest", slice(0, 4)),
])
def test_eigsh(which, pick):
    a = msrep.read("gen:stencil:dims=2,nx=9,ny=7")
    w, v = msrep.eigsh(a, 4, which=which)
    assert np.allclose(w, np.linalg.eigvalsh(a.toarray())[pick], atol=1e-8)
    assert np.linalg.norm(a @ v - v * w) < 1e-7


def test_eigsh_near():
    a = msrep.read("gen:stencil:dims=2,nx=9,ny=7")
    every = np.linalg.eigvalsh(a.toarray())
    near = np.sort(every[np.argsort(abs(every - 3.3))[:3]])
    assert np.allclose(msrep.eigsh(a, 3, sigma=3.3, return_eigenvectors=False), near, atol=1e-8)
    assert np.allclose(msrep.eigsh(a, 2, which="SM", return_eigenvectors=False), every[:2], atol=1e-8)


def test_svds():
    a = sp.random(60, 40, 0.3, random_state=1, format="csc")
    every = np.linalg.svd(a.toarray(), compute_uv=False)
    u, s, vt = msrep.svds(a, 5)
    assert np.allclose(s, every[:5]) and np.linalg.norm(a @ vt.T - u * s) < 1e-7
    assert np.allclose(msrep.svds(a, 2, which="SM", return_singular_vectors=False), every[::-1][:2], atol=1e-7)


def test_bad_input():
    a = sp.eye_array(5, format="csr")
    for bad, message in [
        (lambda: msrep.eigsh(a, 9), "k"), (lambda: msrep.eigsh(a, -1), "k"), (lambda: msrep.eigsh(a, 2, which="XX"), "XX"),
        (lambda: msrep.eigsh(sp.random(5, 4, 1.0), 2), "5 x 4"), (lambda: msrep.eigsh(a, 2, v0=np.ones(3)), "v0"),
        (lambda: msrep.pagerank(a, 1.5), "1.5"), (lambda: msrep.pagerank(a, teleport=np.ones(2)), "teleport"),
    ]:
        with pytest.raises(msrep.InputError, match=message):
            bad()


def test_pagerank():
    r = np.random.default_rng(1)
    a = (r.random((30, 30)) < 0.1) * r.random((30, 30))
    a[3] = 0
    jump = r.random(30)
    for weighted in [False, True]:
        w = a if weighted else (a != 0).astype(float)
        out = w.sum(1)
        p = np.where(out[:, None] > 0, w / np.where(out, out, 1)[:, None], jump / jump.sum())
        rank = np.full(30, 1 / 30)
        for _ in range(300):
            rank = 0.85 * (rank @ p) + 0.15 * jump / jump.sum()
        got = msrep.pagerank(sp.csr_array(a), teleport=jump, weighted=weighted, tol=1e-12)
        assert np.allclose(got, rank, rtol=0, atol=1e-10)
