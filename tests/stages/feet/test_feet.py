"""Feet on real ground, judged from outside: figures of `kinema.metrics` on the world matrices of every frame."""

import math
from functools import cache

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.demo import course, humanoid, quadruped, rocks, spider, stairs
from kinema.errors import InputError
from kinema.math import arrays
from kinema.stages.feet.foot_lift import LARGEST_SINK
from kinema.stages.stage import Stage, StageState
from tests.assets import asset

FLAT = km.Plane()


class ForgetClips(Stage):
    """Drops what is known of the clip that plays, right before the feet are stepped."""

    order = 19

    def start(self, crowd):
        return ForgetClipsState()


class ForgetClipsState(StageState):
    def awake(self, dt):
        return np.ones(1, bool)

    def update(self, context):
        context._published.clear()


def walked(character, ground, hz, seconds, clip="walk", start=(0.0, 0.0, 0.0), feet=None, rotation=None):
    """Frames of a character that travels by its clip: world matrices, poses, what the feet report."""
    stages = [km.Play(clip, root_motion="extract")]
    if ground is not None:
        stages.append(feet or km.Feet())
    animator = km.Animator(character, stages, ground=ground)
    animator.set_transform(start, rotation)
    world, rotations, planted = [], [], []
    for frame in range(int(seconds * hz)):
        made = animator.update(1.0 / hz if frame else 0.0)
        world.append(made.world)
        rotations.append(made.pose.rotations)
        if ground is not None:
            planted.append(made.reports["feet"].planted)
    return np.array(world), np.array(rotations), np.array(planted)


@cache
def clip_alone(make, hz, seconds, clip="walk"):
    """The same travel without inverse kinematics, and when the clip plants which foot."""
    character = make()
    world, rotations, _ = walked(character, None, hz, seconds, clip)
    return rotations, metrics.planted_from(character.rig, world, 1.0 / hz, ground=FLAT)


def turned(rotations):
    """Degrees that every joint turns from frame to frame."""
    return np.degrees(arrays.angle_between(rotations[1:], rotations[:-1]))


# --- what must be shown ----------------------------------------------------------------------------------------


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("hz", [30, 60, 120, 240])
@pytest.mark.parametrize("start", [0.0, -0.15, -0.5])
def test_a_person_walks_over_slopes_stairs_and_rocks(hz, start):
    """19 m of the course: slopes to 25 degrees, stairs of 0.18 m up and down, rocks; stride and treads do not match."""
    seconds, ground, person = 14.2, course(), humanoid()
    world, rotations, planted = walked(person, ground, hz, seconds, start=(0.0, 0.0, start))
    clip_rotations, clip_planted = clip_alone(humanoid, hz, seconds)
    assert np.isfinite(world).all()
    assert world[-1, 0, 2, 3] - world[0, 0, 2, 3] > 18.0
    for standing in (planted, clip_planted):
        figures = metrics.measure(person.rig, world, ground, 1.0 / hz, planted=standing)
        assert len(figures.steps.slide) > 25
        assert figures.worst_hover < 0.02
        assert figures.worst_slide < 0.01
        assert figures.knee_flips == 0
        assert not figures.missed[standing].any()
    soles = metrics.soles_over(person.rig, world, ground)
    assert metrics.penetration(soles)[planted].max() < 0.01
    assert (turned(rotations) - turned(clip_rotations)).max() < 25.0 * 60 / hz


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize(("make", "reach"), [(quadruped, 6.5), (spider, 3.5)])
def test_any_number_of_legs_on_the_course(make, reach):
    character, hz, seconds = make(), 60, 10.0
    world, _, planted = walked(character, course(), hz, seconds)
    figures = metrics.measure(character.rig, world, course(), 1 / hz, planted=planted)
    assert world[-1, 0, 2, 3] > reach
    assert len(figures.steps.slide) >= 52
    assert figures.worst_hover < 0.01
    assert figures.worst_slide < 0.01
    assert figures.worst_penetration < 0.01


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("hz", [60, 30])
def test_a_captured_walk_on_another_ground(hz):
    """CMU's first walk, in metres once the unit is known, on a slope and on bumps it was not captured on."""
    character = captured("bvh/cmu_02_01.bvh")
    rig = character.rig
    clip = next(iter(character.clips.values()))
    tan = math.tan(math.radians(12))
    grounds = (
        km.Ground.from_function(lambda x, z: (rig.floor + tan * z, (0.0, 1.0, -tan))),
        km.Ground.from_function(lambda x, z: rig.floor + 0.05 * np.sin(2.5 * z) * np.cos(2 * x)),
    )
    for ground in grounds:
        animator = km.Animator(character, [km.Play(clip.name, loop=False, time=0.1), km.Feet()], ground=ground)
        frames = [animator.update(1 / hz if k else 0.0) for k in range(int(2.6 * hz))]
        world = np.array([frame.world for frame in frames])
        planted = np.array([frame.reports["feet"].planted for frame in frames])
        figures = metrics.measure(rig, world, ground, 1 / hz, planted=planted)
        assert len(figures.steps.slide) >= 5
        assert figures.worst_hover < 0.02
        assert figures.worst_slide < 0.02
        assert figures.worst_penetration < 0.02
        assert figures.knee_flips == 0


