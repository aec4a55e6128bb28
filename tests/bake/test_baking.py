"""`bake` on our own characters: what the new clip does when it is played back, judged by `kinema.metrics`."""

from types import SimpleNamespace

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings, MovingPoint, bake
from kinema.bake.baking import _climbed
from kinema.bake.site import Site
from kinema.demo import humanoid, quadruped, rocks, slope, spider, stairs
from kinema.errors import InputError
from tests.motion.cases import GroundAhead

BODIES = {"humanoid": (humanoid, 4), "quadruped": (quadruped, 6), "spider": (spider, 10)}


def played(character, baked):
    """World matrices of the new clip alone, frame by frame, as any player would show it."""
    return character.skeleton.world(baked.clip.sample(np.arange(len(baked.after.planted)) * baked.dt))


def in_place(make):
    character = make()
    return character, character.clips["walk"].in_place(joint="root")


# --- on the ground ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ground", ["slope", "stairs"])
@pytest.mark.parametrize("body", BODIES)
def test_a_walk_in_place_goes_over_the_ground(body, ground):
    make, loops = BODIES[body]
    character, clip = in_place(make)
    leg = character.skeleton.length(character.rig.legs[0].joints)
    under = slope(12) if ground == "slope" else stairs(0.12 * leg, 0.5 * leg, 40)
    baked = bake(character, clip, BakeSettings(ground=under, loops=loops, keep_strides=True))
    world = played(character, baked)
    figures = metrics.measure(character.rig, world, under, baked.dt, planted=baked.after.planted)
    real = character.clips["walk"].root_motion(0.0, clip.duration, joint="root").offset[2] * loops
    went = world[-1, 0, :3, 3] - world[0, 0, :3, 3]
    assert baked.in_place
    assert went[2] == pytest.approx(real, rel=0.02)
    assert abs(went[0]) < 0.02 * real
    assert figures.worst_hover < 0.02 * leg
    assert (figures.penetration * figures.planted).max() < 0.02 * leg
    assert figures.worst_slide < 0.01 * leg
    assert figures.knee_flips == 0
    assert baked.before.worst_slide > baked.after.worst_slide
    assert baked.before.worst_penetration > 0.05 * leg


@pytest.mark.parametrize(("share", "climbed"), [(0.04, 0.0), (0.07, 0.3), (0.5, 0.3)])
def test_a_character_has_met_other_ground_where_it_is_for_a_twentieth_of_its_frames(share, climbed):
    """A step of 0.3 m, on which its hips are for a share of a hundred frames."""
    world = np.tile(np.eye(4), (100, 1, 1, 1))
    world[:, 0, 1, 3] = 1.0
    world[:, 0, 2, 3] = np.where(np.arange(100) < round(100 * share), 1.0, -1.0)
    step = km.Ground.from_function(lambda x, z: np.where(z > 0.0, 0.3, 0.0))
    frames = SimpleNamespace(world=world, rig=SimpleNamespace(hips=0))
    assert _climbed(frames, Site(step, np.array((0.0, 1.0, 0.0)), 0.9, None)) == pytest.approx(climbed)


def test_a_clip_that_travels_needs_no_travel_made():
    person = humanoid()
    one = bake(person, "walk", BakeSettings(ground=slope(12), loops=3))
    other = bake(*in_place(humanoid), BakeSettings(ground=slope(12), loops=3))
    assert not one.in_place
    assert other.in_place
    assert np.abs(played(person, one) - played(person, other))[..., :3, 3].max() < 0.02


def test_the_ground_can_be_a_mesh_or_a_map_of_heights():
    """The same ground in two forms makes the same clip."""
    person, terrain = humanoid(), slope(10, 3.0)
    z = np.linspace(-4.0, 8.0, 241)
    heights = np.repeat(terrain.height_and_normal(0.0, z)[0][np.newaxis], 3, axis=0)
    grid = km.HeightField(heights, (-4.0, -4.0), (4.0, 0.05))
    start = {"at": (0.0, 1.7), "loops": 2}
    made = [bake(person, "walk", BakeSettings(ground=g, **start)) for g in (terrain, grid, terrain.triangles())]
    first = played(person, made[0])
    assert first[0, 0, 2, 3] == pytest.approx(1.7, abs=1e-6)
    for other in made[1:]:
        assert np.abs(played(person, other) - first)[..., :3, 3].max() < 0.015


