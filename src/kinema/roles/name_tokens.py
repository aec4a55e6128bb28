"""Parse a joint's name: the part of the body, the side, and whether it belongs to a body at all.

Names come in any style (`mixamorig:LeftForeArm`, `DEF-forearm.L.001`, `Bip01 L Thigh`, `b_LeftLeg01_015`), so they are
split into tokens first. Names support the evidence of the shape, or decide what the shape leaves open.
"""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_KINDS: tuple[tuple[str, str], ...] = (
    (
        "helper",
        "ik|fk|pole|poletarget|target|goal|effector|ctrl|control|controller|con|manipulator|twist|twister|roll|helper|"
        "aux|corrective|offset|constraint|mch|org|wgt|look at|aim|snap|locator|socket|attach|attachment|mount",
    ),
    (
        "prop",
        "slot|handslot|weapon|weapons|gun|sword|shield|bow|staff|item|prop|holster|camera|cam|light|lamp|mesh|geo|"
        "geometry|hair|ponytail|skirt|cape|coat|cloth|ribbon|scarf|breast|bust|hat|helmet|wing|anchor|stomach|belly|ribcage",
    ),
    ("lid", "lid|eyelid|eye lid|lash|eyelash|brow|eyebrow|eye brow|cheek|lip|lips|nostril|teeth|tooth|tongue"),
    ("fin", "fin|fins|flipper|flippers|fluke|flukes|pectoral|pelvic fin|dorsal"),
    ("ear", "ear|ears"),
    ("jaw", "jaw|chin|mouth|nose|snout|muzzle|beak"),
    ("eye", "eye|eyes|eyeball"),
    ("tail", "tail|tailbone"),
    ("thumb", "thumb"),
    ("finger", "finger|fingers|index|middle|mid|ring|pinky|little|digit|claw|metacarpal|palm"),
    ("toe", "toe|toes|toebase|ball|digits"),
    ("foot", "foot|feet|ankle|paw|hoof|fetlock|pastern|tarsus|hock|heel|hind foot"),
    ("shin", "lower leg|lowerleg|shin|calf|knee|tibia|crus|low leg|leg lower"),
    ("thigh", "upper leg|upperleg|up leg|upleg|thigh|femur|leg upper|hip joint|buttock|coxa|hindleg|hind leg"),
    ("leg", "leg|legs|backleg|frontleg|foreleg"),
    ("hand", "hand|hands|wrist"),
    ("forearm", "forearm|fore arm|lower arm|lowerarm|low arm|elbow|ulna|radius"),
    ("shoulder", "shoulder|clavicle|collar|scapula|collarbone"),
    ("upper_arm", "upper arm|upperarm|up arm|humerus|shldr|arm"),
    ("head", "head|skull|face"),
    ("neck", "neck"),
    ("hips", "hip|hips|pelvis|cog"),
    ("chest", "chest|upper chest|upperchest|thorax|ribs"),
    ("spine", "spine|abdomen|waist|lower back|back|body|trunk|torso"),
    ("root", "root|armature|rig|reference|origin|scene"),
)
"""Kinds of joints by their name tokens. The first match counts, so a `HandThumb` is a thumb."""

_PATTERNS = tuple(
    (kind, re.compile("(?<![a-z])(?:" + "|".join(tokens.split("|")) + ")(?![a-z])")) for kind, tokens in _KINDS
)

_END = re.compile(r"(?<![a-z])(?:end|leaf|nub|tip|top|site|terminator)(?![a-z])")

_SIDES = {"left": "left", "l": "left", "right": "right", "r": "right"}

_FINGERS = {
    "thumb": "thumb",
    "index": "index",
    "point": "index",
    "pointer": "index",
    "middle": "middle",
    "mid": "middle",
    "ring": "ring",
    "pinky": "little",
    "pinkie": "little",
    "little": "little",
}

_LEG_KINDS = frozenset(("thigh", "shin", "foot", "toe", "leg"))
_ARM_KINDS = frozenset(("shoulder", "upper_arm", "forearm", "hand", "finger", "thumb"))


def split(name: str) -> tuple[str, ...]:
    """Split a name into tokens, in lower case; numbers are separate tokens."""
    return tuple(token.lower() for token in _TOKEN.findall(name))


@lru_cache(maxsize=4096)
def kind(name: str) -> str:
    """Return the part of a body that a name means, one of the kinds above; "" if unknown."""
    text = " ".join(token for token in split(name) if not token.isdigit())
    for found, pattern in _PATTERNS:
        if pattern.search(text):
            return found
    return ""


def is_end(name: str) -> bool:
    """Whether a name marks the end of a bone rather than a joint: `Head_end`, `HeadTop_End`, `toe_leaf`."""
    return bool(_END.search(" ".join(split(name))))


def is_decoy(name: str) -> bool:
    """Return whether a name means a control, a helper or a carried object."""
    return kind(name) in ("helper", "prop")


def side(name: str) -> str:
    """Return the side in a name: "left", "right", or "" for neither or both."""
    found = {_SIDES[token] for token in split(name) if token in _SIDES}
    return found.pop() if len(found) == 1 else ""


def finger(name: str) -> str:
    """Return the finger that a name means: "thumb", "index", "middle", "ring" or "little"; "" if unknown."""
    return next((_FINGERS[token] for token in split(name) if token in _FINGERS), "")


def limb(name: str) -> str:
    """Return "leg" or "arm" if a name means a part of one, else ""."""
    found = kind(name)
    return "leg" if found in _LEG_KINDS else "arm" if found in _ARM_KINDS else ""
