"""Ground given by functions, against dense steps along every ray and against shapes that are the same ground."""

import math
import warnings

import numpy as np
import pytest

from kinema.errors import InputError
from kinema.world.function_ground import FunctionGround
from kinema.world.ground import Ground
from tests import problems
from tests.world import naive_casts
from tests.world.casting import DOWN, agrees, cast_checked, random_rays, same_bits

COUNT = 200


def waves(x, z):
    return 0.5 * np.sin(1.5 * x) + 0.3 * np.cos(z)


def waves_and_normal(x, z):
    slope_x, slope_z = 0.75 * np.cos(1.5 * x), -0.3 * np.sin(z)
    return waves(x, z), np.stack([-slope_x, np.ones_like(x), -slope_z], axis=-1)


def slope(x, z):
    """A plane: answers are known to the last digit."""
    return 0.5 * x - 0.25 * z + 0.1


def scalar_steps(x, z):
    """For floats alone: `if`, `math`, whole numbers."""
    if x < 0:
        return 0.0, (0, 1, 0)
    return 0.25 * math.floor(x) + (0.1 if z > 0 else 0.0), (0, 1, 0)


# --- the oracle ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [waves, waves_and_normal])
def test_agrees_with_dense_steps(function):
    origins, directions, reaches = random_rays(problems.generator(1), COUNT, 3.0)
    hits = cast_checked(Ground.from_function(function, step=0.02), origins, directions, reaches)
    agrees(hits, naive_casts.function(origins, directions, reaches, waves))
    assert hits.hit.any()
    assert not hits.hit.all()


def test_normals_given_and_taken_from_the_slope_are_the_same():
    origins, directions, reaches = random_rays(problems.generator(2), COUNT, 3.0)
    directions[: COUNT // 4] = DOWN
    given = Ground.from_function(waves_and_normal).cast(origins, directions, reaches)
    estimated = Ground.from_function(waves).cast(origins, directions, reaches)
    np.testing.assert_array_equal(given.distance, estimated.distance)
    np.testing.assert_allclose(given.normal, estimated.normal, atol=1e-6)


def test_a_plane_as_a_function():
    origins, directions, reaches = random_rays(problems.generator(3), COUNT, 3.0)
    hits = cast_checked(Ground.from_function(slope), origins, directions, reaches)
    agrees(hits, naive_casts.plane(origins, directions, reaches, (0, 0.1, 0), (-0.5, 1, 0.25)))
    flat = naive_casts.unit((-0.5, 1, 0.25))
    np.testing.assert_allclose(np.abs(hits.normal[hits.hit] @ flat), 1.0, atol=1e-9)


def test_straight_down_is_exact_and_calls_the_function_once():
    calls = []

    def level(x, z):
        calls.append(np.shape(x))
        return np.full_like(x, 0.3), (0.0, 2.0, 0.0)

    origins = np.array([[0, 1.3, 0], [5, 2.3, 1], [1, 0.3, 1], [1, 0.2, 1]])
    hits = cast_checked(Ground.from_function(level), origins, DOWN, 1.5)
    assert calls == [(4,)]
    np.testing.assert_array_equal(hits.hit, [True, False, True, False])
    np.testing.assert_array_equal(hits.distance[:1], [1.3 - 0.3])
    np.testing.assert_array_equal(hits.normal[0], (0, 1, 0))


# --- kinds of functions ----------------------------------------------------------------------------------------


def test_functions_of_floats_are_called_point_by_point():
    origins = np.stack([np.linspace(-1.5, 3.5, 11), np.full(11, 5.0), np.linspace(-1, 1, 11)], axis=1)
    hits = cast_checked(Ground.from_function(scalar_steps), origins, DOWN, 9.0)
    np.testing.assert_allclose(5.0 - hits.distance, [scalar_steps(x, z)[0] for x, _, z in origins], atol=1e-15)
    slanted = cast_checked(Ground.from_function(scalar_steps), (-0.55, 0.6, -1), (1.0, -0.1, 0), 9.0)
    assert slanted.hit
    assert slanted.point[0] == pytest.approx(2.0)  # The riser of the second step.


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_function_of_floats_sees_floats(count):
    """An array of one number would pass for one: it has a truth value."""
    seen = []

    def picky(x, z):
        if x > 0:
            seen.append(type(x))
        return 0.0

    assert Ground.from_function(picky).cast(np.ones((count, 3)), DOWN, 5.0).hit.all()
    assert seen
    assert set(seen) == {float}


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, z: 0.5,
        lambda x, z: (0.5, None),
        lambda x, z: (0.5, (0, 1, 0)),
        lambda x, z: (0.5 + 0 * x, np.array((0.0, 3.0, 0.0))),
        lambda x, z: (0.5 + 0 * x, (0 * x, 1 + 0 * x, 0 * x)),
        lambda x, z: (0.5 + 0 * x, np.stack([0 * x, 1 + 0 * x, 0 * x])),  # (3, n): read point by point.
        lambda x, z: (0.5 + 0 * x, np.stack([0 * x, 1 + 0 * x, 0 * x], axis=-1)),
        lambda x, z: (np.float32(0.5), [0, 1, 0]),
        lambda x, z: (math.sqrt(0.25 + 0 * x), (0, 0, 0)),  # A function of floats, and a normal of no direction.
        lambda x, z: (0.5, (0, math.nan, 0)),
        lambda x, z: (0.5, (0, -2, 0)),  # Upside down.
    ],
)
def test_any_shape_of_the_answer_is_accepted(function, count):
    origins = np.array([[1.0, 2.0, 3.0], [0.0, 4.0, 1.0], [-1.0, 0.0, 1.0], [3.0, 1.0, 2.0]])[:count]
    ways = np.array([[0, -1, 0], [0, -2, 0], [0, 1, 0], [0, -1, 0]], np.float64)[:count]
    for lean in (0.0, 0.5):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")  # NumPy warns when an array of one number is taken for a number.
            hits = cast_checked(Ground.from_function(function), origins, ways + (lean, 0, 0), 9.0)
        assert hits.hit.all()
        assert not heard
        np.testing.assert_allclose(hits.point[:, 1], 0.5, atol=1e-12)
        np.testing.assert_allclose(hits.normal, -np.sign(ways), atol=1e-9)