def test_it_starts_at_the_given_transform():
    person = humanoid()
    baked = bake(*in_place(humanoid), BakeSettings(ground=km.Plane((0, 0.25, 0)), at=(3.0, -2.0), heading=np.pi / 2))
    world = played(person, baked)
    assert np.allclose(world[0, 0, :3, 3], (3.0, 0.25, -2.0), atol=1e-3)
    went = world[-1, 0, :3, 3] - world[0, 0, :3, 3]
    assert went[0] > 1.0
    assert abs(went[1]) < 1e-3
    assert abs(went[2]) < 0.02
    ahead = world[0, person.rig.hips, :3, :3] @ np.linalg.inv(person.skeleton.rest_world[person.rig.hips, :3, :3])
    assert np.degrees(np.arccos(ahead[:, 2] @ (1.0, 0.0, 0.0))) < 15


def test_the_first_frame_is_as_steady_as_any_other():
    """A loop that has walked before: no foot is caught up with in the first frames."""
    person = humanoid()
    baked = bake(*in_place(humanoid), BakeSettings(ground=slope(0.0), loops=2))
    rotations = metrics.rotation_steps(
        person.skeleton, baked.clip.sample(np.arange(len(baked.after.planted)) * baked.dt)
    ).max(axis=1)
    per = len(rotations) // 2
    assert np.abs(rotations[:5] - rotations[per : per + 5]).max() < 0.02


def test_ground_that_ends_and_ground_that_is_not_there():
    person, rows = humanoid(), np.zeros((2, 2))
    small = km.HeightField(rows, (-0.5, -0.5), 1.0)
    baked = bake(*in_place(humanoid), BakeSettings(ground=small, loops=3))
    assert baked.after.no_ground > 0
    assert np.isfinite(played(person, baked)).all()
    with pytest.raises(InputError, match="no ground where"):
        bake(person, "walk", BakeSettings(ground=small, at=(10.0, 0.0)))


def test_a_floor_below_a_roof():
    """Indoors: below the height that is said, and it stays there though the stairs lead up under the same roof."""
    person, steps = humanoid(), slope(10)
    house = km.Ground.union(steps, km.Plane((0.0, 4.0, 0.0)))
    baked = bake(person, "walk", BakeSettings(ground=house, at=(0.0, 2.0, 1.0), loops=2))
    outside = bake(person, "walk", BakeSettings(ground=steps, at=(0.0, 1.0), loops=2))
    assert np.abs(played(person, baked) - played(person, outside)).max() < 1e-3
    above = bake(person, "walk", BakeSettings(ground=house, at=(0.0, 1.0), loops=2))
    assert played(person, above)[0, 0, 1, 3] == pytest.approx(4.0, abs=1e-3)


# --- the other stages ------------------------------------------------------------------------------------------


def test_feet_that_slide_are_locked():
    """A walk that slides: its travel is a tenth too long."""
    person, clip = in_place(humanoid)
    times = np.linspace(0.0, clip.duration, 31)
    poses = clip.sample(times)
    poses.translations[:, 0, 2] += 1.1 * 1.35 * times / clip.duration
    skating = km.Clip.from_poses("skates", person.skeleton, poses, times=times)
    baked = bake(person, skating, BakeSettings(lock_feet=True))
    assert not baked.in_place
    assert baked.before.worst_slide > 0.04 > 5 * baked.after.worst_slide


