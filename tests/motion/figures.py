"""What is measured, by forward kinematics from the baked clip as it plays, between its keys too.

Nothing here asks the stages what they did. Where feet stand is read from the clip before the bake, point by point of
each sole. Lengths are in leg lengths, angles in degrees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.math import arrays
from kinema.model.clip import Clip
from tests.motion.cases import Case
from tests.motion.playing import Motion, clip_motion

RATE = 120.0
"""Samples a second, whatever the keys are."""

FRAME = 2
"""Samples of a 60 Hz frame."""

STANDING_SPEED, STANDING_HEIGHT = 0.25, 0.03
"""Leg lengths a second, and leg lengths above its lowest, below which a point of a sole stands in the clip."""

PASSED_SHARE, SKATED_SHARE = 0.15, 0.7
"""Shares of the body's speed up to which such a point stands, too: the faster a body passes over its foot, the less
still the foot is. The second one is for walks in place, whose feet skate: a low foot that moves back under the body
stands."""

STANDING_SHORTEST = 0.03
"""Seconds of the shortest contact."""

CARRIED, CARRIED_SHORTEST, SWINGS = 0.6, 0.1, 1.0
"""Leg lengths that hips are above a foot that carries them, seconds that it is still, and leg lengths a second of the
other foot while it swings."""

LOWEST = 0.02
"""Share of the samples in which a point is lower than what counts as its lowest."""

HIGHEST = 0.08
"""Leg lengths above the clip's floor up to which feet are on it: those on a box or a stair are not."""

KNEE_BENT = 0.05
"""Leg lengths off the line from hip to ankle from which a knee is clearly bent."""

LEAST_JERK = 2.0
"""Leg lengths per cubic second: a clip that moves less has no jerk to compare with."""

SHIN_POINTS = (0.2, 0.4, 0.6, 0.8)
"""Where on the way from knee to ankle the shin is measured."""

LOOK_ABOVE, LOOK_BELOW = 0.6, 1.0
"""Leg lengths above and below a point in which its ground is looked for."""


class Figures(NamedTuple):
    """One clip on one ground."""

    hover: float
    """Highest a standing sole is above the ground, beyond what it is above the floor in the clip."""
    penetration: float
    """Deepest that any point of a sole is below the ground."""
    slide: float
    """Farthest that the heel or the ball moves along the ground while it stands in the clip and touches the ground: a
    heel that a foot lifts as it rolls over its ball does not slide."""
    ball: float
    """The same of the balls alone: the rest of the slide is feet that swivel and drag their heels."""
    yaw: float
    """Farthest that a foot rotates about the ground's normal while its heel and ball stand, degrees."""
    beyond: float
    """Largest rotation of a joint in a 60 Hz frame beyond what the clip does in that frame, degrees."""
    flips: int
    """Times a knee comes to bend the other way where it does not in the clip."""
    jerk: float
    """Root mean square of the ankles' jerk, as a ratio to the clip's."""
    shin: float
    """Deepest that a shin is below the ground."""
    raised: float
    """Highest that an ankle comes towards its hip and above it, beyond the highest in the clip."""
    sag: float
    """Lowest that the hips are above the mean ground under the soles, below what they are above the clip's floor."""
    steps: int
    """Contacts that were measured."""
    joint: str
    """The joint that rotates most beyond the clip."""
    when: float
    """Seconds at which the figure that is worst against its bar is worst."""

    @property
    def faults(self) -> dict[str, float]:
        """Each figure as a multiple of its bar; above 1 it is not clean."""
        shares = {name: getattr(self, name) / bar for name, bar in BARS.items()}
        return shares | {"flips": 10.0 * self.flips}

    @property
    def clean(self) -> bool:
        return max(self.faults.values()) <= 1.0


BARS = {"hover": 0.02, "penetration": 0.02, "slide": 0.01, "beyond": 25.0}
"""What clean means, besides that no knee flips."""


def measure_bake(case: Case, baked: Clip) -> Figures:
    """All figures of a baked clip as it plays."""
    times = _times(case, float(baked.duration or 0.0))
    keys = max((track.times for track in baked.tracks), key=len)
    return measure(case, times, case.clip_frames.rig.skeleton.world(baked.sample(times)).astype(np.float64), keys)


def measure_play(case: Case, played: Motion) -> Figures:
    """All figures of what a game showed: where soles are in its frames alone, how it moves from frame to frame."""
    times = _times(case, float(played.times[-1]))
    rig, shown = case.clip_frames.rig, max(1, round(RATE * float(played.times[1])))
    clip = clip_motion(case).at(rig, played.times).at(rig, times).world(rig)
    return measure(case, times, played.at(rig, times).world(rig), played.times, shown, clip)


