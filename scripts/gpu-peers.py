#!/usr/bin/env python3
"""Times A @ x with CuPy and with PyTorch on a GPU, for matrices in .msr files; with --spgemm,
A @ A with CuPy, which calls SpGEMM of cuSPARSE.

    scripts/gpu-peers.py [--spgemm] [--value fp64,fp32] [--runs N] [--out FILE] [MATRIX.msr...]

Prints one line of JSON per matrix, type and library, or appends it to FILE: the median time by
CUDA events. The line of a library that is missing or fails has the error. Without matrices it
reads names of files from standard input, and prints "done" and the name after each.
"""
import argparse
import json
import struct
import sys
import time

import numpy as np


def read(path):
    """Returns the shape and the mapped arrays of an .msr file (sparse/msr, version 1)."""
    with open(path, "rb") as f:
        head = f.read(64)
    if head[:8] != b"\x89MSR\r\n\x1a\n":
        raise ValueError(path + " is not an .msr file")
    rows, cols, nnz, _, length = struct.unpack("<5q", head[16:56])
    kind = np.float64 if head[12] == 1 else np.float32
    pad = lambda n: (n + 63) // 64 * 64
    at = length - pad(8 * (rows + 1)) - pad(4 * nnz) - pad(np.dtype(kind).itemsize * nnz)
    take = lambda dtype, n, off: np.memmap(path, dtype, "r", off, (n,)) if n else np.empty(0, dtype)
    ptr = take(np.int64, rows + 1, at)
    idx = take(np.int32, nnz, at + pad(8 * (rows + 1)))
    val = take(kind, nnz, at + pad(8 * (rows + 1)) + pad(4 * nnz))
    return rows, cols, ptr, idx, val


# As in gpubench: the least seconds of products between two events, and the seconds of
# products before the timing.
SPELL = 2e-3
WARM = 50e-3


def median(event, multiply, runs):
    """Returns the median time of a product, and the number of products between two events."""

    def once(calls):
        def several():
            for _ in range(calls):
                multiply()

        return event(several) / calls

    once(1)  # also loads kernels
    calls, begin, n = 1, time.monotonic(), 0
    while n < 3 or time.monotonic() - begin < WARM:
        calls = int(min(max(SPELL / max(once(calls), 1e-6), 1), 200))
        n += 1
    return float(np.median([once(calls) for _ in range(runs)])), calls


def with_cupy(rows, cols, ptr, idx, val, x, runs):
    """Times A @ x, or A @ A if x is None."""
    import cupy
    import cupyx.scipy.sparse as sp

    index = np.int32 if len(idx) < 2**31 else np.int64
    a = sp.csr_matrix((cupy.asarray(val), cupy.asarray(idx.astype(index, copy=False)), cupy.asarray(ptr.astype(index))), shape=(rows, cols))
    xd = a if x is None else cupy.asarray(x)

    def event(f):
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        f()
        stop.record()
        stop.synchronize()
        return cupy.cuda.get_elapsed_time(start, stop) / 1e3

    seconds, calls = median(event, lambda: a @ xd, runs)
    y = cupy.asnumpy((a @ xd).data if x is None else a @ xd)
    del a, xd
    cupy.get_default_memory_pool().free_all_blocks()
    return seconds, calls, y, "cupy " + cupy.__version__


def with_torch(rows, cols, ptr, idx, val, x, runs):
    import torch

    index = torch.int32 if len(idx) < 2**31 else torch.int64
    t = lambda v, dtype=None: torch.from_numpy(np.ascontiguousarray(v)).to("cuda", dtype=dtype)
    a = torch.sparse_csr_tensor(t(ptr, index), t(idx, index), t(val), size=(rows, cols), device="cuda")
    xd = t(x)

    def event(f):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        f()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop) / 1e3

    seconds, calls = median(event, lambda: a @ xd, runs)
    y = (a @ xd).cpu().numpy()
    del a, xd
    torch.cuda.empty_cache()
    return seconds, calls, y, "torch " + torch.__version__


def measure(path, kind, runs, out, spgemm):
    rows, cols, ptr, idx, val = read(path)
    dtype = np.float64 if kind == "fp64" else np.float32
    val = val.astype(dtype, copy=False)
    x = None if spgemm else np.sin(np.arange(1, cols + 1, dtype=np.float64)).astype(dtype)
    for name, f in (("cupy", with_cupy), ("torch", with_torch))[: 1 if spgemm else 2]:
        line = {"what": "peer spgemm" if spgemm else "peer", "matrix": path, "value": kind, "library": name, "nnz": len(idx)}
        try:
            seconds, calls, y, version = f(rows, cols, ptr, idx, val, x, runs)
            line.update(version=version, seconds=seconds, spell=calls, sum=float(y.sum(dtype=np.float64)))
        except Exception as e:  # a missing or failing library is a result, too
            line["error"] = f"{type(e).__name__}: {e}"
        print(json.dumps(line), file=out, flush=True)
        if any(w in line.get("error", "") for w in ("illegal", "misaligned", "launch failure")):
            sys.exit("the GPU is lost for this process")


def load():
    """Loads the libraries before the first measurement."""
    for name in ("cupy", "torch"):
        try:
            __import__(name)
        except Exception:  # each measurement reports it
            pass


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--spgemm", action="store_true")
    p.add_argument("--value", default="fp64")
    p.add_argument("--runs", type=int, default=30)
    p.add_argument("--out", type=argparse.FileType("a"), default=sys.stdout)
    p.add_argument("matrices", nargs="*")
    args = p.parse_args()

    def each(path):
        for kind in args.value.split(","):
            measure(path, kind, args.runs, args.out, args.spgemm)

    for path in args.matrices:
        each(path)
    if not args.matrices:
        load()
        for line in sys.stdin:
            try:
                each(line.strip())
            except Exception as e:
                print(e, file=sys.stderr)
            print("done", line.strip(), flush=True)


if __name__ == "__main__":
    main()
