"""Units, axes and frame rates."""

import itertools

import numpy as np
import pytest

from kinema.io.fbx.document import parse
from kinema.io.fbx.settings import read_space
from tests.io.fbx import build
from tests.io.fbx.build import element, file, model

AXES = [
    (up, front, right, *signs)
    for up, front, right in itertools.permutations(range(3))
    for signs in itertools.product((1, -1), repeat=3)
]


def axes(up, front, right, up_sign, front_sign, right_sign):
    return {
        "UpAxis": up,
        "UpAxisSign": up_sign,
        "FrontAxis": front,
        "FrontAxisSign": front_sign,
        "CoordAxis": right,
        "CoordAxisSign": right_sign,
    }


@pytest.mark.parametrize("given", AXES)
def test_any_axes_become_ours(given):
    """A point that lies 1 to the right, 2 up and 3 in front does so in metres, below a rotated node too."""
    up, front, right, *signs = given
    at = np.zeros(3)
    at[up], at[front], at[right] = 2 * signs[0], 3 * signs[1], 1 * signs[2]
    objects = [model(1, "Root", Lcl_Rotation=(10, 20, 30)), model(2, "Tip", Lcl_Translation=(4, 5, 6))]
    objects.append(model(3, "At", Lcl_Translation=tuple(at)))
    tree = file(objects, [("OO", 2, 1)], **axes(*given), UnitScaleFactor=10.0)
    skeleton = build.read(tree).skeleton
    world = skeleton.rest_world[:, :3, 3]
    np.testing.assert_allclose(world[skeleton.names.index("At")], (0.1, 0.2, 0.3), atol=1e-12)
    ours = np.zeros((3, 3))
    ours[0, right], ours[1, up], ours[2, front] = signs[2], signs[0], signs[1]
    plain = build.read(file(objects, [("OO", 2, 1)])).skeleton
    where = plain.rest_world[plain.names.index("Tip"), :3, 3] * 100
    np.testing.assert_allclose(world[skeleton.names.index("Tip")], ours @ where * 0.1, atol=1e-12)


def test_axes_that_are_no_axes_are_noted():
    character = build.read(file([model(1, "A")], [], UpAxis=0, FrontAxis=0, CoordAxis=0))
    assert character.source.problems == ["the axes of the file are not three different ones; +Y is taken for up"]


@pytest.mark.parametrize(
    ("settings", "rate"),
    [
        ({}, 30.0),
        ({"TimeMode": 11}, 24.0),
        ({"TimeMode": 10}, 25.0),
        ({"TimeMode": 14, "CustomFrameRate": 48.5}, 48.5),
        ({"TimeMode": 14, "CustomFrameRate": -1.0}, 30.0),
        ({"TimeMode": 99}, 30.0),
    ],
)
def test_frame_rates(settings, rate):
    assert build.read(file([model(1, "A")], [], **settings)).source.fps == rate


def test_old_files_tell_their_rate_elsewhere():
    tree = [
        *file([model(1, "A")], []),
        element("Version5", inside=[element("Settings", inside=[element("FrameRate", "24")])]),
    ]
    assert build.read(tree).source.fps == 24.0


def test_an_absurd_unit_is_noted():
    document = parse(build.binary(file([model(1, "A")], [], UnitScaleFactor=-1.0)), "a.fbx")
    assert read_space(document).metres == 0.01
    assert document.problems
