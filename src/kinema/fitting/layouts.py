"""Layouts: which point of a detector, a dataset or a marker set is which part of a body.

A point is named by a role word: "nose", "left_elbow", "pelvis", "left_index_1" (the knuckle of the index finger; 2, 3
and 4 are the joints behind it and the tip). Points without a role word are not used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from kinema import validation
from kinema.errors import InputError, listed, suggestion
from kinema.model.rig import FINGERS

SIDES = ("left", "right")

MIDDLE = ("nose", "head", "head_top", "neck", "chest", "spine", "spine_low", "pelvis", "mouth", "jaw")
PAIRED = (
    *("eye", "ear", "collar", "shoulder", "elbow", "wrist", "hand", "hip", "knee", "ankle", "heel", "toe", "ball"),
    *("small_toe", "mouth_corner"),
)
HAND = tuple(f"{finger}_{number}" for finger in FINGERS for number in (1, 2, 3, 4))

ROLES = frozenset((*MIDDLE, *(f"{side}_{name}" for side in SIDES for name in (*PAIRED, *HAND))))
"""All role words."""

NEEDED = ("left_shoulder", "right_shoulder", "left_hip", "right_hip")
"""Role words without which there is no body to fit."""

LIMBS = {
    **{f"{side}_arm": (f"{side}_shoulder", f"{side}_elbow", f"{side}_wrist") for side in SIDES},
    **{f"{side}_leg": (f"{side}_hip", f"{side}_knee", f"{side}_ankle") for side in SIDES},
}
"""Role words of the ends of limbs' bones."""


@dataclass(frozen=True)
class Mix:
    """A point inside the body, seen by markers on its skin."""

    markers: Mapping[str, float]
    """Weights of markers; they sum up to 1."""
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """From there, left, up and ahead of the pelvis, as shares of the distance between the front pelvis markers."""


@dataclass(frozen=True)
class Layout:
    """The points of one source, in their order."""

    name: str
    roles: tuple[str, ...]
    """Of each point; "" for one that is not used."""
    mixes: Mapping[str, Mix] = field(default_factory=dict)
    """Role words that are computed from several markers. `roles` then are names of markers."""
    offsets: Mapping[int, tuple[Any, Any]] = field(default_factory=dict)
    """By column: the joint of the character that carries a point, and where in its space. Metres of the character."""

    @cached_property
    def columns(self) -> dict[str, int]:
        """The column of each role word."""
        found: dict[str, int] = {}
        for column, role in enumerate(self.roles):
            if role:
                found.setdefault(role, column)
        return found

    @cached_property
    def known(self) -> tuple[str, ...]:
        """The role words that the layout gives."""
        return tuple(self.mixes) if self.mixes else tuple(self.columns)


def _pairs(*names: str) -> tuple[str, ...]:
    return tuple(f"{side}_{name}" for name in names for side in SIDES)


def _hand(side: str) -> tuple[str, ...]:
    """The 21 points of a hand; its wrist is that of the body."""
    return (f"{side}_wrist", *(f"{side}_{name}" for name in HAND))


def _hand_from_tips(side: str) -> tuple[str, ...]:
    return (*(f"{side}_{finger}_{n}" for finger in FINGERS for n in (4, 3, 2, 1)), f"{side}_wrist")


_COCO = ("nose", *_pairs("eye", "ear", "shoulder", "elbow", "wrist", "hip", "knee", "ankle"))
_BIG_SMALL_HEEL = tuple(f"{side}_{name}" for side in SIDES for name in ("toe", "small_toe", "heel"))
_SMPL = (
    *("pelvis", "left_hip", "right_hip", "spine_low", "left_knee", "right_knee", "spine", "left_ankle", "right_ankle"),
    *("chest", "left_ball", "right_ball", "neck", "left_collar", "right_collar", "head"),
    *_pairs("shoulder", "elbow", "wrist"),
)

