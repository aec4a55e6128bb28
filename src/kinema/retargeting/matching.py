"""Which parts of one body follow which parts of another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kinema.errors import InputError, listed
from kinema.model.rig import FINGERS, Fingers, Rig
from kinema.retargeting.parts import Body, Part

CENTRAL = ("trunk", "neck", "head")
"""Parts that are on neither side."""


@dataclass(frozen=True)
class Follow:
    """A joint of the target and the parts of the source that it follows."""

    joint: int
    target: Part
    first: Part
    second: Part
    weight: float
    """0 follows the first part, 1 the second."""

    @property
    def main(self) -> Part:
        """The part that counts more."""
        return self.second if self.weight > 0.5 else self.first


@dataclass(frozen=True)
class Matches:
    """What of the target follows what of the source, and what has no counterpart."""

    follows: tuple[Follow, ...]
    legs: dict[str, str]
    """Names of the source's legs by those of the target."""
    arms: dict[str, str]
    missing: tuple[str, ...]
    """Parts of the target that the source lacks: they stay as the stance has them."""
    unused: tuple[str, ...]
    """Parts of the source that the target lacks."""


def match(source: Body, target: Body, mirror: bool = False, joints: Mapping[str, str] | None = None) -> Matches:
    """Match the parts of two bodies by their roles, and by where they are in their limb or in their spine.

    mirror: let left limbs follow right ones. joints: names of the source's joints by those of the target's, which
    replace what is found; "" for none.
    """
    legs, arms = match_limbs(source.rig, target.rig)
    if mirror:
        legs, arms = (crossed(limbs) for limbs in (legs, arms))
    renamed = {f"{name} {what}": f"{other} {what}" for name, other in legs.items() for what in ("leg", "foot")}
    renamed |= {f"{name} {what}": f"{other} {what}" for name, other in arms.items() for what in ("shoulder", "arm")}
    fingers = _finger_groups(source, target, arms)
    groups, wanted = _groups(source.parts), _groups(target.parts)
    if "neck" in wanted and "neck" not in groups and "head" in groups:  # A neck bends between chest and head.
        groups["neck"] = [replace(groups["trunk"][-1], place=0.0), *groups["head"]]
    renamed |= fingers
    follows, missing = [], []
    for group, parts in wanted.items():
        others = groups.get(renamed.get(group, group if group in CENTRAL else ""), [])
        if not others:
            missing.append(group)
            continue
        follows += [_follow(part, parts, others) for part in parts]
    used = {renamed.get(group, group) for group in wanted}
    follows.sort(key=lambda each: each.joint)
    unique = {each.joint: each for each in reversed(follows)}
    _replace(unique, source, target, joints or {})
    return Matches(
        tuple(unique[joint] for joint in sorted(unique)),
        legs,
        arms,
        tuple(missing),
        tuple(group for group in groups if group not in used),
    )


def _finger_groups(source: Body, target: Body, arms: Mapping[str, str]) -> dict[str, str]:
    """Match fingers by name; one that the source lacks follows its neighbour."""
    found = {}
    for name, other in arms.items():
        if name not in target.palms or other not in source.palms:
            continue
        ours, theirs = (Fingers.of(body.rig.arm(arm).fingers).names for body, arm in ((source, other), (target, name)))
        for finger in theirs:
            if finger in ours:
                near = finger
            elif finger == "thumb":
                continue
            else:
                near = min((each for each in ours if each != "thumb"), key=lambda each: _apart(each, finger))
            found[f"{name} {finger}"] = f"{other} {near}"
    return found


def _apart(finger: str, other: str) -> int:
    """How many fingers lie between two."""
    return abs(FINGERS.index(finger) - FINGERS.index(other)) if {finger, other} <= set(FINGERS) else len(FINGERS)


def _replace(follows: dict[int, Follow], source: Body, target: Body, joints: Mapping[str, str]) -> None:
    """Let joints of the target follow other ones. Raise InputError for joints that have no role."""
    ours, theirs = ({part.joint: part for part in reversed(body.parts)} for body in (source, target))
    for name, other in joints.items():
        joint = target.rig.skeleton.index(name)
        if joint not in theirs:
            raise InputError(f"{name!r} of the target has no role; those that have one are {_named(target, theirs)}")
        if not other:
            follows.pop(joint, None)
            continue
        part = ours.get(source.rig.skeleton.index(other))
        if part is None:
            raise InputError(f"{other!r} of the source has no role; those that have one are {_named(source, ours)}")
        found = follows.get(joint)
        if found is None or found.main.joint != part.joint:
            follows[joint] = Follow(joint, theirs[joint], part, part, 0.0)


def _named(body: Body, parts: Mapping[int, Part]) -> str:
    return listed(body.rig.skeleton.names[joint] for joint in sorted(parts))


def match_limbs(
    source: Rig, target: Rig, named: tuple[str, str] = ("the source", "the target")
) -> tuple[dict[str, str], dict[str, str]]:
    """Match legs and arms by name: (source's name by target's name) of each. Raise InputError for other bodies.

    named: what the error calls the bodies.
    """
    for name, rig in zip(named, (source, target), strict=True):
        if not rig.legs and not rig.arms:
            raise InputError(
                f"{name} has neither legs nor arms: a motion goes from limbs to limbs. If it has some, say which "
                "joints they are (roles=, or --role)"
            )
    ours, theirs = [leg.name for leg in source.legs], [leg.name for leg in target.legs]
    if len(ours) != len(theirs):
        raise InputError(
            f"{named[0]} has {_count(len(ours), 'leg')}, {named[1]} has {_count(len(theirs), 'leg')}: "
            "a motion goes onto bodies with as many"
        )
    if not ours and not (source.arms and target.arms):
        raise InputError(f"{named[0]} and {named[1]} have no limbs in common")
    same = set(ours) == set(theirs)
    legs = {name: name if same else ours[k] for k, name in enumerate(theirs)}
    arms = {arm.name for arm in source.arms}
    return legs, {arm.name: arm.name for arm in target.arms if arm.name in arms}


def crossed(limbs: Mapping[str, str]) -> dict[str, str]:
    """Let limbs follow those of the other side, where there are any."""
    others = {name: other_side(other) for name, other in limbs.items()}
    return {name: other if other in limbs.values() else limbs[name] for name, other in others.items()}


def other_side(name: str) -> str:
    """Return a name such as "front_left" with left and right swapped."""
    swapped = {"left": "right", "right": "left"}
    return "_".join(swapped.get(word, word) for word in name.split("_"))


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


def _groups(parts: Sequence[Part]) -> dict[str, list[Part]]:
    groups: dict[str, list[Part]] = {}
    for part in parts:
        groups.setdefault(part.group, []).append(part)
    return groups


def _follow(part: Part, parts: Sequence[Part], others: Sequence[Part]) -> Follow:
    """Find what a part follows: its counterpart where both groups have as many parts, else by place."""
    if len(parts) == len(others):
        other = others[parts.index(part)]
        return Follow(part.joint, part, other, other, 0.0)
    places = np.array([other.place for other in others])
    after = int(np.clip(np.searchsorted(places, part.place), 0, len(others) - 1))
    before = max(after - 1, 0) if places[after] >= part.place else after
    gap = places[after] - places[before]
    share = float(np.clip((part.place - places[before]) / gap, 0.0, 1.0)) if gap > 0 else 0.0
    if part.group.endswith("leg"):  # A bone takes the direction of the one beside it; between two it would bend twice.
        share = float(round(share))
    if share == 1.0:
        before, share = after, 0.0
    return Follow(part.joint, part, others[before], others[after], share)
