"""Blend shapes of meshes and the channels that animate their weights, read and written."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema.io.gltf.document import parse
from kinema.io.gltf.reader import read
from kinema.io.gltf.writer import encode
from tests.io.fbx import build as fbx
from tests.io.gltf.build import Build

UP, LEFT = [(0, 2, 0), (0, 0, 0), (0, 0, 0)], [(0, 0, 0), (-1, 0, 0), (-1, 0, 0)]


def face(*, names=("up", "left"), weights=None, nodes=({},), **changes):
    """Nodes that show a triangle with two shapes; its file in the making."""
    made = Build()
    made.triangle()
    (mesh,) = made.json["meshes"]
    targets = [{"POSITION": made.accessor(offsets)} for offsets in (UP, LEFT)]
    mesh["primitives"][0]["targets"] = targets
    mesh |= {"extras": {"targetNames": list(names)}} if names is not None else {}
    mesh |= {"weights": weights} if weights is not None else {}
    mesh |= changes
    for node in nodes:
        made.add("nodes", mesh=0, **node)
    return made


def saved(character):
    return read(parse(b"".join(encode(character)), "saved.glb"))


def shown(character, weights=None):
    palette = character.skeleton.palette(character.skeleton.rest)
    return np.array([skin.deform(palette, weights) for skin in character.skins])


def test_shapes_move_vertices_by_their_weights():
    character = face().read()
    rest = shown(character)[0]
    np.testing.assert_allclose(
        shown(character, {"up": 0.5, "left": 2.0})[0] - rest, [(0, 1, 0), (-2, 0, 0), (-2, 0, 0)]
    )
    assert [each.vertices.tolist() for each in character.skins[0].shapes] == [[0], [1, 2]]


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (None, ("shape_0", "shape_1")),
        (["up"], ("up", "shape_1")),
        ([1, ""], ("shape_0", "shape_1")),
        (["a", "a", "b"], ("a", "a_2")),
    ],
)
def test_names_are_those_that_programs_write(names, wanted):
    assert tuple(each.name for each in face(names=names).read().skins[0].shapes) == wanted


def test_extras_may_be_anything():
    assert [each.name for each in face(extras=[1]).read().skins[0].shapes] == ["shape_0", "shape_1"]


def test_nodes_have_weights_of_their_own():
    character = face(weights=[0.5, 0], nodes=({}, {"weights": [0, 1]})).read()
    first, second = character.skins
    assert [each.name for each in (*first.shapes, *second.shapes)] == ["up", "left", "up_2", "left_2"]
    assert [each.weight for each in (*first.shapes, *second.shapes)] == [0.5, 0, 0, 1]
    np.testing.assert_allclose(shown(character)[:, 0, 1], (1, 0))


def test_weights_that_do_not_fit_are_noted():
    character = face(weights=[1.0]).read()
    assert character.source.problems == [
        "meshes[0].weights is an array of 1; expected an array of 2 numbers; they are taken for 0"
    ]
    assert shown(character)[0, 0, 1] == 0


@pytest.mark.parametrize("how", ["STEP", "LINEAR", "CUBICSPLINE"])
def test_clips_animate_weights_and_are_saved_again(how):
    made = face(weights=[0.25, 0.0])
    rng = np.random.default_rng(1)
    values = rng.normal(size=(9, 2) if how == "CUBICSPLINE" else (3, 2))
    made.animation((0, "weights", (0.5, 1, 2), values.reshape(-1)), name="talk", how=how)
    character = made.read()
    clip = character.clips["talk"]
    keys = values[1::3] if how == "CUBICSPLINE" else values
    for time, key in zip((0.5, 1, 2), keys, strict=True):
        weights = clip.shape_weights(time)
        assert (weights["up"], weights["left"]) == pytest.approx(tuple(key), abs=1e-6)
    assert character.source.problems == []
    times = np.linspace(0, 2, 41)
    for again in (saved(replace(character, source=None)), saved(with_copy(character))):
        found = list(again.clips.values())[-1].shape_weights(times)
        for name, each in clip.shape_weights(times).items():
            np.testing.assert_allclose(found[name], each, atol=1e-6)
        np.testing.assert_allclose(shown(again), shown(character), atol=1e-6)


def with_copy(character):
    """A character with a clip that its file does not have."""
    return replace(character, clips={"copy": replace(character.clips["talk"], name="copy")})


def test_shapes_of_one_skin_that_move_apart_share_their_keys():
    character = face(weights=[0.25, 0.5]).read()
    tracks = [km.ShapeTrack("up", (0, 1), (0, 1)), km.ShapeTrack("left", (0.5, 2), (1, 0))]
    for shapes in (tracks, tracks[:1]):
        clip = km.Clip("talk", character.skeleton, [], shapes=shapes)
        again = saved(replace(character, clips={"talk": clip}, source=None)).clips["talk"]
        wanted = {"left": np.full(21, 0.5)} | {track.shape: track.at(np.linspace(0, 2, 21)) for track in shapes}
        for track in again.shapes:
            name, found = track.shape, track.at(np.linspace(0, 2, 21))
            np.testing.assert_allclose(found, wanted[name], atol=1e-6)


def test_steps_and_splines_beside_other_tracks_keep_their_way():
    character = face(weights=[0.25, 0.5]).read()
    steps = km.ShapeTrack("up", (0, 0.3, 1.1), (0, 1, 0.5), "STEP")
    bulge = ((0, 0, 4), (0, 1, 0), (-3, 0.5, 0))
    for other in (
        km.ShapeTrack("left", (0.5, 2), (1, 0)),
        km.ShapeTrack("left", (0, 0.7, 2), bulge, "CUBICSPLINE"),
        km.ShapeTrack("left", (0.5,), (bulge[0],), "CUBICSPLINE"),
    ):
        clip = km.Clip("talk", character.skeleton, [], 2.0, shapes=[steps, other])
        again = saved(replace(character, clips={"talk": clip}, source=None)).clips["talk"]
        times = np.array([0.0, 0.1, 0.299999, 0.300001, 0.6, 1.099999, 1.100001, 1.6, 2.0])
        found, wanted = again.shape_weights(times), clip.shape_weights(times)
        np.testing.assert_allclose(found["up"], wanted["up"], atol=1e-6)
        np.testing.assert_allclose(found["left"], wanted["left"], atol=0.01)


def test_fbx_shapes_are_saved():
    character = fbx.read(fbx.leg())
    again = saved(replace(character, source=None))
    assert sorted({each.name for skin in again.skins for each in skin.shapes}) == sorted(
        {f"{name}{n}" for name in ("Smile", "Grin") for n in ("", *(f"_{n}" for n in range(2, len(again.skins) + 1)))}
    )
    before, after = character.clips["Walk"], again.clips["Walk"]
    for time in (0.0, 0.3, 0.8, 0.95):
        one, other = (
            np.concatenate(
                [skin.deform(each.skeleton.palette(clip.sample(time)), clip.shape_weights(time)) for skin in each.skins]
            )
            for each, clip in ((character, before), (again, after))
        )
        np.testing.assert_allclose(one, other, atol=1e-5)
    assert before.shape_weights(0.3)["Smile"] > 0.5


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((0, 1, 2), r"accessors\[4\] holds weights of 2 targets for 2 keys; it needs 4 numbers"),
        (((0, 1, 2), (0, 1, 2)), "holds weights of 2 targets for 2 keys; it needs 4 numbers"),
        ((0, 1, np.nan, 0), "has numbers that are not finite"),
    ],
)
def test_weights_that_cannot_be_are_refused(values, message):
    made = face()
    made.animation((0, "weights", (0, 1), values))
    with pytest.raises(km.FileError, match=message):
        made.read()


def test_weights_of_a_node_without_shapes_are_ignored():
    made = face()
    made.add("nodes")
    made.animation((1, "weights", (0, 1), (0, 1)))
    character = made.read()
    assert character.source.problems == ["channels that animate 'weights' are ignored: 1"]


def test_many_shapes_of_a_small_file_are_refused():
    made = face(names=None)
    made.json["meshes"][0]["primitives"][0]["targets"] = [{}] * 10_000
    for _ in range(2_000):
        made.add("nodes", mesh=0)
    with pytest.raises(km.FileError, match="together more than"):
        made.read()
