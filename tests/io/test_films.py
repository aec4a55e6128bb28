"""Films: what is refused, and that errors leave nothing behind."""

import numpy as np
import pytest

from kinema.errors import InputError
from kinema.io.films import film_bytes

FRAME = np.zeros((20, 30, 3), np.uint8)


@pytest.mark.parametrize(
    ("frames", "fps", "kind", "says"),
    [
        ([], 25.0, ".mp4", "no frames"),
        ([FRAME], 0.0, ".mp4", "fps is 0.0"),
        ([FRAME], 25.0, ".avi", ".mp4"),
        ([FRAME, FRAME[:10]], 25.0, ".mp4", r"frames\[1\]"),
        ([FRAME.astype(float)], 25.0, ".webm", "uint8"),
        ([FRAME[:, :, 0]], 25.0, ".webm", "uint8"),
    ],
)
def test_mistakes_are_named(frames, fps, kind, says):
    with pytest.raises(InputError, match=says):
        film_bytes(frames, fps, kind)


def test_a_fault_of_the_frames_is_passed_on():
    def broken():
        yield FRAME
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        film_bytes(broken(), 25.0, ".mp4")
