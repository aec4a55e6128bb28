"""Legs from numbers: forward kinematics is rebuilt from the rotations; the ankle has to be where the ground says."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.errors import InputError
from kinema.stages.legs.leg_placement import LegPlacement, solve_foot
from tests import naive, problems
from tests.compiled import COMPILED, both_precisions

BODY = {"hip_height": 0.9, "thigh": 0.45, "shin": 0.42, "foot_offset": 0.08}
LEG = BODY["thigh"] + BODY["shin"]
PELVIS, LEFT, RIGHT = np.array([0.0, 0.95, 0.0]), np.array([0.1, -0.05, 0.02]), np.array([-0.1, -0.05, 0.02])
UP, AHEAD = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
DT = 1 / 60


def flat(x, z):
    return 0.0, (0.0, 1.0, 0.0)


def steps(left, right, normal=(0.0, 1.0, 0.0)):
    """One height on the left, another on the right."""
    return lambda x, z: (np.where(x > 0, left, right), normal)


def slope(a, b, height=0.0):
    """The plane y = height + a x + b z."""
    return lambda x, z: (height + a * x + b * z, (-a, 1.0, -b))


def hills(x, z):
    """A polynomial, so that an array gives the bits of its items."""
    return 0.05 * x * x - 0.2 * x * z, np.stack([-0.1 * x + 0.2 * z, np.ones_like(x), 0.2 * x], axis=-1)


def turns(pose, side):
    return [np.asarray(getattr(pose, f"{side}_{part}"), np.float64) for part in ("thigh", "shin", "foot")]


def legs_of(pose, hips, body=None):
    """Knees, ankles (..., 3) and the feet's rotations (..., 4) of both sides, by forward kinematics, in world space."""
    body = BODY if body is None else body
    lifted = UP * np.asarray(pose.pelvis_offset, np.float64)[..., None]
    for side, hip in zip(("left", "right"), hips, strict=True):
        thigh, shin, foot = turns(pose, side)
        knee = hip + lifted + naive.quat_rotate(thigh, (0.0, -body["thigh"], 0.0))
        ankle = knee + naive.quat_rotate(naive.quat_mul(thigh, shin), (0.0, -body["shin"], 0.0))
        yield knee, ankle, naive.quat_mul(naive.quat_mul(thigh, shin), foot)


def limited(normal, most):
    """A ground normal no further than an angle from up."""
    n = naive.unit(normal)
    angle = naive.angle_between(n, UP)
    return n if angle <= most else naive.quat_rotate(naive.quat_from_axis_angle(np.cross(UP, n), most), UP)


def ankle_over(hip, terrain, most=0.75, body=None):
    """Where an ankle belongs, and the up of its foot."""
    height, normal = terrain(hip[0], hip[2])
    n = limited(normal, most)
    return np.array([hip[0], height, hip[2]]) + n * (BODY if body is None else body)["foot_offset"], n


def first_frame(terrain, **settings):
    return LegPlacement(**BODY | settings).start().update(PELVIS, LEFT, RIGHT, terrain, DT)


# --- the legs --------------------------------------------------------------------------------------------------


