"""What the kernels of `Walker2D` work on. Everything is float64, in the game's own length unit, y up."""

from typing import Any, NamedTuple

import numpy as np

from kinema.compile.records import Record

REAL = np.float64

SHAPE = Record(
    thigh=REAL,  # length of the upper bone of a leg
    shin=REAL,  # length of the lower bone
    ankle=REAL,  # height of the ankle above the sole
    foot=REAL,  # half the length of a foot
    torso=REAL,  # length from the hips to the head
    knee=REAL,  # 1: knees bend forwards, -1: backwards, as those of birds
    pace=REAL,  # 1/s: how quick its steps are; 1 for a person whose legs are 0.9 m long
)
"""How a walker is built. All walkers of a batch are built alike."""

LIMB = Record(
    along=REAL,  # where the hip of the leg is, ahead of the middle of the body
    rest=REAL,  # where its foot stands at rest, ahead of its hip
    phase=REAL,  # strides by which it is ahead of the first leg
)
"""One leg in the build of a walker."""

LEG = Record(
    foot=(REAL, 2),  # the middle of its sole
    start=(REAL, 2),  # where its swing began
    goal=REAL,  # x of where it will land
    lands=REAL,  # y of where it stands or will land
    shift=REAL,  # how far its foothold is from where it would be on a plain
    share=REAL,  # how much of the swing is done, 0 to 1
    left=REAL,  # seconds until it lands
    arch=REAL,  # height of the swing above the line from start to goal
    pitch=REAL,  # angle of the sole, radians, counter-clockwise
    planted=np.bool_,  # whether it stands
)
"""A leg while it walks."""

BODY = Record(
    x=REAL,  # where the game has it
    hip=REAL,  # y of its hips
    climb=REAL,  # speed of its hips upwards
    ground=REAL,  # y of the ground that its planted feet agree on
    speed=REAL,  # along x, averaged
    facing=REAL,  # 1 to the right, -1 to the left
    phase=REAL,  # of the stride, 0 to 1
    duty=REAL,  # share of a stride in which a foot stands
    reach=REAL,  # how far ahead of its hip a foot lands
    lean=REAL,  # angle of the torso from upright towards +x, radians
    head=REAL,  # angle of the head above the horizon in the facing direction, radians
    moves=np.bool_,  # whether it walks
    airborne=np.bool_,  # whether it is in the air
    fresh=np.bool_,  # whether it is to be set up anew where it is
)
"""A walker's body."""

POSE = Record(
    hip=(REAL, 2), knee=(REAL, 2), ankle=(REAL, 2), sole=(REAL, 2), pitch=REAL, planted=np.bool_, reached=np.bool_
)
"""A leg as it is drawn."""


class Walkers(NamedTuple):
    """N walkers with L legs each."""

    shape: Any
    """(1,) SHAPE."""
    limbs: Any
    """(L,) LIMB."""
    bodies: Any
    """(N,) BODY."""
    legs: Any
    """(N, L) LEG."""
