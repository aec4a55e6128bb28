"""`Evidence`: measurements of a skeleton before roles are assigned: the joints of the body, and their motion in clips.

A file's skeleton has every node of the file: meshes, cameras, swords and control handles. A joint belongs to the body
if skin follows it or clips rotate it, unless its name marks it as something else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin
from kinema.roles import name_tokens

SKIN_SHARE = 1e-4
"""Share of all skin that must follow a joint for it to count: less is residue of weight painting."""

SAME_PLACE = 1e-3
"""Share of the body's size within which two joints coincide."""

CLIPS_LOOKED_AT = 4
"""Most clips that are sampled, standing and walking ones first. More add no information."""

LOOK_RATE, LONGEST_LOOK = 30.0, 8.0
"""Samples per second, and seconds of a clip that are sampled: a foot of a run is down for five samples or more."""

TELLING_SHARE = 0.5
"""If at least this share of the joints carries skin, joints without skin are controls; if clips rotate this share, the
joints that they do not rotate are controls."""

BODY_BRANCHES = 3
"""Children from which a joint counts as carrying limbs: bodies have two or more such joints, hips and chest."""

ELSEWHERE, ELSEWHERE_SHARE = math.radians(75), 0.45
"""Radians that a bone points away at rest from its mean direction in clips, and the share of all bones, by length, that
do so in a rest pose that lies collapsed. Stretched arms are a third of a person's bones."""

OPPOSITE, LONG_BONE = math.radians(120), 0.1
"""Radians that no single bone of this share of the body's size points away at rest, unless the pose lies collapsed."""

_TELLING = ("idle", "stand", "walk", "rest", "pose", "run", "trot")
"""Name tokens of clips in which feet stand on the ground, the most useful first."""

_MISLEADING = frozenset(("lie", "lay", "sit", "death", "die", "dead", "jump", "fall", "swim", "fly", "climb", "sleep"))
"""Name tokens of clips in which they may not: sampled last."""


@dataclass(frozen=True, eq=False)
class Moving:
    """A clip at some moments. times: (F,), seconds. world: (F, J, 4, 4)."""

    clip: Clip
    times: Any
    world: Any

    @property
    def positions(self) -> Any:
        """(F, J, 3)."""
        return self.world[..., :3, 3]

    def velocity(self, points: Any) -> Any:
        """Return the velocities of points (F, ...); zeros for a single sample."""
        return np.gradient(points, self.times, axis=0) if len(self.times) > 1 else np.zeros_like(points)


@dataclass(frozen=True, eq=False)
class Evidence:
    """Measurements of a skeleton. All lengths are in the file's own unit.

    rest: (J, 3), where joints are at rest, or typically in clips where the rest pose lies collapsed. children: of each
    joint, within the body. body: (J,), whether a joint belongs to it. helper: (J,), those on the way to a limb that
    never rotate. end: (J,), those that only mark where a bone ends. weight: (J,), share of the skin that follows each
    joint, or None without skins. reach: (J,), the longest way down from a joint. middle: (J, 3), the mean of a joint
    and all below. count: (J,), how many these are. size: diagonal of the box around the body. bodies: how many the file
    holds, of which this is the largest. skins: those of the file that fit the skeleton.
    """

    skeleton: Skeleton
    rest: Any
    clips: tuple[Moving, ...]
    children: tuple[tuple[int, ...], ...]
    body: Any
    helper: Any
    end: Any
    weight: Any
    reach: Any
    middle: Any
    count: Any
    size: float
    bodies: int
    skins: tuple[Skin, ...] = ()

    def kind(self, joint: int) -> str:
        return name_tokens.kind(self.skeleton.names[joint])

    def parent(self, joint: int) -> int:
        return int(self.skeleton.parents[joint])

    def length(self, joints: Sequence[int]) -> float:
        """From joint to joint at rest."""
        return float(np.linalg.norm(np.diff(self.rest[list(joints)], axis=0), axis=-1).sum())

    def extent(self, joint: int) -> float:
        """Return the length of the longest chain that starts with a joint, from its parent on."""
        up = self.parent(joint)
        return float(self.reach[joint] + (np.linalg.norm(self.rest[joint] - self.rest[up]) if up >= 0 else 0.0))

    def below(self, joint: int) -> list[int]:
        """A joint and all of the body below it."""
        found = [joint]
        for at in found:
            found.extend(self.children[at])
        return found

    def above(self, joint: int) -> list[int]:
        """A joint and all above it, from the joint up."""
        found = [joint]
        while (up := self.parent(found[-1])) >= 0:
            found.append(up)
        return found


