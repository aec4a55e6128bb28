"""What a viewer sees as a slide: the part of a shoe that touches the ground and moves least, while its foot stands."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.bake import BakeSettings
from kinema.bake.clip_frames import frames_of
from kinema.bake.foot_skin import SkinPoints
from kinema.bake.slides import (
    ROLLS_OVER,
    SETTLES,
    SUNK,
    TOUCHES,
    TOUCHES_UNSEEN,
    ClipSoles,
    clip_soles,
    least_moving,
    seen_slides,
)
from kinema.bake.sole_patches import SolePatches
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.motion.soles import TIP

FRAMES, DT = 61, 1 / 60
FLOOR = km.Plane()
PERSON = humanoid()
LEG = PERSON.rig.leg_length
UP = np.array((0.0, 1.0, 0.0))
SHOE = np.array([(x, 0.0, z) for x in (-0.05, 0.0, 0.05) for z in (-0.08, 0.0, 0.1, 0.2)]) * LEG
"""Points of a flat sole, metres. It has a width: a swivel may be about any point within it."""
EVEN = np.linspace(0.0, 1.0, FRAMES)


def soles(points, clip=None, stands=None, seen=True):
    """The soles of a foot of which one point is carried by each joint, and their matrices as they are played."""
    count = points.shape[1]
    clip = np.repeat(points[:1], len(points), axis=0) if clip is None else clip
    skin = SkinPoints(np.arange(count).reshape(1, count, 1), np.ones((1, count, 1)), np.zeros((1, count, 1, 3)))
    patches = SolePatches(skin, seen)
    stands = np.ones(points.shape[:2], bool) if stands is None else stands
    played = np.tile(np.eye(4), (*points.shape[:2], 1, 1))
    played[..., :3, 3] = points
    return ClipSoles(patches, clip[:, np.newaxis], stands[:, np.newaxis]), played


def slid(points, ground=FLOOR, **more):
    """Leg lengths that a foot slides whose points go this way, (F, P, 3)."""
    found, played = soles(points, **more)
    return seen_slides(PERSON.rig, found, played, ground, DT).max() / LEG


def moved(along, points=SHOE):
    """The points of a sole that goes along, (F, 3) or a distance ahead, leg lengths."""
    along = np.asarray(along, float)
    way = EVEN[:, np.newaxis] * (0.0, 0.0, along) if along.ndim == 0 else along
    return points + LEG * way[:, np.newaxis]


def turned(degrees, pivot, axis=UP, points=SHOE):
    """The points of a sole that rotates evenly about an axis through a point."""
    turns = arrays.to_matrix(arrays.from_axis_angle(np.asarray(axis, float), np.radians(degrees) * EVEN))
    return np.einsum("frc,kc->fkr", turns, points - pivot) + pivot


@given(st.floats(0.001, 0.2), st.floats(0.0, 360.0))
def test_a_foot_that_stands_and_moves_along_slides_so_far(far, direction):
    angle = np.radians(direction)
    way = far * EVEN[:, np.newaxis] * (np.sin(angle), 0.0, np.cos(angle))
    assert slid(moved(way)) == pytest.approx(far)


def test_a_foot_slides_wherever_the_bake_did_not_hold_it():
    """What counts is that it stands in the clip: two hundredths of a leg in five frames."""
    jerk = 0.02 * np.clip((np.arange(FRAMES) - 30) / 5, 0.0, 1.0)[:, np.newaxis] * (0.0, 0.0, 1.0)
    assert slid(moved(jerk)) == pytest.approx(0.02)


@given(st.floats(-0.05, 0.05), st.floats(-0.08, 0.2), st.floats(-90.0, 90.0))
def test_a_foot_that_swivels_about_any_point_of_its_sole_as_in_its_clip_does_not_slide(x, z, degrees):
    """Also one between heel and tip, and one at the edge of a wide shoe."""
    points = turned(degrees, np.array((x, 0.0, z)) * LEG)
    assert slid(points, clip=points) < 1e-9


def test_a_foot_that_swivels_about_a_point_beside_it_slides():
    points = turned(30.0, np.array((0.2, 0.0, 0.0)) * LEG)
    assert slid(points, clip=points) == pytest.approx(0.15 * np.radians(30.0), rel=0.02)


@pytest.mark.parametrize(
    ("of_clip", "now", "slides"), [(30, 30, False), (30, 33, False), (0, 15, True), (15, 0, False)]
)
def test_a_foot_that_swivels_more_than_in_its_clip_slides_by_the_end_of_it(of_clip, now, slides):
    """A foot that stands still in the clip and swivels on its ball after the bake has slid."""
    ball = SHOE[6]
    found = slid(turned(now, ball), clip=turned(of_clip, ball))
    size = np.linalg.norm(SHOE - SHOE.mean(axis=0), axis=-1).max() / LEG
    assert found == pytest.approx(np.radians(max(now - of_clip, 0)) * size, abs=1e-6)
    assert (found > 0.011) == slides


def on_edge(degrees=15.0):
    """A shoe rolled onto its inner edge: the outer one is in the air."""
    turn = arrays.to_matrix(arrays.from_axis_angle(np.array((0.0, 0.0, 1.0)), np.radians(degrees)))
    inner = np.array((-0.05, 0.0, 0.0)) * LEG
    return (SHOE - inner) @ turn.T + inner


def test_a_shoe_that_stands_on_its_inner_edge_alone_slides_with_it():
    shoe = on_edge()
    assert sorted(shoe[:, 1] < TOUCHES * LEG) == [False] * 8 + [True] * 4
    assert slid(moved(0.02, shoe)) == pytest.approx(0.02)


@pytest.mark.parametrize(("x", "slides"), [(-0.05, False), (0.05, True)])
def test_a_shoe_on_its_inner_edge_swivels_about_a_point_of_that_edge(x, slides):
    """A point of the other edge is no pivot: it is in the air."""
    points = turned(20.0, np.array((x, 0.0, 0.05)) * LEG, points=on_edge())
    assert (slid(points, clip=points) > 0.011) == slides


@pytest.mark.parametrize(
    ("height", "seen", "touches"),
    [
        (TOUCHES - 0.001, True, True),
        (TOUCHES + 0.001, True, False),
        (TOUCHES_UNSEEN - 0.001, False, True),
        (TOUCHES_UNSEEN + 0.001, False, False),
        (0.001 - SUNK, True, True),
        (-0.001 - SUNK, True, False),
    ],
)
def test_a_sole_touches_within_a_centimetre_of_the_ground(height, seen, touches):
    """Where no skin shows it, it may be twice as far: it may be thicker than it is taken for."""
    points = moved(0.05, SHOE[::4] + np.array((0.0, height, 0.0)) * LEG)
    assert (slid(points, seen=seen) > 0.0) == touches
    assert (TOUCHES, TOUCHES_UNSEEN, SUNK) == (0.012, 0.02, 0.02)


def test_a_foot_in_the_air_of_its_clip_does_not_slide():
    assert slid(moved(0.05), stands=np.zeros((FRAMES, len(SHOE)), bool)) == 0.0


def test_a_foot_slides_along_a_slope_and_not_down_into_it():
    slope = km.Plane((0, 0, 0), (0.0, np.cos(0.3), -np.sin(0.3)))
    along = np.array((0.0, np.sin(0.3), np.cos(0.3)))
    tilted = np.stack((SHOE[:, 0], SHOE[:, 2] * np.tan(0.3), SHOE[:, 2]), axis=-1)
    assert slid(moved(0.03 * EVEN[:, np.newaxis] * along, tilted), slope) == pytest.approx(0.03)
    sinks = 0.005 * EVEN[:, np.newaxis] * np.array((0.0, -np.cos(0.3), np.sin(0.3)))
    assert slid(moved(sinks, tilted), slope) < 1e-9


@pytest.mark.parametrize(("frames", "slides"), [(2, False), (4, True)])
def test_a_foot_settles_and_lifts_off_on_purpose(frames, slides):
    """A thirtieth of a second after it came to stand, and before it stands no more."""
    stands = np.zeros((FRAMES, len(SHOE)), bool)
    stands[20:41] = True
    for first in (20, 40 - frames):
        way = 0.02 * np.clip(np.arange(FRAMES) - first, 0, frames)[:, np.newaxis] * (0.0, 0.0, 1.0)
        assert (slid(moved(way), stands=stands) > 0.011) == slides
    assert SETTLES == 1 / 30


def test_a_slide_counts_from_where_the_foot_came_to_stand():
    """To and fro is no farther than to."""
    there = 0.02 * np.sin(2.0 * np.pi * EVEN)[:, np.newaxis] * (0.0, 0.0, 1.0)
    assert slid(moved(there)) == pytest.approx(0.02, rel=0.01)
    stands = np.ones((FRAMES, len(SHOE)), bool)
    stands[28:33] = False
    assert slid(moved(0.02), stands=stands) < 0.011


@pytest.mark.parametrize(("raised", "slides"), [(0.0, False), (0.03, True)])
def test_captured_toes_wriggle_beside_a_foot_that_stands(raised, slides):
    """Where heel and ball are in the air, the foot stands on its toes."""
    points = np.repeat(np.array([(0, raised, -0.1), (0, raised, 0.1), (0, 0, 0.2)])[np.newaxis] * LEG, FRAMES, axis=0)
    points[:, TIP, 2] += 0.05 * LEG * EVEN
    assert (slid(points, seen=False) > 0.011) == slides


# --- the soles of a clip ----------------------------------------------------------------------------------------


def frames_of_clip(offsets, moved=False):
    """A person that stands and is moved by offsets, (F, 3), leg lengths."""
    parts = [np.repeat(part[np.newaxis], len(offsets), axis=0) for part in PERSON.skeleton.rest.arrays()]
    parts[0][:, 0] += (np.asarray(offsets) * LEG).astype(parts[0].dtype)
    clip = km.Clip.from_poses("stand", PERSON.skeleton, km.Pose.of(*parts), times=np.arange(len(offsets)) * DT)
    frames = frames_of(PERSON.rig, clip, BakeSettings(ground=FLOOR, travel=False))
    return replace(frames, moved=moved).without_lead


def standing(offsets, **more):
    """Share of the points of both soles that stand, in the middle of a clip."""
    stands = clip_soles(PERSON, frames_of_clip(offsets, **more)).stands
    return stands[len(stands) // 2 - 3 : len(stands) // 2 + 3].mean()


def way(speed):
    """Offsets that grow by so many leg lengths a second."""
    return np.arange(FRAMES)[:, np.newaxis] * DT * speed * np.array((0.0, 0.0, 1.0))


@pytest.mark.parametrize(("speed", "stands"), [(0.0, 1.0), (0.28, 1.0), (0.33, 0.0)])
def test_a_point_that_moves_in_the_clip_does_not_stand(speed, stands):
    """It lands, lifts off, or is dragged by the clip itself."""
    assert standing(way(speed)) == stands


def test_feet_of_walks_in_place_skate_in_their_clip():
    """How fast these go is an estimate: feet may move at half the speed of the body, else at a fifth."""
    assert standing(way(2.0)) == 0.0
    frames = frames_of_clip(way(2.0))
    feet = frames.world.copy()
    legs = [int(joint) for leg in PERSON.rig.legs for joint in PERSON.skeleton.below(leg.joints[-1:])]
    for share, plain, in_place in ((0.15, 1.0, 1.0), (0.45, 0.0, 1.0), (0.55, 0.0, 0.0)):
        feet[:, legs, 2, 3] = frames.world[:, legs, 2, 3] + (share - 1.0) * way(2.0)[:, 2:3] * LEG
        for moves, expected in ((False, plain), (True, in_place)):
            seen = SimpleNamespace(world=feet, lead=0, rig=frames.rig, dt=DT, moved=moves)
            assert clip_soles(PERSON, seen).stands[28:33].mean() == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(("frames", "stands"), [(2, False), (3, True)])
def test_a_foot_that_halts_for_less_than_a_twentieth_of_a_second_does_not_stand(frames, stands):
    """Three frames of 60 a second are enough in a sprint."""
    speeds = np.full(FRAMES, 2.0)
    speeds[30 : 30 + frames + 1] = 0.0
    offsets = np.cumsum(speeds)[:, np.newaxis] * DT * np.array((0.0, 0.0, 1.0))
    found = clip_soles(PERSON, frames_of_clip(offsets)).stands[25:40].any()
    assert found == stands


@pytest.mark.parametrize(("degrees", "heels"), [(0.0, True), (20.0, False)])
def test_a_foot_stands_on_what_is_lowest_of_it(degrees, heels):
    """While its heel is raised on the ball alone: here in the second half."""
    frames = frames_of_clip(np.zeros((FRAMES, 3)))
    world = frames.world.copy()
    turn = arrays.to_matrix(arrays.from_axis_angle(np.array((1.0, 0, 0)), np.radians(degrees)))
    for leg in PERSON.rig.legs:
        ball = world[0, int(leg.toe), :3, 3]
        foot = PERSON.skeleton.below(leg.joints[-1:])
        foot = foot[foot < int(leg.toe)]
        world[30:, foot, :3, :3] = turn @ world[30:, foot, :3, :3]
        world[30:, foot, :3, 3] = (world[30:, foot, :3, 3] - ball) @ turn.T + ball
    found = clip_soles(PERSON, SimpleNamespace(world=world, lead=0, rig=frames.rig, dt=DT, moved=False))
    heights = found.points[50] @ UP
    high = heights > heights.min(axis=-1, keepdims=True) + ROLLS_OVER * LEG
    assert high.any() != heels
    assert not found.stands[50][high].any()
    assert found.stands[50][~high].any()


# --- the part that moves least ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ways", "counted", "least"),
    [
        (((-0.1, 0, 0), (0.3, 0, 0), (0.6, 0, 0)), (True, True, True), (0, 0, 0)),
        (((-0.1, 0, 0), (0.3, 0, 0), (0.6, 0, 0)), (False, True, True), (0.3, 0, 0)),
        (((0.2, 0, 0.1), (0.2, 0, -0.1), (0.9, 0, 0)), (True, True, False), (0.2, 0, 0)),
        (((0.2, 0, 0), (0.2, 0, 0), (0.2, 0, 0)), (True, True, True), (0.2, 0, 0)),
        (((0.2, 0, 0), (0.2, 0, 0), (0.2, 0, 0)), (False, False, False), (0, 0, 0)),
        (((0.3, 0, 0), (-0.2, 0, 0.2), (-0.2, 0, -0.3)), (True, True, True), (0, 0, 0)),
    ],
)
def test_a_sole_moves_as_the_point_between_those_that_count_that_moves_least(ways, counted, least):
    assert least_moving(np.array(ways, float), np.array(counted)) == pytest.approx(np.array(least, float))


def test_no_mixture_of_ways_is_less_than_the_least():
    rng = np.random.default_rng(5)
    ways = (rng.normal(size=(300, 5, 3)) + rng.normal(size=(300, 1, 3)) * 1.5) * (1.0, 0.0, 1.0)
    found = np.linalg.norm(least_moving(ways, np.ones((300, 5), bool)), axis=-1)
    mixed = rng.dirichlet(np.full(5, 0.3), size=(300, 3000))
    sampled = np.linalg.norm(np.einsum("nsk,nkc->nsc", mixed, ways), axis=-1).min(axis=-1)
    assert (found <= sampled + 1e-12).all()
    assert found == pytest.approx(sampled, abs=0.12)
