"""Rotations of parts and limbs against plain matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinema.fitting.bones import (
    AHEAD_LEFT,
    LEFT_AHEAD,
    LEFT_UP,
    frame_parts,
    limb_records,
    make_local,
    point_parts,
    show_twists,
    twist_limbs,
)
from kinema.math import arrays

IDENTITY = np.array((0.0, 0.0, 0.0, 1.0))


def directions(seed, *shape):
    return np.random.default_rng(seed).normal(size=(*shape, 3))


@pytest.mark.parametrize("kind", [LEFT_UP, LEFT_AHEAD, AHEAD_LEFT])
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 999))
def test_parts_have_their_first_direction_and_are_near_the_second(kind, seed):
    first, second = directions(seed, 1, 4), directions(seed + 1, 1, 4)
    out = np.empty((1, 4, 4))
    frame_parts(first, second, np.array([kind]), IDENTITY[np.newaxis], out)
    axes = arrays.to_matrix(out[0])
    main, near = {LEFT_UP: (0, 1), LEFT_AHEAD: (0, 2), AHEAD_LEFT: (2, 0)}[kind]
    assert np.allclose(axes[:, :, main], arrays.unit(first[0]))
    assert ((axes[:, :, near] * second[0]).sum(-1) > 0).all()
    assert np.allclose(np.einsum("tr,tr->t", axes[:, :, 3 - main - near], second[0]), 0, atol=1e-9)


@pytest.mark.parametrize("kind", [LEFT_UP, LEFT_AHEAD, AHEAD_LEFT])
@pytest.mark.parametrize("second", [(0, 0, 0), (2, 0, 0), (-2, 0, 0)])
@pytest.mark.parametrize("first", [(0, 0, 0), (1, 0, 0)])
def test_directions_that_say_nothing_give_some_rotation(kind, first, second):
    out = np.empty((1, 1, 4))
    frame_parts(np.array([[first]], float), np.array([[second]], float), np.array([kind]), IDENTITY[np.newaxis], out)
    assert np.linalg.norm(out) == pytest.approx(1.0)


def test_parts_point_along_their_bones_by_the_smallest_rotation():
    above, ways = arrays.unit(np.random.default_rng(0).normal(size=(2, 5, 4))), directions(1, 2, 5)
    straight, out = arrays.unit(directions(2, 2)), np.empty((2, 5, 4))
    point_parts(above, straight, ways, out)
    assert np.allclose(arrays.rotate(out, straight[:, np.newaxis]), arrays.unit(ways))
    start = arrays.unit(arrays.rotate(above, straight[:, np.newaxis]))
    angle = np.arccos(np.clip((start * arrays.unit(ways)).sum(-1), -1, 1))
    assert np.allclose(arrays.angle_between(above, out), angle, atol=1e-6)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 999), foot=st.booleans())
def test_limbs_are_where_their_bones_are_and_bend_about_their_axis(seed, foot):
    straight, axis = np.array(((0.0, -1.0, 0.0),)), np.array(((1.0, 0.0, 0.0),))
    limbs = limb_records(straight, axis, IDENTITY[np.newaxis], [foot])
    bones, feet = directions(seed, 1, 6, 2), directions(seed + 1, 1, 6)
    base, shown = np.tile(IDENTITY, (1, 6, 1)), np.empty((1, 6, 3))
    show_twists(limbs, bones, feet, np.array((0.0, 0.0)), base, shown)
    upper, lower = np.empty_like(base), np.empty_like(base)
    twist_limbs(limbs, bones, base, np.ascontiguousarray(shown[..., :2]), upper, lower)
    assert np.allclose(arrays.rotate(upper, straight), arrays.unit(bones[..., 0, :]))
    assert np.allclose(arrays.rotate(lower, straight), arrays.unit(bones[..., 1, :]))
    bend = np.cross(arrays.unit(bones[..., 0, :]), arrays.unit(bones[..., 1, :]))
    assert np.allclose(arrays.rotate(upper, axis), arrays.unit(bend), atol=1e-6)
    assert np.allclose(shown[..., 2], (bend**2).sum(-1))


def test_joints_without_a_rotation_follow_their_parents():
    world = arrays.unit(np.random.default_rng(3).normal(size=(4, 3, 4)))
    own, out = world.copy(), np.empty_like(world)
    make_local(world, np.array((1, 0, 1)), np.array((-1, 0, 1)), out)
    assert np.allclose(out[:, 1], IDENTITY)
    assert np.allclose(arrays.mul(out[:, 0], out[:, 2]), own[:, 2])
