"""Blend shapes move the positions of their mesh by the percentages of their channels."""

import numpy as np
import pytest

import kinema as km
from tests.io.fbx import build
from tests.io.fbx.build import LAYER, MESH, SHAPE, animated, element, file, model, properties, shape, shapes, take

CHANNEL = 401


def read(made, *, full=(), percent=0.0, curve=None, layers=((LAYER, {}),), more=(), mesh=None, **settings):
    """The square, at rest, with the shapes of one channel, and perhaps a take."""
    objects, links = [mesh or model(MESH, "A", "Mesh"), build.square()], [("OO", SHAPE, MESH)]
    parts = [shapes(400, SHAPE, made, percent, full), *more]
    if curve is not None:
        parts += [take(layers=layers), animated(CHANNEL, "DeformPercent", {"X": curve})]
    for some, joined in parts:
        objects, links = objects + some, links + joined
    return build.read(file(objects, links, UnitScaleFactor=100.0, **settings))


def moved_by(character, weights=None):
    """How far the first skin's vertices are from where they are without any shape."""
    (skin,), palette = character.skins, character.skeleton.palette(character.skeleton.rest)
    none = {each.name: 0.0 for each in skin.shapes}
    return skin.deform(palette, weights) - skin.deform(palette, none)


SMILE = shape(501, "Smile", (2, 0), [(0, 3, 0), (0, 0, 5)])
GRIN = shape(502, "Grin", (2,), [(0, 0, 9)])


def test_a_shape_moves_its_positions_by_its_weight():
    character = read([SMILE])
    np.testing.assert_allclose(moved_by(character, {"Smile": 0.5})[[0, 1, 2]], [(0, 0, 2.5), (0, 0, 0), (0, 1.5, 0)])
    np.testing.assert_allclose(moved_by(read([SMILE], percent=50.0))[2], (0, 1.5, 0))


def test_the_percentage_may_be_a_property():
    character = read([SMILE])
    channel = element(
        "Deformer", CHANNEL, "SubDeformer::M", "BlendShapeChannel", inside=[properties(DeformPercent=25.0)]
    )
    objects = [model(MESH, "A", "Mesh"), build.square(), element("Deformer", 400, "", "BlendShape"), channel, SMILE]
    links = [("OO", SHAPE, MESH), ("OO", 400, SHAPE), ("OO", CHANNEL, 400), ("OO", 501, CHANNEL)]
    character = build.read(file(objects, links, UnitScaleFactor=100.0))
    np.testing.assert_allclose(moved_by(character)[2], (0, 0.75, 0))


def test_shapes_are_in_our_axes_and_unit():
    mesh = model(MESH, "A", "Mesh", GeometricScaling=(1.0, 2.0, 1.0), Lcl_Rotation=(0, 0, 90))
    character = read([SMILE], mesh=mesh, UpAxis=2, FrontAxis=1, FrontAxisSign=-1)
    # Along y of the mesh: stretched, turned to -x, which stays.
    np.testing.assert_allclose(moved_by(character, {"Smile": 1.0})[2], (-6, 0, 0), atol=1e-5)


@pytest.mark.parametrize(
    ("percent", "smile", "grin"),
    [(0, 0, 0), (25, 0.5, 0), (50, 1, 0), (75, 0.5, 0.5), (100, 0, 1), (150, -1, 2), (-50, -1, 0)],
)
def test_a_channel_goes_from_shape_to_shape(percent, smile, grin):
    character = read([SMILE, GRIN], full=(50, 100), percent=percent)
    assert [each.weight for each in character.skins[0].shapes] == pytest.approx([smile, grin])


@pytest.mark.parametrize("full", [(0, 1e-310), (5e-324, 1e-310), (0, 1e-90), (1e90, 1e99), (50, 50)])
@pytest.mark.parametrize("percent", [-1e99, 100.0, 1e99])
def test_percentages_at_the_ends_of_the_range(full, percent):
    character = read([SMILE, GRIN], full=full, percent=percent, curve=((0, 0.3, 1), (0, 1e-310, 1e30)))
    assert np.isfinite([each.weight for each in character.skins[0].shapes]).all()
    weights = character.clips["Walk"].shape_weights(np.linspace(0, 1, 7))
    assert np.isfinite(list(weights.values())).all()


