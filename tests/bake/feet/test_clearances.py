"""Swinging feet that went through the ground are raised out of it, smoothly, and where they stand not at all."""

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet.clearances import SHALLOWEST, _raised, _way_out, deepest, find_clearances
from kinema.demo import humanoid
from kinema.motion.runs import stretches


@pytest.fixture(scope="module")
def walk():
    person = humanoid()
    return frames_of(person.rig, person.clips["walk"], BakeSettings(lock_feet=True, loops=2)).without_lead


def unchanged(walk):
    return BakedFrames(walk.poses, walk.transforms, walk.world)


def test_feet_above_the_ground_are_left_alone(walk):
    assert not find_clearances(walk, unchanged(walk), km.Plane())


def test_feet_in_the_ground_are_raised_while_they_swing(walk):
    ground = km.Plane((0.0, 0.05, 0.0))
    depth = metrics.penetration(metrics.soles_over(walk.rig, walk.world, ground))
    raised = find_clearances(walk, unchanged(walk), ground).raised
    assert not raised[walk.held].any(), "feet that stand are not raised"
    held = np.stack([np.convolve(walk.held[:, leg], np.ones(13), mode="same") > 0 for leg in range(2)], axis=1)
    deep = ~held & (depth > SHALLOWEST * walk.rig.leg_length)
    assert deep.sum() > 5
    assert (raised[deep] > depth[deep]).all()
    assert np.abs(np.diff(raised, axis=0)).max() < 0.4 * raised.max(), "nothing jumps"


def test_a_swinging_foot_is_raised_over_what_it_passes_within_a_frame(walk):
    frames = moved_along(walk, 0.2)
    balls = metrics.sole_points(walk.rig, frames.world)[:, 0, 1, 2]
    swings = ~walk.held[:-1, 0] & ~walk.held[1:, 0]
    at = int(np.where(swings, np.abs(np.diff(balls)), 0.0).argmax())
    ridge = balls[at] + 0.25 * (balls[at + 1] - balls[at])

    def height(x, z):
        return np.where(np.abs(np.asarray(z) - ridge) < 0.02, 0.6, 0.0)

    assert find_clearances(walk, frames, km.Ground.from_function(height)).raised[at : at + 2, 0].min() > 0.3


def test_a_sole_that_comes_down_on_an_edge_between_heel_and_ball_is_in_the_ground(walk):
    """The heel hangs over the step below, the ball is clear of the one above."""
    sole = np.array([[[[0.0, -0.03, -0.1], [0.0, 0.03, 0.1], [0.0, 0.05, 0.2]]]])
    step = km.Ground.from_function(lambda x, z: np.where(np.asarray(z) > -0.08, 0.0, -0.2))
    assert deepest(walk.rig, sole, step)[0, 0] == pytest.approx(0.01, abs=0.002)


def moved_along(walk, step):
    """The frames of a walk in place, each so many metres further on than the one before."""
    world = walk.world.copy()
    world[..., 2, 3] += step * np.arange(len(world))[:, np.newaxis]
    return BakedFrames(walk.poses, walk.transforms, world)


@pytest.mark.parametrize("angle", [0.0, 0.8, 2.5])
def test_a_standing_foot_is_put_out_of_a_wall_the_shortest_way(walk, angle):
    """A wall through the heel of the first contact: the foot is moved along the wall's normal and no farther than it
    must be.
    """
    leg = int(walk.held[0].argmax())
    contact = slice(0, int((~walk.held[:, leg]).argmax()))
    away = np.array((np.sin(angle), 0.0, np.cos(angle)))
    soles = metrics.sole_points(walk.rig, walk.world)[contact, leg]
    edge = float((soles @ away).min()) + 0.01

    def height(x, z):
        return np.where(np.asarray(x) * away[0] + np.asarray(z) * away[2] < edge, 0.15, 0.0)

    shifts = find_clearances(walk, unchanged(walk), km.Ground.from_function(height)).shifts
    shift = shifts[0, leg]
    assert (shifts[contact, leg] == shift).all()
    assert shift[1] == 0.0
    assert shift @ away > 0.97 * np.linalg.norm(shift)
    assert 0.01 < shift @ away < 0.01 + 0.03 * walk.rig.leg_length


def test_a_foot_between_two_walls_stays(walk):
    shifts = find_clearances(walk, unchanged(walk), km.Plane((0.0, 0.2, 0.0))).shifts
    assert not shifts.any()


