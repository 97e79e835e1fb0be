"""Forks, threads, and the end of the interpreter."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import msrep


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()


def test_fork_before_use_is_safe():
    out, err = run("""
import os, numpy as np, msrep
if os.fork() == 0:
    print((msrep.plan(np.eye(3)) @ np.ones(3)).sum(), flush=True)
    os._exit(0)
os.wait()
print((msrep.plan(np.eye(3)) @ np.ones(3)).sum())
""")
    assert out == "3.0\n3.0" and err == ""


def test_fork_after_use_is_an_error():
    out, err = run("""
import multiprocessing, numpy as np, msrep
p = msrep.plan(np.eye(3))
def child(_):
    try:
        p @ np.ones(3)
    except msrep.ForkError as e:
        return str(e)
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(child, [0])[0])
print((p @ np.ones(3)).sum())
""")
    assert "fork" in out.splitlines()[0] and out.splitlines()[1] == "3.0" and err == ""


def test_importing_loads_nothing():
    out, _ = run("import threading, msrep, os; print(len(os.listdir('/proc/self/task')))")
    assert int(out) <= 4  # NumPy's own


def test_threads_end_with_the_interpreter():
    out, err = run("""
import numpy as np, msrep
p = msrep.plan(np.eye(1000), "cpu:2")
p @ np.ones(1000)
print("end")
""")
    assert out == "end" and err == ""


def test_products_in_threads():
    a = np.random.default_rng(1).random((50, 50))
    p, x, results = msrep.plan(a), np.ones(50), []
    threads = [threading.Thread(target=lambda: results.append(all(np.allclose(p @ x, a @ x) for _ in range(200)))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [True] * 4


class Late(Exception):
    pass


def alarm(*_):
    raise Late


@pytest.mark.parametrize("name", ["read", "plan", "plan in place"])
def test_a_signal_ends_a_read_and_a_plan(name, tmp_path):
    """The exception of the handler ends the call long before its end. Others go on."""
    a = msrep.read("gen:random:rows=300000,cols=300000,nnz=3000000")  # several forms are tried
    if name == "read":
        path = tmp_path / "a.mtx"
        msrep.write(path, a)
        call = lambda: msrep.read(path)  # noqa: E731
    else:
        call = lambda: msrep.plan(a, expected_products=10_000, copy=name == "plan")  # noqa: E731
    call()  # opens the devices
    start = time.perf_counter()
    call()
    whole = time.perf_counter() - start
    before = signal.signal(signal.SIGALRM, alarm)
    took = []
    try:
        while len(took) < 10 and min(took, default=whole) > 0.7 * whole:
            start = time.perf_counter()
            signal.setitimer(signal.ITIMER_REAL, 0.2 * whole)
            with pytest.raises(Late):
                call()
                time.sleep(whole)  # the call was faster than before
            took.append(time.perf_counter() - start)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert min(took) < 0.7 * whole, (took, whole)
    assert (msrep.plan(np.eye(3)) @ np.ones(3)).sum() == 3
