"""Creatures that step by themselves, judged from outside: where their feet are, frame by frame."""

import math
from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import demo, metrics
from kinema.stages.walk.gait import groups_of
from tests.assets import asset
from tests.locomotion.figures import measure
from tests.locomotion.walks import CHARACTERS, RATES, SPEEDS, walked
from tests.stages.walkers import HZ, Walk, exact

FLAT = km.Plane()
AHEAD = (0.0, 0.0, 0.7)


# --- who steps with whom ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("spider", [{"l1", "l3", "r2", "r4"}, {"l2", "l4", "r1", "r3"}]),
        ("quadruped", [{"front_left", "hind_right"}, {"front_right", "hind_left"}]),
        ("humanoid", [{"left"}, {"right"}]),
    ],
)
def test_legs_swing_in_opposite_groups(name, groups):
    rig = exact(name).rig
    found = [{leg.name for leg, group in zip(rig.legs, groups_of(rig), strict=True) if group == g} for g in (0, 1)]
    assert found == groups


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", ["spider", "quadruped", "humanoid"])
def test_only_one_group_is_ever_in_the_air(name):
    walk = Walk(exact(name), FLAT)
    walk.state.walk(AHEAD)
    walk.go(3.0)
    aloft = ~walk.planted
    groups = np.array(groups_of(walk.character.rig))
    assert aloft.any()
    assert not (aloft[:, groups == 0].any(axis=1) & aloft[:, groups == 1].any(axis=1)).any()


# --- legs, as the character stands -----------------------------------------------------------------------------


def leg_records(character, **settings):
    return km.Animator(character, [km.Locomotion(**settings)], ground=0.0)["locomotion"]._records.legs


@pytest.mark.parametrize(("sole", "point"), [(0.012, True), (0.03, False)])
def test_feet_shorter_than_two_hundredths_of_a_leg_are_points(sole, point):
    person = demo.humanoid()
    length = person.rig.leg_length
    half = sole * length / 2
    legs = [replace(leg, toe=None, toes=(), heel=half, tip=half) for leg in person.rig.legs]
    records = leg_records(replace(person, rig=replace(person.rig, legs=legs)))
    assert records["point"].tolist() == [point, point]


def test_a_swing_that_climbs_takes_four_times_as_long_as_its_top_speed_would():
    records = leg_records(demo.humanoid(), foot_speed=5.0)
    assert records["climb_time"] * 5.0 * records["bones"]["length"] == pytest.approx([4.3, 4.3], rel=0.1)


@pytest.mark.parametrize("body", [demo.humanoid, demo.quadruped, demo.spider])
def test_a_foot_that_swings_over_a_step_never_folds_its_leg_up_completely(body):
    records = leg_records(body())
    shortest = records["shapes"]["shortest"]
    assert (records["nearest"] > 1.1 * shortest).all()
    assert (records["nearest"] < np.maximum(0.25 * records["rest_reach"], 1.3 * shortest)).all()


@pytest.mark.parametrize("body", [demo.humanoid, demo.quadruped, demo.spider])
def test_a_foot_lands_no_nearer_to_its_hip_than_four_tenths_of_its_distance_at_rest_and_never_folds_its_leg_up(body):
    records = leg_records(body())
    rest, shortest = records["rest_reach"], records["shapes"]["shortest"]
    assert (records["closest"] > np.maximum(0.36 * rest, 1.2 * shortest)).all()
    assert (records["closest"] < np.maximum(0.42 * rest, 1.4 * shortest)).all()


def test_a_swinging_foot_of_a_person_comes_to_a_fifth_of_its_distance_from_the_hip():
    records = leg_records(demo.humanoid())
    assert records["nearest"] / records["rest_reach"] == pytest.approx([0.2, 0.2], abs=0.03)


@pytest.mark.parametrize("body", [demo.humanoid, demo.spider])
def test_a_body_comes_down_by_three_tenths_of_its_height_however_far_it_is_asked_to(body):
    records = leg_records(body(), crouch=5.0)
    assert records["crouch"] / records["rest_height"] == pytest.approx(np.full(len(records), 0.3), abs=0.02)


