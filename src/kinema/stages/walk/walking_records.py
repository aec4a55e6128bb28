"""The records of `Locomotion`: its settings, its legs, the state of a walker and of each of its feet.

The position of a foot is that of its ball. Heights are metres along the character's up. Unless a field says otherwise,
lengths are in metres, angles in radians and times in seconds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.compile.records import REAL, Record
from kinema.stages.legs.ground_contact import CONTACT_SETTINGS, FOOT_SAMPLES
from kinema.stages.legs.pelvis import FOOT_TARGET, LEG, PELVIS, PELVIS_SETTINGS
from kinema.stages.walk.leg_shapes import LEG_SHAPES

HANGING = 3
"""Contact state of a foot without ground: it hangs from the body. The others are SWINGING, PLANTED and RELEASED."""

BY_VELOCITY, TO_A_POINT = 0, 1
"""What a walker follows: a velocity, or a point to walk to."""

WALKER_SETTINGS = Record(
    contact=CONTACT_SETTINGS,
    pelvis=PELVIS_SETTINGS,
    forward=(REAL, 3),  # in the character's own space
    stride=REAL,  # leg lengths
    settle=REAL,  # leg lengths
    lift=REAL,  # leg lengths
    search=REAL,  # leg lengths
    swing_time=REAL,
    foot_speed=REAL,  # leg lengths a second
    turn_speed=REAL,  # radians a second
    half_life=REAL,
)
"""The settings of `Locomotion` as kernels take them."""

WALKING_LEG = Record(
    bones=LEG,
    shapes=LEG_SHAPES,
    group=np.int64,  # legs of a group swing together
    partner=np.int64,  # the leg beside it on the other side, -1 for none
    level_share=REAL,  # how much of a step up or down the body follows
    home=(REAL, 3),  # the ball at rest
    hip=(REAL, 3),  # where the leg starts
    reach=REAL,  # from hip to ankle at its largest stretch
    rest_reach=REAL,  # from hip to ankle at rest
    rest_aside=REAL,  # that across up
    rest_height=REAL,  # that along up
    spare=REAL,  # how much farther aside the leg reaches on level ground
    crouch=REAL,  # how far the body may lower for this leg
    climb_time=REAL,  # seconds of a swing per metre that the foot rises in it
    closest=REAL,  # from hip to ankle, where the foot lands
    nearest=REAL,  # from hip to ankle, while the foot swings
    outward=REAL,  # how far to the left of the body its foot stands
    low=REAL,  # see `FOOT_TARGET`, while the foot swings
    to_ankle=(REAL, 3),  # from the ball at rest
    ankle_rotation=(REAL, 4),  # at rest
    samples=(REAL, (FOOT_SAMPLES, 3)),  # from the ball to heel, middle, ball and tip
    margin=(REAL, 3),  # that heel and toes keep from the edge of a step, along the foot; a point, on every side
    point=bool,  # whether the foot is a mere point
)
"""Constants of one leg. Vectors are in the character's own space."""

ASKED = Record(
    mode=np.int8,  # BY_VELOCITY or TO_A_POINT
    velocity=(REAL, 3),  # metres a second, in the character's own space
    turn=REAL,  # radians a second
    goal=(REAL, 3),  # the point to walk to, world space
    pace=REAL,  # metres a second on the way there
)
"""What a walker is asked to do."""

COMMANDED = Record(
    velocity=(REAL, 3),  # metres a second, in the character's own space
    turn=REAL,  # radians a second
)
"""What swinging feet can follow of what is asked."""

RHYTHM = Record(
    group=np.int64,  # of legs that swings, or did last
    since=REAL,  # that group left the ground
    beat=REAL,  # from one group's lift-off to the next one's
    retries=bool,  # whether feet that found no foothold try again in this frame, once per beat
    swing_time=REAL,  # that a swing on level ground takes
)

