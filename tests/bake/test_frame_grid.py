"""Keys on the frames that are asked for."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings, bake
from kinema.demo import humanoid, slope, stairs


@pytest.mark.parametrize(("fps", "loops"), [(60, 1), (30, 3), (24, 1), (7, 2)])
def test_keys_are_on_the_frames_that_are_asked_for(fps, loops):
    """A clip of no whole number of frames: its end is a key of its own, and the feet are where they would be."""
    person = humanoid()
    clip = person.clips["walk"].in_place(joint="root")
    clip = replace(clip, tracks=[replace(t, times=t.times * 0.9037) for t in clip.tracks], duration=None)
    baked = bake(person, clip, BakeSettings(ground=slope(10), fps=fps, loops=loops))
    times = max((track.times for track in baked.clip.tracks), key=len)
    assert np.abs(times[:-1] * fps - np.arange(len(times) - 1)).max() < 1e-5
    assert times[-1] == pytest.approx(loops * clip.duration, abs=1e-5)
    assert baked.fps == fps
    assert len(times) == baked.keys
    fine = bake(person, clip, BakeSettings(ground=slope(10), loops=loops))
    one, other = (person.skeleton.world(made.clip.sample(times)) for made in (baked, fine))
    assert np.abs(one - other)[..., :3, 3].max() < 0.05, "feet in the air are less than a frame early or late"
    figures = metrics.measure(person.rig, one, slope(10), 1 / fps, planted=_planted_at(fine, times))
    assert figures.worst_hover < 0.02
    assert figures.worst_slide < 0.02


def _planted_at(baked, times):
    """(K, L): which feet stand at some times: those that do in the samples before and after."""
    at = np.clip(times / baked.dt, 0, len(baked.after.planted) - 1)
    return baked.after.planted[np.floor(at + 1e-3).astype(int)] & baked.after.planted[np.ceil(at - 1e-3).astype(int)]


def test_keys_are_added_where_soles_would_be_off_between_them():
    """At 6 frames a second feet cut through stairs; keys are added there, and no others."""
    person = humanoid()
    sparse = person.clips["walk"].sample(np.arange(8) / 7 * person.clips["walk"].duration)
    clip = km.Clip.from_poses("sparse", person.skeleton, sparse, fps=21.0)
    ground = stairs(0.15, 0.3)
    baked = bake(person, clip, BakeSettings(ground=ground, loops=3))
    times = max((track.times for track in baked.clip.tracks), key=len)
    assert baked.fps == pytest.approx(21.0, rel=0.1)
    assert baked.keys == len(times) > 21 * times[-1] + 1