def test_a_clip_shorter_than_the_smoothing(walk):
    person = humanoid()
    pose = km.Clip.from_poses("pose", person.skeleton, walk.poses[[30, 30]], times=np.array((0.0, 1 / 60)))
    frames = frames_of(person.rig, pose, BakeSettings(lock_feet=True)).without_lead
    deep = find_clearances(frames, unchanged(frames), km.Plane((0.0, 0.3, 0.0))).raised
    assert deep.shape == frames.held.shape
    assert np.isfinite(deep).all()


@pytest.mark.parametrize(("ahead", "onto"), [(0.1, "the lower step"), (0.8, "the step that its heel is on")])
def test_a_foot_that_hangs_over_an_edge_at_the_start_is_put_beside_it(walk, ahead, onto):
    """The ground drops by a step between heel and ball of the first contact: no swing led that foot to a foothold."""
    leg = int(walk.held[0].argmax())
    contact = slice(0, int((~walk.held[:, leg]).argmax()))
    heel, ball = np.median(metrics.sole_points(walk.rig, walk.world)[contact, leg, :2], axis=0)
    edge = heel[2] + ahead * (ball[2] - heel[2])

    def height(x, z):
        return np.where(np.asarray(z) > edge, -0.17, 0.0)

    shifts = find_clearances(walk, unchanged(walk), km.Ground.from_function(height)).shifts
    shift = shifts[0, leg]
    assert (shifts[contact, leg] == shift).all()
    assert (heel[2] + shift[2] > edge) == (onto == "the lower step")
    assert (ball[2] + shift[2] > edge) == (onto == "the lower step")
    assert np.linalg.norm(shift) < 0.25 * walk.rig.leg_length
    assert not shifts[contact.stop :, leg].any()


# --- how far ----------------------------------------------------------------------------------------------------

LEG = humanoid().rig.leg_length


def first_contact(walk):
    """The leg of the first contact, its frames, and the median heel, ball and tip in it."""
    leg = int(walk.held[0].argmax())
    contact = slice(0, int((~walk.held[:, leg]).argmax()))
    return leg, contact, np.median(metrics.sole_points(walk.rig, walk.world)[contact, leg], axis=0)


def shift_for(walk, height):
    leg, _, _ = first_contact(walk)
    return find_clearances(walk, unchanged(walk), km.Ground.from_function(height)).shifts[0, leg]


@pytest.mark.parametrize(("deep", "shifted"), [(0.06, True), (0.10, False)])
def test_a_standing_foot_is_put_eight_hundredths_away_at_most(walk, deep, shifted):
    leg, contact, _ = first_contact(walk)
    edge = float(metrics.sole_points(walk.rig, walk.world)[contact, leg, :, 2].min()) + deep * LEG

    def wall(x, z):
        return np.where(np.asarray(z) < edge, 0.15, 0.0)

    shift = shift_for(walk, wall)
    assert (shift[2] > 0.0) == shifted
    if shifted:
        assert shift[2] == pytest.approx((deep + 0.01) * LEG, abs=0.012 * LEG)


@pytest.mark.parametrize(("drop", "shifted"), [(0.04, False), (0.06, True), (0.28, True), (0.35, True)])
def test_a_sole_hangs_over_an_edge_of_five_hundredths(walk, drop, shifted):
    _, _, (heel, ball, _) = first_contact(walk)
    edge = 0.5 * (heel[2] + ball[2])

    def step(x, z):
        return np.where(np.asarray(z) > edge, -drop * LEG, 0.0)

    assert shift_for(walk, step).any() == shifted


@pytest.mark.parametrize(("drop", "onto"), [(0.25, True), (0.35, False)])
def test_a_foot_is_put_onto_a_step_three_tenths_away_at_most(walk, drop, onto):
    """Its heel hangs on the edge of the upper one: the lower one is nearer, if it is not too far down."""
    _, _, (heel, ball, _) = first_contact(walk)
    edge = 0.9 * heel[2] + 0.1 * ball[2]

    def step(x, z):
        return np.where(np.asarray(z) > edge, -drop * LEG, 0.0)

    assert (shift_for(walk, step)[2] > 0.0) == onto