_TABLES: dict[str, tuple[str, ...]] = {
    "mediapipe33": (
        *("nose", "", "left_eye", "", "", "right_eye", "", "left_ear", "right_ear"),
        *_pairs("mouth_corner", "shoulder", "elbow", "wrist", "little_1", "index_1", "thumb_2"),
        *_pairs("hip", "knee", "ankle", "heel", "toe"),
    ),
    "coco17": _COCO,
    "coco-wholebody": (*_COCO, *_BIG_SMALL_HEEL, *("",) * 68, *_hand("left"), *_hand("right")),
    "h36m17": (
        *("pelvis", "right_hip", "right_knee", "right_ankle", "left_hip", "left_knee", "left_ankle", "spine", "neck"),
        *("nose", "head_top", "left_shoulder", "left_elbow", "left_wrist", "right_shoulder", "right_elbow"),
        "right_wrist",
    ),
    "smpl22": _SMPL,
    "smpl24": (*_SMPL, *_pairs("hand")),
    "mhr70": (
        *("nose", *_pairs("eye", "ear", "shoulder", "elbow", "hip", "knee", "ankle"), *_BIG_SMALL_HEEL),
        *(*_hand_from_tips("right"), *_hand_from_tips("left"), *("",) * 6, "neck"),
    ),
    "openpose25": (
        *("nose", "neck", "right_shoulder", "right_elbow", "right_wrist", "left_shoulder", "left_elbow", "left_wrist"),
        *("pelvis", "right_hip", "right_knee", "right_ankle", "left_hip", "left_knee", "left_ankle"),
        *("right_eye", "left_eye", "right_ear", "left_ear", *_BIG_SMALL_HEEL),
    ),
    "halpe26": (*_COCO, "head_top", "neck", "pelvis", *_pairs("toe", "small_toe", "heel")),
    "left-hand21": _hand("left"),
    "right-hand21": _hand("right"),
}


def _plug_in_gait() -> tuple[tuple[str, ...], dict[str, Mix]]:
    """Markers of the plug-in-gait model and the joints inside them.

    The hip joints are by Bell's regression: 14% of the pelvis' width inwards, 30% below and 19% behind the front
    markers. Knees, ankles and elbows lie half their breadth inside their outer markers.
    """
    middle = ("CLAV", "STRN", "C7", "T10", "RBAK", "SACR")
    sided = (
        *("FHD", "BHD", "SHO", "UPA", "ELB", "FRM", "WRA", "WRB", "FIN", "ASI", "PSI"),
        *("THI", "KNE", "TIB", "ANK", "HEE", "TOE"),
    )
    markers = (*middle, *(f"{side}{name}" for side in "LR" for name in sided))
    mixes = {
        "pelvis": Mix({"LASI": 0.25, "RASI": 0.25, "LPSI": 0.25, "RPSI": 0.25}, (0.0, -0.3, 0.05)),
        "neck": Mix({"CLAV": 0.5, "C7": 0.5}),
        "chest": Mix({"STRN": 0.5, "T10": 0.5}),
        "head": Mix({"LFHD": 0.25, "RFHD": 0.25, "LBHD": 0.25, "RBHD": 0.25}),
        "nose": Mix({"LFHD": 0.5, "RFHD": 0.5}),
    }
    for side, letter, out in (("left", "L", 1.0), ("right", "R", -1.0)):
        own = {name: f"{letter}{name}" for name in sided}
        mixes |= {
            f"{side}_hip": Mix({own["ASI"]: 1.0}, (-0.14 * out, -0.3, -0.19)),
            f"{side}_knee": Mix({own["KNE"]: 1.0}, (-0.2 * out, 0.0, 0.0)),
            f"{side}_ankle": Mix({own["ANK"]: 1.0}, (-0.14 * out, 0.0, 0.0)),
            f"{side}_heel": Mix({own["HEE"]: 1.0}),
            f"{side}_toe": Mix({own["TOE"]: 1.0}),
            f"{side}_shoulder": Mix({own["SHO"]: 1.0}, (0.0, -0.2, 0.0)),
            f"{side}_elbow": Mix({own["ELB"]: 1.0}, (-0.08 * out, 0.0, 0.0)),
            f"{side}_wrist": Mix({own["WRA"]: 0.5, own["WRB"]: 0.5}),
            f"{side}_hand": Mix({own["FIN"]: 1.0}),
            f"{side}_ear": Mix({own["FHD"]: 0.5, own["BHD"]: 0.5}),
            f"{side}_index_1": Mix({own["FIN"]: 1.0, own["WRA"]: 0.5, own["WRB"]: -0.5}),
            f"{side}_little_1": Mix({own["FIN"]: 1.0, own["WRA"]: -0.5, own["WRB"]: 0.5}),
        }
    return markers, mixes


_PLUG_IN_GAIT, _GAIT_MIXES = _plug_in_gait()

NAMES = (*_TABLES, "plug-in-gait")
"""The layouts that have a name."""


