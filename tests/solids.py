"""Measures of meshes."""

import numpy as np


def volume(mesh):
    """Volume that a closed mesh encloses; negative if it faces inwards."""
    a, b, c = (mesh.vertices[mesh.triangles[:, n]] for n in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6)


def open_edges(mesh):
    """Number of edges that are not used equally often in both directions: 0 for a closed mesh."""
    t = mesh.triangles
    directed = {}
    for a, b in np.concatenate((t[:, (0, 1)], t[:, (1, 2)], t[:, (2, 0)])).tolist():
        directed[a, b] = directed.get((a, b), 0) + 1
    return sum(1 for (a, b), count in directed.items() if directed.get((b, a), 0) != count)