@pytest.mark.parametrize(("slope", "shifted"), [(0.03, True), (0.09, False), (0.15, False)])
def test_where_it_is_put_it_stands_level(walk, slope, shifted):
    """The ground beside the edge differs by two hundredths of a leg under the sole at most."""
    _, _, (heel, ball, _) = first_contact(walk)
    edge = 0.3 * heel[2] + 0.7 * ball[2]

    def step(x, z):
        z = np.asarray(z) - edge
        return np.where(z > 0.0, -0.2 * LEG - slope * np.abs(z), slope * np.abs(z))

    assert shift_for(walk, step).any() == shifted


@pytest.mark.parametrize(("wide", "shifted"), [(0.2, True), (0.3, False)])
def test_a_level_place_is_looked_for_within_a_quarter_of_a_leg(walk, wide, shifted):
    """Ridges a sole cannot stand on, out to so far to all sides."""
    _, _, (heel, ball, _) = first_contact(walk)
    centre = 0.5 * (heel + ball)

    def ridges(x, z):
        x, z = np.asarray(x) - centre[0], np.asarray(z) - centre[2]
        far = np.maximum(np.abs(x), np.abs(z)) > (wide + 0.12) * LEG
        return np.where(far | (np.floor(z / (0.04 * LEG)) % 2 == 0), 0.0, -0.1 * LEG)

    shift = shift_for(walk, ridges)
    assert np.linalg.norm(shift) <= 0.245 * LEG
    assert shift.any() == shifted or not shifted


def test_the_raise_fades_over_three_twentieths_of_a_second_and_none_is_left_at_contacts(walk):
    """A ridge that a foot meets in the middle of its swing raises it by more than it is deep, and before and after."""
    leg, part = max(stretches(~walk.held), key=lambda each: each[1].stop - each[1].start)
    swing = np.arange(part.start, part.stop)
    depth = np.zeros(walk.held.shape)
    middle = int(swing[len(swing) // 2])
    depth[middle, leg] = 0.05 * LEG
    raised = _raised(walk, depth)[:, leg]
    assert raised[middle] == pytest.approx(0.06 * LEG, rel=1e-6)
    assert raised[middle + round(0.07 / walk.dt)] == pytest.approx(0.5 * raised[middle], rel=0.35)
    assert raised[middle + round(0.13 / walk.dt)] < 0.1 * raised[middle]
    assert not raised[walk.held[:, leg]].any()
    everywhere = _raised(walk, np.where(walk.held, 0.0, 0.05 * LEG))[:, leg]
    near = int(swing[0]) + 1
    assert 0.0 < everywhere[near] < 0.05 * LEG
    assert everywhere[int(swing[0]) + round(0.09 / walk.dt)] == pytest.approx(0.06 * LEG, rel=1e-6)
    assert not _raised(walk, np.where(walk.held, 0.0, 0.0075 * LEG)).any()
    assert _raised(walk, np.where(walk.held, 0.0, 0.0085 * LEG)).any()


@pytest.mark.parametrize(("slope", "shifted"), [(0.55, True), (1.0, False)])
def test_a_foot_is_not_put_up_a_step_to_get_out_of_a_wall(slope, shifted):
    """Its heel is in a wall, out of which it gets by six hundredths of a leg; so far the ground under its ball may rise
    by six tenths of the way.
    """
    sole = LEG * np.array(((0.0, 0.0, 0.0), (0.0, 0.0, 0.2), (1.0, 0.0, 0.2)))

    def height(x, z):
        x, z = np.asarray(x) / LEG, np.asarray(z) / LEG
        wall, rise = z < 0.0525, slope * np.maximum(z - 0.2, 0.0) * (x < 0.5)
        return LEG * np.where(wall, 1.0, rise)

    shift = _way_out(humanoid().rig, sole[np.newaxis], km.Ground.from_function(height))
    assert shift.any() == shifted


@pytest.mark.parametrize(("frame", "noticed"), [(9, True), (4, False)])
def test_a_contact_is_tried_in_a_dozen_of_its_frames(frame, noticed):
    """Of a hundred those are every ninth. In one of all frames the heel is in a wall."""
    sole = LEG * np.array(((0.0, 0.0, 0.0), (0.0, 0.0, 0.2), (0.1, 0.0, 0.2)))
    points = np.tile(sole + (0.0, 0.0, LEG), (100, 1, 1))
    points[frame] = sole
    ground = km.Ground.from_function(lambda x, z: np.where(np.asarray(z) < 0.0525 * LEG, LEG, 0.0))
    assert (np.linalg.norm(_way_out(humanoid().rig, points, ground)) > 0.03 * LEG) == noticed
