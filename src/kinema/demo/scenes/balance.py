"""`BalanceView`: the centre of mass over the ground and the feet that carry it, to draw."""

from typing import Any, NamedTuple

import numpy as np

from kinema.metrics.balance import distance_inside
from kinema.model.rig import Rig
from kinema.solvers.body import masses


class Balance(NamedTuple):
    """The balance of a body. Lengths in its own unit."""

    centre: Any
    """(3,): the centre of mass, at the height of the feet that carry it."""
    margin: float
    """How far it is inside the support, seen from above; below 0 it is outside."""
    support: Any
    """(3 per leg, 3): corners of the support in order, counter-clockwise; the last one is repeated."""


class BalanceView:
    """Measures the balance of a character with legs."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig
        self._shares = masses.default_masses(rig.skeleton, rig)
        self._offsets = masses.mass_offsets(rig.skeleton)
        joints, offsets = zip(*(rig.sole_points(leg) for leg in rig.legs), strict=True)
        self._sole_joints, self._sole_offsets = np.array(joints), np.array(offsets)

    def of(self, world: Any, standing: Any) -> Balance:
        """Measure it. world: (J, 4, 4). standing: (L,), which legs carry the body; none: all of them."""
        centre = (
            np.einsum("jrc,jc,j->r", world[:, :3, :3], self._offsets, self._shares) + self._shares @ world[:, :3, 3]
        )
        soles = world[self._sole_joints]
        points = np.einsum("lprc,lpc->lpr", soles[..., :3, :3], self._sole_offsets) + soles[..., :3, 3]
        carries = standing if np.any(standing) else np.ones(len(points), bool)
        corners = points[carries].reshape(-1, 3)
        flat = corners[:, (0, 2)]
        margin = distance_inside(flat, np.ones(len(flat), bool), centre[[0, 2]])
        hull = corners[hull_order(flat)]
        support = np.concatenate((hull, np.repeat(hull[-1:], points[..., 0].size - len(hull), axis=0)))
        return Balance(np.array((centre[0], corners[:, 1].mean(), centre[2])), float(margin), support)


def hull_order(points: Any) -> list[int]:
    """Return the corners of the convex hull of points (P, 2) in order. At least one."""
    order = sorted(range(len(points)), key=lambda i: (points[i][0], points[i][1]))

    def half(indices: list[int]) -> list[int]:
        chain: list[int] = []
        for i in indices:
            while len(chain) > 1 and _turn(points[chain[-2]], points[chain[-1]], points[i]) <= 0:
                chain.pop()
            chain.append(i)
        return chain[:-1]

    return half(order) + half(order[::-1]) or order[:1]


def _turn(a: Any, b: Any, c: Any) -> float:
    """Return twice the area of a triangle: above 0 if it goes counter-clockwise."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
