"""Writes networkx.json: scores of ten graphs by networkx, which the tests of package graph compare with.

    pip install networkx==3.4.2 numpy==2.4.6 scipy==1.17.1
    python3 expected.py > networkx.json
"""
import json
import random
import sys

import networkx as nx

random.seed(43)


def graphs():
    yield "karate", nx.karate_club_graph().to_directed()
    yield "florentine", nx.convert_node_labels_to_integers(nx.florentine_families_graph().to_directed())
    yield "scale-free", nx.DiGraph(nx.scale_free_graph(60, seed=1))
    yield "random", nx.gnp_random_graph(40, 0.1, seed=2, directed=True)
    yield "sparse", nx.gnp_random_graph(50, 0.03, seed=3, directed=True)  # many nodes have no links
    yield "growing", nx.gn_graph(40, seed=4)  # a tree: no cycles
    yield "star", nx.star_graph(12).to_directed()
    yield "small-world", nx.watts_strogatz_graph(30, 4, 0.2, seed=5).to_directed()
    yield "lollipop", nx.lollipop_graph(6, 9).to_directed()
    yield "self-links", nx.DiGraph([(0, 0), (0, 1), (1, 2), (2, 2), (2, 0), (3, 1), (4, 4), (5, 3)])


def listed(scores, n):
    return [scores[i] for i in range(n)]


out = []
for name, g in graphs():
    n = g.number_of_nodes()
    assert sorted(g) == list(range(n))
    for u, v in g.edges():
        g[u][v]["weight"] = random.choice([0.5, 1, 2, 3.25, 10])
    dense = {i: random.random() + 0.01 for i in range(n)}
    several = {i: 1 for i in random.sample(range(n), 3)}
    uniform = {i: 1 for i in range(n)}
    start = {i: random.random() for i in range(n)}
    ranks = []
    for teleport in [None, dense, several, {0: 1}]:
        for weight in [None, "weight"]:
            for dangling in ["teleport", "uniform"]:
                p = nx.pagerank(g, 0.85, teleport, 10000, 3e-15, start, weight, uniform if dangling == "uniform" else None)
                ranks.append({"teleport": teleport and [teleport.get(i, 0) for i in range(n)], "weighted": weight is not None,
                              "dangling": dangling, "ranks": listed(p, n)})
    largest = max(abs(x) for x in nx.adjacency_spectrum(g, weight=None))
    katz = {"alpha": float(0.5 / largest) if largest > 1e-3 else 0.1}
    katz["scores"] = listed(nx.katz_centrality(g, katz["alpha"], 2.0, 10000, 1e-14, normalized=False), n)
    case = {"name": name, "nodes": n, "links": [[u, v, d["weight"]] for u, v, d in g.edges(data=True)], "pagerank": ranks, "katz": katz}
    if name not in ["growing", "sparse"]:  # their largest singular value is not simple or hardly so
        hubs, authorities = nx.hits(g, tol=1e-15)
        case["hits"] = {"hubs": listed(hubs, n), "authorities": listed(authorities, n)}
    out.append(case)
json.dump(out, sys.stdout, indent=None, separators=(",", ":"))
print()
