"""Inertialization: at a switch nothing jumps, the motion goes on at its speed, and in the end the new one is left."""

import numpy as np
import pytest

from kinema.compile.records import kernel_views
from kinema.stages import inertia
from kinema.stages.inertia import FADE_PROBE, JointMotion, Transforms
from tests import naive, problems

JOINTS, FADE = 3, 0.4
NONE = np.zeros(1)


def pose(rng):
    """(1, J, ...): translations, rotations and scales."""
    return Transforms(
        rng.normal(size=(1, JOINTS, 3)),
        problems.quaternions(rng, JOINTS)[np.newaxis],
        rng.uniform(0.5, 2, (1, JOINTS, 3)),
    )


def moved(start, velocity, seconds):
    """A pose that moves evenly: translations and scales by a velocity, rotations about a fixed axis of the parent."""
    q = naive.quat_from_axis_angle(np.array((0.0, 0.6, 0.8)), velocity * seconds)
    rotations = np.array([[naive.quat_mul(q, r) for r in start.r[0]]])
    return Transforms(start.t + velocity * seconds, rotations, start.s + velocity * seconds)


def still(transforms):
    return JointMotion(transforms, transforms, NONE)


def moving(start, velocity, step):
    return JointMotion(start, moved(start, velocity, -step * FADE_PROBE), np.array((float(step),)))


@pytest.fixture
def offsets():
    return kernel_views(inertia.OFFSET.zeros((1, JOINTS), np.float64))[0]


def shown_after(offsets, new, dt):
    """What is shown of a new pose after dt seconds. The offsets decay."""
    fades = inertia.FADE.zeros(1, np.float64)
    fades.half_life, fades.left = FADE / inertia.FADE_HALF_LIVES, 1.0
    shown = Transforms(*(array.copy() for array in new))
    inertia.run_out(np.array([0]), *kernel_views(fades), offsets, dt, *shown)
    return shown


def assert_same(one, other, near):
    for mine, theirs in zip((one.t, one.s), (other.t, other.s), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=near)
    for mine, theirs in zip(one.r[0], other.r[0], strict=True):
        assert naive.angle_between_rotations(mine, theirs) < near


def test_at_the_switch_the_old_pose_is_shown(offsets):
    rng = problems.generator(1)
    old, new = pose(rng), pose(rng)
    inertia.take_differences(still(old), still(new), offsets)
    assert_same(shown_after(offsets, new, 0.0), old, 1e-7)


@pytest.mark.parametrize("step", [1, -1])
def test_the_old_motion_goes_on_at_its_speed(offsets, step):
    rng, dt = problems.generator(2), 1e-4
    old, new = pose(rng), pose(rng)
    inertia.take_differences(moving(old, 0.7, step), still(new), offsets)
    assert_same(shown_after(offsets, new, dt), moved(old, 0.7, dt), 1e-5)


def test_two_motions_of_one_speed_keep_it(offsets):
    rng, dt = problems.generator(3), 1e-4
    old, new = pose(rng), pose(rng)
    inertia.take_differences(moving(old, 0.5, 1), moving(new, 0.5, 1), offsets)
    assert_same(shown_after(offsets, moved(new, 0.5, dt), dt), moved(old, 0.5, dt), 1e-5)


def test_a_hundredth_is_left_at_the_end_of_a_fade_and_nothing_in_the_long_run(offsets):
    rng = problems.generator(4)
    old, new = pose(rng), pose(rng)
    inertia.take_differences(still(old), still(new), offsets)
    shown = shown_after(offsets, new, FADE)
    left = np.abs(shown.t - new.t) / np.abs(old.t - new.t)
    assert 0.0 < left.max() < 0.1
    assert_same(shown_after(offsets, new, 10 * FADE), new, 1e-9)


def test_a_switch_during_another_one_starts_from_what_is_shown(offsets):
    rng = problems.generator(5)
    first, second, third = pose(rng), pose(rng), pose(rng)
    inertia.take_differences(still(first), still(second), offsets)
    shown = shown_after(offsets, second, FADE / 3)
    inertia.take_differences(still(second), still(third), offsets)
    assert_same(shown_after(offsets, third, 0.0), shown, 1e-7)


def test_steps_of_any_length_decay_alike(offsets):
    rng = problems.generator(6)
    old, new = pose(rng), pose(rng)
    inertia.take_differences(still(old), still(new), offsets)
    at_once = offsets.copy()
    for _ in range(10):
        shown = shown_after(offsets, new, 0.02)
    assert_same(shown, shown_after(kernel_views(at_once)[0], new, 0.2), 1e-9)