def _times(case: Case, end: float) -> Any:
    """Times at which a motion is measured, to its end or that of its clip."""
    end = min(float(case.clip_frames.times[-1]), end)
    return np.arange(int(end * RATE + 1e-6) + 1) / RATE


def measure(case: Case, times: Any, after: Any, keys: Any, shown: int = 1, clip: Any = None) -> Figures:
    """All figures of a motion.

    after: (F, J, 4, 4), its world matrices at these times. keys: times of its own. shown: samples from one that is
    shown to the next; soles are judged in these. clip: the clip's matrices as it would be shown; None: as it is.
    """
    rig = case.clip_frames.rig
    leg = float(np.mean([rig.skeleton.length(each.joints) for each in rig.legs]))
    before = clip_motion(case).at(rig, times).world(rig)
    feet_before, feet = _soles(rig, before), _soles(rig, after)
    height = feet_before @ np.array(rig.up) - rig.floor
    share = SKATED_SHARE if case.clip_frames.moved else PASSED_SHARE
    slow = share * _speed(before[:, rig.hips, :3, 3], rig)
    standing = _standing(feet_before, height, slow, leg, loops=case.clip_frames.moved)
    gap, normal, found = _over(case.ground, feet, rig, leg)
    low, on_ground = standing, case.settings.ground is not None
    if not case.clip_frames.moved:
        standing = low | _carrying(feet_before, before[:, rig.hips, :3, 3], np.array(rig.up), leg)
    touching = standing & (gap < BARS["hover"] * leg)
    worst = {
        "hover": _hover(gap, height, standing if on_ground else low, found, HIGHEST * leg) / leg,
        "penetration": np.where(found, np.maximum(-gap, 0.0), 0.0).max(axis=(1, 2)) / leg,
        "slide": _drifts(feet, normal, touching, (0, 1)) / leg,
    }
    for values in worst.values():
        values[np.arange(len(values)) % shown > 0] = 0.0
    yaw = _yaw(feet, normal, standing)
    clip = before if clip is None else clip
    rotation, joint = _beyond(case, clip, after)
    worst["beyond"] = rotation
    flips = _flips(rig, after[::FRAME], leg) & ~_flips(rig, before[::FRAME], leg)
    ankles = [each.joints[-1] for each in rig.legs]
    every = _key_spacing(keys)
    jerks = [_jerk(world[::every, ankles][..., :3, 3], every / RATE) / leg for world in (clip, after)]
    faults = {name: values.max(initial=0.0) / BARS[name] for name, values in worst.items()}
    culprit = max(faults, key=lambda name: faults[name])
    first = FRAME * int(np.argmax(flips.any(axis=1)))
    when = first if flips.any() else int(np.argmax(worst[culprit]))
    return Figures(
        **{name: float(values.max(initial=0.0)) for name, values in worst.items()},
        ball=float(_drifts(feet, normal, touching, (1,)).max(initial=0.0)) / leg,
        yaw=float(yaw.max(initial=0.0)),
        flips=int(flips.sum()),
        jerk=float(max(jerks[1], LEAST_JERK) / max(jerks[0], LEAST_JERK)),
        shin=float(_shins(case.ground, after, rig, leg)),
        raised=max(float(_highest_ankle(rig, after) - _highest_ankle(rig, before)), 0.0) / leg,
        sag=float(_sag(rig, before, after, np.where(found, feet @ np.array(rig.up) - gap, np.nan)[:, :, 1])) / leg,
        steps=_count(standing.any(axis=-1)),
        joint=joint,
        when=float(times[min(when, len(times) - 1)]),
    )


# --- poses -----------------------------------------------------------------------------------------------------


def _soles(rig: Any, world: Any) -> Any:
    """(F, L, 3, 3): heel, ball and tip of each sole."""
    feet = []
    for leg in rig.legs:
        joints, offsets = rig.sole_points(leg)
        matrices = world[:, joints]
        feet.append(np.einsum("fprc,pc->fpr", matrices[..., :3, :3], offsets) + matrices[..., :3, 3])
    return np.stack(feet, axis=1)


def _local(case: Case, world: Any) -> Any:
    """(F, J, 4): rotation of each joint relative to its parent."""
    axes = world[..., :3, :3] / np.maximum(np.linalg.norm(world[..., :3, :3], axis=-2, keepdims=True), 1e-12)
    axes = axes * np.sign(np.linalg.det(axes))[..., np.newaxis, np.newaxis]
    rotations = arrays.from_matrix(axes)
    parents = case.clip_frames.rig.skeleton.parents
    above = np.where((parents >= 0)[:, np.newaxis], rotations[:, np.maximum(parents, 0)], (0.0, 0.0, 0.0, 1.0))
    return arrays.mul(arrays.conj(above), rotations)


