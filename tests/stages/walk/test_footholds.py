"""Where feet land, judged from outside."""

import numpy as np
import pytest

import kinema as km
from kinema import demo, metrics
from kinema.math.rows import load3
from kinema.stages.legs.ground_contact import HIT, PLANTED, SWINGING
from kinema.stages.walk.footholds import (
    CANDIDATES,
    begin_swing,
    candidate_offset,
    find_foothold,
    foothold_at,
    is_within_reach,
    learns_again,
    misses,
    sample_part,
    samples_of,
)
from tests.assets import asset
from tests.compiled import plain_python_only
from tests.locomotion.figures import measure
from tests.locomotion.walks import walked
from tests.stages.walk.one_walker import FLOOR, HERE, UP, a_walker, settings, some_feet, some_legs
from tests.stages.walkers import Walk, exact


def rises_beside(walk, offset):
    """(F, L): leg lengths that the ground beside each ball is higher than under it. offset: in leg lengths."""
    balls = walk.balls()
    above = balls + np.array((0.0, 2.0, 0.0))
    down = np.broadcast_to((0.0, -1.0, 0.0), balls.reshape(-1, 3).shape)
    under = walk.ground.cast(above.reshape(-1, 3), down, 6.0).point[:, 1]
    beside = walk.ground.cast((above + np.array(offset) * walk.size).reshape(-1, 3), down, 6.0).point[:, 1]
    return (beside - under).reshape(balls.shape[:2]) / walk.size


@pytest.mark.slow_uncompiled
def test_feet_that_are_points_keep_clear_of_risers():
    walk = Walk(exact("spider"), demo.stairs(), start=(0.0, 0.0, 0.8))
    walk.state.walk((0.0, 0.0, 0.5), turn=0.1)
    walk.go(6.0)
    near = np.maximum(rises_beside(walk, (0.0, 0.0, 0.02)), rises_beside(walk, (0.0, 0.0, -0.02)))
    assert walk.place[-1, 1, 3] > 0.5  # It is on the stairs.
    assert near[walk.planted].max() < 0.05


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize("ground", ["stairs_up", "stairs_down"])
def test_feet_longer_than_treads_climb_stairs_on_their_toes(ground):
    asset("gltf/KayKit_Knight.glb")
    figures = measure(walked("KayKit_Knight", ground))
    assert figures.depth.max() < 2.0
    assert figures.speed.min() > 65.0


@pytest.mark.slow_uncompiled
def test_a_long_body_climbs_stairs_of_forty_degrees():
    """The steps before its forefeet are more than a leg above its floor, and rays start above them all the same."""
    walk = Walk(exact("quadruped"), demo.stairs(rise=0.1, run=0.12, count=20), start=(0.0, 0.0, 0.7))
    walk.state.walk((0.0, 0.0, 0.6))
    walk.go(8.0)
    assert walk.place[-1, 1, 3] > 1.05
    assert metrics.soles_over(walk.character.rig, walk.world, walk.ground).gap.min() > -0.02 * walk.size


# --- one foot, by itself ----------------------------------------------------------------------------------------------


class Search:
    """A foot that looks for its foothold, of a leg that reaches anywhere, and what its rays hit."""

    def __init__(self, height, **leg):
        """height: of the ground, by x and z from the foot; None for a hole."""
        self.settings, self.walker = settings(), a_walker()
        usual = {"reach": 3.0, "rest_reach": 2.9, "crouch": 3.0, "home": (0.0, 0.0, 0.0), "hip": (0.0, 0.9, 0.0)}
        self.leg = some_legs(1, **(usual | leg))[0]
        self.foot = some_feet(np.array([self.leg], dtype=object), SWINGING)[0]
        rays = CANDIDATES * samples_of(self.leg)
        self.hits = HIT.zeros(rays, np.float64)
        for n in range(rays):
            which, sample = divmod(n, samples_of(self.leg))
            at = np.add(
                candidate_offset(self.settings, self.leg, self.foot, which, UP),
                sample_part(self.settings, self.leg, sample),
            )
            y = height(at[0], at[2])
            self.hits[n].found, self.hits[n].normal, self.hits[n].point = y is not None, UP, (at[0], y or 0.0, at[2])

    def find(self):
        found = find_foothold(self.settings, self.leg, self.walker, self.foot, self.hits, HERE, FLOOR)
        return np.array(self.foot.foothold.ball) if found else None

    def cost(self, which=0):
        return foothold_at(self.settings, self.leg, self.walker, self.foot, which, self.hits, FLOOR).cost

    def begin(self):
        begin_swing(self.settings, self.leg, self.walker, self.foot, self.hits, HERE, FLOOR)
        return self.foot


