"""Skins: vertices that follow the joints."""

from dataclasses import replace

import numpy as np
import pytest

from kinema.errors import InputError
from kinema.model.blend_shapes import BlendShape
from kinema.model.pose import Pose
from kinema.model.skin import Skin
from tests import problems
from tests.stages.bodies import person, poses


def skin_of(skeleton, rng, count=30):
    """Vertices anywhere, each on one to four joints."""
    weights = rng.uniform(size=(count, 4)) * (rng.uniform(size=(count, 4)) < 0.6)
    weights[:, 0] += 0.1
    return Skin(
        rng.normal(size=(count, 3)),
        rng.integers(0, count, (20, 3)),
        rng.integers(0, len(skeleton), (count, 4)),
        weights / weights.sum(axis=-1, keepdims=True),
        problems.units(rng, count),
        rng.uniform(size=(count, 3)),
    )


def test_arrays_are_kept_in_the_precision_of_the_gpu():
    skin = skin_of(person().skeleton, np.random.default_rng(1))
    assert all(getattr(skin, n).dtype == np.float32 for n in ("vertices", "weights", "normals", "colours"))
    assert skin.triangles.dtype == skin.joints.dtype == np.int64
    assert (
        Skin(np.zeros((1, 3)), np.zeros((0, 3), int), np.zeros((1, 4), int), [[1, 0, 0, 0]], [[0, 0, 1]]).colours
        is None
    )


def test_at_rest_a_skin_stays_where_it_was_bound():
    skeleton = person().skeleton
    skin = skin_of(skeleton, np.random.default_rng(2))
    np.testing.assert_allclose(skin.deform(skeleton.palette(skeleton.rest)), skin.vertices, atol=1e-6)


def test_a_vertex_goes_where_its_joints_take_it():
    character, rng = person(), np.random.default_rng(3)
    skeleton = character.skeleton
    skin = skin_of(skeleton, rng)
    palette = skeleton.palette(type(skeleton.rest)(skeleton.rest.translations, poses(character, rng, 1, 1.0)[0]))
    moved = skin.deform(palette)
    for v in range(len(moved)):
        point = np.append(skin.vertices[v], 1.0)
        each = [weight * (palette[j] @ point) for j, weight in zip(skin.joints[v], skin.weights[v], strict=True)]
        np.testing.assert_allclose(moved[v], np.sum(each, axis=0), atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vertices": None}, "vertices must be an array of numbers"),
        ({"vertices": [[0, 0]]}, r"vertices must have shape \(..., 3\)"),
        ({"vertices": [[0, 0, 0], [0, np.nan, 0]]}, r"vertices\[1, 1\] is nan"),
        ({"vertices": np.zeros((2, 2, 3))}, r"vertices must have shape \(2, 3\), one row per vertex; got \(2, 2, 3\)"),
        ({"weights": [[1, 0, 0, 0]]}, r"weights must have shape \(2, 4\), one row per vertex; got \(1, 4\)"),
        ({"normals": [[0, 0, 1]] * 3}, r"normals must have shape \(2, 3\)"),
        ({"colours": [[0, 0, np.inf]] * 2}, r"colours\[0, 2\] is inf"),
        ({"triangles": [[0, 1, 2]]}, r"triangles\[0, 2\] is 2; indices of vertices are 0 to 1"),
        ({"triangles": [[0, 1, -1]]}, r"triangles\[0, 2\] is -1"),
        ({"triangles": [[0, 1]]}, r"triangles must be whole numbers of shape \(n, 3\), got \(1, 2\)"),
        ({"triangles": [[0.0, 1.0, 1.0]]}, "triangles must be whole numbers, got float64"),
        ({"joints": [[0, 0, 0, 0]]}, r"joints must have shape \(2, 4\), one row per vertex; got \(1, 4\)"),
        ({"joints": [[0, 0, 0, 0], [0, 0, 0, -3]]}, r"joints\[1, 3\] is -3; indices of joints are 0 or more"),
    ],
)
def test_bad_skins_are_named(change, message):
    whole = {
        "vertices": np.zeros((2, 3)),
        "triangles": [[0, 1, 1]],
        "joints": np.zeros((2, 4), int),
        "weights": [[1, 0, 0, 0]] * 2,
        "normals": [[0, 0, 1]] * 2,
    }
    with pytest.raises(InputError, match=message):
        Skin(**whole | change)


def test_a_palette_that_does_not_fit_is_named():
    skin = skin_of(person().skeleton, np.random.default_rng(4))
    with pytest.raises(InputError, match=r"palette must have shape \(\.\.\., joints, 3, 4\), got \(17, 4, 4\)"):
        skin.deform(person().skeleton.rest_world)
    with pytest.raises(InputError, match=r"joints\[.*\] is \d+; indices of the palette's joints are 0 to 1"):
        skin.deform(np.zeros((2, 3, 4)))


# --- bound otherwise than the skeleton -------------------------------------------------------------------------