@pytest.mark.parametrize(("dt", "steps"), [(0.01, 1), (0.019, 1), (1 / 30, 2), (0.05, 3), (0.08, 4), (0.5, 4)])
def test_a_frame_is_walked_in_steps_of_a_fiftieth_of_a_second_and_four_at_most(monkeypatch, dt, steps):
    animator, taken = km.Animator(demo.humanoid(), [km.Locomotion()], ground=0.0), []
    monkeypatch.setattr(animator["locomotion"], "_walk_on", lambda context, each: taken.append(each))
    animator.update(dt)
    np.testing.assert_allclose(taken, np.full(steps, dt / steps), rtol=1e-6)


def test_a_leg_that_stands_stretched_out_has_its_home_a_fifth_of_a_leg_nearer_than_it_reaches():
    """A spider whose legs may be stretched hardly more than they are."""
    records = leg_records(demo.spider(), stretch=0.6, crouch=0.001)
    spare = records["spare"] / records["bones"]["length"]
    assert spare == pytest.approx(np.full(8, 0.2), abs=0.02)


# --- walking ---------------------------------------------------------------------------------------------------


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize(
    "ground",
    [demo.rocks(), demo.slope(25.0), demo.course(), demo.voxels()],
    ids=["rocks", "slope", "course", "voxels"],
)
def test_a_spider_walks_five_metres_over_anything(ground):
    walk = Walk(exact("spider"), ground, start=(0.0, 0.0, 0.8))
    walk.state.walk(AHEAD)
    walk.go(8.0)
    assert walk.place[-1, 2, 3] - walk.place[0, 2, 3] > 5.0
    assert walk.slide() < 1e-9
    assert np.abs(walk.gaps()[walk.planted]).max() < 0.02
    assert walk.gaps().min() > -0.02  # No swinging foot cuts through the ground.
    assert walk.foot_speed() < 1.5 * km.Locomotion().foot_speed
    assert walk.shake() < 10.0
    figures = metrics.measure(walk.character.rig, walk.world, ground, 1 / HZ, planted=walk.planted)
    assert figures.knee_flips == 0
    assert figures.worst_slide < 1e-9
    assert len(figures.steps.slide) > 80


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", ["spider", "quadruped", "humanoid"])
def test_stairs_as_high_as_a_quarter_of_a_leg(name):
    walk = Walk(exact(name), demo.stairs(), start=(0.0, 0.0, 0.8))
    walk.state.walk(AHEAD)
    walk.go(8.0)
    assert walk.place[-1, 1, 3] > 1.0  # It got up most of them.
    assert walk.slide() < 1e-9
    assert np.abs(walk.gaps()[walk.planted]).max() < 0.02
    assert walk.foot_speed() < 1.5 * km.Locomotion().foot_speed


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", ["quadruped", "humanoid"])
def test_other_creatures_on_level_ground(name):
    walk = Walk(exact(name), FLAT)
    walk.state.walk(AHEAD)
    walk.go(4.0)
    assert walk.place[-1, 2, 3] > 2.4
    assert walk.slide() < 1e-9
    assert np.abs(walk.gaps()[walk.planted]).max() < 1e-9
    assert (walk.planted.sum(axis=1) >= len(walk.character.rig.legs) // 2).all()


@pytest.mark.slow_uncompiled
def test_legs_are_never_stretched_beyond_their_reach():
    walk = Walk(exact("spider"), demo.rocks(), start=(0.0, 0.0, 1.8))
    walk.state.walk(AHEAD)
    walk.go(2.0)
    for leg in walk.character.rig.legs:
        at = walk.world[..., :3, 3][:, list(leg.joints)]
        far = np.linalg.norm(at[:, -1] - at[:, 0], axis=-1)
        assert far.max() <= walk.size * (1 + 1e-9)
        bones = np.linalg.norm(np.diff(at, axis=1), axis=-1)
        assert np.abs(bones - bones[0]).max() < 1e-12


@pytest.mark.slow_uncompiled
def test_it_turns_in_place_then_stands_and_sleeps():
    walk = Walk(exact("spider"), FLAT)
    walk.state.walk((0.0, 0.0, 0.0), turn=1.0)
    walk.go(2.0)
    heading = math.atan2(walk.place[-1, 0, 2], walk.place[-1, 2, 2])
    assert heading == pytest.approx(2.0, abs=0.25)
    assert np.abs(walk.place[:, [0, 2], 3]).max() < 1e-9
    walk.state.stop()
    walk.go(4.0)
    homes = walk.state.feet.home.point[0]
    assert np.linalg.norm(walk.balls()[-1] - homes, axis=-1).max() < walk.state.settings.settle * walk.size
    assert not walk.state.awake(1 / HZ).any()
    before = walk.world[-1]
    walk.animator.wake()
    assert np.array_equal(walk.animator.update(1 / HZ).world, before)


@pytest.mark.slow_uncompiled
def test_it_walks_to_a_point_faces_it_and_stops_there():
    walk = Walk(exact("spider"), FLAT)
    walk.state.walk_to((1.5, 0.0, -0.5))
    walk.go(6.0)
    assert walk.report.arrived
    assert np.linalg.norm(walk.place[-1, [0, 2], 3] - (1.5, -0.5)) < 0.05 * walk.size
    facing = walk.place[-1, :3, 2]
    assert facing @ (1.5, 0.0, -0.5) > 0.9 * math.hypot(1.5, 0.5)
    walk.go(3.0)
    assert not walk.state.awake(1 / HZ).any()


@pytest.mark.slow_uncompiled
def test_a_standing_creature_on_rocks_comes_to_rest():
    walk = Walk(exact("spider"), demo.rocks(), start=(0.3, 0.0, 4.0)).go(3.0)
    assert walk.planted[-1].all()
    assert not walk.state.awake(1 / HZ).any()


# --- edges and holes -------------------------------------------------------------------------------------------


def island(x, z):
    """A square of ground, four metres across."""
    return np.where((np.abs(x) < 2) & (np.abs(z) < 2), 0.0, np.nan)


def holes(x, z):
    """A floor with a hole, a hand wide, in every second square of a chessboard."""
    inside = ((np.floor(x / 0.2) + np.floor(z / 0.2)) % 2 == 0) & (x % 0.2 < 0.1) & (z % 0.2 < 0.1)
    return np.where(inside, np.nan, 0.0)


@pytest.mark.slow_uncompiled
def test_it_waits_at_an_edge_and_comes_back():
    walk = Walk(exact("spider"), km.Ground.from_function(island))
    walk.state.walk(AHEAD)
    walk.go(6.0)
    assert 1.0 < walk.place[-1, 2, 3] < 2.0
    assert walk.planted[-1].all()
    assert walk.report.progress < 0.1
    assert walk.slide() < 1e-9
    assert np.abs(walk.balls()[..., 2]).max() < 2.0
    walk.state.walk((0.0, 0.0, -0.7))
    walk.go(2.0)
    assert walk.place[-1, 2, 3] < 0.8


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("speed", [0.0, 1e-30, 1e-12, 1e-4, 1e6])
def test_any_speed_gives_a_finite_pose(speed):
    """Also one so small that its square is 0, for walkers that were just held back."""
    walk = Walk(exact("spider"), km.Ground.from_function(island))
    for velocity in (AHEAD, (0.0, 0.0, -speed), (speed, 0.0, 0.0), AHEAD):
        walk.state.walk(velocity, turn=speed)
        walk.go(1.5)
        assert np.isfinite(walk.world).all()
        assert np.isfinite(walk.state.feet.pull).all()


@pytest.mark.slow_uncompiled
def test_a_foot_out_of_reach_comes_down_although_its_body_cannot_follow():
    """A spider that changes its direction: a swing took half of what was left of it in every frame, for ever."""
    walk = walked("spider", "directions", 120)
    in_air = ~walk.planted
    longest = np.zeros(in_air.shape[1:], int)
    runs = np.zeros(in_air.shape[1:], int)
    for frame in in_air:
        runs = np.where(frame, runs + 1, 0)
        longest = np.maximum(longest, runs)
    assert longest.max() < walk.rate


@pytest.mark.slow_uncompiled
def test_feet_land_beside_holes():
    ground = km.Ground.from_function(holes)
    walk = Walk(exact("spider"), ground)
    walk.state.walk(AHEAD)
    walk.go(4.0)
    assert walk.place[-1, 2, 3] > 2.0
    soles = metrics.soles_over(walk.character.rig, walk.world, ground)
    assert soles.found[:, :, 1][walk.planted].all()


@pytest.mark.slow_uncompiled
def test_without_ground_feet_hang_and_nothing_breaks():
    nowhere = km.Ground.from_function(lambda x, z: np.full_like(x, np.nan))
    walk = Walk(exact("spider"), nowhere)
    walk.state.walk(AHEAD)
    walk.go(1.0)
    assert np.isfinite(walk.world).all()
    assert not walk.planted.any()


# --- guarantees ------------------------------------------------------------------------------------------------


@pytest.mark.slow_uncompiled
def test_a_crowd_is_many_singles():
    count, frames, ground = 500, 12, demo.rocks()
    draw = np.random.default_rng(5)
    at = np.column_stack((draw.uniform(-1.5, 1.5, count), np.zeros(count), draw.uniform(1.0, 8.0, count)))
    velocity = draw.uniform(-0.7, 0.7, (count, 3)) * (1, 0, 1)
    rotation = draw.uniform(-1, 1, count)
    crowd = km.Animator(demo.spider(), [km.Locomotion()], ground=ground, count=count)
    crowd.set_transform(at)
    crowd["locomotion"].walk(velocity, rotation)
    for _ in range(frames):
        frame = crowd.update(1 / 30)
    for i in (0, 7, 123, 499):
        one = km.Animator(demo.spider(), [km.Locomotion()], ground=ground)
        one.set_transform(at[i])
        one["locomotion"].walk(velocity[i], rotation[i])
        for _ in range(frames):
            alone = one.update(1 / 30)
        assert np.array_equal(alone.world, frame.world[i])
        assert np.array_equal(alone.pose.rotations, frame.pose.rotations[i])


@pytest.mark.parametrize(
    "dt", [0.0, 1e-6, *(pytest.param(dt, marks=pytest.mark.slow_uncompiled) for dt in (0.25, 2.0, 100.0))]
)
def test_any_step_of_time(dt):
    walk = Walk(exact("spider"), FLAT)
    walk.state.walk(AHEAD)
    for _ in range(20):
        frame = walk.animator.update(dt)
        assert np.isfinite(frame.world).all()
    reach = walk.animator.update(1 / 60).reports["locomotion"]
    assert reach.error[reach.planted].max() < 1e-9


@pytest.mark.slow_uncompiled
def test_weight_zero_changes_nothing_and_half_is_between():
    spider = demo.spider()
    still = km.Animator(spider, [km.Locomotion(weight=0.0)], ground=FLAT)
    still["locomotion"].walk(AHEAD)
    for _ in range(30):
        frame = still.update(1 / 60)
    assert np.array_equal(frame.pose.rotations, spider.skeleton.rest.rotations)
    assert np.array_equal(frame.transform, np.eye(4))
    half = Walk(exact("spider"), FLAT, km.Locomotion(weight=0.5))
    half.state.walk(AHEAD)
    half.go(2.0)
    assert 0.3 < half.place[-1, 2, 3] < 0.9
    assert np.isfinite(half.world).all()


def test_after_a_teleport_it_stands_at_once():
    walk = Walk(exact("spider"), demo.rocks())
    walk.go(0.5)
    walk.animator.set_transform((0.5, 0.0, 5.0))
    walk.go(0.1)
    assert walk.planted[-1].all()
    assert np.abs(walk.gaps()[-1]).max() < 1e-6


@pytest.mark.slow_uncompiled
def test_faster_than_feet_can_follow_is_slowed_down():
    walk = Walk(exact("spider"), FLAT)
    walk.state.walk((0.0, 0.0, 50.0))
    walk.go(3.0)
    assert walk.slide() < 1e-9
    assert walk.foot_speed() < 1.5 * km.Locomotion().foot_speed
    assert walk.place[-1, 2, 3] > 1.5


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda s: s.walk((0.0, 1.0)), "velocity"),
        (lambda s: s.walk((0.0, math.nan, 1.0)), "velocity"),
        (lambda s: s.walk(AHEAD, turn=math.inf), "turn"),
        (lambda s: s.walk(AHEAD, rows=[3]), "rows"),
        (lambda s: s.walk_to((0.0, 0.0)), "point"),
        (lambda s: s.walk_to((0.0, 0.0, 0.0), speed=-1.0), "speed"),
    ],
)
def test_wrong_orders_are_refused(call, says):
    state = km.Animator(exact("spider"), [km.Locomotion()], ground=FLAT)["locomotion"]
    with pytest.raises(km.InputError, match=says):
        call(state)


