"""Times products of msrep beside those of SciPy and of MKL (sparse_dot_mkl), in turns.

    python3 products.py FOLDER [--seconds 0.2] [--turns 5]

FOLDER has matrices in any format that msrep reads. Each line of the output is a matrix:

- plan: the time of msrep.plan, in products of SciPy
- scipy x: the time of A @ x in SciPy, divided by that of a plan with 1 thread
- scipy X: the same for 8 vectors, the columns of X in C order
- mkl x: the time of dot_product_mkl(A, x), divided by that of a plan; both use 2 threads

A figure above 1 means that msrep is faster. It is the median over the turns of the ratio of two times, each the least
time of a product in --seconds. The last line has geometric means. MKL is left out if sparse_dot_mkl is not installed:
python3 -m pip install mkl sparse_dot_mkl. Results are compared with SciPy's first. A call of dot_product_mkl includes
MKL's handle of the matrix, which its interface makes at each call.
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("MKL_NUM_THREADS", "2")  # read when MKL is loaded

import numpy as np  # noqa: E402

import msrep  # noqa: E402

try:
    from sparse_dot_mkl import dot_product_mkl
except ImportError:
    dot_product_mkl = None

COLUMNS = ["scipy x", "scipy X", "mkl x"]


def least_time(product, seconds):
    """Return the least time of a call of product, in seconds, over at least 3 calls."""
    least, end, calls = float("inf"), time.perf_counter() + seconds, 0
    while calls < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        product()
        least = min(least, time.perf_counter() - start)
        calls += 1
    return least


def ratio(other, ours, seconds, turns):
    """Return the median over turns of the time of other divided by the time of ours. Each turn swaps their order."""
    ratios = []
    for turn in range(turns):
        if turn % 2:
            b, a = least_time(ours, seconds), least_time(other, seconds)
        else:
            a, b = least_time(other, seconds), least_time(ours, seconds)
        ratios.append(a / b)
    return statistics.median(ratios)


def close(y, want, scale):
    """Raise an error unless each element of y is within rounding of want; scale has sums of absolute products."""
    if not (np.abs(y - want) <= 1e-12 * scale + 1e-300).all():
        raise SystemExit("a result differs from SciPy's")


def measure(a, seconds, turns):
    """Return the time of a plan in products of SciPy, and the ratios of COLUMNS."""
    rng = np.random.default_rng(1)
    x, block = rng.standard_normal(a.shape[1]), rng.standard_normal((a.shape[1], 8))
    scale, block_scale = abs(a) @ np.abs(x), abs(a) @ np.abs(block)
    with msrep.plan(a, threads=1) as one, msrep.plan(a, threads=2) as two:
        close(one @ x, a @ x, scale)
        close(one @ block, a @ block, block_scale)
        close(two @ x, a @ x, scale)
        ratios = [
            ratio(lambda: a @ x, lambda: one @ x, seconds, turns),
            ratio(lambda: a @ block, lambda: one @ block, seconds, turns),
        ]
        if dot_product_mkl is not None:
            close(dot_product_mkl(a, x), a @ x, scale)
            ratios.append(ratio(lambda: dot_product_mkl(a, x), lambda: two @ x, seconds, turns))
    plan = least_time(lambda: msrep.plan(a, threads=1).close(), 0)
    return plan / least_time(lambda: a @ x, seconds), ratios


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", type=Path)
    options.add_argument("--seconds", type=float, default=0.2)
    options.add_argument("--turns", type=int, default=5)
    o = options.parse_args()
    columns = COLUMNS if dot_product_mkl is not None else COLUMNS[:2]
    print(f"{'matrix':24} {'rows':>9} {'entries':>10} {'plan':>7}", *(f"{c:>8}" for c in columns))
    rows = []
    for path in sorted(o.folder.iterdir()):
        try:
            a = msrep.read(path)
        except msrep.InputError as e:
            print(f"left out: {e}", file=sys.stderr)
            continue
        plan, ratios = measure(a, o.seconds, o.turns)
        rows.append([plan, *ratios])
        print(f"{path.name:24} {a.shape[0]:9} {a.nnz:10} {plan:7.0f}", *(f"{r:8.2f}" for r in ratios), flush=True)
    if rows:
        means = [statistics.geometric_mean(column) for column in zip(*rows)]
        print(f"{'geometric mean':24} {len(rows):9} {'':10} {means[0]:7.0f}", *(f"{r:8.2f}" for r in means[1:]))


if __name__ == "__main__":
    main()
