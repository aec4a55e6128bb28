"""Tails that follow through: they lag, come to rest where the pose has them, and keep their lengths."""

import numpy as np
import pytest

import kinema as km
from kinema import demo
from tests.stages.walkers import exact

FOX = exact("quadruped")
TAIL = [FOX.skeleton.index(f"tail_{n}") for n in range(1, 6)]
LENGTHS = np.linalg.norm(np.diff(FOX.skeleton.rest_world[TAIL, :3, 3], axis=0), axis=-1)


def swung(tail, places, hz=60, ground=None):
    """World matrices of every frame, and the animator, of a fox that is put from place to place."""
    animator = km.Animator(FOX, [tail], ground=ground)
    frames = [animator.update(0.0).world]
    for place in places:
        animator.set_transform(place)
        frames.append(animator.update(1 / hz).world)
    return np.array(frames), animator


def sideways(seconds, hz=60, speed=2.0):
    return [(speed * k / hz, 0.0, 0.0) for k in range(1, round(seconds * hz) + 1)]


@pytest.mark.slow_uncompiled
def test_it_lags_behind_then_comes_back_and_sleeps():
    world, animator = swung(km.Tail(), sideways(0.5) + 240 * [(1.0, 0.0, 0.0)])
    rest = FOX.skeleton.rest_world[TAIL, 0, 3]
    assert (world[30, TAIL[1:], 0, 3] - world[30, 0, 0, 3] < rest[1:] - 0.01).all()
    assert np.abs(world[-1, TAIL, 0, 3] - 1.0 - rest).max() < 1e-6
    assert not animator["tail"].awake(1 / 60).any()


def test_bones_keep_their_lengths_and_nothing_else_moves():
    world, _ = swung(km.Tail(gravity=1.0), sideways(1.0, speed=5.0))
    at = world[..., :3, 3][:, TAIL]
    assert np.abs(np.linalg.norm(np.diff(at, axis=1), axis=-1) - LENGTHS).max() < 1e-12
    others = [j for j in range(len(FOX.skeleton)) if j not in TAIL]
    moved = world[..., :3, 3][:, others] - world[:, :1, :3, 3]
    assert np.abs(moved - moved[0]).max() < 1e-12


@pytest.mark.slow_uncompiled
def test_the_same_curve_at_any_rate_of_frames():
    """Let go from one bend it comes back along the same way, whatever the frames are. The goal of a bone is where the
    bone before has come to, so that frames twice as long are off by a little.
    """
    ends = []
    for hz in (30, 60, 240):
        animator = km.Animator(FOX, [km.Tail(half_life=0.1)])
        animator.update(0.0)
        animator.set_transform((0.3, 0.0, 0.0))
        for _ in range(round(0.2 * hz)):
            world = animator.update(1 / hz).world
        ends.append(world[TAIL[-1], :3, 3] - world[0, :3, 3])
    assert np.abs(ends[0] - ends[2]).max() < 0.15 * LENGTHS.sum()
    assert np.abs(ends[1] - ends[2]).max() < 0.05 * LENGTHS.sum()


@pytest.mark.parametrize("dt", [1e-6, 1.0, 1e4])
def test_any_step_of_time(dt):
    animator = km.Animator(FOX, [km.Tail(gravity=2.0)])
    for k in range(20):
        animator.set_transform((0.1 * k, 0.0, 0.05 * k))
        assert np.isfinite(animator.update(dt).world).all()


def test_gravity_draws_it_down_and_the_ground_holds_it():
    hung, _ = swung(km.Tail(gravity=3.0), 200 * [(0.0, 0.0, 0.0)])
    free, _ = swung(km.Tail(), 5 * [(0.0, 0.0, 0.0)])
    assert (hung[-1, TAIL[1:], 1, 3] < free[-1, TAIL[1:], 1, 3] - 0.02).all()
    floor = km.Plane(point=(0.0, 0.40, 0.0))
    held, animator = swung(km.Tail(gravity=3.0, radius=0.01), 300 * [(0.0, 0.0, 0.0)], ground=floor)
    assert held[-1, TAIL, 1, 3].min() > 0.40
    assert not animator["tail"].awake(1 / 60).any()


def test_no_joint_rotates_further_than_its_limit():
    animator = km.Animator(FOX, [km.Tail(max_angle=0.3)])
    animator.update(0.0)
    for k in range(30):
        animator.set_transform((0.3 * k, 0.0, 0.0))
        assert animator.update(1 / 60).reports["tail"].lag.max() <= 0.3 + 1e-9


@pytest.mark.slow_uncompiled
def test_a_crowd_is_many_singles_and_weight_nothing_is_none():
    fox, count = demo.quadruped(), 20
    way = np.random.default_rng(2).normal(size=(10, count, 3)) * 0.05
    crowd = km.Animator(fox, [km.Tail()], count=count)
    for step in np.cumsum(way, axis=0):
        crowd.set_transform(step)
        frame = crowd.update(1 / 60)
    for i in (0, 11):
        one = km.Animator(fox, [km.Tail()])
        for step in np.cumsum(way, axis=0):
            one.set_transform(step[i])
            alone = one.update(1 / 60)
        assert np.array_equal(alone.world, frame.world[i])
    none = km.Animator(fox, [km.Tail(weight=0.0)])
    none.set_transform((1.0, 0.0, 0.0))
    assert np.array_equal(none.update(0.1).pose.rotations, fox.skeleton.rest.rotations)


def test_wrong_settings_are_refused():
    with pytest.raises(km.InputError, match="half_life"):
        km.Tail(half_life=-1.0)
    with pytest.raises(km.InputError, match="chains"):
        km.Animator(demo.spider(), [km.Tail()])
    with pytest.raises(km.InputError, match="two of them"):
        km.Animator(FOX, [km.Tail(chains=[("tail_1", "tail_2"), ("tail_2", "tail_3")])])