@both_precisions
def test_ankles_on_the_ground_knees_ahead_feet_along_it(dtype):
    rng = problems.generator(301)
    near = 1e-6 if dtype is np.float64 else 2e-6
    settings = LegPlacement(**BODY)
    for _ in range(40 if COMPILED else 8):
        a, b = rng.normal(size=2) * 0.4
        terrain = slope(a, b, rng.uniform(-0.1, 0.1))
        pelvis, left, right = (np.asarray(v + rng.normal(size=3) * 0.03, dtype) for v in (PELVIS, LEFT, RIGHT))
        pose = settings.start().update(pelvis, left, right, terrain, DT)
        assert pose.left_thigh.dtype == dtype == pose.pelvis_offset.dtype
        assert pose.reached.all()
        assert pose.grounded.all()
        hips = [v.astype(np.float64) for v in (pelvis + left, pelvis + right)]
        for hip, (knee, ankle, foot) in zip(hips, legs_of(pose, hips), strict=True):
            target, normal = ankle_over(hip, terrain)
            np.testing.assert_allclose(ankle, target, atol=near)
            # The knee is ahead of the line from hip to ankle, and no further aside than that line.
            line = naive.unit(ankle - hip - UP * float(pose.pelvis_offset))
            bend = knee - hip - UP * float(pose.pelvis_offset)
            bend = bend - line * (bend @ line)
            assert bend @ AHEAD > 0.01
            np.testing.assert_allclose(
                np.cross(naive.unit(bend), naive.unit(AHEAD - line * (AHEAD @ line))), 0, atol=1e-5
            )
            np.testing.assert_allclose(naive.quat_rotate(foot, UP), normal, atol=near)
            heading = naive.quat_rotate(foot, AHEAD)
            assert heading[2] > 0
            assert abs(heading[0]) < near


def test_at_rest_no_joint_is_rotated():
    """A leg that is straight in its usual stance."""
    body = {"hip_height": 0.95, "thigh": 0.45, "shin": 0.42, "foot_offset": 0.08}
    pose = LegPlacement(**body).start().update((0.0, 0.95, 0.0), (0.1, 0, 0), (-0.1, 0, 0), flat, DT)
    assert pose.pelvis_offset == pytest.approx(0.0, abs=1e-12)
    for side in ("left", "right"):
        for rotation in turns(pose, side):
            assert naive.rotation_angle(rotation) < 1e-6


def test_the_knee_is_a_hinge():
    pose = first_frame(slope(0.2, -0.3))
    for shin in (pose.left_shin, pose.right_shin):
        assert shin[1] == shin[2] == 0.0 < shin[0]


def test_bones_of_no_length_still_make_a_leg():
    for thigh, shin in ((0.0, 0.8), (0.8, 0.0)):
        pose = first_frame(steps(-0.1, 0.3), thigh=thigh, shin=shin)
        body = BODY | {"thigh": thigh, "shin": shin}
        for n, (_, ankle, _) in enumerate(legs_of(pose, (PELVIS + LEFT, PELVIS + RIGHT), body)):
            hip, terrain = PELVIS + (LEFT, RIGHT)[n], steps(-0.1, 0.3)
            missed = np.linalg.norm(ankle - ankle_over(hip, terrain)[0])
            assert pose.error[n] == pytest.approx(missed, abs=1e-9)


def test_too_steep_is_stood_on_at_the_largest_slope():
    pose = first_frame(slope(0.0, 3.0), max_slope=0.5)
    for _, ankle, foot in legs_of(pose, (PELVIS + LEFT, PELVIS + RIGHT)):
        up = naive.quat_rotate(foot, UP)
        assert naive.angle_between(up, UP) == pytest.approx(0.5)
        assert up[2] < 0
        sole = ankle - up * BODY["foot_offset"]
        assert sole[1] == pytest.approx(3.0 * sole[2], abs=1e-6)


@pytest.mark.parametrize("yaw", [0.7, -2.0, math.pi])
def test_a_character_that_faces_elsewhere(yaw):
    """Turning body and ground together turns the legs with them."""
    rotation = naive.quat_from_axis_angle(UP, yaw)
    plain = first_frame(slope(0.3, 0.2))
    a, _, b = -naive.quat_rotate(rotation, (-0.3, 0.0, -0.2))
    offsets = [naive.quat_rotate(rotation, v) for v in (LEFT, RIGHT)]
    forward = naive.quat_rotate(rotation, AHEAD) * 3.0 + UP
    pose = LegPlacement(**BODY).start().update(PELVIS, *offsets, slope(a, b), DT, forward=forward)
    assert pose.pelvis_offset == pytest.approx(plain.pelvis_offset)
    for side in ("left", "right"):
        expected = turns(plain, side)
        expected[0] = naive.quat_mul(rotation, expected[0])
        for mine, theirs in zip(turns(pose, side), expected, strict=True):
            assert naive.angle_between_rotations(mine, theirs) < 1e-7


