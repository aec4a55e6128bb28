"""What is measured, by forward kinematics of the judge's own, from the baked clip as it plays, between its keys too.

Nothing here asks the product what it did or thinks: soles, contacts, travel and poses of calibration are those of
`tests.motion.reference`. Lengths are in leg lengths, angles in degrees.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.model.clip import Clip
from tests.motion.cases import Case
from tests.motion.kinematics import FRAME, RATE, angles_between, flat, pose_world, runs, smooth_over
from tests.motion.playing import Motion
from tests.motion.reference import ROLLS, Contact, Reference, reference_of

TRIM = 3
"""Samples at both ends of a contact in which a foot settles and lifts off."""

TOUCHES = 0.012
"""Leg lengths above the ground up to which a point touches it: one that is higher does not slide."""

ROUNDING = 1e-9
"""Of a figure as a multiple of its bar: what is put at its bar is clean."""

SAME_SIDE = 1e-6
"""Share of its length that the least motion of a sole may differ from that of others of its points: rounding."""

UNSEEN_SOLE = 0.02
"""Leg lengths that a sole may be thicker or thinner throughout where a file has no mesh to see it by."""

SIDES, FREE, ASIDE = 12, 0.005, 0.5**0.5
"""Directions in which a point in the ground is looked at beside itself, leg lengths below the ground that still are out
of it, and the share of the bar that is looked aside and up at once: a toe may be at a riser, a bit in its tread."""

KNEE_BENT, KNEE_SEEN = 0.05, 0.01
"""Leg lengths off the line from hip to ankle from which a knee is clearly bent, and from which it is seen which way it
bends: where the clip shows the same way, nothing has flipped."""

LEAST_JERK = 2.0
"""Leg lengths per cubic second: a clip that moves less has no jerk to compare with."""

SHIN_POINTS = (0.2, 0.4, 0.6, 0.8)
"""Where on the way from knee to ankle the shin is measured."""

LOOK_ABOVE, LOOK_BELOW = 0.6, 1.0
"""Leg lengths above and below a point in which its ground is looked for."""

STANDS_UP = 0.5
"""Leg lengths of the hips above the feet from which on a body stands: where it lies, feet do not tell its height."""

HEIGHT_OVER = 0.5
"""Seconds over which the height of a body above its ground is taken: within a step of stairs it has to change."""


class Figures(NamedTuple):
    """One clip on one ground."""

    hover: float
    """Highest a standing sole is above the ground, beyond what it is above its local floor in the clip."""
    penetration: float
    """Deepest that any point of a sole is below the ground."""
    slide: float
    """Farthest that all of a sole that touches the ground moves along it while its foot stands in the clip, or the end
    of a sole does that swivels more than in the clip."""
    beyond: float
    """Largest rotation of a joint in a 60 Hz frame beyond what the clip does in that frame, degrees."""
    flips: int
    """Times a knee comes to bend the other way where it does not in the clip."""
    calibration: bool
    """Whether the pose of calibration that the clip begins with is still there."""
    lifted: float
    """Most that the hips are off their height above the ground in the clip, over half a second, up or down."""
    jerk: float
    """Root mean square of the ankles' jerk, as a ratio to the clip's."""
    shin: float
    """Deepest that a shin is below the ground."""
    raised: float
    """Highest that an ankle comes towards its hip and above it, beyond the highest in the clip."""
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
        return shares | {"flips": 10.0 * self.flips, "calibration": 10.0 * self.calibration}

    @property
    def clean(self) -> bool:
        return max(self.faults.values()) <= 1.0 + ROUNDING


BARS = {"hover": 0.02, "penetration": 0.02, "slide": 0.01, "beyond": 25.0}
"""What clean means, besides that no knee flips."""


class Shown(NamedTuple):
    """A motion that is judged. F samples."""

    world: Any
    """(F, J, 4, 4)"""
    rotations: Any
    """(F, J, 4): of joints relative to their parents."""
    clip_rotations: Any
    """(F, J, 4): those of the clip as it would be shown."""
    clip_ankles: Any
    """(F, L, 3): where ankles would be then."""
    keys: Any
    """Times of its own."""
    every: int = 1
    """Samples from one that is shown to the next; soles are judged in these."""


def bake_reference(case: Case, baked: Clip) -> Reference:
    """The clip of a bake, pass after pass."""
    end = float(baked.duration or 0.0)
    return reference_of(case.character, case.clip, _samples(end), end / case.settings.loops)


def measure_bake(case: Case, baked: Clip, reference: Reference | None = None) -> Figures:
    """All figures of a baked clip as it plays."""
    reference = bake_reference(case, baked) if reference is None else reference
    poses, keys = baked.sample(reference.times), max((track.times for track in baked.tracks), key=len)
    ankles = reference.moved(reference.world)[:, reference.ankles][..., :3, 3]
    shown = Shown(
        pose_world(case.character.skeleton, poses),
        np.asarray(poses.arrays()[1], np.float64),
        reference.rotations,
        ankles,
        keys,
    )
    return measure(case.ground, reference, shown)


def measure_play(case: Case, played: Motion) -> Figures:
    """All figures of what a game showed: where soles are in its frames alone, how it moves from frame to frame."""
    times = _samples(float(played.times[-1]))
    reference = reference_of(case.character, case.clip, times, case.one_pass)
    skeleton, motion = case.character.skeleton, played.at(case.character.skeleton, times)
    clip = Clip.from_poses("clip", skeleton, case.poses_at(played.times), times=played.times)
    own = clip.sample(times)
    rotations = [np.asarray(poses.arrays()[1], np.float64) for poses in (motion.poses, own)]
    ankles = reference.moved(pose_world(skeleton, own))[:, reference.ankles][..., :3, 3]
    world = motion.transforms[:, np.newaxis] @ pose_world(skeleton, motion.poses)
    every = max(1, round(RATE * float(played.times[1])))
    figures = measure(case.ground, reference, Shown(world, rotations[0], rotations[1], ankles, played.times, every))
    return figures._replace(calibration=False)  # A game plays what it is given.


def _samples(end: float) -> Any:
    return np.arange(int(end * RATE + 1e-6) + 1) / RATE


def measure(ground: Any, reference: Reference, shown: Shown) -> Figures:
    """All figures of a motion."""
    up, leg, begins = reference.up, reference.leg, reference.begins
    points = reference.soles.points(shown.world)
    gap, normal, found = _over(ground, points, up, leg)
    unseen = _unseen(reference, gap, found)
    gap = gap - unseen
    worst = {
        "hover": _hover(reference, gap, found) / leg,
        "penetration": _depths(reference, gap, found, ground, points, unseen) / leg,
        "slide": _slides(reference, shown.world, normal, found & (gap < TOUCHES * leg)) / leg,
    }
    for values in worst.values():
        values[np.arange(len(values)) % shown.every > 0] = 0.0
        values[:begins] = 0.0
    rotation = np.maximum(_steps(shown.rotations) - _fastest_near(_steps(shown.clip_rotations)), 0.0)
    rotation[:begins] = 0.0
    worst["beyond"] = rotation.max(axis=1, initial=0.0)
    flips = _flips(reference, shown.world, reference.world)
    every = _key_spacing(shown.keys)
    ankles = shown.world[:, reference.ankles][..., :3, 3]
    own, jerk = (_jerk(each[begins::every], every / RATE) / leg for each in (shown.clip_ankles, ankles))
    faults = {name: values.max(initial=0.0) / BARS[name] for name, values in worst.items()}
    culprit = max(faults, key=lambda name: faults[name])
    when = FRAME * int(np.argmax(flips.any(axis=1))) if flips.any() else int(np.argmax(worst[culprit]))
    joint = int(np.argmax(rotation.max(axis=0))) if rotation.size else 0
    return Figures(
        **{name: float(values.max(initial=0.0)) for name, values in worst.items()},
        flips=int(flips.sum()),
        calibration=_keeps_calibration(reference, shown.rotations),
        lifted=_lifted(reference, shown.world, np.where(found, points @ up - gap, np.nan)) / leg,
        jerk=float(max(jerk, LEAST_JERK) / max(own, LEAST_JERK)),
        shin=_shins(ground, reference, shown.world),
        raised=max(_highest_ankle(reference, shown.world) - _highest_ankle(reference, reference.world), 0.0) / leg,
        steps=len(reference.contacts),
        joint=reference.names[joint],
        when=float(reference.times[min(when, len(reference.times) - 1)]),
    )


# --- the ground -------------------------------------------------------------------------------------------------


def _over(ground: Any, points: Any, up: Any, leg: float) -> tuple[Any, Any, Any]:
    """Height above the ground, the ground's normal, and whether there is any, of points (..., 3)."""
    every = points.reshape(-1, 3)
    down = np.broadcast_to(-up, every.shape).copy()
    hits = ground.cast(every + LOOK_ABOVE * leg * up, down, (LOOK_ABOVE + LOOK_BELOW) * leg)
    found = np.asarray(hits.hit, bool)
    gap = np.where(found, (every - np.asarray(hits.point)) @ up, 0.0)
    normal = np.where(found[:, np.newaxis], hits.normal, up)
    return gap.reshape(points.shape[:-1]), normal.reshape(points.shape), found.reshape(points.shape[:-1])


