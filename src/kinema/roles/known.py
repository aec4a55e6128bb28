"""Overrides from a file's own table of human bones, in VRM's names."""

from __future__ import annotations

from collections.abc import Mapping

from kinema.model.rig import Arm, Leg
from kinema.roles.overrides import Overrides

_FINGERS = ("Thumb", "Index", "Middle", "Ring", "Little")
_PARTS = ("Metacarpal", "Proximal", "Intermediate", "Distal")


def as_overrides(known: Mapping[str, int]) -> Overrides:
    """known: joints by names such as "leftUpperLeg"; what is not there is left to be found."""
    spine = [known[name] for name in ("spine", "chest", "upperChest") if name in known]
    eyes = [known[name] for name in ("leftEye", "rightEye") if name in known]
    return Overrides(
        hips=known.get("hips"),
        spine=spine or None,
        neck=[known["neck"]] if "neck" in known else None,
        head=known.get("head"),
        eyes=eyes if len(eyes) == 2 else None,
        legs=[leg for side in ("left", "right") if (leg := _leg(known, side))],
        arms=[arm for side in ("left", "right") if (arm := _arm(known, side))],
    )


def _leg(known: Mapping[str, int], side: str) -> Leg | None:
    names = [side + part for part in ("UpperLeg", "LowerLeg", "Foot")]
    if not all(name in known for name in names):
        return None
    return Leg(name=side, joints=[known[name] for name in names], toe=known.get(side + "Toes"))


def _arm(known: Mapping[str, int], side: str) -> Arm | None:
    names = [side + part for part in ("UpperArm", "LowerArm", "Hand")]
    if not all(name in known for name in names):
        return None
    fingers = {f.lower(): [known[side + f + p] for p in _PARTS if side + f + p in known] for f in _FINGERS}
    return Arm(
        name=side,
        joints=[known[name] for name in names],
        shoulder=known.get(side + "Shoulder"),
        fingers={name: joints for name, joints in fingers.items() if joints},
    )
