"""Bodies made in code: others with limbs of other lengths, hips and shoulders of other widths, larger feet, rotated
axes of joints and other rest poses; and the pairs of them that the suite judges.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np

from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from tests.retargeting.variants import Variant, vary

SEED = 41
"""How bodies and pairs are drawn."""

FACTORS = {
    "legs": (0.6, 1.3),
    "arms": (0.75, 1.4),
    "hips": (0.5, 1.8),
    "shoulders": (0.6, 1.6),
    "feet": (0.7, 2.2),
    "trunk": (0.7, 1.4),
    "hands": (0.8, 1.6),
}
"""How many times as long, least and most. Half of the bodies differ in one of them, half in all."""


def make_body(character: Any, seed: int) -> Any:
    """Make a body of another one, by a seed."""
    rng = random.Random(seed)
    names = [rng.choice(list(FACTORS))] if seed % 2 else list(FACTORS)
    found = with_proportions(character, {name: rng.uniform(*FACTORS[name]) for name in names})
    if seed % 3 == 0 and np.allclose(found.skeleton.rest.scales, 1.0):
        axes, arms = rng.randrange(1000), rng.uniform(0.0, 0.9)
        found = vary(found, Variant(axes=axes, arms=arms, order=rng.randrange(1000), scale=rng.choice((1.0, 100.0))))
    return replace(found, name=f"{character.name} {seed}: {', '.join(names)}")


def with_proportions(character: Any, factors: dict[str, float]) -> Any:
    """Scale the bones of a character: those of `FACTORS`."""
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
    found: dict[str, list[int]] = {name: [] for name in FACTORS}
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
