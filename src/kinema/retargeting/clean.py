"""`clean`: take the faults out of a clip, on its own body and its own floor.

1. Keys: poses of calibration, pops, noise of the root and open seams of loops (`repairs`).
2. The floor: the whole body is moved so that standing feet are on one level floor, and in place where all stand.
3. The feet: what a standing foot slides, hovers or sinks is taken back (`feet`), as `retarget` does, and the full body
   follows.

Each step does nothing where its fault is below what can be seen, so a clean clip comes out as it went in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from kinema import validation
from kinema.bake.clip_frames import ClipFrames, find_contacts, frames_of, own_rate, skip_calibration
from kinema.bake.feet.hold import FADE, bridge_contacts, rest_feet
from kinema.bake.keys import carriers, fold
from kinema.bake.settings import BakeSettings
from kinema.math import arrays
from kinema.math.smoothing import smooth_gaussian
from kinema.model.character import Character, chosen_clip
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.motion.contacts import SHORTEST
from kinema.motion.runs import runs, without_short
from kinema.motion.soles import ROLLS_OVER, slides_of, sole_points
from kinema.notices import logger
from kinema.retargeting.feet import ON_FLOOR, FootMotion, shift_feet
from kinema.retargeting.repairs import LEAST_NOISE, close_seam, root_noise, seam_of, smooth_root, spread_pops
from kinema.retargeting.retarget import rig_of
from kinema.roles import take_along
from kinema.solvers.body.full_body import FullBody
from kinema.solvers.body.targets import Effector

FLOORS = ("level", "keep")

LIMITS = {
    "slide": 0.005,
    "sink": 0.01,
    "hover": 0.01,
    "drift": 0.02,
    "noise": LEAST_NOISE,
    "pops": math.radians(6.0),
    "seam": math.radians(3.0),
    "calibration": 0.0,
}
"""How much of each fault is allowed: leg lengths, radians for pops and seams, seconds of calibration."""

WIDEST_SEAM = math.radians(25.0)
"""Largest rotation of a joint across the seam of a loop, radians: what is farther off is no loop, unless you say so."""

PASSES = 3
"""Passes of a loop that are computed: the middle one goes on from the one before and into the one after."""

FEWEST_KEYS = 3
"""Keys of a clip that is a pose, not a motion, at most: its feet are left alone."""

ROUNDS = 3
"""Times that feet are put in place at most: what stands still afterwards is seen better."""

LEAST_SHIFT = 0.002
"""Leg lengths that feet slide or are off the floor, at most, for nothing to be done."""

PIVOTS = 0.05
"""Leg lengths a second: of parts of a sole that are slower than this, none counts more than another."""

PASSES_ON = 0.05
"""Seconds, standard deviation, in which a foot goes from one part of its sole to another: faster, it would shake."""

SHORT_GAP = 0.2
"""Seconds between two contacts of a foot up to which it has not stepped."""

IN_CONTACT, SMOOTHING = 0.04, (0.01, 0.04)
"""Seconds, standard deviation, over which shifts of feet are smoothed: within each contact, then all of them along the
floor and in height. A leg that is nearly straight makes a large bend of a small shake."""

LEAST_UNREST = 0.01
"""Radians that a foot rotates while it stands flat, at most, for nothing to be done."""

LIFTED = 0.03
"""Leg lengths above its level in a contact from which on a foot is lifted, not standing."""

DEEPEST, LOW_SHARE = 0.1, 0.05
"""Leg lengths that this share of the frames has soles below the floor for the whole clip to be raised first."""

LEAST_TILT, LARGEST_TILT, EXPLAINED = math.radians(0.4), math.radians(15.0), 0.5
"""Radians that a captured floor is tilted; and the share of what contacts differ in height that may be left with it."""

FASTEST_DRIFT, DRIFT_SMOOTHING = 0.06, 1.0
"""Leg lengths a second at which a floor drifts up or down at most, stairs are faster; and seconds, standard deviation,
over which the heights of contacts are smoothed to find it."""

STANDING = 0.5
"""Seconds that all feet stand for what they slide together to be drift of the body."""

JOINED = 0.1
"""Seconds, standard deviation, over which that drift is smoothed."""


class Fault(NamedTuple):
    """How much of one fault a clip has, where it is worst."""

    amount: float
    """Leg lengths; radians for "pops" and "seam"; seconds for "calibration"."""
    at: float
    """Seconds from the start of the clip."""


@dataclass(frozen=True, kw_only=True)
class CleanReport:
    """What was wrong with a clip, and what is left."""

    before: dict[str, Fault]
    """How much of each fault the clip had: slide, sink, hover, drift, noise, pops, seam, calibration."""
    after: dict[str, Fault]
    """How much the clean clip has."""
    changed: bool
    """Whether the clip is another one now."""
    warnings: tuple[str, ...]
    """What is left above its limit, or in doubt, as sentences."""

    @property
    def wrong(self) -> tuple[str, ...]:
        """The faults that the clip had above their limits."""
        return tuple(name for name, fault in self.before.items() if fault.amount > LIMITS[name])


@overload
def clean(
    character: Character,
    clip: Clip | str,
    *,
    floor: str = ...,
    lock: bool = ...,
    repair: bool = ...,
    loop: bool | None = ...,
    report: Literal[False] = ...,
) -> Clip: ...


@overload
def clean(
    character: Character,
    clip: Clip | str,
    *,
    floor: str = ...,
    lock: bool = ...,
    repair: bool = ...,
    loop: bool | None = ...,
    report: Literal[True],
) -> tuple[Clip, CleanReport]: ...


def clean(
    character: Character,
    clip: Clip | str,
    *,
    floor: str = "level",
    lock: bool = True,
    repair: bool = True,
    loop: bool | None = None,
    report: bool = False,
) -> Clip | tuple[Clip, CleanReport]:
    """Take sliding, hovering and sinking feet, drift, pops, open seams and poses of calibration out of a clip.

    Parameters
    ----------
    character
        The character that the clip was made for.
    clip
        The clip, or its name.
    floor
        "level": standing feet come to one level floor, that of the character. "keep": the floor stays as it is.
    lock
        Keep standing feet in place and on the floor.
    repair
        Take out pops, noise of the root and poses of calibration.
    loop
        Whether to close the seam from the end to the beginning. Default: where the feet end as they begin.
    report
        Also return a `CleanReport`. Without it, its warnings go to the logger "kinema".

    Returns
    -------
    Clip, or tuple of Clip and CleanReport
        The clean clip; the clip itself where nothing is wrong.

    Raises
    ------
    InputError
        If the character has no rig or no such clip, or for settings out of range.

    Examples
    --------
    >>> hero = km.load("person.glb")
    >>> walk = km.clean(hero, "walk")
    """
    rig = rig_of("character", character)
    validation.choice("floor", floor, FLOORS)
    lock, repair, report = (
        validation.flag(name, given) for name, given in (("lock", lock), ("repair", repair), ("report", report))
    )
    loop = None if loop is None else validation.flag("loop", loop)
    clip = chosen_clip(character, clip)
    seen = _Seen.of(rig, clip, loop)
    keys = seen.repaired() if repair else seen.poses
    if seen.closes and seen.seam > LIMITS["seam"]:
        keys = close_seam(rig, keys, seen.dt)
    done = clip if keys is seen.poses else _with_poses(clip, keys, seen.times, rig.skeleton.below([rig.hips]))
    if rig.legs and len(seen.times) > FEWEST_KEYS:
        done = _on_its_feet(character, done, floor == "level", lock, seen.closes)
    after = seen.faults if done is clip else _Seen.of(rig, done, loop).faults
    made = CleanReport(
        before=seen.faults, after=after, changed=done is not clip, warnings=tuple(_warnings(rig, after, seen))
    )
    if report:
        return done, made
    for warning in made.warnings:
        logger.warning("%s: %s", clip.name, warning)
    return done


def check(character: Character, clip: Clip | str, *, loop: bool | None = None) -> dict[str, Fault]:
    """Measure the faults of a clip, by the names of `LIMITS`."""
    return _Seen.of(rig_of("character", character), chosen_clip(character, clip), loop).faults


# --- what is wrong ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Seen:
    """A clip at its own keys, and its frames."""

    rig: Rig
    clip: Clip
    times: Any
    """(K,)"""
    poses: Pose
    """(K,)"""
    frames: ClipFrames
    loops: bool | None

    @classmethod
    def of(cls, rig: Rig, clip: Clip, loops: bool | None) -> _Seen:
        frames = _frames(rig, clip, 1)  # Refuses clips that are too long.
        times = _times(clip)
        return cls(rig, clip, times, clip.sample(times), frames, loops)

    @property
    def dt(self) -> float:
        return float(self.times[1] - self.times[0])

    @property
    def closes(self) -> bool:
        """Whether it is a loop, or is to be one."""
        if self.loops is not None:
            return self.loops
        return self.frames.one_pass > 0 and seam_of(self.rig, self.poses) < WIDEST_SEAM

    @property
    def seam(self) -> float:
        return seam_of(self.rig, self.poses) if self.closes else 0.0

    @property
    def calibration(self) -> int:
        """Number of keys of calibration at the start."""
        skipped = skip_calibration(self.rig, self.poses, 1, self.dt)
        same = (skipped.rotations == self.poses.rotations).all(axis=(1, 2))
        return 0 if same.all() else len(same) - int(same[::-1].argmin())

    def repaired(self) -> Pose:
        """Return the keys without calibration, pops and noise."""
        poses = spread_pops(self.rig, skip_calibration(self.rig, self.poses, 1, self.dt), self.dt)[0]
        return smooth_root(self.rig, poses, self.dt)

    @property
    def faults(self) -> dict[str, Fault]:
        start, keys = float(self.times[0]), self.calibration
        pops = spread_pops(self.rig, skip_calibration(self.rig, self.poses, 1, self.dt), self.dt)[1]
        found = {name: Fault(0.0, start) for name in LIMITS}
        found["noise"] = Fault(root_noise(self.rig, self.poses), start)
        found["pops"] = Fault(float(pops.max()), float(self.times[int(pops.argmax())]))
        found["seam"] = Fault(self.seam, float(self.times[-1]))
        found["calibration"] = Fault(keys * self.dt, start)
        return {**found, **(_foot_faults(self.rig, self.frames, start) if self.rig.legs else {})}


def _slides(rig: Rig, frames: ClipFrames) -> Any:
    """Sum up how far each sole has slid since the first frame, (F, L, 3): by the parts that are low and slow, since a
    foot that pivots stands on what does not move.
    """
    points, up, leg = sole_points(rig, frames.world), np.array(rig.up), rig.leg_length
    heights = points @ up
    heights = 0.5 * (heights[1:] + heights[:-1])
    low = np.maximum(1.0 - (heights - heights.min(axis=-1, keepdims=True)) / (ROLLS_OVER * leg), 0.0) ** 2
    steps = arrays.across(np.diff(points, axis=0), up)
    speeds = np.linalg.norm(steps, axis=-1) / (frames.dt * leg)
    weights = low / (speeds**2 + PIVOTS**2)
    weights = smooth_gaussian(weights.reshape(len(weights), -1), PASSES_ON / frames.dt, "edge").reshape(weights.shape)
    steps = np.einsum("flp,flpc->flc", weights / weights.sum(axis=-1, keepdims=True), steps)
    return np.concatenate([np.zeros_like(steps[:1]), np.cumsum(steps, axis=0)])


def _foot_faults(rig: Rig, frames: ClipFrames, start: float) -> dict[str, Fault]:
    """What is wrong with the feet of a clip."""
    heights = _heights(rig, frames) / rig.leg_length
    slides = _slides(rig, frames) / rig.leg_length
    far, high = np.zeros(heights.shape), np.zeros(heights.shape)
    levels = []
    for foot, first, stop in zip(*runs(frames.held.T), strict=True):
        part = slices = slice(first, stop), foot
        far[part] = np.linalg.norm(slides[part] - slides[part].mean(axis=0), axis=-1)
        levels.append(float(np.median(heights[slices])))
        high[part] = levels[-1] if abs(levels[-1]) < ON_FLOOR else 0.0
    levels = [level for level in levels if abs(level) < ON_FLOOR]
    drift = max(levels, default=0.0) - min(levels, default=0.0)
    seconds = frames.times + start

    def worst(values: Any) -> Fault:
        each = values.max(axis=1)
        return Fault(max(float(each.max()), 0.0), float(seconds[int(each.argmax())]))

    return {
        "slide": worst(far),
        "sink": worst(-heights),
        "hover": worst(high),
        "drift": Fault(drift, worst(np.abs(high)).at),
    }


def _warnings(rig: Rig, after: dict[str, Fault], seen: _Seen) -> Any:
    if not rig.legs:
        yield "no legs were found: feet are left as they are (see `kinema info`)"
    elif not seen.frames.held.any():
        yield "no foot stands: nothing holds the feet to the floor (check the clip's floor and unit)"
    for name, fault in after.items():
        if fault.amount > LIMITS[name]:
            yield f"{name} of {amount_of(name, fault)} is left at {fault.at:.2f} s"


def amount_of(name: str, fault: Fault) -> str:
    """Write how much of a fault there is, with its unit."""
    if name in ("pops", "seam"):
        return f"{math.degrees(fault.amount):.1f}°"
    return f"{fault.amount:.2f} s" if name == "calibration" else f"{fault.amount:.1%} of a leg"


# --- the floor and the feet -------------------------------------------------------------------------------------


def _on_its_feet(character: Character, clip: Clip, level: bool, lock: bool, closed: bool) -> Clip:
    """Return the clip with its body on its floor and its feet in place; the clip itself where nothing is wrong."""
    rig = rig_of("character", character)
    left = _excess(rig, clip)
    for _ in range(ROUNDS):
        if left == 0.0:
            break
        new = _put(character, clip, level, lock, closed)
        before, left = left, _excess(rig, new)
        if left >= before:
            break
        clip = new
    return clip


def _excess(rig: Rig, clip: Clip) -> float:
    """How far the faults of the feet of a clip are above their limits, in limits, all together."""
    faults = _foot_faults(rig, _frames(rig, clip, 1), 0.0)
    return sum(max(fault.amount / LIMITS[name] - 1.0, 0.0) for name, fault in faults.items())


def _put(character: Character, clip: Clip, level: bool, lock: bool, closed: bool) -> Clip:
    """Move the body to its floor and its feet in place, once."""
    rig = rig_of("character", character)
    found = _frames(rig, clip, 1)
    if found.one_pass and closed:
        found = _frames(rig, clip, PASSES)
    found = found if closed else replace(found, one_pass=0)
    frames = on_floor(rig, found) if level else found
    shifts = np.zeros((*frames.held.shape, 3))
    if lock:
        frames = _rested(frames)
        shifts = _shifts(rig, frames)
    if frames.poses is found.poses and frames.transforms is found.transforms and not shifts.any():
        return clip
    kept = _kept(frames)
    base = found.transforms[kept] if found.moved else found.transforms[kept[:1]]
    poses, into = frames.poses[kept], np.linalg.inv(base)
    joints = carriers(character, rig, clip)
    poses = fold(rig.skeleton, poses, into @ frames.transforms[kept], joints)[0]
    if shifts.any():
        back = np.broadcast_to(into[:, :3, :3], (len(kept), 3, 3))
        poses = _reached(rig, poses, np.einsum("frc,flc->flr", back, shifts[kept]))
    poses = take_along(rig, found.poses[kept], poses)
    start = min((float(track.times[0]) for track in clip.tracks), default=0.0)
    times = start + frames.times[kept] - frames.times[kept[0]]
    return _with_poses(clip, poses, times, rig.skeleton.below(joints))


def on_floor(rig: Rig, frames: ClipFrames) -> ClipFrames:
    """Move the character so that standing feet are on its floor, and stay in place where all of them stand."""
    moves = _without_drift(rig, frames, _levelling(rig, frames))
    if np.abs(moves - np.eye(4)).max() < LEAST_SHIFT * rig.leg_length:
        return frames
    return _standing(rig, find_contacts(replace(frames, rig=rig, transforms=moves @ frames.transforms)))


def _levelling(rig: Rig, frames: ClipFrames) -> Any:
    """(F, 4, 4): moves that bring contacts to the floor: a tilted floor is rotated, one that drifts is followed."""
    moves, up, leg = np.tile(np.eye(4), (len(frames.times), 1, 1)), np.array(rig.up), rig.leg_length
    heights, at = _heights(rig, frames), sole_points(rig, frames.world).mean(axis=2)
    contacts = [(foot, slice(a, b)) for foot, a, b in zip(*runs(frames.held.T), strict=True)]
    levels = np.array([np.median(heights[part, foot]) for foot, part in contacts])
    middle = float(np.median(levels)) if contacts else 0.0
    near = np.abs(levels - middle) < 2 * ON_FLOOR * leg
    if not near.any() or middle > 3 * ON_FLOOR * leg:
        return moves
    levels, contacts = levels[near], [each for each, is_near in zip(contacts, near, strict=True) if is_near]
    points = np.array([at[part, foot].mean(axis=0) for foot, part in contacts])
    when = np.array([0.5 * (part.start + part.stop) for _, part in contacts]) * frames.dt
    if frames.one_pass == 0 and (tilt := _tilt(points, levels, up, leg)) is not None:
        moves[:] = tilt
        levels = (points @ tilt[:3, :3].T + tilt[:3, 3] - points) @ up + levels
    drift = np.full(len(moves), float(np.median(levels)))
    if frames.one_pass == 0 and len(levels) > 2:
        weights = np.exp(-0.5 * ((frames.times[:, np.newaxis] - frames.times[0] - when) / DRIFT_SMOOTHING) ** 2) + 1e-9
        slow = weights @ levels / weights.sum(axis=1)
        if np.abs(np.gradient(slow, frames.dt)).max() < FASTEST_DRIFT * leg:
            drift = slow
    moves[:, :3, 3] -= drift[:, np.newaxis] * up
    return moves


def _tilt(points: Any, levels: Any, up: Any, leg: float) -> Any:
    """(4, 4): a rotation that levels the floor on which contacts, (n, 3), lie; None where it is level, or no plane."""
    flat = arrays.across(points, up)
    if len(points) < 4 or np.ptp(flat, axis=0).max() < leg:
        return None
    middle = flat.mean(axis=0)
    slope = np.linalg.lstsq(flat - middle, levels - levels.mean(), rcond=0.05)[0]
    slope = arrays.across(slope, up)
    left = levels - levels.mean() - (flat - middle) @ slope
    size = float(np.linalg.norm(slope))
    tilted = LEAST_TILT < math.atan(size) < LARGEST_TILT
    if not tilted or left.std() > min(EXPLAINED * levels.std(), 0.5 * ON_FLOOR * leg):
        return None
    turn = arrays.to_matrix(arrays.from_axis_angle(np.cross(up, -slope) / size, -math.atan(size)))
    move = np.eye(4)
    move[:3, :3], pivot = turn, middle + up * float((points @ up).mean())
    move[:3, 3] = pivot - turn @ pivot
    return move


def _without_drift(rig: Rig, frames: ClipFrames, moves: Any) -> Any:
    """Let the body stay where all feet stand for some time, whatever they slide together. moves: (F, 4, 4)."""
    if len(rig.legs) < 2:
        return moves
    steps = np.diff(slides_of(rig, moves[:, np.newaxis] @ frames.world), axis=0).mean(axis=1)
    stands = without_short(frames.held.all(axis=1)[:, np.newaxis], STANDING / frames.dt)[:, 0]
    if stands[0] or stands[-1]:  # Short stretches at the ends count, too.
        stands &= frames.held.all(axis=1)
    drift = np.concatenate([np.zeros((1, 3)), np.cumsum(steps * (stands[1:] & stands[:-1])[:, np.newaxis], axis=0)])
    if np.linalg.norm(drift, axis=-1).max() < LIMITS["slide"] * rig.leg_length:
        return moves
    moves = moves.copy()
    moves[:, :3, 3] -= smooth_gaussian(drift, JOINED / frames.dt, "slope")
    return moves


def _rested(frames: ClipFrames) -> ClipFrames:
    """Hold feet that rotate while they stand flat."""
    rested = rest_feet(frames, straighten=False)
    turned = arrays.angle_between(frames.poses.rotations.astype(np.float64), rested.poses.rotations.astype(np.float64))
    return rested if turned.max() > LEAST_UNREST else frames


def _shifts(rig: Rig, frames: ClipFrames) -> Any:
    """(F, L, 3): by how much feet move, in the world, so that they neither slide nor hover nor sink."""
    axes = np.stack([np.cross(rig.up, rig.forward), rig.up, rig.forward], axis=-1)
    feet = FootMotion(_heights(rig, frames), _slides(rig, frames) @ axes)
    still = FootMotion(feet.heights, np.zeros_like(feet.slides))  # However far feet slide, they are to stand.
    shifts = shift_feet(frames.held, still, feet, rig.leg_length, frames.dt, True)
    _join(shifts, frames.held, SHORT_GAP / frames.dt)
    for foot, first, stop in zip(*runs(frames.held.T), strict=True):
        shifts[first:stop, foot] = smooth_gaussian(shifts[first:stop, foot], IN_CONTACT / frames.dt, "slope")
    along = bridge_contacts(shifts * (1.0, 0.0, 1.0), frames.held, frames.one_pass, FADE / frames.dt)
    along, height = (
        smooth_gaussian(each.reshape(len(each), -1), seconds / frames.dt, "edge").reshape(each.shape)
        for each, seconds in zip((along, shifts * (0.0, 1.0, 0.0)), SMOOTHING, strict=True)
    )
    shifts = along + height
    return shifts @ axes.T if np.abs(shifts).max() > LEAST_SHIFT * rig.leg_length else np.zeros_like(shifts)


def _join(shifts: Any, held: Any, longest: float) -> None:
    """Let a foot that hardly leaves the floor keep its shift from one contact to the next. shifts: (F, L, 3)."""
    for foot in range(held.shape[1]):
        _, starts, stops = runs(held[np.newaxis, :, foot])
        if not len(starts):
            continue
        groups = np.flatnonzero(np.append(True, starts[1:] - stops[:-1] > longest)).tolist()
        for first, last in zip(groups, [*groups[1:], len(starts)], strict=True):
            for n in range(first + 1, last):
                part = slice(starts[n], stops[n]), foot
                shifts[part][:, ::2] += shifts[stops[n - 1] - 1, foot, ::2] - shifts[starts[n], foot, ::2]
            inside = slice(starts[first], stops[last - 1])
            stands = held[inside, foot]
            shifts[inside, foot, ::2] -= shifts[inside, foot, ::2][stands].mean(axis=0)


def _reached(rig: Rig, poses: Pose, shifts: Any) -> Pose:
    """Return the poses with their feet moved, (K, L, 3), in the character's space."""
    world = rig.skeleton.world(poses)
    ankles = [int(leg.joints[-1]) for leg in rig.legs]
    turned = arrays.rotation_of(world[:, ankles])
    effectors = [
        Effector(ankle, world[:, ankle, :3, 3] + shifts[:, k], rotation=turned[:, k]) for k, ankle in enumerate(ankles)
    ]
    return FullBody(rig.skeleton, rig, attempts=1).solve(poses, effectors)[0]