def test_a_skin_with_a_bind_of_its_own():
    """Each joint takes a vertex from where its own matrix puts it first."""
    skeleton, rng = person().skeleton, np.random.default_rng(8)
    plain = skin_of(skeleton, rng)
    rebind = rng.normal(size=(len(skeleton), 3, 4))
    palette = skeleton.palette(Pose(skeleton.rest.translations, poses(person(), rng, 1)[0]))
    found = replace(plain, rebind=rebind).deform(palette)
    for v, (joints, weights) in enumerate(zip(plain.joints, plain.weights, strict=True)):
        wanted = np.zeros(3)
        for joint, weight in zip(joints, weights, strict=True):
            first = rebind[joint] @ [*plain.vertices[v], 1]
            wanted += weight * (palette[joint] @ [*first, 1])
        np.testing.assert_allclose(found[v], wanted, atol=1e-5)
    nothing = np.tile(np.eye(4)[:3], (len(skeleton), 1, 1))
    np.testing.assert_allclose(replace(plain, rebind=nothing).deform(palette), plain.deform(palette), atol=1e-6)


@pytest.mark.parametrize(
    ("rebind", "message"),
    [
        (np.zeros((3, 4)), r"rebind must have shape \(joints, 3, 4\), got \(3, 4\)"),
        (np.full((2, 3, 4), np.nan), r"rebind\[0, 0, 0\] is nan"),
    ],
)
def test_binds_that_cannot_be(rebind, message):
    plain = skin_of(person().skeleton, np.random.default_rng(9))
    with pytest.raises(InputError, match=message):
        replace(plain, rebind=rebind)


def test_a_palette_of_another_skeleton_than_the_binds():
    skeleton = person().skeleton
    bound = replace(skin_of(skeleton, np.random.default_rng(9)), rebind=np.zeros((len(skeleton) + 1, 3, 4)))
    with pytest.raises(InputError, match=r"palette has \d+ joints; this skin's skeleton has"):
        bound.deform(skeleton.palette(skeleton.rest))


def test_a_batch_of_palettes_deforms_as_its_singles():
    character, rng = person(), np.random.default_rng(8)
    skeleton = character.skeleton
    skin = skin_of(skeleton, rng)
    many = skeleton.palette(
        type(skeleton.rest)(np.tile(skeleton.rest.translations, (20, 1, 1)), poses(character, rng, 20, 1.0))
    )
    found = skin.deform(many.reshape(4, 5, -1, 3, 4))
    assert found.shape == (4, 5, 30, 3)
    np.testing.assert_array_equal(found.reshape(20, 30, 3), [skin.deform(palette) for palette in many])


def test_normals_rotate_with_their_joints():
    character, rng = person(), np.random.default_rng(9)
    skeleton = character.skeleton
    skin = replace(skin_of(skeleton, rng), weights=np.tile((1.0, 0.0, 0.0, 0.0), (30, 1)))
    palette = skeleton.palette(type(skeleton.rest)(skeleton.rest.translations, poses(character, rng, 1, 1.0)[0]))
    rotated = np.einsum("vrc,vc->vr", palette[skin.joints[:, 0], :, :3], skin.normals)
    np.testing.assert_allclose(skin.deform_normals(palette), rotated, atol=1e-6)


def shaped():
    """A skin of the person with two shapes, one of which is not zero at rest, and palettes of three poses."""
    character, rng = person(), np.random.default_rng(5)
    skin = skin_of(character.skeleton, rng)
    made = [BlendShape("a", (3, 1), rng.normal(size=(2, 3))), BlendShape("b", (1, 7), rng.normal(size=(2, 3)), 0.25)]
    rest = character.skeleton.rest
    turned = [Pose(rest.translations, rotations) for rotations in poses(character, rng, 3, 1.0)]
    return replace(skin, shapes=made), np.stack([character.skeleton.palette(pose) for pose in turned])


def moved_first(skin, weights):
    """The skin whose vertices are where shapes move them, without shapes."""
    vertices = skin.vertices.copy()
    for shape in skin.shapes:
        vertices[shape.vertices] += weights[shape.name] * shape.offsets
    return replace(skin, vertices=vertices, shapes=())


def test_shapes_move_vertices_before_joints_do():
    skin, palettes = shaped()
    for given, weights in (({}, {"a": 0.0, "b": 0.25}), ({"a": 2.0, "c": 1.0}, {"a": 2.0, "b": 0.25})):
        np.testing.assert_allclose(skin.deform(palettes, given), moved_first(skin, weights).deform(palettes), atol=1e-6)


def test_every_palette_may_have_weights_of_its_own():
    skin, palettes = shaped()
    found = skin.deform(palettes, {"a": [0.0, 1.0, -1.0], "b": 1.0})
    for each, palette, a in zip(found, palettes, (0.0, 1.0, -1.0), strict=True):
        np.testing.assert_allclose(each, moved_first(skin, {"a": a, "b": 1.0}).deform(palette), atol=1e-6)
    one = skin.deform(palettes[:1], {"a": [1.0]})
    assert one.shape == (1, *skin.vertices.shape)
    with pytest.raises(InputError, match=r"weights have shape \(2,\), which does not fit \(3,\) palettes"):
        skin.deform(palettes, {"a": [0.0, 1.0]})
    with pytest.raises(InputError, match=r"weights\['a'\]"):
        skin.deform(palettes, {"a": np.nan})
    with pytest.raises(InputError, match="weights must be a dict"):
        skin.deform(palettes, 1.0)


def test_shapes_are_those_of_the_skin():
    skin, _ = shaped()
    with pytest.raises(InputError, match="shapes has two shapes of one name"):
        replace(skin, shapes=[skin.shapes[0]] * 2)
    with pytest.raises(InputError, match=r"shapes\[0\].vertices\[0\] is 99"):
        replace(skin, shapes=[BlendShape("c", (99,), np.zeros((1, 3)))])