def test_without_a_heading_it_faces_along_z():
    plain = first_frame(hills)
    for forward in ((0.0, 0.0, 0.0), (0.0, 5.0, 0.0)):
        pose = LegPlacement(**BODY).start().update(PELVIS, LEFT, RIGHT, hills, DT, forward=forward)
        assert all(np.array_equal(a, b) for a, b in zip(pose, plain, strict=True))


def test_small_steps_move_every_joint_a_little():
    """Over hills, up and down, past every stretch of the leg: no joint turns more than its share of a millimetre."""
    legs, before, most = LegPlacement(**BODY).start(), None, 0.0
    for frame in range(1500 if COMPILED else 100):
        s = frame * 1e-3
        pelvis = PELVIS + np.array([s, 0.05 * s * s + 0.2 * math.sin(4 * s) * s, 0.3 * s])
        pose = legs.update(pelvis, LEFT, RIGHT, hills, DT)
        now = turns(pose, "left") + turns(pose, "right")
        if before is not None:
            most = max(most, *(float(naive.angle_between_rotations(a, b)) for a, b in zip(before, now, strict=True)))
        before = now
    assert 1e-4 < most < 0.02


# --- the pelvis ------------------------------------------------------------------------------------------------


def exact_drop(hips, ankles, reach):
    """The highest offset, 0 or less, at which both ankles are within reach: bisection."""
    low, high = -10.0, 0.0

    def fits(offset):
        return all(np.linalg.norm(h + UP * offset - a) <= reach for h, a in zip(hips, ankles, strict=True))

    if fits(high):
        return high
    # Level with the lower ankle, which surely fits, to the height that does not.
    low = min(a[1] - h[1] for h, a in zip(hips, ankles, strict=True))
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def test_the_drop_is_exact():
    rng = problems.generator(302)
    dropped = 0
    for _ in range(60 if COMPILED else 15):
        left, right = rng.uniform(-0.4, 0.3, 2)
        normal = naive.unit(rng.normal(size=3) * 0.3 + UP)
        stretch = rng.uniform(0.5, 1.0)
        pose = first_frame(steps(left, right, normal), stretch=stretch)
        hips = (PELVIS + LEFT, PELVIS + RIGHT)
        ankles = [ankle_over(hip, steps(left, right, normal))[0] for hip in hips]
        reach = min(max(stretch * LEG, BODY["hip_height"] - BODY["foot_offset"]), LEG)
        assert pose.pelvis_offset == pytest.approx(exact_drop(hips, ankles, reach), abs=1e-9)
        assert pose.reached.all()
        dropped += pose.pelvis_offset < 0
    assert dropped > 5


def test_on_level_ground_the_pelvis_stays():
    for stretch in (0.1, 0.985, 1.0):
        assert first_frame(flat, stretch=stretch).pelvis_offset == pytest.approx(0.0, abs=1e-12)


