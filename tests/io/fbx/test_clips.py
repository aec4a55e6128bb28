"""Takes become keys: at frames, at jumps, and no more than are needed."""

import numpy as np
import pytest

from kinema.errors import FileError
from kinema.io.fbx.clips import ANGLE_BOUND
from kinema.io.fbx.transforms import from_euler
from kinema.math import arrays
from tests.io.fbx import build
from tests.io.fbx.build import animated, file, model, take

CUBIC, AUTO, CLAMPED = 8, 0x100, 0x4000


def clip(property, curves, *, start=0.0, stop=1.0, node=None, static=(), **settings):
    objects, links = [node or model(1, "A")], [("OO", 1, 0)]
    for more, joined in (take(start=start, stop=stop), animated(1, property, curves, static=static)):
        objects, links = objects + more, links + joined
    return build.read(file(objects, links, UnitScaleFactor=100.0, **settings)).clips["Walk"]


def test_straight_ways_keep_their_keys():
    made = clip("Lcl Translation", {"X": ((0, 0.5, 1), (0, 1, 0))})
    (track,) = made.tracks
    assert (track.path, track.interpolation) == ("translation", "LINEAR")
    np.testing.assert_allclose(track.times, (0, 0.5, 1))
    np.testing.assert_allclose(made.sample(0.25)["A"].translation, (0.5, 0, 0))


def test_curves_are_sampled_at_frames_of_the_file():
    made = clip("Lcl Translation", {"X": ((0, 1), (0, 1), {"flags": [CUBIC | AUTO | CLAMPED] * 2})}, TimeMode=11)
    times = made.tracks[0].times * 24
    np.testing.assert_allclose(np.intersect1d(np.rint(times), times.round(6)), np.arange(25))
    u = np.arange(25) / 24
    np.testing.assert_allclose(made.sample(u).translations[:, 0, 0], 3 * u**2 - 2 * u**3, atol=1e-6)


def test_between_frames_the_error_is_bounded():
    angles = {"X": ((0, 1), (0, 900)), "Y": ((0, 1), (0, 400))}
    made = clip("Lcl Rotation", angles, TimeMode=11)
    t = np.linspace(0, 1, 997)
    true = from_euler(np.stack((900 * t, 400 * t, 0 * t), 1))
    assert arrays.angle_between(made.sample(t).rotations[:, 0], true).max() < 1.5 * ANGLE_BOUND


def test_nothing_is_sampled_between_keys_of_consecutive_frames():
    """An angle that jumps from 179 to -179 degrees does not go the long way round within a frame."""
    times = np.arange(4) / 24
    made = clip("Lcl Rotation", {"X": (times, (175, 179, -177, -173))}, TimeMode=11, stop=0.125)
    assert len(made.tracks[0].times) == 4
    between = made.sample(1.5 / 24).rotations[0]
    assert arrays.angle_between(between, from_euler(np.array((181.0, 0, 0)))) < 1e-6


def test_a_jump_stays_a_jump():
    made = clip("Lcl Translation", {"X": ((0, 0.5, 1), (0, 3, 4), {"flags": [2, 2, 2]})})
    assert made.sample((0.4999, 0.5)).translations[:, 0, 0].tolist() == pytest.approx([0, 3], abs=1e-9)


def test_a_turn_that_drops_its_samples_keeps_its_way():
    made = clip("Lcl Rotation", {"Z": ((0, 1), (0, 720))})
    assert len(made.tracks[0].times) < 20
    assert arrays.angle_between(made.sample(0.375).rotations[0], from_euler(np.array((0, 0, 270.0)))) < 1e-9


def test_clips_begin_at_zero():
    made = clip("Lcl Translation", {"X": ((0, 4), (0, 4))}, start=1.0, stop=3.0)
    assert made.duration == 2.0
    np.testing.assert_allclose(made.sample((0, 2)).translations[:, 0, 0], (1, 3), atol=1e-9)


def test_what_stays_at_rest_has_no_track():
    assert clip("Lcl Translation", {"X": ((0, 1), (0, 0))}).tracks == ()
    (track,) = clip("Lcl Translation", {"X": ((0, 1), (2, 2))}).tracks
    assert track.values.tolist() == [[2, 0, 0]]


def test_pivots_move_what_rotates():
    node = model(1, "A", RotationPivot=(1, 0, 0))
    made = clip("Lcl Rotation", {"Z": ((0, 1), (0, 180))}, node=node)
    np.testing.assert_allclose(made.sample(1.0)["A"].translation, (2, 0, 0), atol=1e-9)
    np.testing.assert_allclose(made.sample(0.5)["A"].translation, (1, -1, 0), atol=1e-3)


def test_repetition_outside_the_keys():
    made = clip("Lcl Translation", {"X": ((0, 0.5), (0, 1), {"Post": "A"})}, stop=2.0)
    np.testing.assert_allclose(made.sample((1.0, 1.75)).translations[:, 0, 0], (2, 3.5), atol=1e-9)


@pytest.mark.parametrize("at", [-(2**63), 2**63 - 1])
def test_times_beyond_all_sense_do_not_overflow(at):
    objects, links = [model(1, "A")], [("OO", 1, 0)]
    for more, joined in (take(stop=2), animated(1, "Lcl Translation", {"X": ((0, 1), (0, 1))})):
        objects, links = objects + more, links + joined
    objects[-1][2][0][1][0][1] = at
    made = build.read(file(objects, links)).clips["Walk"]
    assert np.isfinite(made.sample((0, 1, 2)).translations).all()


def test_takes_of_absurd_length_are_refused():
    with pytest.raises(FileError, match=r"needs [\d,]+ numbers; together more than"):
        clip("Lcl Translation", {"X": ((0, 1e8), (0, 1))}, stop=1e8)
