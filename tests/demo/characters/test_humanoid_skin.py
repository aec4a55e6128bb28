"""The mannequin's skin over its whole range of motion: every joint at the ends of its limits, alone and all at once."""

import numpy as np
import pytest

from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose
from tests.demo import checks

FAR = 3.0
"""Radians from rest, about a random axis: beyond every limit, so that projecting gives an end of the range."""

THIN = 1e-6
"""Cubic metres: brows and mouth, lines on the face, are smaller."""

STILL = np.array((0.0, 0.0, 0.0, 1.0))


@pytest.fixture(scope="module")
def person():
    return humanoid()


def extremes(skeleton, rng, alone, together):
    """Rotations from rest, (poses, J, 4): each limited joint alone, some ways each, then all of them at once."""
    far = arrays.from_axis_angle(arrays.unit(rng.normal(size=(alone + together, len(skeleton), 3))), FAR)
    ends = np.stack(
        [far[:, j] if limit is None else limit.project(far[:, j]) for j, limit in enumerate(skeleton.limits)], 1
    )
    limited = [j for j, limit in enumerate(skeleton.limits) if limit is not None]
    ends[:, [j for j in range(len(skeleton)) if j not in limited]] = STILL
    poses = list(ends[alone:])
    for j in limited:
        for end in ends[:alone]:
            poses.append(np.where((np.arange(len(skeleton)) == j)[:, np.newaxis], end, STILL))
    return np.array(poses)


@pytest.fixture(scope="module")
def deformed(person):
    """The skin in extreme poses, (poses, V, 3), and the palettes, (poses, J, 3, 4)."""
    skeleton, skin = person.skeleton, person.skins[0]
    rest = skeleton.rest.astype(np.float64)
    rotated = extremes(skeleton, np.random.default_rng(4), alone=2, together=24)
    palettes = [
        skeleton.palette(Pose(rest.translations.astype("f4"), arrays.mul(rest.rotations, one).astype("f4")))
        for one in rotated
    ]
    return np.array([skin.deform(palette) for palette in palettes], np.float64), np.array(palettes, np.float64)


def edges(vertices, triangles):
    """Two edges of each triangle, (..., T, 3, 2)."""
    a, b, c = (vertices[..., triangles[:, n], :] for n in range(3))
    return np.stack((b - a, c - a), axis=-1)


def normals(vertices, triangles):
    both = edges(vertices, triangles)
    return arrays.unit(np.cross(both[..., 0], both[..., 1]))


def test_no_triangle_turns_inside_out(person, deformed):
    """Its front stays on the side where the joints that it follows carry it."""
    skin, (vertices, palettes) = person.skins[0], deformed
    at_rest = normals(skin.vertices.astype(np.float64), skin.triangles)
    for posed, palette in zip(vertices, palettes, strict=True):
        carried = np.einsum("vk,vkij->vij", skin.weights, palette[skin.joints][..., :3])
        expected = np.einsum("tij,tj->ti", carried[skin.triangles].mean(axis=1), at_rest)
        assert np.sum(normals(posed, skin.triangles) * expected, axis=1).min() > 0.2


def test_no_triangle_is_squeezed_flat_or_torn(person, deformed):
    """Lengths on the surface change by less than a factor of eight either way, nearly all by less than two."""
    skin, (vertices, _) = person.skins[0], deformed
    before = edges(skin.vertices.astype(np.float64), skin.triangles)
    gram = np.linalg.inv(np.einsum("tia,tib->tab", before, before))
    for posed in vertices:
        after = edges(posed, skin.triangles)
        strain = gram @ np.einsum("tia,tib->tab", after, after)
        half = (strain[:, 0, 0] + strain[:, 1, 1]) / 2
        spread = np.sqrt(np.maximum(half**2 - np.linalg.det(strain), 0.0))
        least, most = np.sqrt(half - spread), np.sqrt(half + spread)
        assert least.min() > 1 / 8
        assert most.max() < 2.5
        assert (least > 0.5).mean() > 0.98


def test_no_piece_loses_its_volume(person, deformed):
    """Elbows, knees, wrists, neck and waist keep their cross sections however far they bend and twist."""
    skin, (vertices, _) = person.skins[0], deformed
    piece = checks.pieces(skin)[skin.triangles[:, 0]]
    parts = [skin.triangles[piece == one] for one in np.unique(piece)]
    at_rest = [volume(skin.vertices.astype(np.float64), part) for part in parts]
    for part, before in zip(parts, at_rest, strict=True):
        if before > THIN:
            assert min(volume(posed, part) for posed in vertices) > 0.85 * before


def volume(vertices, triangles):
    a, b, c = (vertices[triangles[:, n]] - vertices[triangles[0, 0]] for n in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6)


def test_limbs_are_rigid(person):
    """What belongs to an arm, a hand or a leg follows one joint only."""
    skin, names = person.skins[0], np.array(person.skeleton.names)
    limbs = (
        "upper_arm",
        "forearm",
        "hand",
        "thumb",
        "index",
        "middle",
        "ring",
        "little",
        "thigh",
        "shin",
        "foot",
        "toe",
    )
    theirs = np.char.startswith(names[skin.joints[:, 0]][:, np.newaxis], limbs).any(axis=1)
    assert theirs.sum() > 2000
    assert (skin.weights[theirs, 0] == 1.0).all()


def test_eyes_lie_in_the_face(person):
    """Of each eye only its front shows, and it stands out of the face by a few millimetres."""
    skin, names = person.skins[0], np.array(person.skeleton.names)
    strongest = names[skin.joints[:, 0]]
    for side, sign in (("l", 1), ("r", -1)):
        eye = skin.vertices[strongest == f"eye_{side}"]
        beside = skin.vertices - (sign * 0.031, 1.645, 0.0)
        near = (strongest == "head") & (beside[:, 0] * sign > -0.012) & (np.linalg.norm(beside[:, :2], axis=1) < 0.02)
        face = skin.vertices[near, 2].max()
        assert -0.004 < eye[:, 2].max() - face < 0.006
