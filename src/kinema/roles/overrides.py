"""`Overrides`: roles set by the user, which replace those found; from Python, a TOML file or options such as
`leg.left=thigh_l,calf_l,foot_l`.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from kinema import validation
from kinema.errors import FileError, InputError
from kinema.model.rig import Arm, Leg
from kinema.model.skeleton import Joint

LARGEST_OVERRIDES = 1_000_000
"""Most bytes of a file of overrides: enough for names of thousands of joints."""

AXES = {
    sign + name: tuple(float(f"{sign}1") * row) for name, row in zip("xyz", np.eye(3), strict=True) for sign in "+-"
}
"""Directions by name: "+z", "-x"."""


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """Roles set by the user. None: as found. Empty: the character has none.

    hips, head: joints, by name or index; head "" for none. spine, neck, eyes: joints from below, or left and right.
    tails: chains of joints. legs, arms: those that replace the found ones of the same name or joints; a `Leg` or
    `Arm` without joints only changes what else it gives. forward, up: directions; floor: height along up, in the file's
    own unit.
    """

    hips: Joint | None = None
    spine: Sequence[Joint] | None = None
    neck: Sequence[Joint] | None = None
    head: Joint | None = None
    eyes: Sequence[Joint] | None = None
    tails: Sequence[Sequence[Joint]] | None = None
    legs: Sequence[Leg] = ()
    arms: Sequence[Arm] = ()
    forward: Any = None
    up: Any = None
    floor: float | None = None

    def over(self, other: Overrides) -> Overrides:
        """Combine with other overrides; these take precedence."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        kept = {name: value for name, value in given.items() if value is not None and name not in ("legs", "arms")}
        return replace(
            other, **kept, legs=_joined(self.legs, other.legs, Leg), arms=_joined(self.arms, other.arms, Arm)
        )


def _joined(first: Sequence[Any], second: Sequence[Any], kind: Any) -> tuple[Any, ...]:
    """Merge limbs by name; fields of the first take precedence."""
    found = {limb.name: limb for limb in second}
    for limb in first:
        before = found.get(limb.name)
        if before is not None:
            given = {f.name: getattr(limb, f.name) for f in fields(kind) if getattr(limb, f.name) not in (None, ())}
            limb = replace(before, **given)
        found[limb.name] = limb
    return tuple(found.values())


# --- reading ---------------------------------------------------------------------------------------------------