@plain_python_only
@pytest.mark.parametrize(("rise", "found"), [(0.45, True), (-0.45, True), (0.65, False), (-0.65, False)])
def test_a_foot_steps_up_or_down_by_half_a_leg_at_most(rise, found):
    search = Search(lambda x, z: rise)
    search.foot.wanted.beside = rise
    assert (search.find() is not None) == found


@plain_python_only
@pytest.mark.parametrize(("rise", "found"), [(0.4, True), (0.6, False)])
def test_a_foot_stands_as_high_as_the_one_beside_it_within_half_a_leg(rise, found):
    search = Search(lambda x, z: 0.0)
    search.foot.wanted.beside = rise
    assert (search.find() is not None) == found


@plain_python_only
def test_a_walker_that_waits_for_its_legs_steps_higher():
    search = Search(lambda x, z: 0.65)
    search.walker.progress = 0.0
    assert search.find() is not None


@plain_python_only
@pytest.mark.parametrize(("rise", "costs"), [(0.04, False), (0.08, True)])
def test_a_rise_right_before_the_toes_costs_as_a_hole_does_once_it_is_higher_than_a_bump(rise, costs):
    cost = Search(lambda x, z: rise if z > 0.11 else 0.0).cost()
    assert cost == pytest.approx(0.9 if costs else 0.0, rel=0.3)


@plain_python_only
@pytest.mark.parametrize(("gap", "cost"), [(0.05, 0.15), (0.07, 1.21)])
def test_a_foot_that_stands_on_its_heel_and_its_toes_hangs_if_its_ball_does_by_six_hundredths(gap, cost):
    """That costs a leg length more; below, only the gap counts."""
    assert Search(lambda x, z: 0.0 if abs(z) < 0.05 else gap).cost() == pytest.approx(cost, abs=0.02)


@plain_python_only
@pytest.mark.parametrize(("beside", "moves"), [(0.37, False), (0.39, True)])
def test_a_foot_steps_up_beside_one_that_stands_more_than_a_step_higher(beside, moves):
    """Level with where it was it stands 0.07 or 0.09 too low, which counts twice. The tread 0.1 aside and 0.1 up costs
    0.16.
    """
    search = Search(lambda x, z: 0.0 if abs(x) < 0.05 and abs(z) < 0.05 else 0.1, point=True)
    search.foot.wanted.beside = beside
    assert (search.find()[1] > 0.05) == moves


@plain_python_only
def test_a_gap_under_the_heel_costs_three_times_its_size():
    assert Search(lambda x, z: -0.05 if z < -0.15 else 0.0).cost() == pytest.approx(0.15, rel=0.35)


@plain_python_only
def test_a_point_stands_clear_of_a_riser_beside_it():
    search = Search(lambda x, z: 0.2 if z > 0.02 else 0.0, point=True)
    held = foothold_at(search.settings, search.leg, search.walker, search.foot, 0, search.hits, FLOOR)
    assert held.ball[2] == pytest.approx(-0.03)
    assert held.cost == pytest.approx(0.9, rel=0.3)
    assert samples_of(search.leg) == 5  # In its middle, and on four sides.


@plain_python_only
@pytest.mark.parametrize(("beyond", "moves"), [(0.014, False), (0.03, True)])
def test_a_foot_moves_aside_rather_than_cross_the_foot_beside_it(beyond, moves):
    search = Search(lambda x, z: 0.0, point=True)
    search.foot.wanted.side[:], search.foot.wanted.bound = (1.0, 0.0, 0.0), beyond
    assert (search.find()[0] > 0.05) == moves


@plain_python_only
@pytest.mark.parametrize(("rise", "moves"), [(0.12, False), (0.24, True)])
def test_of_two_treads_the_level_one_is_better_unless_it_is_too_far(rise, moves):
    search = Search(lambda x, z: rise if abs(x) < 0.05 and abs(z) < 0.05 else 0.0, point=True)
    assert (np.hypot(*search.find()[::2]) > 0.05) == moves