def _unseen(reference: Reference, gap: Any, found: Any) -> Any:
    """(K,): how much higher the points of both soles stand than the judge's own, where no mesh tells how thick soles
    are.
    """
    stands, most = reference.stands & found, UNSEEN_SOLE * reference.leg
    if reference.soles.seen:
        return np.zeros(gap.shape[-1])
    each = [gap[..., k][stands[..., k]] for k in range(gap.shape[-1])]
    return np.array([np.clip(np.median(gaps), -most, most) if gaps.size else 0.0 for gaps in each])


def _hover(reference: Reference, gap: Any, found: Any) -> Any:
    """(F,): how high standing feet are above the ground, less what they are above their level in the clip."""
    off, heights = np.zeros(len(gap)), reference.points @ reference.up
    for contact in reference.contacts:
        part = _trimmed(contact, len(gap))
        own = np.maximum(heights[part, contact.foot].min(axis=-1) - contact.level, 0.0)
        least = np.where(found[part, contact.foot], gap[part, contact.foot], np.inf).min(axis=-1)
        off[part] = np.maximum(off[part], np.where(np.isfinite(least), least - own, 0.0))
    return off


def _depths(reference: Reference, gap: Any, found: Any, ground: Any, points: Any, unseen: Any) -> Any:
    """(F,): how deep soles are in the ground, down or to the side, whichever is less: a toe that brushes past an edge
    is as deep as it is behind it. Where no mesh shows them, less what they are below their floor in the clip: captured
    toes bend through it. unseen: (K,), how much thicker soles are than they are shown.
    """
    leg, up = reference.leg, reference.up
    depth = np.where(found, np.maximum(-gap, 0.0), 0.0)
    if not reference.soles.seen:
        depth = depth - np.maximum(reference.floor[:, np.newaxis, np.newaxis] - reference.points @ up, 0.0)
    deep = depth > BARS["penetration"] * leg
    if deep.any():
        side = np.cross(up, np.eye(3)[np.abs(up).argmin()])
        angles = np.arange(SIDES) * 2.0 * np.pi / SIDES
        ways = np.cos(angles)[:, np.newaxis] * side + np.sin(angles)[:, np.newaxis] * np.cross(up, side)
        thicker, free = unseen[np.nonzero(deep)[2], np.newaxis], np.zeros(int(deep.sum()), bool)
        for aside, below in ((1.0, FREE), (ASIDE, ASIDE * BARS["penetration"])):
            beside = points[deep][:, np.newaxis] + aside * BARS["penetration"] * leg * ways / np.linalg.norm(side)
            free |= (_over(ground, beside, up, leg)[0] - thicker > -below * leg).any(axis=1)
        depth[deep] = np.where(free, np.minimum(depth[deep], BARS["penetration"] * leg), depth[deep])
    return np.maximum(depth, 0.0).max(axis=(1, 2))


