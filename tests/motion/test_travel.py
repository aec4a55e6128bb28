"""Travel from planted feet: known travel, taken out of a clip, is found again."""

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.demo import humanoid, quadruped, spider
from kinema.math import arrays
from kinema.motion import travel as module
from kinema.motion.soles import sole_points
from kinema.motion.travel import Travel, _common, _fit, _solve, _turned, travel_of, without_slip
from tests.assets import asset

BODIES = {"humanoid": humanoid, "quadruped": quadruped, "spider": spider}


def frames(clip, fps=30):
    count = round(clip.duration * fps)
    return np.linspace(0.0, clip.duration, count + 1), clip.duration / count


@pytest.mark.parametrize("clip", ["walk", "run"])
@pytest.mark.parametrize("body", BODIES)
def test_the_travel_of_a_clip_is_found_again(body, clip):
    character = BODIES[body]()
    rig, moving = character.rig, character.clips[clip]
    real = moving.root_motion(0.0, moving.duration, joint="root").offset
    times, dt = frames(moving)
    world = character.skeleton.world(moving.in_place(joint="root").sample(times))
    travel = travel_of(rig, sole_points(rig, world), dt, closed=True)
    transforms = travel.transforms(rig.up, dt)
    assert travel.needed
    assert travel.turn == 0.0
    assert np.linalg.norm(transforms[-1, :3, 3] - real) < 0.03 * np.linalg.norm(real)
    assert np.allclose(transforms[:, :3, :3], np.eye(3))


@pytest.mark.parametrize("body", BODIES)
def test_planted_feet_stay_where_they_are(body):
    character = BODIES[body]()
    rig, clip = character.rig, character.clips["walk"].in_place(joint="root")
    times, dt = frames(clip)
    world = character.skeleton.world(clip.sample(times))
    placed = travel_of(rig, sole_points(rig, world), dt, closed=True).transforms(rig.up, dt)[:, np.newaxis] @ world
    planted = metrics.planted_from(rig, placed, dt)
    assert 0.4 < planted.mean() < 0.9
    leg = max(rig.skeleton.length(leg.joints) for leg in rig.legs)
    soles = metrics.soles_over(rig, placed, km.Plane())
    assert metrics.slides(rig, soles, planted)[0].max() < 0.01 * leg


@pytest.mark.parametrize("clip", ["walk", "idle"])
@pytest.mark.parametrize("body", BODIES)
def test_travelling_or_standing_clips_get_no_travel(body, clip):
    character = BODIES[body]()
    times, dt = frames(character.clips[clip])
    world = character.skeleton.world(character.clips[clip].sample(times))
    travel = travel_of(character.rig, sole_points(character.rig, world), dt, closed=True)
    assert not travel.needed
    assert travel.speed < 0.05


@pytest.mark.parametrize("rate", [-0.9, 0.5])
def test_a_walk_in_a_circle_turns(rate):
    """A straight walk, bent to a circle with the ground it stands on, seen from the body that goes round."""
    character = humanoid()
    clip = character.clips["walk"]
    times, dt = frames(clip, 60)
    world = character.skeleton.world(clip.sample(times)).astype(float)
    speed = clip.root_motion(0.0, clip.duration, joint="root").offset[2] / clip.duration
    bent = around(world[..., 2, 3] * rate / speed, speed / rate)
    bent[..., :3, 3] += np.einsum("...rc,...c->...r", bent[..., :3, :3], world[..., :3, 3] * (1.0, 1.0, 0.0))
    bent[..., :3, :3] = bent[..., :3, :3] @ world[..., :3, :3]
    transforms = around(times * rate, speed / rate)
    travel = travel_of(
        character.rig, sole_points(character.rig, np.linalg.inv(transforms)[:, np.newaxis] @ bent), dt, closed=True
    )
    assert travel.turn == pytest.approx(rate, abs=0.05)
    found = travel.transforms(character.rig.up, dt)
    assert np.abs(found[-1] - transforms[-1])[:3, 3].max() < 0.04


def around(angle, radius):
    """Where a body is that has gone so far round a circle, facing ahead; it starts at the origin, facing +Z."""
    transforms = np.zeros((*angle.shape, 4, 4))
    transforms[...] = np.eye(4)
    transforms[..., :3, :3] = arrays.to_matrix(arrays.from_axis_angle(np.array((0.0, 1.0, 0.0)), angle))
    transforms[..., 0, 3], transforms[..., 2, 3] = radius * (1 - np.cos(angle)), radius * np.sin(angle)
    return transforms


def test_one_frame_or_no_legs_go_nowhere():
    character = humanoid()
    world = character.skeleton.world(character.clips["walk"].sample(np.zeros(1)))
    travel = travel_of(character.rig, sole_points(character.rig, world), 1 / 30, closed=False)
    assert not travel.needed
    assert travel.transforms(character.rig.up, 1 / 30).shape == (1, 4, 4)