LEARNT_PACE = Record(
    top=REAL,  # metres a second that the walker keeps up on this ground; infinite until it has to wait
    trial=REAL,  # share by which it is going to raise that
    moved=REAL,  # seconds since about the last lift-off that it moved at its velocity
    waited=REAL,  # seconds since then that it waited for its legs
)

LEVEL = Record(
    height=REAL,  # of the ground under the hips above the character's floor
    speed=REAL,  # metres a second at which the transform follows it
)

WALKER = Record(
    pelvis=PELVIS,
    asked=ASKED,
    commanded=COMMANDED,
    allowed=REAL,  # share of what is asked for that is left
    velocity=(REAL, 3),  # of the body now, eased, metres a second, in the character's own space
    turn=REAL,  # of the body now, eased, radians a second
    progress=REAL,  # share of that that the legs allow
    advance=REAL,  # the same on average until the feet in the air have landed
    rhythm=RHYTHM,
    learnt=LEARNT_PACE,
    dip=REAL,  # by which the body walks lower than it stands
    level=LEVEL,
    slope=(REAL, 3),  # how the ground under the feet rises, metres per metre, as a vector across up, eased
    lean=(REAL, 4),  # rotation of the body, world space
    transform=(REAL, 12),  # of the character, at the end of the last frame
)
"""The state of one walker."""

FOOT_HOME = Record(
    point=(REAL, 3),  # where the foot belongs now
    drift=(REAL, 3),  # how fast that moves, metres a second
    carried=(REAL, 3),  # how fast the caller moves it, metres a second
)

FOOT_WISH = Record(
    point=(REAL, 3),  # where a foot that leaves now should come down
    side=(REAL, 3),  # to the foot's side of the body, unit
    bound=REAL,  # how far along that the foot has to land to stay on its side of the foot beside it
    beside=REAL,  # height at which that one stands
)

FOOT_HOLD = Record(
    ball=(REAL, 3),  # where it comes down
    rotation=(REAL, 4),  # from the character's own space
    shift=(REAL, 3),  # from where it should come down, across up
    failed=bool,  # none was found
    tried=(REAL, 3),  # where it was looked for then
)

FOOT_SWING = Record(
    duration=REAL,  # of all of it
    left=REAL,  # of that
    apex=REAL,  # height over which the foot passes
    rises=REAL,  # share of the swing in which it rises
    depart=REAL,  # share before which it only rises
    arrive=REAL,  # share that is left when it only comes down
    lift_off=REAL,  # height from which it left
    ground=REAL,  # height of the ground there
    plans=bool,  # it is to be planned
    again=bool,  # the foot looks for another foothold on its way
    replanned=bool,  # it did
)

FOOT_HIP = Record(
    point=(REAL, 3),  # where the leg starts, as the body was last, in the character's own space
    velocity=(REAL, 3),  # of that, metres a second
    to_ankle=(REAL, 3),  # the way from there to the ankle in the last frame, in the space of the body
)

WALKING_FOOT = Record(
    target=FOOT_TARGET,  # contact state, ball, and what the leg is asked for
    rotation=(REAL, 4),  # from the character's own space to how the foot stands
    velocity=(REAL, 3),  # of a swinging foot, metres a second
    pull=REAL,  # its vertical acceleration, metres a second squared
    home=FOOT_HOME,
    wanted=FOOT_WISH,
    foothold=FOOT_HOLD,
    swing=FOOT_SWING,
    hip=FOOT_HIP,
    first_ray=np.int64,  # of its rays in this frame, -1 for none
)
"""The state of one foot. Vectors are in world space, unless a field says otherwise."""


class WalkRecords(NamedTuple):
    """The records of `Locomotion`: N characters, L legs."""

    settings: Any
    """(1,) WALKER_SETTINGS."""
    legs: Any
    """(L,) WALKING_LEG."""
    walkers: Any
    """(N,) WALKER."""
    feet: Any
    """(N, L) WALKING_FOOT."""