@both_precisions
def test_the_pelvis_follows_an_exact_spring(dtype):
    half_life = 0.1
    legs = LegPlacement(**BODY, pelvis_half_life=half_life).start()
    arguments = [np.asarray(v, dtype) for v in (PELVIS, LEFT, RIGHT)]
    assert legs.update(*arguments, flat, DT).pelvis_offset == 0.0
    goal = LegPlacement(**BODY).start().update(*arguments, steps(-0.25, 0.0), DT).pelvis_offset
    assert goal < -0.2
    x, v = 0.0, 0.0
    for dt in (0.02, 0.05, 0.03):
        x, v = naive.spring(x, v, float(goal), half_life, dt)
        pose = legs.update(*arguments, steps(-0.25, 0.0), dt)
        assert pose.pelvis_offset == pytest.approx(x, abs=1e-6)
        assert legs.pelvis_velocity == pytest.approx(v, abs=1e-4)
    assert pose.pelvis_offset == pytest.approx(goal / 2, abs=1e-6)  # One half-life.
    # Meanwhile the lower foot is in the air, straight above where it belongs; and the report says so.
    assert not pose.reached[0]
    assert pose.reached[1]
    hips = [np.float64(arguments[0]) + np.float64(v) for v in arguments[1:]]
    ankle = next(iter(legs_of(pose, hips)))[1]
    target = ankle_over(hips[0], steps(-0.25, 0.0))[0]
    np.testing.assert_allclose(ankle[[0, 2]], target[[0, 2]], atol=1e-6)
    assert pose.error[0] == pytest.approx(ankle[1] - target[1], abs=1e-6)
    for _ in range(120):
        pose = legs.update(*arguments, steps(-0.25, 0.0), DT)
    assert pose.pelvis_offset == goal  # It comes to rest.
    assert legs.pelvis_velocity == 0
    assert pose.reached.all()


def test_at_once_with_no_half_life():
    legs = LegPlacement(**BODY, pelvis_half_life=0.0).start()
    legs.update(PELVIS, LEFT, RIGHT, flat, DT)
    assert legs.update(PELVIS, LEFT, RIGHT, steps(-0.25, 0.0), DT).reached.all()


def test_the_pelvis_never_rises_past_the_leg_that_holds_it_down():
    rng = problems.generator(303)
    legs, before = LegPlacement(**BODY, pelvis_half_life=0.05).start(), None
    for frame in range(600 if COMPILED else 60):
        if frame % 4 == 0:
            terrain = steps(*rng.uniform(-0.4, 0.2, 2))
        pose = legs.update(PELVIS, LEFT, RIGHT, terrain, rng.uniform(0, 0.05))
        goal = first_frame(terrain).pelvis_offset
        assert before is None or pose.pelvis_offset <= max(before, goal) + 1e-12
        before = pose.pelvis_offset


def test_on_its_way_up_the_pelvis_stops_where_a_leg_holds_it():
    """A spring alone would swing past the new goal: it is too fast to stop there, or has passed it already."""
    for height, stops in ((-0.16, True), (-0.22, False)):
        legs = LegPlacement(**BODY, pelvis_half_life=0.2).start()
        legs.update(PELVIS, LEFT, RIGHT, steps(-0.4, -0.4), DT)
        while legs.pelvis_offset < -0.15:
            legs.update(PELVIS, LEFT, RIGHT, flat, DT)
        assert legs.pelvis_velocity > 0.5
        before, goal = float(legs.pelvis_offset), float(first_frame(steps(height, 0.0)).pelvis_offset)
        for _ in range(10):
            pose = legs.update(PELVIS, LEFT, RIGHT, steps(height, 0.0), DT)
            assert pose.pelvis_offset <= max(before, goal)
            before = pose.pelvis_offset
        assert stops == (pose.pelvis_offset == goal)


def test_no_time_no_change():
    legs = LegPlacement(**BODY).start()
    legs.update(PELVIS, LEFT, RIGHT, flat, DT)
    assert legs.update(PELVIS, LEFT, RIGHT, steps(-0.3, 0.0), 0.0).pelvis_offset == 0.0


