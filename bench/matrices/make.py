#!/usr/bin/env python3
"""Makes large realistic matrices as binary CSR files. README.md describes them."""

import argparse
import functools
import gzip
import pathlib
import time

import numpy as np
import scipy.io
import scipy.sparse as sp
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.spatial import Delaunay, cKDTree

# Finite elements. Lengths are in units of the bracket's thickness.


@functools.cache
def bracket(h):
    """Returns the tetrahedra of gmsh for an angle bracket with five holes, with elements of size h."""
    import gmsh
    from skfem import MeshTet

    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    gmsh.option.setNumber("General.NumThreads", 1)  # the mesh depends on the number of threads
    occ = gmsh.model.occ
    plate, wall = occ.addBox(0, 0, 0, 10, 6, 1), occ.addBox(0, 0, 0, 1, 6, 5)
    rib = occ.addBox(1, 2.7, 1, 3, 0.6, 2)
    holes = [occ.addCylinder(x, y, -1, 0, 0, 3, r) for x, y, r in [(4, 1.5, 0.5), (4, 4.5, 0.5), (8, 3, 1.2)]]
    holes += [occ.addCylinder(-1, y, 3.5, 3, 0, 0, 0.6) for y in (1.5, 4.5)]
    body, _ = occ.fuse([(3, plate)], [(3, wall), (3, rib)])
    occ.cut(body, [(3, c) for c in holes])
    occ.synchronize()
    gmsh.option.setNumber("Mesh.MeshSizeMax", h)
    gmsh.option.setNumber("Mesh.MeshSizeFromCurvature", 2 * np.pi / (0.7 * h))  # finer at holes
    gmsh.model.mesh.generate(3)
    tags, points, _ = gmsh.model.mesh.getNodes()
    _, nodes = gmsh.model.mesh.getElementsByType(4)
    gmsh.finalize()
    number = np.zeros(int(tags.max()) + 1, dtype=np.int64)
    number[tags] = np.arange(len(tags))
    cells = number[nodes].reshape(-1, 4)
    used = np.unique(cells)
    place = np.zeros(len(tags), dtype=np.int64)
    place[used] = np.arange(len(used))
    return MeshTet(points.reshape(-1, 3)[used].T.copy(), place[cells].T.copy())


def elastic(mesh, element, zeros):
    """Returns the stiffness matrix of steel, with three displacements for each node.

    zeros keeps entries that are assembled to 0, so that all blocks of 3 x 3 are whole. Most programs keep them;
    scikit-fem drops them.
    """
    from skfem import Basis, ElementVector
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    data = linear_elasticity(*lame_parameters(210e3, 0.3)).coo_data(Basis(mesh, ElementVector(element)))
    a = sp.coo_array((data.data, (data.indices[0], data.indices[1])), data.shape).tocsr()
    del data
    a.sum_duplicates()
    # A program that adds element by element gets a symmetric matrix; scikit-fem adds in another order.
    a.data = (a.data + a.T.tocsr().data) / 2
    if not zeros:
        a.eliminate_zeros()
    return a


def renumber_nodes(a, order, width):
    """Renumbers nodes of width unknowns each: node order[i] becomes node i."""
    dofs = (order[:, None] * width + np.arange(width)).ravel()
    return a[dofs][:, dofs]


def elasticity_p1():
    from skfem import ElementTetP1

    return elastic(bracket(0.11), ElementTetP1(), True)


