"""Compare another program's answer with ours, relative to the character's size."""

import functools

import numpy as np

AGREES = 1e-4
"""Largest difference that counts as agreement, as a fraction of the character's size."""

SHARES = np.array([0.13, 0.5, 0.96])
"""Fractions of each clip's duration that are compared, usually between keys."""


def moments(clip):
    return SHARES * clip.duration


def key_moments(clip):
    """The keys of a clip nearest to the compared moments."""
    keys = np.unique(np.concatenate([np.zeros(1), *(track.times for track in clip.tracks)]))
    return keys[np.abs(keys[:, np.newaxis] - moments(clip)).argmin(axis=0)]


def check_scenes(character, rest, clips, agrees=AGREES):
    """Raise unless three.js agrees on every node and surface, at rest and in every clip."""
    skeleton = character.skeleton
    check_scene(character, skeleton.rest, rest, agrees)
    for (name, clip), scenes in zip(character.clips.items(), clips, strict=True):
        for time, scene in zip(moments(clip), scenes, strict=True):
            when = f"{name} at {time:g}"
            check_scene(character, clip.sample(time), scene, agrees, when, clip.shape_weights(time))


def check_scene(character, pose, scene, agrees=AGREES, when="rest", weights=None):
    """Raise unless three.js agrees in this pose, with these weights of blend shapes. when: for the message."""
    when = f"{character.name}, {when}"
    ours = by_nodes(character, character.skeleton.world(pose))
    # Surfaces of a character made in code become nodes too, behind its joints.
    assert distance(ours, scene.nodes[: len(ours)], character) < agrees, when
    if character.skins:  # None of compressed surfaces, which neither of us unpacks.
        assert len(scene.corners) == len(character.skins), when
        apart = np.abs(corners(character, pose, weights, scene.corners.shape[1]) - scene.corners).max()
        assert apart < agrees * size(character), when


def corners(character, pose, weights, count):
    """(S, count, 3): positions of vertices, evenly spread over each surface."""
    palette = character.skeleton.palette(pose)
    found = []
    for skin in character.skins:
        every = skin.triangles.reshape(-1)
        found.append(skin.deform(palette, weights)[every[np.arange(count) * len(every) // count]])
    return np.array(found)


def by_nodes(character, matrices):
    """Matrices of joints in the order of the file's nodes."""
    nodes = getattr(character.source, "joint_of_node", None)
    return matrices if nodes is None else matrices[..., list(nodes), :, :]


@functools.cache
def size(character):
    """Diagonal of the bounding box of all joints at rest and in the first frame of every clip."""
    skeleton = character.skeleton
    starts = [skeleton.world(clip.sample(0.0))[:, :3, 3] for clip in character.clips.values()]
    positions = np.concatenate([skeleton.rest_world[:, :3, 3], *starts])
    return float(np.linalg.norm(np.ptp(positions, axis=0))) or 1.0


def distance(ours, theirs, character):
    """Largest difference of positions, relative to the character's size, and of axes, relative to their length."""
    positions = np.abs(ours[..., :3, 3] - theirs[..., :3, 3]).max() / size(character)
    lengths = np.linalg.norm(ours[..., :3, :3], axis=(-2, -1), keepdims=True)
    axes = (np.abs(ours - theirs)[..., :3, :3] / np.where(lengths > 0, lengths, 1.0)).max()
    return float(max(positions, axes))
