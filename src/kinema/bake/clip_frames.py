"""`ClipFrames`: the frames of a clip that are baked, and the transform of its character in each of them."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kinema.bake.settings import FASTEST_FPS, BakeSettings
from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.root_motion import Root
from kinema.model.skeleton import Joint
from kinema.motion.contacts import SKATING, contacts_of, held_feet, planted_feet
from kinema.motion.moving import moving_soles, moving_world
from kinema.motion.soles import slides_of_points, sole_motion, sole_points
from kinema.motion.travel import Travel, travel_of, without_slip
from kinema.roles import with_rotated_ends

DEFAULT_FPS = 30.0
"""Frames a second for clips whose keys give no rate."""

SPARSE_FPS = 20.0
"""Keys a second below which a clip is not keyed on every frame; feet would swim between its keys."""

INNER_FPS = 60.0
"""Least frames a second that are computed, however few become keys: at 24 a second feet land a frame late."""

MOST_FRAMES = 36_000
"""Most frames of one bake: ten minutes at 60 a second. Cut longer clips into pieces."""

IN_PLACE_GOES = 0.1
"""Most leg lengths between the hips' first and last position in a walk in place; falls and dodges go further."""

LOOP_GAP = 0.1
"""Most leg lengths, along any axis, between where a foot is in the first and the last frame of a loop. Loops without a
closing frame differ by what a foot moves in one frame."""

OPEN_GAP = 0.03
"""Least leg lengths between where a foot is in the first and the last frame of a loop without a closing frame; less is
closed."""

OPEN_COSINE, OPEN_STEPS = 0.7, (0.6, 1.6)
"""How well the way from the last frame of such a loop to its first goes on as its feet move there: least cosine of the
angle between the two, and least and most steps from frame to frame that it is long."""

END_SLACK = 0.01
"""Seconds that an end may be asked for beyond that of the clip: lengths are read off rounded."""

LEAD_IN = 3.0
"""Seconds of a loop's previous pass that are computed and dropped, so that its first frame is steady."""

CALIBRATION_BEFORE = 0.75
"""Share of the steps before a jump that are no longer than what counts as usual there: others are jumps too."""

CALIBRATION_TIME, CALIBRATION_STEP, CALIBRATION_RATIO, CALIBRATION_AFTER = 1.0, math.radians(6.0), 4.0, 5
"""Seconds in which poses of calibration are looked for; radians that joints of the body jump from the last of them to
the next key, in the mean, at least; how many times as far that is as in the keys before and after; and how many keys
after it count."""

CALIBRATION_OVER = 1 / 30
"""Seconds that a jump from the first key lasts at most: some captures are smoothed over a few keys."""

CALIBRATION_NEAR = 3
"""Steps just before a jump that none of them may be nearly as long as: a blow gathers speed and stops dead."""

PER_FRAME = ("times", "poses", "transforms", "planted", "held", "placed")
"""Fields of `ClipFrames` that begin with the lead-in."""