def test_an_error_of_a_function_of_floats_is_passed_on_with_its_position():
    def broken(x, z):
        if x > 0:
            raise KeyError("no such tile")
        return 0.0

    with pytest.raises(KeyError, match="no such tile") as caught:
        Ground.from_function(broken).cast([[-1, 1, 0], [2.5, 1, 0.5]], DOWN, 5.0)
    assert any("x = 2.5, z = 0.5" in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    "answer", ["high", None, (1.0, 2.0), (1.0, (0, 1)), (0.0, 1.0, 2.0), (None, (0, 1, 0)), (1.0, (0, "up", 0))]
)
def test_an_answer_that_is_none_is_named(answer):
    with pytest.raises(ValueError, match=r"height_and_normal returned .* must return a height"):
        Ground.from_function(lambda x, z: answer).cast((0, 1, 0), DOWN, 5.0)


def test_the_function_cannot_change_the_rays():
    def greedy(x, z):
        x += 100.0
        return 0.0 * x

    origins = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 4.0]])
    hits = cast_checked(Ground.from_function(greedy), origins, [[0, -1, 0], [0.5, -1, 0]], 5.0)
    assert hits.hit.all()
    assert origins[0, 0] == 1.0


# --- holes, sides, ends ----------------------------------------------------------------------------------------


def test_where_the_height_is_not_finite_there_is_a_hole():
    def pit(x, z):
        return np.where(np.abs(x) < 1.0, np.nan, 0.0)

    ground = Ground.from_function(pit)
    np.testing.assert_array_equal(ground.cast([[0, 1, 0], [2, 1, 0], [-1, 1, 0]], DOWN, 5.0).hit, [False, True, True])
    assert not ground.cast((-0.5, 0.5, 0), (1, -1, 0), 1.0).hit  # Slanted, through it.
    assert not ground.cast((-1.5, 1.0, 0), (1, -1, 0), 9.0).hit  # In one side, and on underneath.
    from_below = ground.cast((0, -1.0, 0), (2, 1, 0), 9.0)
    assert from_below.hit
    assert from_below.point[0] == pytest.approx(2.0)
    assert from_below.normal[1] == -1
    edge = ground.cast([[1, 1, 0], [-1, 1, 0]], DOWN, 5.0)  # The slope next to a hole, from one side.
    np.testing.assert_array_equal(edge.normal, [[0, 1, 0], [0, 1, 0]])
    assert not Ground.from_function(lambda x, z: math.inf).cast((0, 1, 0), (0, -1, 0.5), 9.0).hit