def gather(skeleton: Skeleton, clips: Sequence[Clip], skins: Sequence[Skin]) -> Evidence | None:
    """Measure a skeleton. Returns None if nothing is jointed."""
    chosen = _telling(clips)
    weight, pieces = _weights(skeleton, skins)
    alive, end = _joints(skeleton, weight, pieces, _tracked(skeleton, chosen))
    body, bodies = _largest_body(skeleton, alive | end)
    rest = skeleton.rest_world[:, :3, 3].astype(np.float64)
    children = tuple(tuple(j for j in skeleton.children(i) if body[j]) for i in range(len(skeleton)))
    size = _size(rest, children, (alive | end) & body)
    if not size > 0:
        return None
    helper = body & np.array([name_tokens.kind(name) == "helper" for name in skeleton.names])
    moving = tuple(_look(skeleton, clip) for clip in chosen)
    parts = (children, body, helper, end & body, weight, *_sums(rest, children))
    fitting = tuple(skin for skin in skins if skin.joints.size and skin.joints.max() < len(skeleton))
    return Evidence(skeleton, rest, moving, *parts, size, bodies, fitting)


def as_in_clips(evidence: Evidence) -> Evidence:
    """Return the evidence with the typical pose of the clips in place of the rest pose.

    Every bone has the mean of its directions, as seen from what carries the body: left and right are alike in it, which
    they are at no moment of a walk. It stands in the world as the moment does that is most like it.
    """
    top = _first_branch(evidence.children, evidence.body)
    world = np.concatenate([moving.world for moving in evidence.clips])
    shapes = _seen_from(world, top)
    mean = shapes.mean(axis=0)
    nearest = world[int(np.argmin(np.linalg.norm((shapes - mean)[:, evidence.body], axis=-1).sum(axis=-1)))]
    posed = mean.copy()
    for joint, parent in enumerate(evidence.skeleton.parents):
        if parent >= 0:
            length = np.linalg.norm(evidence.rest[joint] - evidence.rest[parent])
            posed[joint] = posed[parent] + arrays.unit(mean[joint] - mean[parent]) * length
    positions = posed @ _axes(nearest[top]).T + nearest[top, :3, 3]
    reach, middle, count = _sums(positions, evidence.children)
    size = _size(positions, evidence.children, evidence.body)
    return replace(evidence, rest=positions, reach=reach, middle=middle, count=count, size=size or evidence.size)


def rest_is_collapsed(evidence: Evidence) -> bool:
    """Whether the bones of clips point elsewhere from what carries the body than they do at rest.

    In some files all bones at rest run along one axis. Arms that hang in clips and are stretched at rest are usual.
    """
    if not evidence.clips:
        return False
    top = _first_branch(evidence.children, evidence.body)
    bones = [j for j in evidence.below(top) if j != top]
    parents = evidence.skeleton.parents[bones]
    shapes = np.concatenate([_seen_from(moving.world, top) for moving in evidence.clips])
    rest = _seen_from(evidence.skeleton.rest_world.astype(np.float64), top)
    mean, at_rest = (shape[bones] - shape[parents] for shape in (shapes.mean(axis=0), rest))
    lengths = np.linalg.norm(at_rest, axis=-1)
    angles = np.arccos(np.clip((arrays.unit(mean) * arrays.unit(at_rest)).sum(axis=-1), -1.0, 1.0))
    elsewhere = lengths[angles > ELSEWHERE].sum() > ELSEWHERE_SHARE * lengths.sum()
    return bool(elsewhere or angles[lengths > LONG_BONE * evidence.size].max(initial=0.0) > OPPOSITE)


