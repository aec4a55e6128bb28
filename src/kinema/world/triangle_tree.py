"""A tree of boxes over triangles, and rays through it.

The tree is split where the surface area heuristic expects the least work, over a few bins of the widest axis (Wald, On
fast Construction of SAH-based Bounding Volume Hierarchies, 2007). A ray hits a triangle if three edge functions have
the same sign, in a space sheared along the ray (Woop, Benthin, Wald, Watertight Ray/Triangle Intersection, 2013). The
two triangles at an edge compute the same bits with opposite signs, so no ray slips through between them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import allocating_batch, kernel, routine
from kinema.compile.records import REAL, Record, kernel_views
from kinema.math import vec
from kinema.math.rows import load3
from kinema.world.rays import RAY_FAR, RayHit, face_ray, load_ray, miss, store_hit

RAY_PARALLEL = 1e-150
"""Smallest component of a unit direction that boxes tell from zero: its inverse times any coordinate is finite, and
longer than any ray times the margin of any box of 1e-34 m or more."""

BOX_ROUNDING = 1e-15
"""Fraction by which boxes of a tree, and spans of rays in them, are enlarged: a few roundings of float64, so that a ray
that hits a triangle also hits its box."""

TREE_BINS = 16
"""Positions tried for the split of a node. More of them change the tree little and take longer."""

TREE_LEAF = 4
"""Most triangles in a leaf."""

TREE_DEPTH = 48
"""Deepest tree, and so the length of a ray's stack of nodes. Where uneven splits would lead deeper, splits are even."""

INNER = -1
"""`count` of a node that has children instead of triangles."""

BOX = Record(low=(REAL, 3), high=(REAL, 3))
"""A box by its lowest and its highest corner, metres."""

BIN = Record(box=BOX, count=np.int64, cost=REAL)
"""Triangles of a node with their middles in one slice of it: the box around them, how many they are, and the expected
cost of all triangles up to this bin."""

NODE = Record(box=BOX, first=np.int32, count=np.int32, depth=np.int64)
"""A node. Its box is slightly larger than its triangles. A leaf has `count` triangles from `first` on. A node whose
count is INNER has two children, `first` and `first + 1`."""


class TriangleTree(NamedTuple):
    """What the kernels read."""

    corners: Any
    """(T, 3, 3): the corners of every triangle, in the order of the leaves, metres."""
    normals: Any
    """(T, 3): unit normals; seen from the front, corners run counter-clockwise."""
    nodes: Any
    """(N,) of `NODE`. The first one is the root."""
    two_sided: bool


# --- building --------------------------------------------------------------------------------------------------


@routine
def _clear(box):
    """Make a box empty."""
    for c in range(3):
        box.low[c], box.high[c] = RAY_FAR, -RAY_FAR


@routine
def _grow(box, other):
    """Enlarge a box until it contains another one."""
    for c in range(3):
        box.low[c] = min(box.low[c], other.low[c])
        box.high[c] = max(box.high[c], other.high[c])


@kernel
def _area(box):
    """Return half the surface of a box, which is proportional to how many rays hit it."""
    x, y, z = box.high[0] - box.low[0], box.high[1] - box.low[1], box.high[2] - box.low[2]
    return x * y + y * z + z * x


@kernel
def _middle(box, axis):
    """Return the middle of a box along an axis."""
    return 0.5 * (box.low[axis] + box.high[axis])


@kernel
def _bin_of(middle, low, high):
    """Return the bin that a middle between `low` and `high` belongs to."""
    return min(int((middle - low) / (high - low) * TREE_BINS), TREE_BINS - 1)


@kernel
def _measure(boxes, members, box, middles):
    """Compute the box around a node's triangles, and the box around their middles."""
    _clear(box)
    _clear(middles)
    for k in members:
        _grow(box, boxes[k])
        for c in range(3):
            middle = _middle(boxes[k], c)
            middles.low[c] = min(middles.low[c], middle)
            middles.high[c] = max(middles.high[c], middle)


@kernel
def _widest_axis(box):
    """Return the axis along which a box is longest."""
    axis = 0
    for c in range(1, 3):
        axis = c if box.high[c] - box.low[c] > box.high[axis] - box.low[axis] else axis
    return axis


@kernel
def _fill_bins(boxes, members, axis, middles, bins):
    """Sort a node's triangles into bins along an axis."""
    for b in range(TREE_BINS):
        _clear(bins[b].box)
        bins[b].count = 0
    for k in members:
        b = _bin_of(_middle(boxes[k], axis), middles.low[axis], middles.high[axis])
        _grow(bins[b].box, boxes[k])
        bins[b].count += 1