def test_wrong_settings_are_refused():
    with pytest.raises(km.InputError, match="stride"):
        km.Locomotion(stride=0.0)
    with pytest.raises(km.InputError, match="max_slope"):
        km.Locomotion(max_slope=2.0)
    assert km.Locomotion(stride=1000.0, lift=1000.0)
    with pytest.raises(km.InputError, match="lift"):
        km.Locomotion(lift=1001.0)
    with pytest.raises(km.InputError, match="ground"):
        km.Animator(exact("spider"), [km.Locomotion()]).update(0.1)
    bare = km.Character(exact("spider").skeleton, {}, km.Rig(skeleton=exact("spider").skeleton))
    with pytest.raises(km.InputError, match="legs"):
        km.Animator(bare, [km.Locomotion()], ground=FLAT)


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("file", ["m2m_spider.glb", "Fox.glb", "CesiumMan.glb"])
def test_characters_from_files_in_any_unit(file):
    """A spider, a fox of 42 units a leg, a person: rigs that were found, on rocks as large as their legs ask for."""
    character = km.load(asset(f"gltf/{file}"))
    size = float(character.skeleton.length(character.rig.legs[0].joints))
    vertices, triangles = demo.rocks().mesh()
    animator = km.Animator(character, [km.Locomotion()], ground=km.TriangleMesh(vertices * size, triangles))
    animator.set_transform((0.0, 0.0, size))
    animator["locomotion"].walk(np.array(character.rig.forward) * size)
    feet, planted = [], []
    for _ in range(4 * HZ):
        frame = animator.update(1 / HZ)
        feet.append(metrics.sole_points(character.rig, frame.world[np.newaxis])[0, :, 1])
        planted.append(frame.reports["locomotion"].planted)
    both = np.array(planted)[1:] & np.array(planted)[:-1]
    assert np.linalg.norm(np.diff(feet, axis=0), axis=-1)[both].max() < 1e-5 * size
    assert np.linalg.norm(frame.transform[:3, 3] - (0.0, 0.0, size)) > 3.0 * size


