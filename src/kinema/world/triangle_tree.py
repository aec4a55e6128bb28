"""Triangles in a tree of boxes, and rays through it.

The tree is split where the surface area heuristic expects the least work, over a few bins of the widest axis (Wald, On
fast Construction of SAH-based Bounding Volume Hierarchies, 2007). Rays meet triangles by the signs of three edge
functions in a space sheared along the ray (Woop, Benthin, Wald, Watertight Ray/Triangle Intersection, 2013): both
triangles at an edge see the same bits with opposite signs, so no ray slips through between them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema._jit import batch, kernel, routine
from kinema.constants import BOX_ROUNDING, RAY_FAR, RAY_PARALLEL, TREE_BINS, TREE_DEPTH, TREE_LEAF
from kinema.math import vec
from kinema.world.rays import against, at, miss, record

_INNER = -1
"""In place of a leaf's number of triangles: a node with two children, one after the other."""


class TriangleTree(NamedTuple):
    """Arrays that the kernels read."""

    corners: Any
    """(9 T,): three corners of every triangle, in the order of the leaves."""
    normals: Any
    """(3 T,): unit normals; counter-clockwise is the front."""
    boxes: Any
    """(6 N,): lowest and highest corner of every node, a little larger than what is inside."""
    links: Any
    """(2 N,): first child and _INNER, or first triangle and how many."""


# --- building --------------------------------------------------------------------------------------------------


@routine
def _clear(box):
    for c in range(3):
        box[c], box[3 + c] = RAY_FAR, -RAY_FAR


@routine
def _grow(box, other):
    for c in range(3):
        box[c] = min(box[c], other[c])
        box[3 + c] = max(box[3 + c], other[3 + c])


@kernel
def _area(box):
    """Half the surface of a box, which is proportional to how many rays it meets."""
    x, y, z = box[3] - box[0], box[4] - box[1], box[5] - box[2]
    return x * y + y * z + z * x


@kernel
def _middle(parts, k, axis):
    """The middle of a triangle's box along an axis."""
    return 0.5 * (parts[6 * k + axis] + parts[6 * k + 3 + axis])


@kernel
def _bin_of(middle, low, high):
    return min(int((middle - low) / (high - low) * TREE_BINS), TREE_BINS - 1)


@kernel
def _measure(parts, order, first, count, box, middles):
    """The box around a node's triangles, and the one around their middles."""
    _clear(box)
    _clear(middles)
    for k in order[first : first + count]:
        _grow(box, parts[6 * k : 6 * k + 6])
        for c in range(3):
            middle = _middle(parts, k, c)
            middles[c] = min(middles[c], middle)
            middles[3 + c] = max(middles[3 + c], middle)


@kernel
def _fill_bins(parts, order, first, count, axis, middles, bins, amounts):
    for b in range(TREE_BINS):
        _clear(bins[6 * b : 6 * b + 6])
        amounts[b] = 0
    for k in order[first : first + count]:
        b = _bin_of(_middle(parts, k, axis), middles[axis], middles[3 + axis])
        _grow(bins[6 * b : 6 * b + 6], parts[6 * k : 6 * k + 6])
        amounts[b] += 1


@kernel
def _best_split(bins, amounts, swept, costs):
    """The first bin of the upper half, and what the split costs: area times number, both halves. The first and the last
    bin are never empty, as the outermost middles are in them.
    """
    _clear(swept)
    count = 0
    for b in range(TREE_BINS - 1):
        _grow(swept, bins[6 * b : 6 * b + 6])
        count += amounts[b]
        costs[b] = _area(swept) * count
    _clear(swept)
    count = 0
    best, best_cost = 0, 0.0
    for b in range(TREE_BINS - 1, 0, -1):
        _grow(swept, bins[6 * b : 6 * b + 6])
        count += amounts[b]
        cost = costs[b - 1] + _area(swept) * count
        if best == 0 or cost < best_cost:
            best, best_cost = b, cost
    return best, best_cost


@kernel
def _partition(parts, order, first, count, axis, middles, split):
    """Triangles of lower bins first. Returns how many they are."""
    i, j = first, first + count - 1
    while i <= j:
        if _bin_of(_middle(parts, order[i], axis), middles[axis], middles[3 + axis]) < split:
            i += 1
        else:
            order[i], order[j] = order[j], order[i]
            j -= 1
    return i - first


