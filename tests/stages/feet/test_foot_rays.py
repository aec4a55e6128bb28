"""Where the rays of feet go, and what becomes of their answers."""

from types import SimpleNamespace

import numpy as np
import pytest

from kinema.motion.soles import BALL, HEEL, TIP
from kinema.stages.feet.foot_landing import Landing
from kinema.stages.feet.foot_rays import (
    AHEAD,
    AHEAD_RAYS,
    HEEL_AT_LANDING,
    PROFILE,
    RAYS,
    aim_ahead,
    aim_at_landing,
    aim_foot,
    aim_under,
    aim_under_held,
    extent_of,
    gather_rays,
    is_due,
    note_way,
    path_of,
    take_hits,
)
from kinema.stages.feet.foot_records import BODY, FOOT
from kinema.stages.legs.ground_contact import HIT, NOT_CAST, PLANTED, SWINGING, new_rays
from kinema.stages.legs.sole import SolePoints
from kinema.world.plane import Plane
from tests.compiled import plain_python_only
from tests.stages.feet.one_foot import FLOOR, ORIGIN, STAND, UP, a_body, a_foot, a_sole, settings

pytestmark = plain_python_only
UNKNOWN, KNOWN = Landing(0.0, False), Landing(0.2, True)
POINTS = SolePoints(*STAND.values())


def origins(aim, *given):
    """The origins of the rays that a kernel aims, from 1 m above the floor."""
    rays = np.full((RAYS, 3), np.nan)
    aim(*given, rays, FLOOR, 1.0)
    assert (rays[np.isfinite(rays[:, 0]), 1] == 1.0).all()
    return rays[np.isfinite(rays[:, 0])]


def way(foot, velocity=ORIGIN, travel=ORIGIN, landing=UNKNOWN):
    return path_of(a_sole(), foot, ORIGIN, velocity, travel, landing, UP)


@pytest.mark.parametrize(("speed", "metres"), [(1.0, 0.2), (10.0, 0.8)])
def test_a_foot_looks_a_fifth_of_a_second_ahead_but_not_beyond_a_stride(speed, metres):
    assert way(a_foot(), (0.0, 0.0, speed))[2] == pytest.approx(metres, rel=0.2)


def test_a_foot_that_just_left_the_ground_looks_as_far_as_feet_swing_at_that_speed_of_the_body():
    assert way(a_foot(), travel=(0.0, 0.0, 1.0))[2] == pytest.approx(0.4, rel=0.2)


def test_a_foot_looks_to_its_landing_and_not_back_once_it_has_passed_it():
    foot = a_foot()
    foot.landing.point[2], foot.swing.takeoff[2] = 0.5, -0.5
    assert way(foot, landing=KNOWN)[2] == pytest.approx(0.5)
    foot.landing.point[2] = -0.1
    assert way(foot, landing=KNOWN) == ORIGIN


def test_a_foot_keeps_a_centimetre_and_a_half_from_edges_whichever_end_goes_first():
    ahead, back = extent_of(a_sole(), a_foot(), (0.0, 0.0, 1.0)), extent_of(a_sole(), a_foot(), (0.0, 0.0, -1.0))
    assert 0.108 < ahead.ahead < 0.125
    assert 0.208 < ahead.behind < 0.225
    assert (back.ahead, back.behind) == (ahead.behind, ahead.ahead)


def test_rays_along_a_stride_are_closer_than_a_foot_is_long():
    foot = a_foot()
    foot.rays.path[2] = 0.65
    along = origins(lambda rays, *rest: aim_ahead(a_sole(), foot, ORIGIN, rays, *rest))[:, 2]
    assert 0.06 < np.diff(along).max() < 0.13
    assert along[-1] == pytest.approx(0.65 + extent_of(a_sole(), foot, (0.0, 0.0, 1.0)).ahead)


def test_the_profile_reaches_a_quarter_of_a_leg_from_the_landing_either_way():
    foot = a_foot()
    foot.landing.point[2] = 1.0
    along = origins(lambda rays, *rest: aim_at_landing(a_sole(spacing=0.05), foot, rays, *rest))[:, 2]
    assert along[HEEL_AT_LANDING - PROFILE] == pytest.approx(0.8)  # Where the clip puts the heel.
    assert along[0] == pytest.approx(0.8 - 0.25 - 0.05)
    assert along[-1] == pytest.approx(1.1 + 0.25 + 0.1)
    assert len(along) == RAYS - PROFILE


def test_rays_go_down_on_heel_middle_ball_and_tip():
    foot = a_foot()
    aimed = origins(lambda rays, *rest: aim_under(a_sole(), foot, POINTS, rays, *rest))
    np.testing.assert_allclose(aimed[:, 2], (-0.2, -0.1, 0.0, 0.1), atol=1e-12)
    foot.sole[[HEEL, BALL, TIP], 0] = 0.3  # It is held aside of its clip.
    held = origins(lambda rays, *rest: aim_under_held(foot, rays, *rest))
    np.testing.assert_allclose(held[:, ::2], np.column_stack((np.full(4, 0.3), (-0.2, -0.1, 0.0, 0.1))), atol=1e-12)


