"""Roles of the full-body solver: effectors by name, and how easily each part of a body moves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kinema.errors import InputError
from kinema.model.rig import Rig
from kinema.model.skeleton import Joint, Skeleton

HIPS, SPINE, NECK, SHOULDER, TAIL, LIMB = 0.5, 0.2, 0.3, 0.08, 0.5, 1.0
"""Mobility by role, squared radians. Limbs do most. A spine shares its bend among its joints, shoulders help late."""

THIGH, KNEE, FOOT = 2.0, 4.0, 0.3
"""Mobility of legs. Knees bend easily, so that a body that is pulled down crouches instead of folding its spine.
Stiffer ankles keep it from leaning over its pinned feet like a board."""


def roles(rig: Rig) -> dict[str, int]:
    """Joints by the names that effectors use."""
    found = {"hips": int(rig.hips)}
    if rig.head is not None:
        found["head"] = int(rig.head)
    if rig.neck:
        found["neck"] = int(rig.neck[0])
    if rig.spine:
        found["chest"] = int(rig.spine[-1])
    for arm in rig.arms:
        names = ("upper_arm", "elbow", "hand")
        found |= {f"{arm.name}_{name}": int(joint) for name, joint in zip(names, arm.joints, strict=False)}
        found[f"{arm.name}_hand"] = int(arm.joints[-1])
        if arm.shoulder is not None:
            found[f"{arm.name}_shoulder"] = int(arm.shoulder)
    for leg in rig.legs:
        found |= {f"{leg.name}_thigh": int(leg.joints[0]), f"{leg.name}_knee": int(leg.joints[1])}
        found[f"{leg.name}_foot"] = int(leg.joints[-1])
        if leg.toe is not None:
            found[f"{leg.name}_toe"] = int(leg.toe)
    return found


def joint_of(skeleton: Skeleton, rig: Rig | None, name: Joint) -> int:
    """The index of a joint by role, name or index. A role counts before a joint of the same name.

    Raises InputError for a name that is neither.
    """
    known = {} if rig is None else roles(rig)
    if isinstance(name, str) and name in known:
        return known[name]
    if isinstance(name, str) and name not in skeleton.names and known:
        raise InputError(f"there is no joint or role {name!r:.60}; roles are {', '.join(sorted(known))}")
    return skeleton.index(name)


def default_mobility(skeleton: Skeleton, rig: Rig | None) -> NDArray[np.float64]:
    """(J,): how easily each joint rotates."""
    values: NDArray[Any] = np.full(len(skeleton), LIMB)
    if rig is None:
        return values
    values[int(rig.hips)] = HIPS
    values[np.array(rig.spine, int)] = SPINE
    values[np.array(rig.neck, int)] = NECK
    for arm in rig.arms:
        if arm.shoulder is not None:
            values[int(arm.shoulder)] = SHOULDER
    for leg in rig.legs:
        first, *knees, last = (int(joint) for joint in leg.joints)
        values[first], values[knees], values[last] = THIGH, KNEE, FOOT
    for tail in rig.tails:
        values[np.array(tail, int)] = TAIL
    return values