def read_overrides(path: str | os.PathLike[str]) -> Overrides:
    """Overrides from a TOML file:

    hips = "pelvis"
    spine = ["spine_01", "spine_02"]
    forward = "-z"
    [leg.left]
    joints = ["thigh_l", "calf_l", "foot_l"]
    toe = "ball_l"
    """
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST_OVERRIDES:
            raise FileError(f"larger than {LARGEST_OVERRIDES:,} bytes, the most that are read", str(file))
        table = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as problem:
        raise FileError(problem.strerror or str(problem), str(file)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise FileError(f"not TOML: {problem}", str(file)) from None
    try:
        return from_table(table)
    except InputError as problem:
        raise FileError(str(problem), str(file)) from None


def parse_override(text: str) -> Overrides:
    """Parse one override, `ROLE=VALUE`, such as `hips=pelvis`, `leg.left=thigh_l,calf_l,foot_l`,
    `leg.left.toe=ball_l`, `leg.left.sole=0.08`, `arm.right.fingers=thumb_1,thumb_2;index_1`, `forward=-z`, `head=`.
    """
    role, equals, value = text.partition("=")
    if not equals:
        raise InputError(f"role {text!r:.80} has no '='; write ROLE=JOINT, such as head=Head")
    parts = [part.strip() for part in role.split(".", 2)]
    if parts[0] in ("leg", "arm"):
        what = parts[2] if len(parts) > 2 else "joints"
        if len(parts) < 2:
            raise InputError(f"role {role!r:.80} needs a name: {parts[0]}.left=...")
        return from_table({parts[0]: {parts[1]: {what: _value(what, value)}}})
    return from_table({role.strip(): _value(role.strip(), value)})


def _value(role: str, text: str) -> Any:
    """Parse the value of a role."""
    if role in ("tails", "fingers"):
        return [_listed(part) for part in text.split(";") if part.strip()]
    if role in ("spine", "neck", "eyes", "joints"):
        return _listed(text)
    if role in ("forward", "up") and text.strip().lower() not in AXES:
        return [_number(role, part) for part in text.split(",")]
    return _number(role, text) if role in _NUMBERS else text.strip()


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _number(role: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{role} is {text.strip()!r:.60}; allowed are numbers") from None


# --- checking --------------------------------------------------------------------------------------------------


def from_table(table: Mapping[str, Any]) -> Overrides:
    """Overrides from nested dictionaries, as TOML has them."""
    known: dict[str, Callable[[str, Any], Any]] = {
        "hips": _joint,
        "head": _joint,
        "spine": _joints,
        "neck": _joints,
        "eyes": _joints,
        "tails": _chains,
        "forward": _direction,
        "up": _direction,
        "floor": validation.number,
        "leg": lambda _, limbs: _limbs("leg", limbs, Leg),
        "arm": lambda _, limbs: _limbs("arm", limbs, Arm),
    }
    given = {}
    for role, value in table.items():
        check = _chosen("role", role, known)
        given[{"leg": "legs", "arm": "arms"}.get(role, role)] = check(role, value)
    return Overrides(**given)


_NUMBERS = ("sole", "toe_sole", "heel", "tip", "floor")


def _limbs(what: str, table: Any, kind: Any) -> tuple[Any, ...]:
    """Legs or arms from tables by name."""
    parts: dict[str, Callable[[str, Any], Any]] = {"joints": _joints}
    if kind is Leg:
        parts |= {"toe": _joint, **dict.fromkeys(_NUMBERS[:-1], validation.number)}
    else:
        parts |= {"shoulder": _joint, "fingers": _fingers}
    if not isinstance(table, Mapping):
        raise InputError(f"{what} must be a table by name, such as [{what}.left]; got {table!r:.60}")
    found = []
    for name, values in table.items():
        if not isinstance(values, Mapping):
            values = {"joints": values}
        given = {part: _chosen(f"{what}.{name}", part, parts)(f"{what}.{name}.{part}", v) for part, v in values.items()}
        found.append(kind(**{"name": name, "joints": (), **given}))
    return tuple(found)


def _chosen(what: str, name: str, known: Mapping[str, Any]) -> Any:
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, 1, 0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise InputError(f"{what} has no {name!r}; {hint}allowed are {', '.join(known)}")


def _joint(name: str, value: Any) -> Joint:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise InputError(f"{name} is {value!r:.60}; allowed is a joint, by name or index")


def _joints(name: str, value: Any) -> tuple[Joint, ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f"{name} is {value!r:.60}; allowed is a list of joints")
    return tuple(_joint(f"{name}[{i}]", each) for i, each in enumerate(value))


def _chains(name: str, value: Any) -> tuple[tuple[Joint, ...], ...]:
    if not isinstance(value, list | tuple):
        raise InputError(f"{name} is {value!r:.60}; allowed is a list of lists of joints")
    return tuple(_joints(f"{name}[{i}]", each) for i, each in enumerate(value))


def _fingers(name: str, value: Any) -> Any:
    """Chains in their order, or by name."""
    if isinstance(value, Mapping):
        return {finger: _joints(f"{name}.{finger}", joints) for finger, joints in value.items()}
    return _chains(name, value)


def _direction(name: str, value: Any) -> tuple[float, ...]:
    if isinstance(value, str):
        lower = value.strip().lower()
        if lower not in AXES:
            raise InputError(f"{name} is {value!r:.60}; allowed are {', '.join(AXES)} and three numbers")
        return AXES[lower]
    return validation.axis(name, value)