@plain_python_only
@pytest.mark.parametrize(("away", "steps"), [(0.012, False), (0.03, True)])
def test_a_step_of_a_centimetre_is_not_worth_it(away, steps):
    search = Search(lambda x, z: 0.0)
    search.foot.target.ball[2] = -away
    assert (search.begin().target.contact == SWINGING) == steps


@plain_python_only
def test_a_foot_without_a_foothold_stays():
    search = Search(lambda x, z: None)
    foot = search.begin()
    assert foot.target.contact == PLANTED
    assert foot.foothold.failed


def reaches(x=0.0, y=0.1, progress=1.0, **leg):
    legs = some_legs(1, home=(0.0, 0.0, 0.0), hip=(0.0, 0.9, 0.0), **leg)
    return is_within_reach(settings(), legs[0], a_walker(progress=progress), some_feet(legs)[0], HERE, (x, y, 0.0), UP)


@plain_python_only
def test_a_foothold_leaves_a_quarter_of_the_stretch_of_its_leg_for_later():
    assert reaches(x=0.9, crouch=5.0)
    assert not reaches(x=0.96, crouch=5.0)


@plain_python_only
def test_a_foothold_takes_four_fifths_of_the_crouch_of_its_body():
    assert reaches(y=0.1 - 0.27, crouch=0.2)
    assert not reaches(y=0.1 - 0.33, crouch=0.2)


@plain_python_only
@pytest.mark.parametrize(("progress", "held"), [(0.08, True), (0.12, False)])
def test_a_walker_below_a_tenth_of_its_speed_takes_footholds_at_the_end_of_its_reach(progress, held):
    assert reaches(x=0.96, crouch=5.0, progress=progress) == held


@plain_python_only
@pytest.mark.parametrize(("below", "reached"), [(0.43, True), (0.48, False)])
def test_a_walker_that_waits_takes_footholds_one_and_two_fifths_of_its_crouch_down(below, reached):
    """Its hip is 0.9 m high, its leg 0.98 m long: down from 0.1 m, it reaches 0.18 m and 1.4 of a crouch of 0.2 m."""
    assert reaches(y=0.1 - below, crouch=0.2, progress=0.0) == reached


@plain_python_only
def test_a_foot_that_rises_looks_again_once_its_foothold_is_out_of_reach():
    legs = some_legs(1)
    foot = some_feet(legs, SWINGING)[0]
    foot.swing.left = 0.2
    assert not misses(settings(), legs[0], a_walker(), foot, HERE, UP)
    foot.foothold.ball[2] = 2.0
    assert misses(settings(), legs[0], a_walker(), foot, HERE, UP)
    foot.swing.replanned = True
    assert not misses(settings(), legs[0], a_walker(), foot, HERE, UP)


@plain_python_only
def test_candidates_lie_around_where_the_foot_is_wanted_and_on_the_way_home():
    leg = some_legs(1)[0]
    foot = some_feet(some_legs(1))[0]
    foot.wanted.point[:] = load3(foot.home.point + np.array((0.0, 0.0, 0.4)))
    offsets = np.array([candidate_offset(settings(), leg, foot, which, UP) for which in range(CANDIDATES)])
    np.testing.assert_allclose(np.linalg.norm(offsets[:13], axis=-1), [0.0] + [0.1] * 4 + [0.2] * 8)
    np.testing.assert_allclose(offsets[13:, 2], -0.05 * np.arange(1, 9), err_msg="home, in eighths of the way")
    assert not offsets[13:, :2].any()


@plain_python_only
def test_legs_out_of_step_learn_every_other_beat():
    walker = a_walker()
    walker.rhythm.retries, walker.rhythm.since = True, 0.85
    assert learns_again(walker)
    walker.rhythm.since = 0.5
    assert not learns_again(walker)


@plain_python_only
def test_a_foot_keeps_three_centimetres_of_a_metres_leg_from_the_edge_of_a_step():
    legs = km.Animator(demo.humanoid(), [km.Locomotion()], ground=0.0)["locomotion"]._records.legs
    assert np.linalg.norm(legs["margin"], axis=-1) / legs["bones"]["length"] == pytest.approx([0.03, 0.03], abs=0.01)
