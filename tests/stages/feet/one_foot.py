"""One foot with its records, for tests of kernels. Its leg is one metre long: metres are leg lengths. Ahead is +z."""

from types import SimpleNamespace

import numpy as np

from kinema.math.rows import load3
from kinema.motion.soles import BALL, HEEL, TIP
from kinema.stages.feet.clip_foot import ClipFoot
from kinema.stages.feet.foot_contact import FootStance
from kinema.stages.feet.foot_placement import Underfoot
from kinema.stages.feet.foot_rays import HEEL_AT_LANDING, RAYS
from kinema.stages.feet.foot_records import BODY, FOOT, NO_OVERRIDE
from kinema.stages.legs.ground_contact import HIT, SWINGING, Floor, SupportPlane
from kinema.stages.legs.pelvis import FOOT_TARGET
from kinema.stages.legs.sole import NO_TOES, SOLE, SolePoints

UP = (0.0, 1.0, 0.0)
ORIGIN = (0.0, 0.0, 0.0)
FLOOR = Floor(ORIGIN, UP)
LEVEL = SupportPlane(ORIGIN, UP)
STAND = {"heel": (0.0, 0.0, -0.2), "ball": ORIGIN, "tip": (0.0, 0.0, 0.1)}
"""A foot that stands flat with its ball at the origin."""

SWINGS = FootStance(False, False, False, 0.0)
HELD = FootStance(True, True, False, 0.0)
LANDED = FootStance(True, False, False, 0.0)


def lands_in(seconds):
    return FootStance(False, False, True, seconds)


def a_sole(spacing=0.05):
    """A foot of 0.3 m whose heel, ball and tip hang on joint 0."""
    sole = SOLE.zeros(1, np.float64)[0]
    sole.length, sole.heel, sole.tip, sole.spacing, sole.toes_parent = 1.0, 0.2, 0.1, spacing, NO_TOES
    sole.points[[HEEL, BALL, TIP]] = STAND["heel"], STAND["ball"], STAND["tip"]
    return sole


def a_foot(contact=SWINGING):
    """A foot on level ground that goes by its clip, pointing ahead."""
    foot = FOOT.zeros(1, np.float64)[0]
    foot.contact, foot.override, foot.in_clip.contact = contact, NO_OVERRIDE, NO_OVERRIDE
    foot.plane.normal[:] = foot.plane.ground_normal[:] = foot.tilt[:] = UP
    foot.heading[:] = foot.landing.heading[:] = (0.0, 0.0, 1.0)
    foot.in_clip.rotation[3] = 1.0
    foot.swing.seconds = 0.4
    foot.sole[[HEEL, BALL, TIP]] = foot.in_clip.sole[[HEEL, BALL, TIP]] = STAND["heel"], STAND["ball"], STAND["tip"]
    return foot


def a_body():
    """A body that looks ahead and for footholds, and casts in every frame."""
    body = BODY.zeros(1, np.float64)[0]
    body.footholds = body.look_ahead = True
    body.every = 1
    return body


def a_target():
    return FOOT_TARGET.zeros(1, np.float64)[0]


def settings(**changes):
    """The usual settings of `Feet`."""
    usual = {"plant_height": 0.018, "plant_speed": 0.5, "tilt_half_life": 0.03, "release_half_life": 0.06, "lock": True}
    contact = SimpleNamespace(up=UP, floor=0.0, rise=1.0, cos_slope=np.cos(0.75))
    return SimpleNamespace(contact=contact, **(usual | changes))


def in_clip(heights=(0.0, 0.0, 0.0), speeds=(0.0, 0.0, 0.0), yaw=0.0):
    """What the clip does with a foot that stands at the origin. heights, speeds: of heel, ball and tip."""
    points = [np.add(at, (0.0, y, 0.0)) for at, y in zip(STAND.values(), heights, strict=True)]
    ankle = ((1.0, 0.0, 0.0), UP, (0.0, 0.0, 1.0), (0.0, 0.1, -0.15))
    identity = (0.0, 0.0, 0.0, 1.0)
    sole = SolePoints(*map(load3, points))
    return ClipFoot(
        sole, ankle, identity, heights[1], min(heights), BALL, max(speeds), yaw, SolePoints(*map(float, speeds))
    )


def hits(count=RAYS):
    """Level ground under every ray, at the origin; where the foot lands, along the profile."""
    found = HIT.zeros(count, np.float64)
    found.found, found.normal = True, UP
    found.point[:4, 2] = -0.2, -0.1, 0.0, 0.1
    found.point[12:, 2] = -0.2 + 0.05 * (np.arange(12, count) - HEEL_AT_LANDING)
    return found


def under(found=None, plane=LEVEL):
    return Underfoot(hits() if found is None else found, plane, FLOOR)
