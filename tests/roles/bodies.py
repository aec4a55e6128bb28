"""The generated characters made hard to know: nameless, in another order, turned, in another unit, lying down."""

from dataclasses import dataclass, replace

import numpy as np

from kinema.character import Character
from kinema.clip import Clip
from kinema.math import arrays
from kinema.pose import Pose
from kinema.scenes import humanoid, quadruped, spider
from kinema.skeleton import Skeleton

MADE = {"humanoid": humanoid, "quadruped": quadruped, "spider": spider}


@dataclass(frozen=True)
class Disguised:
    """A character and, for each joint of the original, its joint here."""

    character: Character
    joint: dict[int, int]


def plain(made):
    """A generated character without limits and rig."""
    skeleton = Skeleton(
        made.skeleton.names, made.skeleton.parents, made.skeleton.rest, None, made.skeleton.inverse_bind
    )
    clips = {name: replace(clip, skeleton=skeleton) for name, clip in made.clips.items()}
    return Disguised(Character(skeleton, clips, None, made.skins, made.name), {j: j for j in range(len(skeleton))})


def nameless(disguised):
    """Names of joints and clips that say nothing."""
    old = disguised.character
    s = old.skeleton
    skeleton = Skeleton([f"q{j}" for j in range(len(s))], s.parents, s.rest, None, s.inverse_bind)
    clips = {f"q{k}": replace(clip, name=f"q{k}", skeleton=skeleton) for k, clip in enumerate(old.clips.values())}
    return replace(disguised, character=replace(old, skeleton=skeleton, clips=clips))


def shuffled(disguised, seed):
    """Joints in another order, each still after its parent."""
    old = disguised.character
    chance = np.random.default_rng(seed)
    ready, order = [0], []
    while ready:
        joint = ready.pop(int(chance.integers(len(ready))))
        order.append(joint)
        ready += old.skeleton.children(joint)
    new = np.argsort(order)
    parents = [-1 if old.skeleton.parents[j] < 0 else int(new[old.skeleton.parents[j]]) for j in order]
    rest = Pose(*(array[order] for array in old.skeleton.rest.arrays()))
    names = [old.skeleton.names[j] for j in order]
    skeleton = Skeleton(names, parents, rest, None, old.skeleton.inverse_bind[order])
    clips = {
        name: replace(
            clip, skeleton=skeleton, tracks=[replace(track, joint=int(new[track.joint])) for track in clip.tracks]
        )
        for name, clip in old.clips.items()
    }
    skins = [replace(skin, joints=new[skin.joints]) for skin in old.skins]
    joint = {original: int(new[j]) for original, j in disguised.joint.items()}
    return Disguised(replace(old, skeleton=skeleton, clips=clips, skins=skins), joint)


def placed(disguised, turn, size):
    """Below a node that turns and scales everything: another up, another unit."""
    old = disguised.character.skeleton
    first = np.array((0.0, 0.0, 0.0)), np.asarray(turn), np.full(3, size)
    rest = Pose(
        *(np.concatenate((own[np.newaxis], array)) for own, array in zip(first, old.rest.arrays(), strict=True))
    )
    bind = np.concatenate((np.eye(4)[np.newaxis], old.inverse_bind))
    skeleton = Skeleton(["qtop", *old.names], [-1, *(old.parents + 1)], rest.astype(np.float32), None, bind)
    clips = {
        name: replace(clip, skeleton=skeleton, tracks=[replace(t, joint=int(t.joint) + 1) for t in clip.tracks])
        for name, clip in disguised.character.clips.items()
    }
    skins = [replace(skin, joints=skin.joints + 1) for skin in disguised.character.skins]
    joint = {original: j + 1 for original, j in disguised.joint.items()}
    return Disguised(replace(disguised.character, skeleton=skeleton, clips=clips, skins=skins), joint)


def lying(disguised):
    """On its back at rest, and standing in its clips only."""
    old = disguised.character.skeleton
    down = arrays.from_axis_angle((1.0, 0.0, 0.0), -np.pi / 2)
    turns = old.rest.rotations.astype(np.float64)
    turns[0] = arrays.mul(down, turns[0])
    rest = Pose(old.rest.translations, turns.astype(np.float32), old.rest.scales)
    skeleton = Skeleton(old.names, old.parents, rest, None, old.inverse_bind)
    clips = {
        name: Clip.from_poses(name, skeleton, clip.sample(np.linspace(0.0, clip.duration, 40)), fps=40 / clip.duration)
        for name, clip in disguised.character.clips.items()
    }
    return replace(disguised, character=replace(disguised.character, skeleton=skeleton, clips=clips))
