"""The records of `Feet`: its settings, the state of a character and of each of its feet.

Vectors are in world space, lengths in metres, angles in radians, unless a field says otherwise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.compile.records import REAL, Record
from kinema.stages.legs.ground_contact import CONTACT_SETTINGS
from kinema.stages.legs.pelvis import PELVIS, PELVIS_SETTINGS

NO_OVERRIDE, LEAVES = -1, 2
"""The contact override of a foot that goes by its clip; and the contact in a clip of a foot that is about to lift off,
and touches with its tip alone."""

FEET_SETTINGS = Record(
    contact=CONTACT_SETTINGS,
    pelvis=PELVIS_SETTINGS,
    tilt_half_life=REAL,  # seconds
    release_half_life=REAL,  # seconds
    plant_height=REAL,  # leg lengths
    plant_speed=REAL,  # leg lengths a second
    leg_speed=REAL,  # radians a second
    lock=bool,
)
"""Settings of `Feet` as kernels take them."""

IN_CLIP = Record(
    contact=np.int8,  # 1 planted, 0 not, or LEAVES in the clip that plays, see `clip_landings`; NO_OVERRIDE: not known
    table_low=REAL,  # of the lowest point above the floor in that clip
    low=REAL,  # of the lowest point above the character's floor in this frame: stages may have changed the pose since
    sole=(REAL, (3, 3)),  # heel, ball and tip in the last frame, with their heights above the floor
    rotation=(REAL, 4),  # of the ankle in the last frame
    paused=bool,  # whether the clip stands still: a foot in the air then stays where it is
)
"""What the clip does with a foot."""

TOES = Record(
    bend=REAL,  # angle by which they are bent to be straight
    moving=bool,  # whether they are on their way there
)

ON_FLOOR = Record(
    point=(REAL, 3),  # of the ball, on the character's floor
    velocity=(REAL, 3),  # of that, metres a second
)

MOTION = Record(
    value=REAL,
    speed=REAL,  # a second
    acceleration=REAL,  # a second squared
)

LIFT = Record(
    value=REAL,
    speed=REAL,  # a second
)

OFFSET = Record(
    value=(REAL, 3),
    speed=(REAL, 3),  # metres a second
    acceleration=(REAL, 3),  # metres a second squared
)

FOOT_PLANE = Record(
    point=(REAL, 3),
    normal=(REAL, 3),  # up where the foot goes from one level to another: that is no slope
    ground_normal=(REAL, 3),  # of the ground there
)
"""The plane that a foot stands on, or is going to land on."""

SWING = Record(
    since=REAL,  # seconds since it left the ground
    seconds=REAL,  # that its swing takes, or that its last one took
    takeoff=(REAL, 3),  # where its ball stood
    delay=REAL,  # share of the swing that it waits before it goes forward; negative: hurries
)

LANDING_GOAL = Record(
    point=(REAL, 3),  # where the clip puts the ball next
    heading=(REAL, 3),  # from heel to tip there, across up, unit
    learnt=(REAL, 3),  # where it landed last, from the hips, in the character's own space
    given=bool,  # time and place were set from outside
    heading_given=bool,
    fixed=bool,  # it lands exactly there: no foothold nearby is better
    predicted=bool,  # known from the clip that plays
)

FOOTHOLD = Record(
    chosen=bool,  # in this swing
    steps=np.int64,  # of the profile that it is ahead of the clip's landing
)

FOOT_RAYS = Record(
    path=(REAL, 3),  # way of the ball that they look along
    due=bool,  # whether they are cast in this frame
    ahead=bool,  # whether there were some along its way when they were cast last; if not, those hits are older
    at_landing=bool,  # whether there were some where it is going to land
    frames_left=np.int64,  # until they are cast again
)

FOOT = Record(
    fresh=bool,  # nothing from the last frame counts
    contact=np.int8,  # SWINGING, PLANTED or RELEASED
    override=np.int8,  # 1 planted, 0 not, as set from outside; NO_OVERRIDE: by the clip
    clearance=REAL,  # that it is raised while it swings, as set from outside
    in_clip=IN_CLIP,
    toes=TOES,
    sole=(REAL, (3, 3)),  # heel, ball and tip as placed in the last frame, before the lift
    ankle=(REAL, 3),  # where it was asked to be
    heading=(REAL, 3),  # from heel to tip, across up, unit
    on_floor=ON_FLOOR,
    offset=OFFSET,  # from the clip, across up, so that it does not slide or lands on its foothold
    yaw=REAL,  # from the clip, about up, so that it does not swivel
    plane=FOOT_PLANE,
    tilt=(REAL, 3),  # the normal that it tilts with, unit
    height=REAL,  # of the ground under the ball above the character's floor
    rise=MOTION,  # above its plane, beyond what the clip lifts it, while it goes from one plane to another
    lift=LIFT,  # of a planted foot, along the plane's normal, so that it touches
    swing=SWING,
    landing=LANDING_GOAL,
    foothold=FOOTHOLD,
    rays=FOOT_RAYS,
    in_place=bool,  # it stands, and its leg has come to where it is to be
)
"""The state of one foot."""

BODY = Record(
    pelvis=PELVIS,
    hips=(REAL, 3),  # where they were in the last frame
    travel=(REAL, 3),  # velocity across up, metres a second, averaged over steps
    drift=(REAL, 3),  # how the hips move otherwise than in the clip that plays, metres a second
    drifts=bool,  # whether that is known
    matches=bool,  # whether it is little
    follow_speed=REAL,  # of the character's transform along up, metres a second
    footholds=bool,  # of its `FeetLevel`
    look_ahead=bool,  # of its `FeetLevel`
    every=np.int64,  # of its `FeetLevel`
    down=(REAL, 3),  # where its rays go
    rays=np.int64,  # how many it has in this frame
    first_ray=np.int64,  # the first of them among those of all characters, or NOT_CAST
)
"""The state of one character."""


class FeetRecords(NamedTuple):
    """The records of `Feet`: N characters, L legs, R rays."""

    settings: Any
    """(1,) FEET_SETTINGS."""
    soles: Any
    """(L,) SOLE."""
    legs: Any
    """(L,) LEG."""
    bodies: Any
    """(N,) BODY."""
    feet: Any
    """(N, L) FOOT."""
    targets: Any
    """(N, L) FOOT_TARGET."""
    rays: Any
    """(N, R, 3): origins of rays, without gaps: under the hips, then of each leg those that it casts in this frame."""
    eases: Any
    """(N, P) LEG_EASE: of the joints on the paths of all legs."""
    hits: Any
    """(N, R) HIT: RAYS for each leg, and last the one under the hips."""