# --- contacts --------------------------------------------------------------------------------------------------


def _speed(hips: Any, rig: Any) -> Any:
    """(F, 1, 1): speed of the hips across up, in the unit of the file a second."""
    moves = np.gradient(hips, 1.0 / RATE, axis=0)
    up = np.array(rig.up)
    return np.linalg.norm(moves - (moves @ up)[:, np.newaxis] * up, axis=-1)[:, np.newaxis, np.newaxis]


def _standing(points: Any, height: Any, slow: Any, leg: float, *, loops: bool) -> Any:
    """(F, L, 3): whether each point of a sole stands in the clip: low for itself, slow, and for long enough.

    slow: (F, 1, 1), speed below which it stands, if that is more than the usual one. loops: whether feet may be landing
    in the first frame and lifting in the last one.
    """
    speed = np.linalg.norm(np.gradient(points, 1.0 / RATE, axis=0), axis=-1)
    low = height <= np.quantile(height, LOWEST, axis=0) + STANDING_HEIGHT * leg
    low &= height < HIGHEST * leg
    standing = low & (speed < np.maximum(STANDING_SPEED * leg, slow))
    trimmed = np.zeros_like(standing)
    for foot, point in np.ndindex(*standing.shape[1:]):
        for start, stop in _runs(standing[:, foot, point]):
            # A foot settles and lifts in the first and the last frame.
            first = start + FRAME if start or loops else 0
            last = stop - FRAME if stop < len(standing) or loops else stop
            if last - first >= STANDING_SHORTEST * RATE:
                trimmed[first:last, foot, point] = True
    return trimmed


def _carrying(points: Any, hips: Any, up: Any, leg: float) -> Any:
    """(F, L, 3): which points of a sole stand, however high, because their foot carries a body on two legs: it is still
    below the hips, and somewhere in that time the other foot swings.
    """
    standing = np.zeros(points.shape[:-1], bool)
    if points.shape[1] != 2:
        return standing
    speed = np.linalg.norm(np.gradient(points, 1.0 / RATE, axis=0), axis=-1) / leg
    below = (hips[:, np.newaxis, np.newaxis] - points) @ up > CARRIED * leg
    still = (speed < STANDING_SPEED) & below
    for foot, point in np.ndindex(2, 3):
        for start, stop in _runs(still[:, foot, point]):
            first, last = start + FRAME if start else 0, stop - FRAME if stop < len(still) else stop
            if last - first >= CARRIED_SHORTEST * RATE and (speed[first:last, 1 - foot].min(axis=-1) > SWINGS).any():
                standing[first:last, foot, point] = True
    return standing


def _runs(mask: Any) -> list[tuple[int, int]]:
    edges = np.diff(np.pad(mask, 1).astype(np.int8))
    return list(zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True))


def _count(planted: Any) -> int:
    return sum(len(_runs(planted[:, foot])) for foot in range(planted.shape[1]))


# --- the ground ------------------------------------------------------------------------------------------------


def _over(ground: Any, points: Any, rig: Any, leg: float) -> tuple[Any, Any, Any]:
    """Height above the ground, the ground's normal, and whether there is any, of points (..., 3)."""
    up = np.array(rig.up, np.float64)
    flat = points.reshape(-1, 3)
    down = np.broadcast_to(-up, flat.shape).copy()
    hits = ground.cast(flat + LOOK_ABOVE * leg * up, down, (LOOK_ABOVE + LOOK_BELOW) * leg)
    found = np.asarray(hits.hit, bool)
    gap = np.where(found, (flat - np.asarray(hits.point)) @ up, 0.0)
    normal = np.where(found[:, np.newaxis], hits.normal, up)
    return gap.reshape(points.shape[:-1]), normal.reshape(points.shape), found.reshape(points.shape[:-1])


def _hover(gap: Any, height: Any, standing: Any, found: Any, highest: float) -> Any:
    """(F,): how high standing soles are above the ground, less what they are above the floor in the clip, if that is
    not higher than so much: the box that the clip steps onto is not there.

    Without a ground, nothing is known of feet on such a box.
    """
    lowest = np.where(found, gap, np.inf).min(axis=-1)
    own = np.maximum(height.min(axis=-1), 0.0)
    own = np.where(own < highest, own, 0.0)
    off = np.where(standing.any(axis=-1) & found.any(axis=-1), lowest - own, 0.0)
    return np.maximum(off, 0.0).max(axis=1)


