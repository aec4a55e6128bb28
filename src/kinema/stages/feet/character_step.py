"""The frame of one character of `Feet`: `prepare_character` up to its rays, `step_character` from their hits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.compile.jit import batch, kernel, like
from kinema.compile.records import Record
from kinema.constants import AT_REST
from kinema.math import spring, vec
from kinema.math.rows import load3, load_origin, store3
from kinema.solvers.joints import character_pose, update_matrix
from kinema.stages.feet.foot_rays import RAYS, aim_foot, first_leg, take_hits
from kinema.stages.feet.foot_step import OwnArrays, step_foot
from kinema.stages.feet.leg_easing import ease_leg, keep_clip
from kinema.stages.legs.ground_contact import PLANTED, SWINGING, above_point, floor_of
from kinema.stages.legs.leg_solver import solve_legs
from kinema.stages.legs.pelvis import hips_of, step_pelvis, transform_hips
from kinema.stages.legs.sole import straighten_toes
from kinema.world.rays import Hits

TRAVEL_HALF_LIFE = 0.25
"""Seconds over which the speed of the hips is averaged to that of the body."""

OUT_OF_REACH = 0.02
"""Leg lengths that a planted foot may miss its target by before that is worth a notice."""

BODY_JOINT = Record(
    joint=np.int64,
    parent=np.int64,  # -1 for none
    on_hips=bool,  # whether it is the hips or hangs on them
)


class BodyJoints(NamedTuple):
    """The joints that `Feet` reads and moves."""

    hips: Any
    """The joint of the hips."""
    parent: Any
    """The joint above them; -1 for none."""
    joints: Any
    """BODY_JOINT: hips, legs, feet and all above them, parents before children."""
    follow: bool
    """Whether the characters' transforms follow the ground."""


class CastRays(NamedTuple):
    """The answers of a cast."""

    answers: Hits
    """In float64, one for each ray that was cast."""
    largest: Any
    """The largest number that counts as a hit's."""


# --- up to the rays --------------------------------------------------------------------------------------------


@kernel
def note_travel(body, hips, up, dt):
    """Average the velocity of the hips to that of the body: they sway and surge with every step."""
    zero, one = like(dt, 0.0), like(dt, 1.0)
    still = body.pelvis.fresh | (dt <= zero)
    rate = zero if still else one / (dt if dt > zero else one)
    velocity = vec.scale(vec.reject(vec.sub(hips, load3(body.hips)), up), rate)
    before = vec.select(still, velocity, load3(body.travel))
    left = spring.decay(like(dt, TRAVEL_HALF_LIFE), dt)
    store3(body.travel, vec.add(velocity, vec.scale(vec.sub(before, velocity), left)))
    store3(body.hips, hips)


@kernel
def prepare_character(records, i, rays, pose, hips, dt):
    """Straighten the toes of one character and aim its rays. Its matrices must be up to date.

    rays: room for their origins, (R, 3): under the hips, then those of each foot. hips: the joint.
    """
    settings, body, legs = records.settings[0], records.bodies[i], records.soles.size
    floor, at = floor_of(settings.contact, pose.transform), load_origin(pose.world[hips])
    body.pelvis.moving = False
    note_travel(body, at, floor.up, dt)
    for leg in range(legs):
        foot = records.feet[i, leg]
        foot.fresh, foot.toes.moving = body.pelvis.fresh, False
        foot.in_clip.low = straighten_toes(records.soles[leg], foot, floor, pose, dt)
        body.pelvis.moving |= foot.toes.moving
    store3(rays[0], above_point(at, floor, settings.contact.rise))
    store3(body.down, vec.scale(floor.up, like(dt, -1.0)))
    body.rays, start = 1, first_leg(records, i)
    for k in range(legs):
        leg = (start + k) % legs
        sole, foot = records.soles[leg], records.feet[i, leg]
        body.rays += aim_foot(settings, sole, foot, body, rays[body.rays :], pose, floor, dt)


@batch
def prepare_characters(rows, records, frame, hips, dt):
    """Straighten the toes of these characters and aim their rays. frame: `FrameArrays`. hips: the joint."""
    for k in range(rows.size):
        i = rows[k]
        pose = character_pose(frame, i)
        prepare_character(records, i, records.rays[i], pose, hips, dt)


# --- from their hits on ----------------------------------------------------------------------------------------


@kernel
def follow_ground(settings, body, hit, transform, length, dt):
    """Move a character's transform, (12,), along its up to the ground below its hips. length: of a leg, metres."""
    zero = like(dt, 0.0)
    floor, near = floor_of(settings.contact, transform), length * like(dt, AT_REST)
    store3(body.pelvis.move, (zero, zero, zero))
    if not hit.found:
        body.follow_speed = zero
        return
    goal = vec.dot(vec.sub(load3(hit.point), floor.point), floor.up)
    goal = zero if abs(goal) < near else goal
    step, speed = goal, zero
    if not body.pelvis.fresh:
        step, speed = spring.critical(zero, body.follow_speed, goal, settings.pelvis.half_life, dt)
        if (abs(goal - step) < near) & (abs(speed) < near):
            step, speed = goal, zero
    body.pelvis.moving |= (step != zero) | (speed != body.follow_speed)
    body.follow_speed = speed
    body.pelvis.height -= step
    move = vec.scale(floor.up, step)
    store3(body.pelvis.move, move)
    transform[3] += move[0]
    transform[7] += move[1]
    transform[11] += move[2]