# --- frames and keys --------------------------------------------------------------------------------------------


def _heights(rig: Rig, frames: ClipFrames) -> Any:
    """(F, L): of the lowest point of each sole above the character's floor."""
    return (sole_points(rig, frames.world) @ np.array(rig.up)).min(axis=-1) - rig.floor


def _times(clip: Clip) -> Any:
    """(K,): moments of a clip at its own rate, two or more."""
    start, end = min((float(track.times[0]) for track in clip.tracks), default=0.0), float(clip.duration or 0.0)
    return np.linspace(start, max(end, start + 1e-3), max(round((end - start) * own_rate(clip)), 1) + 1)


def _frames(rig: Rig, clip: Clip, loops: int) -> ClipFrames:
    """Sample a clip with its travel and its contacts. Where most of it is far below the floor, it is raised first."""
    frames = frames_of(rig, clip, BakeSettings(lock_feet=True, loops=loops)).without_lead
    if not rig.legs:
        return frames
    frames = _standing(rig, frames)
    low = float(np.quantile(_heights(rig, frames).min(axis=1), LOW_SHARE))
    if low > -DEEPEST * rig.leg_length:
        return frames
    return _standing(rig, find_contacts(replace(frames, rig=replace(rig, floor=rig.floor + low))))


def _standing(rig: Rig, frames: ClipFrames) -> ClipFrames:
    """Return frames whose contacts end where a foot leaves its level: small steps in place are steps."""
    heights, held = _heights(rig, frames), frames.held.copy()
    for foot, first, stop in zip(*runs(frames.held.T), strict=True):
        level = np.median(heights[first:stop, foot])
        held[first:stop, foot] = heights[first:stop, foot] < level + LIFTED * rig.leg_length
    return replace(frames, held=without_short(held, SHORTEST / frames.dt) & frames.held)


def _kept(frames: ClipFrames) -> Any:
    """The frames that become keys: of loops those of the middle pass."""
    first = frames.one_pass * (PASSES // 2)
    last = first + frames.one_pass if frames.one_pass else len(frames.times) - 1
    return np.arange(first, last + 1, frames.stride)


def _with_poses(clip: Clip, poses: Pose, times: Any, below: Any) -> Clip:
    """The clip with other poses; joints that are not below these keep their keys."""
    made, own = Clip.from_poses(clip.name, clip.skeleton, poses, times=times), set(below.tolist())
    tracks = [t for t in made.tracks if t.joint in own] + [t for t in clip.tracks if t.joint not in own]
    return replace(clip, tracks=tracks)
