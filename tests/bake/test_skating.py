"""Contacts of noisy and of skating clips, and the travel at which feet do not slip."""

import numpy as np
import pytest

import kinema as km
from kinema.bake import BakeSettings, bake
from kinema.bake.clip_frames import frames_of
from kinema.demo import humanoid
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.motion.runs import runs
from kinema.motion.soles import slides_of
from tests.assets import asset

SETTINGS = BakeSettings(lock_feet=True)


def skating(person, strength):
    """The person's walk in place, faster and slower in turns: its feet pass under the body at no common speed."""
    walk = person.clips["walk"].in_place(up=person.rig.up)
    times = np.linspace(0.0, walk.duration, 121)
    warped = times + strength * walk.duration / (4 * np.pi) * np.sin(4 * np.pi * times / walk.duration)
    return Clip.from_poses("skating", person.skeleton, walk.sample(warped), times=times)


def trembling(person, size):
    """The person's walk with hips that tremble from frame to frame, as captured ones do. size: leg lengths."""
    walk = person.clips["walk"]
    times = np.linspace(0.0, walk.duration, 121)
    translations, rotations, scales = walk.sample(times).arrays()
    noise = np.random.default_rng(5).normal(size=(len(times), 3)) * size * person.rig.leg_length
    translations = translations.copy()
    translations[:, int(person.rig.hips)] += noise
    return Clip.from_poses("trembling", person.skeleton, Pose.of(translations, rotations, scales), times=times)


def test_a_stance_of_a_trembling_clip_is_one_contact():
    person = humanoid()
    clean, noisy = (
        frames_of(person.rig, clip, SETTINGS).without_lead for clip in (trembling(person, 0.0), trembling(person, 1e-3))
    )
    assert len(runs(noisy.held.T)[0]) == len(runs(clean.held.T)[0])


@pytest.mark.parametrize(("strength", "off"), [(0.0, 0.03), (0.3, 0.06), (0.6, 0.16)])
def test_the_travel_of_a_skating_walk_is_that_of_the_walk(strength, off):
    """The more it skates, the less the feet that agree are right about the speed."""
    person = humanoid()
    own = frames_of(person.rig, person.clips["walk"], SETTINGS)
    hips = own.world[:, person.rig.hips, :3, 3]
    speed = np.linalg.norm(hips[-1] - hips[0]) / (own.times[-1] - own.times[0]) / person.rig.leg_length
    found = frames_of(person.rig, skating(person, strength), SETTINGS)
    assert found.moved
    assert found.travel.speed == pytest.approx(speed, rel=off)


def test_feet_of_a_skating_walk_stand_for_as_long_as_those_of_the_walk():
    person = humanoid()
    clean, skates = (
        frames_of(person.rig, skating(person, strength), SETTINGS).without_lead.held.mean() for strength in (0.0, 0.5)
    )
    assert clean > 0.5
    assert skates == pytest.approx(clean, abs=0.08)


def test_a_skating_walk_is_baked_without_skating():
    person, settings = humanoid(), BakeSettings(lock_feet=True, loops=2)
    clip = skating(person, 0.5)
    frames = frames_of(person.rig, clip, settings).without_lead
    baked = bake(person, clip, settings)
    world = person.skeleton.world(baked.clip.sample(frames.times)).astype(float)
    before, after = (slides_of(person.rig, each) / person.rig.leg_length for each in (frames.world, world))
    most = [0.0, 0.0]
    for foot, start, stop in zip(*runs(frames.held.T), strict=True):
        if stop - start < 8:
            continue
        part = slice(start + 2, stop - 2)
        for n, slides in enumerate((before, after)):
            most[n] = max(most[n], float(np.ptp(slides[part, foot], axis=0).max()))
    assert most[0] > 0.05
    assert most[1] < 0.01


def test_the_travel_of_a_walk_whose_feet_do_not_agree_is_the_mean_of_them():
    """The Knight's feet pass under him at 1.8 to 4 leg lengths a second."""
    rig = (knight := km.load(asset("gltf/KayKit_Knight.glb"))).rig
    frames = frames_of(rig, knight.clips["Walking_B"], SETTINGS).without_lead
    slides = np.diff(slides_of(rig, frames.world), axis=0)[frames.held[1:] & frames.held[:-1]] / frames.dt
    assert frames.travel.speed > 2.4
    assert np.linalg.norm(slides.mean(axis=0)) < 0.1 * frames.travel.speed * rig.leg_length
