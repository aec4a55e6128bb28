import numpy as np
import pytest

from kinema.render.meshes import globe, half_ball, tube
from tests.solids import open_edges, volume

RED, BLUE = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


def facing(mesh):
    """Share of triangles whose corners' normals are on their front."""
    a, b, c = (mesh.vertices[mesh.triangles[:, n]] for n in range(3))
    front = np.cross(b - a, c - a)
    return float((np.einsum("tc,tnc->tn", front, mesh.normals[mesh.triangles]) > 0).mean())


def test_a_tube_is_closed_and_round_about_its_line():
    line = np.array(((0.0, 0.0, 0.0), (0.0, 0.5, 0.0), (0.0, 1.0, 0.0)))
    mesh = tube(line, (0.1, 0.1, 0.1), 24, RED, bulge=0.0)
    assert volume(mesh) == pytest.approx(np.pi * 0.01, rel=0.03)
    assert open_edges(mesh) == 0
    assert facing(mesh) > 0.99


def test_a_bent_tube_does_not_twist():
    """Round a bend of 180 degrees, corner n of each ring stays next to corner n of the one before."""
    angle = np.linspace(0.0, np.pi, 9)
    line = np.stack((np.cos(angle), np.sin(angle), 0 * angle), axis=1)
    mesh = tube(line, np.full(9, 0.05), 8, RED)
    rings = mesh.vertices[: 9 * 8].reshape(9, 8, 3)
    steps = np.linalg.norm(np.diff(rings, axis=0), axis=2)
    assert steps.max() < 1.15 * np.linalg.norm(line[1] - line[0])


def test_a_globe_is_a_ball_with_sharp_rings():
    mesh = globe((1.0, 2.0, 3.0), 0.1, (0.0, 0.0, 1.0), [(0.5, RED), (np.pi, BLUE)], 24)
    off = mesh.vertices - (1.0, 2.0, 3.0)
    assert np.allclose(np.linalg.norm(off, axis=1), 0.1)
    assert facing(mesh) == 1.0
    ahead = np.arccos(np.clip(off[:, 2] / 0.1, -1, 1))
    assert (mesh.colours[ahead < 0.49] == RED).all()
    assert (mesh.colours[ahead > 0.51] == BLUE).all()
    assert {tuple(c) for c in mesh.colours} == {RED, BLUE}
    of_one_colour = mesh.colours[mesh.triangles]
    assert (of_one_colour == of_one_colour[:, :1]).all(), "no triangle runs from one colour into the other"


def test_half_a_ball_covers_only_its_side():
    mesh = half_ball((0.0, 0.0, 0.0), 0.1, (0.0, 1.0, 0.0), RED)
    assert mesh.vertices[:, 1].min() == pytest.approx(0.0, abs=1e-12)
    assert mesh.vertices[:, 1].max() == pytest.approx(0.1)
    assert volume(mesh) > 0


def test_half_a_ball_is_closed_and_as_fine_as_its_sides():
    coarse, fine = (half_ball((0.0, 0.0, 0.0), 0.1, (0.0, 1.0, 0.0), RED, sides) for sides in (8, 32))
    assert open_edges(coarse) == open_edges(fine) == 0
    assert volume(fine) == pytest.approx(2 / 3 * np.pi * 0.1**3, rel=0.03)
    assert volume(coarse) < volume(fine)
