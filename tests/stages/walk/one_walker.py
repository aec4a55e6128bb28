"""A walker with records of its own, for tests of kernels. Its legs are one metre long; it faces +z, its left is +x."""

import math

import numpy as np

from kinema.stages.legs.ground_contact import PLANTED, Floor
from kinema.stages.walk.leg_shapes import fill_shapes
from kinema.stages.walk.walking_records import WALKER, WALKER_SETTINGS, WALKING_FOOT, WALKING_LEG

UP = (0.0, 1.0, 0.0)
ORIGIN = (0.0, 0.0, 0.0)
FLOOR = Floor(ORIGIN, UP)
HERE = ((1.0, 0.0, 0.0), UP, (0.0, 0.0, 1.0), ORIGIN)
"""The matrix of a character that stands at the origin."""


def settings(**changes):
    """The usual settings of `Locomotion`."""
    usual = {"stride": 0.35, "settle": 0.05, "lift": 0.12, "search": 0.2, "swing_time": 0.2, "foot_speed": 10.0}
    record = WALKER_SETTINGS.zeros(1, np.float64)[0]
    record.contact.up[:], record.forward[:] = UP, (0.0, 0.0, 1.0)
    record.contact.rise, record.contact.cos_slope = 1.0, math.cos(0.9)
    record.pelvis.half_life, record.pelvis.stretch, record.pelvis.cos_slope = 0.1, 0.98, math.cos(0.9)
    for name, value in (usual | {"turn_speed": 2.0, "half_life": 0.12} | changes).items():
        setattr(record, name, value)
    return record


def some_legs(count=2, point=False, **changes):
    """A left and a right leg, or one: hips 0.9 m high, ankles 0.1 m high below them, feet of 0.3 m."""
    legs = WALKING_LEG.zeros(count, np.float64)
    for n, leg in enumerate(legs):
        side = 0.1 if n == 0 else -0.1
        leg.bones.length, leg.group, leg.partner = 1.0, n, 1 - n if count > 1 else -1
        leg.home[:], leg.hip[:], leg.to_ankle[:] = (side, 0.0, 0.0), (side, 0.9, 0.0), (0.0, 0.1, 0.0)
        leg.reach, leg.rest_reach, leg.rest_height, leg.spare = 0.98, 0.8, 0.8, 0.3
        leg.crouch, leg.climb_time, leg.closest, leg.nearest = 0.16, 0.43, 0.3, 0.16
        leg.outward, leg.ankle_rotation[3], leg.point = side, 1.0, point
        leg.samples[:] = (0.0, 0.0, -0.2), (0.0, 0.0, -0.1), ORIGIN, (0.0, 0.0, 0.1)
        leg.margin[:] = 0.0, 0.0, 0.03
        fill_shapes(leg.shapes, np.array(((side, 0.9, 0.0), (side, 0.5, 0.1), (side, 0.1, 0.0))))
        for name, value in changes.items():
            setattr(leg, name, value)
    return legs


def a_walker(**changes):
    """A walker that stands at the origin, and has for a while."""
    walker = WALKER.zeros(1, np.float64)[0]
    walker.progress = walker.advance = walker.allowed = 1.0
    walker.rhythm.beat, walker.rhythm.swing_time, walker.rhythm.since = 0.4, 0.3, 0.1
    walker.learnt.top, walker.learnt.moved, walker.lean[3] = math.inf, 1.0, 1.0
    walker.pelvis.normal[:] = UP
    walker.transform[:] = np.eye(4)[:3].reshape(12)
    for name, value in changes.items():
        setattr(walker, name, value)
    return walker


def some_feet(legs, contact=PLANTED):
    """Feet that stand at home."""
    feet = WALKING_FOOT.zeros(len(legs), np.float64)
    for leg, foot in zip(legs, feet, strict=True):
        foot.target.contact = contact
        foot.target.ball[:] = foot.home.point[:] = foot.foothold.ball[:] = foot.foothold.tried[:] = leg.home
        foot.target.ankle[:] = leg.home + leg.to_ankle
        foot.rotation[3] = foot.foothold.rotation[3] = foot.target.rotation[3] = 1.0
        foot.hip.point[:], foot.hip.to_ankle[:] = leg.hip, leg.home + leg.to_ankle - leg.hip
        foot.swing.left = foot.swing.duration = 0.3
        foot.swing.rises, foot.swing.apex = 0.6, 0.12
    return feet
