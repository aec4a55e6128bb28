"""Clips prepared for a game: feet stand on the character's floor, whatever the clip was captured on."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema.bake import BakeSettings, bake, prepare_clip
from kinema.bake.grounds import GroundSpec
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.clip import Clip
from kinema.model.pose import Pose

RATE = 60


@pytest.fixture(scope="module")
def person():
    return humanoid()


def sampled(clip):
    return np.arange(round(clip.duration * RATE) + 1) / RATE


def raised(person, clip, heights):
    """A clip whose hips are raised along the way, (F,), as on a floor that is not level."""
    times = sampled(clip)
    translations, rotations, scales = (part.copy() for part in clip.sample(times).arrays())
    translations[:, int(person.rig.hips), 1] += heights(times)
    return Clip.from_poses("take", clip.skeleton, Pose.of(translations, rotations, scales), times=times)


def standing_heights(person, clip):
    """Heights of the lowest point of soles that hardly move, leg lengths above the floor."""
    times = sampled(clip)
    points = km.metrics.sole_points(person.rig, person.skeleton.world(clip.sample(times)).astype(np.float64))
    speeds = np.linalg.norm(np.gradient(points, 1 / RATE, axis=0), axis=-1) / person.rig.leg_length
    low = (points @ np.array(person.rig.up)).min(axis=-1) - person.rig.floor
    return low[(speeds < 0.1).any(axis=-1)] / person.rig.leg_length


@pytest.fixture(scope="module")
def three_passes(person):
    return bake(person, "walk", BakeSettings(lock_feet=True, loops=3)).clip


def test_a_floor_that_drifts_becomes_level(person, three_passes):
    leg = person.rig.leg_length
    take = raised(person, three_passes, lambda times: np.linspace(-0.03, 0.03, len(times)) * leg)
    before, after = (standing_heights(person, clip) for clip in (take, prepare_clip(person, take)))
    assert np.ptp(np.quantile(before, (0.05, 0.95))) > 0.04
    assert np.abs(np.quantile(after, (0.05, 0.95))).max() < 0.01


def test_footholds_on_stairs_come_down(person):
    ground = GroundSpec("stairs", (0.16, 0.35, 40)).build()
    climb = bake(person, "walk", BakeSettings(ground=ground, loops=3)).clip
    assert np.quantile(standing_heights(person, climb), 0.95) > 0.5
    assert np.abs(np.quantile(standing_heights(person, prepare_clip(person, climb)), (0.05, 0.95))).max() < 0.02


def test_a_walk_in_place_stays_in_place(person):
    clip = person.clips["walk"].in_place(joint="root")
    ready = prepare_clip(person, clip)
    hips = person.skeleton.world(ready.sample(sampled(ready)))[:, int(person.rig.hips), :3, 3]
    assert ready.name == clip.name
    assert ready.duration == pytest.approx(clip.duration, abs=1 / RATE)
    assert np.linalg.norm(arrays.across(hips - hips[0], np.array(person.rig.up)), axis=-1).max() < 0.1


def test_a_clean_clip_stays_nearly_as_it_is(person):
    """Our own walk stands on its floor."""
    clip = person.clips["walk"]
    ready, times = prepare_clip(person, clip), sampled(clip)
    before, after = (person.skeleton.world(each.sample(times))[..., :3, 3] for each in (clip, ready))
    assert np.linalg.norm(after - before, axis=-1).max() < 0.02 * person.rig.leg_length


def test_what_cannot_be_prepared_is_told(person):
    with pytest.raises(km.InputError, match="there is no clip 'swim'"):
        prepare_clip(person, "swim")
    with pytest.raises(km.InputError, match="no legs were found"):
        prepare_clip(replace(person, rig=replace(person.rig, legs=())), "walk")
    with pytest.raises(km.InputError, match="has no rig"):
        prepare_clip(replace(person, rig=None), "walk")