# --- how it looks -----------------------------------------------------------------------------------------------------


def largest_rotation(walk):
    """Degrees that any joint rotates within a frame, at most, once the walk is under way."""
    return np.degrees(metrics.rotation_steps(walk.character.skeleton, walk.world)[5:].max())


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize(
    ("name", "ground", "speed"),
    [
        ("humanoid", demo.stairs(), 0.8),
        ("humanoid", demo.slope(20.0, 40.0), 1.3),
        ("quadruped", demo.stairs(), 0.36),
        ("spider", demo.stairs(), 0.5),
    ],
    ids=["person on stairs", "person on a slope", "fox on stairs", "spider on stairs"],
)
def test_no_joint_snaps(name, ground, speed):
    walk = Walk(exact(name), ground, start=(0.0, 0.0, 0.5))
    walk.state.walk((0.0, 0.0, speed))
    assert largest_rotation(walk.go(5.0)) < 25.0


def feet_apart(walk):
    """How far the left foot is to the left of the right one, metres, in the character's own space."""
    rig, places = walk.character.rig, walk.place
    own = np.einsum("fji,flj->fli", places[:, :3, :3], walk.balls() - places[:, np.newaxis, :3, 3])
    names = [leg.name for leg in rig.legs]
    return (own[:, names.index("left")] - own[:, names.index("right")]) @ np.cross(rig.up, rig.forward)


