"""`kinema retarget` as it is typed: what is written, printed, refused, and drawn."""

import json
import tomllib

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from tests.cli.invoking import invoke
from tests.retargeting.variants import Variant, vary

PERSON = humanoid()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with two motions, and a character without clips."""
    place = tmp_path_factory.mktemp("files")
    (place / "motions").mkdir()
    for name in ("idle", "walk"):
        km.save(place / "motions" / f"{name}.bvh", PERSON, clip=name)
    km.save(place / "hero.glb", vary(PERSON, Variant(axes=2, arms=0.6)))
    return place


def typed(*arguments):
    return invoke("retarget", *arguments)


def walk_onto_hero(folder, *more):
    return folder / "motions" / "walk.bvh", "--onto", folder / "hero.glb", *more


def test_a_motion_becomes_a_clip_of_the_character(folder, tmp_path):
    out, report = tmp_path / "new.glb", tmp_path / "figures.json"
    made = typed(*walk_onto_hero(folder, "-o", out, "--report", report))
    assert made.exit_code == 0, made.output
    assert "contacts, feet slide" in made.stdout
    character = km.load(out)
    assert list(character.clips) == ["walk"]
    (figures,) = json.loads(report.read_text())["files"][0]["clips"]
    assert figures["slide"][1] < 0.01


def test_the_own_bytes_of_the_character_stay(folder, tmp_path):
    out = tmp_path / "new.glb"
    assert typed(*walk_onto_hero(folder, "-o", out)).exit_code == 0
    before, after = (km.load(path) for path in (folder / "hero.glb", out))
    assert before.skeleton.rest.same(after.skeleton.rest)
    assert before.source.binary == after.source.binary[: len(before.source.binary)]


def test_folders_resume(folder, tmp_path):
    arguments = (folder / "motions", "--onto", folder / "hero.glb", "-o", tmp_path / "out")
    assert typed(*arguments).exit_code == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("*.glb")) == ["idle.glb", "walk.glb"]
    assert "2 of 2 done before" in typed(*arguments).stdout


def test_a_walk_climbs_a_slope(folder, tmp_path):
    out = tmp_path / "new.glb"
    made = typed(*walk_onto_hero(folder, "-o", out, "--ground", "slope:10"))
    assert made.exit_code == 0, made.output
    character = km.load(out)
    clip = character.clips["walk"]
    hips = character.skeleton.world(clip.sample((0.0, clip.duration)))[:, character.rig.hips, :3, 3]
    way = hips[1] - hips[0]
    assert way[1] / way[2] == pytest.approx(np.tan(np.radians(10)), abs=0.05)


def test_heading_and_start_decide_whether_stairs_are_met(folder, tmp_path):
    stairs = "--ground", "stairs:0.17,0.29,8", "--force", "-o", tmp_path / "new.glb"
    for start, met in ((("--at", "0,-0.2"), True), (("--heading", "180", "--at", "0,-1"), False)):
        made = typed(*walk_onto_hero(folder, *stairs, *start))
        assert made.exit_code == 0, made.output
        assert ("never meets" not in made.stdout) == met


def test_a_map_is_written_and_read(folder, tmp_path):
    saved = tmp_path / "map.toml"
    made = typed(*walk_onto_hero(folder, "-o", tmp_path / "a.glb", "--save-map", saved))
    assert made.exit_code == 0, made.output
    joints = tomllib.loads(saved.read_text())
    assert joints["hand_l"] == "hand_l"
    saved.write_text('"hand_l" = ""\n')
    report = tmp_path / "figures.json"
    made = typed(*walk_onto_hero(folder, "-o", tmp_path / "b.glb", "--map", saved, "--report", report))
    assert made.exit_code == 0, made.output
    followed = json.loads(report.read_text())["files"][0]["clips"][0]["joints"]
    assert "hand_l" not in followed
    assert followed["hand_r"] == "hand_r"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hand_l = 3", "expected the name of a joint"),
        ("[[", "no TOML"),
        ('"nothing" = "hips"', "there is no joint 'nothing'"),
        ('"hand_l" = "nothing"', "there is no joint 'nothing'"),
    ],
)
def test_a_wrong_map_is_refused(folder, tmp_path, text, message):
    (tmp_path / "map.toml").write_text(text)
    made = typed(*walk_onto_hero(folder, "-o", tmp_path / "a.glb", "--map", tmp_path / "map.toml"))
    assert made.exit_code == 2
    assert message in made.stderr
    assert not (tmp_path / "a.glb").exists()


def test_a_picture_of_both(folder, tmp_path):
    picture = tmp_path / "both.png"
    made = typed(*walk_onto_hero(folder, "-o", tmp_path / "a.glb", "--strip", picture))
    assert made.exit_code == 0, made.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "exists" in typed(*walk_onto_hero(folder, "-o", tmp_path / "b.glb", "--strip", picture)).stderr


def test_what_is_wrong_is_said_before_any_work(folder, tmp_path):
    out = tmp_path / "a.glb"
    assert "nope.glb" in typed(folder / "motions" / "walk.bvh", "--onto", "nope.glb", "-o", out).stderr
    two = folder / "motions", "--onto", folder / "hero.glb", "-o", tmp_path / "out", "--strip", tmp_path / "a.png"
    assert "--strip takes one motion" in typed(*two).stderr
    assert "ends in .png" in typed(*walk_onto_hero(folder, "-o", out, "--strip", tmp_path / "a.gif")).stderr
    assert "or auto, keep, level" in typed(*walk_onto_hero(folder, "-o", out, "--ground", "moon")).stderr
    assert not out.exists()
