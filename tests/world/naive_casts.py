"""Ray casts by trying everything: every cell, every triangle, every step. Nothing taken from the package.

Each takes origins and unit directions (n, 3) and how far they go (n,), all float64, and returns distances (n,),
infinite for a miss.
"""

import numpy as np

NONE = np.inf


def unit(directions):
    """At length 1, by the textbook."""
    directions = np.asarray(directions, np.float64)
    return directions / np.linalg.norm(directions, axis=-1, keepdims=True)


def within(distances, reaches):
    """Misses where the ray ends before."""
    return np.where((distances >= 0) & (distances <= reaches), distances, NONE)


def plane(origins, units, reaches, point, normal):
    height, speed = (origins - point) @ unit(normal), units @ unit(normal)
    with np.errstate(divide="ignore", invalid="ignore"):
        return within(np.where(speed != 0, -height / speed, NONE), reaches)


def sphere(origins, units, reaches, centre, radius, front_only=False):
    """The smaller root that is not negative."""
    p = origins - centre
    half, c = np.sum(p * units, axis=1), np.sum(p * p, axis=1) - radius**2
    with np.errstate(invalid="ignore"):
        root = np.sqrt(half * half - c)
    near, far = -half - root, -half + root
    chosen = near if front_only else np.where(near >= 0, near, far)
    return within(np.where(np.isnan(root), NONE, chosen), reaches)


# --- voxels ----------------------------------------------------------------------------------------------------


def boxes(origins, units, reaches, lows, highs, closed):
    """The nearest of solid boxes (m, 3). Closed ones are hit when touched; of open ones a ray must see the inside.

    Both are hit by a ray that starts inside. Along an axis a ray does not move on, a box owns its lower wall.
    """
    n, m = len(origins), len(lows)
    first, last = np.zeros((n, m)), np.broadcast_to(reaches[:, None], (n, m)).copy()
    for c in range(3):
        o, u = origins[:, c, None], units[:, c, None]
        still = u == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            a, b = (lows[:, c] - o) / u, (highs[:, c] - o) / u
        inside = (o >= lows[:, c]) & ((o <= highs[:, c]) if closed else (o < highs[:, c]))
        a, b = np.where(still, np.where(inside, -np.inf, np.inf), a), np.where(still, np.inf, b)
        first, last = np.maximum(first, np.minimum(a, b)), np.minimum(last, np.maximum(a, b))
    touched = first <= last if closed else first < last
    return np.where(touched, first, NONE).min(axis=1, initial=NONE)


def voxels(origins, units, reaches, filled, origin, size, closed=False):
    cells = np.argwhere(filled)
    lows = np.asarray(origin, np.float64) + cells * np.asarray(size, np.float64)
    return boxes(origins, units, reaches, lows, lows + np.asarray(size, np.float64), closed)


# --- height fields ---------------------------------------------------------------------------------------------


def height_field(origins, units, reaches, heights, origin, spacing, holes=None, front_only=False, slack=1e-9):
    """The quadratic of every cell, in the distance along the ray; roots count a little beyond the cell's edges too."""
    heights = np.asarray(heights, np.float64)
    sx, sz = np.broadcast_to(np.asarray(spacing, np.float64), 2)
    best = np.full(len(origins), NONE)
    for i in range(heights.shape[0] - 1):
        for j in range(heights.shape[1] - 1):
            if holes is not None and holes[i, j]:
                continue
            h00, h10, h01, h11 = heights[i : i + 2, j : j + 2].T.reshape(-1)
            a, b = (origins[:, 0] - origin[0]) / sx - i, (origins[:, 2] - origin[1]) / sz - j
            da, db = units[:, 0] / sx, units[:, 2] / sz
            twist = h00 - h10 - h01 + h11
            c = origins[:, 1] - (h00 + (h10 - h00) * a + (h01 - h00) * b + twist * a * b)
            slope = units[:, 1] - (h10 - h00) * da - (h01 - h00) * db - twist * (a * db + b * da)
            for t in quadratic(-twist * da * db, slope, c):
                at_a, at_b = a + da * t, b + db * t
                inside = (at_a >= -slack) & (at_a <= 1 + slack) & (at_b >= -slack) & (at_b <= 1 + slack)
                if front_only:
                    inside &= slope - 2 * twist * da * db * t < 0
                best = np.where(inside & (t >= 0) & (t <= reaches), np.minimum(best, t), best)
    return best


def quadratic(a, b, c):
    """Both roots of a t^2 + b t + c, NaN where there is none."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        root = np.sqrt(b * b - 4 * a * c)
        q = -0.5 * (b + np.where(b < 0, -1.0, 1.0) * root)
        return tuple(np.where(np.isfinite(t), t, np.nan) for t in (q / a, c / q))


# --- triangles -------------------------------------------------------------------------------------------------


def triangles(origins, units, reaches, corners, front_only=False, slack=0.0):
    """Every ray with every triangle (Cramer's rule). Returns distances, and which triangle.

    slack: how far outside its edges a triangle still counts, as a share of its size.
    """
    corners = np.asarray(corners, np.float64)
    if not len(corners):
        return np.full(len(origins), NONE), np.full(len(origins), -1)
    a, ab, ac = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    p = np.cross(units[:, None], ac[None])
    whole = np.sum(p * ab, axis=-1)
    whole = np.where(whole == 0, np.nan, whole)  # Along the triangle: no comparison holds.
    s = origins[:, None] - a[None]
    q = np.cross(s, np.broadcast_to(ab, s.shape))
    u, v = np.sum(s * p, axis=-1) / whole, np.sum(units[:, None] * q, axis=-1) / whole
    t = np.sum(ac * q, axis=-1) / whole
    inside = (u >= -slack) & (v >= -slack) & (u + v <= 1 + slack) & (t >= 0) & (t <= reaches[:, None])
    if front_only:
        inside &= whole > 0
    t = np.where(inside, t, NONE)
    return t.min(axis=1), t.argmin(axis=1)


# --- functions -------------------------------------------------------------------------------------------------


def function(origins, units, reaches, height, steps=4001):
    """Dense steps along each ray, then the first change of side halved."""
    found = np.full(len(origins), NONE)
    for i, (o, u, reach) in enumerate(zip(origins, units, reaches, strict=True)):

        def above(t, o=o, u=u):
            return o[1] + u[1] * t - height(o[0] + u[0] * t, o[2] + u[2] * t)

        t = np.linspace(0.0, reach, steps)
        side = np.sign(above(t))
        change = np.flatnonzero(side[1:] * side[:-1] <= 0)
        if not change.size:
            continue
        low, high = t[change[0]], t[change[0] + 1]
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if np.sign(above(middle)) == side[change[0]] else (low, middle)
        found[i] = high
    return found
