"""Transforms of nodes beside the product of their matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as drawn

from kinema.io.fbx.transforms import ORDERS, from_euler, to_euler
from kinema.math import arrays
from tests.io.fbx import build
from tests.io.fbx.build import file, model


def about(axis, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    matrix = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j] = c, -s, s, c
    return matrix


def euler(degrees, order=0):
    matrix = np.eye(4)
    for axis in ORDERS[order]:
        matrix = about(axis, degrees[axis]) @ matrix
    return matrix


vectors = drawn(np.float64, (10, 3), elements=st.floats(-180, 180))


@given(vectors, st.integers(0, 6))
def test_a_node_is_the_product_of_its_parts(v, order):
    t, r, s, roff, rp, soff, sp, pre, post, _ = v
    s = 1 + s / 360
    node = model(
        1,
        "A",
        Lcl_Translation=tuple(t),
        Lcl_Rotation=tuple(r),
        Lcl_Scaling=tuple(s),
        RotationOffset=tuple(roff),
        RotationPivot=tuple(rp),
        ScalingOffset=tuple(soff),
        ScalingPivot=tuple(sp),
        PreRotation=tuple(pre),
        PostRotation=tuple(post),
        RotationOrder=order,
    )
    skeleton = build.read(file([node], [], UnitScaleFactor=100.0)).skeleton
    move, pivot, spivot = build.moved(*t) @ build.moved(*roff), build.moved(*rp), build.moved(*sp)
    turn = euler(pre) @ euler(r, order) @ np.linalg.inv(euler(post))
    scale = build.moved(*soff) @ spivot @ np.diag((*s, 1)) @ np.linalg.inv(spivot)
    expected = move @ pivot @ turn @ np.linalg.inv(pivot) @ scale
    np.testing.assert_allclose(skeleton.rest_world[0, :3], expected[:3], atol=1e-9)


def test_without_rotation_active_nothing_surrounds_the_rotation():
    node = model(1, "A", Lcl_Rotation=(30, 40, 50), PreRotation=(1, 2, 3), RotationOrder=5, RotationActive=0)
    world = build.read(file([node], [])).skeleton.rest_world
    np.testing.assert_allclose(world[0, :3, :3], euler((30, 40, 50))[:3, :3], atol=1e-12)


@pytest.mark.parametrize("order", range(7))
def test_angles_and_back(order):
    angles = np.random.default_rng(order).uniform(-180, 180, (500, 3))
    angles[:100] = np.rint(angles[:100] / 90) * 90  # Where two axes fall together.
    rotations = from_euler(angles, order)
    assert arrays.angle_between(rotations, from_euler(to_euler(rotations, order), order)).max() < 1e-9