@batch
def _build(parts, order, boxes, links, depths):
    """Split from the root down, lower halves first: a branch lies in one piece. Returns how many nodes there are."""
    bins, amounts, costs = np.empty(6 * TREE_BINS), np.empty(TREE_BINS, np.int64), np.empty(TREE_BINS)
    middles, swept = np.empty(6), np.empty(6)
    waiting = np.empty(TREE_DEPTH + 2, np.int64)
    links[0], links[1], depths[0], waiting[0] = 0, order.size, 0, 0
    left, made = 1, 1
    while left > 0:
        left -= 1
        node = waiting[left]
        first, count, depth = links[2 * node], links[2 * node + 1], depths[node]
        box = boxes[6 * node : 6 * node + 6]
        _measure(parts, order, first, count, box, middles)
        axis = 0
        for c in range(1, 3):
            axis = c if middles[3 + c] - middles[c] > middles[3 + axis] - middles[axis] else axis
        lower = 0
        if count > TREE_LEAF:
            lower = count // 2
        # Unequal halves as long as the depth that is left would still hold the larger one split evenly.
        if count > 1 and middles[3 + axis] > middles[axis] and count - 1 <= 2 ** (TREE_DEPTH - depth - 1):
            _fill_bins(parts, order, first, count, axis, middles, bins, amounts)
            split, cost = _best_split(bins, amounts, swept, costs)
            if count > TREE_LEAF or cost + _area(box) < _area(box) * count:
                lower = _partition(parts, order, first, count, axis, middles, split)
        if lower > 0:
            links[2 * node], links[2 * node + 1] = made, _INNER
            links[2 * made], links[2 * made + 1], depths[made] = first, lower, depth + 1
            links[2 * made + 2], links[2 * made + 3], depths[made + 1] = first + lower, count - lower, depth + 1
            waiting[left], waiting[left + 1] = made + 1, made
            left += 2
            made += 2
    return made


def build(corners: Any) -> tuple[TriangleTree, Any]:
    """A tree over triangles, (T, 3, 3), and their order in it, (T,)."""
    count = len(corners)
    parts = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    order, most = np.arange(count, dtype=np.int32), max(2 * count, 1)
    boxes, links, depths = np.zeros(6 * most), np.zeros(2 * most, np.int32), np.zeros(most, np.int64)
    made = _build(parts.reshape(-1), order, boxes, links, depths)
    margin = BOX_ROUNDING * np.max(np.abs(corners), initial=0.0)
    roomy = boxes[: 6 * made].reshape(made, 2, 3) + np.array((-margin, margin)).reshape(2, 1)
    corners = corners[order]
    normals = normals_of(corners)
    return TriangleTree(corners.reshape(-1), normals.reshape(-1), roomy.reshape(-1), links[: 2 * made].copy()), order


def normals_of(corners: Any) -> Any:
    """Unit normals of triangles, (T, 3); zeros for one without an area."""
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size = np.max(np.abs(cross), axis=1, keepdims=True, initial=0.0)
    scaled = cross / np.where(size > 0.0, size, 1.0)
    return scaled / np.where(size > 0.0, np.linalg.norm(scaled, axis=1, keepdims=True), 1.0)


# --- rays ------------------------------------------------------------------------------------------------------


@kernel
def _low(a, b):
    return a if a < b else b


@kernel
def _high(a, b):
    return a if a > b else b


@kernel
def _inverse(speed):
    if abs(speed) > RAY_PARALLEL:
        return 1.0 / speed
    return 1.0 / RAY_PARALLEL


@kernel
def _enter(boxes, node, origin, inverse, best):
    """Where a ray comes into a node's box; RAY_FAR if it does not, or only beyond `best`."""
    k = 6 * node
    x1, x2 = (boxes[k] - origin[0]) * inverse[0], (boxes[k + 3] - origin[0]) * inverse[0]
    y1, y2 = (boxes[k + 1] - origin[1]) * inverse[1], (boxes[k + 4] - origin[1]) * inverse[1]
    z1, z2 = (boxes[k + 2] - origin[2]) * inverse[2], (boxes[k + 5] - origin[2]) * inverse[2]
    enter = _high(_high(_low(x1, x2), _low(y1, y2)), _high(_low(z1, z2), 0.0))
    leave = _low(_low(_high(x1, x2), _high(y1, y2)), _low(_high(z1, z2), best))
    return enter if enter <= leave * (1.0 + BOX_ROUNDING) else RAY_FAR


