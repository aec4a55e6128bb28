"""Animations: clips that play as the specification says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.errors import FileError
from kinema.io.gltf.accessors import Accessors
from kinema.io.gltf.animations import Times, read_values, spread
from kinema.io.gltf.document import parse
from kinema.io.gltf.reader import read
from kinema.math import arrays
from tests.assets import asset
from tests.io.gltf.build import Build, arm

TURN = (0, 0, np.sin(0.6), np.cos(0.6))


def spec(times, values, t, how, rotation):
    """Section 3.11 and appendix C of the specification, one moment of one channel."""
    t = min(max(t, times[0]), times[-1])
    k = max(i for i in range(len(times)) if times[i] <= t)
    after = min(k + 1, len(times) - 1)
    step = times[after] - times[k]
    u = (t - times[k]) / step if step else 0.0
    if how == "STEP":
        return values[k]
    if how == "LINEAR":
        return arrays.slerp(values[k], values[after], u) if rotation else values[k] * (1 - u) + values[after] * u
    a, b = values[3 * k : 3 * k + 3], values[3 * after : 3 * after + 3]
    curve = (2 * u**3 - 3 * u**2 + 1) * a[1] + step * (u**3 - 2 * u**2 + u) * a[2]
    curve = curve + (-2 * u**3 + 3 * u**2) * b[1] + step * (u**3 - u**2) * b[0]
    return curve / np.linalg.norm(curve) if rotation else curve


@pytest.mark.parametrize("how", ["STEP", "LINEAR", "CUBICSPLINE"])
@pytest.mark.parametrize("path", ["translation", "rotation", "scale"])
def test_every_way_from_key_to_key(how, path):
    rng = np.random.default_rng(7)
    times, width = np.array((0.25, 0.5, 2, 3)), 4 if path == "rotation" else 3
    values = rng.normal(size=(12 if how == "CUBICSPLINE" else 4, width))
    if path == "rotation" and how != "CUBICSPLINE":
        values /= np.linalg.norm(values, axis=1, keepdims=True)
    values = values.astype("f4").astype(float)
    made = arm()
    made.animation((1, path, times, values), how=how)
    clip = made.read().clips["clip_0"]
    assert clip.duration == 3
    for t in (0, 0.25, 0.3, 0.5, 1.7, 2, 2.9, 3, 5):
        found = getattr(clip.sample(t), f"{path}s")[1]
        wanted = spec(times, values, t, how, path == "rotation")
        if path == "rotation":
            wanted = wanted * np.sign(wanted @ found)
        np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_what_is_not_animated_rests():
    made = arm()
    made.animation((1, "rotation", (0, 1), [TURN, TURN]))
    pose, rest = made.read().clips["clip_0"].sample(0.5), made.read().skeleton.rest
    np.testing.assert_array_equal(pose.translations, rest.translations)
    np.testing.assert_array_equal(pose.rotations[[0, 2]], rest.rotations[[0, 2]])


def test_names_of_clips():
    made = arm()
    for name in ("Walk", None, "Walk", "", "clip_1", "\ud800"):
        made.animation((0, "translation", (0,), [(1, 2, 3)]), name=name)
    character = made.read()
    assert list(character.clips) == ["Walk", "clip_1", "Walk_2", "clip_3", "clip_1_2", "?"]
    assert [clip.name for clip in character.clips.values()] == list(character.clips)
    assert character.source.clips == tuple(character.clips.values())


def test_one_key_and_none():
    made = arm()
    made.animation((0, "translation", (0,), [(1, 2, 3)]), name="still")
    made.add("animations", name="empty", channels=[], samplers=[])
    clips = made.read().clips
    assert clips["still"].duration == 0
    assert clips["empty"].duration == 0
    np.testing.assert_array_equal(clips["still"].sample((0, 9)).translations[:, 0], [(1, 2, 3)] * 2)
    assert clips["empty"].tracks == ()


def test_other_channels_are_left_alone_but_count_for_the_length():
    made = arm()
    weights, nowhere = (0, "weights", (0, 4), (0, 1)), (None, "rotation", (0, 5), [TURN, TURN])
    made.animation((0, "translation", (0, 1), np.eye(3)[:2]), weights, nowhere, (1, "pointer", (0, 6), (0, 1)))
    character = made.read()
    (clip,) = character.clips.values()
    assert [(track.joint, track.path) for track in clip.tracks] == [(0, "translation")]
    assert clip.duration == 6
    assert character.source.problems == [
        f"channels that {what} are ignored: 1" for what in ("animate 'weights'", "have no node", "animate 'pointer'")
    ]


def test_the_first_of_two_channels_for_the_same_counts():
    made = arm()
    made.animation((0, "translation", (0,), [(1, 2, 3)]), (0, "translation", (0,), [(4, 5, 6)]))
    character = made.read()
    np.testing.assert_array_equal(character.clips["clip_0"].sample(0).translations[0], (1, 2, 3))
    assert character.source.problems == ["channels that animate what another channel does are ignored: 1"]


def test_a_node_with_a_matrix_can_be_moved():
    made = Build()
    made.add("nodes", matrix=[2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 1, 2, 3, 1])
    made.animation((0, "translation", (0,), [(7, 8, 9)]))
    character = made.read()
    world = character.skeleton.world(character.clips["clip_0"].sample(0))[0]
    np.testing.assert_allclose(world, [(2, 0, 0, 7), (0, 2, 0, 8), (0, 0, 2, 9), (0, 0, 0, 1)])


def test_accessors_that_channels_share():
    made = arm()
    made.animation(*((node, "rotation", (0, 1), [TURN, TURN]) for node in range(3)), name="a")
    samplers = made.json["animations"][0]["samplers"]
    for sampler in samplers:
        sampler.update(samplers[0])
    made.json["animations"].append({**made.json["animations"][0], "name": "b"})
    character = made.read()
    for clip in character.clips.values():
        assert all(track.times is clip.tracks[0].times for track in clip.tracks)
        np.testing.assert_allclose(clip.sample(0.5).rotations, np.tile(TURN, (3, 1)), atol=1e-7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a["channels"][0].update(sampler=1), r"animations\[0\]\.channels\[0\]\.sampler is 1; expected"),
        (lambda a: a["channels"][0].pop("target"), r"animations\[0\]\.channels\[0\] has no 'target'"),
        (lambda a: a["channels"][0]["target"].update(node=3), r"animations\[0\]\.channels\[0\]\.target\.node is 3"),
        (lambda a: a["channels"][0]["target"].update(node=-1), r"target\.node is -1"),
        (lambda a: a["channels"][0]["target"].pop("path"), r"channels\[0\]\.target has no 'path'"),
        (lambda a: a["channels"][0]["target"].update(path=3), r"target\.path is 3; expected a string"),
        (lambda a: a["samplers"][0].update(input=9), r"animations\[0\]\.samplers\[0\]\.input is 9"),
        (lambda a: a["samplers"][0].pop("output"), r"animations\[0\]\.samplers\[0\] has no 'output'"),
        (
            lambda a: a["samplers"][0].update(output=0),
            r"accessors\[0\] holds values of an animation; a translation needs 3",
        ),
        (
            lambda a: a["samplers"][0].update(interpolation="CUBIC"),
            r"samplers\[0\]\.interpolation is 'CUBIC'; expected",
        ),
        (lambda a: a["samplers"][0].update(interpolation=2), r"samplers\[0\]\.interpolation is 2; expected a string"),
        (lambda a: a.update(channels={}), r"animations\[0\]\.channels is an object; expected an array"),
        (lambda a: a.update(name=5), r"animations\[0\]\.name is 5"),
    ],
)
def test_what_cannot_be_an_animation(change, message):
    made = arm()
    made.animation((0, "translation", (0, 1), np.eye(3)[:2]))
    change(made.json["animations"][0])
    with pytest.raises(FileError, match=message):
        made.read()


def test_as_many_values_as_times():
    made = arm()
    made.animation((0, "translation", (0, 1), np.eye(3)))
    with pytest.raises(FileError, match=r"accessors\[1\] has values for 3 keys; animations\[0\] has 2 times for them"):
        made.read()


def test_keys_shared_more_often_than_memory_should_hold():
    """Sampled, each channel would have a copy of its own."""
    made = Build()
    for _ in range(200):
        made.add("nodes")
    made.animation(*((node, "translation", (0,), [(1, 2, 3)]) for node in range(200)))
    for accessor in made.json["accessors"][:2]:
        accessor.update(count=100_000)
        accessor.pop("bufferView")
    made.json["accessors"][0]["sparse"] = {
        "count": 100_000,
        "indices": {"bufferView": made.view(np.arange(100_000, dtype="u4").tobytes()), "componentType": 5125},
        "values": {"bufferView": made.view(np.arange(100_000, dtype="f4").tobytes())},
    }
    for sampler in made.json["animations"][0]["samplers"]:
        sampler.update(input=0, output=1)
    with pytest.raises(FileError, match=r"animations\[0\] needs 300,000 numbers; together more than the 23,212,800"):
        made.read()


def test_real_files_have_unit_rotations():
    character = km.load(asset("gltf/RobotExpressive.glb"), rig=False)
    for clip in character.clips.values():
        pose = clip.sample(np.linspace(0, clip.duration, 7))
        np.testing.assert_allclose(np.linalg.norm(pose.rotations, axis=-1), 1, rtol=1e-12)


def test_text_files_are_the_same():
    made = arm()
    made.animation((0, "translation", (0, 1), np.eye(3)[:2]))
    text, binary = read(parse(made.gltf(), "a.gltf")), made.read()
    assert text.clips["clip_0"].sample(0.3).same(binary.clips["clip_0"].sample(0.3))


def accessors(made):
    return Accessors(parse(made.glb(), "a.glb"))


def times(values, kind="float32"):
    made = Build()
    made.accessor(values, kind)
    document = parse(made.glb(), "a.glb")
    return Times(document, Accessors(document)).read(0), document.problems


def test_times_are_seconds():
    assert times([0, 0.5, 2])[0].tolist() == [0, 0.5, 2]
    assert times([3])[0].tolist() == [3]


@pytest.mark.parametrize(
    "values", [[-1, 0], [0, np.nan, 1], [np.nan], [0, np.inf], [1, 0.5], [0, 2, 1, 3], [-np.inf, 0]]
)
def test_times_that_are_none(values):
    with pytest.raises(FileError, match=r"accessors\[0\] holds times of an animation; they must be finite, 0 or more"):
        times(values)
    with pytest.raises(FileError, match="has elements of 2 numbers; times have 1"):
        times([(0, 1), (1, 2)])


def test_keys_at_one_time_follow_each_other_at_once():
    """A jump, as some write it: the value before holds until then, the one after from then on."""
    found, problems = times([0, 1, 1, 1, 2])
    assert (np.diff(found) > 0).all()
    assert np.abs(found - [0, 1, 1, 1, 2]).max() < 1e-15
    assert problems == ["accessors[0] has several keys at one time; they are kept as a jump"]


@given(st.lists(st.floats(0, 2.0**100, width=32), min_size=1, max_size=30))
def test_any_times_are_spread(values):
    before = np.sort(np.repeat(np.array(values, np.float64), 3))
    after = spread(before)
    assert (np.diff(after) > 0).all()
    np.testing.assert_allclose(after, before, rtol=1e-13, atol=1e-300)


def test_values_of_many_at_once():
    rng = np.random.default_rng(1)
    made = Build()
    arrays = [rng.normal(size=(n, 4)) for n in (1, 5, 2)]
    whole = [made.accessor(array) for array in arrays]
    small = made.accessor([(0, 0, 127, 0), (0, 0, 0, -128)], "int8", normalized=True)
    found = read_values(accessors(made), "rotation", False, [*whole, small])
    for index, array in zip(whole, arrays, strict=True):
        np.testing.assert_allclose(found[index], array / np.linalg.norm(array, axis=1, keepdims=True), rtol=1e-6)
        np.testing.assert_allclose(np.linalg.norm(found[index], axis=1), 1, rtol=1e-15)
    np.testing.assert_array_equal(found[small], [(0, 0, 1, 0), (0, 0, 0, -1)])
    assert found[small].dtype == np.float64


def test_values_with_tangents_stay_as_they_are():
    made = Build()
    array = np.random.default_rng(2).normal(size=(6, 4)).astype("f4")
    index = made.accessor(array)
    found = read_values(accessors(made), "rotation", True, [index])
    np.testing.assert_array_equal(found[index], array.reshape(2, 3, 4))


@pytest.mark.parametrize(
    ("path", "cubic", "bad", "message"),
    [
        ("translation", False, [(1, 2, np.nan)], r"accessors\[1\] has numbers that are not finite"),
        ("scale", False, [(1, 2, 3), (np.inf, 0, 0)], r"accessors\[1\] has numbers that are not finite"),
        ("translation", True, [(1, 2, 3), (0, 0, 0), (np.inf, 0, 0)], "not finite"),
        ("rotation", False, [(0, 0, 0, 1), (0, 0, 0, 0)], r"accessors\[1\] has a rotation of zero"),
        ("rotation", True, [(0, 0, 0, 1), (0, 0, 0, 0), (0, 0, 0, 1)], r"accessors\[1\] has a rotation of zero"),
        ("rotation", False, [(0, 0, 1)], "a rotation needs 4 numbers a key"),
        ("scale", False, [(0, 0, 1, 1)], "a scale needs 3 numbers a key"),
        ("scale", True, [(0, 0, 1)] * 4, "a scale needs 3 times 3 numbers a key"),
    ],
)
def test_values_that_are_none(path, cubic, bad, message):
    made = Build()
    width = 4 if path == "rotation" else 3
    good = made.accessor(np.ones((6, width)))
    wanted = [good, made.accessor(bad), made.accessor(np.ones((3, width)))]
    with pytest.raises(FileError, match=message):
        read_values(accessors(made), path, cubic, wanted)