def captured(name, unit=0.056444):
    """A mocap take as a character in metres, with its legs known; its first frame is a T-pose."""
    loaded = km.load(asset(name), rig=False)
    skeleton, clip = loaded.skeleton, next(iter(loaded.clips.values()))
    rest = km.Pose(skeleton.rest.translations * unit, skeleton.rest.rotations)
    skeleton = km.Skeleton(skeleton.names, skeleton.parents, rest)
    scale = {"translation": unit, "rotation": 1.0, "scale": 1.0}
    tracks = [km.Track(t.joint, t.path, t.times, t.values * scale[t.path], t.interpolation) for t in clip.tracks]
    clip = km.Clip(clip.name, skeleton, tracks, duration=clip.duration)
    rest_world = skeleton.rest_world

    def leg(name, side):
        ankle, toe, end = (rest_world[skeleton.index(side + n), :3, 3] for n in ("Foot", "ToeBase", "ToeBase_end"))
        sole = min(toe[1], end[1]) - 0.02
        joints = [side + n for n in ("UpLeg", "Leg", "Foot")]
        return km.Leg(
            name=name,
            joints=joints,
            toe=side + "ToeBase",
            sole=ankle[1] - sole,
            toe_sole=toe[1] - sole,
            heel=0.05,
            tip=end[2] - ankle[2],
        )

    legs = [leg("left", "Left"), leg("right", "Right")]
    rig = km.Rig(skeleton=skeleton, hips="Hips", legs=legs)
    lowest = metrics.sole_points(rig, clip.sample(np.arange(0.1, clip.duration, 0.02)))[..., 1].min(axis=(-1, -2))
    rig = km.Rig(skeleton=skeleton, hips="Hips", legs=legs, floor=float(np.percentile(lowest, 10)))
    return km.Character(skeleton, {clip.name: clip}, rig)


# --- ground that is not there ----------------------------------------------------------------------------------


class Holes:
    """Flat ground with holes, and an end."""

    def __init__(self, hole, end):
        self.hole, self.end = hole, end

    def cast(self, origins, directions, max_distance):
        hits = FLAT.cast(origins, directions, max_distance)
        gone = ((origins[..., 2] % 1.1) < self.hole) | (origins[..., 2] > self.end)
        return hits._replace(hit=hits.hit & ~gone)


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize(("hole", "end"), [(0.3, 4.0), (0.9, 9.0), (2.0, 9.0)])
@pytest.mark.parametrize("hz", [60, 30])
def test_holes_and_the_end_of_the_ground(hole, end, hz):
    """Finite always; where there is no ground the foot keeps to the clip; nothing jumps at the edges."""
    person = humanoid()
    world, rotations, _ = walked(person, Holes(hole, end), hz, 5.0)
    clip_rotations, _ = clip_alone(humanoid, hz, 5.0)
    assert np.isfinite(world).all()
    assert (turned(rotations) - turned(clip_rotations)).max() < 25.0 * 60 / hz
    # A foot whose toes hang over a hole rolls over its edge, no deeper than it may sink.
    points = metrics.sole_points(person.rig, world)
    assert points[..., 1].min() > -LARGEST_SINK * person.skeleton.length(person.rig.legs[0].joints) - 0.005


