"""How well a motion keeps to its source on another body, judged from joints alone.

Everything is computed here with plain NumPy from world matrices: own contacts (by the height above where a point
stands, and by speed), own directions, own slides. Only rigs say which joint is what.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.retargeting.limb_judging import limbs
from tests.retargeting.seen import LOW, SLOW, TIP, Seen, across, contacts, pairs, unit

FPS = 60.0
NEVER_DOWN = 0.1
"""Leg lengths above the lowest point of all soles that the lowest of a point is, for one that never stands: the heels
of a crawling body."""

CALIBRATION, JUMP = 1.0, 10.0
"""Seconds in which a capture may begin with poses of calibration, and degrees that the joints of its limbs jump out of
them from frame to frame, in the mean."""

BENT = 0.17
"""Sine of the bend of a knee, at least, for the side it bends to to count: 10 degrees."""


def judge(source: Any, clip: Any, target: Any, new: Any) -> dict[str, float]:
    """Return figures of a clip that was moved from one body to another. Angles are degrees, lengths leg lengths."""
    length = float(new.duration)
    times = np.linspace(0.0, length, max(round(length * FPS), 2) + 1)
    start = min((float(track.times[0]) for track in clip.tracks), default=0.0)
    dt = float(times[1] - times[0])
    first = after_calibration(source.rig, clip.sample(start + times).rotations.astype(np.float64), dt)
    times = times[first:]
    ours, theirs = Seen(source, clip.sample(start + times)), Seen(target, new.sample(times))
    found = {
        **directions(ours, theirs),
        **trunk(ours, theirs),
        **feet(ours, theirs, dt),
        **limbs(ours, theirs, dt),
        **smoothness(ours, theirs, dt),
    }
    return {name: float(value) for name, value in found.items()}


def after_calibration(rig: Any, rotations: Any, dt: float) -> int:
    """The first frame of the motion: captures may begin with poses of calibration, which do not belong to it.

    rotations: (F, J, 4).
    """
    joints = [int(joint) for limb in (*rig.legs, *rig.arms) for joint in limb.joints]
    jumps = rotation_steps(rotations[: round(CALIBRATION / dt), joints]).mean(axis=1) > JUMP
    return int(np.flatnonzero(jumps)[-1]) + 1 if jumps.any() else 0


def rotation_steps(rotations: Any) -> Any:
    """Degrees from frame to frame, (F - 1, n), of rotations, (F, n, 4)."""
    dots = np.abs((rotations[1:] * rotations[:-1]).sum(-1)).clip(0, 1)
    return np.degrees(2 * np.arccos(dots))


def directions(ours: Seen, theirs: Seen) -> dict[str, Any]:
    """Angles between the bones of limbs, of limbs with as many bones."""
    angles = [
        angle(ours.at[:, a[k + 1]] - ours.at[:, a[k]], theirs.at[:, b[k + 1]] - theirs.at[:, b[k]])
        for kind in ("legs", "arms")
        for a, b in pairs(ours, theirs, kind)
        for k in range(len(a) - 1)
    ]
    return {"limbs": np.mean(angles), "limbs_p95": np.quantile(angles, 0.95)} if angles else {}


def trunk(ours: Seen, theirs: Seen) -> dict[str, Any]:
    """How the trunk leans compared to the stance as it heads, the line of the shoulders and the heading of the hips."""
    found: dict[str, Any] = {}
    if ours.rig.arms and theirs.rig.arms and ours.rig.legs:
        ways, at_rest = [], []
        for seen in (ours, theirs):
            arms, legs = ([joints[0] for joints in seen.limbs(kind).values()] for kind in ("arms", "legs"))
            ways.append(seen.at[:, arms].mean(1) - seen.at[:, legs].mean(1))
            at_rest.append(headed(seen, seen.stance[arms].mean(0) - seen.stance[legs].mean(0)))
        found["trunk"] = angle(swing(at_rest[0], ways[0], at_rest[1]), ways[1]).mean()
    for name, kind, level in (("shoulders", "arms", 1.0), ("heading", "legs", 0.0)):
        lines = [across(seen, kind) for seen in (ours, theirs)]
        if all(line is not None for line in lines):
            found[name] = angle(*(line * (1.0, level, 1.0) for line in lines)).mean()
    return found


def headed(seen: Seen, way: Any) -> Any:
    """A direction of the stance, rotated about up to where the hips of each frame head, (F, 3)."""
    line, rest = across(seen, "legs"), seen.limbs("legs")
    if line is None:
        return np.broadcast_to(way, (len(seen.at), 3))
    start = seen.stance[rest["left"][0]] - seen.stance[rest["right"][0]]
    turn = np.arctan2(line[:, 0], line[:, 2]) - np.arctan2(start[0], start[2])
    c, s = np.cos(turn), np.sin(turn)
    return np.stack((c * way[0] + s * way[2], np.full(len(turn), way[1]), c * way[2] - s * way[0]), -1)


def feet(ours: Seen, theirs: Seen, dt: float) -> dict[str, Any]:
    """Slide of points of soles while those of the source stand, feet that float there, sinking, and knees that bend to
    the other side.

    Heel and ball slide where they are down: on a foot twice as long, a ball that the source puts down is twice as high.
    A foot floats if nothing of its sole is down.
    """
    if ours.soles is None or theirs.soles is None:
        return {}
    names = list(ours.limbs("legs"))
    order = [names.index(name) if name in names else k for k, name in enumerate(theirs.limbs("legs"))]
    soles = ours.soles[:, order]
    lowest = np.quantile(soles[..., 1], 0.03, axis=0)
    speed = np.linalg.norm(np.gradient(soles, dt, axis=0)[..., [0, 2]], axis=-1)
    stands = (soles[..., 1] < lowest + LOW) & (speed < SLOW) & (lowest < lowest.min() + NEVER_DOWN)
    heights = theirs.soles[..., 1] - theirs.floor
    return {
        "slide": slide(theirs.soles, stands & (heights < LOW), dt),
        "source_slide": slide(soles, stands, dt),
        "float": floating(heights.min(-1), stands[..., :TIP].any(-1), dt),
        "sink": max(0.0, -heights.min()),
        "flips": flips(ours, theirs),
    }


def floating(heights: Any, stands: Any, dt: float) -> float:
    """How high the lowest point of a sole is above the floor while its foot stands, at most, (F, L) each."""
    found = [
        heights[start:stop, foot].max()
        for foot in range(heights.shape[1])
        for start, stop in contacts(stands[:, foot], dt)
    ]
    return max(found, default=0.0)


def slide(soles: Any, stands: Any, dt: float) -> float:
    """How far heel or ball slides in one contact, at most."""
    worst = 0.0
    for foot in range(soles.shape[1]):
        for point in range(TIP):
            for start, stop in contacts(stands[:, foot, point], dt):
                at = soles[start:stop, foot, point][:, [0, 2]]
                worst = max(worst, float(np.linalg.norm(at - np.median(at, 0), axis=-1).max()))
    return worst


def flips(ours: Seen, theirs: Seen) -> int:
    """Number of knees that bend to the other side than those of the source."""
    count = 0
    for a, b in pairs(ours, theirs, "legs"):
        bends = [np.cross(unit(bone(seen, j, 0)), unit(bone(seen, j, 1))) for seen, j in ((ours, a), (theirs, b))]
        clear = (np.linalg.norm(bends[0], axis=-1) > BENT) & (np.linalg.norm(bends[1], axis=-1) > BENT)
        count += bool(((bends[0] * bends[1]).sum(-1)[clear] < 0).any())
    return count


def bone(seen: Seen, joints: list[int], k: int) -> Any:
    return seen.at[:, joints[k + 1]] - seen.at[:, joints[k]]


def smoothness(ours: Seen, theirs: Seen, dt: float) -> dict[str, Any]:
    """Largest step of a leg's joint or of the hips beyond the source's, at 60 Hz, and the jerk of leg directions as a
    ratio. Hips in the character's space: what is above them may rotate in their stead.
    """
    steps, jerks = [], []
    for seen in (ours, theirs):
        legs = list(seen.limbs("legs").values())
        joints = [joint for leg in legs for joint in leg[:-1]]
        steps.append(np.maximum(rotation_steps(seen.rotations[:, joints]).max(1), matrix_steps(seen.hips)))
        ways = np.stack(
            [unit(seen.at[:, leg[k + 1]] - seen.at[:, leg[k]]) for leg in legs for k in range(len(leg) - 1)], 1
        )
        jerks.append(np.linalg.norm(np.diff(ways, 3, axis=0), axis=-1).mean())
    around = np.maximum.reduce([steps[0], np.roll(steps[0], 1), np.roll(steps[0], -1)])
    return {"beyond": max(0.0, (steps[1] - around).max() / (60 * dt)), "jerk": jerks[1] / max(jerks[0], 1e-9)}


def matrix_steps(matrices: Any) -> Any:
    """Degrees from frame to frame, (F - 1,), of matrices, (F, 3, 3), without their scales."""
    axes = matrices / np.maximum(np.linalg.norm(matrices, axis=-2, keepdims=True), 1e-12)
    traces = np.einsum("frc,frc->f", axes[1:], axes[:-1])
    return np.degrees(np.arccos(((traces - 1) / 2).clip(-1, 1)))


def angle(a: Any, b: Any) -> Any:
    return np.degrees(np.arccos(np.clip((unit(a) * unit(b)).sum(-1), -1.0, 1.0)))


def swing(starts: Any, ends: Any, v: Any) -> Any:
    """v rotated by the smallest rotations from directions to others, all (F, 3)."""
    a, b = unit(starts), unit(ends)
    c, d = np.cross(a, b), (a * b).sum(-1, keepdims=True)
    return v * d + np.cross(c, v) + c * (c * v).sum(-1, keepdims=True) / (1 + d)
