"""The surface of a foot is the outermost skin that follows it."""

import numpy as np
import pytest

from kinema import metrics
from kinema.bake.feet.foot_surface import feet_surface
from kinema.demo import humanoid, quadruped


def skin_of(character, world, leg):
    """Vertices that follow a foot, by the skins themselves."""
    palette = (world @ character.skeleton.inverse_bind)[:, :3]
    foot = character.skeleton.below([leg.joints[-1]])
    found = []
    for skin in character.skins:
        mine = (skin.weights * np.isin(skin.joints, foot)).sum(axis=1) > 0.5
        found.append(skin.deform(palette)[mine])
    return np.concatenate(found)


@pytest.mark.parametrize("make", [humanoid, quadruped])
def test_its_points_are_vertices_and_the_lowest_of_any_rotation_is_hardly_missed(make):
    character = make()
    clip, rig = character.clips["run"], character.rig
    worlds = character.skeleton.world(clip.sample(np.linspace(0.0, clip.duration, 9))).astype(np.float64)
    surface = feet_surface(rig, character.skins)
    for n, leg in enumerate(rig.legs):
        points = surface.points(worlds)[n]
        for world, mine in zip(worlds, points, strict=True):
            vertices = skin_of(character, world, leg)
            away = np.linalg.norm(mine[:, np.newaxis] - vertices, axis=-1).min(axis=1)
            assert away.max() < 1e-4 * rig.leg_length
            for way in np.eye(3):
                assert (mine @ way).min() < (vertices @ way).min() + 0.006 * rig.leg_length


def test_a_foot_without_a_skin_is_the_line_of_its_sole():
    character = humanoid()
    world = character.skeleton.world(character.skeleton.rest)[np.newaxis].astype(np.float64)
    heel, ball, tip = metrics.sole_points(character.rig, world)[0, 0]
    points = feet_surface(character.rig, ()).points(world)[0][0]
    assert np.allclose(points[:3], (heel, ball, tip))
    assert np.allclose(points[3:], (heel + (ball - heel) / 3, heel + (ball - heel) * 2 / 3))