def test_no_ground_at_all_is_the_clip():
    class Nothing:
        def cast(self, origins, directions, max_distance):
            hits = FLAT.cast(origins, directions, max_distance)
            return hits._replace(hit=np.zeros_like(hits.hit))

    person = humanoid()
    world, _, _ = walked(person, Nothing(), 30, 0.4)
    alone, _, _ = walked(person, None, 30, 0.4)
    np.testing.assert_allclose(world[..., :3, 3], alone[..., :3, 3], atol=0.03)


@pytest.mark.parametrize(("make", "near"), [(humanoid, 0.025), (quadruped, 0.015), (spider, 0.015)])
def test_flat_ground_is_the_clip(make, near):
    """Where the floor is as it was, nothing is to be done: all joints stay within millimetres of the clip's, knees and
    hocks bend the way they did.
    """
    character = make()
    world, _, _ = walked(character, FLAT, 60, 0.4)
    alone, _, _ = walked(character, None, 60, 0.4)
    assert np.linalg.norm(world[..., :3, 3] - alone[..., :3, 3], axis=-1).max() < near


# --- the character's own down ----------------------------------------------------------------------------------


@pytest.mark.slow_uncompiled
def test_a_small_planet():
    """On a sphere of 12 m the feet stand on it wherever the character is, whichever way is down there."""
    person, planet = humanoid(), km.Sphere((0.0, 0.0, 0.0), 12.0)
    for angle in (0.0, 2.0, 4.0):
        axis = np.array((0.6, 0.0, 0.8))
        rotation = arrays.from_axis_angle(axis, angle)
        place = arrays.rotate(rotation, np.array((0.0, 12.0, 0.0)))
        animator = km.Animator(person, [km.Play("idle", root="root"), km.Feet()], ground=planet)
        animator.set_transform(place, rotation)
        for _ in range(30):
            frame = animator.update(1 / 30)
        points = metrics.sole_points(person.rig, frame.world[np.newaxis])
        away = np.linalg.norm(points, axis=-1) - 12.0
        assert np.abs(away.min(axis=-1)).max() < 0.01
        assert away.min() > -0.01


# --- holding on and letting go ---------------------------------------------------------------------------------


@pytest.mark.slow_uncompiled
def test_a_walk_on_the_spot_is_let_go_before_it_overstretches():
    """A treadmill: the clip's feet slide back under a body that stands still."""
    person = humanoid()
    still = km.Character(person.skeleton, {"walk": person.clips["walk"].in_place(joint=0)}, person.rig)
    animator = km.Animator(still, [km.Play("walk"), km.Feet(plant_speed=3.0)], ground=FLAT)
    lengths = [person.skeleton.length(leg.joints) for leg in person.rig.legs]
    hips = [leg.joints[0] for leg in person.rig.legs]
    ankles = [leg.joints[-1] for leg in person.rig.legs]
    held = 0
    for _ in range(180):
        frame = animator.update(1 / 60)
        held += frame.reports["feet"].planted.sum()
        stretch = np.linalg.norm(frame.world[ankles, :3, 3] - frame.world[hips, :3, 3], axis=-1)
        assert np.all(stretch <= np.array(lengths) * 1.0001)
        assert np.linalg.norm(animator["feet"].feet.offset.value, axis=-1).max() < 0.5 * max(lengths)
    assert held > 20