@kernel
def _shear(unit):
    """The axis a ray runs along most, last of three that keep their handedness, and how the others lean on it."""
    z = 0 if abs(unit[0]) >= abs(unit[1]) and abs(unit[0]) >= abs(unit[2]) else 1 if abs(unit[1]) >= abs(unit[2]) else 2
    x, y = (z + 1) % 3, (z + 2) % 3
    return x, y, z, unit[x] / unit[z], unit[y] / unit[z], 1.0 / unit[z]


@kernel
def _meet_triangle(corners, k, origin, shear):
    """Distance along the ray to a triangle; -1 if it does not meet it, or runs along it."""
    x, y, z, lean_x, lean_y, stretch = shear
    k = 9 * k
    az, bz, cz = corners[k + z] - origin[z], corners[k + 3 + z] - origin[z], corners[k + 6 + z] - origin[z]
    ax, ay = corners[k + x] - origin[x] - lean_x * az, corners[k + y] - origin[y] - lean_y * az
    bx, by = corners[k + 3 + x] - origin[x] - lean_x * bz, corners[k + 3 + y] - origin[y] - lean_y * bz
    cx, cy = corners[k + 6 + x] - origin[x] - lean_x * cz, corners[k + 6 + y] - origin[y] - lean_y * cz
    u, v, w = cx * by - cy * bx, ax * cy - ay * cx, bx * ay - by * ax
    if (u < 0.0 or v < 0.0 or w < 0.0) and (u > 0.0 or v > 0.0 or w > 0.0):
        return -1.0
    whole = u + v + w
    if whole == 0.0:
        return -1.0
    return (az + (v * (bz - az) + w * (cz - az)) / whole) * stretch


@kernel
def _counts(distance, reach, normal, unit, two_sided):
    """Whether a crossing is one to report."""
    return distance >= 0.0 and distance <= reach and (two_sided or vec.dot(normal, unit) < 0.0)


@kernel
def nearest(origin, unit, reach, corners, normals, boxes, links, two_sided, shear, waiting, entries):
    """The nearest triangle, -1 for none, and its distance. waiting, entries: room for nodes still to be looked at."""
    inverse = (_inverse(unit[0]), _inverse(unit[1]), _inverse(unit[2]))
    best, triangle = reach, -1
    waiting[0], entries[0], depth = 0, 0.0, 1
    while depth > 0:
        depth -= 1
        if entries[depth] > best * (1.0 + BOX_ROUNDING):
            continue
        node = waiting[depth]
        first, count = links[2 * node], links[2 * node + 1]
        if count == _INNER:
            near, far = first, first + 1
            near_entry = _enter(boxes, near, origin, inverse, best)
            far_entry = _enter(boxes, far, origin, inverse, best)
            if far_entry < near_entry:
                near, far, near_entry, far_entry = far, near, far_entry, near_entry
            if far_entry < RAY_FAR:
                waiting[depth], entries[depth] = far, far_entry
                depth += 1
            if near_entry < RAY_FAR:
                waiting[depth], entries[depth] = near, near_entry
                depth += 1
        else:
            for k in range(first, first + count):
                distance = _meet_triangle(corners, k, origin, shear)
                if (distance < best or triangle < 0) and _counts(distance, best, at(normals, k), unit, two_sided):
                    best, triangle = distance, k
    return best, triangle


@batch
def cast_range(
    start, stop, origins, units, reaches, corners, normals, boxes, links, two_sided, order, guesses,
    hits, points, normals_out, distances,
):  # fmt: skip
    """Rays against the tree, in this order. guesses: in the same order, for each ray a triangle that is the nearest one
    if it is hit at all, or -1.
    """
    waiting, entries = np.empty(TREE_DEPTH + 2, np.int64), np.empty(TREE_DEPTH + 2)
    for j in range(start, stop):
        i, triangle = order[j], guesses[j]
        origin, unit, reach = at(origins, i), at(units, i), reaches[i]
        shear = _shear(unit)
        distance = _meet_triangle(corners, triangle, origin, shear) if triangle >= 0 else -1.0
        if triangle < 0 or not _counts(distance, reach, at(normals, triangle), unit, two_sided):
            distance, triangle = nearest(
                origin, unit, reach, corners, normals, boxes, links, two_sided, shear, waiting, entries
            )
        if triangle >= 0:
            answer = (True, distance, against(at(normals, triangle), unit))
        else:
            answer = miss(reach)
        record(i, origin, unit, answer, hits, points, normals_out, distances)
