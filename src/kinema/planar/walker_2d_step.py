"""One frame of `Walker2D`, in three steps with the ground asked in between:

1. `plan_steps`: how fast each body moves, which feet lift off, and where they could land.
2. `swing_feet`: choose footholds and move the feet that swing.
3. `stand_up`: keep feet above the ground, lower the hips until planted feet are reached, solve the legs.
"""

import math

from kinema.compile.jit import batch, kernel
from kinema.math import spring
from kinema.math.curves import minimum_jerk
from kinema.solvers.limb.two_bone_2d import solve

SHORTEST_STRIDE, STRIDE_PER_SPEED = 0.65, 0.58
"""Leg lengths of a stride at no speed, and more for each leg length a second: people walk at 1.55 leg lengths a second
with strides of 1.55 leg lengths, and run at 4.4 with 3.2."""

STANDS, STANDS_PER_SPEED, STANDS_LEAST, STANDS_MOST = 0.73, 0.084, 0.3, 0.75
"""Share of a stride in which a foot stands: at no speed, less for each leg length a second, its bounds. A walk has 0.6,
a run 0.36."""

SPEED_HALF_LIFE = 0.06
"""Seconds over which the speed is averaged: colliders of games move in jerks."""

WALKS_FROM, TURNS_FROM = 0.08, 0.15
"""Leg lengths a second from which a body walks, and from which it faces the way it moves."""

TELEPORT = 2.0
"""Leg lengths in one frame from which a body was set elsewhere."""

FARTHEST, TRAILS = 0.8, 1.1
"""Leg lengths that a planted foot may be from its hip along x before it must step; and how far it may be behind the
hip, in lengths of what a foot lands ahead of it: while a body speeds up, its feet leave the ground early."""

OFF_REST = 0.12
"""Leg lengths that a foot of a standing body may be from its place before it steps there."""

STEP_SECONDS, LANDING_SECONDS, SHORTEST_SWING = 0.3, 0.08, 0.05
"""Seconds of a step to rest, of what is left of a swing when a body lands, and of the shortest swing."""

CANDIDATES, SPACING = 9, 0.08
"""Footholds that are looked at for each step, and leg lengths between them."""

UNEVEN = 2.5
"""Leg lengths that a foothold may be farther away for each leg length that the ground bends under it."""

HIGHEST_STEP = 0.6
"""Leg lengths up or down from the ground of the body to a foothold, at most."""

SHIFT_HALF_LIFE, CHOSEN_AT = 0.03, 0.75
"""Seconds over which a foothold shifts to a better one, and share of the swing from which it stays."""

EARLY = 0.75
"""Power of the share of a swing: below 1 a foot is drawn forward early, since the hips do not wait for it."""

PATH = (0.2, 0.35, 0.5, 0.65, 0.8)
"""Shares of a swing at which its height above the ground is looked at."""

ASKED = 4 + len(PATH)
"""Heights that are asked for each foot: its middle, back and front, where it lands, and along its path."""

LIFT, CLEARANCE = 0.12, 0.04
"""Leg lengths that a foot is lifted on a plain, and above what lies in its way."""

ARCH_HALF_LIFE = 0.03
"""Seconds over which a swing rises to what lies in its way."""

STRETCH, STRETCH_MOST = 0.94, 0.995
"""Shares of a leg: its length as it stands at rest, and to which the hips let it stretch."""

FOLDED = 0.45
"""Share of a leg to which it folds, at least."""

HIP_HALF_LIFE, GROUND_HALF_LIFE = 0.07, 0.08
"""Seconds over which hips follow, and over which the ground of the body follows its feet."""

FORESEES = 0.2
"""Seconds before a foot lands from which the hips make ready for it."""

AIRBORNE = 0.15
"""Leg lengths above the ground from which a body is in the air."""

HANGING, HANG_HALF_LIFE = 0.86, 0.08
"""Share of a leg at which feet hang in the air, and seconds over which they get there."""

LEAN_PER_SPEED, MOST_LEAN, LEAN_HALF_LIFE = 0.05, 0.35, 0.15
"""Radians that a body leans for each leg length a second, at most, and seconds over which it does."""