@pytest.mark.parametrize("cliff", [1.2, 3.0])
def test_a_ray_that_comes_down_in_a_hole_goes_on_below(cliff):
    """And comes out of the ground at a cliff, soon after or later."""

    def ground(x, z):
        return np.where((x > 0.95) & (x < 1.05), np.nan, np.where(x > cliff, -10.0, 0.0))

    ray = (0, 0.5, 0), (1, -0.5, 0)
    hits = cast_checked(Ground.from_function(ground, step=0.3), *ray, 5.0)
    assert hits.hit
    assert hits.point[0] == pytest.approx(cliff)
    hits = cast_checked(Ground.from_function(ground, step=0.3, two_sided=False), *ray, 30.0)
    assert hits.hit
    assert hits.point[1] == pytest.approx(-10.0)


def test_from_below_and_on_the_surface():
    for function in (lambda x, z: 0.0 * x, lambda x, z: (0.0, (0, 1, 0))):
        ground, front = Ground.from_function(function), Ground.from_function(function, two_sided=False)
        for way in ((0.0, 1.0, 0.0), (0.3, 1.0, 0.1)):
            up, down = np.array(way), -np.array(way)
            assert ground.cast((0, -1, 0), up, 9.0).normal[1] == -1
            assert not front.cast((0, -1, 0), up, 9.0).hit
            assert front.cast((0, 1, 0), down, 9.0).normal[1] == 1
            for reach in (0.0, 2.0):  # From the surface itself.
                assert ground.cast((1, 0, 1), up, reach).hit
                assert ground.cast((1, 0, 1), up, reach).distance == 0
                assert front.cast((1, 0, 1), down, reach).hit
                assert not front.cast((1, 0, 1), up, reach).hit
        assert not ground.cast((0, 0, 0), (1, 0, 1), 9.0).hit  # Along it.


def test_one_sided_out_of_a_hill_and_into_the_next():
    ground = Ground.from_function(lambda x, z: np.sin(x), two_sided=False)
    hits = ground.cast((math.pi / 2, 0.0, 0.0), (1, 0, 0), 20.0)
    assert hits.hit
    assert hits.distance == pytest.approx(1.5 * math.pi)


def test_the_end_of_the_ray_belongs_to_it():
    origins, directions, _ = random_rays(problems.generator(4), COUNT, 3.0)
    ground = Ground.from_function(waves)
    first = ground.cast(origins, directions, 10.0)
    again = ground.cast(origins[first.hit], directions[first.hit], first.distance[first.hit])
    assert again.hit.all()
    np.testing.assert_allclose(again.distance, first.distance[first.hit], atol=1e-12)


@pytest.mark.parametrize("size", [1e-9, 1e6, 1e12])
def test_any_size(size):
    origins, directions, reaches = random_rays(problems.generator(5), 50, 3.0)
    ground = Ground.from_function(lambda x, z: 0.5 * x - 0.25 * z + 0.1 * size)
    hits = cast_checked(ground, origins * size, directions, reaches * size)
    expected = naive_casts.plane(origins, directions, reaches, (0, 0.1, 0), (-0.5, 1, 0.25))
    agrees(hits._replace(distance=hits.distance / size), expected)


def test_a_batch_is_many_singles():
    origins, directions, reaches = random_rays(problems.generator(6), 12, 3.0)
    directions[::3] = DOWN
    ground = Ground.from_function(lambda x, z: (0.25 * x * z, (-0.25 * z, 1.0, -0.25 * x)), step=0.5)
    batch = ground.cast(origins, directions, reaches)
    for i in range(12):
        assert same_bits(ground.cast(origins[i], directions[i], reaches[i]), [field[i] for field in batch])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"height_and_normal": 3.0}, "height_and_normal must be a function of x and z, got 3.0"),
        ({"step": 0.0}, "step is 0.0"),
        ({"step": -1.0}, "step is -1.0"),
        ({"step": np.nan}, "step is nan"),
        ({"step": "1"}, "step must be one number"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        FunctionGround(**{"height_and_normal": waves} | arguments)


@pytest.mark.parametrize("function", [lambda x: x, lambda: 0.0, lambda x, y, z: 0.0, lambda x, *, z: 0.0])
def test_a_function_that_does_not_take_x_and_z_is_refused(function):
    with pytest.raises(InputError, match=r"must be a function of x and z; <lambda>\(.*\) cannot take both"):
        Ground.from_function(function)