def _trimmed(contact: Contact, count: int) -> slice:
    """The samples of a contact in which its foot neither settles nor lifts off."""
    first = contact.start + TRIM if contact.start else 0
    return slice(first, max(first, contact.stop - TRIM if contact.stop < count else contact.stop))


def _slides(reference: Reference, world: Any, normal: Any, touching: Any) -> Any:
    """(F,): how far feet that stand have slid along the ground since they landed. A foot that swivels on a point of its
    sole does not slide, wherever that point is: it slides as far as the part of it that touches the ground moves at
    least. Nor may it swivel more than in the clip: the end of its sole slides by that. Where no mesh shows how thick a
    sole is, that of the sole that slides least: as a foot rocks, points at other depths move otherwise.

    touching: (F, L, K), which points are on the ground.
    """
    stands, heights = _settled(reference.stands & touching), reference.points @ reference.up
    pivots = touching & (heights < heights.min(axis=-1, keepdims=True) + ROLLS * reference.leg)
    if (toes := reference.soles.toes) is not None:
        pivots[..., toes] &= ~np.delete(stands, toes, axis=-1).any(axis=-1)
    depths = (0.0,) if reference.soles.seen else (-UNSEEN_SOLE, 0.0, UNSEEN_SOLE)
    each = [reference.soles.thicker(depth * reference.leg).points(world) for depth in depths]
    slid = np.min([_slid(points, normal, stands.any(axis=-1), stands | pivots) for points in each], axis=0)
    shown, touches = reference.soles.points(world), stands | pivots
    swivelled = _swivelled(reference.points, shown, reference.up, stands.any(axis=-1), touches)
    return np.maximum(slid, swivelled).max(axis=-1)