# --- ground of every kind --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hole",
    [
        lambda x, z: (np.where(x > 0, np.nan, 0.0), (0.0, 1.0, 0.0)),
        lambda x, z: (np.where(x > 0, -np.inf, 0.0), (0.0, 1.0, 0.0)),
        lambda x, z: (np.where(x > 0, -50.0, 0.0), (0.0, 1.0, 0.0)),
        lambda x, z: (np.where(x > 0, 1.6, 0.0), (0.0, 1.0, 0.0)),
        lambda x, z: (math.nan if x > 0 else 0.0, (math.nan, math.nan, math.nan)),
    ],
    ids=["nan", "infinite", "cliff", "roof", "scalar"],
)
def test_over_a_hole_the_foot_stays_as_it_usually_stands(hole):
    """No ground, ground out of range below, ground above the hips: all the same."""
    pose = first_frame(hole)
    plain = first_frame(flat)
    assert pose.grounded.tolist() == [False, True]
    assert pose.reached.all()
    np.testing.assert_allclose(pose.left_thigh, plain.left_thigh, atol=1e-12)
    np.testing.assert_allclose(pose.left_foot, plain.left_foot, atol=1e-12)
    assert pose.pelvis_offset == pytest.approx(0.0, abs=1e-12)


def test_a_step_within_range_is_taken_and_one_beyond_is_not():
    for drop, grounded in ((0.29, True), (0.31, False)):
        pose = first_frame(steps(-drop, 0.0), max_drop=0.3 / LEG)
        assert pose.grounded[0] == grounded
    for rise, grounded in ((0.29, True), (0.31, False)):
        assert first_frame(steps(rise, 0.0), max_rise=0.3 / LEG).grounded[0] == grounded


class Found(NamedTuple):
    hit: object
    point: object
    normal: object
    distance: object


class Level:
    """The smallest ground with `cast`: a plane y = height, as any package would have it."""

    def __init__(self, height):
        self.height = height

    def cast(self, origins, directions, max_distance):
        assert (directions == np.array([0, -1, 0])).all()
        assert origins.shape == directions.shape
        distance = origins[..., 1] - self.height
        point = np.stack([origins[..., 0], np.full(distance.shape, self.height), origins[..., 2]], axis=-1)
        return Found((distance >= 0) & (distance <= max_distance), point, np.broadcast_to(UP, point.shape), distance)


@both_precisions
def test_a_ground_is_cast_at(dtype):
    arguments = [np.asarray(v, dtype) for v in (PELVIS, LEFT, RIGHT)]
    mine = LegPlacement(**BODY).start().update(*arguments, Level(dtype(-0.125)), DT)
    function = LegPlacement(**BODY).start().update(*arguments, lambda x, z: (-0.125, (0.0, 1.0, 0.0)), DT)
    assert all(np.array_equal(a, b) for a, b in zip(mine, function, strict=True))
    assert mine.reached.all()
    assert mine.left_thigh.dtype == dtype


class Broken(Level):
    """A ground that finds what is not there."""

    def __init__(self, point, normal, distance=0.5):
        self.answer = point, normal, distance

    def cast(self, origins, directions, max_distance):
        point, normal, distance = self.answer
        return Found(
            np.ones(origins.shape[:-1], bool),
            np.broadcast_to(np.asarray(point), origins.shape),
            np.broadcast_to(np.asarray(normal), origins.shape),
            np.full(origins.shape[:-1], distance),
        )


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e300])
@pytest.mark.parametrize("field", ["point", "normal"])
def test_a_ground_with_unusable_answers_is_a_hole(value, field):
    answer = {"point": (0.1, 0.0, 0.02), "normal": UP} | {field: (0.1, value, 0.0)}
    pose = first_frame(Broken(**answer))
    assert not pose.grounded.any()
    assert all(np.isfinite(part).all() for part in pose)


def test_a_ray_that_starts_inside_something_has_found_no_ground():
    assert not first_frame(Broken((0.1, 0.0, 0.0), UP, distance=0.0)).grounded.any()


def test_functions_of_floats_of_arrays_and_constants_are_all_ground():
    def of_floats(x, z):
        return (0.1 if x > 0 else math.sin(0.0)), [0.0, 1.0, 0.0]

    def of_arrays(x, z):
        return np.where(x > 0, 0.1, 0.0), np.tile(UP, (x.size, 1))

    def in_parts(x, z):
        return np.where(x > 0, 0.1, 0.0), (0 * x, 1.0, 0.0)

    def of_heights(x, z):
        return np.where(x > 0, 0.1, 0.0)

    poses = [first_frame(terrain) for terrain in (of_floats, of_arrays, in_parts, of_heights)]
    for pose in poses[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(poses[0], pose, strict=True))


