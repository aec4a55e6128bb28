import numpy as np
import pytest

from kinema.demo.characters.shells import Section, ball, frame, rod, shell
from tests.solids import open_edges, volume

WHITE = (1.0, 1.0, 1.0)


def test_a_shell_passes_through_its_sections():
    sections = [
        Section(0.0, 0.0, 0.0),
        Section(0.1, 0.05, 0.03),
        Section(0.3, 0.04, 0.06, 0.01),
        Section(0.4, 0.0, 0.0),
    ]
    mesh = shell((0.0, 1.0, 0.0), np.eye(3), sections, WHITE, sides=32, rings=60)
    assert open_edges(mesh) == 0
    assert volume(mesh) > 0
    for at, wide, deep, ahead in sections[1:-1]:
        near = mesh.vertices[np.abs(mesh.vertices[:, 1] - 1.0 - at) < 0.008]
        assert np.abs(near[:, 0]).max() == pytest.approx(wide, abs=2e-3)
        assert near[:, 2].max() == pytest.approx(ahead + deep, abs=2e-3)
        assert near[:, 2].min() == pytest.approx(ahead - deep, abs=2e-3)
    assert mesh.vertices[:, 1].min() == pytest.approx(1.0)
    assert mesh.vertices[:, 1].max() == pytest.approx(1.4)


def test_a_shell_is_round_at_its_ends():
    circle = np.stack((-np.cos(np.linspace(0, np.pi, 5)), np.sin(np.linspace(0, np.pi, 5))), axis=1) / 10
    sections = [Section(along, radius, radius) for along, radius in circle.tolist()]
    mesh = shell((0.0, 0.0, 0.0), np.eye(3), sections, WHITE, sides=24, rings=24)
    assert np.abs(np.linalg.norm(mesh.vertices, axis=1) - 0.1).max() < 0.003
    assert np.einsum("vc,vc->v", mesh.normals, mesh.vertices / 0.1).min() > 0.97


def test_square_sections_fill_their_corners():
    sections = [Section(0.0, 0.0, 0.0), Section(0.1, 0.1, 0.1), Section(0.2, 0.0, 0.0)]
    round_one, square = (
        shell((0.0, 0.0, 0.0), np.eye(3), sections, WHITE, sides=16, rings=8, square=power) for power in (2.0, 4.0)
    )
    assert volume(square) > 1.1 * volume(round_one)


def test_a_rod_is_as_far_from_its_line_as_its_radii_say():
    start, end, radii = np.array((0.1, 0.2, 0.3)), np.array((0.1, 0.5, 0.3)), (0.05, 0.03)
    mesh = rod(tuple(start), tuple(end), radii, WHITE, sides=16, rings=6)
    assert open_edges(mesh) == 0
    assert volume(mesh) > 0
    from_ends = [
        np.linalg.norm(mesh.vertices - point, axis=1) - r for point, r in zip((start, end), radii, strict=True)
    ]
    assert np.abs(np.minimum(*from_ends)).max() < 1e-9, "every ring lies on one of the two balls"
    assert min(each.min() for each in from_ends) > -1e-9, "and in neither of them"


def test_a_ball_is_round_and_closed():
    mesh = ball((1.0, 2.0, 3.0), 0.1, (1.0, 1.0, 0.0), WHITE)
    assert np.allclose(np.linalg.norm(mesh.vertices - (1.0, 2.0, 3.0), axis=1), 0.1)
    assert open_edges(mesh) == 0
    assert volume(mesh) > 0


@pytest.mark.parametrize("along", [(0.0, 2.0, 0.0), (0.0, 0.0, 1.0), (0.3, -0.4, 0.5)])
def test_a_frame_is_a_rotation_around_its_direction(along):
    axes = frame(along)
    assert np.allclose(axes.T @ axes, np.eye(3))
    assert np.linalg.det(axes) == pytest.approx(1.0)
    assert np.allclose(axes[:, 1], np.array(along) / np.linalg.norm(along))
