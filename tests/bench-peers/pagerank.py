"""What PageRank costs in networkx and rustworkx.

    python pagerank.py DIRECTORY PAGES ROUNDS

DIRECTORY has `links`, pairs of 32-bit numbers, and `scores`, the PageRanks that must come out, as 64-bit floats. One line
each: CPU milliseconds of every round. Reading and building the graph is not counted.
"""

import sys
import time

import networkx
import numpy as np
import rustworkx

directory, pages, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
links = np.fromfile(f"{directory}/links", dtype="<u4").reshape(-1, 2)
links = np.unique(links[links[:, 0] != links[:, 1]], axis=0)
scores = np.fromfile(f"{directory}/scores", dtype="<f8")
# Both stop when the summed change falls below this times the number of pages.
tolerance = 1e-10 / pages


def with_networkx():
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(pages))
    graph.add_edges_from(links.tolist())
    return lambda: networkx.pagerank(graph, tol=tolerance, max_iter=1_000)


def with_rustworkx():
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(range(pages))
    graph.add_edges_from_no_data([tuple(link) for link in links.tolist()])
    return lambda: rustworkx.pagerank(graph, tol=tolerance, max_iter=1_000)


for name, prepare in {"networkx": with_networkx, "rustworkx": with_rustworkx}.items():
    rank = prepare()
    figures = []
    for _ in range(rounds):
        begun = time.process_time()
        ranked = rank()
        figures.append((time.process_time() - begun) * 1e3)
    apart = np.abs(np.array([ranked[page] for page in range(pages)]) - scores).sum()
    assert apart < 1e-8, f"{name} has other scores: {apart}"
    print(f"{name} ms:", *(f"{figure:.3f}" for figure in figures))