def _settled(stands: Any) -> Any:
    """Points that stand, (F, L, K), without the samples in which they settle and lift off."""
    kept = np.zeros_like(stands)
    for foot, point in np.ndindex(*stands.shape[1:]):
        for start, stop in runs(stands[:, foot, point]):
            last = stop - TRIM if stop < len(stands) else stop
            kept[start + TRIM if start else 0 : max(last, 0), foot, point] = True
    return kept


def _slid(points: Any, normal: Any, stands: Any, touching: Any) -> Any:
    """(F, L): how far the least moving part of what touches the ground, (F, L, K), has gone along it since each foot
    came to stand, (F, L).
    """
    steps = np.diff(points, axis=0)
    steps = steps - normal[1:] * (steps * normal[1:]).sum(axis=-1, keepdims=True)
    least = least_of_hull(steps, touching[1:] & touching[:-1])
    slid = np.zeros(stands.shape)
    for foot in range(stands.shape[1]):
        for start, stop in runs(stands[:, foot]):
            slid[start + 1 : stop, foot] = np.linalg.norm(np.cumsum(least[start : stop - 1, foot], axis=0), axis=-1)
    return slid


def least_of_hull(vectors: Any, counted: Any) -> Any:
    """(..., 3): the point nearest to zero of the convex hull of those of some vectors of a plane, (..., K, 3), that
    count, (..., K); zero where none does.
    """
    first, second = np.triu_indices(vectors.shape[-2])
    from_here, way = vectors[..., first, :], vectors[..., second, :] - vectors[..., first, :]
    share = -(from_here * way).sum(axis=-1) / np.maximum((way * way).sum(axis=-1), np.finfo(float).tiny)
    nearest = from_here + np.clip(share, 0.0, 1.0)[..., np.newaxis] * way
    sizes = np.where(counted[..., first] & counted[..., second], (nearest * nearest).sum(axis=-1), np.inf)
    which = sizes.argmin(axis=-1)[..., np.newaxis]
    found = np.take_along_axis(nearest, which[..., np.newaxis], axis=-2)[..., 0, :]
    # Of a hull around zero, some vectors are on the other side of it.
    beyond = (vectors * found[..., np.newaxis, :]).sum(axis=-1) < (1.0 - SAME_SIDE) * (found * found).sum(-1)[..., None]
    outside = counted.any(axis=-1) & ~(beyond & counted).any(axis=-1)
    return np.where(outside[..., np.newaxis], found, 0.0)