@kernel
def _best_split(bins, swept):
    """Return the first bin of the upper half of the cheapest split, and its cost: area times count of both halves.

    The first and the last bin are never empty, because they contain the outermost middles. swept: a box to work in.
    """
    _clear(swept)
    count = 0
    for b in range(TREE_BINS - 1):
        _grow(swept, bins[b].box)
        count += bins[b].count
        bins[b].cost = _area(swept) * count
    _clear(swept)
    count = 0
    best, best_cost = 0, 0.0
    for b in range(TREE_BINS - 1, 0, -1):
        _grow(swept, bins[b].box)
        count += bins[b].count
        cost = bins[b - 1].cost + _area(swept) * count
        if best == 0 or cost < best_cost:
            best, best_cost = b, cost
    return best, best_cost


@kernel
def _partition(boxes, members, axis, middles, split):
    """Move triangles of bins below the split to the front. Return how many they are."""
    i, j = 0, members.size - 1
    while i <= j:
        if _bin_of(_middle(boxes[members[i]], axis), middles.low[axis], middles.high[axis]) < split:
            i += 1
        else:
            members[i], members[j] = members[j], members[i]
            j -= 1
    return i


@kernel
def _split(boxes, members, node, bins, work):
    """Measure a node and divide its triangles. Return how many belong to the lower half; 0 for a leaf."""
    middles, swept = work[0], work[1]
    count = members.size
    _measure(boxes, members, node.box, middles)
    axis = _widest_axis(middles)
    lower = 0
    if count > TREE_LEAF:
        lower = count // 2
    # Split unevenly only while the remaining depth could still hold the larger half, split evenly from there on.
    if count > 1 and middles.high[axis] > middles.low[axis] and count - 1 <= 2 ** (TREE_DEPTH - node.depth - 1):
        _fill_bins(boxes, members, axis, middles, bins)
        split, cost = _best_split(bins, swept)
        if count > TREE_LEAF or cost + _area(node.box) < _area(node.box) * count:
            lower = _partition(boxes, members, axis, middles, split)
    return lower


@kernel
def _init_node(node, first, count, depth):
    """Make a node a leaf with these triangles."""
    node.first, node.count, node.depth = first, count, depth


@allocating_batch
def _build(boxes, order, nodes, bins, work):
    """Split from the root down, lower halves first, so that a branch is contiguous. Return the number of nodes.

    boxes: (T,) of `BOX`, of the triangles. order: (T,), is sorted into the order of the leaves.
    bins, work: (TREE_BINS,) of `BIN` and (2,) of `BOX`, to work in.
    """
    waiting = np.empty(TREE_DEPTH + 2, np.int64)
    waiting[0] = 0
    _init_node(nodes[0], 0, order.size, 0)
    left, made = 1, 1
    while left > 0:
        left -= 1
        node = nodes[waiting[left]]
        first, count, depth = node.first, node.count, node.depth
        lower = _split(boxes, order[first : first + count], node, bins, work)
        if lower > 0:
            node.first, node.count = made, INNER
            _init_node(nodes[made], first, lower, depth + 1)
            _init_node(nodes[made + 1], first + lower, count - lower, depth + 1)
            waiting[left], waiting[left + 1] = made + 1, made
            left += 2
            made += 2
    return made


def build(corners: Any, two_sided: bool = True) -> tuple[TriangleTree, Any]:
    """Build a tree over triangles, (T, 3, 3), none of them without an area.

    Returns the tree, and (T,): for each triangle of the tree its index in `corners`.
    """
    count = len(corners)
    boxes = BOX.zeros(count, np.float64)
    boxes["low"], boxes["high"] = corners.min(axis=1), corners.max(axis=1)
    order = np.arange(count, dtype=np.int32)
    nodes = NODE.zeros(max(2 * count, 1), np.float64)
    made = _build(
        *kernel_views(boxes), order, *kernel_views(nodes, BIN.zeros(TREE_BINS, np.float64), BOX.zeros(2, np.float64))
    )
    nodes = nodes[:made].copy()
    margin = BOX_ROUNDING * np.max(np.abs(corners), initial=0.0)
    nodes["box"]["low"] -= margin
    nodes["box"]["high"] += margin
    corners = corners[order]
    return TriangleTree(corners, normals_of(corners), kernel_views(nodes)[0], two_sided), order


def normals_of(corners: Any) -> Any:
    """Return the unit normals of triangles, (T, 3); zeros for a triangle without an area."""
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
    """Return 1 / speed, finite also for a ray at right angles to the axis."""
    if abs(speed) > RAY_PARALLEL:
        return 1.0 / speed
    return 1.0 / RAY_PARALLEL


@kernel
def _enter(box, ray, inverse, best):
    """Return the distance at which a ray enters a box; RAY_FAR if it does not, or only beyond `best`.

    inverse: 1 / unit direction, for each axis.
    """
    low, high, origin = box.low, box.high, ray.origin
    x1, x2 = (low[0] - origin[0]) * inverse[0], (high[0] - origin[0]) * inverse[0]
    y1, y2 = (low[1] - origin[1]) * inverse[1], (high[1] - origin[1]) * inverse[1]
    z1, z2 = (low[2] - origin[2]) * inverse[2], (high[2] - origin[2]) * inverse[2]
    enter = _high(_high(_low(x1, x2), _low(y1, y2)), _high(_low(z1, z2), 0.0))
    leave = _low(_low(_high(x1, x2), _high(y1, y2)), _low(_high(z1, z2), best))
    return enter if enter <= leave * (1.0 + BOX_ROUNDING) else RAY_FAR


