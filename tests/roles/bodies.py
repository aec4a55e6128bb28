"""The generated characters made hard to know: nameless, in another order, rotated, in another unit, lying down."""

from dataclasses import dataclass, replace

import numpy as np

from kinema.demo import humanoid, quadruped, spider
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip, Track
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

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
    rotations = old.rest.rotations.astype(np.float64)
    rotations[0] = arrays.mul(down, rotations[0])
    rest = Pose(old.rest.translations, rotations.astype(np.float32), old.rest.scales)
    skeleton = Skeleton(old.names, old.parents, rest, None, old.inverse_bind)
    clips = {
        name: Clip.from_poses(name, skeleton, clip.sample(np.linspace(0.0, clip.duration, 40)), fps=39 / clip.duration)
        for name, clip in disguised.character.clips.items()
    }
    return replace(disguised, character=replace(disguised.character, skeleton=skeleton, clips=clips))


def collapsed(disguised, axis, mirrored=False):
    """With a rest pose without rotations in which every bone runs along its own axis, as some exporters have it.

    mirrored: bones of the right side run the other way.
    """
    old = disguised.character.skeleton
    positions = old.rest_world[:, :3, 3].astype(np.float64)
    frames = []
    for j, parent in enumerate(old.parents):
        below = old.children(j)
        way = positions[below[0]] - positions[j] if below else np.zeros(3)
        if not np.linalg.norm(way) > 0:
            frames.append(frames[parent] if parent >= 0 else np.array((0.0, 0.0, 0.0, 1.0)))
            continue
        own = np.array(axis) * (-1.0 if mirrored and positions[j, 0] < -1e-3 else 1.0)
        frames.append(_shortest(own, way / np.linalg.norm(way)))
    frames = np.array(frames)
    above = [int(parent) for parent in old.parents]
    offsets = np.array([positions[j] - (positions[p] if p >= 0 else 0.0) for j, p in enumerate(above)])
    offsets = np.array(
        [o if p < 0 else arrays.rotate(arrays.conj(frames[p]), o) for o, p in zip(offsets, above, strict=True)]
    )
    turned = np.tile(np.eye(4), (len(old), 1, 1))
    turned[:, :3, :3] = arrays.to_matrix(frames)
    bind = np.linalg.inv(turned) @ old.inverse_bind
    straight = np.tile((0.0, 0.0, 0.0, 1.0), (len(old), 1))
    skeleton = Skeleton(old.names, old.parents, Pose(offsets, straight), None, bind)
    rest = old.world_rotations(old.rest.astype(np.float64))
    clips = {}
    for name, clip in disguised.character.clips.items():
        times = np.linspace(0.0, clip.duration, 2 + int(30 * clip.duration))
        poses = clip.sample(times).astype(np.float64)
        world = old.world(poses)
        # The frames belong to world-aligned joints: take the rest rotations off first.
        spun = arrays.mul(arrays.mul(old.world_rotations(poses), arrays.conj(rest)), frames)
        local = spun.copy()
        moved = np.tile(offsets, (len(times), 1, 1))
        for j, parent in enumerate(above):
            if parent >= 0:
                local[:, j] = arrays.mul(arrays.conj(spun[:, parent]), spun[:, j])
            else:
                moved[:, j] = world[:, j, :3, 3]
        if len(above) > 1 and above[1] == 0:  # The hips travel below a root.
            moved[:, 1] = arrays.rotate(arrays.conj(spun[:, 0]), world[:, 1, :3, 3] - world[:, 0, :3, 3])
        scales = np.ones_like(moved)
        fps = (len(times) - 1) / clip.duration
        clips[name] = Clip.from_poses(name, skeleton, Pose.of(moved, arrays.unit(local), scales), fps=fps)
    return replace(disguised, character=replace(disguised.character, skeleton=skeleton, clips=clips))


def _shortest(a, b):
    """The smallest rotation from one direction to another."""
    if a @ b < -0.999999:
        return arrays.from_axis_angle(np.roll(a, 1), np.pi)
    return arrays.unit(np.array((*np.cross(a, b), 1.0 + a @ b)))


