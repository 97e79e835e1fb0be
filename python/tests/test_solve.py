"""Linear systems."""

import _thread
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp

import msrep


def residual(a, x, b):
    return np.linalg.norm(b - a @ x) / np.linalg.norm(b)


@pytest.mark.parametrize("options", [
    {}, {"method": "cg", "precond": "jacobi"}, {"method": "gmres", "precond": "ilu"}, {"method": "direct"},
    {"deterministic": True}, {"threads": 1}, {"x0": np.ones(900)},
])
def test_solve(options):
    a = msrep.read("gen:stencil:n=30")
    b = np.linspace(-1, 2, 900)
    x, how = msrep.solve(a, b, full_output=True, **options)
    assert residual(a, x, b) <= 1.1e-8 and how.residual <= 1e-8
    assert how.method == options.get("method", how.method)


def test_least_squares():
    a = sp.random(80, 30, 0.3, random_state=1, format="csc")
    b = np.ones(80)
    want = np.linalg.lstsq(a.toarray(), b, rcond=None)[0]
    assert np.allclose(msrep.solve(a, b), want, atol=1e-6)
    assert np.allclose(msrep.lsmr(a, b, tol=1e-12), want, atol=1e-6)
    assert msrep.solve(a, b, full_output=True)[1].least_squares
    assert np.allclose(msrep.solve(msrep.plan(a), b), want, atol=1e-6)
    x, how = msrep.solve(a, a @ np.ones(30), full_output=True)
    assert np.allclose(x, 1) and not how.least_squares
    wide = a.T.tocsr()
    assert np.allclose(wide @ msrep.solve(wide, np.ones(30)), 1)


def test_an_inconsistent_square_system():
    a, b = sp.csr_array(np.array([[1.0, 1.0], [1.0, 1.0]])), np.array([0.0, 2.0])
    with pytest.raises(msrep.NotConverged) as e:
        msrep.solve(a, b)
    assert e.value.info.least_squares and np.allclose(a @ e.value.x, 1)
    x, how = msrep.lsmr(a, b, full_output=True)
    assert np.allclose(x, 0.5) and how.least_squares


def test_solve_with_plan():
    a = msrep.read("gen:stencil:n=30")
    p, b = msrep.plan(a), np.ones(900)
    assert residual(a, msrep.solve(p, b, method="cg"), b) <= 1.1e-8


def test_factorized():
    a = msrep.read("gen:stencil:n=15")
    b = np.random.default_rng(1).random((225, 3))
    for kind in ["lu", "cholesky"]:
        f = msrep.factorized(a, kind)
        assert np.allclose(a @ f(b), b) and np.allclose(a @ f(b[:, 0]), b[:, 0])
        f.update(2 * a.data)
        assert np.allclose(a @ f(b[:, 0]), b[:, 0] / 2)
    with pytest.raises(msrep.InputError, match="singular"):
        msrep.factorized(sp.csr_array(np.diag([1.0, 0.0])))
    with pytest.raises(msrep.InputError, match="rows"):
        f(np.ones(3))


def test_not_converged_has_x():
    a = msrep.read("gen:stencil:n=100")
    with pytest.raises(msrep.NotConverged) as e:
        msrep.solve(a, np.ones(10000), method="cg", max_iter=5)
    assert e.value.info.iterations == 5 and e.value.x.any()


def test_callback_stops():
    a = msrep.read("gen:stencil:n=300")
    seen = []
    with pytest.raises(msrep.NotConverged, match="callback"):
        msrep.solve(a, np.ones(90000), method="cg", callback=lambda i, r: seen.append(i) or i >= 7)
    assert seen[-1] >= 7

    def fails(i, r):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        msrep.solve(a, np.ones(90000), method="cg", callback=fails)


signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start programs with SIGINT ignored

BIG = "gen:stencil:n=700"
LONG = {
    "solve": lambda a: msrep.solve(a, np.ones(a.shape[0]), method="cg", tol=1e-13),
    "solve with a callback": lambda a: msrep.solve(a, np.ones(a.shape[0]), method="cg", tol=1e-13, callback=lambda i, r: False),
    "solve with a plan": lambda a: msrep.solve(msrep.plan(a), np.ones(a.shape[0]), method="cg", tol=1e-13),
    "factorized": msrep.factorized,
    "eigsh": lambda a: msrep.eigsh(a, 6, which="SA"),
    "svds": lambda a: msrep.svds(a, 20),
    "pagerank": lambda a: msrep.pagerank(a, 0.9999, tol=1e-14, max_iter=100000),
}


class Late(Exception):
    pass


@pytest.mark.parametrize("name", LONG)
def test_a_signal_ends_a_long_call(name):
    """The exception of any handler ends the call, and is raised."""
    a, at = msrep.read(BIG), []

    def alarm(*_):
        at.append(time.perf_counter())
        raise Late

    before = signal.signal(signal.SIGALRM, alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.6)
        start = time.perf_counter()
        with pytest.raises(Late):
            LONG[name](a)
        end = time.perf_counter()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    print(f"{name}: the handler ran after {at[0] - start:.3f} s, the call ended {1000 * (end - at[0]):.0f} ms later")
    assert at[0] - start < 0.6 + SLACK and end - at[0] < 0.2 + SLACK
    assert np.isfinite(msrep.solve(np.eye(3), np.ones(3))).all()  # and others go on


SLACK = 1  # s, for a busy machine


