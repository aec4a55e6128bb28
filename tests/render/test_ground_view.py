"""What is seen of a ground: the same whichever way it is looked for."""

import numpy as np
import pytest

import kinema as km
from kinema.render.camera import PictureCamera
from kinema.render.ground_view import view_ground
from kinema.render.space import DrawingSpace

STAGE = DrawingSpace(np.eye(3), 2.0, 0.5)
SHOWN = np.array([(-1.0, 0.0, -1.0), (1.0, 1.0, 1.0)])
BOX = np.array([(-2.0, -2.0, -2.0), (2.0, 3.0, 2.0)])


def camera(view):
    return PictureCamera.fitted(SHOWN, view, (60, 40))


def slanted(x, z):
    """The plane y = 0.2 x + 0.5, in the file's space."""
    normal = np.array((-0.2, 1.0, 0.0)) / np.sqrt(1.04)
    return 0.2 * np.asarray(x) + 0.5, np.broadcast_to(normal, (*np.shape(x), 3))


@pytest.mark.parametrize("view", [(0.0, 30.0), (60.0, 50.0), (0.0, 90.0)])
def test_a_function_looks_like_the_plane_it_is(view):
    plane = view_ground(km.Plane((0.0, 0.5, 0.0), (-0.2, 1.0, 0.0)), STAGE, camera(view), BOX, SHOWN[np.newaxis])
    function = view_ground(km.Ground.from_function(slanted), STAGE, camera(view), BOX, SHOWN[np.newaxis])
    both = plane.hit & function.hit
    assert both.mean() > 0.6
    np.testing.assert_allclose(function.point[both], plane.point[both], atol=2e-3)
    np.testing.assert_allclose(function.normal[both], plane.normal[both], atol=2e-2)
    # y = 0.2 x + 0.5 in units of 2 above 0.5.
    np.testing.assert_allclose(plane.point[both][:, 1], 0.2 * plane.point[both][:, 0], atol=1e-9)


@pytest.mark.parametrize("ground", [km.Plane((0.0, 0.5, 0.0)), km.Ground.from_function(slanted)])
def test_from_below_ground_is_of_glass(ground):
    assert not view_ground(ground, STAGE, camera((20.0, -10.0)), BOX, SHOWN[np.newaxis]).hit.any()


def test_a_slope_steeper_than_the_view_is_glass_too():
    steep = km.Plane((0.0, 0.0, 0.0), (0.0, np.cos(0.5), -np.sin(0.5)))  # It rises towards an eye in front.
    assert not view_ground(steep, STAGE, camera((0.0, 14.0)), BOX, SHOWN[np.newaxis]).hit.any()
    assert view_ground(steep, STAGE, camera((180.0, 14.0)), BOX, SHOWN[np.newaxis]).hit.any()


def box_at(low, high):
    """A closed box between two corners on the stage, as a mesh in the file's space."""
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [each for a, b, c, d in quads for each in ((a, b, c), (a, c, d))]
    points = STAGE.points_back(np.array(low) + corners * (np.array(high) - np.array(low)))
    return km.TriangleMesh(points, triangles, accelerator="kernel")


FLOOR = km.Plane((0.0, 0.5, 0.0))
"""At 0 on the stage."""


@pytest.mark.parametrize("walls", [1, 2])
def test_walls_in_the_way_are_cut_away_down_to_a_kerb(walls):
    eye = camera((0.0, 10.0))
    before = [box_at((-3.0, -0.1, 1.2 + 0.3 * k), (3.0, 2.0, 1.3 + 0.3 * k)) for k in range(walls)]
    free = view_ground(FLOOR, STAGE, eye, BOX, SHOWN[np.newaxis])
    seen = view_ground(km.Ground.union(FLOOR, *before), STAGE, eye, BOX, SHOWN[np.newaxis])
    same = (seen.hit == free.hit) & (~seen.hit | np.isclose(seen.point, free.point, atol=1e-3).all(axis=-1))
    assert same[: len(same) * 3 // 4].all()
    assert seen.point[~same][:, 1].max() < 0.2  # What is left of them is about as high as feet are.


def test_walls_behind_stay():
    behind = box_at((-3.0, -0.1, -1.5), (3.0, 2.0, -1.2))
    seen = view_ground(km.Ground.union(FLOOR, behind), STAGE, camera((0.0, 10.0)), BOX, SHOWN[np.newaxis])
    assert seen.hit[0].all()
    assert (seen.point[0, :, 2] < 0.0).all()


def test_ground_that_rises_beside_the_way_is_no_wall():
    """A step as far as the eye sees: it is solid, though there is a floor in it too."""
    step = box_at((0.0, -9.0, -9.0), (9.0, 0.7, 1.8))
    poses = np.stack((SHOWN - (3.0, 0.0, 0.0), SHOWN - (1.5, 0.0, 0.0)))
    eye = PictureCamera.fitted(np.concatenate((*poses, SHOWN)), (0.0, 10.0), (60, 40))
    seen = view_ground(km.Ground.union(FLOOR, step), STAGE, eye, BOX, poses)
    x, y, z = seen.point[seen.hit].T
    on_top, in_front = np.isclose(y, 0.7), np.isclose(z, 1.8)
    assert on_top.sum() > 50
    assert in_front.sum() > 50
    assert (on_top | in_front | (z > 1.8))[x > 0.01].all()
