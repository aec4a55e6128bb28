"""Soles belong to a skeleton: takes of one skeleton share what all of them show of its feet."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from kinema.model.rig import Rig
from kinema.model.skeleton import Skeleton

DIGITS = 3
"""Decimals of the shares of the skeleton's size to which offsets of one skeleton agree: exporters round them."""

Soles = Mapping[str, Mapping[str, tuple[float, float]]]
"""By the signature of a skeleton, `sole` and `toe_sole` of each leg by name."""


def signature(skeleton: Skeleton) -> str:
    """Return a text that is equal for takes of one skeleton: names, parents, and lengths of bones.

    Where roots start, and how bones are rotated at rest, differs from take to take in some libraries.
    """
    offsets = np.linalg.norm(skeleton.rest.translations.astype(np.float64), axis=-1)
    children = np.bincount(skeleton.parents[skeleton.parents >= 0], minlength=len(skeleton))
    at = 0
    offsets[at] = 0.0
    while children[at] == 1:
        at = skeleton.children(at)[0]
        offsets[at] = 0.0
    shares = np.round(offsets / max(float(offsets.sum()), np.finfo(float).tiny), DIGITS)
    text = f"{skeleton.names}{skeleton.parents.tolist()}{shares.tolist()}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def share(rigs: Iterable[Rig]) -> Soles:
    """Return the soles that takes of one skeleton agree on: the median of what each shows."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for rig in rigs:
        legs = found.setdefault(signature(rig.skeleton), {})
        for leg in rig.legs:
            legs.setdefault(leg.name, []).append((float(leg.sole or 0.0), float(leg.toe_sole or 0.0)))
    return {
        key: {
            name: (float(ankle), float(toe)) for name, each in legs.items() for ankle, toe in [np.median(each, axis=0)]
        }
        for key, legs in found.items()
    }


def with_shared(rig: Rig, soles: Soles) -> Rig:
    """Return a rig with the soles of its skeleton, and its floor as far below its feet as they say."""
    known = soles.get(signature(rig.skeleton), {})
    if not rig.legs or any(leg.name not in known for leg in rig.legs):
        return rig
    lower = float(np.mean([known[leg.name][1] - float(leg.toe_sole or 0.0) for leg in rig.legs]))
    legs = [replace(leg, sole=known[leg.name][0], toe_sole=known[leg.name][1]) for leg in rig.legs]
    return replace(rig, legs=legs, floor=rig.floor - lower)