class Shear(NamedTuple):
    """A space in which a ray runs along its third axis: the axes of the world it is made of, and how it is sheared."""

    x: Any
    y: Any
    z: Any
    """The axis along which the ray moves most; x, y and z are a cyclic permutation."""
    lean_x: Any
    """How far the ray moves along x per metre along z."""
    lean_y: Any
    stretch: Any
    """Metres of ray per metre along z."""


@kernel
def _shear(unit):
    """Return the space sheared along a ray."""
    z = 0 if abs(unit[0]) >= abs(unit[1]) and abs(unit[0]) >= abs(unit[2]) else 1 if abs(unit[1]) >= abs(unit[2]) else 2
    x, y = (z + 1) % 3, (z + 2) % 3
    return Shear(x, y, z, unit[x] / unit[z], unit[y] / unit[z], 1.0 / unit[z])


@kernel
def _meet_triangle(corners, origin, shear):
    """Return the distance along the ray to a triangle, (3, 3); -1 if it misses or is parallel to the triangle."""
    x, y, z = shear.x, shear.y, shear.z
    az, bz, cz = corners[0, z] - origin[z], corners[1, z] - origin[z], corners[2, z] - origin[z]
    ax, ay = corners[0, x] - origin[x] - shear.lean_x * az, corners[0, y] - origin[y] - shear.lean_y * az
    bx, by = corners[1, x] - origin[x] - shear.lean_x * bz, corners[1, y] - origin[y] - shear.lean_y * bz
    cx, cy = corners[2, x] - origin[x] - shear.lean_x * cz, corners[2, y] - origin[y] - shear.lean_y * cz
    u, v, w = cx * by - cy * bx, ax * cy - ay * cx, bx * ay - by * ax
    if (u < 0.0 or v < 0.0 or w < 0.0) and (u > 0.0 or v > 0.0 or w > 0.0):
        return -1.0
    whole = u + v + w
    if whole == 0.0:
        return -1.0
    return (az + (v * (bz - az) + w * (cz - az)) / whole) * shear.stretch


@kernel
def _counts(distance, reach, normal, unit, two_sided):
    """Return whether a crossing is a hit."""
    return distance >= 0.0 and distance <= reach and (two_sided or vec.dot(normal, unit) < 0.0)


@kernel
def _nearest(ray, tree, shear, waiting, entries):
    """Return the distance to the nearest triangle and its index, -1 for none.

    waiting, entries: a stack of nodes still to visit, and the distances at which the ray enters them.
    """
    inverse = (_inverse(ray.unit[0]), _inverse(ray.unit[1]), _inverse(ray.unit[2]))
    best, triangle = ray.reach, -1
    waiting[0], entries[0], depth = 0, 0.0, 1
    while depth > 0:
        depth -= 1
        if entries[depth] > best * (1.0 + BOX_ROUNDING):
            continue
        node = tree.nodes[waiting[depth]]
        first, count = node.first, node.count
        if count == INNER:
            near, far = first, first + 1
            near_entry = _enter(tree.nodes[near].box, ray, inverse, best)
            far_entry = _enter(tree.nodes[far].box, ray, inverse, best)
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
                distance = _meet_triangle(tree.corners[k], ray.origin, shear)
                nearer = distance < best or triangle < 0
                if nearer and _counts(distance, best, load3(tree.normals[k]), ray.unit, tree.two_sided):
                    best, triangle = distance, k
    return best, triangle


@kernel
def meet(ray, tree, candidate, waiting, entries):
    """Cast one ray. candidate: a triangle that is the nearest one if the ray hits it at all, or -1.

    waiting, entries: (TREE_DEPTH + 2,) integers and float64, to work in.
    """
    shear, triangle = _shear(ray.unit), candidate
    distance = _meet_triangle(tree.corners[triangle], ray.origin, shear) if triangle >= 0 else -1.0
    known = triangle >= 0 and _counts(distance, ray.reach, load3(tree.normals[triangle]), ray.unit, tree.two_sided)
    if not known:
        distance, triangle = _nearest(ray, tree, shear, waiting, entries)
    if triangle < 0:
        return miss(ray)
    return RayHit(True, distance, face_ray(load3(tree.normals[triangle]), ray.unit))


@allocating_batch
def cast_range(start, stop, rays, hits, tree, order, candidates):
    """Cast rays at the tree, in this order, (N,). candidates: (N,), in the same order; see `meet`."""
    waiting, entries = np.empty(TREE_DEPTH + 2, np.int64), np.empty(TREE_DEPTH + 2)
    for j in range(start, stop):
        i = order[j]
        ray = load_ray(rays, i)
        store_hit(hits, i, ray, meet(ray, tree, candidates[j], waiting, entries))
