"""The records of `Locomotion`: its settings, its legs, the state of a walker and of each of its feet.

The position of a foot is that of its ball. Heights are metres along the character's up.
"""

from __future__ import annotations

import math

import numpy as np

from kinema.compile.jit import kernel, like, routine
from kinema.compile.records import REAL, Record
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4
from kinema.stages.legs.ground_contact import CONTACT_SETTINGS, FOOT_SAMPLES, PLANTED, RELEASED, SWINGING, aim_down
from kinema.stages.legs.pelvis import FOOT_TARGET, LEG, PELVIS, PELVIS_SETTINGS
from kinema.stages.walk.leg_shapes import LEG_SHAPES

HANGING = 3
"""Contact state of a foot without ground: it hangs from the body. The others are SWINGING, PLANTED and RELEASED."""

BY_VELOCITY, TO_A_POINT = 0, 1
"""What a walker follows: a velocity, or a point to walk to."""

STRAIN_REACH = 0.95
"""Share of the stretch beyond rest at which a leg is fully strained: the rest is for a body that still tilts after it
has stopped."""

LEAST_SPARE = 0.05
"""Leg lengths that every leg reaches beyond its rest. A leg that stands straight would otherwise hold its body back
for ever."""

LIMIT_STRIDES = 1.7
"""Strides from its home beyond which no planted foot is left behind: the body waits."""

DEEPEST_CROUCH, DEEPEST_SQUAT = 1.5, 2.5
"""Multiples of its crouch by which a body raised by a step may lower, so that its feet come within reach, and so that
planted feet stay there: they would be dragged over the ground otherwise."""

WALKER_SETTINGS = Record(
    contact=CONTACT_SETTINGS,
    pelvis=PELVIS_SETTINGS,
    forward=(REAL, 3),
    stride=REAL,
    settle=REAL,
    lift=REAL,
    search=REAL,
    swing_time=REAL,
    foot_speed=REAL,
    turn_speed=REAL,
    half_life=REAL,
)
"""The settings of `Locomotion` as kernels take them. forward: in the character's own space."""

WALKING_LEG = Record(
    bones=LEG,
    shapes=LEG_SHAPES,
    group=np.int64,
    partner=np.int64,
    level_share=REAL,
    home=(REAL, 3),
    hip=(REAL, 3),
    reach=REAL,
    rest_reach=REAL,
    rest_aside=REAL,
    rest_height=REAL,
    spare=REAL,
    crouch=REAL,
    climb_time=REAL,
    closest=REAL,
    nearest=REAL,
    outward=REAL,
    low=REAL,
    to_ankle=(REAL, 3),
    ankle_rotation=(REAL, 4),
    samples=(REAL, (FOOT_SAMPLES, 3)),
    margin=(REAL, 3),
    point=bool,
)
"""Constants of one leg. Vectors are in the character's own space, lengths in metres.

shapes: see `leg_shapes`. group: legs of a group swing together. partner: the leg beside it on the other side, -1 for
none. level_share: how much of a step up or down the body follows. home: position of the ball at rest. hip: start of the
leg. reach: at its largest stretch. rest_reach: from hip to ankle at rest. rest_aside, rest_height: the same across and
along up. spare: how much farther aside the leg reaches on level ground. crouch: how far the body may lower for this
leg. climb_time: seconds of a swing per metre that the foot rises in it. closest: from hip to ankle, where it lands.
nearest: the same while it swings. outward: how far to the left of the body its foot stands. low: see `FOOT_TARGET`,
while it swings. to_ankle: from the ball to the ankle at rest. ankle_rotation: of the ankle at rest. samples: from the
ball to heel, middle, ball and tip. margin: what its heel and its toes keep from the edge of a step, along the foot; a
point, on every side. point: whether the foot is a mere point.
"""