@pytest.mark.slow_uncompiled
def test_a_pulled_hand_takes_the_body_along_and_pinned_feet_stay():
    person = humanoid()
    hand = person.clips["idle"].sample(0.0)
    start = person.skeleton.world(hand)[person.rig.arm("left").joints[-1], :3, 3]
    point = start + (0.35, -0.3, 0.5)
    settings = BakeSettings(pull={"left_hand": MovingPoint.fixed(point)}, pin=("left_foot", "right_foot"), fps=30)
    baked = bake(person, "idle", settings)
    assert baked.before.worst_reach > 0.3
    assert baked.after.worst_reach < 5e-3
    feet = [leg.joints[-1] for leg in person.rig.legs]
    times = np.linspace(0, person.clips["idle"].duration, 5)
    before, after = (person.skeleton.world(clip.sample(times)) for clip in (person.clips["idle"], baked.clip))
    np.testing.assert_allclose(after[:, feet, :3, 3], before[:, feet, :3, 3], atol=3e-3)
    hips = person.rig.hips
    assert np.linalg.norm(after[:, hips, :3, 3] - before[:, hips, :3, 3], axis=-1).max() > 0.02


@pytest.mark.slow_uncompiled
def test_a_foot_reaches_by_its_leg_alone():
    person = humanoid()
    world = person.skeleton.world(person.clips["idle"].sample(0.0))
    ankle = person.rig.leg("left").joints[-1]
    point = world[ankle, :3, 3] + (0.0, 0.2, 0.25)
    baked = bake(person, "idle", BakeSettings(reach={"left_foot": MovingPoint.fixed(point)}, fps=30))
    assert baked.after.worst_reach < 5e-3
    after = person.skeleton.world(baked.clip.sample(0.0))
    np.testing.assert_allclose(after[person.rig.hips], world[person.rig.hips], atol=1e-5)


def test_parts_that_are_not_there_are_named():
    person = humanoid()
    with pytest.raises(InputError, match="there is no joint or role 'tail'"):
        bake(person, "idle", BakeSettings(pull={"tail": MovingPoint.fixed((0, 1, 1))}))
    with pytest.raises(InputError, match="pin holds parts of a body that is pulled"):
        BakeSettings(pin=("left_foot",))


def test_hands_reach_and_heads_rotate_from_the_first_frame_on():
    person = humanoid()
    point = np.array((0.25, 1.2, 0.45))
    settings = BakeSettings(reach={"left": MovingPoint.fixed(point)}, look_at=MovingPoint.fixed((2.0, 1.6, 2.0)))
    baked = bake(person, "idle", settings)
    world = played(person, baked)
    hand = world[:, person.rig.arm("left").joints[-1], :3, 3]
    assert np.linalg.norm(hand - point, axis=-1).max() < 0.002
    assert baked.before.worst_reach > 0.1 > 50 * baked.after.worst_reach
    gaze = world[:, person.rig.head, :3, :3] @ person.skeleton.rest_world[person.rig.head, :3, :3].T @ (0, 0, 1)
    assert np.degrees(np.arctan2(gaze[:, 0], gaze[:, 2])).min() > 30
    feet = [leg.joints[-1] for leg in person.rig.legs]
    alone = person.skeleton.world(person.clips["idle"].sample(np.arange(len(world)) * baked.dt))
    assert np.abs(world[:, feet] - alone[:, feet]).max() < 1e-6


def test_a_hand_follows_a_moving_point_and_lets_go():
    person = humanoid()
    way = MovingPoint((0.5, 1.5), ((0.2, 1.1, 0.4), (0.35, 1.3, 0.4)))
    baked = bake(person, "idle", BakeSettings(reach={"left": way}, fps=60))
    hand = played(person, baked)[:, person.rig.arm("left").joints[-1], :3, 3]
    assert np.linalg.norm(hand[round(1.4 * 60)] - way.at(1.4)) < 0.01
    alone = person.skeleton.world(person.clips["idle"].sample(np.arange(len(hand)) / 60))
    alone = alone[:, person.rig.arm("left").joints[-1], :3, 3]
    assert np.linalg.norm(hand[0] - alone[0]) < 1e-6
    assert np.linalg.norm(hand[-1] - alone[-1]) < 0.02


