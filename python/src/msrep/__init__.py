"""Sparse matrices on all devices of a node: products, solutions, factors.

>>> import msrep, numpy as np
>>> a = msrep.plan(np.array([[2.0, 0.0], [1.0, 3.0]]))  # or any matrix of scipy.sparse
>>> a @ np.array([1.0, 2.0])
array([2., 7.])
>>> msrep.solve(np.array([[2.0, 0.0], [1.0, 3.0]]), [2.0, 7.0])
array([1., 2.])
"""

from ._arrays import CSR
from ._eigen import eigsh, svds
from ._files import info, mmread, mmwrite, read, write
from ._graph import pagerank
from ._plan import Plan, TransposedPlan, aslinearoperator, plan
from ._solve import Factors, Solution, factorized, lsmr, solve
from ._version import __version__, library_version
from .errors import DeviceError, Error, ForkError, InputError, NotConverged

__all__ = [
    "CSR", "DeviceError", "Error", "Factors", "ForkError", "InputError", "NotConverged", "Plan", "Solution", "TransposedPlan",
    "__version__", "aslinearoperator", "eigsh", "factorized", "info", "library_version", "lsmr", "mmread", "mmwrite", "pagerank", "plan",
    "read", "solve", "svds", "write",
]
