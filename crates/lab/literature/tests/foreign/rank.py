"""What networkx makes of a graph: reads {"nodes": N, "edges": [[from, to, weight], …], "trusted": […]} from stdin."""

import json
import sys

try:
    import networkx
    import scipy  # networkx computes with it.
except ImportError as error:
    print(f"{sys.executable} has no {error.name}; make setup installs it", file=sys.stderr)
    sys.exit(3)

given = json.load(sys.stdin)
graph = networkx.DiGraph()
graph.add_nodes_from(range(given["nodes"]))
graph.add_weighted_edges_from(given["edges"])
trusted = dict.fromkeys(given["trusted"], 1.0)
hubs, authorities = networkx.hits(graph, max_iter=10_000)


def ranked(**personalised):
    scores = networkx.pagerank(graph, tol=1e-14 / len(graph), max_iter=10_000, **personalised)
    return [scores[node] for node in range(len(graph))]


json.dump(
    {
        "networkx": networkx.__version__,
        "pagerank": ranked(),
        "trust": ranked(personalization=trusted),
        "hubs": [hubs[node] for node in range(len(graph))],
        "authorities": [authorities[node] for node in range(len(graph))],
    },
    sys.stdout,
)
