"""Toes on the floor: a capture that holds them up or down under a flat foot is laid down."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose
from tests.retargeting.limb_judging import toes
from tests.retargeting.seen import BALL, TIP, Seen
from tests.retargeting.variants import Variant, vary

PERSON = humanoid()


@pytest.mark.parametrize("degrees", [-35.0, 45.0])
def test_toes_that_a_capture_holds_up_or_down_lie_on_the_floor_under_a_flat_foot(degrees):
    """In every frame of the walk, by as much: that is how its capture holds them, not what they do."""
    walk, rig = PERSON.clips["walk"], PERSON.rig
    times = np.linspace(0.0, walk.duration, 41)
    poses = walk.sample(times).astype(np.float64)
    rotations = poses.rotations.copy()
    for leg in rig.legs:
        across = arrays.rotate(arrays.conj(rig.own_axes(leg.toe)), np.cross(rig.up, rig.forward))
        bent = arrays.from_axis_angle(np.tile(across, (41, 1)), np.full(41, -np.radians(degrees)))
        rotations[:, int(leg.toe)] = arrays.mul(rotations[:, int(leg.toe)], bent)
    held = Pose.of(poses.translations, rotations, poses.scales)
    clip = km.Clip.from_poses("held", PERSON.skeleton, held, times=times)
    other = vary(PERSON, Variant(axes=2, scale=3.0))
    result = km.retarget(PERSON, clip, other).sample(times)
    before, after = Seen(PERSON, held), Seen(other, result)
    if degrees > 0.0:
        assert toes(before, before, 1 / 30)["toes_up"] > 30.0
    way = after.soles[:, :, TIP] - after.soles[:, :, BALL]
    flat = (after.soles[:, :, :TIP, 1] - after.floor < 0.01).all(axis=-1)
    assert flat.any()
    assert np.abs(np.degrees(np.arcsin(way[..., 1] / np.linalg.norm(way, axis=-1)))[flat]).max() < 8.0
