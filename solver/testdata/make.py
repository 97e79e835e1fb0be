#!/usr/bin/env python3
"""Writes scipy.json: systems A x = b and what SciPy finds for them.

    solver/testdata/make.py [FOLDER]

FOLDER holds the large collection of matrices (default ../shared/matrices beside the
project); those in testdata/ of the project are always there. b[j] = sin(j+1). For each
system it keeps x of the direct solver at 32 evenly spread places, its 2-norm, an
estimate of the condition of A in the 1-norm, and how SciPy's own iterative methods
fare with the Jacobi preconditioner at a relative residual of 1e-8. A method is listed
under "methods" when the test solves this system by it.
"""
import json
import pathlib
import sys
import warnings

import numpy as np
import scipy.io
import scipy.sparse.linalg as sla

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
shared = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else root.parent / "shared" / "matrices"

SPD = """1138_bus 494_bus 662_bus 685_bus Trefethen_150 Trefethen_200 Trefethen_200b Trefethen_300
Trefethen_500 bcsstk05 bcsstk22 bcsstm12 bcsstm22 gr_30_30 lund_a mesh2e1 mesh3em5 mhdb416 nos1 nos5
pyamg-airfoil pyamg-bar wathen_30_30 ntpoly-008-631G Dubcova1""".split()
GENERAL = """gre_115 gre_185 bwm200 pde225 pyamg-recirc_flow cz308 cage7 cage8 cage9 CAG_mat364 poisson2D
bfwb398 hor_131 orsirr_1 orsirr_2 sherman1 sherman5 2dcyl1 ani4 add32 teko-lsc_Qu_2 ginkgo-multigrid-A
trilinos-wathenSmall pivtol ck400 memplus football""".split()
BOTH = "Trefethen_300 gr_30_30 mesh3em5 wathen_30_30 Dubcova1 Si2 pyamg-airfoil".split()
NOT_GMRES = "gre_185 ck400 sherman1 football".split()


def find(name):
    for folder in (root / "testdata", shared):
        path = folder / f"{name}.mtx.gz"
        if path.exists():
            return path
    sys.exit(f"make.py: {name}.mtx.gz is neither in testdata nor in {shared}")


def iterate(method, a, b, precond, x):
    count = 0

    def one(_):
        nonlocal count
        count += 1

    kwargs = {"callback_type": "pr_norm", "restart": 30} if method == "gmres" else {}
    n = a.shape[0]
    # SciPy 1.12 gave "tol" the name "rtol".
    key = "rtol" if tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 12) else "tol"
    got, info = getattr(sla, method)(a, b, maxiter=max(10 * n, 1000), M=precond, callback=one, atol=0, **{key: 1e-8}, **kwargs)
    return {"info": int(info), "iterations": count, "error": float(np.linalg.norm(got - x) / np.linalg.norm(x))}


def main():
    warnings.simplefilter("ignore")
    systems = []
    for name in sorted(set(SPD + GENERAL + BOTH)):
        a = scipy.io.mmread(find(name)).tocsr().astype(float)
        n = a.shape[0]
        b = np.sin(np.arange(1, n + 1))
        lu = sla.splu(a.tocsc())
        x = lu.solve(b)
        x += lu.solve(b - a @ x)
        inverse = sla.LinearOperator(a.shape, matvec=lu.solve, rmatvec=lambda v: lu.solve(v, trans="T"))
        diagonal = a.diagonal()
        jacobi = bool(np.all(diagonal != 0))
        precond = sla.LinearOperator(a.shape, matvec=lambda v: v / diagonal) if jacobi else None
        methods = []
        if name in SPD:
            methods.append("cg")
        if name in GENERAL + BOTH:
            methods.append("bicgstab")
            if name not in NOT_GMRES:
                methods.append("gmres")
        places = [i * n // 32 for i in range(32)] if n >= 32 else list(range(n))
        systems.append({
            "name": name, "n": n, "jacobi": jacobi, "methods": methods,
            "condition": float(abs(a).sum(axis=0).max() * sla.onenormest(inverse)),
            "norm": float(np.linalg.norm(x)), "places": places, "x": [float(x[i]) for i in places],
            "scipy": {m: iterate(m, a, b, precond, x) for m in methods},
        })
        s = systems[-1]
        print(name, n, f"{s['condition']:.1e}", s["scipy"], flush=True)
    out = {"scipy": scipy.__version__, "systems": systems}
    (here / "scipy.json").write_text(json.dumps(out, indent=1) + "\n")


main()