def _drifts(points: Any, normal: Any, standing: Any, which: tuple[int, ...]) -> Any:
    """(F,): how far some points of soles, 0 for heels and 1 for balls, are along the ground from where they landed."""
    drift = np.zeros(len(points))
    for foot in range(points.shape[1]):
        for point in which:
            for start, stop in _runs(standing[:, foot, point]):
                part = points[start:stop, foot, point]
                off = part - part[0]
                across = normal[start:stop, foot, point]
                off = off - across * (off * across).sum(axis=-1, keepdims=True)
                drift[start:stop] = np.maximum(drift[start:stop], np.linalg.norm(off, axis=-1))
    return drift


def _yaw(points: Any, normal: Any, standing: Any) -> Any:
    """(F,): degrees that feet have rotated about the ground's normal since heel and ball stood."""
    yaw = np.zeros(len(points))
    along = points[:, :, 1] - points[:, :, 0]
    for foot in range(points.shape[1]):
        for start, stop in _runs(standing[:, foot, 0] & standing[:, foot, 1]):
            up = normal[start:stop, foot, 1]
            flat = along[start:stop, foot] - up * (along[start:stop, foot] * up).sum(axis=-1, keepdims=True)
            cosine = (arrays.unit(flat) * arrays.unit(flat[:1])).sum(axis=-1)
            yaw[start:stop] = np.maximum(yaw[start:stop], np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))
    return yaw


def _shins(ground: Any, world: Any, rig: Any, leg: float) -> float:
    """The deepest point of a shin, leg lengths below the ground."""
    knees, ankles = (world[:, [each.joints[k] for each in rig.legs]][..., :3, 3] for k in (-2, -1))
    share = np.array(SHIN_POINTS)[:, np.newaxis]
    points = knees[:, :, np.newaxis] * (1 - share) + ankles[:, :, np.newaxis] * share
    gap, _, found = _over(ground, points, rig, leg)
    return float(np.where(found, np.maximum(-gap, 0.0), 0.0).max(initial=0.0)) / leg


def _highest_ankle(rig: Any, world: Any) -> Any:
    """How high ankles come above their hips at most; negative if they stay below."""
    hips, ankles = (world[:, [each.joints[k] for each in rig.legs]][..., :3, 3] for k in (0, -1))
    return ((ankles - hips) @ np.array(rig.up)).max()


def _sag(rig: Any, before: Any, after: Any, ground: Any) -> Any:
    """How far the hips come down at most, against the ground under the feet, (F, L), where there is any."""
    up, known = np.array(rig.up), np.isfinite(ground).all(axis=1)
    now, own = after[:, rig.hips, :3, 3] @ up - ground.mean(axis=1), before[:, rig.hips, :3, 3] @ up - rig.floor
    return np.maximum(own - now, 0.0)[known].max(initial=0.0)


# --- joints ----------------------------------------------------------------------------------------------------


def _beyond(case: Case, before: Any, after: Any) -> tuple[Any, str]:
    """(F-2,): degrees in a 60 Hz frame beyond the clip, of the joint that has most; and that joint's name."""
    rotated = []
    for world in (before, after):
        local = _local(case, world)
        rotated.append(np.degrees(arrays.angle_between(local[:-FRAME], local[FRAME:])))
    more = np.maximum(rotated[1] - rotated[0], 0.0)
    if not more.size:
        return np.zeros(1), ""
    return more.max(axis=1), case.clip_frames.rig.skeleton.names[int(np.argmax(more.max(axis=0)))]


def _flips(rig: Any, world: Any, leg: float) -> Any:
    """(F, L): whether each knee comes to bend the other way, seen from the hips, since it was last clearly bent."""
    hips = world[:, rig.hips, :3, :3]
    hips = hips / np.maximum(np.linalg.norm(hips, axis=-2, keepdims=True), 1e-12)
    hip, knee, ankle = (world[:, [each.joints[k] for each in rig.legs]][..., :3, 3] for k in (0, 1, -1))
    line = arrays.unit(ankle - hip)
    out = (knee - hip) - line * ((knee - hip) * line).sum(axis=-1, keepdims=True)
    out = np.einsum("frc,flr->flc", hips, out)
    bent = np.linalg.norm(out, axis=-1) > KNEE_BENT * leg
    flips = np.zeros(bent.shape, bool)
    for foot in range(bent.shape[1]):
        when = np.flatnonzero(bent[:, foot])
        ways = arrays.unit(out[when, foot])
        flips[when[1:], foot] = (ways[1:] * ways[:-1]).sum(axis=-1) < 0.0
    return flips


def _key_spacing(times: Any) -> int:
    """Samples from key to key, at least those of a 60 Hz frame: between keys motion is linear, which is no jerk."""
    return max(FRAME, round(float(np.median(np.diff(times))) * RATE)) if len(times) > 1 else FRAME


def _jerk(points: Any, dt: float) -> float:
    third = np.diff(points, n=3, axis=0) / dt**3
    return float(np.sqrt((third * third).sum(axis=-1).mean())) if len(third) else 0.0
