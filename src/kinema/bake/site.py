"""`Site`: the ground under a character: its height, its grade over about a stride, and the treads of stairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.math.smoothing import smooth_gaussian

FARTHEST_GROUND = 1000.0
"""Leg lengths above and below the character within which its first ground is looked for."""

PROBES = (0.5, 1.0)
"""Leg lengths from a place at which the ground around it is probed: its grade over about a stride."""

AROUND = 8
"""Directions of the probes."""

PROBE_EVERY, MOST_PLACES = 0.1, 2000
"""Leg lengths of the way from one place that is probed to the next, and the most places."""

PROBE_HEIGHT = 1.2
"""Leg lengths above the ground at a place from which probes look down, and below it to which they look."""

LEVEL = 0.02
"""Grade below which ground is level."""

RISER = 0.05
"""Leg lengths that the ground rises or falls within `FINE` leg lengths at the edge of a tread."""

FINE = 0.02
"""Leg lengths from point to point where treads are looked for."""

LONGEST_STAIRS = 1000.0
"""Leg lengths of a way on which treads are looked for: more would be 50,000 rays."""

FEWEST_RISERS, EVEN = 3, 0.15
"""Stairs have so many risers at least, and their treads differ by this share at most."""


class Site(NamedTuple):
    """Where a character is."""

    ground: Any
    up: Any
    """(3,): unit."""
    leg: float
    """Length of a leg."""
    below: float | None
    """Height below which the first ground is looked for; None: from far above."""


class Grades(NamedTuple):
    """The ground at P places along a way."""

    frames: Any
    """(P,): which points of the way they are."""
    places: Any
    """(P, 3): on the ground."""
    slopes: Any
    """(P, 3): rise over run, along the direction in which the ground rises, across up."""

    @property
    def rises(self) -> bool:
        """Whether there is ground, and it is not level."""
        return bool(len(self.places)) and float(np.linalg.norm(self.slopes, axis=-1).max()) >= LEVEL

    @property
    def axis(self) -> Any:
        """(3,): the direction along which the ground rises or falls most, over all places; unit."""
        return np.linalg.eigh(self.slopes.T @ self.slopes)[1][:, -1]


class Treads(NamedTuple):
    """Stairs along an axis."""

    edge: float
    """Where one of the risers is, along the axis."""
    run: float
    """Depth of a tread."""


def heights_along(site: Site, points: Any, start: int) -> Any:
    """(F,): height of the ground under points (F, 3); nan where there is none. None, if there is none at the start.

    From the start on, and back from there, each is looked for from a leg length above the last one, so that a floor
    below a roof stays the floor.
    """
    top = points[start] @ site.up + FARTHEST_GROUND * site.leg if site.below is None else site.below
    first = _height_under(site, points[start], top)
    if first is None:
        return None
    heights = np.full(len(points), np.nan)
    for order in (range(start, len(points)), range(start - 1, -1, -1)):
        last = first
        for k in order:
            found = _height_under(site, points[k], last + site.leg)
            if found is not None:
                heights[k] = last = found
    return heights


def _height_under(site: Site, point: Any, top: float) -> float | None:
    """Height along up of the first ground below `top` at a point; None if there is none."""
    origin = point + site.up * (top - point @ site.up)
    hits = site.ground.cast(origin[np.newaxis], -site.up[np.newaxis], 2 * FARTHEST_GROUND * site.leg)
    return float(hits.point[0] @ site.up) if hits.hit[0] and np.isfinite(hits.point[0]).all() else None


def grades_along(site: Site, way: Any, start: int) -> Grades:
    """Probe the ground along a way, (F, 3), and fit a plane around each place. Without ground there are no places.

    start: the point of the way below which the first ground is looked for.
    """
    up, leg = site.up, site.leg
    gone = np.concatenate(((0.0,), np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=-1))))
    spacing = max(PROBE_EVERY * leg, float(gone[-1]) / MOST_PLACES)
    frames = np.unique((gone / spacing).astype(np.int64), return_index=True)[1]
    places = way[frames]
    heights = heights_along(site, places, int(np.searchsorted(frames, start, "right")) - 1)
    if heights is None:
        return Grades(frames[:0], places[:0], places[:0])
    found = ~np.isnan(heights)
    places = (places + (heights - places @ up)[:, np.newaxis] * up)[found]
    side = np.delete(np.eye(3), int(np.argmax(np.abs(up))), axis=0)
    angles = np.arange(AROUND) * (2 * np.pi / AROUND)
    ring = np.stack((np.cos(angles), np.sin(angles)), axis=-1)
    offsets = np.concatenate([radius * leg * ring for radius in PROBES])
    rises = _heights(site, places[:, np.newaxis] + offsets @ side) - (places @ up)[:, np.newaxis]
    hit = ~np.isnan(rises)
    square = np.einsum("pn,ni,nj->pij", hit.astype(float), offsets, offsets) + np.eye(2) * (1e-6 * leg * leg)
    right = np.einsum("pn,ni->pi", np.where(hit, rises, 0.0), offsets)
    return Grades(frames[found], places, np.linalg.solve(square, right[..., np.newaxis])[..., 0] @ side)


def slopes_under(site: Site, way: Any, start: int, deviation: float) -> Any:
    """(F, 3): rise over run of the ground under a way, (F, 3), as in `Grades.slopes`; None on level ground, and without
    any. deviation: frames over which it is smoothed.
    """
    grades = grades_along(site, way, start)
    if not grades.rises:
        return None
    frames = np.arange(len(way))
    slopes = np.stack([np.interp(frames, grades.frames, column) for column in grades.slopes.T], axis=-1)
    return smooth_gaussian(slopes, deviation, "edge")


def treads_along(site: Site, grades: Grades, axis: Any) -> Treads | None:
    """Find the treads of stairs that go along an axis; None if the ground has no even steps there."""
    along, leg = grades.places @ axis, site.leg
    order = np.argsort(along)
    low, high = along.min() / leg - PROBES[-1], along.max() / leg + PROBES[-1]
    if high - low > LONGEST_STAIRS:
        return None
    line = np.arange(low, high, FINE) * leg
    ahead = np.stack([np.interp(line, along[order], column) for column in grades.places[order].T], axis=-1)
    points = ahead + (line - ahead @ axis)[:, np.newaxis] * axis
    heights = _heights(site, points)
    jumps = np.flatnonzero(np.abs(np.nan_to_num(np.diff(heights))) > RISER * leg)
    edges = (line[jumps] + line[jumps + 1]) / 2
    runs = np.diff(edges)
    if len(edges) < FEWEST_RISERS:
        return None
    run = float(np.median(runs))
    if np.quantile(np.abs(runs - run), 0.8) > EVEN * run:
        return None
    return Treads(float(edges[len(edges) // 2]), run)


def _heights(site: Site, points: Any) -> Any:
    """(...,): height of the ground near points (..., 3) along up; nan where there is none."""
    flat = points.reshape(-1, 3) + PROBE_HEIGHT * site.leg * site.up
    hits = site.ground.cast(flat, np.broadcast_to(-site.up, flat.shape).copy(), 2 * PROBE_HEIGHT * site.leg)
    found = np.asarray(hits.hit, bool) & np.isfinite(hits.point).all(axis=-1)
    heights = np.where(found[:, np.newaxis], hits.point, np.nan) @ site.up
    return heights.reshape(points.shape[:-1])
