"""Grounds to choose from: what is drawn is what is walked on, at any size."""

import numpy as np
import pytest

import kinema as km
from kinema import demo
from kinema.demo.scenes.grounds import NAMES, body_of, ground_of, round_of, script_of


@pytest.mark.parametrize("name", NAMES)
def test_what_is_drawn_is_what_is_walked_on(name):
    """Rays down find the drawn body where the ground is; its walls stand on the base; and it is seen from outside."""
    vertices, triangles = body_of(name)
    drawn, ground = km.TriangleMesh(vertices, triangles), ground_of(name, 1.0)
    way = round_of(name)
    spots = np.array([way.at(s)[:2] for s in np.linspace(0.0, way.length, 60, endpoint=False) + 0.013])
    origins = np.stack((spots[:, 0], np.full(60, 5.0), spots[:, 1]), axis=-1)
    hits = [one.cast(origins, (0.0, -1.0, 0.0), 20.0) for one in (drawn, ground)]
    assert all(one.hit.all() for one in hits)
    assert np.abs(hits[0].point - hits[1].point).max() < 1e-5
    a, b, c = (vertices[triangles[:, n]] for n in range(3))
    normals = np.cross(b - a, c - a)
    outwards = (a + b + c) / 3 - (0.0, -50.0, vertices[:, 2].mean())
    upright = np.abs(normals[:, 1]) < 1e-9
    assert (normals[~upright, 1] > 0).all()
    rim = upright & (np.minimum(np.minimum(a[:, 1], b[:, 1]), c[:, 1]) < -0.29)
    assert (np.einsum("ij,ij->i", normals, outwards)[rim] > -1e-9).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [0.01, 56.0])
def test_a_script_makes_the_same_ground(name, size):
    made = {"km": km, "demo": demo}
    exec("\n".join(script_of(name, size)), made)
    spot = round_of(name).at(7.3)
    origin = np.array((spot.x, 4.0, spot.z)) * size
    hits = [ground.cast(origin, (0.0, -1.0, 0.0), 9.0 * size) for ground in (made["ground"], ground_of(name, size))]
    assert hits[0].hit
    assert np.allclose(hits[0].point, hits[1].point, atol=1e-6 * size)