def test_the_floor_is_where_feet_stand():
    """A clip made above or below the rig's floor, as far as that is common; what is far off is no floor."""
    character = humanoid()
    rig, clip = character.rig, character.clips["walk"].in_place(joint="root")
    times, dt = frames(clip)
    for lifted, found in ((0.03, 0.03), (-0.03, -0.03), (0.1, 0.1), (0.2, 0.0), (0.5, 0.0)):
        world = character.skeleton.world(clip.sample(times))
        world[..., 1, 3] += lifted
        floor = travel_of(rig, sole_points(rig, world), dt, closed=True).floor
        assert floor - rig.floor == pytest.approx(found, abs=0.005)


def in_place(rig, low, lowered=0.0):
    """Soles that go back at one leg length a second, in the air but for some frames, and below the ground in others."""
    points = np.zeros((100, len(rig.legs), 3, 3))
    points[..., 2] = -np.arange(100)[:, np.newaxis, np.newaxis] / 60 + np.array((-0.1, 0.1, 0.2))
    points[..., 1] = 0.1
    points[:low, ..., 1] = 0.0
    points[: round(0.08 * 100) if lowered else 0, ..., 1] = -lowered
    return points * rig.leg_length + np.array((0.0, rig.floor, 0.0))


@pytest.mark.parametrize(("low", "lowered"), [(60, 0.08), (14, 0.0)])
def test_the_floor_is_not_where_feet_dip_now_and_then_but_where_they_stand_now_and_then(low, lowered):
    rig = humanoid().rig
    floor = travel_of(rig, in_place(rig, low, lowered), 1 / 60, closed=False).floor
    assert floor == pytest.approx(rig.floor, abs=0.01 * rig.leg_length)


@pytest.mark.parametrize(("height", "legs"), [(0.0, 2), (0.02, 2), (0.03, 1)])
def test_a_foot_shows_the_travel_up_to_a_fortieth_of_a_leg_above_the_floor(height, legs):
    """Both feet slide back alike, one of them a little higher."""
    rig = humanoid().rig
    points = in_place(rig, 100)
    points[:, 1, :, 1] += height * rig.leg_length
    assert travel_of(rig, points, 1 / 60, closed=False).legs == legs


@pytest.mark.parametrize(("speed", "needed"), [(0.9, False), (1.1, True)])
@pytest.mark.parametrize("closed", [False, True])
def test_one_leg_that_runs_in_place_shows_the_travel(speed, needed, closed):
    """The other foot stays in the air: who hops in a loop travels, and who drags a foot once does not."""
    rig = humanoid().rig
    dt, leg, count = 1 / 60, rig.leg_length, 61
    points = np.zeros((count, 2, 3, 3))
    points[..., 1] = rig.floor + 0.5 * leg
    points[:, 0, :, 2] = np.linspace(0.0, -speed * leg, count)[:, np.newaxis] + np.array((-0.1, 0.1, 0.2)) * leg
    points[:, 0, :, 1] = rig.floor
    travel = travel_of(rig, points, dt, closed=closed)
    assert travel.legs == 1
    assert travel.needed == (needed and closed)


@pytest.mark.parametrize(("body", "needed"), [(humanoid, True), (quadruped, False), (spider, False)])
def test_one_leg_of_two_walks_and_one_of_four_or_more_strikes(body, needed):
    rig = body().rig
    points = np.zeros((61, len(rig.legs), 3, 3))
    points[..., 1] = rig.floor + 0.5 * rig.leg_length
    points[:, 0, :, 2] = np.linspace(0.0, -3.0 * rig.leg_length, 61)[:, np.newaxis]
    points[:, 0, :, 1] = rig.floor
    assert travel_of(rig, points, 1 / 60, closed=True).needed == needed


@pytest.mark.parametrize(("alike", "together"), [(7, True), (5, False)])
def test_feet_slip_as_six_of_ten_do_or_else_on_average(alike, together):
    velocities = np.zeros((10, 3))
    velocities[:alike, 2] = 1.0 + 0.01 * np.arange(alike)
    velocities[alike:, 0] = 3.0
    expected = np.median(velocities, axis=0) if together else velocities.mean(axis=0)
    np.testing.assert_allclose(_common(velocities, 0.1), expected)