def _seen_from(world: Any, joint: int) -> Any:
    """(..., J, 3): positions in the frame of one joint, without its scale."""
    away = world[..., :3, 3] - world[..., joint : joint + 1, :3, 3]
    return away @ _axes(world[..., joint, :, :])


def _axes(world: Any) -> Any:
    """(..., 3, 3): the axes of a joint as columns, of length 1."""
    return arrays.unit(world[..., :3, :3].swapaxes(-1, -2)).swapaxes(-1, -2)


def _size(positions: Any, children: Sequence[Sequence[int]], used: Any) -> float:
    """Diagonal of the box around these joints, without those above the first branch: a root may be anywhere."""
    used = used.copy()
    used[: _first_branch(children, used)] = False
    return float(np.linalg.norm(np.ptp(positions[used], axis=0))) if used.any() else 0.0


def _first_branch(children: Sequence[Sequence[int]], body: Any) -> int:
    """Return the first joint of a body that has several children in it; the first of all if none has."""
    first = int(np.argmax(body))
    at = first
    while len(children[at]) == 1:
        at = children[at][0]
    return at if children[at] else first


# --- clips -----------------------------------------------------------------------------------------------------


def _telling(clips: Sequence[Clip]) -> list[Clip]:
    """Return the clips to sample: first those named as standing or walking, one per token, then in order."""

    def order(item: tuple[int, Clip]) -> tuple[int, int, int]:
        found = name_tokens.split(item[1].name)
        tokens = {token.removesuffix("ing") for token in found} | set(found)
        rank = next((k for k, token in enumerate(_TELLING) if token in tokens), len(_TELLING))
        return len(_TELLING) + 1 if tokens & _MISLEADING else rank, len(found), item[0]

    ranked = sorted(enumerate(clips), key=order)
    first = {order(item)[0]: item for item in reversed(ranked)}
    best = [first[rank] for rank in sorted(first) if rank < len(_TELLING)]
    others = [item for item in ranked if item not in best]
    return [clip for _, clip in (best + others)[:CLIPS_LOOKED_AT]]


def looked_at(skeleton: Skeleton, clips: Sequence[Clip] | Mapping[str, Clip]) -> list[Moving]:
    """Sample the most useful of some clips."""
    return [_look(skeleton, clip) for clip in _telling(list(clips.values()) if isinstance(clips, Mapping) else clips)]


def _look(skeleton: Skeleton, clip: Clip) -> Moving:
    until = min(float(clip.duration or 0.0), LONGEST_LOOK)
    times = np.linspace(0.0, until, 2 + int(until * LOOK_RATE) if until > 0 else 1)
    return Moving(clip, times, skeleton.world(clip.sample(times)).astype(np.float64))


def _tracked(skeleton: Skeleton, clips: Sequence[Clip]) -> Any:
    """(J,): whether any of the clips has a rotation track for a joint."""
    tracked = np.zeros(len(skeleton), bool)
    for clip in clips:
        tracked[[int(track.joint) for track in clip.tracks if track.path == "rotation"]] = True
    return tracked


# --- the body --------------------------------------------------------------------------------------------------


def _weights(skeleton: Skeleton, skins: Sequence[Skin]) -> tuple[Any, Any]:
    """(J,) each: share of all skin that follows a joint, None without skins; and which nodes only hold a stiff piece.

    A mesh that follows one leaf alone is such a piece: it counts for the joint that carries it.
    """
    total, pieces = np.zeros(len(skeleton)), np.zeros(len(skeleton), bool)
    leaf = _leaves(skeleton)
    for skin in skins:
        if not skin.joints.size or skin.joints.max() >= len(skeleton):
            continue
        own = np.bincount(skin.joints.reshape(-1), skin.weights.reshape(-1), len(skeleton))
        followed = np.flatnonzero(own)
        stiff = len(followed) == 1 and leaf[followed[0]] and skeleton.parents[followed[0]] >= 0
        if (
            stiff and name_tokens.kind(skeleton.names[followed[0]]) != "eye"
        ):  # An eyeball is a mesh of its own that rotates.
            pieces[followed[0]] = True
            own = np.roll(own, int(skeleton.parents[followed[0]]) - int(followed[0]))
        total += own
    return total / total.sum() if total.sum() > 0 else None, pieces


