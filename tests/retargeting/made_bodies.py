"""Bodies made of others in code: limbs of other lengths, hips and shoulders of other widths, larger feet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton

PARTS = ("legs", "arms", "hips", "shoulders", "feet", "trunk", "hands")
"""What of a body can have another length."""


def with_proportions(character: Any, factors: dict[str, float]) -> Any:
    """Scale the bones of a character, by parts."""
    skeleton, rig = character.skeleton, character.rig
    scales = np.ones(len(skeleton))
    for name, joints in parts_of(rig).items():
        scales[joints] *= factors.get(name, 1.0)
    rest = skeleton.rest.astype(np.float64)
    new = Skeleton(
        skeleton.names,
        skeleton.parents,
        Pose.of(rest.translations * scales[:, np.newaxis], rest.rotations, rest.scales),
        limits={j: limit for j, limit in enumerate(skeleton.limits) if limit is not None},
    )
    feet, up = factors.get("feet", 1.0), np.array(rig.up)
    own = {"girdle": None, "twists": (), "toes": ()}
    sizes = ("sole", "toe_sole", "heel", "tip")
    legs = [replace(leg, **{name: getattr(leg, name) * feet for name in sizes}, **own) for leg in rig.legs]
    soles = [float(new.rest_world[int(leg.joints[-1]), :3, 3] @ up) - leg.sole for leg in legs]
    stands = Rig(
        skeleton=new,
        hips=rig.hips,
        spine=rig.spine,
        neck=rig.neck,
        head=rig.head,
        eyes=rig.eyes,
        legs=legs,
        arms=[replace(arm, twists=()) for arm in rig.arms],
        forward=rig.forward,
        up=rig.up,
        floor=float(np.mean(soles)),
    )
    return Character(new, {}, stands, name=character.name)


def parts_of(rig: Any) -> dict[str, list[int]]:
    """Joints whose bones, from their parents, belong to a part of the body."""
    found: dict[str, list[int]] = {name: [] for name in PARTS}
    for leg in rig.legs:
        first, *others = (int(joint) for joint in leg.joints)
        found["hips"].append(first)
        found["legs"] += others
        found["feet"] += [int(joint) for joint in rig.skeleton.below([others[-1]])[1:]]
    for arm in rig.arms:
        first, *others = (int(joint) for joint in arm.joints)
        found["shoulders"].append(first)
        found["arms"] += others
        found["hands"] += [int(joint) for joint in rig.skeleton.below([others[-1]])[1:]]
    found["trunk"] = [int(joint) for joint in (*rig.spine, *rig.neck)]
    return found