@pytest.mark.parametrize(("noise", "turns"), [(0.1, True), (0.2, False)])
def test_a_turn_explains_four_tenths_of_what_a_straight_walk_leaves_or_is_none(noise, turns):
    """Soles that move back and turn by half a radian a second, and shake."""
    draw = np.random.default_rng(3)
    at = draw.uniform(-0.4, 0.4, (90, 2, 3, 2))
    moved = -(np.array((0.0, 1.0)) + 0.5 * _turned(at)) + noise * draw.standard_normal(at.shape)
    low = np.ones(at.shape[:3])
    left = [_solve(moved, at, low, 0.9, which)[3] for which in (True, False)]
    assert (left[0] < 0.6 * left[1]) == turns
    assert turns or left[0] < 0.9 * left[1], "it explains something"
    assert (_fit(moved, at, low, 0.9)[1] != 0.0) == turns


def test_the_floor_of_a_gallop_is_where_its_legs_strike_one_after_the_other():
    """Fox.glb's run: each leg strikes 2 to 6% of a leg below the file's zero, and three are in the air meanwhile."""
    character = km.load(asset("gltf/Fox.glb"))
    rig, run = character.rig, character.clips["Run"]
    poses = run.sample(np.arange(0.0, run.duration, 1 / 60))
    points = sole_points(rig, character.skeleton.world(poses))
    floor = travel_of(rig, points, 1 / 60, closed=True).floor
    struck = np.quantile((points @ np.array(rig.up)).min(axis=2), 0.05, axis=0)
    assert np.sort(struck)[0] <= floor <= np.sort(struck)[-1] + 0.01 * rig.leg_length


@pytest.mark.parametrize(
    ("speed", "turn", "needed"),
    [(0.36, 0.0, False), (0.44, 0.0, True), (0.1, 0.12, False), (0.1, 0.18, True), (0.1, 3.6, True), (0.1, 4.4, False)],
)
def test_feet_that_slide_four_tenths_of_a_leg_a_second_walk_in_place_and_those_that_spin_do_not(speed, turn, needed):
    """Captured feet slide more slowly, and turn a little as they roll; a spin of four radians a second is none."""
    assert Travel(np.zeros((1, 3)), turn, speed, 0.0, 2).needed == needed
    assert Travel(np.zeros((1, 3)), -turn, speed, 0.0, 2).needed == needed


def rounds_of_a_fit(monkeypatch, changes):
    """How many rounds a fit takes whose travel of one metre a second changes by these shares, one after the other."""
    speeds = iter(1.0 + np.array(changes))
    taken = []

    def lstsq(square, right, rcond):
        taken.append(np.array((0.0, next(speeds), 0.0)))
        return (taken[-1],)

    monkeypatch.setattr(module.np.linalg, "lstsq", lstsq)
    at = np.zeros((30, 2, 3, 2))
    _solve(np.broadcast_to((0.0, -1.0), at.shape), at, np.ones(at.shape[:3]), 1.0, False)
    return len(taken)


def test_a_fit_has_settled_when_a_round_changes_a_hundred_thousandth_of_the_travel(monkeypatch):
    assert rounds_of_a_fit(monkeypatch, (0.1, 0.1 + 1.5e-5, 0.1 + 0.8e-5, 0.1, 0.1)) == 3


def test_a_fit_that_does_not_settle_ends_after_twenty_rounds(monkeypatch):
    assert rounds_of_a_fit(monkeypatch, np.tile((0.1, -0.1), 30)) == 20


@pytest.mark.parametrize(("slower", "speed"), [(0.92, 1.0), (0.85, 0.55 * 1.0 + 0.45 * 0.85)])
def test_feet_agree_that_slip_alike_within_a_tenth_of_the_travel(slower, speed):
    """For 55% of the time both go back at one leg length a second, else more slowly. Who agrees travels as most do, in
    the median; who does not, in the mean.
    """
    rig, frames = humanoid().rig, np.arange(200)
    back = np.where(frames % 100 < 55, 1.0, slower)
    points = np.zeros((200, 2, 3, 3))
    points[..., 2] = (-np.cumsum(back) / 60)[:, np.newaxis, np.newaxis] + np.array((-0.1, 0.1, 0.2))
    points = points * rig.leg_length + np.array((0.0, rig.floor, 0.0))
    guess = Travel(np.tile((0.0, 0.0, 0.6 * rig.leg_length), (199, 1)), 0.0, 0.6, rig.floor, 2)
    assert without_slip(rig, points, 1 / 60, guess).speed == pytest.approx(speed, abs=0.015)


def test_the_floor_follows_feet_that_rise_throughout_for_three_rounds():
    """From round to round it comes nearer to where most of their points are, 0.08 of a leg up: first 0.057, 0.064."""
    rig = humanoid().rig
    points = in_place(rig, 100)
    points[..., 1] += 0.1 * rig.leg_length * np.cbrt(np.linspace(0.0, 1.0, 100))[:, np.newaxis, np.newaxis]
    floor = travel_of(rig, points, 1 / 60, closed=False).floor
    assert (floor - rig.floor) / rig.leg_length == pytest.approx(0.071, abs=0.004)