def _swivelled(clip: Any, shown: Any, up: Any, stands: Any, touching: Any) -> Any:
    """(F, L): how far the end of what touches the ground, (F, L, K), goes around its middle, while a foot stands,
    beyond how far it goes in the clip. clip, shown: (F, L, K, 3), points of soles.
    """
    counted, far = touching[1:] & touching[:-1], np.zeros(stands.shape)
    (own, _), (turns, sizes) = (_turns(points, up, counted) for points in (clip, shown))
    for foot in range(stands.shape[1]):
        for start, stop in runs(stands[:, foot]):
            part = slice(start, stop - 1), foot
            of_clip, of_this = (np.ptp(np.cumsum(np.append(0.0, each[part] * sizes[part]))) for each in (own, turns))
            far[start:stop, foot] = max(of_this - of_clip, 0.0)
    return far


def _turns(points: Any, up: Any, counted: Any) -> tuple[Any, Any]:
    """Radians by which the points of each sole that count, (F - 1, L, K), rotate about up from sample to sample,
    (F - 1, L), and how far the farthest of them is from their middle, (F - 1, L).
    """
    around, counts = flat(points, up), counted[..., np.newaxis]
    before, after = (
        (each - (each * counts).sum(axis=-2, keepdims=True) / np.maximum(counts.sum(axis=-2, keepdims=True), 1))
        * counts
        for each in (around[:-1], around[1:])
    )
    turns = np.arctan2((np.cross(before, after) @ up).sum(axis=-1), (before * after).sum(axis=(-1, -2)))
    return turns, np.linalg.norm(after, axis=-1).max(axis=-1)


def _lifted(reference: Reference, world: Any, ground: Any) -> float:
    """How far the hips are off their height in the clip above where the feet stand, in the file's unit.

    ground: (F, L, K), its height below the points of the soles. Between the contacts of a foot it goes on evenly.
    """
    up, samples, off = reference.up, np.arange(len(world)), []
    known = np.ones(len(world), bool)
    for foot in range(ground.shape[1]):
        mine = [each for each in reference.contacts if each.foot == foot]
        if not mine:
            return 0.0
        frames = np.concatenate([samples[each.start : each.stop] for each in mine])
        levels = np.concatenate([np.full(each.stop - each.start, each.level) for each in mine])
        below = np.nanmean(ground[frames, foot], axis=-1)
        thigh = reference.thighs[foot]
        own = reference.world[:, thigh, :3, 3] @ up - np.interp(samples, frames, levels)
        now = world[:, thigh, :3, 3] @ up - np.interp(samples, frames, np.nan_to_num(below))
        known &= (samples >= frames[0]) & (samples <= frames[-1]) & (own > STANDS_UP * reference.leg)
        off.append(now - own)
    mean = smooth_over(np.mean(off, axis=0), HEIGHT_OVER)
    return float(np.abs(mean[known]).max(initial=0.0))


