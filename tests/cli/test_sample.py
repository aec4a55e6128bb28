"""Example files: they are what they are said to be, and every other command takes them."""

import numpy as np
import pytest

import kinema as km
from kinema.bake import MovingPoint, grounds
from kinema.cli.sample import SAMPLES
from kinema.demo import samples
from tests.cli.invoking import invoke


def write(*arguments):
    return invoke("sample", *arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("samples")
    assert write("--all", "-o", path).exit_code == 0
    return path


def test_the_list_names_every_file():
    assert list(SAMPLES) == list(samples.SAMPLES)
    for arguments in ((), ("--list",)):
        result = write(*arguments)
        assert result.exit_code == 0
        assert [line.split()[0] for line in result.output.splitlines()] == list(SAMPLES)


@pytest.mark.parametrize(("name", "legs"), [("person.glb", 2), ("fox.glb", 4), ("spider.glb", 8)])
def test_characters_have_legs_clips_and_a_skin(folder, name, legs):
    character = km.load(folder / name)
    assert len(character.rig.legs) == legs
    assert character.skins
    assert {"idle", "walk", "run"} <= set(character.clips)


def test_the_capture_travels_and_its_feet_slide(folder):
    character = km.load(folder / "capture.bvh")
    clip, rig = character.clips["capture"], character.rig
    assert len(rig.legs) == 2
    assert clip.duration == pytest.approx(4.0)
    world = character.skeleton.world(clip.sample(np.arange(241) / 60))
    assert world[-1, rig.hips, 2, 3] - world[0, rig.hips, 2, 3] > 2.0
    assert np.abs(np.diff(world[:, rig.hips, 2, 3])).max() < 0.1, "it does not jump where the clip starts over"
    figures = km.metrics.measure(rig, world, km.Plane((0, rig.floor, 0)), 1 / 60)
    assert 0.01 < figures.worst_slide < 0.2


def test_grounds_are_grounds(folder):
    stairs, hills = (grounds.parse(str(folder / name)).build() for name in ("stairs.glb", "hills.npy"))
    down = np.array((0.0, -1.0, 0.0))
    heights = [stairs.cast(np.array((0.0, 5.0, z)), down, 9.0).point[..., 1] for z in (0.0, 1.1, 5.0)]
    np.testing.assert_allclose(heights, (0.0, 0.17, 1.7), atol=1e-5)
    assert hills.cast(np.array((3.0, 5.0, 3.0)), down, 9.0).hit.all()
    assert len(MovingPoint.load(folder / "ball.csv").times) == 41


def test_nothing_is_replaced_without_force_and_mistakes_are_named(tmp_path):
    (tmp_path / "person.glb").write_text("mine")
    refused = write("fox.glb", "person.glb", "-o", tmp_path)
    assert refused.exit_code == 2
    assert "person.glb: the file exists; --force replaces it" in refused.stderr
    assert (tmp_path / "person.glb").read_text() == "mine"
    assert not (tmp_path / "fox.glb").exists()
    assert write("person.glb", "-o", tmp_path, "--force").exit_code == 0
    wrong = write("persn.glb", "-o", tmp_path)
    assert wrong.exit_code == 2
    assert "did you mean 'person.glb'" in wrong.stderr


def test_a_name_of_a_file_is_no_folder(tmp_path):
    result = write("--all", "-o", tmp_path / "file.txt")
    assert result.exit_code == 2
    assert "expected a folder" in result.output
    assert not (tmp_path / "file.txt").exists()


def test_a_file_that_cannot_be_written_is_named_itself():
    result = write("hills.npy", "-o", "/proc")
    assert result.exit_code == 2
    assert "/proc/hills.npy: the file cannot be written" in result.output
    assert ".tmp" not in result.output