def test_in_place_takes_the_travel_out():
    person = humanoid()
    hips = played(person, bake(person, "walk", BakeSettings(in_place=True)))[:, person.rig.hips, :3, 3]
    assert np.ptp(hips[:, 2]) < 0.1
    assert np.ptp(hips[:, 0]) < 0.1


def test_locked_feet_in_place_are_those_of_the_travelling_clip():
    """As on a treadmill: the motion is that of a clip that travels with locked feet, and the body stays."""
    person, clip = in_place(humanoid)
    times = np.arange(121) / 60
    poses = clip.sample(times + 0.01 * (1.0 + np.sin(6 * np.pi * times)), loop=True)  # Feet that slide unevenly.
    uneven = km.Clip.from_poses("uneven", person.skeleton, poses, fps=60).in_place(up=person.rig.up)
    staying = bake(person, uneven, BakeSettings(lock_feet=True, in_place=True))
    going = bake(person, uneven, BakeSettings(lock_feet=True, travel=True))
    leg = person.skeleton.length(person.rig.legs[0].joints)
    assert staying.in_place
    assert not staying.travels
    assert going.travels
    assert going.before.worst_slide > 0.01 * leg
    assert going.after.worst_slide < 0.2 * going.before.worst_slide
    assert np.ptp(played(person, staying)[:, person.rig.hips, 2, 3]) < 0.01 * leg
    apart = (played(person, going) - played(person, staying))[:, 1:, :3, 3]
    np.testing.assert_allclose(apart, apart[:, :1] + np.zeros_like(apart), atol=1e-5)


def test_travel_can_be_asked_for_and_refused():
    person, clip = in_place(humanoid)
    assert played(person, bake(person, clip, BakeSettings(travel=True)))[-1, 0, 2, 3] == pytest.approx(1.35, abs=0.03)
    stays = bake(person, clip, BakeSettings(travel=False, ground=km.Plane()))
    assert abs(played(person, stays)[-1, 0, 2, 3]) < 0.02


# --- the new clip ----------------------------------------------------------------------------------------------


def test_nothing_asked_for_changes_nothing():
    person = humanoid()
    baked = bake(person, "walk", BakeSettings())
    times = np.arange(len(baked.after.planted)) * baked.dt
    assert np.abs(played(person, baked) - person.skeleton.world(person.clips["walk"].sample(times))).max() < 1e-5
    assert baked.clip.name == "walk baked"
    assert baked.clip.duration == pytest.approx(person.clips["walk"].duration)


def test_frames_a_second_are_the_clips_own_or_those_asked_for():
    person = humanoid()
    assert bake(person, "walk", BakeSettings()).fps == pytest.approx(60, rel=0.02)
    assert bake(person, "walk", BakeSettings(fps=12)).fps == 12
    sparse = km.Clip("two keys", person.skeleton, [km.Track("root", "translation", (0.0, 1.0), ((0, 0, 0), (0, 0, 1)))])
    assert bake(person, sparse, BakeSettings()).fps == pytest.approx(30)


def test_a_clip_of_one_moment_can_be_baked():
    person = humanoid()
    pose = km.Clip("pose", person.skeleton, person.clips["walk"].tracks[:0])
    assert bake(person, pose, BakeSettings(ground=slope(10))).clip.duration > 0


def test_the_same_again_gives_the_same_bits_and_changes_nothing():
    person, clip = in_place(humanoid)
    before = [track.values.copy() for track in clip.tracks]
    one, two = (bake(person, clip, BakeSettings(ground=rocks())) for _ in range(2))
    assert all(np.array_equal(a.values, b.values) for a, b in zip(one.clip.tracks, two.clip.tracks, strict=True))
    assert all(np.array_equal(a, b.values) for a, b in zip(before, clip.tracks, strict=True))


