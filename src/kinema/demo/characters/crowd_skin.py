"""Skins for crowds: every vertex follows at most two joints of a short list, so that thousands can be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin


class Followed(NamedTuple):
    """What each vertex of a skin follows."""

    joints: Any
    """(V, 2): indices into a list of joints."""
    weights: Any
    """(V, 2): shares that add up to 1."""


def followed(skin: Skin, skeleton: Skeleton, kept: Sequence[str]) -> Followed:
    """Reduce what a skin follows to the joints named in `kept`.

    What another joint moves follows the nearest one above it in the list; the first one if there is none.
    """
    nearest = _nearest_kept(skeleton, kept)
    shares = np.zeros((len(skin.vertices), len(kept)))
    np.add.at(shares, (np.arange(len(shares))[:, np.newaxis], nearest[skin.joints]), skin.weights)
    most = np.argsort(-shares, axis=1, kind="stable")[:, :2]
    weights = np.take_along_axis(shares, most, axis=1)
    return Followed(most, weights / weights.sum(axis=1, keepdims=True))


def _nearest_kept(skeleton: Skeleton, kept: Sequence[str]) -> Any:
    """Return (J,): for each joint the index in `kept` of itself or the nearest joint above it; 0 if there is none."""
    index = {name: n for n, name in enumerate(kept)}
    found = np.zeros(len(skeleton), int)
    for j, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents, strict=True)):
        found[j] = index.get(name, found[parent] if parent >= 0 else 0)
    return found