WALKER = Record(
    pelvis=PELVIS,
    mode=np.int8,
    asked_velocity=(REAL, 3),
    asked_turn=REAL,
    goal=(REAL, 3),
    pace=REAL,
    commanded=(REAL, 3),
    commanded_turn=REAL,
    allowed=REAL,
    velocity=(REAL, 3),
    turn=REAL,
    progress=REAL,
    advance=REAL,
    transform=(REAL, 12),
    group=np.int64,
    since=REAL,
    retries=bool,
    beat=REAL,
    swing_time=REAL,
    top=REAL,
    trial=REAL,
    moved=REAL,
    waited=REAL,
    dip=REAL,
    level=REAL,
    level_speed=REAL,
    rise=(REAL, 3),
    lean=(REAL, 4),
)
"""The state of one walker.

mode: BY_VELOCITY or TO_A_POINT. asked_velocity, asked_turn: metres a second in the character's own space, and radians a
second. goal, pace: the point to walk to, world space, and how fast, metres a second. commanded, commanded_turn: what
swinging feet can follow of that. top: the speed that the walker learnt to keep on this ground, metres a second;
infinite until it has to wait. trial: share by which it is going to raise that. moved, waited: seconds since about the
last lift-off that it moved at its velocity, and that it waited for its legs. allowed: the share of what is asked for
that is left. velocity, turn: what the body does now, eased. progress: share of it that the legs allow. advance: the
same on average until the feet in the air have landed. transform: at the end of the last frame. group: the one that
swings, or did last. since: seconds since that group left the ground. retries: whether feet that found no foothold try
again in this frame, once per beat. beat: seconds from one group's lift-off to the next one's. swing_time: seconds that
a swing on level ground takes. dip: metres by which the body walks lower than it stands. level, level_speed: height of
the ground under the hips above the character's floor, and how fast the transform follows it. rise: how the ground under
the feet rises, metres per metre, as a vector across up, eased. lean: rotation of the body, world space.
"""

STEP = Record(
    target=FOOT_TARGET,
    velocity=(REAL, 3),
    pull=REAL,
    rotation=(REAL, 4),
    home=(REAL, 3),
    carried=(REAL, 3),
    drift=(REAL, 3),
    wanted=(REAL, 3),
    side=(REAL, 3),
    bound=REAL,
    beside=REAL,
    foothold=(REAL, 3),
    foothold_rotation=(REAL, 4),
    shift=(REAL, 3),
    failed=bool,
    tried=(REAL, 3),
    apex=REAL,
    rises=REAL,
    depart=REAL,
    arrive=REAL,
    lift_off=REAL,
    ground=REAL,
    left=REAL,
    duration=REAL,
    again=bool,
    replanned=bool,
    plans=bool,
    first_ray=np.int64,
    hip=(REAL, 3),
    hip_speed=(REAL, 3),
    way=(REAL, 3),
)
"""The state of one foot. Vectors are in world space.

target: contact state, ball, and what the leg is asked for. velocity, pull: of a swinging foot, and its vertical
acceleration. rotation: from the character's own space to how the foot stands. home: where the foot belongs now; drift:
how fast that moves; carried: how fast the caller moves it. wanted: where a foot that leaves now should come down. side,
bound: the unit vector to its side of the body, and how far along it the foot has to land to stay on its side of the
foot beside it. beside: the height at which that one stands. foothold, foothold_rotation: where it comes down. shift:
from wanted to foothold, across up. failed, tried: whether no foothold was found, and where it was looked for. apex:
height over which a swinging foot passes. rises: share of a swing in which it rises. depart: share of a swing before
which it only rises. arrive: share that is left when it only comes down. lift_off: height from which it left. ground:
height of the ground there. left, duration: seconds of its swing, what is left and all of it. again, replanned: whether
it looks for another foothold on its way, and whether it did. plans: whether its swing is to be planned. first_ray: the
first of its rays in this frame, -1 for none. hip: where the leg starts, as the body was last, in the character's own
space; hip_speed: how that moves, metres a second. way: from there to the ankle in the last frame, in the space of the
body.
"""


@kernel
def rotation_of(m):
    """The rotation of a character's transform."""
    frame = xform.axes(m)
    return quat.from_columns(vec.scale(frame[0], xform.handedness(frame)), frame[1], frame[2])


