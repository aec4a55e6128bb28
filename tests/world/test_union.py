"""Several grounds as one."""

import numpy as np
import pytest

from kinema.world.ground import Ground
from kinema.world.plane import Plane
from kinema.world.sphere import Sphere
from kinema.world.voxel_grid import VoxelGrid
from tests import problems
from tests.world.casting import DOWN, cast_checked, random_rays, same_bits


class Elsewhere:
    """A third-party ground: an object with only a `cast`."""

    def __init__(self, ground):
        self.ground = ground

    def cast(self, origins, directions, max_distance):
        return self.ground.cast(origins, directions, max_distance)


def parts():
    rng = np.random.default_rng(1)
    return [Plane((0, -1, 0)), Sphere((1, 0, 1), 1.5), VoxelGrid(rng.uniform(size=(4, 4, 4)) < 0.3, (-3, -1, -3))]


def test_the_nearest_of_all():
    origins, directions, reaches = random_rays(problems.generator(1), 300)
    grounds = parts()
    hits = cast_checked(Ground.union(*grounds), origins, directions, reaches)
    alone = [ground.cast(origins, directions, reaches) for ground in grounds]
    distances = np.stack([np.where(a.hit, a.distance, np.inf) for a in alone])
    nearest = distances.argmin(axis=0)
    np.testing.assert_array_equal(hits.hit, np.isfinite(distances.min(axis=0)))
    for k, a in enumerate(alone):
        chosen = (nearest == k) & hits.hit
        assert chosen.any()
        assert same_bits([field[chosen] for field in hits], [field[chosen] for field in a])


@pytest.mark.parametrize("wrap", [lambda ground: ground, Elsewhere])
def test_the_order_changes_nothing(wrap):
    origins, directions, reaches = random_rays(problems.generator(2), 100)
    grounds = [wrap(ground) for ground in parts()]
    one = cast_checked(Ground.union(*grounds), origins, directions, reaches)
    other = Ground.union(*grounds[::-1]).cast(origins, directions, reaches)
    assert same_bits(one, other)
    np.testing.assert_allclose(one.distance, Ground.union(*parts()).cast(origins, directions, reaches).distance)


def test_one_ground_is_itself_and_unions_nest():
    origins, directions, reaches = random_rays(problems.generator(3), 50)
    plane, sphere, voxels = parts()
    assert same_bits(Ground.union(plane).cast(origins, directions, reaches), plane.cast(origins, directions, reaches))
    nested = Ground.union(Ground.union(plane, sphere), voxels).cast(origins, directions, reaches)
    assert same_bits(nested, Ground.union(plane, sphere, voxels).cast(origins, directions, reaches))


def test_of_two_coinciding_surfaces_the_first_is_hit():
    slopes = Plane((0, 0, 0), (0, 1, 0)), Plane((0, 0, 0), (0.5, 1, 0))
    for first, second in (slopes, slopes[::-1]):
        hits = Ground.union(first, second).cast((0, 2, 0), DOWN, 2.0)
        np.testing.assert_array_equal(hits.normal, first.cast((0, 2, 0), DOWN, 2.0).normal)
        assert hits.hit
        assert hits.distance == 2.0


def test_float32_rays_and_a_third_party_ground():
    hits = cast_checked(Ground.union(Elsewhere(Plane()), Sphere()), np.float32([0, 3, 0]), np.float32(DOWN), 9.0)
    assert hits.distance == 2.0
    assert hits.distance.dtype == np.float32


@pytest.mark.parametrize(
    ("grounds", "message"),
    [((), "grounds is empty"), ((Plane(), 3.0), r"grounds\[1\] is 3.0; it must have a method cast")],
)
def test_bad_input_is_named(grounds, message):
    with pytest.raises(ValueError, match=message):
        Ground.union(*grounds)