def layout_of(layout: Any, count: int | None = None, names: Sequence[str] = (), joints: Sequence[str] = ()) -> Layout:
    """Return a layout by its name, by role words, or by a mapping. Raise InputError for what is none.

    layout: a name, several joined by "+"; a sequence of role words; or a mapping from a point (its column or its name)
    to a role word, to a joint, or to a joint and an offset in its space. count: of the points. names: of the points, if
    the file gives them. joints: names of the character's joints.
    """
    if isinstance(layout, Layout):
        found = layout
    elif isinstance(layout, str):
        found = _named(layout, names)
    elif isinstance(layout, Mapping):
        found = _mapped(layout, count, names, joints)
    else:
        found = Layout("own", _checked_roles(validation.sequence("layout", layout, "role words")))
    if count is not None and len(found.roles) != count:
        raise InputError(
            f"layout {found.name!r:.60} has {len(found.roles)} points, and points has {count}; points must have the "
            "shape (frames, points, 2 or 3)"
        )
    missing = [role for role in NEEDED if role not in found.known]
    if missing:
        more = "; joints with an offset come on top of them" if found.offsets else ""
        raise InputError(
            f"layout {found.name!r:.60} has no {listed(missing)}; without them there is no body to fit{more}"
        )
    return found


def _named(name: str, names: Sequence[str]) -> Layout:
    if name == "plug-in-gait":
        order = tuple(_bare(each) for each in names) or _PLUG_IN_GAIT
        lacking = {marker for mix in _GAIT_MIXES.values() for marker in mix.markers} - set(order)
        mixes = {role: mix for role, mix in _GAIT_MIXES.items() if not lacking & set(mix.markers)}
        if lacking & {"LASI", "RASI"}:
            raise InputError(f"the markers {listed(sorted(lacking & {'LASI', 'RASI'}))} of plug-in-gait are missing")
        return Layout(name, order, mixes)
    tables = []
    for part in name.split("+"):
        if part not in _TABLES:
            hint = suggestion(part, NAMES)
            raise InputError(f"there is no layout {part!r:.60}; {hint}; allowed are {listed(NAMES)}, or role words")
        tables.append(_TABLES[part])
    return Layout(name, tuple(role for table in tables for role in table))


def layout_of_names(names: Sequence[str]) -> Layout | None:
    """Return the layout of points whose names say it: role words, or markers of plug-in-gait; else None."""
    if set(NEEDED) <= set(names):
        return Layout("names", tuple(name if name in ROLES else "" for name in names))
    return _named("plug-in-gait", names) if {"LASI", "RASI", "LSHO", "RSHO"} <= set(map(_bare, names)) else None


def _bare(marker: str) -> str:
    """The name of a marker without that of its subject."""
    return marker.rsplit(":", 1)[-1].strip().upper()


def _mapped(given: Mapping[Any, Any], count: int | None, names: Sequence[str], joints: Sequence[str]) -> Layout:
    total = len(names) if count is None else count
    roles, offsets = [""] * total, dict[int, tuple[Any, Any]]()
    for point, what in given.items():
        column = names.index(point) if isinstance(point, str) and point in names else point
        if isinstance(column, bool) or not isinstance(column, int) or not 0 <= column < total:
            raise InputError(f"layout has the point {point!r:.60}; allowed are columns below {total}, {listed(names)}")
        if isinstance(what, str) and what in ROLES:
            roles[column] = what
            continue
        joint, offset = (what, (0.0, 0.0, 0.0)) if isinstance(what, str | int) else _pair(point, what)
        if joint in ROLES and joint not in joints:
            raise InputError(f"layout[{point!r}] gives {joint!r} an offset; offsets belong to joints of the character")
        if isinstance(joint, str) and joint not in joints:
            raise InputError(
                f"layout[{point!r}] is {joint!r:.60}, neither a role word nor a joint; {suggestion(joint, joints)}"
            )
        offsets[column] = joint, tuple(validation.vector(f"layout[{point!r}]", offset))
    return Layout("own", tuple(roles), offsets=offsets)


def _pair(point: Any, what: Any) -> tuple[Any, Any]:
    pair = validation.sequence(f"layout[{point!r}]", what, "a joint and an offset")
    if len(pair) != 2:
        raise InputError(f"layout[{point!r}] is {what!r:.60}; expected a role word, or a joint and an offset")
    return pair[0], pair[1]


def _checked_roles(roles: Iterable[Any]) -> tuple[str, ...]:
    found = tuple(roles)
    for number, role in enumerate(found):
        if not isinstance(role, str) or (role and role not in ROLES):
            hint = suggestion(str(role), sorted(ROLES))
            raise InputError(f'layout[{number}] is {role!r:.60}, which is no role word; {hint}; "" skips a point')
    return found
