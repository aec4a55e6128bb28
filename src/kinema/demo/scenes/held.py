"""`Held`: the handles of a body that a user drags, rotates and pins, and what they ask of the full-body solver.

Positions and rotations are kept in the character's own space, so that a handle moves along while the character walks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kinema.demo.scenes.scene import finite
from kinema.errors import InputError
from kinema.math import arrays
from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton
from kinema.solvers.body.targets import CENTRE_OF_MASS, Effector

MAIN = ("hand", "foot", "gaze")
"""Kinds of handles that are always shown."""
POLES = ("elbow", "knee")
"""Kinds of handles that only set the side to which a limb bends: its end stays."""
ENDS = ("hand", "foot")
"""Kinds of handles at the ends of those limbs, in the same order."""
ROTATABLE = ("hand", "foot", "head", "hips", "chest")
"""Kinds of handles with a rotation."""
BONE = "bone"
"""Kind of the handles of single bones, which are rotated only."""
PART = "part"
"""Kind of the handles that users make by grabbing the skin."""
PINNED, LEADING, PULLED, POLE = 2, 1, 0, -1
"""Priorities. A pinned part does not give way to one that is pulled, what was pulled last leads what was pulled before,
and a pole gives way to all of them."""
INSIDE = 0.02
"""Distance from the edge of the support at which balance is kept, metres for a person."""
MOST_HELD = 32
"""Handles that can be held at once: the time of a frame grows with the cube of their number."""
FARTHEST_GRAB = 2.0
"""Largest distance of a grabbed point from its joint, as a multiple of the character's extent."""


class Grip(NamedTuple):
    """A handle: a point of a joint."""

    kind: str
    """"hand", "foot", "gaze", "hips", "chest", "head", "elbow", "knee" or "part"."""
    limb: str
    """Name of the arm or leg, number of the joint of a part, "" for the others."""
    joint: int
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The point, in the joint's own space."""

    @property
    def handle(self) -> str:
        """Its name on the page."""
        return f"{self.kind} {self.limb}".strip()

    def position(self, world: Any) -> Any:
        """Return (3,): where the point is. world: (J, 4, 4)."""
        matrix = np.asarray(world[self.joint], float)
        return matrix[:3, :3] @ np.array(self.offset) + matrix[:3, 3]


@dataclass(frozen=True, eq=False)
class Hold:
    """What the user has set for a handle, in the character's own space."""

    position: Any
    """(3,): where its point is held."""
    rotation: Any = None
    """(4,): rotation of its joint; None leaves it free."""
    pinned: bool = False
    """Whether it does not give way to other handles."""


def grips_of(rig: Rig | None) -> list[Grip]:
    """Return the handles of a character, those of `MAIN` first."""
    if rig is None:
        return []
    grips = [Grip("hand", arm.name, int(arm.joints[-1])) for arm in rig.arms]
    grips += [Grip("foot", leg.name, int(leg.joints[-1])) for leg in rig.legs]
    if rig.head is not None:
        grips += [Grip("gaze", "", int(rig.head)), Grip("head", "", int(rig.head))]
    if rig.spine:
        grips.append(Grip("chest", "", int(rig.spine[-1])))
    grips.append(Grip("hips", "", int(rig.hips)))
    grips += [Grip("elbow", arm.name, int(arm.joints[-2])) for arm in rig.arms if len(arm.joints) > 2]
    return grips + [Grip("knee", leg.name, int(leg.joints[1])) for leg in rig.legs if len(leg.joints) > 2]


def handles_by_joint(rig: Rig | None, skeleton: Skeleton) -> list[str]:
    """Return the handle to which the skin of each joint belongs.

    Hands, feet and the head include everything below them, such as fingers. Joints without a role belong to the nearest
    one above that has a role.
    """
    if rig is None:
        return [f"{PART} {j}" for j in range(len(skeleton))]
    ends = {grip.joint: grip.handle for grip in grips_of(rig) if grip.kind in ("hand", "foot", "head")}
    limbs = [joint for arm in rig.arms for joint in arm.joints] + [joint for leg in rig.legs for joint in leg.joints]
    shoulders = [arm.shoulder for arm in rig.arms if arm.shoulder is not None]
    tails = [joint for tail in rig.tails for joint in tail]
    known = {int(joint) for joint in (rig.hips, *rig.spine, *rig.neck, *limbs, *shoulders, *tails)}
    found: list[str] = []
    for j, parent in enumerate(skeleton.parents.tolist()):
        above = found[parent] if parent >= 0 else f"{PART} {int(rig.hips)}"
        ended = not above.startswith(PART)
        found.append(above if ended else ends.get(j, f"{PART} {j}" if j in known else above))
    return found