@pytest.mark.slow_uncompiled
def test_feet_do_not_cross_when_a_person_changes_direction():
    walk = Walk(exact("humanoid"), km.Plane())
    for velocity in ((0.5, 0.0, 0.0), (-0.5, 0.0, 0.0), (0.0, 0.0, -0.6), (0.4, 0.0, 0.4), (-0.4, 0.0, 0.4)):
        walk.state.walk(velocity)
        walk.go(1.2)
    assert feet_apart(walk).min() > 0.0


@pytest.mark.slow_uncompiled
def test_arms_swing_against_the_legs():
    character = exact("humanoid")
    walk = Walk(character, km.Plane())
    walk.state.walk((0.0, 0.0, 1.0))
    walk.go(4.0)
    ends = [int(limb.joints[-1]) for limb in (*character.rig.arms, *character.rig.legs)]
    ahead = (walk.world[120:, ends, 2, 3] - walk.place[120:, np.newaxis, 2, 3]).T
    assert ahead[:2].std(axis=1).min() > 0.04
    for arm, leg in ((0, 2), (1, 3)):
        assert np.corrcoef(ahead[arm], ahead[leg])[0, 1] < -0.9


def test_arms_stay_as_posed_when_asked():
    character = exact("humanoid")
    walk = Walk(character, km.Plane(), km.Locomotion(arm_swing=0.0))
    walk.state.walk((0.0, 0.0, 1.0))
    walk.go(0.5)
    pose = walk.animator.update(1 / HZ).pose
    for arm in character.rig.arms:
        joints = [int(joint) for joint in arm.joints]
        np.testing.assert_array_equal(pose.rotations[joints], character.skeleton.rest.rotations[joints])


