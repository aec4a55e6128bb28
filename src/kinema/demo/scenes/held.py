"""`Held`: the handles of hands, feet and gaze that a user drags.

Positions are kept in the character's own space, so that a handle moves along while the character walks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinema.pipeline import Animator, Frame
from kinema.pose import Pose
from kinema.rig import Rig
from kinema.skeleton import Skeleton
from kinema.solvers.goal import solve
from kinema.solvers.goal_task import Goal

EASE = 0.06
"""Half-life with which a foot moves to its handle and back, seconds."""
GONE = 0.004
"""Weight below which a released foot counts as free."""


class Grip(NamedTuple):
    """A handle. kind: "hand", "foot" or "gaze". limb: name of the arm or leg."""

    kind: str
    limb: str
    joint: int

    @property
    def handle(self) -> str:
        return f"{self.kind} {self.limb}".strip()


def grips_of(rig: Rig | None) -> list[Grip]:
    """Return all handles of a character."""
    if rig is None:
        return []
    hands = [Grip("hand", arm.name, int(arm.joints[-1])) for arm in rig.arms]
    feet = [Grip("foot", leg.name, int(leg.joints[-1])) for leg in rig.legs]
    return hands + feet + ([] if rig.head is None else [Grip("gaze", "", int(rig.head))])


class Held:
    """The dragged handles of one character. gaze_ahead: distance of a free gaze handle ahead of the head."""

    grips: dict[str, Grip]

    def __init__(self, rig: Rig | None, gaze_ahead: float) -> None:
        self._rig = rig
        self._gaze_ahead = gaze_ahead
        self.grips = {grip.handle: grip for grip in grips_of(rig)}
        self.places: dict[str, Any] = {}
        """Position (3,) of each dragged handle, in the character's own space."""
        self._shares: dict[str, tuple[Any, float]] = {}
        """Of each foot: the last position of its handle, and the weight with which it is pulled there, 0 to 1."""
        self.errors: dict[str, float] = {}
        """Distance of each dragged foot from its handle."""

    def take(self, handle: str, place: Any) -> None:
        """Drag a handle to a position in the character's own space. Unknown handles are ignored."""
        if handle in self.grips:
            self.places[handle] = np.asarray(place, float)

    def release(self, handle: str) -> None:
        """Release one handle. A foot eases back. Unknown handles are ignored."""
        self.places.pop(handle, None)

    def let_go(self) -> None:
        """Release all handles. Feet ease back."""
        self.places.clear()

    # Frames.

    def guide(self, animator: Animator, place: Any) -> None:
        """Set the targets of hands and gaze, before a frame. place: (4, 4), transform of the character's space."""
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
        """Return the pose with dragged feet at their handles, and whether there are any, after a frame."""
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

    # Output.

    def shown(self, frame: Frame, world: Any) -> Any:
        """Return (H, 3): world position of each handle, in the order of `grips`."""
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
