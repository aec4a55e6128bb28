"""Levels of detail of `Feet`: fewer rays far from the viewer, the same bits near to it."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.errors import InputError

FAR = km.FeetLevel(distance=20.0, every=2)
FARTHEST = km.FeetLevel(distance=40.0, every=4)


class CountingHills(km.Ground):
    """Gentle hills that count the rays cast at them."""

    def __init__(self):
        along = np.arange(200)
        heights = 0.1 * np.sin(0.2 * along[:, np.newaxis]) * np.cos(0.15 * along)
        self.hills, self.rays = km.HeightField(heights, (-50.0, -50.0), 0.5), 0

    def _cast(self, rays):
        self.rays += rays.reaches.size
        return self.hills._cast(rays)

    def height(self, points):
        """Height of the ground at points, (..., 3)."""
        return self.hills.cast(points + (0.0, 10.0, 0.0), (0.0, -1.0, 0.0), 20.0).point[..., 1]


def walked(levels, viewer, starts=((0.0, 0.0, 0.0),), frames=90):
    """Walk at some places. Returns the animator, its ground, and poses and feet reports of all frames."""
    ground = CountingHills()
    stages = [km.Play("walk", root_motion="extract"), km.Feet(levels=levels)]
    animator = km.Animator(humanoid(), stages, ground=ground, count=len(starts), viewer=viewer)
    animator.set_transform(np.array(starts, np.float32))
    made = [animator.update(1 / 60) for _ in range(frames)]
    poses = np.stack([frame.pose.rotations for frame in made])
    return animator, ground, poses, [frame.reports["feet"] for frame in made]


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("viewer", [None, (5.0, 1.0, 0.0)])
def test_near_the_viewer_levels_change_no_bit(viewer):
    _, ground, poses, _ = walked((FAR, FARTHEST), viewer)
    _, plain_ground, plain, _ = walked((), viewer)
    assert np.array_equal(poses, plain)
    assert ground.rays == plain_ground.rays


@pytest.mark.slow_uncompiled
def test_farther_levels_cast_fewer_rays():
    rays = [walked((FAR, FARTHEST), (away, 0.0, 0.0))[1].rays for away in (5.0, 30.0, 49.0)]
    assert rays[1] < 0.4 * rays[0]
    assert rays[2] < 0.25 * rays[0]


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("away", [30.0, 49.0])
def test_far_feet_stand_on_the_ground(away):
    animator, _, _, reports = walked((FAR, FARTHEST), (away, 0.0, 0.0))
    assert all(np.isfinite(report.error).all() for report in reports)
    near = walked((), None)[3]
    height = np.array([report.height for report in reports[20:]])
    assert np.abs(height - [report.height for report in near[20:]]).max() < 0.05
    planted = np.array([report.planted for report in reports[20:]])
    assert planted.any(axis=0).all()
    assert (~planted).any(axis=0).all()
    assert max(report.error[report.planted].max(initial=0.0) for report in reports[20:]) < 0.01
    assert animator.count == 1


@pytest.mark.slow_uncompiled
def test_a_crowd_at_several_levels_equals_its_characters_one_by_one():
    starts = [(0.0, 0.0, 0.0), (10.0, 0.0, -20.0), (3.0, 0.0, -45.0)]
    viewer = (0.0, 1.0, 2.0)
    together = walked((FAR, FARTHEST), viewer, starts, 40)[2]
    for n, start in enumerate(starts):
        alone = walked((FAR, FARTHEST), viewer, [start], 40)[2]
        assert np.array_equal(alone[:, 0], together[:, n])


@pytest.mark.slow_uncompiled
def test_a_character_that_stands_comes_to_rest_at_any_level():
    ground = CountingHills()
    animator = km.Animator(humanoid(), [km.Feet(levels=(FARTHEST,))], ground=ground, viewer=(45.0, 0.0, 0.0))
    for _ in range(200):
        animator.update(1 / 60)
    before = ground.rays
    animator.update(1 / 60)
    assert ground.rays == before


def test_a_level_is_left_only_where_its_character_is_clearly_nearer():
    animator = km.Animator(humanoid(), [km.Feet(levels=(FAR,))], ground=0.0, viewer=(20.5, 0.0, 0.0))
    every = []
    for away in (20.5, 19.0, 17.0, 19.0, 20.5):
        animator.viewer = (away, 0.0, 0.0)
        animator.wake()
        animator.update(1 / 60)
        every.append(int(animator["feet"].bodies.every[0]))
    assert every == [2, 2, 1, 1, 2]


def test_levels_are_validated():
    with pytest.raises(InputError, match="every"):
        km.FeetLevel(distance=5.0, every=0)
    with pytest.raises(InputError, match="distance"):
        km.FeetLevel(distance=-1.0)
    with pytest.raises(InputError, match=r"levels\[1\].distance is 20"):
        km.Feet(levels=(FARTHEST, FAR))
    with pytest.raises(InputError, match=r"levels\[0\]"):
        km.Feet(levels=(20.0,))