def _shins(ground: Any, reference: Reference, world: Any) -> float:
    """The deepest point of a shin, leg lengths below the ground."""
    knees, ankles = (world[:, each][..., :3, 3] for each in (reference.knees, reference.ankles))
    share = np.array(SHIN_POINTS)[:, np.newaxis]
    points = knees[:, :, np.newaxis] * (1 - share) + ankles[:, :, np.newaxis] * share
    gap, _, found = _over(ground, points, reference.up, reference.leg)
    return float(np.where(found, np.maximum(-gap, 0.0), 0.0).max(initial=0.0)) / reference.leg


def _highest_ankle(reference: Reference, world: Any) -> float:
    """How high ankles come above their hips at most; negative if they stay below."""
    thighs, ankles = (world[:, each][..., :3, 3] for each in (reference.thighs, reference.ankles))
    return float(((ankles - thighs) @ reference.up).max())


# --- joints -----------------------------------------------------------------------------------------------------


def _keeps_calibration(reference: Reference, rotations: Any) -> bool:
    """Whether the first pose is rather the clip's first one than that after its poses of calibration."""
    if not reference.begins:
        return False
    first, after = (angles_between(rotations[0], reference.rotations[at]).mean() for at in (0, reference.begins))
    return bool(first < after)


def _steps(rotations: Any) -> Any:
    """(F - 2, J): degrees in a 60 Hz frame."""
    return angles_between(rotations[:-FRAME], rotations[FRAME:])


def _fastest_near(steps: Any) -> Any:
    """(F - 2, J): the largest steps up to a 60 Hz frame earlier or later: a jump of the clip may come that much off."""
    padded = np.pad(steps, ((FRAME, FRAME), (0, 0)))
    return np.max([padded[shift : shift + len(steps)] for shift in range(2 * FRAME + 1)], axis=0)


def _flips(reference: Reference, world: Any, clip: Any) -> Any:
    """(F / FRAME, L): whether each knee comes to bend the other way, seen from the hips, since it was last clearly
    bent, and neither does so in the clip nor is bent that way there.
    """
    out, own = (_knees(reference, each[::FRAME]) for each in (world, clip))
    same = ((out * own).sum(axis=-1) > 0.0) & (np.linalg.norm(own, axis=-1) > KNEE_SEEN * reference.leg)
    return _bends_over(out, reference.leg) & ~_bends_over(own, reference.leg) & ~same


def _knees(reference: Reference, world: Any) -> Any:
    """(F, L, 3): how far knees are off the line from hip to ankle, in the space of the hips."""
    hips = world[:, reference.pelvis, :3, :3]
    hips = hips / np.maximum(np.linalg.norm(hips, axis=-2, keepdims=True), 1e-12)
    hip, knee, ankle = (
        world[:, each][..., :3, 3] for each in (reference.thighs, reference.first_knees, reference.ankles)
    )
    line = (ankle - hip) / np.maximum(np.linalg.norm(ankle - hip, axis=-1, keepdims=True), 1e-12)
    out = (knee - hip) - line * ((knee - hip) * line).sum(axis=-1, keepdims=True)
    return np.einsum("frc,flr->flc", hips, out)


def _bends_over(out: Any, leg: float) -> Any:
    """(F, L): whether each knee comes to bend the other way since it was last clearly bent."""
    bent = np.linalg.norm(out, axis=-1) > KNEE_BENT * leg
    flips = np.zeros(bent.shape, bool)
    for foot in range(bent.shape[1]):
        when = np.flatnonzero(bent[:, foot])
        ways = out[when, foot]
        flips[when[1:], foot] = (ways[1:] * ways[:-1]).sum(axis=-1) < 0.0
    return flips


def _key_spacing(times: Any) -> int:
    """Samples from key to key, at least those of a 60 Hz frame: between keys motion is linear, which is no jerk."""
    return max(FRAME, round(float(np.median(np.diff(times))) * RATE)) if len(times) > 1 else FRAME


def _jerk(points: Any, dt: float) -> float:
    third = np.diff(points, n=3, axis=0) / dt**3
    return float(np.sqrt((third * third).sum(axis=-1).mean())) if len(third) else 0.0