def elasticity_p1_shuffled():
    a = elasticity_p1()
    return renumber_nodes(a, np.random.default_rng(1).permutation(a.shape[0] // 3), 3)


def elasticity_p2(zeros=False):
    from skfem import ElementTetP2

    return elastic(bracket(0.2), ElementTetP2(), zeros)


def elasticity_p2_rcm():
    a = elasticity_p2(zeros=True)
    nodes = a[::3, ::3].astype(bool)
    return renumber_nodes(a, reverse_cuthill_mckee(nodes.tocsr(), symmetric_mode=True), 3)


def stokes():
    """Taylor-Hood elements: all velocities, then all pressures."""
    from skfem import Basis, BilinearForm, ElementTetP1, ElementTetP2, ElementVector, asm
    from skfem.helpers import ddot, div, sym_grad

    mesh = bracket(0.21)
    velocity = Basis(mesh, ElementVector(ElementTetP2()), intorder=3)
    pressure = velocity.with_element(ElementTetP1())
    viscous = asm(BilinearForm(lambda u, v, w: 2 * 1e-3 * ddot(sym_grad(u), sym_grad(v))), velocity)
    divergence = asm(BilinearForm(lambda u, q, w: -div(u) * q), velocity, pressure)
    return sp.block_array([[viscous, divergence.T], [divergence, None]])


def maxwell():
    """Edge elements: the curl of the curl less the mass of a wave with ten periods along the bracket."""
    from skfem import Basis, BilinearForm, ElementTetN0, asm
    from skfem.helpers import curl, dot

    basis = Basis(bracket(0.11), ElementTetN0())
    k2 = (2 * np.pi) ** 2
    return asm(BilinearForm(lambda u, v, w: dot(curl(u), curl(v)) - k2 * dot(u, v)), basis)


def convection():
    """Heat in a rotating flow, quadratic elements. Each tetrahedron of the mesher is cut into eight."""
    from skfem import Basis, BilinearForm, ElementTetP2, asm
    from skfem.helpers import dot, grad

    def form(u, v, w):
        x, y, _ = w.x
        du = grad(u)
        return 0.01 * dot(du, grad(v)) + ((3 - y) * du[0] + (x - 5) * du[1]) * v

    basis = Basis(bracket(0.2).refined(1), ElementTetP2(), intorder=3)
    return asm(BilinearForm(form), basis)


# Networks.


def read_real(name):
    with gzip.open(REAL / f"{name}.mtx.gz") as f:
        return scipy.io.mmread(f).tocsr()


def power():
    """The Jacobian of a power flow, angles before voltages, of 250 grids with the lines of bcspwr10.

    Four lines lead from each grid to the next, and two to a random one.
    """
    rng, grids = np.random.default_rng(2), 250
    grid = sp.triu(read_real("bcspwr10"), 1).tocoo()
    n = grid.shape[0]
    start = n * np.arange(grids)[:, None]
    tie = lambda to, lines: (
        (start + rng.integers(0, n, (grids, lines))).ravel(),
        (n * to + rng.integers(0, n, (grids, lines))).ravel(),
    )
    ties = [tie((np.arange(grids)[:, None] + 1) % grids, 4), tie(rng.integers(0, grids, (grids, 2)), 2)]
    i = np.concatenate([(start + grid.row).ravel()] + [t[0] for t in ties])
    j = np.concatenate([(start + grid.col).ravel()] + [t[1] for t in ties])
    i, j = i[i != j], j[i != j]
    reactance = rng.lognormal(-3, 0.8, len(i))
    admittance = 1 / (reactance * (rng.uniform(0.1, 0.4, len(i)) + 1j))
    buses = n * grids
    ybus = sp.coo_array((np.concatenate([-admittance, -admittance]), (np.concatenate([i, j]), np.concatenate([j, i]))), (buses, buses)).tocsr()
    ybus = (ybus + sp.diags_array(-ybus.sum(axis=1))).tocsr()
    v = rng.normal(1, 0.02, buses) * np.exp(1j * rng.normal(0, 0.1, buses))
    current, direction = ybus @ v, v / abs(v)
    to_voltage = sp.diags_array(v) @ (ybus @ sp.diags_array(direction)).conj() + sp.diags_array(current.conj() * direction)
    to_angle = 1j * sp.diags_array(v) @ (sp.diags_array(current) - ybus @ sp.diags_array(v)).conj()
    return sp.block_array([[to_angle.real, to_voltage.real], [to_angle.imag, to_voltage.imag]])


def circuit():
    """120 blocks with the circuit of memplus, whose devices differ by 5 %. They share its three largest nets."""
    rng, blocks = np.random.default_rng(3), 120
    block = read_real("memplus").tocoo()
    n = block.shape[0]
    shared = np.argsort(-np.bincount(block.row, minlength=n), kind="stable")[:3]
    place = np.full(n, -1)
    place[np.setdiff1d(np.arange(n), shared)] = np.arange(n - 3)
    row, col, val = [], [], []
    for b in range(blocks):
        to = np.where(place >= 0, place + b * (n - 3), 0)
        to[shared] = blocks * (n - 3) + np.arange(3)
        row.append(to[block.row])
        col.append(to[block.col])
        val.append(block.data * rng.lognormal(0, 0.05, block.nnz))
    size = blocks * (n - 3) + 3
    return sp.coo_array((np.concatenate(val), (np.concatenate(row), np.concatenate(col))), (size, size))


def packages():
    """Links from each release of a package index to the releases that it needs, with weights that sum to 1.

    A package has a geometric number of releases, half of them with the same dependencies as the one before. How often
    a package is needed follows Zipf's law. A dependency is the newest release of that time, or an earlier one.
    Releases are numbered by package name, as an index lists them.
    """
    rng, count = np.random.default_rng(4), 150_000
    releases = rng.geometric(0.1, count)
    first = np.concatenate([[0], np.cumsum(releases)])
    by_rank = rng.permutation(count)
    popularity = np.arange(1, count + 1) ** -0.9
    popularity = np.cumsum(popularity / popularity.sum())
    born = rng.uniform(0, 1, count)
    pick = lambda k: by_rank[np.minimum(np.searchsorted(popularity, rng.uniform(size=k)), count - 1)]
    row, col = [], []
    for p in range(count):
        need = pick(min(1 + int(rng.lognormal(1.8, 0.9)), 300))
        for r in range(releases[p]):
            if r > 0 and rng.uniform() < 0.5:
                need = need.copy()
                change = rng.integers(0, len(need), 1 + len(need) // 10)
                need[change] = pick(len(change))
            now = born[p] + (1 - born[p]) * r / releases[p]
            age = np.clip((now - born[need]) / (1 - born[need]), 0, 1) * rng.power(8, len(need))
            to = first[need] + np.minimum((age * releases[need]).astype(np.int64), releases[need] - 1)
            row.append(np.full(len(need), first[p] + r))
            col.append(to)
    n = first[-1]
    row, col = np.concatenate(row), np.concatenate(col)
    a = sp.coo_array((np.ones(len(row)), (row, col)), (n, n)).tocsr()
    a.data[:] = np.repeat(1 / np.maximum(np.diff(a.indptr), 1), np.diff(a.indptr))
    return a


def scan():
    """Neighbours of the points of a laser scan, in the order of the scan: 12 for each, weights by distance."""
    rng = np.random.default_rng(5)
    lines, steps = 1000, 1000
    angle = np.tile(np.linspace(0, 2 * np.pi, steps, endpoint=False), lines) + rng.normal(0, 1e-4, lines * steps)
    range_ = np.repeat(np.linspace(3, 60, lines), steps) * rng.normal(1, 0.002, lines * steps)
    x, y = range_ * np.cos(angle), range_ * np.sin(angle)
    z = sum(rng.uniform(0.1, 1) * np.sin(rng.normal(0, 0.2) * x + rng.normal(0, 0.2) * y) for _ in range(8))
    return neighbours(np.column_stack([x, y, z]), 12)


def clusters():
    """Neighbours of points in 300 clusters of 8 dimensions, in random order: 20 for each, weights by distance."""
    rng = np.random.default_rng(6)
    centre, spread = rng.normal(0, 1, (300, 8)), rng.lognormal(-1.5, 0.5, (300, 8))
    of = rng.choice(300, 500_000, p=rng.dirichlet(np.ones(300)))
    return neighbours(centre[of] + spread[of] * rng.normal(0, 1, (len(of), 8)), 20)


def neighbours(points, k):
    """Returns the symmetric graph of the k nearest neighbours, with Gaussian weights."""
    distance, to = cKDTree(points).query(points, k + 1, workers=2)
    scale = distance[:, -1]
    weight = np.exp(-(distance[:, 1:] ** 2) / (scale[:, None] * scale[to[:, 1:]]))
    n = len(points)
    a = sp.csr_array((weight.ravel(), to[:, 1:].ravel(), k * np.arange(n + 1)), (n, n))
    return a.maximum(a.T)


# Text and linear programs.


def text():
    """Documents by terms in alphabetical order, with weights tf-idf in rows of length 1.

    Words follow the law of Zipf and Mandelbrot, so that the vocabulary grows as in the law of Heaps. Half of the words
    of a document are those of one of 200 topics.
    """
    rng, documents, vocabulary = np.random.default_rng(7), 200_000, 500_000
    law = (np.arange(vocabulary) + 2.7) ** -1.07
    law = np.cumsum(law / law.sum())
    alphabetical = rng.permutation(vocabulary)
    length = np.maximum(rng.lognormal(5, 0.7, documents).astype(np.int64), 5)
    document = np.repeat(np.arange(documents), length)
    word = np.minimum(np.searchsorted(law, rng.uniform(size=length.sum())), vocabulary - 1)
    topic = rng.integers(0, 200, documents)[document]
    special = (rng.uniform(size=len(word)) < 0.5) & (word >= 100)
    word[special] = 100 + (word[special] * 200 + topic[special]) % (vocabulary - 100)
    a = sp.coo_array((np.ones(len(word)), (document, alphabetical[word])), (documents, vocabulary)).tocsr()
    a.sum_duplicates()
    a = a[:, np.flatnonzero(np.bincount(a.indices, minlength=vocabulary))].tocsr()  # terms that occur
    frequency = np.bincount(a.indices, minlength=a.shape[1])
    a.data = (1 + np.log(a.data)) * (1 + np.log((1 + documents) / (1 + frequency)))[a.indices]
    norm = np.sqrt(np.add.reduceat(a.data**2, a.indptr[:-1]))
    a.data /= np.repeat(norm, np.diff(a.indptr))
    return a


def multicommodity():
    """Flows of 40 commodities in a planar network of 20,000 nodes: balances of each, then capacities of the arcs."""
    rng, n, commodities = np.random.default_rng(8), 20_000, 40
    points = rng.uniform(0, 1, (n, 2))
    t = Delaunay(points).simplices
    edges = np.unique(np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1), axis=0)
    tail, head = np.concatenate([edges, edges[:, ::-1]]).T
    arcs = len(tail)
    incidence = sp.coo_array((np.repeat([1.0, -1.0], arcs), (np.concatenate([tail, head]), np.tile(np.arange(arcs), 2))), (n, arcs))
    return sp.vstack([sp.block_diag([incidence] * commodities), sp.hstack([sp.eye_array(arcs)] * commodities)])


def staircase():
    """The program of pilot for 300 periods: 150 of its columns, say stocks, enter two rows of the next period."""
    rng, periods = np.random.default_rng(9), 300
    a = read_real("pilot").tocoo()
    rows, cols = a.shape
    stock = rng.choice(cols, 150, replace=False)
    link = sp.coo_array((np.tile([-1.0, 0.95], 150), (rng.integers(0, rows, 300), np.repeat(stock, 2))), a.shape)
    return sp.kron(sp.eye_array(periods), a) + sp.kron(sp.diags_array(np.ones(periods - 1), offsets=-1, shape=(periods, periods)), link)


def write(file, a):
    """Writes binary CSR: rows, columns, entries and row pointers in int64, columns in int32, values in float64."""
    a = sp.csr_array(a)
    a.sum_duplicates()
    a.sort_indices()
    with open(file, "wb") as f:
        np.array([*a.shape, a.nnz], dtype="<i8").tofile(f)
        a.indptr.astype("<i8").tofile(f)
        a.indices.astype("<i4").tofile(f)
        a.data.astype("<f8").tofile(f)
    return a


ALL = [
    elasticity_p1, elasticity_p1_shuffled, elasticity_p2, elasticity_p2_rcm, stokes, maxwell, convection,
    power, circuit, packages, scan, clusters, text, multicommodity, staircase,
]

if __name__ == "__main__":
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("real", type=pathlib.Path, help="folder with bcspwr10, memplus and pilot as .mtx.gz")
    args.add_argument("out", type=pathlib.Path, help="folder for the .bin files")
    args.add_argument("names", nargs="*", help="matrices to make; all if none is given")
    args = args.parse_args()
    REAL = args.real
    args.out.mkdir(parents=True, exist_ok=True)
    known = {f.__name__: f for f in ALL}
    for name in args.names or known:
        begin = time.time()
        a = write(args.out / f"{name}.bin", known[name]())
        print(f"{name}: {a.shape[0]} x {a.shape[1]}, {a.nnz} entries, {time.time() - begin:.0f} s", flush=True)