TOES_DOWN, TOES_UP, PITCH_HALF_LIFE, STEEPEST = 0.5, 0.3, 0.03, 0.7
"""Radians of the sole as it leaves the ground and before it lands, seconds over which it rotates, and its steepest."""

MOST_NOD, HEAD_HALF_LIFE = 0.9, 0.1
"""Radians that a head looks up or down, at most, and seconds over which it follows."""


@kernel
def _leg_length(shape):
    return shape.thigh + shape.shin + shape.ankle


@kernel
def _measure_speed(body, shape, x, dt):
    """Average the speed of a body, and find the stride that goes with it."""
    leg = _leg_length(shape)
    if abs(x - body.x) > TELEPORT * leg:
        body.fresh = True
    if body.fresh:
        body.speed, body.phase = 0.0, 0.0
    elif dt > 0.0:
        body.speed = spring.damp(body.speed, (x - body.x) / dt, SPEED_HALF_LIFE, dt)
    body.x = x
    quick = abs(body.speed) / (leg * shape.pace)
    if quick > TURNS_FROM:
        body.facing = math.copysign(1.0, body.speed)
    stride = leg * (SHORTEST_STRIDE + STRIDE_PER_SPEED * quick)
    body.duty = min(max(STANDS - STANDS_PER_SPEED * quick, STANDS_LEAST), STANDS_MOST)
    body.reach = min(0.5 * body.duty * stride, FARTHEST * leg)
    strides = abs(body.speed) / stride
    if (quick > WALKS_FROM) and not body.moves:
        body.phase = 0.5 * body.duty  # The first foot is under the body, and the second one steps.
    body.moves = quick > WALKS_FROM
    if body.moves:
        body.phase = (body.phase + strides * dt) % 1.0
    return strides


@kernel
def _lifts_off(body, limb, foot, shape, phase, swinging):
    """Whether a planted foot begins to swing. swinging: feet of the body that swing already."""
    leg = _leg_length(shape)
    hip = body.x + body.facing * limb.along
    if abs(foot - hip) > FARTHEST * leg:
        return True
    if body.moves:
        return (phase >= body.duty) | ((hip - foot) * math.copysign(1.0, body.speed) > TRAILS * body.reach)
    return (swinging == 0) & (abs(foot - hip - body.facing * limb.rest) > OFF_REST * leg)


@kernel
def _plan_leg(body, leg, limb, shape, strides, swinging):
    """Let a foot lift off where it must. Returns x of where it lands on a plain."""
    phase = (body.phase + limb.phase) % 1.0
    if leg.planted and _lifts_off(body, limb, leg.foot[0], shape, phase, swinging):
        leg.planted, leg.share, leg.shift, leg.arch, leg.left = False, 0.0, 0.0, 0.0, STEP_SECONDS
        leg.start[0], leg.start[1] = leg.foot[0], leg.foot[1]
    hip = body.x + body.facing * limb.along
    if not body.moves:
        return hip + body.facing * limb.rest
    if phase >= body.duty:
        leg.left = max((1.0 - phase) / strides, SHORTEST_SWING * (1.0 - leg.share))
    return hip + body.speed * leg.left + math.copysign(body.reach, body.speed)


