"""`Motion`: one clip on its way from one body to another. Steps 3 and 4 of `retarget`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinema.bake.clip_frames import ClipFrames
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.motion.flat_feet import flat_feet, flat_toes
from kinema.motion.runs import runs
from kinema.motion.soles import sole_motion
from kinema.retargeting.apart import keep_apart
from kinema.retargeting.feet import FootMotion, hold_soles, shift_feet, standing_heights
from kinema.retargeting.floor_hands import FloorHands, find_floor_hands, hand_goals, lean, off_floor
from kinema.retargeting.footing import (
    Footing,
    carrying,
    clear_floor,
    on_toes,
    pivot_heights,
    sole_heights,
    stand_feet,
    standing_slides,
    staying_slides,
)
from kinema.retargeting.hands import hold_hands, kept_touches, move_arms, near_parts, touching
from kinema.retargeting.inside_limits import inside_limits
from kinema.retargeting.matching import Matches, match
from kinema.retargeting.parts import MIRROR, Body
from kinema.retargeting.placed import Placed, rotations_of, seen_from
from kinema.retargeting.report import LEVELLED, RetargetReport, hand_warnings, matched_joints, slide_of, warnings_of
from kinema.retargeting.transfer import tables, transfer
from kinema.retargeting.twists import spread_twists
from kinema.solvers.body.full_body import BodyReport, FullBody
from kinema.solvers.body.targets import Effector

STIFF_HIPS, STIFF_SPINE = 0.1, 0.02
"""How easily hips and spine rotate to bring feet where they belong, where legs are 2 to 4: the trunk shows the motion.
Five times as easily trunks are 2.5 times as far off; not at all, legs fold and flip."""

STRIDES = 0.6, 1.6
"""Least and most length of strides beside those of the source, scaled."""


@dataclass(frozen=True, eq=False)
class Done:
    """The keys of the result, and what was done for them."""

    poses: Pose
    raised: float = 0.0
    contacts: Any = None
    feet: FootMotion | None = None
    body: BodyReport | None = None
    hips_moved: float = 0.0
    touches: tuple[int, int] = (0, 0)
    strides: float = 1.0
    hands_off: float = 0.0
    """How far hands are below the floor, or above it where they rest on it in the source, at most, leg lengths."""


@dataclass(frozen=True, eq=False)
class Motion:
    """One clip on its way from the source to the target."""

    frames: ClipFrames
    """Of the source."""
    source: Body
    """Of the source, as it stands in its own rig."""
    onto: Body
    mirror: bool
    scale: float
    joints: Mapping[str, str] | None
    bodies: tuple[Character, Character]
    """Source and target."""
    hands: float
    arm_space: float
    own: bool
    """Whether it is a motion of the very same body: nothing is changed then."""
    posed: Pose | None = None
    """(F,): of the target, where its poses are known and only its feet are to stand."""
    stays: Any = None
    """(F, L, 3), 0 or 1: which of heel, ball and tip of the source stay in place, where it is known, and how feet are
    flat, too; None: both are found by heights and speeds."""
    strides: bool = True
    """Whether strides may have another length than those of the source, scaled."""

    @cached_property
    def body(self) -> Body:
        """The source, with feet that are flat where they stand."""
        rig = self.frames.rig
        if self.stays is not None:
            return self.source.standing(rig, {})
        held, dt, placed = self.frames.held, self.frames.dt, self.placed.legs
        ankles = [placed[int(leg.joints[-1])] for leg in rig.legs]
        toes = {leg.name: placed[int(leg.toe)] for leg in rig.legs if leg.toe is not None}
        return self.source.standing(rig, flat_feet(rig, ankles, held, dt), flat_toes(rig, ankles, toes, held, dt))

    @cached_property
    def matches(self) -> Matches:
        return match(self.body, self.onto, self.mirror, self.joints)

    @cached_property
    def placed(self) -> Placed:
        """The source."""
        return Placed(self.frames.rig, self.frames.poses, self.frames.transforms)

    @cached_property
    def kept(self) -> Any:
        """The frames that become keys."""
        first, one_pass = self.frames.lead, self.frames.one_pass
        last = first + one_pass if one_pass else len(self.frames.times) - 1
        return np.arange(first, last + 1, self.frames.stride)

    @property
    def seen(self) -> Any:
        """The frames of the source that keys show: a loop ends with the last pose of the clip, as `_closing` has it."""
        if not self.frames.one_pass:
            return self.kept
        return np.append(self.kept[:-1], len(self.frames.times) - 1)

    @property
    def times(self) -> Any:
        """(K,): of the keys, seconds from the first one."""
        return self.frames.times[self.kept] - self.frames.times[self.kept[0]]

    @cached_property
    def directed(self) -> Placed:
        """The target with the directions of the source. On the same skeleton these are the poses of the source."""
        poses = self.frames.poses.astype(np.float64) if self.posed is None else self.posed
        if not self.own and self.posed is None:
            poses = transfer(tables(self.body, self.onto, self.matches, self.scale, self.mirror), poses, self.onto)
            poses = inside_limits(self.onto, poses)
        return Placed(self.onto.rig, poses, self._transforms())

    def _with_strides(self, placed: Placed, contacts: Any) -> tuple[Placed, float]:
        """Let the body travel as its standing feet show, and return by how many times as far.

        A foot twice as long rolls twice as far, and a thigh longer than its shin swings farther: on the path of the
        source, scaled, such feet would slide all in one direction, beyond what those of the source do.
        """
        if not self.strides or self.posed is not None:
            return placed, 1.0
        ways = np.diff(placed.hips(placed.transforms) @ self.onto.axes, axis=0)[:, np.newaxis]
        slides = self._slides(placed.soles(self.onto).points, self.weights) - self.source_feet.slides
        slides = np.diff(slides, axis=0)
        weights = (contacts[1:] & contacts[:-1])[..., np.newaxis] * (1.0, 0.0, 1.0)
        square = float((weights * ways**2).sum())
        share = 1.0 - float((weights * slides * ways).sum()) / square if square > 0.0 else 1.0
        share = float(np.clip(share, *STRIDES))
        return placed.travelling(share, in_place=self.frames.moved), share

    def as_directed(self) -> Done:
        """Return keys without regard to contacts."""
        return self._finished(Done(self._closing(self.directed).poses[self.kept]))

    def on_feet(self, lock: bool) -> Done:
        """Return keys in which standing feet neither slide nor sink."""
        frames, leg = self.frames, self.onto.rig.leg_length
        contacts, source = frames.held[:, self.order], self.source_feet
        placed = self._apart(self.directed)
        stand = standing_heights(contacts, source.heights, leg)
        heights = sole_heights(placed.soles(self.onto).points)
        raised = float(np.median((stand - heights)[contacts])) if contacts.any() else 0.0
        placed, strides = self._with_strides(placed.raised(raised), contacts)
        hands = self.floor_hands
        placed = placed if hands is None else lean(self.onto, placed, hands, frames.dt)
        footing = stand_feet(placed.soles(self.onto), self.source_soles, self.weights, contacts, frames.dt, lock)
        held = hold_soles(contacts, source, self._foot_motion(footing), leg, frames.dt, lock)
        footing = clear_floor(footing, held[..., 1], frames.dt)
        feet = self._foot_motion(footing)
        shifts = shift_feet(contacts, source, feet, leg, frames.dt, lock) @ self.onto.axes.T
        closed, poses, found = self._reach(placed, shifts, footing)
        poses, hands_off = self._on_hands(Placed(self.onto.rig, poses, closed.transforms[self.kept]))
        hips = int(self.onto.rig.hips)
        moved = np.linalg.norm(poses.translations[:, hips] - closed.poses.translations[self.kept, hips], axis=-1)
        after = Placed(self.onto.rig, poses, closed.transforms[self.kept])
        points = after.soles(self.onto).points
        feet = FootMotion(points[..., 1].min(axis=-1), self._slides(points, self.weights[self.kept]))
        return self._finished(
            Done(
                poses,
                raised,
                contacts[self.kept],
                feet,
                found,
                float(moved.max()),
                strides=strides,
                hands_off=hands_off,
            )
        )

    @cached_property
    def floor_hands(self) -> FloorHands | None:
        """The hands of the source that are on its floor; None where none is, or where poses of the target are known."""
        if self.posed is not None or not self.matches.arms:
            return None
        return find_floor_hands(self.placed, self.directed, self.matches.arms, self.scale, self.frames.dt)

    def _on_hands(self, placed: Placed) -> tuple[Pose, float]:
        """Return keys in which arms bring hands to the floor, and how far these are off."""
        if self.floor_hands is None:
            return placed.poses, 0.0
        hands = self.floor_hands.at(self.kept)
        goals = hand_goals(placed, hands, self.onto.axes, self.frames.dt * self.frames.stride)
        effectors = [Effector(joint, at, rotation=rotation) for joint, at, rotation in goals]
        poses = move_arms(self.onto.rig, hands.arms, placed.poses, effectors, shoulders=True)
        return poses, off_floor(Placed(placed.rig, poses, placed.transforms), hands)

    def _apart(self, placed: Placed) -> Placed:
        """Return the target with limbs that do not cross where those of the source do not."""
        if self.posed is not None:
            return placed
        limbs = {"legs": self.matches.legs, "arms": self.matches.arms}
        size = self.scale * np.array(MIRROR if self.mirror else (1.0, 1.0, 1.0))
        apart = keep_apart(self.placed, placed, limbs, (self.body.axes, self.onto.axes), size, self.frames.dt)
        if apart is placed:
            return placed
        return Placed(placed.rig, inside_limits(self.onto, apart.poses), placed.transforms)

    def _finished(self, done: Done) -> Done:
        """Return keys in which hands touch what they touch in the source, and twist joints share the twist of bones."""
        if self.own:
            return done
        if (self.hands or self.arm_space) and self.matches.arms:
            done = self._with_hands(done)
        return replace(done, poses=spread_twists(self.onto, done.poses))

    def _with_hands(self, done: Done) -> Done:
        legs, arms = self.matches.legs, self.matches.arms
        theirs = touching(self.bodies[1], self.onto.rig, {name: name for name in legs}, {name: name for name in arms})
        ours = touching(self.bodies[0], self.body.rig, legs, arms)
        world = self.body.rig.skeleton.world(self.frames.poses[self.seen]).astype(np.float64)
        near = near_parts(ours, world, self.body.axes, MIRROR if self.mirror else 1.0)
        step = self.frames.dt * self.frames.stride
        poses = hold_hands(theirs, done.poses, self.onto.axes, near, self.hands, self.arm_space, step)
        result = near_parts(theirs, theirs.rig.skeleton.world(poses), self.onto.axes)
        return replace(done, poses=poses, touches=kept_touches(near, result))

    def _foot_motion(self, footing: Footing) -> FootMotion:
        points = footing.points
        slides, lowest = self._slides(points, self.weights), points[..., 1].min(axis=-1)
        return FootMotion(sole_heights(points), slides, lowest, pivot_heights(points))

    def _slides(self, points: Any, weights: Any) -> Any:
        """(F, L, 3): how far what stands of each sole has slid. points: (F, L, 3, 3)."""
        if self.stays is not None:
            return staying_slides(points, weights)
        return standing_slides(points, weights, self.onto.rig.leg_length)

    @cached_property
    def weights(self) -> Any:
        """(F, L, 3): how surely heel, ball and tip of the source stand, by the target's legs."""
        frames = self.frames
        if self.stays is not None:
            return self.stays[:, self.order]
        soles = sole_motion(frames.rig, self.placed.sole_points(self.body), frames.dt)
        return carrying(soles, frames.held, frames.dt)[:, self.order]

    @cached_property
    def order(self) -> Any:
        """(L,): the leg of the source that each leg of the target follows."""
        names = [leg.name for leg in self.body.rig.legs]
        return np.array([names.index(self.matches.legs[leg.name]) for leg in self.onto.rig.legs])

    @cached_property
    def source_soles(self) -> Any:
        """(F, L, 3, 3): heel, ball and tip of the source, in the order and at the size of the target's."""
        return self.placed.soles(self.body).points[:, self.order] * self.scale * (MIRROR if self.mirror else 1.0)

    @cached_property
    def source_feet(self) -> FootMotion:
        """How the source's feet move, in the order and at the size of the target's."""
        points = self.source_soles
        slides = self._slides(points, self.weights) if self.stays is None else np.zeros_like(points[:, :, 0])
        lowest, soles, tips = points[..., 1].min(axis=-1), sole_heights(points), on_toes(self.weights)
        return FootMotion(soles + tips * (lowest - soles), slides, lowest, pivot_heights(points), tips)

    def report(self, done: Done, levelled: bool) -> RetargetReport:
        """Describe what was done."""
        legs = self.body.rig.leg_length, self.onto.rig.leg_length
        slide, sink, contacts = (0.0, 0.0), (0.0, 0.0), None
        if done.feet is not None:
            own, size = self.source_feet, self.scale * legs[0]
            slide = (
                slide_of(done.contacts, own.slides[self.kept]) / size,
                slide_of(done.contacts, done.feet.slides) / legs[1],
            )
            sink = max(0.0, -float(own.lowest.min())) / size, max(0.0, -float(done.feet.heights.min())) / legs[1]
            contacts = len(runs(done.contacts.T)[0])
        names = np.array(self.onto.rig.skeleton.names)
        limited = () if done.body is None else tuple(names[done.body.limited_joints.any(axis=0)].tolist())
        return RetargetReport(
            joints=matched_joints(self.body, self.onto, self.matches),
            missing=self.matches.missing,
            unused=self.matches.unused,
            scale=self.scale,
            raised=done.raised / legs[1],
            flat_feet={name: float(np.degrees(np.arccos(up[1]))) for name, up in self.body.flat_feet.items()},
            levelled=levelled,
            in_place=self.frames.moved,
            contacts=contacts or 0,
            slide=slide,
            sink=sink,
            hips_moved=done.hips_moved / legs[1],
            strides=done.strides,
            limited=limited,
            touches=done.touches,
            warnings=(
                *warnings_of(self.body, self.onto, self.matches, slide, sink, contacts, done.touches),
                *hand_warnings(done.hands_off),
                *((LEVELLED,) if levelled else ()),
            ),
        )

    def _transforms(self) -> Any:
        """Carry the transforms of the source's character, (F, 4, 4), over to the target's axes and size."""
        side = np.diag(MIRROR) if self.mirror else np.eye(3)
        turn = self.onto.axes @ side @ self.body.axes.T
        moved = np.tile(np.eye(4), (len(self.frames.transforms), 1, 1))
        moved[:, :3, :3] = turn @ self.frames.transforms[:, :3, :3] @ turn.T
        moved[:, :3, 3] = self.frames.transforms[:, :3, 3] @ turn.T * self.scale
        return moved

    def _closing(self, placed: Placed) -> Placed:
        """Return poses of which the pass of a loop ends with the last pose of the clip, not with the first one of the
        next pass: a clip that travels begins anew there.
        """
        if not self.frames.one_pass:
            return placed
        transforms, which = placed.transforms.copy(), np.arange(len(placed.transforms))
        transforms[self.kept[-1]], which[self.kept[-1]] = transforms[-1], which[-1]
        return Placed(placed.rig, placed.poses[which], transforms)

    def _reach(self, placed: Placed, shifts: Any, footing: Footing) -> tuple[Placed, Pose, BodyReport]:
        """Move the body so that its feet stand. shifts: (F, L, 3), in the world.

        Returns the frames before, with loops closed, and the keys.
        """
        rig, axes = self.onto.rig, self.onto.axes_rotation
        rotations, targets = placed.poses.rotations.copy(), []
        for k, leg in enumerate(rig.legs):
            foot, toes = (
                arrays.mul(arrays.mul(axes, turn[:, k]), arrays.conj(axes)) for turn in (footing.feet, footing.toes)
            )
            ankle = placed.legs[int(leg.joints[-1])]
            targets.append((ankle[:, :3, 3] + shifts[:, k], arrays.mul(foot, rotations_of(ankle))))
            if leg.toe is not None:
                above = placed.legs[int(rig.skeleton.parents[int(leg.toe)])][:, :3, :3]
                bent = seen_from(above, arrays.mul(arrays.conj(foot), toes))
                rotations[:, int(leg.toe)] = arrays.mul(bent, rotations[:, int(leg.toe)])
        poses = Pose.of(placed.poses.translations, rotations, placed.poses.scales, names=placed.poses.names)
        placed, kept = self._closing(Placed(rig, poses, placed.transforms)), self.kept
        back = np.linalg.inv(placed.transforms[kept])
        turned = arrays.from_matrix(back[:, :3, :3])
        effectors = [
            Effector(
                int(leg.joints[-1]),
                np.einsum("frc,fc->fr", back[:, :3, :3], at[kept]) + back[:, :3, 3],
                rotation=arrays.mul(turned, rotation[kept]),
            )
            for leg, (at, rotation) in zip(rig.legs, targets, strict=True)
        ]
        return placed, *_stiff_body(rig).solve(placed.poses[kept], effectors)


def _stiff_body(rig: Rig) -> FullBody:
    """The solver that brings feet where they belong; cached with the skeleton."""
    trunk = dict.fromkeys(rig.spine, STIFF_SPINE) | {rig.hips: STIFF_HIPS}
    return rig.skeleton.cached(  # The rig keeps its id.
        ("stiff body", id(rig)), lambda: (rig, FullBody(rig.skeleton, rig, attempts=1, mobility=trunk))
    )[1]