def test_interrupts_are_never_lost():
    """SIGINT at any time during short solves is a KeyboardInterrupt in them or after them."""
    out = subprocess.run([sys.executable, "-c", """
import os, random, signal, threading, time, numpy as np, msrep
a, caught, sent, go = msrep.read("gen:stencil:n=40"), 0, 0, True
main = os.getpid()
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start programs with SIGINT ignored
answered = threading.Event()
def send():
    global sent
    for _ in range(100):
        time.sleep(random.random() * 0.004)
        answered.clear()
        sent += 1
        os.kill(main, signal.SIGINT)
        if not answered.wait(10):
            return
thread = threading.Thread(target=send)
while True:
    try:
        if thread.ident is None:
            thread.start()
        while thread.is_alive():
            msrep.solve(a, np.ones(1600), method="cg", callback=lambda i, r: False)
        break
    except KeyboardInterrupt:
        caught += 1
        answered.set()
print(sent, caught)
"""], capture_output=True, text=True, timeout=100)
    assert out.stdout.split() == ["100", "100"] and out.stderr == "", out


def test_ctrl_c_of_another_thread_ends_a_solve():
    a = msrep.read(BIG)
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        msrep.solve(a, np.ones(a.shape[0]), method="cg", tol=1e-13)
    assert time.perf_counter() - start < 0.5 + 0.25 + SLACK


def test_a_signal_ends_an_update_of_factors():
    a = msrep.read("gen:stencil:n=400")
    f = msrep.factorized(a)

    def alarm(*_):
        raise Late

    before = signal.signal(signal.SIGALRM, alarm)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Late):
            while True:
                f.update(a.data)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_callbacks_run_in_the_thread_of_the_caller():
    threads = set()
    msrep.solve(msrep.read("gen:stencil:n=30"), np.ones(900), method="cg", callback=lambda i, r: threads.add(threading.get_ident()))
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("bad, message", [
    (lambda a, b: msrep.solve(a, b, method=3), "method: 3"),
    (lambda a, b: msrep.solve(a, b, method="c\0g"), "method"),
    (lambda a, b: msrep.solve(a, b, tol="x"), "tol: 'x'"),
    (lambda a, b: msrep.solve(a, b, max_iter=2**64), "max_iter"),
    (lambda a, b: msrep.solve(a, b, max_iter=1e3), "max_iter"),
    (lambda a, b: msrep.solve(a, b, seconds=None), "seconds"),
    (lambda a, b: msrep.solve(a, b, max_bytes=-(2**70)), "max_bytes"),
    (lambda a, b: msrep.solve(a, b, threads="a"), "threads: 'a'"),
    (lambda a, b: msrep.solve(a, b, threads=2**40), "threads"),
    (lambda a, b: msrep.solve(a, b, devices="cpu\0"), "devices"),
    (lambda a, b: msrep.solve(a, 3.0), "b: a number"),
    (lambda a, b: msrep.solve(a, np.ones((4, 2, 2))), "b: an array of 3"),
    (lambda a, b: msrep.solve(a, np.ones((4, 2)), x0=b), "x0"),
    (lambda a, b: msrep.solve(msrep.plan(a).T, b), "transpose"),
    (lambda a, b: msrep.factorized(msrep.plan(a)), "pass the matrix"),
    (lambda a, b: msrep.factorized(a, kind=1), "kind"),
    (lambda a, b: msrep.factorized(a)(a), "b: a sparse matrix"),
    (lambda a, b: msrep.eigsh(a, 2.5), "k: 2.5"),
    (lambda a, b: msrep.eigsh(a, 10**12), "k"),
    (lambda a, b: msrep.eigsh(a, 1, seed=-1), "seed"),
    (lambda a, b: msrep.eigsh(a, 1, which=1), "which"),
    (lambda a, b: msrep.eigsh(a, 1, sigma="x"), "sigma"),
    (lambda a, b: msrep.pagerank(a, "x"), "damping"),
    (lambda a, b: msrep.pagerank(a, max_iter=2**70), "max_iter"),
    (lambda a, b: msrep.read("a\0b.mtx"), "path"),
    (lambda a, b: msrep.read(3), "path"),
])
def test_bad_arguments_are_named(bad, message):
    with pytest.raises(msrep.InputError, match=message) as e:
        bad(sp.eye_array(4, format="csr"), np.ones(4))
    assert "\n" not in str(e.value)


def test_several_right_hand_sides():
    a = msrep.read("gen:stencil:n=20")
    b = np.random.default_rng(1).random((400, 3))
    x, how = msrep.solve(a, b, full_output=True, x0=np.ones((400, 3)))
    assert residual(a, x, b) < 1.1e-8 and len(how) == 3
    assert residual(a, msrep.solve(msrep.plan(a), b, method="cg"), b) < 1.1e-8
    assert msrep.solve(a, b[:, :0]).shape == (400, 0)


def test_closed_factors():
    f = msrep.factorized(np.eye(3))
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(f)
    f.close()
    for call in [lambda: f(np.ones(3)), lambda: f.update(np.ones(3))]:
        with pytest.raises(msrep.Error, match="the factors are closed"):
            call()


def test_files(tmp_path):
    a = sp.random(20, 30, 0.2, random_state=4, format="coo")
    for name in ["a.mtx", "a.mtx.gz", "a.npz", "a.msr"]:
        msrep.write(tmp_path / name, a)
        assert abs(msrep.read(tmp_path / name) - a).nnz == 0
    assert msrep.info(a)["rows"] == 20
    with pytest.raises(msrep.InputError, match="a.xyz"):
        msrep.write(tmp_path / "a.xyz", a)