@dataclass(frozen=True, eq=False)
class ClipFrames:
    """The frames of a clip, evenly spaced, the end included. F frames, L legs."""

    times: Any
    """(F,): seconds; negative in the lead-in."""
    poses: Pose
    """(F,)"""
    transforms: Any
    """(F, 4, 4): of the character, on level ground."""
    planted: Any
    """(F, L): which feet are planted, low on the floor. Figures are measured with these."""
    held: Any
    """(F, L): which feet are held in place: those that are planted, and those that hardly move just above the floor."""
    placed: Any
    """(F, L): which feet are held where the bake has put them, beside an edge or a wall."""
    lead: int
    """Frames of the lead-in: the end of a loop's previous pass, for springs and feet to settle."""
    stride: int
    """Frames from key to key; those in between are computed only."""
    rig: Rig
    """The rig, with the floor that the clip was made on."""
    travel: Travel
    """How the planted feet would move the character."""
    one_pass: int = 0
    """Frames of a pass of a loop; 0: the clip is no loop."""
    moved: bool = False
    """Whether its planted feet move the character."""
    own_poses: Pose | None = None
    """(F,): poses of the clip before its strides were made shorter; None if they are the same."""

    @classmethod
    def of_poses(cls, rig: Rig, times: Any, poses: Pose, held: Any) -> ClipFrames:
        """Return frames of poses as they are, of which it is known which feet stand, (F, L)."""
        still = np.broadcast_to(np.eye(4), (len(times), 4, 4))
        travel = Travel(np.zeros((len(times) - 1, 3)), 0.0, 0.0, rig.floor, 0)
        return cls(times, poses, still, held, held, np.zeros_like(held), 0, 1, rig, travel)

    @property
    def dt(self) -> float:
        """Seconds from frame to frame."""
        return float(self.times[1] - self.times[0])

    @property
    def up(self) -> Any:
        """(3,): the rig's up, unit."""
        return np.array(self.rig.up)

    @property
    def without_lead(self) -> ClipFrames:
        """These frames without the lead-in."""
        parts = {name: getattr(self, name)[self.lead :] for name in PER_FRAME}
        own = None if self.own_poses is None else self.own_poses[self.lead :]
        return replace(self, **parts, own_poses=own, lead=0)

    @property
    def unchanged_poses(self) -> Pose:
        """(F,): the poses of the clip, whatever was done to its strides."""
        return self.poses if self.own_poses is None else self.own_poses

    def with_poses(self, poses: Pose, transforms: Any = None) -> ClipFrames:
        """Return the frames with other poses, (F,), and transforms, (F, 4, 4); the clip's own poses stay known."""
        transforms = self.transforms if transforms is None else transforms
        return replace(self, poses=poses, transforms=transforms, own_poses=self.unchanged_poses)

    def with_rotations(self, rotations: Any) -> ClipFrames:
        """Return the frames with other rotations of joints, (F, J, 4)."""
        translations, _, scales = self.poses.arrays()
        return self.with_poses(Pose.of(translations, rotations, scales))

    @cached_property
    def world(self) -> Any:
        """(F, J, 4, 4): world matrices of the clip, before anything is done to it."""
        return self.transforms[:, np.newaxis] @ self.rig.skeleton.world(self.poses)

    @property
    def ankles(self) -> list[Joint]:
        """The last joint of each leg."""
        return [leg.joints[-1] for leg in self.rig.legs]

    def above(self, world: Any, joint: Joint) -> Any:
        """(F, 4, 4): matrices of what a joint hangs on: its parent, or the character. world: as `world` gives it."""
        parent = int(self.rig.skeleton.parents[int(joint)])
        return self.transforms if parent < 0 else world[:, parent]

    def rotated(self, world: Any, joint: Joint, change: Any, rotations: Any) -> Any:
        """(F, 4): rotations of a joint relative to its parent, (F, 4), after a change in world space, (F, 4)."""
        above = arrays.rotation_of(self.above(world, joint))
        own = arrays.mul(arrays.conj(above), arrays.mul(change, above))
        return arrays.unit(arrays.mul(own, rotations))


def own_rate(clip: Clip) -> float:
    """Return the rate of a clip's keys, frames a second: that of its densest track, if it is keyed on every frame."""
    times = max((track.times for track in clip.tracks), key=len, default=np.zeros(1))
    rate = 1.0 / float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return min(rate, FASTEST_FPS) if rate >= SPARSE_FPS else DEFAULT_FPS


def frames_of(rig: Rig, clip: Clip, settings: BakeSettings) -> ClipFrames:
    """Sample a clip, move it by its planted feet if the settings ask for that, and repeat it."""
    if settings.in_place:
        clip = clip.in_place(up=rig.up)
    times, stride = _frames(clip, settings)
    poses, dt = clip.sample(times), float(times[1] - times[0])
    if settings.places_feet:
        poses = with_rotated_ends(rig, skip_calibration(rig, poses, stride, dt))
    closing = stride if _is_open_loop(rig, poses, stride) else 0
    if closing:
        way = Clip.from_poses(clip.name, clip.skeleton, poses[[-1, 0]], times=np.array((0.0, closing * dt)))
        added = way.sample(np.arange(1, closing + 1) * dt)
        poses = Pose.of(*(np.concatenate(parts) for parts in zip(poses.arrays(), added.arrays(), strict=True)))
        times = times[0] + np.arange(times.size + closing) * dt
    closed = settings.loops > 1 or _is_loop(rig, poses)
    still = np.broadcast_to(np.eye(4), (times.size, 4, 4))
    points = moving_soles(rig, poses, still)
    travel = travel_of(rig, points, dt, closed=closed)
    own = own_travel(rig, poses)
    stays = float(np.linalg.norm(own[:3, 3])) < IN_PLACE_GOES * rig.leg_length
    wanted = settings.on_treadmill or not settings.in_place
    moves = settings.places_feet and travel.needed and stays and wanted
    moves = moves if settings.travel is None else settings.travel
    if moves:
        travel = without_slip(rig, points, dt, travel)
    transforms = travel.transforms(rig.up, dt) if moves else still
    one_pass = transforms[-1] @ own
    which, transforms = _repeated(transforms, one_pass, range(-1 if closed else 0, settings.loops))
    lead = min(times.size - 1, round(LEAD_IN / dt)) if closed else 0
    last = which.size - closing
    first = last - lead - settings.loops * (times.size - 1) - 1 + closing
    which, transforms = which[first:last], transforms[first:last]
    rig = replace(rig, floor=travel.floor)
    clip_frames = ClipFrames(
        (np.arange(which.size) - lead) * dt,
        poses[which],
        transforms,
        None,
        None,
        None,
        lead,
        stride,
        rig,
        travel,
        times.size - 1 if closed else 0,
        moves,
    )
    return find_contacts(clip_frames)