def test_normals_may_have_any_length_and_point_either_way():
    plain = first_frame(steps(0.1, 0.0, (0.25, 1.0, 0.5)))
    for size in (4.0, -2.0, 2.0**-60):
        pose = first_frame(steps(0.1, 0.0, (0.25 * size, size, 0.5 * size)))
        for mine, theirs in zip(pose, plain, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-12)


def test_an_error_of_a_function_is_passed_on():
    def broken(x, z):
        raise KeyError("no tile")

    with pytest.raises(KeyError, match="no tile"):
        first_frame(broken)


# --- batches ---------------------------------------------------------------------------------------------------


@both_precisions
def test_a_batch_is_many_singles(dtype):
    rng = problems.generator(304)
    pelvis = np.asarray(PELVIS + rng.normal(size=(3, 4, 3)) * [2.0, 0.05, 2.0], dtype)
    left, right = LEFT.astype(dtype), RIGHT.astype(dtype)
    forward = np.asarray(rng.normal(size=(4, 3)), dtype)
    many = LegPlacement(**BODY).start()
    single = [[LegPlacement(**BODY).start() for _ in range(4)] for _ in range(3)]
    for _ in range(3):
        pelvis = pelvis + dtype(0.01)
        pose = many.update(pelvis, left, right, hills, DT, forward=forward)
        assert pose.left_shin.shape == (3, 4, 4)
        assert pose.reached.shape == (3, 4, 2)
        assert pose.pelvis_offset.shape == (3, 4)
        for i, j in np.ndindex(3, 4):
            one = single[i][j].update(pelvis[i, j], left, right, hills, DT, forward=forward[j])
            assert all(np.array_equal(a[i, j], b) for a, b in zip(pose, one, strict=True))


def test_an_empty_batch():
    pose = LegPlacement(**BODY).start().update(np.zeros((0, 3)), LEFT, RIGHT, hills, DT)
    assert pose.left_thigh.shape == (0, 4)
    assert pose.pelvis_offset.shape == (0,)


