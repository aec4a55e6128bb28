import numpy as np
import pytest

from kinema.demo.characters.blobs import blobs_of, limb, lump, surface
from tests.solids import open_edges, volume


def test_distances_of_a_ball_and_of_a_limb_are_exact():
    points = np.array(((0.0, 0.5, 0.0), (0.3, 0.0, 0.0), (0.0, 0.05, 0.0), (0.0, -0.4, 0.0)))
    distance, out = lump((0.0, 0.0, 0.0), (0.1, 0.1, 0.1)).distance(points)
    assert distance == pytest.approx((0.4, 0.2, -0.05, 0.3))
    assert np.allclose(out[1], (1.0, 0.0, 0.0))
    rod = limb(((0.0, 0.0, 0.0, 0.1), (0.0, 0.0, 1.0, 0.2)))
    assert rod.distance(np.array(((0.5, 0.0, 0.5), (0.0, 0.0, 1.7))))[0] == pytest.approx((0.35, 0.5))


def test_the_surface_of_an_ellipsoid_is_stretched_along_its_axes():
    egg = lump((0.0, 0.0, 0.0), (0.3, 0.1, 0.2))
    on = np.array(((0.3, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.2)))
    assert np.abs(egg.distance(on)[0]).max() < 1e-12
    assert (egg.distance(on * 0.9)[0] < 0).all()
    assert (egg.distance(on * 1.1)[0] > 0).all()


def test_the_middle_of_a_blob_is_inside():
    distance, out = lump((1.0, 2.0, 3.0), (0.3, 0.1, 0.2)).distance(np.array(((1.0, 2.0, 3.0),)))
    assert distance[0] == pytest.approx(-0.1)
    assert np.isfinite(out).all()


def test_a_ball_comes_out_round_closed_and_the_right_way_out():
    mesh = surface([lump((0.1, 0.2, 0.3), (0.2, 0.2, 0.2))], 0.03, (1.0, 0.0, 0.0))
    off = mesh.vertices - (0.1, 0.2, 0.3)
    assert np.abs(np.linalg.norm(off, axis=1) - 0.2).max() < 2e-4
    assert volume(mesh) == pytest.approx(4 / 3 * np.pi * 0.2**3, rel=0.03)
    assert open_edges(mesh) == 0
    assert np.einsum("vc,vc->v", mesh.normals, off / 0.2).min() > 0.98
    assert (mesh.colours == (1.0, 0.0, 0.0)).all()


def test_blobs_melt_into_each_other():
    """Two balls that touch make one piece with a neck."""
    mesh = surface(
        [lump((0.0, 0.0, 0.0), (0.1, 0.1, 0.1)), lump((0.2, 0.0, 0.0), (0.1, 0.1, 0.1))], 0.02, (1, 1, 1), melt=0.02
    )
    middle = np.abs(mesh.vertices[:, 0] - 0.1) < 0.02
    assert np.linalg.norm(mesh.vertices[middle, 1:], axis=1).min() > 0.02
    assert open_edges(mesh) == 0


def test_what_is_carved_is_gone():
    ball, bite = lump((0.0, 0.0, 0.0), (0.2, 0.2, 0.2)), lump((0.2, 0.0, 0.0), (0.1, 0.1, 0.1))
    mesh = surface([ball], 0.02, (1, 1, 1), carve=[bite], melt=0.005)
    assert mesh.vertices[:, 0].max() < 0.19
    assert bite.distance(mesh.vertices)[0].min() > -0.006
    assert volume(mesh) < volume(surface([ball], 0.02, (1, 1, 1), melt=0.005)) * 0.99


def test_below_the_floor_all_is_flat():
    mesh = surface([lump((0.0, 0.05, 0.0), (0.1, 0.1, 0.1))], 0.02, (1, 1, 1), floor=0.0)
    assert mesh.vertices[:, 1].min() == 0.0
    assert (mesh.vertices[:, 1] == 0.0).sum() > 5


def test_the_rows_of_a_table_are_lumps_and_limbs():
    rows = [{"lump": [1, 2, 3], "radii": [1, 2, 3]}, {"limb": [[0, 0, 0, 1], [0, 1, 0, 2]], "stretch": [2, 1, 1]}]
    egg, rod = blobs_of(rows)
    assert egg == lump([1, 2, 3], [1, 2, 3])
    assert rod.distance(np.array(((4.0, 1.0, 0.0), (0.0, 4.0, 0.0))))[0] == pytest.approx((0.0, 1.0))