def skip_calibration(rig: Rig, poses: Pose, stride: int, dt: float) -> Pose:
    """Replace poses of calibration: captured files often begin with some, from which the body jumps into its motion.

    The body as a whole says where: fingers are noisy. poses: (F,), dt seconds apart. stride: frames from key to key.
    """
    limbs = [*(leg.joints for leg in rig.legs), *(arm.joints for arm in rig.arms)]
    joints = sorted({int(joint) for joint in (rig.hips, *rig.spine, *rig.neck, *itertools.chain(*limbs))})
    for every in sorted({stride, max(stride, round(CALIBRATION_OVER / dt))}):
        jump = _first_jump(poses.rotations[::every, joints].astype(np.float64), round(CALIBRATION_TIME / (every * dt)))
        if jump is not None and (every == stride or jump == (0, 1)):
            return _without_jump(rig, poses, jump[0] * every, jump[1] * every, joints)
    return poses


def _first_jump(keys: Any, within: int) -> tuple[int, int] | None:
    """The keys before and after a jump out of poses of calibration; None if there is none. keys: (K, J, 4)."""
    steps = arrays.angle_between(keys[:-1], keys[1:]).mean(axis=-1)
    for key in np.flatnonzero(steps[: max(min(within, len(steps) - 2), 0)] > CALIBRATION_STEP).tolist():
        # A jump may lie between two keys: those beside it do not count. There may be shorter ones before it.
        before, after = steps[: max(key - 1, 0)], steps[key + 2 : key + 1 + CALIBRATION_AFTER]
        usual = float(np.quantile(before, CALIBRATION_BEFORE)) if before.size else 0.0
        far = CALIBRATION_RATIO * max(usual, after.max(initial=0.0), before[-CALIBRATION_NEAR:].max(initial=0.0))
        beside = min(steps[key - 1] if key else 0.0, steps[key + 1])  # A jump is over in two steps; a blow takes three.
        if steps[key] > max(far, before.max(initial=0.0), CALIBRATION_RATIO * beside):
            return key - (key > 0 and steps[key - 1] > far), key + 1 + (steps[key + 1] > far)
    return None


def _without_jump(rig: Rig, poses: Pose, first: int, last: int, joints: list[int]) -> Pose:
    """The poses with those up to a jump, from one frame to another, replaced by the one after it: whole, or, where legs
    and hips do not jump, of the parts that do.
    """
    after = np.maximum(np.arange(poses.shape[0]), last)
    jumps = arrays.angle_between(*poses.rotations[[first, last]].astype(np.float64)) > CALIBRATION_STEP
    if jumps[[int(rig.hips), *(int(joint) for leg in rig.legs for joint in leg.joints)]].any():
        return poses[after]
    parts, moved = [part.copy() for part in poses.arrays()], rig.skeleton.below([j for j in joints if jumps[j]])
    for part in parts:
        part[:, moved] = part[after][:, moved]
    return Pose.of(*parts)


def find_contacts(clip_frames: ClipFrames) -> ClipFrames:
    """Return the frames with the contacts of their feet, none of which the bake has put elsewhere."""
    rig, poses, dt = clip_frames.rig, clip_frames.poses, clip_frames.dt
    points = moving_soles(rig, poses, clip_frames.transforms)
    soles = sole_motion(rig, points, dt)
    hips = moving_world(rig.skeleton, poses, clip_frames.transforms, [int(rig.hips)])[:, 0, :3, 3]
    if clip_frames.moved:
        body = np.gradient(clip_frames.transforms[:, :3, 3], dt, axis=0)
        planted = planted_feet(soles, dt, clip_frames.travel.speed, SKATING)
        held = held_feet(soles, slides_of_points(rig, points), dt, planted, body)
    else:
        planted, held = contacts_of(rig, soles, hips, dt)
    return replace(clip_frames, planted=planted, held=held, placed=np.zeros_like(held))


