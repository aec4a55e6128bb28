"""A rig with two legs and an arm, whose every measure is known, and a sloping ground for it."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.model.rig import Arm, Leg, Rig
from kinema.model.skeleton import Skeleton

# Hips at 1 m; each leg 0.2 to the side, knees at 0.5 and 5 cm ahead, ankles at 0.1, toe joints at 0.03 and 0.15 ahead.
JOINTS = {
    "hips": (None, (0, 1, 0)),
    "thigh_l": ("hips", (0.2, 1, 0)),
    "shin_l": ("thigh_l", (0.2, 0.5, 0.05)),
    "ankle_l": ("shin_l", (0.2, 0.1, 0)),
    "toe_l": ("ankle_l", (0.2, 0.03, 0.15)),
    "thigh_r": ("hips", (-0.2, 1, 0)),
    "shin_r": ("thigh_r", (-0.2, 0.5, 0.05)),
    "ankle_r": ("shin_r", (-0.2, 0.1, 0)),
    "toe_r": ("ankle_r", (-0.2, 0.03, 0.15)),
    "arm": ("hips", (0.2, 1.4, 0)),
    "forearm": ("arm", (0.5, 1.4, 0)),
    "hand": ("forearm", (0.8, 1.4, 0)),
}
HIPS, THIGH, SHIN, ANKLE, TOE = range(5)
HAND = 11


def make_rig(own_axes=False, toes=True, **settings):
    """Make the rig above. own_axes: give every joint axes of its own at rest."""
    names = list(JOINTS)
    parents = [-1 if parent is None else names.index(parent) for parent, _ in JOINTS.values()]
    at = np.array([position for _, position in JOINTS.values()], float)
    rng = np.random.default_rng(5)
    facing = arrays.unit(rng.normal(size=(len(names), 4))) if own_axes else np.tile((0.0, 0, 0, 1), (len(names), 1))
    above = np.array([facing[p] if p >= 0 else (0, 0, 0, 1) for p in parents])
    offsets = np.array([at[j] - (at[p] if p >= 0 else 0) for j, p in enumerate(parents)])
    rest = Pose(arrays.rotate(arrays.conj(above), offsets), arrays.mul(arrays.conj(above), facing))
    skeleton = Skeleton(names, parents, rest)
    legs = [
        Leg(name=side, joints=(f"thigh_{s}", f"shin_{s}", f"ankle_{s}"), toe=f"toe_{s}" if toes else None, **settings)
        for side, s in (("left", "l"), ("right", "r"))
    ]
    return Rig(skeleton=skeleton, hips="hips", legs=legs, arms=[Arm(name="left", joints=("arm", "forearm", "hand"))])


class Hits(NamedTuple):
    hit: np.ndarray
    point: np.ndarray
    normal: np.ndarray
    distance: np.ndarray


@dataclass
class Slope:
    """A plane through a point, going up along +Z by an angle; holes where x is beyond `edge`. Casts go down only."""

    angle: float = 0.0
    height: float = 0.0
    edge: float = np.inf

    def cast(self, origins, directions, max_distance):
        assert origins.shape == directions.shape
        assert (directions == (0, -1, 0)).all()
        level = self.height + np.tan(self.angle) * origins[:, 2]
        distance = origins[:, 1] - level
        hit = (distance >= 0) & (distance <= max_distance) & (origins[:, 0] < self.edge)
        point = np.where(hit[:, np.newaxis], np.stack((origins[:, 0], level, origins[:, 2]), -1), np.nan)
        normal = np.where(hit[:, np.newaxis], (0, np.cos(self.angle), -np.sin(self.angle)), np.nan)
        return Hits(hit, point, normal, np.where(hit, distance, np.inf))
