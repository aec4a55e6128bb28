"""Strides on slopes and stairs: shorter, of whole treads, with feet that stand as long as they do in the clip."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings, bake
from kinema.bake.clip_frames import frames_of
from kinema.bake.feet import strides
from kinema.bake.feet.posture import lean_body
from kinema.bake.feet.strides import find_map, shorten_strides, way_length
from kinema.bake.grounds import GroundSpec
from kinema.bake.site import Site, grades_along, treads_along
from kinema.demo import humanoid, quadruped

UP = np.array((0.0, 1.0, 0.0))


def walk(ground, loops=4, character=None):
    """Frames of a walk, before and after, and its character."""
    person = humanoid() if character is None else character
    frames = frames_of(person.rig, person.clips["walk"], BakeSettings(ground=ground, loops=loops))
    return person, frames, shorten_strides(person, frames, site(person, ground))


def site(character, ground):
    return Site(ground, UP, character.rig.leg_length, None)


def slope(degrees):
    return GroundSpec("slope", (math.radians(degrees),)).build()


def stairs(rise=0.17, run=0.29):
    return GroundSpec("stairs", (rise, run, 60)).build()


@pytest.mark.parametrize("ground", [km.Plane(), slope(0.5)], ids=["level", "nearly level"])
def test_on_level_ground_the_clip_is_the_same(ground):
    person, frames, changed = walk(ground)
    assert changed is frames
    assert lean_body(frames, site(person, ground)) is frames


def test_strides_become_shorter_with_the_slope_up_and_down():
    shares = {}
    for degrees in (-25, -12, 12, 25):
        _, frames, changed = walk(slope(degrees))
        shares[degrees] = way_length(changed) / way_length(frames)
    assert 0.85 < shares[12] < 0.97
    assert 0.6 < shares[25] < 0.75
    assert shares[-12] == pytest.approx(shares[12], abs=0.03)
    assert shares[-25] == pytest.approx(shares[25], abs=0.03)


def test_across_a_slope_strides_stay_as_long_as_they_are():
    sideways = km.Plane((0, 0, 0), (-math.sin(0.4), math.cos(0.4), 0.0))
    _, frames, changed = walk(sideways)
    assert way_length(changed) > 0.97 * way_length(frames)


@pytest.mark.parametrize("ground", [slope(25), stairs()], ids=["slope", "stairs"])
def test_feet_that_stand_in_the_clip_still_stand(ground):
    person, frames, changed = walk(ground)
    leg = person.rig.leg_length
    drifts = []
    for each in (frames, changed):
        balls = metrics.sole_points(person.rig, each.world)[:, :, 1] * (1, 0, 1)
        moved = np.linalg.norm(np.diff(balls, axis=0), axis=-1)
        drifts.append((moved * (frames.held[1:] & frames.held[:-1])).max() / leg)
    assert drifts[1] < drifts[0] + 2e-3, "no planted foot moves more than it does in the clip"


def test_steps_on_stairs_are_as_long_as_treads():
    run = 0.29
    person, _, changed = walk(stairs(0.17, run), loops=8)
    balls = metrics.sole_points(person.rig, changed.world)[:, :, 1]
    landed = [
        np.sort(
            [balls[k, foot, 2] for k in range(1, len(balls)) if changed.held[k, foot] and not changed.held[k - 1, foot]]
        )
        for foot in range(2)
    ]
    strides = np.concatenate([np.diff(each[each > 1.5]) for each in landed])
    assert len(strides) >= 4
    assert np.abs(strides - 2 * run).max() < 0.1 * run, "two treads from contact to contact of the same foot"


def test_treads_are_found_and_slopes_have_none():
    way = np.stack((np.zeros(60), np.ones(60), np.linspace(0.0, 4.0, 60)), axis=-1)
    steps, hill = (Site(ground, UP, 0.9, None) for ground in (stairs(0.17, 0.29), slope(25)))
    grades = grades_along(steps, way, 0)
    assert treads_along(steps, grades, grades.axis).run == pytest.approx(0.29, abs=0.02)
    assert abs(grades.axis @ (0, 0, 1)) > 0.99
    grades = grades_along(hill, way, 0)
    assert np.linalg.norm(grades.slopes, axis=-1) == pytest.approx(math.tan(math.radians(25)), rel=1e-3)
    assert treads_along(hill, grades, grades.axis) is None


def test_the_start_stays_where_it_was_asked_for():
    person = humanoid()
    ground = slope(20)
    baked = bake(person, "walk", BakeSettings(ground=ground, at=(0.5, 2.0), loops=3))
    hips = person.skeleton.world(baked.clip.sample(0.0))[person.rig.hips, :3, 3]
    plain = bake(person, "walk", BakeSettings(ground=ground, at=(0.5, 2.0), loops=3, keep_strides=True))
    other = person.skeleton.world(plain.clip.sample(0.0))[person.rig.hips, :3, 3]
    assert np.abs(hips - other)[[0, 2]].max() < 0.02
    assert plain.strides == 1.0
    assert 0.7 < baked.strides < 0.95


def test_a_body_leans_uphill_and_keeps_its_head_level():
    person = humanoid()
    leans, heads = [], []
    for keep in (True, False):
        clip = bake(person, "walk", BakeSettings(ground=slope(25), loops=4, keep_strides=keep)).clip
        world = person.skeleton.world(clip.sample(np.linspace(1.0, clip.duration - 1.0, 40)))
        trunk = (world[:, person.rig.spine[-1], :3, 3] - world[:, person.rig.hips, :3, 3]).mean(axis=0)
        leans.append(math.degrees(math.atan2(trunk[2], trunk[1])))
        heads.append(world[:, person.rig.head, :3, 1].mean(axis=0))
    assert 3.0 < leans[1] - leans[0] < 12.0, "forwards, by a part of the slope"
    assert np.degrees(np.arccos(np.clip(np.dot(*heads) / np.prod(np.linalg.norm(heads, axis=-1)), -1, 1))) < 5.0


def test_an_idle_character_and_one_on_four_legs_keep_their_poses():
    person = humanoid()
    frames = frames_of(person.rig, person.clips["idle"], BakeSettings(ground=slope(25)))
    assert shorten_strides(person, frames, site(person, slope(25))) is frames
    _, frames, changed = walk(slope(25), character=quadruped())
    assert changed is frames


def test_without_ground_below_nothing_changes():
    class Nothing:
        def cast(self, origins, directions, max_distance):
            return km.Plane((0, -1e9, 0)).cast(origins, directions, max_distance)

    person = humanoid()
    frames = frames_of(person.rig, person.clips["walk"], BakeSettings(ground=km.Plane()))
    assert shorten_strides(person, frames, site(person, Nothing())) is frames


class Broken:
    """A slope whose hits are not finite beyond a point of the way."""

    def cast(self, origins, directions, max_distance):
        hits = slope(20).cast(origins, directions, max_distance)
        beyond = np.asarray(origins)[:, 2:3] > 2.0
        return hits._replace(point=np.where(beyond, np.inf, hits.point))


def test_hits_that_are_not_finite_count_as_no_ground():
    way = np.stack((np.zeros(60), np.ones(60), np.linspace(0.0, 4.0, 60)), axis=-1)
    grades = grades_along(Site(Broken(), UP, 0.9, None), way, 0)
    assert len(grades.places)
    assert np.isfinite(grades.slopes).all()
    assert np.isfinite(grades.axis).all()


def test_a_way_of_kilometres_needs_no_more_memory():
    person = humanoid()
    clip = person.clips["walk"]
    times = np.arange(31) / 30
    poses = clip.sample(times)
    poses.translations[:, 0, 2] += 1e6 * times
    far = km.Clip.from_poses("far", person.skeleton, poses, times=times)
    frames = frames_of(person.rig, far, BakeSettings(ground=slope(25)))
    changed = shorten_strides(person, frames, site(person, slope(25)))
    assert np.isfinite(changed.poses.rotations).all()
    assert 0.6 < way_length(changed) / way_length(frames) < 0.75


def stepping(length, way=2.0):
    """A person whose feet step so far along a slope, and whose hips go so far, leg lengths: its map, and its leg."""
    person = humanoid()
    leg, ground = person.rig.leg_length, slope(25)
    frames = frames_of(person.rig, person.clips["walk"], BakeSettings(ground=ground, loops=4))
    share = np.linspace(0.0, 1.0, len(frames.times))[:, np.newaxis]
    hips = share * np.array((0.0, 1.0, way)) * leg
    soles = (share * np.array((0.0, 0.0, length)) * leg)[:, np.newaxis].repeat(2, axis=1)
    return find_map(frames, hips, soles, site(person, ground)), leg


@pytest.mark.parametrize(("length", "changes"), [(0.35, False), (0.6, True)])
def test_feet_that_step_less_than_four_tenths_of_a_leg_along_the_rise_do_not_walk(length, changes):
    found, _ = stepping(length)
    assert (found is not None) == changes


def test_feet_that_step_eight_tenths_of_a_leg_shorten_their_strides_half_as_much_as_those_that_step_far():
    """From four tenths on, where they do not, to a leg and a fifth, where they do fully. Of its way, each foot here
    goes 92% from its first contact to its last.
    """
    half, whole, more = (
        np.log(np.diff(found.clip) / np.diff(found.ground)).max() for found, _ in map(stepping, (0.87, 1.35, 1.7))
    )
    assert half / whole == pytest.approx(0.5, abs=0.04)
    assert more == pytest.approx(whole, rel=0.01)


def test_a_map_has_a_point_every_fiftieth_of_a_leg_and_at_most_four_thousand():
    found, leg = stepping(2.0)
    assert np.diff(found.ground).max() < 0.0201 * leg
    assert 3000 < len(stepping(2.0, 500.0)[0].ground) <= 4000


def test_a_quarter_of_a_leg_beyond_the_foot_of_a_slope_strides_know_five_sixths_of_it():
    """As a Gaussian of that deviation has it."""
    along, leg, axis = np.arange(-4.0, 4.0, 0.01), 0.9, np.array((0.0, 0.0, 1.0))
    slopes = np.where(along > 0.0, 0.5, 0.0)
    grades = SimpleNamespace(places=np.outer(along, axis), slopes=np.outer(slopes, axis))
    at = np.array((-2.0, -0.25, 0.0, 0.25, 2.0)) * leg
    found = strides._smooth_rise(grades, axis, at, leg) / 0.5
    np.testing.assert_allclose(found, (0.0, 0.16, 0.5, 0.84, 1.0), atol=0.03)


def test_strides_become_shorter_to_a_third_at_most():
    """On treads of a tenth of a metre, seven of which are a step: the map is that much steeper, and no more."""
    ground = stairs(0.15, 0.1)
    person = humanoid()
    frames = frames_of(person.rig, person.clips["walk"], BakeSettings(ground=ground, loops=4))
    soles = metrics.sole_points(person.rig, frames.world)
    hips = frames.world[:, person.rig.hips, :3, 3]
    found = find_map(frames, hips, (soles[:, :, 0] + soles[:, :, 2]) / 2, site(person, ground))
    assert (np.diff(found.clip) / np.diff(found.ground)).max() == pytest.approx(math.exp(1.2), rel=0.01)


@pytest.mark.parametrize(("stride", "steps"), [(0.2, False), (0.4, True), (0.9, True)])
def test_strides_are_three_tenths_of_a_leg_long_at_least(stride, steps):
    """A foot that stands again closer to where it stood shuffles."""
    held = np.tile(np.repeat((True, False), 5), 4)[:, np.newaxis]
    along = 0.9 * stride * (np.arange(40) // 10)[:, np.newaxis]
    found = strides._step(SimpleNamespace(held=held), along, 0.9)
    assert found == (pytest.approx(0.45 * stride) if steps else None)
