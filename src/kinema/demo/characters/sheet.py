"""`Sheet`: what one of our characters is made of, read from its text table: `humanoid.toml`, `quadruped.toml`,
`spider.toml`.

A table has the shape of a foot, the rig, the bones of the middle and of the left side, the gaits, and what the modules
of the body take from `data`.
"""

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, wraps
from importlib.resources import files
from typing import Any, ParamSpec

from kinema.demo.characters.bones import Bone, build, hinge, mirrored, socket
from kinema.demo.characters.gait import CharacterGait, FootShape, FootStep, Wave
from kinema.model.character import Character
from kinema.model.rig import Arm, Leg, Rig
from kinema.model.skeleton import Skeleton

Asked = ParamSpec("Asked")


@dataclass(frozen=True, eq=False)
class Sheet:
    """A character's bones, rig and gaits, and the tables of its body."""

    bones: Mapping[str, Bone]
    skeleton: Skeleton
    rig: Rig
    gaits: Mapping[str, CharacterGait]
    data: Mapping[str, Any]
    """All tables of the file. Lengths in metres."""


def made_once(make: Callable[Asked, Character]) -> Callable[Asked, Character]:
    """Make a character once. Each call returns it with a dictionary of clips of its own."""
    kept: Callable[Asked, Character] = cache(make)  # type: ignore[assignment]

    @wraps(make)
    def own(*args: Asked.args, **kwargs: Asked.kwargs) -> Character:
        return replace(kept(*args, **kwargs))

    return own


@cache
def sheet(name: str) -> Sheet:
    """Read a character's table by name."""
    data = tomllib.loads((files("kinema.demo.characters") / f"{name}.toml").read_text("utf-8"))
    bones = _bones(data["bones"])
    skeleton, foot = build(bones), FootShape(**data["foot"])
    gaits = {name: _gait(foot, **table) for name, table in data["gaits"].items()}
    return Sheet({bone.name: bone for bone in bones}, skeleton, _rig(skeleton, foot, **data["rig"]), gaits, data)


def _bones(table: Mapping[str, Any]) -> list[Bone]:
    """Return the bones of a table, then the images of those on the left."""
    bones: dict[str, Bone] = {}
    for name, row in table.items():
        parent = row.get("parent")
        start = row["start"] if "start" in row else bones[parent].end
        limit = socket(*row["socket"]) if "socket" in row else hinge(*row["hinge"]) if "hinge" in row else None
        bones[name] = Bone(name, parent, start, row["end"], row.get("facing", (0.0, 0.0, 1.0)), limit)
    return [*bones.values(), *mirrored([bone for bone in bones.values() if bone.name.endswith("_l")])]


def _rig(skeleton: Skeleton, foot: FootShape, *, legs: Any, arms: Any = (), **parts: Any) -> Rig:
    own = [
        Leg(**leg, sole=foot.ankle, toe_sole=foot.ball_height if "toe" in leg else None, heel=foot.heel, tip=foot.tip)
        for leg in legs
    ]
    return Rig(skeleton=skeleton, legs=own, arms=[Arm(**arm) for arm in arms], **parts)


def _gait(
    foot: FootShape, *, steps: Any, keys: Any = (), period: float, speed: float, starts: Any, **units: Any
) -> CharacterGait:
    """Return a gait. units: by unit, waves (size, phase of the peak, times per cycle, mean) and single numbers."""
    waves, numbers = {}, {}
    for unit, table in units.items():
        for name, value in table.items():
            if isinstance(value, list):
                size, peak, times, mean = value + [0.0, 0.0, 1, 0.0][len(value) :]
                waves[name] = Wave(_in_radians(size, unit), peak, times, _in_radians(mean, unit))
            else:
                numbers[name] = _in_radians(value, unit)
    made = {name: FootStep(**step | {"out": math.radians(step.get("out", 0.0))}) for name, step in steps.items()}
    return CharacterGait(
        period=period, speed=speed, foot=foot, starts=starts, steps=made, waves=waves, numbers=numbers, keys=dict(keys)
    )


def _in_radians(value: float, unit: str) -> float:
    return math.radians(value) if unit == "degrees" else value