# --- events -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", ["humanoid", "quadruped", "spider"])
def test_a_body_below_the_ground_is_put_onto_it_with_one_notice(name, caplog):
    walk = Walk(exact(name), FLAT)
    walk.go(0.2)
    walk.animator.set_transform((0.0, -4.0 * walk.size, 1.0))
    walk.go(0.5)
    assert walk.place[-1, 1, 3] == pytest.approx(0.0, abs=1e-3)
    assert walk.planted[-1].all()
    assert sum("below the ground" in record.message for record in caplog.records) == 1


@pytest.mark.parametrize(("below", "found"), [(19.0, True), (21.0, False)])
def test_ground_is_looked_for_up_to_twenty_legs_above_a_character_without_any(below, found):
    size = exact("humanoid").rig.leg_length
    walk = Walk(exact("humanoid"), FLAT, start=(0.0, -below * size, 0.0)).go(1 / HZ)
    assert walk.place[-1, 1, 3] == pytest.approx(0.0 if found else -below * size, abs=1e-6)


@pytest.mark.parametrize(("higher", "steps"), [(0.017, False), (0.023, True)])
def test_a_foot_has_to_step_once_its_ground_is_replaced_by_one_two_hundredths_of_a_leg_higher(higher, steps):
    walk = Walk(exact("humanoid"), FLAT).go(2 / HZ)
    walk.animator.ground = km.Plane((0.0, higher * walk.size, 0.0))
    walk.go(1 / HZ)
    assert walk.planted[-1].all() != steps


