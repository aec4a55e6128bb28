"""`kinema clean` as it is typed: what is written, printed, refused, and its exit status."""

import json

import pytest

import kinema as km
from kinema.demo import humanoid
from tests.cli.invoking import invoke
from tests.retargeting import damage

PERSON = humanoid()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a clean motion and a sliding one, and a character with both."""
    place = tmp_path_factory.mktemp("files")
    (place / "motions").mkdir()
    motion = damage.Motion(PERSON, PERSON.clips["walk"])
    damage.skate(motion, damage.problems.generator(3))
    clips = {"idle": PERSON.clips["idle"], "walk": motion.clip()}
    person = km.Character(PERSON.skeleton, clips, PERSON.rig, name="person")
    km.save(place / "person.glb", person)
    for name in clips:
        km.save(place / "motions" / f"{name}.bvh", person, clip=name)
    return place


def typed(*arguments):
    return invoke("clean", *arguments)


def test_clean_clips_take_the_places_of_the_old_ones(folder, tmp_path):
    out, report = tmp_path / "new.glb", tmp_path / "figures.json"
    made = typed(folder / "person.glb", "-o", out, "--report", report)
    assert made.exit_code == 0, made.output
    assert "slide" in made.stdout
    before, after = km.load(folder / "person.glb"), km.load(out)
    assert sorted(after.clips) == ["idle", "walk"]
    assert before.source.binary == after.source.binary[: len(before.source.binary)]
    idle, walk = json.loads(report.read_text())["files"][0]["clips"]
    assert (idle["changed"], walk["changed"]) == (False, True)
    assert walk["after"]["slide"]["amount"] < 0.005 < walk["before"]["slide"]["amount"]


def test_clean_clips_stand_beside_the_old_ones_if_asked(folder, tmp_path):
    out = tmp_path / "new.glb"
    assert typed(folder / "person.glb", "-o", out, "--beside").exit_code == 0
    assert list(km.load(out).clips) == ["idle", "walk", "walk clean"]


def test_bvh_in_and_out_and_a_second_time_nothing_changes(folder, tmp_path):
    first, second = tmp_path / "first.bvh", tmp_path / "second.bvh"
    assert typed(folder / "motions" / "walk.bvh", "-o", first).exit_code == 0
    again = typed(first, "-o", second)
    assert again.exit_code == 0
    assert "nothing is wrong" in again.stdout


def test_check_says_what_is_wrong_and_writes_nothing(folder):
    before = sorted(folder.rglob("*"))
    wrong = typed(folder / "motions", "--check")
    assert wrong.exit_code == 1
    assert "slide" in wrong.stdout
    assert "idle.bvh: nothing is wrong" in wrong.stdout
    assert sorted(folder.rglob("*")) == before
    assert typed(folder / "motions" / "idle.bvh", "--check").exit_code == 0


def test_check_as_json(folder, tmp_path):
    report = tmp_path / "faults.json"
    made = typed(folder / "person.glb", "--check", "--json", "--report", report)
    assert made.exit_code == 1
    (printed,), (written,) = json.loads(made.stdout), json.loads(report.read_text())["files"]
    assert printed["clips"] == written["clips"]
    idle, walk = printed["clips"]
    assert (idle["wrong"], walk["wrong"]) == ([], ["slide"])
    assert walk["faults"]["slide"]["amount"] > printed["limits"]["slide"]


def test_folders_resume(folder, tmp_path):
    arguments = (folder / "motions", "-o", tmp_path / "out", "--jobs", "2")
    assert typed(*arguments).exit_code == 0
    assert sorted(path.name for path in (tmp_path / "out").glob("*.bvh")) == ["idle.bvh", "walk.bvh"]
    assert "2 of 2 done before" in typed(*arguments).stdout


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "give --output"),
        (("--check", "-o", "out.glb"), "--check writes nothing"),
        (("--check", "--floor", "flat"), "--floor"),
        (("--check", "--clip", "fly"), "there is no clip 'fly'"),
    ],
)
def test_wrong_options_are_one_line(folder, more, said):
    made = typed(folder / "person.glb", *more)
    assert made.exit_code == 2
    assert said in made.stderr
    assert made.stderr.count("\n") == 1
