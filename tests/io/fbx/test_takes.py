"""Takes: their spans, layers and channels."""

import numpy as np
import pytest

from kinema.io.fbx.document import parse
from kinema.io.fbx.takes import read_takes
from kinema.io.fbx.transforms import ROTATION, SCALING, TRANSLATION, from_euler
from kinema.math import arrays
from tests.io.fbx import build
from tests.io.fbx.build import LAYER, TICKS, animated, curve, file, model, take

UPPER = 500
ADD, OVERRIDE, PASS = 0, 1, 2


def layered(property, lower, upper, **settings):
    """What two layers make of a property at its second key. lower, upper: three values each."""
    objects, links = [model(1, "A")], [("OO", 1, 0)]
    parts = [take(layers=((LAYER, {}), (UPPER, settings)))]
    for key, layer, given in ((900, LAYER, lower), (920, UPPER, upper)):
        if given is not None:
            curves = {axis: ((0, 1), (0, value)) for axis, value in zip("XYZ", given, strict=True)}
            parts.append(animated(1, property, curves, key=key, layer=layer))
    for more, joined in parts:
        objects, links = objects + more, links + joined
    document = parse(build.binary(file(objects, links)), "a.fbx")
    (made,) = read_takes(document)
    static = np.ones(3) if property == SCALING else np.zeros(3)
    return made.values(1, property, static, np.array([float(TICKS)]), 0)[0]


A, B = np.array((10.0, 20.0, 30.0)), np.array((4.0, 5.0, 6.0))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, A + B),
        ({"Weight": 25.0}, A + B / 4),
        ({"Weight": 25.0, "BlendMode": OVERRIDE}, B),
        ({"Weight": 25.0, "BlendMode": PASS}, A * 0.75 + B * 0.25),
        ({"Mute": 1}, A),
        ({"Solo": 1}, B),
    ],
)
def test_layers_of_translations(settings, expected):
    np.testing.assert_allclose(layered(TRANSLATION, A, B, **settings), expected)


def test_rotations_are_added_as_rotations_or_angle_by_angle():
    whole = layered(ROTATION, A, B, Weight=50.0)
    half = arrays.slerp(from_euler(A), arrays.mul(from_euler(A), from_euler(B)), 0.5)
    assert arrays.angle_between(from_euler(whole), half) < 1e-9
    np.testing.assert_allclose(layered(ROTATION, A, B, Weight=50.0, RotationAccumulationMode=1), A + B / 2)


def test_scales_are_factors_or_numbers():
    np.testing.assert_allclose(layered(SCALING, A, B, Weight=50.0), A * np.sqrt(B))
    np.testing.assert_allclose(layered(SCALING, A, B, Weight=50.0, BlendMode=PASS), np.sqrt(A * B))
    np.testing.assert_allclose(layered(SCALING, A, B, Weight=50.0, ScaleAccumulationMode=1), A + B / 2)


def test_an_upper_layer_alone_is_combined_with_the_node():
    np.testing.assert_allclose(layered(SCALING, None, B, ScaleAccumulationMode=1), 1 + B)
    np.testing.assert_allclose(
        layered(SCALING, None, B, ScaleAccumulationMode=1, BlendMode=PASS, Weight=25.0), 0.75 + B / 4
    )


def test_weights_have_curves():
    objects, links = [model(1, "A")], [("OO", 1, 0)]
    for more, joined in (
        take(layers=((LAYER, {}), (UPPER, {"Weight": 0.0}))),
        animated(1, TRANSLATION, {"X": ((0, 1), (0, 10))}, layer=UPPER),
    ):
        objects, links = objects + more, links + joined
    objects += [build.element("AnimationCurveNode", 700, "AnimCurveNode::W", ""), curve(701, (0, 1), (0, 100))]
    links += [("OP", 700, UPPER, "Weight"), ("OP", 701, 700, "d|Weight")]
    (made,) = read_takes(parse(build.binary(file(objects, links)), "a.fbx"))
    found = made.values(1, TRANSLATION, np.zeros(3), np.array((0.5, 1.0)) * TICKS, 0)
    np.testing.assert_allclose(found[:, 0], (2.5, 10))


def made(tree):
    return read_takes(parse(build.binary(tree), "a.fbx"))


def one(start, stop):
    objects, links = [model(1, "A")], []
    for more, joined in (take(start=start, stop=stop), animated(1, TRANSLATION, {"X": ((0.5, 3), (0, 1))})):
        objects, links = objects + more, links + joined
    return file(objects, links)


@pytest.mark.parametrize(
    ("given", "span"), [((0.25, 2.0), (0.25, 2.0)), ((0.0, 0.0), (0.5, 3.0)), ((2, 1), (0.5, 3.0))]
)
def test_a_take_plays_when_it_says_or_while_there_are_keys(given, span):
    (found,) = made(one(*given))
    assert (found.first / TICKS, found.last / TICKS) == span


def test_takes_that_move_nothing_are_noted():
    document = parse(build.binary(file([model(1, "A"), *take("Empty")[0]], take()[1])), "a.fbx")
    assert read_takes(document) == []
    assert document.problems == ["take 'Empty' animates no node and no shape; it is ignored"]
