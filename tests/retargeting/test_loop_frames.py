"""`with_neighbours`: a loop with the ends of the passes beside it is a piece of three passes."""

import numpy as np
import pytest

from kinema.bake.clip_frames import frames_of
from kinema.bake.settings import BakeSettings
from kinema.demo import humanoid, quadruped
from kinema.model.clip import Clip
from kinema.retargeting.loop_frames import MARGIN, with_neighbours


def frames(character, clip, loops=1):
    return frames_of(character.rig, clip, BakeSettings(lock_feet=True, loops=loops))


@pytest.mark.parametrize("make", [humanoid, quadruped])
def test_the_frames_are_those_of_three_passes(make):
    character = make()
    clip = character.clips["walk"]
    found, passes = with_neighbours(frames(character, clip)), frames(character, clip, 3).without_lead
    count, margin = found.one_pass, found.lead
    part = slice(count - margin, 2 * count + margin)
    first = np.linalg.inv(passes.transforms[count])
    assert np.allclose(found.transforms[:-1], first @ passes.transforms[part], atol=1e-6)
    assert np.allclose(found.poses.rotations[:-1], passes.poses.rotations[part], atol=1e-6)
    assert (found.held[:-1] == passes.held[part]).mean() > 0.98
    assert np.allclose(found.poses.rotations[-1], passes.poses.rotations[-1], atol=1e-6)


def test_a_contact_across_the_seam_is_whole():
    character = humanoid()
    poses = character.clips["walk"].sample(np.zeros(121))
    still = Clip.from_poses("still", character.skeleton, poses, fps=30.0)
    found = with_neighbours(frames(character, still))
    assert found.held.all()
    assert found.lead == found.one_pass


def test_motion_that_does_not_repeat_stays_as_it_is():
    character = humanoid()
    poses = character.clips["walk"].sample(np.linspace(0.0, 0.6, 37) * character.clips["walk"].duration)
    found = frames(character, Clip.from_poses("part", character.skeleton, poses, fps=60.0))
    assert with_neighbours(found) is found
    assert MARGIN > 0.12


@pytest.mark.parametrize("fps", [24.0, 30.0])
def test_a_loop_without_a_closing_frame_has_the_same_neighbours_and_ends_as_it_did(fps):
    """At fewer than 60 keys a second several frames lie between its last key and its first."""
    character = humanoid()
    walk = character.clips["walk"].in_place()
    count = round(float(walk.duration) * fps)
    poses = walk.sample(np.arange(count + 1) / count * walk.duration)
    closed, opened = (
        with_neighbours(frames(character, Clip.from_poses("loop", character.skeleton, poses[:keys], fps=fps)))
        for keys in (count + 1, count)
    )
    assert closed.one_pass - opened.one_pass == np.ceil(60.0 / fps)
    last = opened.poses.rotations[-1]
    assert np.allclose(last, poses.rotations[count - 1], atol=1e-6)
    margin = min(closed.lead, opened.lead)
    ours, theirs = (each.poses.rotations[each.lead - margin : each.lead + 20] for each in (closed, opened))
    assert np.allclose(ours, theirs, atol=0.02)
    steps = np.diff(opened.transforms[:-1, :3, 3], axis=0)
    assert np.ptp(np.linalg.norm(steps, axis=-1)) < 0.5 * np.linalg.norm(steps, axis=-1).mean()