def test_a_contact_override_plants_feet():
    """Whoever knows the contacts says so: a treadmill's feet are held until they are told to go."""
    person = humanoid()
    still = km.Character(person.skeleton, {"walk": person.clips["walk"].in_place(joint=0)}, person.rig)
    animator = km.Animator(still, [km.Play("walk"), km.Feet()], ground=FLAT)
    animator["feet"].set_contacts(np.array((True, False)))
    contacts = []
    for _ in range(8):
        frame = animator.update(1 / 60)
        assert frame.reports["feet"].planted.tolist() == [True, False]
        contacts.append(metrics.sole_points(person.rig, frame.world[np.newaxis])[0, 0])
    slid = np.linalg.norm(np.diff(contacts, axis=0), axis=-1).min(axis=-1)
    assert slid.max() < 0.002
    animator["feet"].set_contacts(None)
    for _ in range(4):  # By itself a foot that slides this fast is not planted.
        frame = animator.update(1 / 60)
    assert not frame.reports["feet"].planted.any()


def test_a_planted_foot_that_is_out_of_reach_is_warned_of_once(caplog):
    """Feet that are told to stand, of a character that runs away from them at three times its speed."""
    run = km.Play("run", root_motion="extract", root="root", speed=3.0)
    for _ in range(2):
        animator = km.Animator(humanoid(), [run, km.Feet()], ground=FLAT)
        animator["feet"].set_contacts(np.array((True, True)))
        for _ in range(40):
            animator.update(1 / 60)
    assert caplog.text.count("a planted foot cannot reach its ground") == 2


def stand(person, pose_at, frames=60):
    """Soles of a person whose feet are held on flat ground while its pose changes, (F, L, 3, 3)."""
    animator = km.Animator(person, [km.Feet()], ground=FLAT)
    animator["feet"].set_contacts(np.array((True, True)))
    world = [animator.update(1 / 60, pose_at(k / frames)).world for k in range(frames)]
    return metrics.sole_points(person.rig, np.array(world))


@pytest.mark.parametrize("share", [0.01, 0.03])
def test_feet_that_are_told_to_stand_come_down_to_the_ground(share):
    """Captured feet stand a little above their floor."""
    person = humanoid()
    pose, height = person.rig.skeleton.rest, share * person.rig.leg_length
    t, r, s = (part.copy() for part in pose.arrays())
    t[person.rig.hips, 1] += height
    lowest = stand(person, lambda _: km.Pose.of(t, r, s))[..., 1].min(axis=-1)
    assert lowest[-1].max() < 0.25 * height
    assert lowest.min() > -1e-4


def rotated(pose, joint, angle, axis):
    """A pose with one joint rotated about an axis of its own."""
    t, r, s = (part.copy() for part in pose.arrays())
    r[joint] = arrays.mul(r[joint], arrays.from_axis_angle(np.array(axis), angle).astype(r.dtype))
    return km.Pose.of(t, r, s)


def test_bending_toes_move_neither_heel_nor_ball_far():
    """Captured toes bend into the floor while the foot is flat. Holding the tip would push the whole foot back."""
    person = humanoid()
    rest = person.clips["idle"].sample(0.0)
    toe = person.rig.legs[0].toe
    soles = stand(person, lambda share: rotated(rest, toe, 0.3 * math.sin(9 * share), (1.0, 0.0, 0.0)))
    drift = np.linalg.norm((soles - soles[0])[:, 0, :2][..., (0, 2)], axis=-1)
    assert drift.max() < 0.01


def test_a_flat_foot_does_not_swivel_where_its_ankle_rolls():
    """An ankle that rolls and pitches rotates the line from heel to ball about up: both points are held."""
    person = humanoid()
    rest = person.clips["idle"].sample(0.0)
    foot = person.rig.legs[0].joints[-1]

    def pose_at(share):
        rolled = rotated(rest, foot, 0.1 * math.sin(7 * share), (0.0, 0.0, 1.0))
        return rotated(rolled, foot, 0.1 * math.sin(9 * share), (0.0, 1.0, 0.0))

    soles = stand(person, pose_at)
    drift = np.linalg.norm((soles - soles[0])[:, 0, :2][..., (0, 2)], axis=-1)
    assert drift.max() < 0.01


