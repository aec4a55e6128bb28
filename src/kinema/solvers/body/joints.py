"""Joints of the full-body step: forward kinematics, mobility inside limits, and applying a step."""

from __future__ import annotations

import math

from kinema.compile.jit import kernel, routine
from kinema.math import quat, vec, xform
from kinema.math.rows import load3, load4, load_matrix, load_origin, store3, store4, store_matrix
from kinema.model import limits
from kinema.solvers.branch import out_of_parent

LARGEST_ROTATION = 0.8
"""Largest rotation of a joint in one step, radians: beyond it the linear model is worth nothing."""

STRAIGHT = 1e-7
"""Bend below which an elbow or a knee counts as straight, radians."""

EDGE_SLACK = 16.0
"""How near to the edge of its limit a joint counts as at it, in roundings of a rotation."""


@kernel
def own_axes(matrix, scale):
    """The world axes about which a joint's own rotations rotate; below a mirror they go the other way round."""
    frame = xform.axes(xform.unmirrored(matrix, scale))
    side = xform.handedness(frame)
    return vec.scale(frame[0], side), vec.scale(frame[1], side), vec.scale(frame[2], side)


@kernel
def from_centre(point, settings):
    """A point in body sizes from the centre."""
    return vec.scale(vec.sub(point, load3(settings.centre)), 1.0 / settings.body_size)


@kernel
def above(problem, n):
    """The matrix of the space that a joint's local transform is in."""
    parent = problem.joints[n].parent
    if parent >= 0:
        return load_matrix(problem.states[parent].world)
    return load_matrix(problem.settings[0].root_space)


@routine
def forward(problem):
    """World matrices, origins and axes of all joints."""
    for n in range(problem.joints.size):
        state = problem.states[n]
        local = xform.matrix((load3(state.translation), load4(state.rotation), load3(state.scale)))
        world = xform.mul(above(problem, n), local)
        store_matrix(state.world, world)
        store3(state.origin, from_centre(world[3], problem.settings[0]))
        x, y, z = own_axes(world, load3(state.scale))
        store3(state.x, x)
        store3(state.y, y)
        store3(state.z, z)
        if problem.joints[n].rail:
            along = load3(problem.joints[n].rail_axis)
            store3(state.rail, vec.unit_or(xform.linear(above(problem, n), along), along))


@kernel
def recentre(problem):
    """Bring the origins of all joints up to date after the centre has moved."""
    for n in range(problem.joints.size):
        state = problem.states[n]
        store3(state.origin, from_centre(load_origin(state.world), problem.settings[0]))


@kernel
def to_world(state, v):
    """A rotation vector of a joint's own space in world space."""
    return xform.linear((load3(state.x), load3(state.y), load3(state.z)), v)


@kernel
def world_direction(state, v):
    """A direction of a joint's own space in world space: scaled and mirrored as the joint is."""
    moved = xform.linear(load_matrix(state.world), v)
    return vec.unit_or(moved, vec.unit_or(v, moved))


@kernel
def to_own(state, v):
    """A world rotation vector in a joint's own space."""
    return xform.into((load3(state.x), load3(state.y), load3(state.z)), v)


@routine
def find_edges(joint, state, rounding):
    """Which ends of its limit a joint is at, and the world axes about which it swings on and twists on."""
    state.at_swing, state.at_low, state.at_high = False, False, False
    if joint.rail:
        at = along_rail(joint, state)
        state.at_low, state.at_high = at <= joint.rail_low, at >= joint.rail_high
    elif joint.limit.kind != limits.NONE:
        find_limit_edges(joint, state, rounding)
    if joint.one_sided and not state.at_swing:
        find_side_edge(joint, state)
    state.no_swing = state.no_swing and state.at_swing
    state.no_twist = state.no_twist and (state.at_low or state.at_high)


@kernel
def along_rail(joint, state):
    """How far a slider has moved along its axis."""
    return vec.dot(vec.sub(load3(state.translation), load3(joint.rail_zero)), load3(joint.rail_axis))


@kernel
def set_along_rail(joint, state, length):
    """Move a slider to a length along its axis, inside its range."""
    inside = min(max(length, joint.rail_low), joint.rail_high)
    store3(state.translation, vec.add(load3(joint.rail_zero), vec.scale(load3(joint.rail_axis), inside)))


@kernel
def slide_mobility(joint, state):
    """How easily a joint moves in this step: not at all at an end of its rail that it is pushed against."""
    return 0.0 if joint.rail and state.no_twist else state.slide


@kernel
def along_own_rail(joint, state, v):
    """What of a movement a joint can make: all of it, or for a slider that along its axis."""
    if not joint.rail:
        return v
    rail = load3(state.rail)
    return vec.scale(rail, 0.0 if state.no_twist else vec.dot(rail, v))


@routine
def find_limit_edges(joint, state, rounding):
    """Find the edges that a joint with a limit is at."""
    limit = joint.limit
    slack = rounding * EDGE_SLACK
    away = quat.mul(quat.conj(load4(joint.rest)), load4(state.rotation))
    bone = load3(joint.bone)
    if limit.kind == limits.HINGE:
        axis = limits.hinge_axis(limit)
        store3(state.twist, to_world(state, axis))
        state.at_low, state.at_high = limits.at_ends(away, axis, limit, slack)
        return
    swing, twist, sine, cosine = limits.swing_of(away, bone)
    store3(state.swing, to_world(state, swing))
    store3(state.twist, to_world(state, twist))
    state.at_swing = sine * limit.cos_widest - cosine * limit.sin_widest >= -slack
    if limit.kind == limits.SWING_TWIST:
        state.at_low, state.at_high = limits.at_ends(away, bone, limit, slack)