def test_progress_ends_at_one():
    reported = []
    bake(humanoid(), "idle", BakeSettings(fps=10), progress=reported.append)
    assert reported == sorted(reported)
    assert reported[-1] == 1.0


# --- what cannot be done ---------------------------------------------------------------------------------------


def test_what_is_missing_is_named():
    person = humanoid()
    legless = km.Character(person.skeleton, person.clips, km.Rig(skeleton=person.skeleton), name="ghost")
    for settings, reported in (
        (BakeSettings(ground=km.Plane()), "no legs were found in ghost"),
        (BakeSettings(look_at=MovingPoint.fixed((0, 1, 1))), "no head was found"),
        (BakeSettings(reach={"third": MovingPoint.fixed((0, 1, 1))}), "no third_hand in ghost; there are none"),
    ):
        with pytest.raises(InputError, match=reported):
            bake(legless, "walk", settings)
    with pytest.raises(InputError, match="has no rig"):
        bake(km.Character(person.skeleton, person.clips), "walk", BakeSettings())
    with pytest.raises(InputError, match="no clip 'fly'"):
        bake(person, "fly", BakeSettings())
    with pytest.raises(InputError, match="third_hand in humanoid; there are left_hand, right_hand"):
        bake(person, "walk", BakeSettings(reach={"third_hand": MovingPoint.fixed((0, 1, 1))}))


@pytest.mark.parametrize(
    "wrong",
    [
        {"ground": "3"},
        {"fps": 0.0},
        {"fps": 1e9},
        {"loops": 0},
        {"loops": 10**9},
        {"at": (np.nan, 0)},
        {"at": (1.0,)},
        {"heading": np.inf},
        {"look_at": (1, 2, 3)},
        {"reach": {"left": MovingPoint.fixed((0, 1, 1)), "left_hand": MovingPoint.fixed((0, 1, 1))}},
        {"travel": True, "in_place": True},
    ],
)
def test_settings_are_checked(wrong):
    with pytest.raises(InputError):
        BakeSettings(**wrong)


@pytest.mark.parametrize("ground", [0.25, lambda x, z: (0.25 + 0.0 * x, (0.0, 1.0, 0.0)), km.Plane((0, 0.25, 0))])
def test_a_ground_is_anything_with_heights(ground):
    hits = BakeSettings(ground=ground).ground.cast(np.array(((0.0, 2.0, 0.0),)), np.array(((0.0, -1.0, 0.0),)), 5.0)
    np.testing.assert_allclose(hits.point[..., 1], 0.25, atol=1e-6)


def test_more_frames_than_fit_are_refused():
    with pytest.raises(InputError, match="frames"):
        bake(humanoid(), "idle", BakeSettings(loops=1000, fps=240))


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize(("rise", "start"), [(-0.17, 0.0), (-0.17, 0.5), (-0.17, 1.0), (0.17, -1.0)])
def test_a_walk_backwards_on_stairs_keeps_out_of_the_steps(rise, start):
    person = humanoid()
    walk = person.clips["walk"]
    times = np.arange(0.0, walk.duration + 1e-9, 1 / 60)
    backwards = km.Clip.from_poses("backwards", walk.skeleton, walk.sample(times[::-1]), times=times)
    ground = GroundAhead(stairs(rise), (0.0, 0.0, start), (0.0, 0.0, -1.0))
    after = bake(person, backwards, BakeSettings(ground=ground, loops=4)).after
    assert after.worst_penetration < 0.02 * person.rig.leg_length
    assert after.worst_slide < 0.01 * person.rig.leg_length


@pytest.mark.slow_uncompiled
def test_progress_never_goes_back_and_ends_at_all():
    person, shares = humanoid(), []
    ground = GroundAhead(stairs(0.17), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    bake(person, "walk", BakeSettings(ground=ground, loops=3), progress=shares.append)
    assert np.all(np.diff(shares) >= 0.0)
    assert shares[-1] == 1.0