def test_swinging_feet_are_raised_by_what_is_set_and_planted_ones_are_not():
    person = humanoid()
    plain, raised = (km.Animator(person, [km.Play("walk"), km.Feet()], ground=FLAT) for _ in range(2))
    ankles, most = [int(leg.joints[-1]) for leg in person.rig.legs], 0.0
    for _ in range(60):
        raised["feet"].set_clearances([0.05, 0.05])
        one, other = (animator.update(1 / 60) for animator in (plain, raised))
        up = other.world[ankles, 1, 3] - one.world[ankles, 1, 3]
        planted = other.reports["feet"].planted
        assert np.abs(up[planted]).max(initial=0.0) < 0.02
        most = max(most, float(up[~planted].max(initial=0.0)))
    assert most == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize("heights", [0.1, [0.1], [0.1, np.nan], [[0.1, 0.1]] * 2])
def test_clearances_are_checked(heights):
    animator = km.Animator(humanoid(), [km.Feet()], ground=FLAT)
    with pytest.raises(InputError, match="heights"):
        animator["feet"].set_clearances(heights)


@pytest.mark.parametrize("standing", [1, [1, 0], [True], [[True, False]] * 2, "left"])
def test_contact_overrides_are_checked(standing):
    animator = km.Animator(humanoid(), [km.Play("walk"), km.Feet()], ground=FLAT)
    with pytest.raises(InputError, match="standing must be true or false"):
        animator["feet"].set_contacts(standing)


def test_a_leg_of_many_bones_reaches_as_far_as_it_bends():
    """A quadruped with one side on a step: its hocks stay bent, so the pelvis comes down until all feet stand."""
    animal = quadruped()
    ground = km.Ground.from_function(lambda x, z: np.where(np.asarray(x) > 0, 0.12, 0.0))
    animator = km.Animator(animal, [km.Play("idle", root="root"), km.Feet()], ground=ground)
    for _ in range(40):
        frame = animator.update(1 / 60)
    assert frame.reports["feet"].error.max() < 0.002


def test_without_lock_feet_follow_the_clip():
    person = humanoid()
    world, _, planted = walked(person, FLAT, 60, 0.5, feet=km.Feet(lock=False))
    alone, _, _ = walked(person, None, 60, 0.5)
    assert np.isfinite(world).all()
    assert planted.any()
    ankles = [leg.joints[-1] for leg in person.rig.legs]
    assert np.abs(world[:, ankles, :3, 3] - alone[:, ankles, :3, 3]).max() < 0.003


# --- one and many ----------------------------------------------------------------------------------------------


def test_a_crowd_is_many_singles_bit_for_bit():
    person, ground = humanoid(), rocks(seed=3)
    starts = np.array([(0.3, 0.0, 1.0), (-0.6, 0.1, 2.2), (0.0, 0.0, 0.4)], np.float32)
    crowd = km.Animator(person, [km.Play("walk", root_motion="extract"), km.Feet()], ground=ground, count=3)
    crowd.set_transform(starts)
    single = km.Animator(person, [km.Play("walk", root_motion="extract"), km.Feet()], ground=ground)
    single.set_transform(starts[1])
    for _ in range(12):
        many, one = crowd.update(1 / 30), single.update(1 / 30)
        assert np.array_equal(many.world[1], one.world)
        assert np.array_equal(many.pose.rotations[1], one.pose.rotations)


def test_weight_zero_changes_nothing_and_half_is_between():
    person, ground = humanoid(), stairs()
    alone = km.Animator(person, [km.Play("walk", time=0.3)]).update(0.0).pose
    for weight, same in ((0.0, True), (1.0, False)):
        made = km.Animator(person, [km.Play("walk", time=0.3), km.Feet(weight=weight)], ground=ground)
        made.set_transform((0.0, 0.0, 0.9))
        assert np.array_equal(made.update(0.0).pose.rotations, alone.rotations) == same