def _joints(skeleton: Skeleton, weight: Any, pieces: Any, tracked: Any) -> tuple[Any, Any]:
    """(J,) each: joints that are certainly part of what moves, and leaves that only mark where a bone ends.

    Where skin follows most joints that could rotate, only joints with skin count. Elsewhere it is those that clips
    rotate, if they rotate most of them, or all.
    """
    decoy = pieces | np.array([name_tokens.is_decoy(name) for name in skeleton.names])
    leaf = _leaves(skeleton)
    able = (tracked if tracked.any() else ~leaf) & ~decoy
    skinned = np.zeros_like(leaf) if weight is None else weight > SKIN_SHARE
    if (skinned & able).sum() >= TELLING_SHARE * max(able.sum(), 1):
        alive = skinned & ~decoy
    else:
        tells = (tracked & ~leaf).sum() >= TELLING_SHARE * (~leaf).sum()
        alive = (skinned | tracked | (~leaf if tells else True)) & ~decoy
    named = np.array([name_tokens.is_end(name) for name in skeleton.names])
    ends_chain = (weight is None) | ~np.isin(skeleton.parents, skeleton.parents[alive])
    hangs = (skeleton.parents >= 0) & alive[skeleton.parents] & leaf & ~decoy
    end = hangs & ~skinned & (named | (~alive & ends_chain))
    return alive & ~end, end


def _leaves(skeleton: Skeleton) -> Any:
    leaf = np.ones(len(skeleton), bool)
    leaf[skeleton.parents[skeleton.parents >= 0]] = False
    return leaf


def _largest_body(skeleton: Skeleton, used: Any) -> tuple[Any, int]:
    """Return the body with most of these joints, (J,), including the joints above them, and the number of bodies."""
    parents, inside = skeleton.parents, _totals(skeleton, used)
    branching = np.bincount(parents[(parents >= 0) & (inside > 0)], minlength=len(skeleton)) >= BODY_BRANCHES
    whole = _totals(skeleton, branching) >= 2
    top, bodies = -1, 0
    while len(below := np.flatnonzero((parents == top) & (inside > 0))):
        several = int(whole[below].sum())
        if top >= 0 and several < 2 and (used[top] or len(below) > 1):
            break  # The body starts here.
        bodies = max(bodies, several)
        top = int(below[np.argmax(inside[below] * (whole[below] if several else 1))])
    chosen = used & np.isin(np.arange(len(skeleton)), skeleton.below([top] if top >= 0 else ()))
    body = np.zeros(len(skeleton), bool)
    body[skeleton.above(np.flatnonzero(chosen).tolist())] = True
    return body, bodies


def _totals(skeleton: Skeleton, values: Any) -> Any:
    """(J,): for each joint the sum of what it and all below it have."""
    totals = values.astype(np.int64)
    for joint in range(len(skeleton) - 1, 0, -1):
        if (parent := int(skeleton.parents[joint])) >= 0:
            totals[parent] += totals[joint]
    return totals


def _sums(rest: Any, children: Any) -> tuple[Any, Any, Any]:
    """Return, for each joint, the longest chain below it, the mean position of it and all below, and their number."""
    reach, middle, count = np.zeros(len(rest)), rest.copy(), np.ones(len(rest))
    for joint in range(len(rest) - 1, -1, -1):
        for child in children[joint]:
            way = reach[child] + float(np.linalg.norm(rest[child] - rest[joint]))
            reach[joint] = max(reach[joint], way)
            middle[joint] += middle[child]
            count[joint] += count[child]
    return reach, middle / count[:, np.newaxis], count
