"""Facts about a character as plain data, ready for JSON."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinema.io.source import Source
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.rig import Arm, Fingers, Leg, Rig
from kinema.motion.flat_feet import flat_feet_in
from kinema.roles import unit

VERSION = 2
"""Version of what `facts` returns. It changes when a key is removed or changes its meaning, not for new keys."""

DOUBTFUL = 0.6
"""Confidence below which a role is marked as doubtful: it is more luck than evidence."""

TRAVELS = 0.25
"""Body sizes between start and end from which a clip counts as travelling: less than a step is swaying."""

SURE_UNIT = 0.6
"""Confidence, 0 to 1, from which a unit is not called a guess: the body is within about half of its usual size."""

EVEN = 0.02
"""Relative difference up to which the steps between keys count as frames: times are often rounded."""


_LEG, _ARM = ("thigh", "shin", "foot"), ("upper arm", "forearm", "hand")


def facts(character: Character, file: Path | None = None) -> dict[str, Any]:
    """Return what is in a character. file: the file it was loaded from, to be included.

    Lengths are in the unit of the file, times in seconds, angles in degrees. docs/command_line.md lists the keys.
    """
    size = _size(character)
    return {
        "version": VERSION,
        "file": None if file is None else {"name": file.name, "bytes": file.stat().st_size},
        "name": character.name,
        "space": _space(character, size),
        "joints": _joints(character),
        "roles": {} if character.rig is None else _roles(character.rig),
        "hands_and_feet": {} if character.rig is None else _hands_and_feet(character),
        "clips": [_clip(clip, character.rig, max(size)) for clip in character.clips.values()],
        "skins": [
            {"vertices": len(skin.vertices), "triangles": len(skin.triangles), "joints": len(np.unique(skin.joints))}
            for skin in character.skins
        ],
        "problems": [str(problem) for problem in getattr(character.source, "problems", ())],
        "doubts": [] if character.rig is None else [str(doubt) for doubt in character.rig.doubts],
    }


# --- sizes -----------------------------------------------------------------------------------------------------


def _size(character: Character) -> tuple[float, float, float]:
    """Extent along the character's left, up and forward in its standing pose, of joints and skins together.

    If the body is known, only its joints count: others may be lights and cameras.
    """
    rig, skeleton = character.rig, character.skeleton
    up, ahead = _directions(character) or ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    axes = np.stack((np.cross(up, ahead), up, ahead))
    stance = skeleton.rest if rig is None or rig.stance is None else rig.stance
    body = np.arange(len(skeleton)) if rig is None else skeleton.below([rig.hips])
    palette = skeleton.palette(stance)
    shown = [skeleton.world(stance)[body, :3, 3], *(skin.deform(palette) for skin in character.skins)]
    across = np.concatenate(shown).astype(np.float64) @ axes.T
    wide, tall, deep = np.ptp(across, axis=0)
    if rig is not None:  # From the floor, which is below the lowest joint.
        tall = max(tall, across[:, 1].max() - rig.floor)
    return float(wide), float(tall), float(deep)


def _directions(character: Character) -> tuple[Sequence[float], Sequence[float]] | None:
    """Up and forward of the body, or else of the format."""
    if character.rig is not None:
        return character.rig.up, character.rig.forward
    return character.source.directions if isinstance(character.source, Source) else None


def _space(character: Character, size: tuple[float, float, float]) -> dict[str, Any]:
    rig = character.rig
    found = None if rig is None else unit(rig)
    guess = {"guess": found and found.name, "sure": found is not None and found.sure > SURE_UNIT}
    metres = isinstance(character.source, Source) and character.source.in_metres
    directions = _directions(character)
    return {
        "size": list(size),
        "unit": {"guess": "metres", "sure": True} if metres else guess,
        "up": None if directions is None else list(directions[0]),
        "forward": None if directions is None else list(directions[1]),
        "floor": None if rig is None else rig.floor,
    }


# --- joints ----------------------------------------------------------------------------------------------------


def _joints(character: Character) -> list[dict[str, Any]]:
    skeleton, rig = character.skeleton, character.rig
    moved = {int(track.joint) for clip in character.clips.values() for track in clip.tracks}
    skinned = {int(j) for skin in character.skins for j in np.unique(skin.joints[skin.weights > 0])}
    roles: dict[int, list[Any]] = {}
    for role in () if rig is None else roles_of(rig):
        roles.setdefault(role.joint, []).append(role)
    return [
        {
            "index": i,
            "name": name,
            "parent": int(skeleton.parents[i]),
            "roles": [role.path for role in roles.get(i, ())],
            "label": ", ".join(role.label for role in roles.get(i, ())),
            "doubtful": any(_doubtful(rig, role.group) for role in roles.get(i, ())),
            "moved": i in moved,
            "skinned": i in skinned,
        }
        for i, name in enumerate(skeleton.names)
    ]


def _roles(rig: Rig) -> dict[str, Any]:
    """Roles by name: their joints, and their confidence, which is None for given roles."""
    found: dict[str, Any] = {}
    for role in roles_of(rig):
        about = found.setdefault(
            role.group,
            {"joints": [], "confidence": _confidence(rig, role.group), "doubtful": _doubtful(rig, role.group)},
        )
        about["joints"].append(rig.skeleton.names[role.joint])
    return found


def _hands_and_feet(character: Character) -> dict[str, Any]:
    """What retargeting compares of hands and feet: where palms point and how flat feet are rotated, by limb."""
    rig = character.rig
    assert rig is not None
    palms = {arm.name: rig.palm(arm) for arm in rig.arms}
    flat = flat_feet_in(tuple(character.clips.values()), rig)
    return {
        "palms": {
            name: None if palm is None else {"along": palm[0].tolist(), "across": palm[1].tolist()}
            for name, palm in palms.items()
        },
        "flat_feet": {
            leg.name: math.degrees(math.acos(min(float(flat[leg.name][1]), 1.0))) if leg.name in flat else 0.0
            for leg in rig.legs
        },
    }


def _confidence(rig: Rig, group: str) -> float | None:
    """The confidence of a role; all tails share one."""
    return rig.confidence.get(group.partition("[")[0])


def _doubtful(rig: Rig | None, group: str) -> bool:
    sure = None if rig is None else _confidence(rig, group)
    return sure is not None and sure < DOUBTFUL


# --- clips -----------------------------------------------------------------------------------------------------


def _clip(clip: Clip, rig: Rig | None, size: float) -> dict[str, Any]:
    keys = max((len(track.times) for track in clip.tracks), default=0)
    root, up = (clip.root, (0.0, 1.0, 0.0)) if rig is None else (int(rig.hips), rig.up)
    travel = clip.root_motion(0.0, clip.duration or 0.0, joint=root, up=up)
    distance = float(np.linalg.norm(travel.offset))
    return {
        "name": clip.name,
        "duration": clip.duration,
        "keys": keys,
        "fps": _frame_rate(clip),
        "tracks": len(clip.tracks),
        "joints": len({int(track.joint) for track in clip.tracks}),
        "interpolations": sorted({track.interpolation for track in clip.tracks}),
        "events": [{"time": event.time, "name": event.name} for event in clip.events],
        "travel": distance,
        "turn": math.degrees(float(travel.yaw)),
        "travels": distance > TRAVELS * size,
    }


def _frame_rate(clip: Clip) -> float | None:
    """Frames per second, if the keys of the track with most of them are evenly spaced."""
    times = max((track.times for track in clip.tracks), key=len, default=np.zeros(0))
    if len(times) < 3:
        return None
    steps = np.diff(times)
    if np.ptp(steps) > EVEN * steps.mean() + 2 * np.spacing(np.float32(times[-1])):
        return None
    return round(float(1.0 / steps.mean()), 3)


# --- roles ---------------------------------------------------------------------------------------------------------


class Role(NamedTuple):
    """The role of one joint."""

    joint: int
    path: str
    """For programs: "hips", "legs.left[0]", "arms.left.fingers[1][0]"."""
    label: str
    """For people: "left thigh"."""
    group: str
    """The role it belongs to, a key of `Rig.confidence`: "legs.left"."""


def roles_of(rig: Rig) -> Iterator[Role]:
    """Yield every role of a rig; a joint may have several."""
    yield Role(int(rig.hips), "hips", "hips", "hips")
    for group in ("spine", "neck"):
        yield from _chain(group, group, getattr(rig, group))
    if rig.head is not None:
        yield Role(int(rig.head), "head", "head", "head")
    for i, joint in enumerate(rig.eyes):
        side = ("left eye", "right eye")[i] if len(rig.eyes) == 2 else "eye"
        yield Role(int(joint), f"eyes[{i}]", side, "eyes")
    for leg in rig.legs:
        group = f"legs.{leg.name}"
        side = leg.name.replace("_", " ")
        yield from _limb(group, side, leg.joints, _LEG, "leg")
        if leg.toe is not None:
            yield Role(int(leg.toe), f"{group}.toe", f"{side} toe", group)
        if leg.girdle is not None:
            yield Role(int(leg.girdle), f"{group}.girdle", f"{side} girdle", group)
        for i, toe in enumerate(leg.toes):
            for k, joint in enumerate(toe):
                yield Role(int(joint), f"{group}.toes[{i}][{k}]", f"{side} toe {i + 1}", group)
        yield from _twists(group, side, leg)
    for arm in rig.arms:
        group, side = f"arms.{arm.name}", arm.name.replace("_", " ")
        if arm.shoulder is not None:
            yield Role(int(arm.shoulder), f"{group}.shoulder", f"{side} shoulder", group)
        yield from _limb(group, side, arm.joints, _ARM, "arm")
        for i, (finger, joints) in enumerate(Fingers.of(arm.fingers).items()):
            for k, joint in enumerate(joints):
                yield Role(int(joint), f"{group}.fingers[{i}][{k}]", f"{side} {finger}", group)
        yield from _twists(group, side, arm)
    for i, tail in enumerate(rig.tails):
        yield from _chain(f"tails[{i}]", "tail", tail)


def _twists(group: str, side: str, limb: Leg | Arm) -> Iterator[Role]:
    for i, twist in enumerate(limb.twists):
        yield Role(int(twist.joint), f"{group}.twists[{i}]", f"{side} twist {twist.fraction:.0%}", group)


def _chain(group: str, label: str, joints: Sequence[Any]) -> Iterator[Role]:
    for i, joint in enumerate(joints):
        yield Role(int(joint), f"{group}[{i}]", label, group)


def _limb(group: str, side: str, joints: Sequence[Any], parts: Sequence[str], what: str) -> Iterator[Role]:
    """Yield the roles of a limb. Three joints have names; of more, only the last has."""
    for i, joint in enumerate(joints):
        last = i == len(joints) - 1
        part = parts[i] if len(joints) == len(parts) else parts[-1] if last else f"{what} {i + 1}"
        yield Role(int(joint), f"{group}[{i}]", f"{side} {part}", group)
