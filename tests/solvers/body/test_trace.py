"""What a person does over a second and a half, as figures: every tuning constant of following has a part in them.

The figures change only with the tuning or the arithmetic; the commit says why.
"""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid

pytestmark = pytest.mark.slow_uncompiled

FRAMES = 90
SEEN = [
    [1.1728, 0.04657, 0.93722, 0.18609],
    [1.3553, -0.08208, 0.9388, 0.01155],
    [1.34725, -0.09399, 0.93867, 0.3813],
    [1.18932, 0.03375, 0.93778, 1.74689],
    [0.84031, 0.31793, 0.93372, 1.57879],
    [1.03326, 0.24381, 0.93748, 0.16352],
    [1.35177, 0.075, 0.9383, 0.00001],
    [1.19646, -0.14509, 0.92048, 0.00937],
    [1.0258, -0.02066, 0.93951, 0.0],
]
"""Every tenth frame: height of the hand, the head ahead, height of the hips, sum of all errors; metres."""

STEPS = 289
"""Of all frames."""


def trace():
    """A hand is led around, far out of reach and back while the feet are pinned, then let go."""
    character = humanoid()
    body, rest = km.FullBody(character, speed=4.0), character.skeleton.rest.astype(np.float64)
    hand, head, hips = (body.joint(name) for name in ("left_hand", "head", "hips"))
    start = character.skeleton.world(rest)[hand, :3, 3]
    feet = [km.Effector("left_foot", pin=True), km.Effector("right_foot", pin=True)]
    balanced = km.Effector("centre_of_mass", balance=0.05, priority=1)
    pose, steps, seen = rest, 0, []
    for k in range(FRAMES):
        far = 1.5 if 30 <= k < 45 else 0.35
        around = np.array((np.cos(0.12 * k), np.sin(0.12 * k), 0.8)) * far
        wanted = [km.Effector("left_hand", start + around, rotation=(0, 0, 0, 1), rotation_weight=0.5), *feet]
        wanted = [balanced, *wanted] if k < 60 else wanted if k < 75 else feet
        pose, report = body.solve(rest, wanted, warm=pose)
        steps += int(report.steps)
        if k % 10 == 4:
            world = character.skeleton.world(pose)
            seen.append([world[hand, 1, 3], world[head, 2, 3], world[hips, 1, 3], report.error.sum()])
    return np.array(seen), steps


def test_a_second_and_a_half_of_following():
    seen, steps = trace()
    np.testing.assert_allclose(seen, SEEN, atol=2e-5)
    assert abs(steps - STEPS) <= 2
