"""Crowds on the CPU and on the simulated device that are given the same."""

import numpy as np

import kinema as km
from kinema.demo import humanoid

COUNT = 3
DT = 1 / 60
SAME = 1.7e-4  # Metres: a ten-thousandth of a person.


def ground():
    along = np.arange(40)
    return km.HeightField(0.15 * np.sin(0.31 * along[:, None]) * np.cos(0.23 * along), (-10.0, -10.0), 0.5)


def crowds(*stages, on=None, count=COUNT, character=None, **options):
    """Make one crowd on the CPU and one on the device, each with its characters at the same random places."""
    draw = np.random.default_rng(3)
    where = draw.uniform((-5.0, 0.0, -5.0), (5.0, 0.0, 5.0), (count, 3)).astype(np.float32)
    yaw = draw.uniform(-1.0, 1.0, count) / 2
    rotation = np.stack((0 * yaw, np.sin(yaw), 0 * yaw, np.cos(yaw)), axis=-1)
    character = character or humanoid()
    both = [km.Animator(character, stages, ground=on, count=count, device=kind, **options) for kind in ("cpu", "cuda")]
    for animator in both:
        animator.set_transform(where, rotation)
    return both


def check_same(frame, other):
    """Frames of the CPU and of the device."""
    np.testing.assert_allclose(other.world.copy_to_host(), frame.world, rtol=0, atol=SAME)


def check_reports(frame, other):
    """What their stages report."""
    for name, report in frame.reports.items():
        for field in set(report._fields) - {"clips", "events"}:
            found = getattr(other.reports[name], field).copy_to_host()
            assert found.shape == getattr(report, field).shape
            np.testing.assert_allclose(found, getattr(report, field), rtol=0, atol=1e-3, err_msg=f"{name}.{field}")
