"""Blend shapes, and the tracks of their weights."""

import numpy as np
import pytest

from kinema.errors import InputError
from kinema.model.blend_shapes import BlendShape, ShapeTrack


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vertices": [0, 0]}, "shape 'smile': vertices has an index twice"),
        ({"vertices": [0]}, r"shape 'smile': offsets must have shape \(n, 3\)"),
        ({"offsets": [(0, 0, np.nan)] * 2}, "shape 'smile': offsets"),
        ({"weight": np.inf}, "shape 'smile': weight"),
    ],
)
def test_shapes_are_checked(change, message):
    with pytest.raises(InputError, match=message):
        BlendShape(**{"name": "smile", "vertices": [0, 1], "offsets": np.zeros((2, 3)), **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"times": (1, 0)}, "track of shape 'smile': times"),
        ({"values": (0, 1, 2)}, r"track of shape 'smile': values must have shape \(2,\), for 2 keys; got \(3,\)"),
        ({"values": (0, np.nan)}, "track of shape 'smile': values"),
        ({"interpolation": "CUBICSPLINE"}, r"values must have shape \(2, 3\)"),
        ({"interpolation": "SMOOTH"}, "track of shape 'smile': interpolation"),
    ],
)
def test_tracks_are_checked(change, message):
    with pytest.raises(InputError, match=message):
        ShapeTrack(**{"shape": "smile", "times": (0, 1), "values": (0, 1), **change})


def test_steps_hold_and_lines_are_straight():
    step, line = (ShapeTrack("smile", (1, 2, 4), (0, 1, 3), how) for how in ("STEP", "LINEAR"))
    np.testing.assert_array_equal(step.at([0, 1, 1.5, 2, 3.9, 4, 9]), [0, 0, 0, 1, 1, 3, 3])
    np.testing.assert_allclose(line.at([0, 1.5, 3, 9]), [0, 0.5, 2, 3])


def test_cubic_splines_pass_their_keys_with_their_tangents():
    track = ShapeTrack("smile", (0, 2, 3), [(0, 1, 0.5), (-1, 2, 3), (0, 0, 0)], "CUBICSPLINE")
    step = 1e-6
    np.testing.assert_allclose(track.at([0, 2, 3, 9, -1]), [1, 2, 0, 0, 1])
    for time, slope in ((step / 2, 0.5), (2 - step / 2, -1), (2 + step / 2, 3), (3 - step / 2, 0)):
        low, high = track.at([time - step / 2, time + step / 2])
        assert (high - low) / step == pytest.approx(slope, abs=1e-4)
    alone = ShapeTrack("smile", (1,), [(5, 2, 5)], "CUBICSPLINE")
    np.testing.assert_array_equal(alone.at([0, 1, 2]), [2, 2, 2])