def with_decoys(disguised):
    """With all that animators leave in a person's file: twist bones beside limbs, grips for hands, feet and knees,
    swords, a camera, a mesh. All but the last two turn a little in every clip.
    """
    old = disguised.character.skeleton
    at = old.rest_world[:, :3, 3].astype(np.float64)
    names, parents = list(old.names), old.parents.tolist()
    positions, frames = list(at), list(old.rest_world[:, :3, :3].astype(np.float64))

    def add(name, parent, place):
        names.append(name)
        parents.append(parent if isinstance(parent, int) else names.index(parent))
        positions.append(np.asarray(place, float))
        frames.append(np.eye(3))

    for side in "lr":
        for upper, lower in (("thigh", "shin"), ("upper_arm", "forearm"), ("shin", "foot"), ("forearm", "hand")):
            a, b = (names.index(f"{bone}_{side}") for bone in (upper, lower))
            add(f"{upper}_twist_01_{side}", a, (at[a] + at[b]) / 2)
        hand, foot, knee = (names.index(f"{bone}_{side}") for bone in ("hand", "foot", "shin"))
        add(f"ik_hand_{side}", 0, at[hand])
        add(f"ik_foot_{side}", 0, at[foot])
        add(f"ik_heel_{side}", len(names) - 1, at[foot] - (0.0, 0.08, 0.06))
        add(f"ik_toe_roll_{side}", len(names) - 1, at[foot] + (0.0, -0.08, 0.18))
        add(f"knee_pole_{side}", 0, at[knee] + (0.0, 0.0, 0.6))
        add(f"weapon_{side}", hand, at[hand] + (0.02, -0.05, 0.05))
    add("Camera", "head", at[names.index("head")] + (0.0, 0.1, 0.5))
    add("Body_Mesh", 0, (0.0, 0.0, 0.0))
    return replace(disguised, character=_rebuilt(disguised.character, names, parents, positions, frames))


def with_halves(disguised):
    """With upper arms, forearms, thighs and shins in two halves, as rigs have them that share a bone's twist."""
    old = disguised.character.skeleton
    at = old.rest_world.astype(np.float64)
    names, parents, order, joint = [], [], [], {}
    for j, name in enumerate(old.names):
        parent = int(old.parents[j])
        above = old.names[parent][:-2] if parent >= 0 else ""
        joint[j] = len(names) + (above in _HALVED)
        if above in _HALVED:
            names.append(f"{old.names[parent]}.001")
            parents.append(joint[parent])
            order.append((parent, (at[parent, :3, 3] + at[j, :3, 3]) / 2))
        names.append(name)
        parents.append(len(names) - 2 if above in _HALVED else joint.get(parent, -1))
        order.append((j, at[j, :3, 3]))
    positions, frames = [position for _, position in order], [at[j, :3, :3] for j, _ in order]
    new = np.array([joint[j] for j in range(len(old))])
    character = disguised.character
    skins = [replace(skin, joints=new[skin.joints]) for skin in character.skins]
    skeleton = _placed_skeleton(names, parents, positions, frames)
    clips = {}
    for name, clip in character.clips.items():
        tracks = [t if t.path != "translation" or t.joint < 2 else None for t in clip.tracks]
        tracks = [replace(t, joint=joint[int(t.joint)]) for t in tracks if t is not None]
        clips[name] = replace(clip, skeleton=skeleton, tracks=tracks)
    return Disguised(replace(character, skeleton=skeleton, clips=clips, skins=skins), joint)


_HALVED = ("upper_arm", "forearm", "thigh", "shin")


def _placed_skeleton(names, parents, places, frames):
    """Joints with these places (3,) and axes (3, 3) in the world."""
    count = len(names)
    translations, rotations = np.zeros((count, 3)), np.tile((0.0, 0.0, 0.0, 1.0), (count, 1))
    for j, parent in enumerate(parents):
        frame, start = (np.eye(3), np.zeros(3)) if parent < 0 else (frames[parent], places[parent])
        translations[j] = frame.T @ (places[j] - start)
        rotations[j] = arrays.from_matrix(frame.T @ frames[j])
    return Skeleton(names, parents, Pose(translations.astype(np.float32), rotations.astype(np.float32)))


def _rebuilt(character, names, parents, places, frames):
    """A character with more joints at the end, placed in the world; the new ones turn in clips."""
    old, count = character.skeleton, len(names)
    rest = _placed_skeleton(names, parents, places, frames).rest
    rotations = rest.rotations.astype(np.float64)
    bind = np.linalg.inv(Skeleton(names, parents, rest).rest_world.astype(np.float64))
    bind[: len(old)] = old.inverse_bind
    skeleton = Skeleton(names, parents, rest, None, bind)
    rotation = arrays.from_axis_angle((0.0, 1.0, 0.0), 0.2)
    tracks = [
        Track(j, "rotation", [0.0, 0.5], [rotations[j], arrays.mul(rotations[j], rotation)])
        for j in range(len(old), count)
    ]
    clips = {
        name: replace(clip, skeleton=skeleton, tracks=[*clip.tracks, *tracks[:-2]])
        for name, clip in character.clips.items()
    }
    return replace(character, skeleton=skeleton, clips=clips)
