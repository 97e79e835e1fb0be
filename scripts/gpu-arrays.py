#!/usr/bin/env python3
"""Checks that the Python package multiplies vectors of CuPy and torch in the memory of GPU 0, and times it.

    MSREP_LIBRARY=libmsrep.so PYTHONPATH=python/src scripts/gpu-arrays.py MATRIX

Prints one line of JSON per library and type: the least time of a call, which waits for the product. The line of a library
that is missing or fails has the error. The exit status is 3 if a result is wrong.
"""
import json
import sys
import time

import numpy as np

import msrep


def cupy_on_gpu(x):
    import cupy

    return cupy.asarray(x), cupy.asnumpy


def torch_on_gpu(x):
    import torch

    return torch.from_numpy(x).cuda(), lambda y: y.cpu().numpy()


def check(a, x, on_gpu):
    """Returns the time of a product, and whether it equals that of vectors on the host."""
    with msrep.plan(a, "cuda:0") as p:
        given, to_host = on_gpu(x)
        want, y = p @ x, p @ given
        same = np.allclose(to_host(y), want, rtol=1e-4 if x.dtype == np.float32 else 1e-11)
        least = float("inf")
        for _ in range(30):
            start = time.perf_counter()
            p.multiply(given, out=y)
            least = min(least, time.perf_counter() - start)
        return least, bool(same)


def main():
    a = msrep.read(sys.argv[1])
    wrong = False
    for name, on_gpu in [("cupy", cupy_on_gpu), ("torch", torch_on_gpu)]:
        for dtype in [np.float64, np.float32]:
            line = {"what": f"arrays of {name}, {np.dtype(dtype).name}"}
            try:
                x = np.random.default_rng(1).standard_normal(a.shape[1]).astype(dtype)
                given = msrep.CSR(a.data.astype(dtype), a.indices, a.indptr, a.shape)
                line["seconds"], line["right"] = check(given, x, on_gpu)
                wrong |= not line["right"]
            except Exception as e:
                line["error"] = f"{type(e).__name__}: {e}"
            print(json.dumps(line), flush=True)
    sys.exit(3 if wrong else 0)


if __name__ == "__main__":
    main()
