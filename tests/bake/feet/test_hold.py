"""Feet that slide in a clip, and feet that are put elsewhere: both are moved before they are placed on the ground."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings, bake
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet.hold import (
    _while_reached,
    _within_reach,
    bridge_contacts,
    hold_feet,
    move_feet,
    rest_feet,
    shift_footholds,
    steady_contacts,
)
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.motion.runs import runs
from kinema.motion.soles import BALL, slides_of

SETTINGS = BakeSettings(lock_feet=True)


@pytest.fixture(scope="module")
def person():
    return humanoid()


def drifting(person, velocity):
    """The frames of a walk whose ground slides away with a velocity, leg lengths a second: so do its feet."""
    walk = person.clips["walk"]
    times = np.arange(int(walk.duration * 60) + 1) / 60
    translations, rotations, scales = walk.sample(times).arrays()
    translations = translations.astype(np.float64)
    root = int(person.skeleton.chain(0, int(person.rig.hips))[0])
    translations[:, root] += times[:, np.newaxis] * np.array(velocity) * person.rig.leg_length
    poses = Pose.of(translations, rotations.astype(np.float64), scales.astype(np.float64))
    return frames_of(person.rig, Clip.from_poses("walk", person.skeleton, poses, times=times), SETTINGS)


def most_slide(frames):
    """Leg lengths that a foot slides at most while it is held."""
    slides = slides_of(frames.rig, frames.world) / frames.rig.leg_length
    return max(float(np.ptp(slides[a:b, f], axis=0).max()) for f, a, b in zip(*runs(frames.held.T), strict=True))


@pytest.mark.parametrize("velocity", [(0.1, 0.0, 0.0), (0.0, 0.0, -0.08), (-0.05, 0.0, 0.05)])
def test_feet_that_drift_are_held(person, velocity):
    frames = drifting(person, velocity)
    assert most_slide(frames) > 0.015
    assert most_slide(hold_feet(person, frames)) < 0.003


def test_heights_and_rotations_of_feet_stay(person):
    frames = drifting(person, (0.1, 0.0, 0.0))
    after = hold_feet(person, frames)
    ankles = [leg.joints[-1] for leg in frames.rig.legs]
    np.testing.assert_allclose(after.world[:, ankles, 1, 3], frames.world[:, ankles, 1, 3], atol=1e-3)
    np.testing.assert_allclose(after.world[:, ankles, :3, :3], frames.world[:, ankles, :3, :3], atol=1e-3)
    np.testing.assert_array_equal(after.unchanged_poses.rotations, frames.poses.rotations)


def test_a_clip_without_slides_is_left_alone(person):
    frames = drifting(person, (0.0, 0.0, 0.0))
    still = dataclasses.replace(frames, held=np.zeros_like(frames.held))
    assert hold_feet(person, still) is still


def test_a_foot_is_put_where_it_was_baked_and_shifted_from_there(person):
    frames = dataclasses.replace(drifting(person, (0.0, 0.0, 0.0)).without_lead, one_pass=0)
    foot, start, stop = (int(each[0]) for each in runs(frames.held.T))
    shifts, off = np.zeros((*frames.held.shape, 3)), np.array((0.02, 0.1, 0.0))
    shifts[start:stop, foot] = shift = np.array((0.0, 0.0, 0.05))
    world = frames.world.copy()
    world[..., :3, 3] += off
    moved = shift_footholds(person, frames, world, shifts)
    before, after = (metrics.sole_points(frames.rig, each.world)[:, :, BALL] for each in (frames, moved))
    np.testing.assert_allclose(
        (after - before)[start:stop, foot], np.tile(shift + off * (1, 0, 1), (stop - start, 1)), atol=2e-3
    )
    np.testing.assert_allclose(
        after[frames.held[:, 1 - foot], 1 - foot], before[frames.held[:, 1 - foot], 1 - foot], atol=2e-3
    )
    assert moved.placed[start:stop, foot].all()
    assert not moved.placed[:, 1 - foot].any()


RATE, SECONDS = 60, 3.0
SAMPLES = np.arange(int(SECONDS * RATE) + 1) / RATE
SIDEWAYS = (1.0, 0.0, 0.0)


def standing(joint, angles):
    """A person that stands, with one joint of its first leg rotated about its own x by angles, (F,), and its clip."""
    person = humanoid()
    times = np.arange(len(angles)) / RATE
    translations, rotations, scales = (
        np.repeat(part[np.newaxis], len(angles), axis=0) for part in person.rig.skeleton.rest.arrays()
    )
    bent = arrays.from_axis_angle(np.array(SIDEWAYS), angles)
    rotations[:, joint] = arrays.mul(rotations[:, joint], bent)
    poses = Pose.of(translations, rotations, scales)
    return person, Clip.from_poses("standing", person.rig.skeleton, poses, times=times)


def wave(radians):
    return radians * np.sin(2 * np.pi * SAMPLES)


def toe():
    return int(humanoid().rig.legs[0].toe)


def ankle():
    return int(humanoid().rig.legs[0].joints[-1])


def rotations(person, clip):
    """Rotations of all joints before and after, (F, J, 4)."""
    frames = frames_of(person.rig, clip, BakeSettings(lock_feet=True)).without_lead
    return frames.poses.arrays()[1], rest_feet(frames).poses.arrays()[1]


@pytest.mark.parametrize(("joint", "radians"), [(toe, 0.2), (ankle, 0.06)], ids=["toes", "foot"])
def test_a_foot_that_stands_flat_does_not_rock_and_its_toes_do_not_wriggle(joint, radians):
    before, after = (part[:, joint()] for part in rotations(*standing(joint(), wave(radians))))
    assert arrays.angle_between(before, before[:1]).max() > 0.9 * radians
    assert arrays.angle_between(after, after[:1]).max() < 1e-5


@pytest.mark.parametrize("radians", [-0.5, 0.3])
def test_toes_that_are_bent_whenever_the_foot_stands_are_straightened_throughout(radians):
    """Also in the air, by the same rotation: the ball does not move as the foot lands."""
    person, clip = standing(toe(), np.full(len(wave(0.0)), radians))
    translations, turned, scales = (part.copy() for part in clip.sample(SAMPLES).arrays())
    translations[:, person.rig.hips, 1] += 0.3 * np.clip(1.0 - np.abs(SAMPLES - 1.5) / 0.4, 0.0, 1.0)
    clip = Clip.from_poses("hop", person.rig.skeleton, Pose.of(translations, turned, scales), times=SAMPLES)
    _, after = rotations(person, clip)
    straight = person.rig.skeleton.rest.arrays()[1][toe()]
    assert arrays.angle_between(after[:, toe()], np.broadcast_to(straight, after[:, toe()].shape)).max() < 0.03


@pytest.mark.parametrize(("radians", "stays"), [(-0.3, False), (0.3, True)])
def test_toes_that_are_bent_into_the_floor_in_one_contact_come_out_of_it(radians, stays):
    """Those that are bent up are meant."""
    person, clip = standing(toe(), np.where(SAMPLES > 1.9, radians, 0.0))
    translations, turned, scales = (part.copy() for part in clip.sample(SAMPLES).arrays())
    translations[:, person.rig.hips, 1] += 0.3 * np.clip(1.0 - np.abs(SAMPLES - 1.8) / 0.3, 0.0, 1.0)
    clip = Clip.from_poses("hop", person.rig.skeleton, Pose.of(translations, turned, scales), times=SAMPLES)
    before, after = rotations(person, clip)
    straight = person.rig.skeleton.rest.arrays()[1][toe()]
    stands = SAMPLES > 2.2
    bent = arrays.angle_between(after[stands, toe()], np.broadcast_to(straight, after[stands, toe()].shape))
    assert bent == pytest.approx(0.3 if stays else 0.0, abs=0.01)
    np.testing.assert_allclose(after[SAMPLES < 1.4], before[SAMPLES < 1.4], atol=1e-6)


def test_toes_that_are_hardly_bent_or_curled_up_stay_as_they_are():
    for radians in (0.022, 1.0):
        before, after = (part[:, toe()] for part in rotations(*standing(toe(), np.full(len(wave(0.0)), radians))))
        np.testing.assert_allclose(after, before, atol=1e-6)


def test_toes_that_are_bent_by_three_hundredths_of_a_radian_are_straightened():
    person, clip = standing(toe(), np.full(len(wave(0.0)), 0.045))
    _, after = rotations(person, clip)
    straight = np.broadcast_to(person.rig.skeleton.rest.arrays()[1][toe()], after[:, toe()].shape)
    assert arrays.angle_between(after[:, toe()], straight).max() < 0.01


def test_toes_that_tap_are_left_alone():
    before, after = (part[:, toe()] for part in rotations(*standing(toe(), wave(0.9))))
    far = np.abs(wave(0.9)) > 0.75
    assert far.sum() > 30
    np.testing.assert_allclose(after[far], before[far], atol=1e-6)


def test_nothing_jumps_where_a_foot_comes_to_rest():
    """A foot is down, lifted for half a second, and down again with other toes."""
    lifted = np.clip(1.0 - np.abs(SAMPLES - 1.5) / 0.4, 0.0, 1.0)
    person, clip = standing(toe(), wave(0.25))
    translations, turned, scales = (part.copy() for part in clip.sample(SAMPLES).arrays())
    translations[:, person.rig.hips, 1] += 0.3 * lifted
    clip = Clip.from_poses("hop", person.rig.skeleton, Pose.of(translations, turned, scales), times=SAMPLES)
    before, after = (part[:, toe()] for part in rotations(person, clip))
    added = arrays.angle_between(before, after)
    assert added[np.abs(SAMPLES - 1.5) < 0.4 - 0.12].max() < 1e-6
    assert added[np.abs(np.abs(SAMPLES - 1.5) - 0.4 + 0.07) < 0.6 / RATE].min() > 1e-3, "it fades over 0.12 s"
    assert np.abs(np.diff(added)).max() < np.radians(5)


def test_joints_of_the_leg_and_the_body_stay_as_they_are():
    before, after = rotations(*standing(toe(), wave(0.2)))
    others = [j for j in range(before.shape[1]) if j != toe()]
    np.testing.assert_allclose(after[:, others], before[:, others], atol=1e-6)


def test_heel_and_ball_stand_on_a_slope_while_the_captured_toes_wriggle():
    person, clip = standing(toe(), wave(0.3))
    slope = km.Plane((0, 0, 0), (0.0, np.cos(0.3), np.sin(0.3)))
    baked = bake(person, clip, BakeSettings(ground=slope))
    world = person.rig.skeleton.world(baked.clip.sample(np.arange(0.1, SECONDS, 1 / 120)))
    soles = metrics.sole_points(person.rig, world)[:, 0, :2]
    assert np.linalg.norm(soles - soles[0], axis=-1).max() < 0.002 * person.rig.leg_length


FRAMES = 90


@st.composite
def contacts(draw):
    """(FRAMES, 2): some contacts of two feet, and a vector for each of them, (FRAMES, 2, 3)."""
    edges = draw(st.lists(st.integers(0, FRAMES), min_size=2, max_size=12, unique=True))
    held, values = np.zeros((FRAMES, 2), bool), np.zeros((FRAMES, 2, 3))
    for n, (start, stop) in enumerate(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False)):
        held[start:stop, n % 2] = True
        values[start:stop, n % 2] = draw(st.floats(-1.0, 1.0))
    return held, values


@given(contacts(), st.sampled_from([np.inf, 8.0]))
def test_contacts_keep_what_is_given_and_nothing_is_larger_in_between(problem, fade):
    held, values = problem
    result = bridge_contacts(values, held, fade=fade)
    np.testing.assert_allclose(result[held], values[held])
    assert np.abs(result).max() <= np.abs(values).max() + 1e-12


@given(contacts())
def test_it_goes_from_contact_to_contact_without_a_jump(problem):
    held, values = problem
    result = bridge_contacts(values, held)
    for foot in range(2):
        _, start, stop = runs(held[np.newaxis, :, foot])
        for last, following in zip(stop - 1, start[1:], strict=False):
            whole = values[following, foot] - values[last, foot]
            steps = np.diff(result[last : following + 1, foot], axis=0)
            # Least jerk is at most 15/8 as fast as going there evenly; ends of whole frames add a little.
            assert np.abs(steps).max() <= np.abs(whole).max() * min(1.0, 2.0 / (following - last)) + 1e-12


def test_far_from_contacts_nothing_is_left():
    held, values = np.zeros((FRAMES, 1), bool), np.zeros((FRAMES, 1, 3))
    held[40:45], values[40:45] = True, 1.0
    near = bridge_contacts(values, held, fade=10)
    assert (near[:30] == 0.0).all()
    assert (near[55:] == 0.0).all()
    np.testing.assert_allclose(bridge_contacts(values, held), 1.0)


def test_a_loop_ends_as_it_begins():
    held, values = np.zeros((FRAMES, 1), bool), np.zeros((FRAMES, 1, 3))
    for start in (10, 40, 70):
        held[start : start + 10], values[start : start + 10] = True, np.sin(start // 30)
    held[80:] = False
    result = bridge_contacts(values, held, one_pass=60)
    np.testing.assert_allclose(result[-1], result[-1 - 60])


def test_what_drifts_in_a_contact_is_held_at_its_mean():
    held = np.zeros((FRAMES, 1), bool)
    held[20:40] = True
    moves = np.linspace(0.0, 1.0, FRAMES)[:, np.newaxis, np.newaxis] * (1.0, 0.0, 0.0)
    held_moves = steady_contacts(moves, held)[20:40]
    np.testing.assert_allclose(held_moves, np.broadcast_to(moves[20:40].mean(axis=0), held_moves.shape))


# --- how far ----------------------------------------------------------------------------------------------------


@pytest.fixture
def both_held():
    """A person that stands for a second, both feet held."""
    person = humanoid()
    poses = Pose.of(*(np.repeat(part[np.newaxis], 31, axis=0) for part in person.skeleton.rest.arrays()))
    clip = Clip.from_poses("stand", person.skeleton, poses, times=np.arange(31) / 30)
    frames = frames_of(person.rig, clip, BakeSettings(lock_feet=True)).without_lead
    return person, dataclasses.replace(frames, held=np.ones_like(frames.held), one_pass=0)


def aside_for(frames, drop):
    """How far a foot is moved aside for the hips to come down by so many leg lengths until it reaches."""
    rig = frames.rig
    hip, ankle = (frames.world[0, rig.legs[0].joints[k], :3, 3] for k in (0, -1))
    own, length = float(np.linalg.norm(ankle - hip)), rig.skeleton.length(rig.legs[0].joints)
    reach, down, across = max(0.985 * length, own), hip[1] - ankle[1], ankle[0] - hip[0]
    return np.sqrt(reach**2 - (down - drop * rig.leg_length) ** 2) - across


@pytest.mark.parametrize(("drop", "share"), [(0.07, 1.0), (0.09, 0.8)])
def test_hips_come_down_by_eight_hundredths_for_a_foot_that_is_held(both_held, drop, share):
    _, frames = both_held
    changes = np.zeros((*frames.held.shape, 3))
    changes[:, 0, 0] = aside_for(frames, drop)
    found = _within_reach(frames, changes)
    np.testing.assert_allclose(found[:, 0], share * changes[:, 0])


def test_hips_come_down_for_a_foot_over_a_tenth_of_a_second(both_held):
    """From a moment before it is out of reach, half down: the most within a tenth of a second, under a Gaussian."""
    person, frames = both_held
    changes, late = np.zeros((*frames.held.shape, 3)), frames.times >= 0.5
    changes[late, 0, 0] = aside_for(frames, 0.05)
    heights = move_feet(person, frames, changes).world[:, int(frames.rig.hips), 1, 3]
    share = (heights[0] - heights) / (heights[0] - heights[-1])
    half, whole = (np.interp(level, share, frames.times) for level in (0.5, 0.977))
    assert 0.5 - half == pytest.approx(0.1, abs=0.025)
    assert whole - half == pytest.approx(0.1, abs=0.025)


@pytest.mark.parametrize(("raised", "share"), [(0.18, 1.0), (0.22, 0.8)])
def test_a_leg_is_folded_by_a_fifth_at_most(both_held, raised, share):
    _, frames = both_held
    rig, world = frames.rig, frames.world
    way = world[:, rig.legs[0].joints[0], :3, 3] - world[:, rig.legs[0].joints[-1], :3, 3]
    changes = np.zeros((*frames.held.shape, 3))
    changes[:, 0] = raised * way
    np.testing.assert_allclose(_within_reach(frames, changes)[:, 0], share * changes[:, 0])


@pytest.mark.parametrize(
    ("drop", "last", "ends"), [(0.02, 10, False), (0.04, 10, True), (0.04, 13, True), (0.04, 20, False)]
)
def test_a_contact_ends_where_its_foot_is_out_of_reach_unless_that_is_long(both_held, drop, last, ends):
    _, frames = both_held
    held = frames.held.copy()
    held[50:] = False
    changes = np.zeros((*held.shape, 3))
    changes[50 - last : 50, 0, 0] = aside_for(frames, drop)
    found = _while_reached(dataclasses.replace(frames, held=held), changes)
    assert int(found[:, 0].sum()) == (50 - last if ends else 50)


@pytest.mark.parametrize(("slide", "left"), [(0.003, True), (0.006, False)])
def test_less_than_two_thousandths_to_both_sides_is_no_slide(both_held, slide, left):
    person, frames = both_held
    transforms = frames.transforms.copy()
    transforms[:, 2, 3] += np.linspace(0.0, slide * frames.rig.leg_length, len(transforms))
    moved = dataclasses.replace(frames, transforms=transforms)
    assert (hold_feet(person, moved) is moved) == left