def _frames(clip: Clip, settings: BakeSettings) -> tuple[Any, int]:
    """Times of a clip, (F,), from its first key to its end, and how many of them go from key to key.

    The rate is as near to what is asked for as the clip's length allows. Clips often begin a frame late: nothing moves
    before the first key, and a loop would halt there in every pass.
    """
    asked = settings.fps or own_rate(clip)
    start, end = _span(clip, settings)
    stride, count = math.ceil(INNER_FPS / asked), max(round((end - start) * asked), 1)
    if settings.loops * count * stride > MOST_FRAMES:
        raise InputError(
            f"clip {clip.name!r} would have {settings.loops * count} frames; allowed are {MOST_FRAMES // stride}: "
            "ask for fewer loops or fewer frames a second"
        )
    # Denser keys than the clip's own lie between the computed frames: between its keys a clip says nothing new.
    fps = min(asked, max(own_rate(clip), INNER_FPS))
    count = max(round((end - start) * fps), 1)
    step = (end - start) / count if end > start else 1.0 / fps
    return start + np.arange(count * stride + 1) * (step / stride), stride


def _span(clip: Clip, settings: BakeSettings) -> tuple[float, float]:
    """Seconds from which and up to which a clip is baked."""
    start, end = min((float(track.times[0]) for track in clip.tracks), default=0.0), float(clip.duration or 0.0)
    if settings.start is None and settings.end is None:
        return start, end
    first = start if settings.start is None else settings.start
    last = end if settings.end is None else settings.end
    if not start <= first < last <= end + END_SLACK:
        raise InputError(
            f"start and end are {first:g} and {last:g} s; clip {clip.name!r} goes from {start:g} to {end:g} s"
        )
    return first, min(last, end)


def _is_loop(rig: Rig, poses: Pose) -> bool:
    """Whether hips are as high, and feet at the same positions relative to them, in the first and the last frame."""
    if not rig.legs or poses.shape[0] < 3:
        return False
    world = rig.skeleton.world(poses[[0, -1]])
    hips = world[:, rig.hips, :3, 3]
    soles = sole_points(rig, world) - hips[:, np.newaxis, np.newaxis]
    climbed = (hips[1] - hips[0]) @ np.array(rig.up)  # Down from a box, a body that stands again has not come round.
    return float(max(np.abs(soles[0] - soles[1]).max(), abs(climbed))) < LOOP_GAP * rig.leg_length


def _is_open_loop(rig: Rig, poses: Pose, stride: int) -> bool:
    """Whether the feet go on from the last frame to the first, in place: a loop whose closing frame is left out.

    stride: frames from key to key.
    """
    if not rig.legs or poses.shape[0] < 4 * stride:
        return False
    if float(np.linalg.norm(own_travel(rig, poses)[:3, 3])) > IN_PLACE_GOES * rig.leg_length:
        return False
    world = rig.skeleton.world(poses[[0, stride, -1 - stride, -1]])
    soles = sole_points(rig, world) - world[:, rig.hips, np.newaxis, np.newaxis, :3, 3]
    first, last, way = soles[1] - soles[0], soles[3] - soles[2], soles[0] - soles[3]
    gap, step = float(np.abs(way).max()), 0.5 * (first + last)
    size = float(np.linalg.norm(way)) * float(np.linalg.norm(step))
    if gap < OPEN_GAP * rig.leg_length or float((way * step).sum()) < OPEN_COSINE * size:
        return False
    length = float(np.linalg.norm(way))
    lengths = [float(np.linalg.norm(each)) for each in (first, last, step)]
    return any(OPEN_STEPS[0] * each <= length <= OPEN_STEPS[1] * each for each in lengths)


def own_travel(rig: Rig, poses: Pose) -> Any:
    """Return how the clip itself moves the hips over the ground, (4, 4), in the character's own space."""
    root = Root(rig.skeleton, int(rig.hips), rig.up)
    start, end = (_as_matrix(row, rig.up) for row in root.transforms(np.arange(2), *poses[[0, -1]].arrays()))
    return end @ np.linalg.inv(start)


def _as_matrix(ground_transform: Any, up: Any) -> Any:
    """Convert an offset and a yaw, (4,), to a matrix, (4, 4)."""
    matrix = np.eye(4)
    matrix[:3, :3] = arrays.to_matrix(arrays.from_axis_angle(np.array(up), ground_transform[3]))
    matrix[:3, 3] = ground_transform[:3]
    return matrix


def _repeated(transforms: Any, one_pass: Any, passes: range) -> tuple[Any, Any]:
    """Repeat a pass: which of its frames come when, and their transforms. Each pass starts where the last one ended."""
    count = len(transforms) - 1
    which = np.append(np.tile(np.arange(count), len(passes)), count)
    starts = [np.linalg.matrix_power(one_pass, number) for number in passes]
    return which, np.repeat(starts, [*[count] * (len(passes) - 1), count + 1], axis=0) @ transforms[which]