@kernel
def ankle_of(leg, foot):
    """The position of a foot's ankle."""
    return vec.add(load3(foot.target.ball), quat.rotate(load4(foot.rotation), load3(leg.to_ankle)))


@kernel
def landing_ankle(leg, foot):
    """Where the ankle of a swinging foot comes to be when it lands."""
    return vec.add(load3(foot.foothold), quat.rotate(load4(foot.foothold_rotation), load3(leg.to_ankle)))


@kernel
def aim_at_ground(settings, walker, ray, point, floor):
    """Aim a ray down through a point, from above the slope that a walker stands on.

    Ground ahead of a long body on steep stairs is higher above its floor than it looks for ground.
    """
    slope = vec.dot(load3(walker.rise), vec.sub(point, floor.point))
    aim_down(ray, point, floor, settings.contact.rise + slope)


@kernel
def home_of(leg, m):
    """The home of a foot in world space. m: the character's transform."""
    return xform.apply(m, load3(leg.home))


@kernel
def reach_for(leg, share):
    """The length of a leg, metres, that uses a share of its stretch beyond rest."""
    return leg.rest_reach + (leg.reach - leg.rest_reach) * share


@routine
def strain(settings, leg, walker, foot, m, up, rise):
    """The strain of a planted leg: 1 at its limit.

    m: the character's transform. rise: metres by which the body is going to be higher than it is now.
    """
    length = leg.bones.length
    zero = like(length, 0.0)
    off = vec.length(vec.reject(vec.sub(load3(foot.target.ball), home_of(leg, m)), up))
    way = vec.sub(xform.apply(m, load3(foot.hip)), load3(foot.target.ankle))
    # Horizontal reach with the body lowered by its full crouch, beyond that at rest.
    low = vec.dot(way, up) - walker.pelvis.height + walker.level - leg.crouch + rise
    reach = reach_for(leg, like(length, STRAIN_REACH))
    square = reach * reach - low * low
    spare = (math.sqrt(square) if square > zero else zero) - leg.rest_aside
    spare = max(spare, length * like(length, LEAST_SPARE))
    aside = (vec.length(vec.reject(way, up)) - leg.rest_aside) / spare
    return max(off / (length * settings.stride * like(length, LIMIT_STRIDES)), aside)


@kernel
def moved_transform(m, velocity, turn, own_up, dt):
    """A character's transform after dt seconds. velocity: in its own space. turn: about up, radians per second."""
    one = like(dt, 1.0)
    step = (vec.scale(velocity, dt), quat.from_axis_angle(own_up, turn * dt), (one, one, one))
    return xform.mul(m, xform.matrix(step))


@kernel
def lower(leg):
    """How much lower than its crouch a body comes for a foot, metres, before it waits for it."""
    return leg.crouch * like(leg.crouch, DEEPEST_CROUCH - 1.0)


@routine
def landing_share(settings, legs, walker, feet, m, up):
    """The share of its velocity at which the planted legs of a walker still reach once its swinging feet have landed.

    A body that keeps its speed over a long swing, as on stairs, would have to stop dead at the end of it.
    """
    zero, share = like(settings.stride, 0.0), like(settings.stride, 1.0)
    seconds = rise = zero
    for n in range(legs.size):
        if feet[n].target.contact == SWINGING:
            seconds = max(seconds, feet[n].left)
            climbs = vec.dot(load3(feet[n].foothold), up) - feet[n].ground
            rise += climbs * feet[n].target.swing / like(zero, legs.size)
    if seconds <= zero:
        return share
    then = moved_transform(m, load3(walker.velocity), walker.turn, load3(settings.contact.up), seconds)
    for n in range(legs.size):
        # A foot out of reach waits for its step, too.
        if (feet[n].target.contact == PLANTED) | (feet[n].target.contact == RELEASED):
            now = strain(settings, legs[n], walker, feet[n], m, up, rise - lower(legs[n]))
            later = strain(settings, legs[n], walker, feet[n], then, up, rise - lower(legs[n]))
            if (later > like(share, 1.0)) & (later > now):
                share = min(share, max(like(share, 1.0) - now, zero) / (later - now))
    return share
