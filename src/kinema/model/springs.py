"""`Spring`: a chain of joints that swings, such as hair, a skirt or an ear, and the shapes it collides with.

These are the settings that VRM files hold. The stage `Springs` moves the joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.errors import InputError
from kinema.model.skeleton import Joint, Skeleton
from kinema.validation import Reals

LARGEST_PULL = 1e6
"""Largest pull and radius: the end of a bone then crosses any scene within a frame."""

ALLOWED = {
    "stiffness": (0.0, LARGEST_PULL),
    "drag": (0.0, 1.0),
    "gravity": (-LARGEST_PULL, LARGEST_PULL),
    "radius": (0.0, LARGEST_PULL),
}
"""The numbers of a spring that may differ from joint to joint, and what they may be."""


@dataclass(frozen=True, kw_only=True)
class SpringCollider:
    """A sphere, a capsule or a plane that moves with a joint, and that springs stay out of.

    Examples
    --------
    >>> skull = km.SpringCollider(joint="head", offset=(0, 0.08, 0), radius=0.1)
    """

    joint: Joint
    """The joint it moves with."""
    offset: ArrayLike = (0.0, 0.0, 0.0)
    """(3,): centre of the sphere, one end of the capsule or a point of the plane, in the joint's space."""
    tail: ArrayLike | None = None
    """(3,): the other end of a capsule, in the joint's space. None for a sphere."""
    radius: float = 0.0
    """Radius of sphere or capsule, metres in world space."""
    inside: bool = False
    """Whether springs are kept inside the sphere or capsule instead."""
    normal: ArrayLike | None = None
    """(3,): the side of a plane on which springs are kept, a direction in the joint's space. None: it is no plane."""

    def __post_init__(self) -> None:
        validation.vector("offset", self.offset)
        if self.tail is not None:
            validation.vector("tail", self.tail)
        validation.number("radius", self.radius, *ALLOWED["radius"])
        if self.normal is not None:
            validation.axis("normal", self.normal)


@dataclass(frozen=True, kw_only=True)
class Spring:
    """A chain of joints that swings. Every number may be one for the whole chain, or one for each joint.

    Examples
    --------
    >>> ear = km.Spring(joints=("ear_1", "ear_2"), stiffness=2.0, gravity=0.5, tip=0.05)
    """

    joints: Sequence[Joint]
    """The chain from root to tip. Joints between them may be left out."""
    stiffness: float | Sequence[float] = 1.0
    """Pull towards the pose, metres a second that it adds to the end of a bone in a sixtieth of a second."""
    drag: float | Sequence[float] = 0.4
    """Share of its speed that the end of a bone loses in a sixtieth of a second, 0 to 1."""
    gravity: float | Sequence[float] = 0.0
    """Pull along `gravity_direction`, in the unit of `stiffness`."""
    gravity_direction: ArrayLike = (0.0, -1.0, 0.0)
    """(3,), or (joints, 3): where gravity pulls, world space. Its length multiplies the pull, as in VRM files."""
    radius: float | Sequence[float] = 0.0
    """Metres that the end of a bone stays away from colliders."""
    colliders: Sequence[SpringCollider] = ()
    """What the chain collides with."""
    center: Joint | None = None
    """The joint relative to which the chain swings: its own motion does not make the chain swing. None: the world."""
    tip: float = 0.0
    """Metres by which the last joint's bone is longer than the skeleton. 0: the last joint is only the end of the bone
    before, and does not rotate."""

    def __post_init__(self) -> None:
        joints = validation.sequence("joints", self.joints, "joints")
        object.__setattr__(self, "joints", joints)
        for name, (low, high) in ALLOWED.items():
            found = validation.within(name, getattr(self, name), low, high)
            if found.shape not in ((), (len(joints),)):
                raise InputError(
                    f"{name} must be one number or one for each of {len(joints)} joints, got {found.shape}"
                )
        direction = validation.vectors("gravity_direction", self.gravity_direction, 3, np.float64)
        if direction.shape not in ((3,), (len(joints), 3)):
            raise InputError(f"gravity_direction must have shape (3,) or ({len(joints)}, 3), got {direction.shape}")
        validation.number("tip", self.tip, 0.0)
        for n, collider in enumerate(validation.sequence("colliders", self.colliders, "colliders")):
            validation.instance(f"colliders[{n}]", collider, SpringCollider)

    def check(self, name: str, skeleton: Skeleton) -> tuple[int, ...]:
        """Return the joints as indices. Raises InputError unless they run down a branch of this skeleton.

        name: of the spring, for errors.
        """
        joints = skeleton.branch(f"{name}.joints", self.joints, 1 if self.tip > 0 else 2)
        for collider in self.colliders:
            skeleton.index(collider.joint)
        if self.center is not None:
            center = skeleton.index(self.center)
            if center not in skeleton.above(joints[:1]):
                above, below = skeleton.names[center], skeleton.names[joints[0]]
                raise InputError(f"{name}.center is {above!r}; allowed are {below!r} and the joints above it")
        return joints

    def numbers(self, name: str) -> Reals:
        """Return a setting as an array, one value for each joint."""
        return np.broadcast_to(np.asarray(getattr(self, name), np.float64), len(self.joints))

    def gravities(self) -> Reals:
        """Return the pull of gravity as a vector for each joint."""
        return np.asarray(self.gravity_direction, np.float64) * self.numbers("gravity")[:, np.newaxis]


def checked_springs(springs: Any, skeleton: Skeleton) -> list[tuple[Spring, tuple[int, ...]]]:
    """Return springs with their joints as indices. Raises InputError for one that is wrong or rotates a joint twice."""
    found: list[tuple[Spring, tuple[int, ...]]] = []
    rotated: dict[int, int] = {}
    for n, spring in enumerate(validation.sequence("springs", springs, "springs")):
        validation.instance(f"springs[{n}]", spring, Spring)
        joints = spring.check(f"springs[{n}]", skeleton)
        for joint in joints if spring.tip > 0 else joints[:-1]:
            first = rotated.setdefault(joint, n)
            if first != n:
                raise InputError(f"springs[{n}] rotates {skeleton.names[joint]!r}, as springs[{first}] does")
        found.append((spring, joints))
    return found
