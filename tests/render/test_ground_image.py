"""What is seen of a ground: the same whichever way it is looked for."""

import numpy as np
import pytest

import kinema as km
from kinema.render.camera import DrawingSpace, PictureCamera
from kinema.render.ground_image import view_ground

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
    plane = view_ground(km.Plane((0.0, 0.5, 0.0), (-0.2, 1.0, 0.0)), STAGE, camera(view), BOX)
    function = view_ground(km.Ground.from_function(slanted), STAGE, camera(view), BOX)
    both = plane.hit & function.hit
    assert both.mean() > 0.6
    np.testing.assert_allclose(function.point[both], plane.point[both], atol=2e-3)
    np.testing.assert_allclose(function.normal[both], plane.normal[both], atol=2e-2)
    # y = 0.2 x + 0.5 in units of 2 above 0.5.
    np.testing.assert_allclose(plane.point[both][:, 1], 0.2 * plane.point[both][:, 0], atol=1e-9)


@pytest.mark.parametrize("ground", [km.Plane((0.0, 0.5, 0.0)), km.Ground.from_function(slanted)])
def test_from_below_ground_is_of_glass(ground):
    assert not view_ground(ground, STAGE, camera((20.0, -10.0)), BOX).hit.any()


def test_a_slope_steeper_than_the_view_is_glass_too():
    steep = km.Plane((0.0, 0.0, 0.0), (0.0, np.cos(0.5), -np.sin(0.5)))  # It rises towards an eye in front.
    assert not view_ground(steep, STAGE, camera((0.0, 14.0)), BOX).hit.any()
    assert view_ground(steep, STAGE, camera((180.0, 14.0)), BOX).hit.any()
