"""`Held`: hands, feet and gaze that somebody has taken hold of, and where he holds them.

Places are kept in the character's own space: who is held by the hand while walking takes the hand along.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.pipeline import Animator, Frame
from kinema.pose import Pose
from kinema.rig import Rig
from kinema.skeleton import Skeleton
from kinema.solvers.goal import Goal, solve

EASE = 0.06
"""Seconds in which a foot that is taken, or let go, is half way there."""
GONE = 0.004
"""A foot that is let go and so little on its way is back."""


class Grip(NamedTuple):
    """Something that can be taken. kind: "hand", "foot" or "gaze". limb: the arm's or the leg's name."""

    kind: str
    limb: str
    joint: int

    @property
    def handle(self) -> str:
        return f"{self.kind} {self.limb}".strip()


def grips_of(rig: Rig | None) -> list[Grip]:
    """What can be taken of a character."""
    if rig is None:
        return []
    hands = [Grip("hand", arm.name, int(arm.joints[-1])) for arm in rig.arms]
    feet = [Grip("foot", leg.name, int(leg.joints[-1])) for leg in rig.legs]
    return hands + feet + ([] if rig.head is None else [Grip("gaze", "", int(rig.head))])


class Held:
    """What is held of one character. gaze_ahead: how far ahead of the head a free gaze has its handle."""

    def __init__(self, rig: Rig | None, gaze_ahead: float) -> None:
        self._rig = rig
        self._gaze_ahead = gaze_ahead
        self.grips = {grip.handle: grip for grip in grips_of(rig)}
        self.places: dict[str, Any] = {}
        """Of what is held, by handle: (3,), in the character's own space."""
        self._shares: dict[str, tuple[Any, float]] = {}
        """Of feet: where they were held last, and how much of the way there they are, 0 to 1."""
        self.errors: dict[str, float] = {}
        """Of feet: how far each is from where it is held."""

    def take(self, handle: str, place: Any) -> None:
        """Hold a handle at a place in the character's own space. One that it has not is no mistake."""
        if handle in self.grips:
            self.places[handle] = np.asarray(place, float)

    def let_go(self) -> None:
        """Everything, which eases back."""
        self.places.clear()

    # In a frame.

    def guide(self, animator: Animator, place: Any) -> None:
        """Before a frame: tell the stages where hands and gaze are held. place: (4, 4), of the character's space."""
        for grip in self.grips.values():
            at = self.places.get(grip.handle)
            point = None if at is None else place[:3, :3] @ at + place[:3, 3]
            if grip.kind == "gaze":
                animator.look_at(point)
            elif grip.kind == "hand" and point is None:
                animator["hands"].release(grip.limb)
            elif grip.kind == "hand":
                animator["hands"].reach(grip.limb, point)

    def pull_feet(self, skeleton: Skeleton, pose: Pose, weight: float, dt: float) -> tuple[Pose, bool]:
        """After a frame: the pose with the feet where they are held, and whether any is."""
        self._ease(dt)
        self.errors = {}
        for handle, (at, share) in self._shares.items():
            leg = self._rig.leg(self.grips[handle].limb) if self._rig else None
            if leg is not None:
                pose, report = solve(skeleton, pose, leg.joints, Goal(at, weight=share * weight))
                self.errors[handle] = float(report.error)
        return pose, bool(self._shares)

    def _ease(self, dt: float) -> None:
        keep = 0.5 ** (dt / EASE)
        for handle, grip in self.grips.items():
            if grip.kind == "foot" and (handle in self.places or handle in self._shares):
                last, share = self._shares.get(handle, (None, 0.0))
                goal = 1.0 if handle in self.places else 0.0
                self._shares[handle] = self.places.get(handle, last), goal + (share - goal) * keep
        self._shares = {h: s for h, s in self._shares.items() if h in self.places or s[1] > GONE}

    # To be seen.

    def shown(self, frame: Frame, world: Any) -> Any:
        """(H, 3): where each handle is in the world, in the order of `grips`."""
        place = np.asarray(frame.transform, float)
        rows = []
        for grip in self.grips.values():
            at = self.places.get(grip.handle)
            if at is not None:
                rows.append(place[:3, :3] @ at + place[:3, 3])
            elif grip.kind == "gaze":
                rows.append(world[grip.joint, :3, 3] + place[:3, :3] @ self._ahead())
            else:
                rows.append(world[grip.joint, :3, 3])
        return np.array(rows).reshape(-1, 3)

    def _ahead(self) -> Any:
        return self._gaze_ahead * np.array(self._rig.forward if self._rig else (0.0, 0.0, 1.0))
