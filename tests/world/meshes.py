"""Meshes for tests: vertices (V, 3) and triangles (T, 3)."""

import numpy as np


def grid(heights, spacing=1.0):
    """A square grid over x and z, two triangles a cell, fronts up."""
    nx, nz = heights.shape
    x, z = np.meshgrid(np.arange(nx) * spacing, np.arange(nz) * spacing, indexing="ij")
    i = np.arange(nx * nz).reshape(nx, nz)
    a, b, c, d = (part.reshape(-1) for part in (i[:-1, :-1], i[:-1, 1:], i[1:, 1:], i[1:, :-1]))
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return np.stack([x, heights, z], axis=-1).reshape(-1, 3), triangles


def box(low=(-1.0, -1.0, -1.0), high=(1.0, 1.0, 1.0)):
    """Twelve triangles, fronts out."""
    corners = np.array([[(low, high)[(k >> c) & 1][c] for c in range(3)] for k in range(8)], np.float64)
    quads = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]
    return corners, np.array([(q[0], *q[k : k + 2]) for q in quads for k in (1, 2)])


def soup(rng, count, size=1.0):
    """Triangles anywhere, of all sizes; needles among them."""
    middles = rng.uniform(-3, 3, (count, 1, 3))
    corners = middles + rng.normal(size=(count, 3, 3)) * (size * 10.0 ** rng.uniform(-2, 0, (count, 1, 1)))
    corners[::7, 2] = corners[::7, 1] + rng.normal(size=corners[::7, 1].shape) * 1e-3
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


def fan(count):
    """Many triangles that share one corner at the origin, in the plane y = 0, fronts up."""
    angles = np.arange(count) * (2 * np.pi / count)
    rim = np.stack([np.cos(angles), np.zeros(count), np.sin(angles)], axis=1) * 3.0
    i = np.arange(count)
    return np.concatenate([np.zeros((1, 3)), rim]), np.stack([0 * i, 1 + (i + 1) % count, 1 + i], axis=1)
