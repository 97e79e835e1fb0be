#!/usr/bin/env python3
"""Writes scipy.json: extreme eigenvalues and singular values of real matrices by the dense solvers of SciPy.

    make.py MATRICES > scipy.json

MATRICES is the folder with the collection's .mtx.gz files. For each matrix: of symmetric ones the eight largest and the
eight smallest eigenvalues and the eight nearest to 0, of rectangular ones the eight largest and smallest singular values.
"""

import json
import pathlib
import sys

import numpy as np
import scipy.io
import scipy.linalg

COUNT = 8
SYMMETRIC = ["494_bus", "bcsstk08", "bcsstm12", "can_1054", "delaunay_n10", "dwt_1242", "jagmesh7", "sherman1"]
RECTANGULAR = ["air05", "lp_ship04l", "misc07", "wood1p", "degen3", "dnn-sparse-images-1024-subset"]

folder = pathlib.Path(sys.argv[1])


def dense(name):
    a = scipy.io.mmread(folder / f"{name}.mtx.gz")
    return (a.toarray() if hasattr(a, "toarray") else np.asarray(a)).astype(float)


out = {"eigenvalues": {}, "singular_values": {}}
for name in SYMMETRIC:
    w = scipy.linalg.eigvalsh(dense(name))
    near = w[np.argsort(np.abs(w), kind="stable")][:COUNT]
    out["eigenvalues"][name] = {"largest": w[::-1][:COUNT].tolist(), "smallest": w[:COUNT].tolist(), "near": near.tolist()}
for name in RECTANGULAR:
    s = scipy.linalg.svdvals(dense(name))
    out["singular_values"][name] = {"largest": s[:COUNT].tolist(), "smallest": s[::-1][:COUNT].tolist()}
print(json.dumps(out, indent=1))