class Held:
    """The handles of one character that are dragged, rotated or pinned.

    gaze_ahead: distance of a free gaze handle ahead of the head. extent: the character's largest extent.
    """

    def __init__(self, rig: Rig | None, skeleton: Skeleton, gaze_ahead: float, extent: float) -> None:
        self._rig = rig
        self._skeleton = skeleton
        self._gaze_ahead = gaze_ahead
        self._extent = extent
        self._fixed = {grip.handle: grip for grip in grips_of(rig)}
        self._parts: dict[str, Grip] = {}
        self.holds: dict[str, Hold] = {}
        """What is set for each handle in use."""

    @property
    def grips(self) -> dict[str, Grip]:
        """All handles by name: the character's own, and the grabbed parts."""
        return self._fixed | self._parts

    def shown_grips(self, more: bool) -> list[Grip]:
        """Return the handles to show: the main ones, those in use, the elbow or knee of a limb in use and, if wanted,
        all others.
        """
        grips = self.grips
        ends = [grips[handle] for handle in self.holds if grips[handle].kind in ENDS]
        used = set(self.holds) | {f"{POLES[ENDS.index(g.kind)]} {g.limb}" for g in ends}
        return [g for g in grips.values() if more or g.kind in MAIN or g.handle in used]

    @property
    def is_pulled(self) -> bool:
        """Whether anything but the gaze is held."""
        return any(handle != "gaze" for handle in self.holds)

    # User input. Unknown handles are ignored.

    def grab(self, handle: str, offset: Any, world: Any) -> None:
        """Make a handle of a point of the skin. Raises InputError if it is far outside the character.

        handle: "part" and the number of a joint; other handles exist already. offset: (3,), the point in the joint's
        own space. world: (J, 4, 4), the matrices of the joints now.
        """
        kind, _, number = handle.partition(" ")
        if kind != PART or not number.isdecimal() or int(number) >= len(self._skeleton):
            return
        grip = Grip(PART, number, int(number), tuple(np.asarray(offset, float).tolist()))
        away = np.linalg.norm(grip.position(world) - world[grip.joint, :3, 3])
        if not away <= FARTHEST_GRAB * self._extent:
            raise InputError(f"the grabbed point is {away:.3g} from its joint; the whole character is smaller")
        self._parts[handle] = grip
        if handle in self.holds:
            self.holds.pop(handle)

    def take(self, handle: str, position: Any) -> None:
        """Drag a handle to a position in the character's own space."""
        if self._can_hold(handle):
            before = self.holds.pop(handle, Hold(None))  # The last one of `holds` leads.
            self.holds[handle] = replace(before, position=np.asarray(position, float))

    def rotate(self, handle: str, rotation: Any, position: Any) -> None:
        """Rotate the joint of a handle. position: (3,), where it is held if it was free."""
        if self._can_hold(handle) and self.grips[handle].kind in ROTATABLE:
            before = self.holds.get(handle, Hold(np.asarray(position, float)))
            self.holds[handle] = replace(before, rotation=arrays.unit(np.asarray(rotation, float)))

    def pin(self, handle: str, position: Any, rotation: Any) -> None:
        """Keep a handle where it is, however others are pulled. The gaze is held, not pinned.

        What was pulled may still rotate as it could before: at the end of its reach, position and rotation together
        can be met by one pose only, and the others would be stuck.
        """
        if self._can_hold(handle):
            before = self.holds.get(handle)
            turned = None if handle == "gaze" else np.asarray(rotation, float) if before is None else before.rotation
            self.holds[handle] = Hold(np.asarray(position, float), turned, handle != "gaze")

    def _can_hold(self, handle: str) -> bool:
        """Whether there is such a handle. Raises InputError if it were one too many."""
        if handle in self.grips and handle not in self.holds and len(self.holds) >= MOST_HELD:
            raise InputError(f"{MOST_HELD} handles are held; release one first")
        return handle in self.grips

    def release(self, handle: str) -> None:
        """Release one handle: it eases back."""
        self.holds.pop(handle, None)
        self._parts.pop(handle, None)

    def let_go(self) -> None:
        """Release all handles: the body goes back to its clip."""
        self.holds.clear()
        self._parts.clear()

    # Snapshots.

    def state(self) -> dict[str, Any]:
        """Return everything that is held, as JSON values."""
        return {handle: self._state_of(handle, hold) for handle, hold in self.holds.items()}

    def _state_of(self, handle: str, hold: Hold) -> dict[str, Any]:
        state: dict[str, Any] = {"at": np.round(hold.position, 6).tolist()}
        if hold.rotation is not None:
            state["rotation"] = np.round(hold.rotation, 6).tolist()
        if hold.pinned:
            state["pinned"] = True
        if handle in self._parts:
            state["offset"] = np.round(self._parts[handle].offset, 6).tolist()
        return state

    def restore(self, state: Mapping[str, Any], world: Any, far: float) -> None:
        """Return to what `state` returned. It may come from outside: numbers are checked and clamped to `far`."""
        holds, parts = self.holds, self._parts
        self.holds, self._parts = {}, {}
        try:
            for handle, kept in state.items():
                handle = str(handle)
                if "offset" in kept:
                    self.grab(handle, finite("offset", kept["offset"], 3), world)
                if self._can_hold(handle):
                    rotation = kept.get("rotation")
                    turned = None if rotation is None else unit_rotation(rotation)
                    position = np.clip(finite("position", kept["at"], 3), -far, far)
                    self.holds[handle] = Hold(position, turned, bool(kept.get("pinned", False)))
        except BaseException:
            self.holds, self._parts = holds, parts
            raise

    # Frames.

    def effectors(self, transform: Any, balanced: float | None) -> list[Effector]:
        """Return what the body is to do, in world space: first the held handles but the gaze, in order, then the rest.

        transform: (4, 4), of the character's space. balanced: metres inside its support that the centre of mass is to
        stay; None leaves it free.
        """
        if not self.is_pulled:
            return []
        grips = self.grips
        leading = next((h for h in reversed(self.holds) if h != "gaze"), "")
        wanted = [
            self._effector(grips[h], hold, transform, h == leading) for h, hold in self.holds.items() if h != "gaze"
        ]
        ends = {grip.joint for handle, grip in grips.items() if self._stays(grip) and handle not in self.holds}
        wanted += [Effector(joint, pin=True) for joint in sorted(ends)]
        if balanced is not None and self._rig is not None and self._rig.legs:
            wanted.append(Effector(CENTRE_OF_MASS, balance=balanced, priority=PINNED - 1))
        return wanted

    def _effector(self, grip: Grip, hold: Hold, transform: Any, leads: bool) -> Effector:
        position = transform[:3, :3] @ hold.position + transform[:3, 3]
        own = arrays.from_matrix(np.asarray(transform[:3, :3], float))
        rotation = None if hold.rotation is None else arrays.mul(own, hold.rotation)
        priority = PINNED if hold.pinned else POLE if grip.kind in POLES else LEADING if leads else PULLED
        return Effector(grip.joint, position, rotation, grip.offset, priority=priority)

    def _stays(self, grip: Grip) -> bool:
        """Whether a free part stays where it is animated: feet always, hands while their elbow is dragged, hips and
        chest while nothing but elbows and knees is.
        """
        if grip.kind in ("hips", "chest"):
            return all(self.grips[handle].kind in (*POLES, "gaze") for handle in self.holds)
        return grip.kind == "foot" or (grip.kind == "hand" and f"elbow {grip.limb}" in self.holds)

    def gaze(self, transform: Any) -> Any:
        """Return (3,): what head and eyes look at, in world space; None for ahead."""
        hold = self.holds.get("gaze")
        return None if hold is None else transform[:3, :3] @ hold.position + transform[:3, 3]

    # Output.

    def shown(self, grips: list[Grip], transform: Any, world: Any) -> Any:
        """Return (H, 3): world positions of some handles."""
        own = np.asarray(transform, float)
        rows = []
        for grip in grips:
            hold = self.holds.get(grip.handle)
            if hold is not None:
                rows.append(own[:3, :3] @ hold.position + own[:3, 3])
            elif grip.kind == "gaze":
                rows.append(world[grip.joint, :3, 3] + own[:3, :3] @ self._ahead())
            else:
                rows.append(grip.position(world))
        return np.array(rows).reshape(-1, 3)

    def _ahead(self) -> Any:
        return self._gaze_ahead * np.array(self._rig.forward if self._rig else (0.0, 0.0, 1.0))


def unit_rotation(values: Any) -> Any:
    """Return a rotation from outside as a unit quaternion (4,). Raises InputError for anything else."""
    given = finite("rotation", values, 4)
    length = float(np.linalg.norm(given / max(np.abs(given).max(), 1e-300)))
    if not np.abs(given).max() > 1e-6 or not length:
        raise InputError(f"rotation is {values!r:.60}; it must not be zero")
    scaled = given / np.abs(given).max()
    return scaled / np.linalg.norm(scaled)