@batch
def plan_steps(start, stop, walkers, xs, dt, asked):
    """Move the bodies to xs, (N,), and list where their feet could land: asked (N, L, CANDIDATES), of x."""
    shape = walkers.shape[0]
    for n in range(start, stop):
        body, legs = walkers.bodies[n], walkers.legs[n]
        strides = _measure_speed(body, shape, xs[n], dt)
        swinging = 0
        for k in range(legs.size):
            if not legs[k].planted:
                swinging += 1
        for k in range(legs.size):
            was = legs[k].planted
            middle = _plan_leg(body, legs[k], walkers.limbs[k], shape, strides, swinging)
            if was and not legs[k].planted:
                swinging += 1
            spacing = SPACING * _leg_length(shape)
            for c in range(CANDIDATES):
                asked[n, k, c] = middle + spacing * (c - CANDIDATES // 2)


@kernel
def _choose_foothold(heights, ground, leg_length):
    """Index of the best candidate: near, even, and no higher or lower than a leg can step; -1 if there is none."""
    best, least = -1, math.inf
    for c in range(1, CANDIDATES - 1):
        h = heights[c]
        bend = abs(heights[c - 1] - h) + abs(heights[c + 1] - h) + abs(heights[c - 1] + heights[c + 1] - h - h)
        # NaN, where there is no ground, makes every comparison false.
        if (abs(h - ground) <= HIGHEST_STEP * leg_length) & (bend < math.inf):
            cost = abs(c - CANDIDATES // 2) * SPACING + UNEVEN * bend / leg_length
            if cost < least:
                best, least = c, cost
    return best


@kernel
def _swing(leg, dt):
    """Move a foot on in its swing along x."""
    if leg.left > dt and dt >= 0.0:
        leg.share = min(leg.share + (1.0 - leg.share) * dt / leg.left, 1.0)
        leg.left -= dt
    else:
        leg.share, leg.left = 1.0, 0.0
    ease = minimum_jerk(leg.share**EARLY)
    leg.foot[0] = leg.start[0] + (leg.goal - leg.start[0]) * ease


@kernel
def _hang(leg, limb, body, shape, moved, dt):
    """Let a foot in the air hang below its hip. moved: how far the hips have moved, x and y."""
    hip = body.x + body.facing * limb.along
    low = body.hip - HANGING * _leg_length(shape)
    leg.foot[0] = spring.damp(leg.foot[0] + moved[0], hip + body.facing * limb.rest, HANG_HALF_LIFE, dt)
    leg.foot[1] = spring.damp(leg.foot[1] + moved[1], low, HANG_HALF_LIFE, dt)
    leg.start[0], leg.start[1] = leg.foot[0], leg.foot[1]
    leg.planted, leg.share, leg.arch, leg.left, leg.lands = False, 0.0, 0.0, LANDING_SECONDS, body.ground


@kernel
def _lost_ground(body, legs, shape, under):
    """Whether no foot stands, and the ground under a body is higher or lower than a leg can step. under: its height."""
    for k in range(legs.size):
        if legs[k].planted:
            return False
    return not (body.fresh | (abs(under - body.ground) <= HIGHEST_STEP * _leg_length(shape)))


@batch
def swing_feet(start, stop, walkers, asked, heights, under, ys, dt, queries):
    """Choose footholds and move the feet that swing.

    asked, heights: (N, L, CANDIDATES), candidates and their heights. under: (N,), of the ground under the bodies. ys:
    (N,), where the game has the bodies; NaN on the ground. queries: (N, L, ASKED), filled with x of feet and paths.
    """
    shape = walkers.shape[0]
    size = _leg_length(shape)
    for n in range(start, stop):
        body, legs = walkers.bodies[n], walkers.legs[n]
        y, lost = ys[n], False
        if y != y:
            y, lost = under[n], _lost_ground(body, legs, shape, under[n])
        if lost or y != y:  # It stays at its height.
            y = body.ground if not body.fresh else 0.0
        if body.fresh:
            body.ground, body.hip, body.climb = y, y + STRETCH * size, 0.0
        body.airborne = lost or not (y - under[n] <= AIRBORNE * size)
        hip = body.hip
        if body.airborne:
            body.ground, body.climb = y, 0.0
            body.hip = spring.damp(body.hip, y + STRETCH * size, HIP_HALF_LIFE / 2, dt)
        for k in range(legs.size):
            leg, limb = legs[k], walkers.limbs[k]
            if body.fresh:
                leg.goal = body.x + body.facing * (limb.along + limb.rest)
                leg.foot[0], leg.foot[1], leg.planted = leg.goal, y, not body.airborne
                leg.start[0], leg.start[1], leg.share, leg.left, leg.pitch = leg.goal, y, 0.0, 0.0, 0.0
            elif body.airborne:
                _hang(leg, limb, body, shape, (0.0, body.hip - hip), dt)
            elif not leg.planted:
                middle = asked[n, k, CANDIDATES // 2]
                chosen = _choose_foothold(heights[n, k], body.ground, size)
                if leg.share < CHOSEN_AT:
                    wanted = asked[n, k, chosen] - middle if chosen >= 0 else 0.0
                    leg.shift = spring.damp(leg.shift, wanted, SHIFT_HALF_LIFE, dt) if leg.share > 0.0 else wanted
                    leg.goal = middle + leg.shift
                _swing(leg, dt)
            queries[n, k, 0] = leg.foot[0]
            queries[n, k, 1] = leg.foot[0] - shape.foot
            queries[n, k, 2] = leg.foot[0] + shape.foot
            queries[n, k, 3] = leg.goal
            for i in range(len(PATH)):
                queries[n, k, 4 + i] = leg.start[0] + (leg.goal - leg.start[0]) * PATH[i]


@kernel
def _ground_angle(heights, foot):
    """Angle of the ground under a sole, radians; 0 where an end has no ground under it or the ground is too steep."""
    angle = math.atan2(heights[2] - heights[1], 2.0 * foot) if foot > 0.0 else 0.0
    return angle if abs(angle) <= STEEPEST else 0.0


@kernel
def _raise_foot(leg, body, shape, heights, dt):
    """Set the height of a foot that swings, or plant it. heights: (ASKED,), NaN where there is no ground."""
    size = _leg_length(shape)
    lands = heights[3] if abs(heights[3] - body.ground) <= HIGHEST_STEP * size else body.ground
    leg.lands, arch = lands, LIFT * size
    for i in range(len(PATH)):
        share = PATH[i]
        line = leg.start[1] + (lands - leg.start[1]) * share
        over = heights[4 + i] + CLEARANCE * size - line
        if over > 0.0:
            arch = max(arch, over / (4.0 * share * (1.0 - share)))
    arch = min(arch, size)
    leg.arch = spring.damp(leg.arch, arch, ARCH_HALF_LIFE, dt) if leg.share > 0.0 else arch
    ease = minimum_jerk(leg.share**EARLY)
    y = leg.start[1] + (lands - leg.start[1]) * ease + leg.arch * 4.0 * ease * (1.0 - ease)
    for i in range(3):
        if abs(heights[i] - body.ground) <= HIGHEST_STEP * size:
            y = max(y, heights[i])
    if leg.share >= 1.0 and abs(heights[0] - body.ground) <= HIGHEST_STEP * size:
        leg.planted, leg.lands, y = True, heights[0], heights[0]
    leg.foot[1] = y


@kernel
def _pitch_foot(leg, body, shape, heights, dt):
    """Rotate a sole with the ground, or about its toes as it swings."""
    wanted = _ground_angle(heights, shape.foot)
    if not leg.planted:
        toes = TOES_UP * leg.share - TOES_DOWN * (1.0 - leg.share)
        wanted = body.facing * toes * 4.0 * leg.share * (1.0 - leg.share) + wanted * leg.share
    leg.pitch = spring.damp(leg.pitch, wanted, PITCH_HALF_LIFE, dt) if not body.fresh else wanted


@kernel
def _ankle(leg, shape):
    return leg.foot[0] - shape.ankle * math.sin(leg.pitch), leg.foot[1] + shape.ankle * math.cos(leg.pitch)


@kernel
def _highest_hip(aside, ankle, bones):
    """How high a hip may be for a leg to reach its ankle. aside: of the ankle from the hip along x."""
    far = STRETCH_MOST * bones
    return ankle + math.sqrt(max(far * far - aside * aside, 0.0))


@kernel
def _move_hips(body, legs, limbs, shape, y, dt):
    """Let the hips follow the feet. y: where the game has the body, NaN on the ground."""
    size, bones = _leg_length(shape), shape.thigh + shape.shin
    feet, lowest, soon, highest = 0.0, math.inf, math.inf, -math.inf
    for k in range(legs.size):
        leg, hip = legs[k], body.x + body.facing * limbs[k].along
        feet += leg.lands
        if leg.planted:
            x, ankle = _ankle(leg, shape)
            lowest = min(lowest, _highest_hip(x - hip, ankle, bones))
            highest = max(highest, ankle)
        elif leg.left < FORESEES:
            soon = min(soon, _highest_hip(leg.goal - hip - body.speed * leg.left, leg.lands + shape.ankle, bones))
    stands = y if y == y else feet / legs.size
    body.ground = spring.damp(body.ground, stands, GROUND_HALF_LIFE, dt) if not body.fresh else stands
    wanted = min(body.ground + shape.ankle + STRETCH * bones, lowest)
    if body.fresh:
        body.hip, body.climb = wanted, 0.0
    else:
        body.hip, body.climb = spring.critical(body.hip, body.climb, min(wanted, soon), HIP_HALF_LIFE, dt)
    held = min(max(body.hip, highest + FOLDED * bones), lowest)
    if held != body.hip:
        body.hip, body.climb = held, min(body.climb, 0.0)
    leans = body.speed / (size * shape.pace) * LEAN_PER_SPEED
    body.lean = spring.damp(body.lean, min(max(leans, -MOST_LEAN), MOST_LEAN), LEAN_HALF_LIFE, dt)


@kernel
def _turn_head(body, shape, target, dt):
    """Look at a target, as far up and down as a head can; straight ahead where it is NaN or behind."""
    wanted = 0.0
    if target[0] == target[0]:
        x = (target[0] - body.x - shape.torso * math.sin(body.lean)) * body.facing
        y = target[1] - body.hip - shape.torso * math.cos(body.lean)
        wanted = math.atan2(y, x) if x > 0.0 else 0.0
    wanted = min(max(wanted, -MOST_NOD), MOST_NOD)
    body.head = spring.damp(body.head, wanted, HEAD_HALF_LIFE, dt) if not body.fresh else wanted


@kernel
def _pose_leg(leg, limb, body, shape, pose):
    """Solve a leg from its hip to its ankle."""
    hip = (body.x + body.facing * limb.along, body.hip)
    ankle = _ankle(leg, shape)
    found = solve(hip, ankle, shape.thigh, shape.shin, -body.facing * shape.knee, False)
    pose.hip[0], pose.hip[1] = hip
    pose.knee[0], pose.knee[1] = found[0], found[1]
    pose.ankle[0], pose.ankle[1] = found[2], found[3]
    reached = found[11] == 0.0
    pose.sole[0] = leg.foot[0] if reached else leg.foot[0] + found[2] - ankle[0]
    pose.sole[1] = leg.foot[1] if reached else leg.foot[1] + found[3] - ankle[1]
    pose.pitch, pose.planted, pose.reached = leg.pitch, leg.planted, reached


@batch
def stand_up(start, stop, walkers, heights, ys, targets, dt, poses):
    """Keep feet above the ground, move the hips and solve the legs: poses (N, L) POSE.

    heights: (N, L, ASKED), at the queries of `swing_feet`. ys: (N,), where the game has the bodies; NaN on the ground.
    targets: (N, 2), of the heads; NaN for none.
    """
    shape = walkers.shape[0]
    for n in range(start, stop):
        body, legs = walkers.bodies[n], walkers.legs[n]
        for k in range(legs.size):
            leg = legs[k]
            if body.fresh and not body.airborne:
                near = abs(heights[n, k, 0] - body.ground) <= HIGHEST_STEP * _leg_length(shape)
                leg.planted = near
                leg.foot[1] = leg.lands = heights[n, k, 0] if near else body.ground
            elif not (body.airborne or leg.planted):
                _raise_foot(leg, body, shape, heights[n, k], dt)
            if not body.airborne:
                _pitch_foot(leg, body, shape, heights[n, k], dt)
        if not body.airborne:
            _move_hips(body, legs, walkers.limbs, shape, ys[n], dt)
        _turn_head(body, shape, (targets[n, 0], targets[n, 1]), dt)
        for k in range(legs.size):
            _pose_leg(legs[k], walkers.limbs[k], body, shape, poses[n, k])
        body.fresh = False