@kernel
def bend_of(joint, q):
    """The sine of an elbow's or a knee's bend with a local rotation: 0 is straight, and below 0 it is bent back."""
    return vec.dot(quat.rotate(q, load3(joint.lower)), load3(joint.side))


@routine
def find_side_edge(joint, state):
    """Whether an elbow or a knee is straight. Its edge takes the place of a swing, or of a hinge's end."""
    q = load4(state.rotation)
    lower = quat.rotate(q, load3(joint.lower))
    if vec.dot(lower, load3(joint.side)) > state.least_bend + STRAIGHT:
        return
    away = vec.unit_or(vec.cross(load3(joint.side), lower), load3(joint.side))
    back = to_world(state, quat.rotate(quat.conj(q), away))
    if joint.limit.kind == limits.HINGE:
        ahead = vec.dot(load3(state.twist), back) > 0.0
        state.at_high, state.at_low = state.at_high or ahead, state.at_low or not ahead
    else:
        state.at_swing = True
        store3(state.swing, back)


@kernel
def unbend(joint, state, rounding):
    """Straighten an elbow or a knee that is bent back, the shortest way."""
    q = load4(state.rotation)
    lower, side = quat.rotate(q, load3(joint.lower)), load3(joint.side)
    bend = min(max(vec.dot(lower, side), -1.0), 1.0)
    if state.least_bend - bend > rounding:
        back = vec.unit_or(vec.cross(lower, side), vec.unit_side(side))
        angle = math.asin(max(state.least_bend, -1.0)) - math.asin(bend)
        store4(state.rotation, quat.unit(quat.mul(quat.from_axis_angle(back, angle), q)))


@kernel
def blocked(state, rotation):
    """Whether a world rotation vector would swing a joint on, and twist it on, past an edge that it is at."""
    twist = vec.dot(rotation, load3(state.twist))
    no_twist = (state.at_high and twist > 0.0) or (state.at_low and twist < 0.0)
    return state.at_swing and vec.dot(rotation, load3(state.swing)) > 0.0, no_twist


@kernel
def set_mobility(joint, state):
    """How a joint may rotate in this step: its mobility, less what its limit takes."""
    full = state.mobility
    if joint.limit.kind == limits.HINGE:
        state.free = 0.0
        state.swing_mobility = 0.0
        state.twist_mobility = 0.0 if state.no_twist else full
    else:
        state.free = full
        state.swing_mobility = -full if state.no_swing else 0.0
        state.twist_mobility = -full if state.no_twist else 0.0


@kernel
def mobile(state, moment):
    """S times a moment: how far a joint rotates under it."""
    swing, twist = load3(state.swing), load3(state.twist)
    v = vec.scale(moment, state.free)
    v = vec.add(v, vec.scale(swing, state.swing_mobility * vec.dot(swing, moment)))
    return vec.add(v, vec.scale(twist, state.twist_mobility * vec.dot(twist, moment)))


@kernel
def allowed(joint, state, v):
    """A rotation vector without what a hinge or an edge takes from it."""
    swing, twist = load3(state.swing), load3(state.twist)
    if joint.mobility <= 0.0:
        return (0.0, 0.0, 0.0)
    if joint.limit.kind == limits.HINGE:
        return vec.scale(twist, 0.0 if state.no_twist else vec.dot(twist, v))
    v = vec.select(state.no_swing, vec.sub(v, vec.scale(swing, vec.dot(swing, v))), v)
    return vec.select(state.no_twist, vec.sub(v, vec.scale(twist, vec.dot(twist, v))), v)


@routine
def move_joint(problem, n, rotation, slide):
    """Apply one step to a joint: a world rotation vector and a movement in body sizes. Its limit holds afterwards."""
    joint, state, settings = problem.joints[n], problem.states[n], problem.settings[0]
    if joint.slide > 0.0:
        own = xform.linear(xform.inverse(above(problem, n)), vec.scale(slide, settings.body_size))
        store3(state.translation, vec.add(load3(state.translation), own))
        if joint.rail:
            set_along_rail(joint, state, along_rail(joint, state))
    if joint.mobility > 0.0 and vec.dot(rotation, rotation) > 0.0:
        own = to_own(state, rotation)
        q = quat.mul(load4(state.rotation), quat.from_vector(own, LARGEST_ROTATION))
        store4(state.rotation, quat.unit(q))
        hold(joint, state, settings.rounding)


@kernel
def hold(joint, state, rounding):
    """Move a joint to its side and into its limit. Returns whether its limit had to move it."""
    if joint.one_sided:
        unbend(joint, state, rounding)
    return limits.hold_limit(state.rotation, joint.rest, joint.bone, joint.limit, rounding)


@kernel
def world_rotation(problem, n):
    """A joint's rotation in world space. Below a mirror its x axis is mirrored back."""
    return out_of_parent(above(problem, n), load4(problem.states[n].rotation))


@kernel
def point_of(state, offset, settings):
    """A point of a joint, given in its own space, in body sizes from the centre."""
    return from_centre(xform.apply(load_matrix(state.world), offset), settings)


@kernel
def some_rotation(bone, limit, u, v, w):
    """A rotation away from rest that a limit allows, by three numbers from 0 to 1."""
    if limit.kind == limits.HINGE:
        return quat.from_axis_angle(limits.hinge_axis(limit), limits.angle_inside(limit, u))
    widest = math.atan2(limit.sin_widest, limit.cos_widest) if limit.kind != limits.NONE else math.pi
    twist = limits.angle_inside(limit, u) if limit.kind == limits.SWING_TWIST else (u + u - 1.0) * math.pi
    around = quat.rotate(quat.from_axis_angle(bone, (v + v) * math.pi), vec.unit_side(bone))
    return quat.mul(quat.from_axis_angle(around, w * widest), quat.from_axis_angle(bone, twist))
