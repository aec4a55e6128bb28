"""Animations: what a document's channels do to its nodes, as clips."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from kinema.clip import Clip, Interpolation, Path, Track
from kinema.errors import InputError
from kinema.io import names
from kinema.io.gltf.accessors import Accessors, normalised
from kinema.io.gltf.document import Document
from kinema.io.gltf.place import Place
from kinema.skeleton import Skeleton

WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}
"""What a channel may do to a joint, and the numbers of one key."""

INTERPOLATIONS = ("LINEAR", "STEP", "CUBICSPLINE")


def read_clips(document: Document, skeleton: Skeleton, accessors: Accessors) -> dict[str, Clip]:
    """The clips by their names, in the file's order; names that come twice are made different."""
    animations = document.root.each("animations")
    named = names.unique([place.text("name", "") or f"clip_{i}" for i, place in enumerate(animations)])
    return {
        name: _clip(document, place, name, skeleton, accessors) for name, place in zip(named, animations, strict=True)
    }


def _clip(document: Document, animation: Place, name: str, skeleton: Skeleton, accessors: Accessors) -> Clip:
    samplers = animation.each("samplers")
    tracks: dict[tuple[int, str], Track] = {}
    for channel in animation.each("channels"):
        target = channel.at("target")
        path = target.text("path")
        if path not in WIDTHS or not target.has("node"):
            continue
        joint = document.joint_of_node[target.index("node", len(document.joint_of_node))]
        sampler = samplers[channel.index("sampler", len(samplers))]
        if (joint, path) in tracks:
            document.problems.append(f"{channel.path} moves what another one does already; it is left out")
            continue
        tracks[joint, path] = _track(sampler, joint, path, accessors)
    return Clip(name, skeleton, list(tracks.values()))


def _track(sampler: Place, joint: int, path: str, accessors: Accessors) -> Track:
    how = sampler.one_of("interpolation", INTERPOLATIONS, "LINEAR")
    times = accessors.read(sampler.index("input", len(accessors)))
    values = normalised(accessors.read(sampler.index("output", len(accessors)))).astype(np.float64)
    try:
        return Track(joint, cast(Path, path), times[:, 0], _keys(values, how), cast(Interpolation, how))
    except InputError as problem:
        sampler.fail(f"cannot be used: {problem}")


def _keys(values: Any, how: str) -> Any:
    return values.reshape(-1, 3, values.shape[1]) if how == "CUBICSPLINE" and len(values) % 3 == 0 else values
