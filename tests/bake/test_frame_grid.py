"""Keys on the frames that are asked for."""

from dataclasses import replace

import numpy as np
import pytest

from kinema import metrics
from kinema.bake import BakeSettings, bake
from kinema.demo import humanoid, slope


@pytest.mark.parametrize(("fps", "loops"), [(60, 1), (30, 3), (24, 1), (7, 2)])
def test_keys_are_on_the_frames_that_are_asked_for(fps, loops):
    """A clip of no whole number of frames: its end is a key of its own, and the feet are where they would be."""
    person = humanoid()
    clip = person.clips["walk"].in_place(joint="root")
    clip = replace(clip, tracks=[replace(t, times=t.times * 0.9037) for t in clip.tracks], duration=None)
    baked = bake(person, clip, BakeSettings(ground=slope(10), fps=fps, loops=loops))
    times = max((track.times for track in baked.clip.tracks), key=len)
    assert np.abs(times[:-1] * fps - np.arange(len(times) - 1)).max() < 1e-5
    assert times[-1] == pytest.approx(loops * clip.duration, abs=1e-5) and 1 / baked.dt == pytest.approx(fps)
    assert len(times) == len(baked.after.planted)
    fine = bake(person, clip, BakeSettings(ground=slope(10), loops=loops))
    one, other = (person.skeleton.world(made.clip.sample(times)) for made in (baked, fine))
    assert np.abs(one - other)[..., :3, 3].max() < 0.04, "feet in the air differ a little with what is computed"
    figures = metrics.measure(person.rig, one, slope(10), baked.dt, planted=baked.after.planted)
    assert figures.worst_hover < 0.02 and figures.worst_slide < 0.02