@kernel
def shift_joints(joints, only_hips, move, world):
    """Move the origins of all joints, or of the hips and what hangs on them, in world space."""
    for n in range(joints.size):
        if joints[n].on_hips or not only_hips:
            row = world[joints[n].joint]
            row[3], row[7], row[11] = row[3] + move[0], row[7] + move[1], row[11] + move[2]


@kernel
def move_hips(skeleton, pelvis, leans, pose):
    """Move the hips, and bring the matrices of all joints up to date that hang on them."""
    transform_hips(skeleton.hips, pelvis, leans, pose.t, pose.r)
    if leans:
        for n in range(skeleton.joints.size):
            if skeleton.joints[n].on_hips:
                update_matrix(pose, skeleton.joints[n].joint, skeleton.joints[n].parent)
    else:
        shift_joints(skeleton.joints, True, load3(pelvis.move), pose.world)


@kernel
def ease_legs(records, solver, i, fresh, pose, dt):
    """Hold the joints of solved legs back that would rotate too fast, except where a foot stands."""
    for leg in range(records.legs.size):
        foot, target, chain = records.feet[i, leg], records.targets[i, leg], solver.chains[leg]
        foot.in_place &= target.contact == PLANTED
        free, most = fresh | foot.in_place, records.settings[0].leg_speed * dt
        held = ease_leg(chain, records.eases[i], solver.path, pose, free, most)
        foot.in_place = (target.contact == PLANTED) & (not held)
        records.bodies[i].pelvis.moving |= held
        if held:
            missed = vec.sub(load_origin(pose.world[chain.ankle]), load3(target.ankle))
            solver.states[i, leg].error = vec.length(missed)


@kernel
def note_lost_feet(records, i):
    """Keep which feet are released because they are out of reach. Returns how many feet on the ground are."""
    lost = 0
    for leg in range(records.legs.size):
        target, length = records.targets[i, leg], records.legs[leg].length
        records.feet[i, leg].contact = target.contact
        lost += (target.contact > SWINGING) & (target.short > length * like(length, OUT_OF_REACH))
    return lost


@kernel
def step_transform(records, skeleton, i, hit, pose, dt):
    """Move a character's transform to the ground, if it follows that. hit: of the ray under its hips."""
    settings, body = records.settings[0], records.bodies[i]
    if skeleton.follow:
        follow_ground(settings, body, hit, pose.transform, records.soles[0].length, dt)
        shift_joints(skeleton.joints, False, load3(body.pelvis.move), pose.world)


@kernel
def step_leg_target(records, i, leg, hits, pose, dt):
    """Step one foot of a character to the target of its ankle. hits: of the rays of this leg."""
    settings, body = records.settings[0], records.bodies[i]
    own = OwnArrays(pose.transform, pose.world, floor_of(settings.contact, pose.transform))
    step_foot(settings, records.soles[leg], records.feet[i, leg], records.targets[i, leg], hits, body, own, dt)


@kernel
def step_hips(records, skeleton, i, pose, dt):
    """Move a character's pelvis so that its legs reach."""
    settings, body = records.settings[0], records.bodies[i]
    floor = floor_of(settings.contact, pose.transform)
    hips = hips_of(pose.world, pose.transform, skeleton.hips, skeleton.parent, floor.up, pose.weight)
    step_pelvis(settings.pelvis, records.legs, body.pelvis, records.targets[i], pose.world, hips, dt)
    move_hips(skeleton, body.pelvis, settings.pelvis.lean > like(dt, 0.0), pose)


@kernel
def step_legs(records, solver, i, pose, dt):
    """Solve a character's legs, and ease them. Returns how many planted feet are out of reach."""
    body = records.bodies[i]
    fresh = body.pelvis.fresh
    body.pelvis.fresh = False
    keep_clip(records.eases[i], solver.path, pose)
    solve_legs(solver, solver.states[i], records.targets[i], pose)
    ease_legs(records, solver, i, fresh, pose, dt)
    return note_lost_feet(records, i)


@kernel
def step_character(records, solver, skeleton, i, hits, pose, dt):
    """Step one character from the hits of its rays, (R,), to solved legs. Returns how many planted feet are out of
    reach.
    """
    step_transform(records, skeleton, i, hits[records.legs.size * RAYS], pose, dt)
    for leg in range(records.legs.size):
        step_leg_target(records, i, leg, hits[leg * RAYS : (leg + 1) * RAYS], pose, dt)
    step_hips(records, skeleton, i, pose, dt)
    return step_legs(records, solver, i, pose, dt)


@batch
def step_characters(rows, records, solver, skeleton, hits, frame, dt):
    """Step these characters from the hits of their rays, `CastRays`, to solved legs. Returns how many planted feet are
    out of reach.
    """
    out_of_reach = 0
    for k in range(rows.size):
        i = rows[k]
        pose = character_pose(frame, i)
        take_hits(records, i, records.hits[i], hits.answers, hits.largest)
        out_of_reach += step_character(records, solver, skeleton, i, records.hits[i], pose, dt)
    return out_of_reach
