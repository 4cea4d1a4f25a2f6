"""The US freeways as scgraph carries them: the nearest junction, and the shortest way between two."""

from typing import Any

import numpy as np
from scgraph.geographs.us_freeway import us_freeway_geograph
from scgraph.spanning import SpanningTree

from simulator.geodesy import Places, distances_m

GRAPH: list[dict[int, float]] = us_freeway_geograph.graph
"""Per node its neighbours and the kilometres to each."""
NODES = Places(*np.array(us_freeway_geograph.nodes).T)


def nearest_node(*, lat: float, lon: float) -> int:
    return int(np.argmin(distances_m(NODES, lat=lat, lon=lon)))


class Ways:
    """Every shortest way from one node."""

    def __init__(self, origin: int) -> None:
        self._origin = origin
        self._tree: dict[str, Any] = SpanningTree.makowskis_spanning_tree(GRAPH, origin)

    def length_km(self, node: int) -> float:
        return float(self._tree["distance_matrix"][node])

    def to(self, node: int) -> Places:
        path = np.array(SpanningTree.get_path(self._origin, node, self._tree)["path"])
        return Places(lat=NODES.lat[path], lon=NODES.lon[path])
