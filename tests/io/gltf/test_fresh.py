"""Files from nothing: what is read from them is what was written."""

from dataclasses import replace

import numpy as np
import pytest

from kinema import demo
from kinema.io.gltf.document import parse
from kinema.io.gltf.fresh import fresh
from kinema.io.gltf.reader import read
from kinema.model.character import Character
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin

UPRIGHT = (0.0, 0.0, 0.0, 1.0)


def again(character):
    return read(parse(b"".join(fresh(character).glb()), "made.glb"))


def row_of_joints(count, parents=None):
    positions = np.tile((0.0, 1.0, 0.0), (count, 1))
    parents = range(-1, count - 1) if parents is None else parents
    return Skeleton([f"joint {i}" for i in range(count)], list(parents), Pose(positions, np.tile(UPRIGHT, (count, 1))))


def triangle(joints, weights, **options):
    corners = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    across = np.tile((0.0, 0.0, 1.0), (3, 1))
    return Skin(corners, [(0, 1, 2)], np.tile(joints, (3, 1)), np.tile(weights, (3, 1)), across, **options)


def check_same_surface(one, other, character, read_again):
    """Deformed by the same pose, corner by corner. Our joints come back at other places in the skeleton."""
    rng = np.random.default_rng(5)
    rest = character.skeleton.rest
    rotated = Pose(rest.translations, rest.rotations + rng.normal(0, 0.2, rest.rotations.shape), rest.scales)
    both = read_again.skeleton.rest.arrays()
    at = [read_again.skeleton.index(name) for name in character.skeleton.names]
    parts = [array.copy() for array in both]
    for part, ours in zip(parts, rotated.arrays(), strict=True):
        part[at] = ours
    theirs = other.deform(read_again.skeleton.palette(Pose(*parts)))
    ours = one.deform(character.skeleton.palette(rotated))
    assert np.allclose(ours[one.triangles], theirs[other.triangles], atol=1e-5 * np.abs(ours).max())


@pytest.mark.parametrize("make", [demo.humanoid, demo.quadruped, demo.spider])
def test_a_character_comes_back(make):
    character = make()
    back = again(character)
    ours, theirs = character.skeleton, back.skeleton
    at = [theirs.index(name) for name in ours.names]
    assert len(theirs) == len(ours) + len(character.skins)
    assert [theirs.parents[joint] for joint in at] == [at[p] if p >= 0 else -1 for p in ours.parents]
    for one, other in zip(ours.rest.arrays(), theirs.rest.arrays(), strict=True):
        assert np.allclose(one, other[at], atol=1e-12)
    assert np.allclose(ours.inverse_bind, theirs.inverse_bind[at], atol=1e-6)
    for one, other in zip(character.skins, back.skins, strict=True):
        assert np.allclose(one.colours, other.colours, atol=1e-5)
        assert np.allclose(one.normals, other.normals, atol=1e-6)
        check_same_surface(one, other, character, back)


def test_a_character_without_a_surface_has_bones():
    made = again(Character(row_of_joints(3), name="bare")).source.json
    assert made["skins"][0]["joints"] == [0, 1, 2]
    assert "meshes" not in made
    assert "materials" not in made


def test_several_roots_get_one_above_them():
    skeleton = row_of_joints(4, [-1, 0, -1, 2])
    back = again(Character(skeleton, skins=[triangle((0, 3, 0, 0), (0.5, 0.5, 0, 0))]))
    roots = back.skeleton.index("roots")
    assert [back.skeleton.parents[back.skeleton.index(f"joint {i}")] for i in (0, 2)] == [roots, roots]
    assert len(back.source.json["scenes"][0]["nodes"]) == 2


def test_more_joints_than_a_byte_can_tell():
    character = Character(row_of_joints(300), skins=[triangle((299, 255, 256, 1), (0.4, 0.3, 0.2, 0.1))])
    back = again(character)
    check_same_surface(character.skins[0], back.skins[0], character, back)


def test_more_corners_than_two_bytes_can_tell():
    count = 66_000
    corners = np.random.default_rng(1).normal(size=(count, 3))
    skin = Skin(
        corners,
        np.arange(count).reshape(-1, 3),
        np.zeros((count, 4), int),
        np.tile((1.0, 0, 0, 0), (count, 1)),
        np.tile((0.0, 0.0, 1.0), (count, 1)),
    )
    character = Character(row_of_joints(1), skins=[skin])
    back = again(character)
    check_same_surface(skin, back.skins[0], character, back)


def test_weights_are_converted_to_the_format():
    """No joint twice in a vertex, none without a weight, all together 1; the surface is the same."""
    skin = triangle((2, 1, 2, 1), (0.25, 0.25, 0.25, 0.25))
    character = Character(row_of_joints(3), skins=[skin])
    back = again(character)
    other = back.skins[0]
    assert np.allclose(np.sort(other.weights, axis=1), [(0, 0, 0.5, 0.5)] * 3)
    assert (other.joints[other.weights == 0] == 0).all()
    check_same_surface(skin, other, character, back)


def test_surfaces_of_no_triangles_and_normals_of_no_length():
    empty = Skin(np.zeros((0, 3)), np.zeros((0, 3), int), np.zeros((0, 4), int), np.zeros((0, 4)), np.zeros((0, 3)))
    flat = replace(triangle((0, 0, 0, 0), (1.0, 0, 0, 0)), normals=np.zeros((3, 3)))
    back = again(Character(row_of_joints(2), skins=[empty, flat]))
    assert len(back.skins) == 1
    assert np.allclose(np.linalg.norm(back.skins[0].normals, axis=1), 1.0)


def test_a_surface_bound_otherwise_than_the_skeleton():
    rebind = np.tile(np.eye(3, 4), (3, 1, 1))
    rebind[:, :, 3] = [(1, 0, 0), (0, 2, 0), (0, 0, 3)]
    skins = [triangle((0, 1, 2, 0), (0.5, 0.3, 0.2, 0)), triangle((2, 1, 0, 0), (0.5, 0.3, 0.2, 0), rebind=rebind)]
    character = Character(row_of_joints(3), skins=skins)
    back = again(character)
    for one, other in zip(skins, back.skins, strict=True):
        check_same_surface(one, other, character, back)