@pytest.mark.slow_uncompiled
def test_over_a_pit_nothing_is_said_and_nothing_is_lifted(caplog):
    walk = Walk(exact("spider"), km.Ground.from_function(lambda x, z: np.where(z < 5.0, np.nan, 3.0)))
    walk.go(0.3)
    assert walk.place[-1, 1, 3] == 0.0
    assert not caplog.records


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", ["humanoid", "quadruped"])
def test_a_character_that_is_turned_round_stands_at_once_and_walks_on_smoothly(name):
    walk = Walk(exact(name), FLAT)
    walk.state.walk((0.0, 0.0, walk.size))
    walk.go(1.0)
    walk.animator.set_transform((0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 0.0))
    walk.go(1.5)
    assert walk.planted[60].all()
    assert np.degrees(metrics.rotation_steps(walk.character.skeleton, walk.world)[60:].max()) < 25.0


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", ["humanoid", "quadruped"])
@pytest.mark.parametrize("height", [-0.1, 0.1, 0.3])
def test_a_ground_that_is_replaced_is_stepped_onto(name, height):
    walk = Walk(exact(name), FLAT)
    walk.state.walk((0.0, 0.0, walk.size))
    walk.go(1.0)
    walk.animator.ground = walk.ground = km.Plane((0.0, height * walk.size, 0.0))
    walk.go(2.0)
    assert np.degrees(metrics.rotation_steps(walk.character.skeleton, walk.world)[10:].max()) < 25.0
    assert np.abs(walk.gaps()[-60:][walk.planted[-60:]]).max() < 1e-6


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("hitch", [0.1, 0.2, 0.5])
def test_a_long_frame_leaves_no_pop_behind(hitch):
    walk = Walk(exact("humanoid"), FLAT)
    walk.state.walk((0.0, 0.0, walk.size))
    walk.go(1.0)
    walk.animator.update(hitch)
    walk.go(1.0)
    steps = metrics.rotation_steps(walk.character.skeleton, walk.world)
    assert np.degrees(np.delete(steps, 59, axis=0)[5:].max()) < 25.0  # The long frame itself left out.


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", ["spider", "humanoid"])
def test_thirty_frames_a_second_walk_as_sixty_do(name):
    """A long frame is walked in steps, so the body is where it is at a higher rate."""
    places = []
    for hz in (30, 60):
        animator = km.Animator(exact(name), [km.Locomotion()], ground=demo.stairs())
        animator.set_transform((0.0, 0.0, 1.0))
        animator["locomotion"].walk((0.1, 0.0, 0.6), turn=0.1)
        frames = [animator.update(1 / hz).transform[:3, 3] for _ in range(3 * hz)]
        places.append(np.array(frames[hz // 30 - 1 :: hz // 30]))
    np.testing.assert_allclose(places[0], places[1], atol=1e-9)


@pytest.mark.slow_uncompiled
def test_feet_follow_a_body_that_the_caller_moves_in_long_frames():
    feet = []
    for hz in (30, 60):
        animator = km.Animator(exact("spider"), [km.Locomotion()], ground=FLAT)
        for number in range(2 * hz):
            animator.set_transform((0.0, 0.0, 0.5 * (number + 1) / hz))
            frame = animator.update(1 / hz)
        feet.append(frame.reports["locomotion"].footholds)
    assert np.abs(feet[0] - feet[1]).max() < 0.05


@pytest.mark.slow_uncompiled
def test_stairs_allow_less_than_a_fast_walk_and_the_report_says_so():
    walk = Walk(exact("humanoid"), demo.stairs(count=12), start=(0.0, 0.0, 1.0))
    walk.state.walk((0.0, 0.0, 0.5 * walk.size))
    walk.go(0.5)
    assert walk.report.allowed == 1.0
    walk.state.walk((0.0, 0.0, 2.0 * walk.size))
    walk.go(2.5)
    allowed = walk.report.allowed
    assert 0.4 < allowed < 0.8
    speed = np.linalg.norm(walk.report.velocity)
    assert speed <= 1.1 * allowed * 2.0 * walk.size


# --- quality ----------------------------------------------------------------------------------------------------------


def check_figures(figures):
    """What every walk of the four characters is held to."""
    assert figures.rotation.max() < 25.0
    assert figures.depth.max() < 2.0
    assert figures.apart.min() > 0.0
    assert figures.slide.max() < 0.01
    assert figures.flips.max() == 0


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("hz", RATES)
@pytest.mark.parametrize("name", ["spider", "fox", "person"])
@pytest.mark.parametrize("ground", ["flat", "rocks"])
def test_figures_at_three_speeds_and_through_turns_at_any_frame_rate(name, ground, hz):
    figures = measure(walked(name, ground, hz, 5.0))
    check_figures(figures)
    assert figures.speed[:4].min() > 85.0
    assert figures.kept.min() > 85.0
    if name == "person":
        assert figures.arms.min() > 10.0


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", CHARACTERS)
@pytest.mark.parametrize("ground", ["slope25", "stairs_up", "stairs_down"])
def test_slopes_and_stairs_at_three_speeds_and_through_turns(name, ground):
    if name == "horse":
        asset("gltf/m2m_horse.glb")
    figures = measure(walked(name, ground, seconds=8.0))
    check_figures(figures)
    assert figures.hips.max() < 45.0
    assert figures.kept.min() > (85.0 if ground == "slope25" else 75.0)
    if name == "person":
        assert figures.arms.min() > 20.0
    if name != "spider":  # Its hips are as high as one of these steps.
        assert figures.speed[:4].min() > 80.0


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", ["CesiumMan", "KayKit_Knight", "m2m_fox"])
def test_no_walker_comes_to_a_halt_on_stairs(name):
    asset(f"gltf/{name}.glb")
    assert measure(walked(name, "stairs_up", seconds=8.0)).speed.min() > 25.0


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", ["fox", "person"])
def test_feet_never_cross_in_changing_directions(name):
    figures = measure(walked(name, "directions"))
    assert figures.apart.min() > 20.0
    assert figures.rotation.max() < 25.0
    assert figures.depth.max() < 0.1


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("name", ["spider", "fox", "person"])
def test_strides_get_longer_and_more_frequent_with_speed(name):
    walk = walked(name, "flat")
    lifts = (walk.planted[60:-1] & ~walk.planted[61:]).sum(axis=(0, 2))[::2]
    assert lifts[0] < lifts[1] < lifts[2]
    assert lifts[2] / lifts[0] < 0.8 * SPEEDS[2] / SPEEDS[0]