def test_blender_weighs_each_position():
    np.testing.assert_allclose(
        moved_by(read([SMILE], full=(50, 100)), {"Smile": 1.0})[[0, 2]], [(0, 0, 5), (0, 1.5, 0)]
    )


def test_takes_animate_shapes():
    character = read([SMILE, GRIN], full=(50, 100), curve=((0, 1), (0, 100)))
    clip = character.clips["Walk"]
    assert clip.tracks == ()
    assert [len(track.times) for track in clip.shapes] == [3, 3]
    for time, smile, grin in ((0, 0, 0), (0.25, 0.5, 0), (0.5, 1, 0), (0.75, 0.5, 0.5), (1, 0, 1)):
        assert clip.shape_weights(time) == {"Smile": pytest.approx(smile), "Grin": pytest.approx(grin)}
    batch = character.skins[0].deform(
        character.skeleton.palette(clip.sample([0.0, 0.5, 1.0])), clip.shape_weights([0.0, 0.5, 1.0])
    )
    np.testing.assert_allclose(batch[:, 2] - batch[0, 2], [(0, 0, 0), (0, 3, 0), (0, 0, 9)], atol=1e-6)


def test_bent_curves_are_sampled_within_their_bound():
    given = {"flags": [8 | 0x400, 8 | 0x400], "data": [(900, -900, 0, 0), (0, 0, 0, 0)]}
    character = read([SMILE], curve=((0, 0.1), (0, 0), given))
    clip = character.clips["Walk"]
    times = np.linspace(0, 0.1, 501)
    u = times / 0.1
    want = (1 - u) ** 2 * u * 90 / 100 + (1 - u) * u**2 * 90 / 100  # Bezier: a third of the slopes, 30 on either side.
    np.testing.assert_allclose(clip.shape_weights(times)["Smile"], want, atol=1e-3)
    assert len(clip.shapes[0].times) < 60


def test_layers_of_takes_add_up():
    more = [animated(CHANNEL, "DeformPercent", {"X": ((0, 1), (40, 40))}, key=950, layer=777)]
    character = read([SMILE], curve=((0, 1), (0, 50)), layers=((LAYER, {}), (777, {"Weight": 50.0})), more=more)
    assert character.clips["Walk"].shape_weights(1.0)["Smile"] == pytest.approx(0.7)


def test_meshes_have_shapes_of_their_own():
    again = [shape(611, "Smile", (0,), [(1, 0, 0)])]
    objects, links = shapes(600, 700, again)
    second = [model(701, "B", "Mesh"), build.square(700), *objects]
    character = read([SMILE], more=[(second, [*links, ("OO", 700, 701)])])
    assert [[each.name for each in skin.shapes] for skin in character.skins] == [["Smile"], ["Smile_2"]]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (shape(501, "S", (0, 1), [(0, 0, 1)]), "has 2 positions and 3 numbers to move them; each needs three"),
        (shape(501, "S", (1, 1), [(0, 0, 1)] * 2), "has a position twice or below 0"),
        (shape(501, "S", (-1,), [(0, 0, 1)]), "has a position twice or below 0"),
        (shape(501, "S", (0,), [(0, 0, 1e38)]), "has a shape that cannot be used: shape 'S': offsets"),
        (shape(501, "S", (0,), [(0, 0, float("nan"))]), "has numbers that are not finite"),
    ],
)
def test_damaged_shapes_are_refused(made, message):
    with pytest.raises(km.FileError, match=message):
        read([made])


def test_positions_that_the_mesh_does_not_have_are_left_out():
    (found,) = read([shape(501, "S", (99, 4), [(0, 0, 1)] * 2)]).skins[0].shapes
    assert len(found.vertices) == 1


def test_many_shapes_of_a_small_file_are_refused():
    """Every connection of the file makes all shapes of all channels again."""
    objects = [model(MESH, "A", "Mesh")]
    links = []
    for n in range(150):
        objects += [element("Deformer", 1000 + n, "", "BlendShape")]
        objects += [build.square(5000 + n)]
        links += [("OO", 5000 + n, MESH)] + [("OO", 1000 + m, 5000 + n) for m in range(150)]
    objects += [element("Deformer", 9000, "", "BlendShapeChannel"), SMILE]
    links += [("OO", 9000, 1000 + n) for n in range(150)] + [("OO", 501, 9000)]
    with pytest.raises(km.FileError, match="together more than the"):
        build.read(file(objects, links))
