"""What every generated character has to live up to, measured from what its clips play."""

from functools import cache

import numpy as np
from numba import config

from kinema.math import arrays

MOMENTS = 90 if config.DISABLE_JIT else 240  # A second: more than there are keys, so that what is between them counts.


def moments(clip):
    return np.linspace(0.0, clip.duration, round(clip.duration * MOMENTS) + 1)


@cache
def played(character, name):
    """Moments of a clip, (F,), its pose there, every joint's turn away from rest, (F, J, 4), and place, (F, J, 3)."""
    times = moments(character.clips[name])
    pose = character.clips[name].sample(times).astype(np.float64)
    return times, pose, *rotations_and_positions(character.skeleton, pose)


def rotations_and_positions(skeleton, pose):
    """Every joint's turn away from rest, (F, J, 4), and place, (F, J, 3), by definition."""
    rest = skeleton.rest.astype(np.float64)
    rotations, positions, own = pose.rotations.copy(), pose.translations.copy(), rest.rotations.copy()
    for j, parent in enumerate(skeleton.parents):
        if parent >= 0:
            positions[:, j] = positions[:, parent] + arrays.rotate(rotations[:, parent], pose.translations[:, j])
            rotations[:, j] = arrays.mul(rotations[:, parent], pose.rotations[:, j])
            own[j] = arrays.mul(own[parent], rest.rotations[j])
    return arrays.mul(rotations, arrays.conj(own)), positions


def sole_points(rig, leg, turns, places):
    """Heel, ball and tip of a foot's sole, (F, 3, 3), metres."""
    ankle, up, ahead = leg.joints[-1], np.array(rig.up), np.array(rig.forward)
    heel = places[:, ankle] + arrays.rotate(turns[:, ankle], -leg.sole * up - leg.heel * ahead)
    if leg.toe is None:
        tip = places[:, ankle] + arrays.rotate(turns[:, ankle], -leg.sole * up + leg.tip * ahead)
        return np.stack((heel, (heel + tip) / 2, tip), axis=1)
    rest = rig.skeleton.rest_world[:, :3, 3]
    beyond = leg.tip - float((rest[leg.toe] - rest[ankle]) @ ahead)
    ball = places[:, leg.toe] + arrays.rotate(turns[:, leg.toe], -leg.toe_sole * up)
    tip = places[:, leg.toe] + arrays.rotate(turns[:, leg.toe], -leg.toe_sole * up + beyond * ahead)
    return np.stack((heel, ball, tip), axis=1)


def planted(clip, leg, times):
    """(F,): whether a leg stands on the ground, by the clip's events; a whole pass before counts."""
    at = {event.name: event.time for event in clip.events}
    down, up = at[f"{leg.name}_down"], at[f"{leg.name}_up"]
    return np.mod(times - down, clip.duration) <= np.mod(up - down, clip.duration)


def contact(character, name):
    """(height, slide), metres: how far the lowest point of a planted sole is off the ground at most, and how far a
    point of the sole moves at most over the ground while it touches it.
    """
    clip, rig = character.clips[name], character.rig
    times, _, rotations, positions = played(character, name)
    height = slide = 0.0
    for leg in rig.legs:
        points, down = sole_points(rig, leg, rotations, positions), planted(clip, leg, times)
        height = max(height, float(np.abs(points[down][:, :, 1].min(axis=1)).max()))
        for n in range(3):
            touching = down & (points[:, n, 1] < 1e-3)
            slide = max(slide, *(_spread(points[part, n]) for part in _pieces(touching)), 0.0)
    return height, slide


def _pieces(mask):
    """Runs of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(int), [0]))))
    return [slice(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _spread(points):
    flat = points[:, (0, 2)]
    return float(np.linalg.norm(flat.max(axis=0) - flat.min(axis=0)))


def lowest(character, name):
    """Height of the lowest point of the skin over a clip, metres."""
    clip = character.clips[name]
    palettes = character.skeleton.palette(clip.sample(np.linspace(0.0, clip.duration, 24, endpoint=False)))
    return min(float(character.skins[0].deform(palette)[:, 1].min()) for palette in palettes)


def fastest(clip):
    """By joint, the most that each turns between two frames of 60 a second, degrees; over the loop's seam too."""
    times = (np.arange(round(clip.duration * 60) + 2) + 0.5) / 60
    rotations = clip.sample(times, loop=True).rotations.astype(np.float64)
    most = np.degrees(arrays.angle_between(rotations[:-1], rotations[1:])).max(axis=0)
    return dict(zip(clip.skeleton.names, most.tolist(), strict=True))


def beyond_limits(character, name):
    """Radians that a clip goes beyond its skeleton's limits, for the joint that does so most, and its name."""
    skeleton = character.skeleton
    pose = played(character, name)[1][::2]
    rotated = arrays.mul(arrays.conj(skeleton.rest.rotations.astype(np.float64)), pose.rotations)
    worst = (0.0, "")
    for j, limit in enumerate(skeleton.limits):
        if limit is not None:
            off = float(arrays.angle_between(rotated[:, j], limit.project(rotated[:, j])).max())
            worst = max(worst, (off, skeleton.names[j]))
    return worst


def loop_gap(character, name):
    """How far a clip's end is from its start but for the travel: metres and radians, for the joint where it is most."""
    clip = character.clips[name]
    pose = clip.sample((0.0, clip.duration)).astype(np.float64)
    moved = np.abs(pose.translations[1] - pose.translations[0])
    moved[0] = 0.0
    return float(moved.max()), float(arrays.angle_between(pose.rotations[0], pose.rotations[1]).max())


def bend(character, name, joints):
    """(F,), degrees: how far the middle one of three joints bends over a clip; 0 is straight, less than 0 backwards.

    Forwards is the way it is bent at rest.
    """
    _, _, rotations, positions = played(character, name)
    start, middle, end = (character.skeleton.index(joint) for joint in joints)
    rest = character.skeleton.rest_world[:, :3, 3].astype(np.float64)
    hinge = arrays.unit(np.cross(rest[middle] - rest[start], rest[end] - rest[middle]))
    upper, lower = positions[:, middle] - positions[:, start], positions[:, end] - positions[:, middle]
    sine = np.sum(np.cross(upper, lower) * arrays.rotate(rotations[:, start], hinge), axis=1)
    return np.degrees(np.arctan2(sine, np.sum(upper * lower, axis=1)))


def same(a, b):
    """Whether two characters are the same to the last bit: skeleton, skin and clips."""
    pairs = [(getattr(a.skins[0], part), getattr(b.skins[0], part)) for part in ("vertices", "triangles", "weights")]
    pairs += list(zip(a.skeleton.rest.arrays(), b.skeleton.rest.arrays(), strict=True))
    for name, clip in a.clips.items():
        pairs += [(x.values, y.values) for x, y in zip(clip.tracks, b.clips[name].tracks, strict=True)]
    return a.clips.keys() == b.clips.keys() and all(np.array_equal(x, y) for x, y in pairs)


def pieces(skin):
    """(V,): which closed piece of a skin each vertex belongs to."""
    piece = np.arange(len(skin.vertices))
    for _ in range(len(piece)):
        least = np.minimum.reduce([piece[skin.triangles[:, n]] for n in range(3)])
        before = piece.copy()
        for n in range(3):
            np.minimum.at(piece, skin.triangles[:, n], least)
        piece = piece[piece]
        if np.array_equal(piece, before):
            break
    return piece