def test_rays_under_a_lifted_foot_go_where_it_rolls_along_the_normal():
    """A foot that is lifted by 0.3 m over a slope comes down where it left, not 0.3 m along the normal."""
    foot, raised = a_foot(), SolePoints(*(np.add(at, (0.0, 0.3, 0.0)) for at in POINTS))
    foot.tilt[:] = 0.0, np.cos(0.4), -np.sin(0.4)
    shift = origins(lambda rays, *rest: aim_under(a_sole(), foot, raised, rays, *rest))[2, 2]
    assert -0.045 < shift < -0.02


def test_rays_are_cast_in_the_frames_that_the_level_of_detail_says():
    foot, body = a_foot(), a_body()
    body.every = 3
    assert [bool(is_due(foot, body)) for _ in range(7)] == [True, False, False, True, False, False, True]
    assert body.pelvis.moving  # The character must not be skipped meanwhile.
    foot.rays.frames_left = 2
    body.pelvis.fresh = True
    assert is_due(foot, body)


@pytest.mark.parametrize(("pitch", "tells"), [(30.0, True), (60.0, False)])
def test_a_foot_that_points_down_does_not_tell_its_heading(pitch, tells):
    foot, angle = a_foot(), np.radians(pitch)
    tip = (np.cos(angle) * 0.3, -np.sin(angle) * 0.3, -0.2)
    note_way(a_sole(), foot, a_body(), SolePoints(STAND["heel"], ORIGIN, tip), np.eye(4)[:3].reshape(12), UP, 1 / 60)
    np.testing.assert_allclose(foot.heading, (1.0, 0.0, 0.0) if tells else (0.0, 0.0, 1.0), atol=1e-12)


def test_without_a_prediction_a_foot_lands_where_it_did_from_hips_that_travel_on():
    foot, body = a_foot(), a_body()
    foot.swing.since, foot.swing.seconds, foot.landing.learnt[:] = 0.1, 0.4, (0.1, -1.0, 0.2)
    body.hips[:], body.travel[:] = (0.0, 1.0, 0.0), (0.0, 0.0, 2.0)
    note_way(a_sole(), foot, body, POINTS, np.eye(4)[:3].reshape(12), UP, 1 / 60)
    np.testing.assert_allclose(foot.landing.point, (0.1, 0.0, 0.2 + 2.0 * 0.3))


def aimed_count(foot, body):
    pose = SimpleNamespace(world=np.eye(4)[:3].reshape(1, 12), transform=np.eye(4)[:3].reshape(12))
    return aim_foot(settings(), a_sole(), foot, body, np.zeros((RAYS, 3)), pose, FLOOR, 1 / 60)


def test_a_planted_foot_casts_under_its_sole_and_a_swinging_one_ahead_and_at_its_landing():
    assert aimed_count(a_foot(PLANTED), a_body()) == 4
    foot = a_foot(SWINGING)
    assert aimed_count(foot, a_body()) == RAYS
    foot.foothold.chosen, foot.swing.since = True, 0.3
    assert aimed_count(foot, a_body()) == PROFILE
    far = a_body()
    far.look_ahead = far.footholds = False
    assert aimed_count(foot, far) == 4


def test_every_ray_gets_its_own_answer():
    """Two characters of one leg; the second one's position is not finite, so it casts nothing."""
    records = SimpleNamespace(rays=np.zeros((2, RAYS + 1, 3)), soles=np.zeros(1))
    records.bodies, records.feet = BODY.zeros(2, np.float64), FOOT.zeros((2, 1), np.float64)
    foot = records.feet[0, 0]
    foot.rays.due = records.feet[1, 0].rays.due = foot.rays.ahead = True
    records.bodies.rays, records.bodies.down = 5 + AHEAD_RAYS, (0.0, -1.0, 0.0)
    records.rays[0, :, 0], records.rays[:, :, 1], records.rays[1, 2, 0] = np.arange(RAYS + 1), 1.0, np.inf
    room, hits = new_rays(2 * (RAYS + 1), 2.0, np.float64), HIT.zeros((2, RAYS + 1), np.float64)
    hits.found[1] = True
    count = gather_rays(np.arange(2), records, room)
    assert count == 5 + AHEAD_RAYS
    assert records.bodies.first_ray.tolist() == [0, NOT_CAST]
    answers = Plane().cast(room.origins[:count], room.units[:count], 2.0)
    for i in range(2):
        take_hits(records, i, hits[i], answers, 1e300)
    assert hits[0].point[RAYS, 0] == 0.0  # Under the hips.
    assert hits[0].point[:AHEAD, 0].tolist() == [1, 2, 3, 4]
    assert hits[0].point[AHEAD:PROFILE, 0].tolist() == list(range(5, 5 + AHEAD_RAYS))
    assert not hits[0].found[PROFILE:RAYS].any()
    assert not hits[1].found[:AHEAD].any()