def test_inputs_are_not_changed_and_answers_stay_as_they_are():
    legs, given_ = LegPlacement(**BODY).start(), [PELVIS.copy(), LEFT.copy(), RIGHT.copy()]
    first = legs.update(*given_, steps(-0.3, 0.0), DT)
    kept = [np.array(part) for part in first]
    legs.update(*given_, steps(0.1, -0.2), DT)
    assert all(np.array_equal(a, b) for a, b in zip(given_, (PELVIS, LEFT, RIGHT), strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(first, kept, strict=True))


# --- what cannot be --------------------------------------------------------------------------------------------


@given(
    pelvis=problems.vectors(),
    left=problems.vectors(),
    right=problems.vectors(),
    lengths=st.lists(problems.lengths(), min_size=4, max_size=4),
    heights=st.lists(st.one_of(problems.numbers(), st.just(math.nan)), min_size=2, max_size=2),
    normal=problems.vectors(),
    forward=problems.vectors(),
    single=st.booleans(),
)
def test_finite_in_finite_out(pelvis, left, right, lengths, heights, normal, forward, single):
    dtype = np.float32 if single else np.float64
    names = ("hip_height", "thigh", "shin", "foot_offset")
    legs = LegPlacement(**dict(zip(names, lengths, strict=True)), max_slope=math.pi / 2).start()
    given_ = [np.asarray(v, dtype) for v in (pelvis, left, right)]
    terrain = steps(*heights, tuple(normal))
    for dt in (0.0, 1e-9, 0.3, 1e6):
        pose = legs.update(*given_, terrain, dt, forward=np.asarray(forward, dtype))
        assert all(np.isfinite(part).all() for part in pose)
        for side in ("left", "right"):
            for rotation in turns(pose, side):
                assert abs(np.linalg.norm(rotation) - 1) < 1e-5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"thigh": -0.1}, "thigh is -0.1"),
        ({"hip_height": math.nan}, "hip_height is nan"),
        ({"stretch": 1.2}, "stretch is 1.2"),
        ({"max_slope": 2.0}, "max_slope is 2.0"),
        ({"pelvis_half_life": -1.0}, "pelvis_half_life is -1.0"),
        ({"foot_offset": "low"}, "foot_offset must be one number"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        LegPlacement(**BODY | settings)


def test_bad_frames_are_refused_and_change_nothing():
    legs = LegPlacement(**BODY).start()
    legs.update(PELVIS, LEFT, RIGHT, steps(-0.3, 0.0), DT)
    kept = legs.pelvis_offset.copy(), legs.pelvis_velocity.copy()
    good = {"pelvis_position": PELVIS, "left_hip_offset": LEFT, "right_hip_offset": RIGHT, "terrain": flat, "dt": DT}
    for bad, message in (
        ({"pelvis_position": (0.0, math.nan, 0.0)}, r"pelvis_position\[1\] is nan"),
        ({"left_hip_offset": (0.0, 1.0)}, "left_hip_offset must have shape"),
        ({"right_hip_offset": (math.inf, 0.0, 0.0)}, r"right_hip_offset\[0\] is inf"),
        ({"forward": ("a", "b", "c")}, "forward must be an array of numbers"),
        ({"dt": -0.1}, "dt is -0.1"),
        ({"terrain": 3.0}, "terrain must have cast"),
        ({"terrain": lambda x, z: "low"}, "must return a height"),
        ({"terrain": lambda x, z: (0.0, (1.0, 2.0))}, "must return a height"),
        ({"pelvis_position": np.zeros((2, 3))}, r"a batch of \(\), got one of \(2,\)"),
        ({"left_hip_offset": np.zeros((2, 3)), "right_hip_offset": np.zeros((4, 3))}, "batch shapes do not match"),
    ):
        with pytest.raises(InputError, match=message):
            legs.update(**good | bad)
    assert (legs.pelvis_offset, legs.pelvis_velocity) == kept


# --- one foot, and targets of one's own ------------------------------------------------------------------------


@both_precisions
def test_a_foot_stands_on_a_point_ahead_of_its_hip(dtype):
    hip, target, lengths = np.array((0.1, 0.9, 0.0)), np.array((0.15, 0.1, 0.3)), (0.45, 0.42)
    normal = naive.unit((0.1, 1.0, -0.2))
    given = [np.asarray(value, dtype) for value in (hip, target, normal, lengths)]
    leg = solve_foot(*given, foot_offset=0.08)
    assert leg.thigh.dtype == dtype
    assert leg.reached
    assert leg.error < 1e-5
    thigh, shin, foot = (np.asarray(part, np.float64) for part in (leg.thigh, leg.shin, leg.foot))
    knee = hip + naive.quat_rotate(thigh, (0.0, -0.45, 0.0))
    ankle = knee + naive.quat_rotate(naive.quat_mul(thigh, shin), (0.0, -0.42, 0.0))
    np.testing.assert_allclose(ankle, target + 0.08 * normal, atol=1e-5)
    stands = naive.quat_mul(naive.quat_mul(thigh, shin), foot)
    np.testing.assert_allclose(naive.quat_rotate(stands, UP), normal, atol=1e-5)


def test_a_knee_bends_towards_its_pole():
    hip, target = np.array((0.0, 0.7, 0.0)), np.array((0.0, 0.0, 0.0))
    for pole in ((5.0, 0.4, 0.0), (-5.0, 0.4, 0.0), (0.0, 0.4, 5.0)):
        leg = solve_foot(hip, target, UP, (0.45, 0.42), pole)
        knee = hip + naive.quat_rotate(leg.thigh, (0.0, -0.45, 0.0))
        aside = naive.unit(knee * (1.0, 0.0, 1.0))
        np.testing.assert_allclose(aside, naive.unit(np.array(pole) * (1.0, 0.0, 1.0)), atol=1e-6)


def test_a_foot_out_of_reach_is_reported():
    leg = solve_foot((0.0, 2.0, 0.0), (0.0, 0.0, 0.0), UP, (0.45, 0.42))
    assert not leg.reached
    assert leg.error == pytest.approx(2.0 - 0.87)


def test_feet_in_a_batch_are_many_singles():
    hips, targets = np.zeros((3, 2, 3)), np.zeros((3, 2, 3))
    hips[..., 1] = np.linspace(0.6, 1.1, 6).reshape(3, 2)
    targets[..., 2] = np.linspace(-0.2, 0.3, 6).reshape(3, 2)
    many = solve_foot(hips, targets, UP, (0.45, 0.42))
    assert many.thigh.shape == (3, 2, 4)
    assert many.reached.shape == (3, 2)
    one = solve_foot(hips[1, 0], targets[1, 0], UP, (0.45, 0.42))
    for a, b in zip(many, one, strict=True):
        assert np.array_equal(a[1, 0], b)


@pytest.mark.parametrize(
    ("lengths", "named"), [((0.4, -0.1), "lengths"), ((0.4,), "lengths"), ((0.4, np.nan), "lengths")]
)
def test_lengths_that_are_none_are_refused(lengths, named):
    with pytest.raises(InputError, match=named):
        solve_foot((0.0, 1.0, 0.0), (0.0, 0.0, 0.0), UP, lengths)


def test_legs_of_different_lengths_both_reach():
    body = BODY | {"thigh": (0.45, 0.4), "shin": (0.42, 0.38), "hip_height": (0.9, 0.82)}
    pose = LegPlacement(**body).start().update(PELVIS, LEFT, RIGHT, flat, DT)
    assert pose.reached.all()
    assert pose.pelvis_offset < 0
    sides = [{"thigh": body["thigh"][n], "shin": body["shin"][n]} for n in range(2)]
    for n, hip in enumerate((PELVIS + LEFT, PELVIS + RIGHT)):
        _, ankle, _ = list(legs_of(pose, (PELVIS + LEFT, PELVIS + RIGHT), sides[n]))[n]
        np.testing.assert_allclose(ankle, (hip[0], 0.08, hip[2]), atol=1e-6)


def test_feet_go_below_their_targets():
    ahead = PELVIS + RIGHT + (0.0, 3.0, 0.25)
    pose = LegPlacement(**BODY).start().update(PELVIS, LEFT, RIGHT, slope(0.0, 0.2), DT, right_target=ahead)
    (_, left, _), (_, right, _) = legs_of(pose, (PELVIS + LEFT, PELVIS + RIGHT))
    normal = naive.unit((0.0, 1.0, -0.2))
    np.testing.assert_allclose(left, ankle_over(PELVIS + LEFT, slope(0.0, 0.2))[0], atol=1e-6)
    np.testing.assert_allclose(right, np.array((ahead[0], 0.2 * ahead[2], ahead[2])) + 0.08 * normal, atol=1e-6)


def test_both_knees_bend_towards_the_pole():
    pose = LegPlacement(**BODY).start().update(PELVIS, LEFT, RIGHT, flat, DT, pole=(0.0, 0.5, -4.0))
    for hip, (knee, _, _) in zip(
        (PELVIS + LEFT, PELVIS + RIGHT), legs_of(pose, (PELVIS + LEFT, PELVIS + RIGHT)), strict=True
    ):
        assert knee[2] < hip[2] - 0.01
