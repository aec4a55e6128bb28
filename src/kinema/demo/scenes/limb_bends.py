"""`LimbBends`: which way the knees and elbows of a character bend, how that is known, and how far they are bent now."""

from typing import Any, NamedTuple

import numpy as np

from kinema.model.character import Character
from kinema.model.rig import Rig
from kinema.roles.bends import Pole, poles

AT_REST, IN_CLIPS, ASSUMED = "as at rest", "as in its clips", "assumed: it is straight at rest and in its clips"
"""How the way of a bend is known."""
CLEARLY = 0.5
"""Cosine of the largest angle between a direction and the axis it is named after: 60 degrees."""
NAMES = {"legs": ("foot", "knee"), "arms": ("hand", "elbow")}
"""The end and the middle of each kind of limb, as handles name them."""
OPPOSITE = {"forward": "back", "back": "forward", "up": "down", "down": "up", "out": "in"}
"""Each way to bend, and the opposite one."""


class BendingLimb(NamedTuple):
    """The middle joint of one limb."""

    end: str
    """Handle at the end of the limb: "foot left"."""
    middle: str
    """Handle of the middle joint: "knee left"."""
    joints: tuple[int, int, int]
    """First, middle and last joint."""
    axis: Any
    """(3,): what the middle joint bends about, in its own space."""
    way: str
    """Where it points when it is bent, such as "forward"."""
    known: str
    """How that is known."""


class LimbBends:
    """The bends of one character's limbs.

    character: one without a rig has none.
    """

    def __init__(self, character: Character) -> None:
        rig = character.rig
        self.limbs = [] if rig is None else _limbs(rig, character)
        self._joints = np.array([bend.joints for bend in self.limbs], int).reshape(-1, 3)
        mirrored = np.sign(np.linalg.det(character.skeleton.rest_world[self._joints[:, 1], :3, :3]))
        self._axes = np.array([bend.axis for bend in self.limbs]).reshape(-1, 3) * mirrored[:, np.newaxis]

    def description(self) -> list[dict[str, Any]]:
        """Return each limb as the page shows it."""
        fields = ("end", "middle", "way", "known")
        shown = [{name: getattr(limb, name) for name in fields} for limb in self.limbs]
        own = [{"joint": limb.joints[1], "against": OPPOSITE[limb.way]} for limb in self.limbs]
        return [both | other for both, other in zip(shown, own, strict=True)]

    def degrees(self, world: Any) -> Any:
        """Return (B,): how far each limb is bent, degrees; negative against its way. world: (J, 4, 4)."""
        first, middle, last = self._joints.T
        upper = world[middle, :3, 3] - world[first, :3, 3]
        lower = world[last, :3, 3] - world[middle, :3, 3]
        across = np.cross(upper, lower)
        axes = (world[middle, :3, :3] @ self._axes[..., np.newaxis])[..., 0]
        angle = np.arctan2(np.sqrt((across * across).sum(axis=-1)), (upper * lower).sum(axis=-1))
        return np.degrees(np.where((across * axes).sum(axis=-1) < 0.0, -angle, angle))


def _limbs(rig: Rig, character: Character) -> list[BendingLimb]:
    at_rest = poles(rig)
    found = at_rest if all(pole.seen for pole in at_rest.values()) else poles(rig, character.clips)
    joints = {f"legs.{leg.name}": leg.joints for leg in rig.legs} | {f"arms.{arm.name}": arm.joints for arm in rig.arms}
    bends = []
    for role, pole in found.items():
        kind, _, name = role.partition(".")
        end, middle = (f"{part} {name}" for part in NAMES[kind])
        known = AT_REST if at_rest[role].seen else IN_CLIPS if pole.seen else ASSUMED
        limb = (int(joints[role][0]), pole.joint, int(joints[role][-1]))
        bends.append(BendingLimb(end, middle, limb, np.array(pole.axis), _way(rig, _direction(rig, limb, pole)), known))
    return bends


def _direction(rig: Rig, limb: tuple[int, int, int], pole: Pole) -> Any:
    """Return where a middle joint points when its limb is bent, as the character stands: rest poses may be folded."""
    world = np.asarray(rig.standing_world, float)
    line = world[limb[2], :3, 3] - world[limb[0], :3, 3]
    frame = world[pole.joint, :3, :3]
    about = frame @ np.array(pole.axis) * np.sign(np.linalg.det(frame))
    across = np.cross(line, about)
    size = float(np.linalg.norm(across))
    return across / size if size > CLEARLY * np.linalg.norm(line) * np.linalg.norm(about) else pole.direction


def _way(rig: Rig, direction: Any) -> str:
    """Return the word for a direction in the character's space."""
    ahead, up = (float(np.dot(direction, axis)) for axis in (rig.forward, rig.up))
    if max(abs(ahead), abs(up)) < CLEARLY:
        return "out"
    if abs(ahead) >= abs(up):
        return "forward" if ahead > 0.0 else "back"
    return "up" if up > 0.0 else "down"