def test_standing_characters_come_to_rest():
    """Once everything has eased, frames are skipped, with the same bits."""
    person = humanoid()
    pose = km.Character(person.skeleton, {"stand": km.Clip("stand", person.skeleton, [])}, person.rig)
    animator = km.Animator(pose, [km.Play("stand", loop=False), km.Feet()], ground=stairs())
    animator.set_transform((0.0, 0.0, 1.1))
    frames = [animator.update(1 / 30) for _ in range(60)]
    assert frames[-1].trace[-1].skipped == "nothing moved"
    assert frames[1].trace[-1].skipped == ""
    assert np.array_equal(frames[-1].world, frames[-2].world)


# --- what is refused -------------------------------------------------------------------------------------------


def test_feet_need_ground_and_legs():
    person = humanoid()
    with pytest.raises(km.InputError, match="Feet needs a ground"):
        km.Animator(person, [km.Feet()]).update(0.0)
    bare = km.Character(person.skeleton, rig=km.Rig(skeleton=person.skeleton))
    with pytest.raises(km.InputError, match="Feet needs legs"):
        km.Animator(bare, [km.Feet()], ground=FLAT)
    with pytest.raises(km.InputError, match="has no rig"):
        km.Animator(km.Character(person.skeleton), [km.Feet()], ground=FLAT)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("max_slope", -0.1), ("stretch", 1.5), ("plant_height", math.nan), ("pelvis_half_life", -1.0), ("lean", 2.0)],
)
def test_settings_out_of_range_are_refused(setting, value):
    with pytest.raises(km.InputError, match=setting):
        km.Feet(**{setting: value})


@pytest.mark.slow_uncompiled
def test_a_contact_that_is_lost_for_a_frame_is_no_step():
    """At 120 frames a second a foot that lifts off may stand for one more frame. It still knows when it will land, also
    where nothing is known of the clip.
    """
    person, ground = humanoid(), course()
    stages = [km.Play("walk", root_motion="extract", root="root"), ForgetClips(), km.Feet()]
    animator = km.Animator(person, stages, ground=ground)
    animator.set_transform((0.0, 0.0, 0.5), (0.0, 0.0, 0.0, 1.0))
    world, planted = [], []
    for _ in range(8 * 120):
        frame = animator.update(1 / 120)
        world.append(np.array(frame.world, np.float64))
        planted.append(np.reshape(frame.reports["feet"].planted, -1))
    figures = metrics.measure(person.rig, np.array(world), ground, 1 / 120, planted=np.array(planted))
    assert figures.worst_slide < 0.01
    assert figures.hover[np.array(planted)].max() < 0.1


def test_a_foot_that_is_a_point_looks_for_its_foothold_as_one_of_fifteen_percent_of_its_leg():
    state = km.Animator(spider(), [km.Feet()], ground=0.0)["feet"]
    soles = state._records.soles
    assert np.allclose(6 * soles["spacing"] / soles["length"], 0.15, rtol=0.3)


def test_a_long_body_finds_the_ground_under_all_its_feet_on_a_steep_slope():
    """On a slope of 30 degrees through the middle of its feet, and not much farther than that."""
    character = quadruped()
    usual = km.Animator(humanoid(), [km.Feet(max_rise=0.0)], ground=0.0)["feet"]._records.settings["contact"]["rise"][0]
    rise = km.Animator(character, [km.Feet(max_rise=0.0)], ground=0.0)["feet"]._records.settings["contact"]["rise"][0]
    at = character.rig.standing_world[:, :3, 3]
    ankles = at[[leg.joints[-1] for leg in character.rig.legs]] - at[character.rig.hips]
    farthest = np.linalg.norm(ankles[:, ::2], axis=-1).max()
    assert math.tan(math.radians(25.0)) * farthest < rise < math.tan(math.radians(45.0)) * farthest
    assert usual < rise
