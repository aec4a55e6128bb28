"""`kinema fit` and `kinema stream` as they are typed: what is written, printed, refused, and drawn."""

import json
import shutil

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from tests.cli.invoking import invoke
from tests.fitting.observing import ORDERS, Noise, observe, truth_of

PERSON = humanoid()
TIMES = np.arange(45) / 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of points, and a character."""
    place = tmp_path_factory.mktemp("points")
    truth = truth_of(PERSON, PERSON.clips["walk"].sample(0.5 * TIMES).astype(float), 30.0)
    points = observe(truth, "coco17", Noise(), 1)[0]
    (place / "takes").mkdir()
    np.save(place / "takes" / "one.npy", points)
    np.savez(place / "takes" / "two.npz", points=np.stack((points, points + 1.0)), layout="coco17", fps=30.0)
    (place / "frames").mkdir()
    for k, frame in enumerate(points):
        body = np.nan_to_num(np.concatenate((frame[:, :2] * (300, -300) + (640, 600), np.ones((17, 1))), 1))
        text = json.dumps({"people": [{"pose_keypoints_2d": [0.0] * 75 if k < 0 else openpose(body).ravel().tolist()}]})
        (place / "frames" / f"take_{k:06d}_keypoints.json").write_text(text)
    km.save(place / "hero.glb", PERSON)
    return place


def openpose(body):
    """The 25 points of OpenPose, as far as those of COCO show them; the others are missing."""
    rows = np.zeros((25, 3))
    order = {0: "nose", 2: "right_shoulder", 3: "right_elbow", 4: "right_wrist", 5: "left_shoulder", 6: "left_elbow"}
    order |= {7: "left_wrist", 9: "right_hip", 10: "right_knee", 11: "right_ankle", 12: "left_hip", 13: "left_knee"}
    order |= {14: "left_ankle"}
    for row, name in order.items():
        rows[row] = body[ORDERS["coco17"].index(name)]
    return rows


def typed(*arguments):
    return invoke("fit", *arguments)


def test_points_become_a_clip_of_the_character(folder, tmp_path):
    out, report, strip = tmp_path / "new.glb", tmp_path / "figures.json", tmp_path / "strip.png"
    points = folder / "takes" / "one.npy"
    made = typed(
        points, "--onto", folder / "hero.glb", "--layout", "coco17", "-o", out, "--report", report, "--strip", strip
    )
    assert made.exit_code == 0, made.output
    assert "45 frames at 30 fps (assumed; give --fps)" in made.stdout
    assert "one" in km.load(out).clips
    (figures,) = json.loads(report.read_text())["files"][0]["clips"]
    assert 0.005 < max(figures["noise"]) < 0.02
    assert strip.read_bytes()[:4] == b"\x89PNG"


def test_folders_resume_and_hold_several_people(folder, tmp_path):
    arguments = (folder / "takes", "--onto", folder / "hero.glb", "--layout", "coco17", "-o", tmp_path / "out")
    made = typed(*arguments)
    assert made.exit_code == 0, made.output
    assert {"two 1", "two 2"} <= set(km.load(tmp_path / "out" / "two.glb").clips)
    assert "2 of 2 done before" in typed(*arguments).stdout


def test_the_person_is_written_as_bvh(folder, tmp_path):
    out = tmp_path / "person.bvh"
    made = typed(folder / "takes" / "one.npy", "--layout", "coco17", "--scale-bones", "-o", out)
    assert made.exit_code == 0, made.output
    assert len(km.load(out).rig.legs) == 2


def test_a_folder_of_frames_is_one_take(folder, tmp_path):
    out = tmp_path / "new.glb"
    made = typed(folder / "frames", "--onto", folder / "hero.glb", "--camera", "1280,720,50", "-o", out)
    assert made.exit_code == 0, made.output
    assert "openpose25" in made.stdout


def test_two_folders_of_frames_with_one_name_are_refused(folder, tmp_path):
    shutil.copytree(folder / "frames", tmp_path / "frames")
    both = folder / "frames", tmp_path / "frames"
    made = typed(*both, "--onto", folder / "hero.glb", "-o", tmp_path / "out")
    assert made.exit_code == 2
    assert "would both be written" in made.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_of_frames_may_be_named_twice(folder, tmp_path):
    made = typed(folder / "frames", folder / "frames" / ".", "--onto", folder / "hero.glb", "-o", tmp_path / "out.glb")
    assert made.exit_code == 0, made.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--layout", "coco17"), "--onto"),
        (("--onto", "HERO"), "--layout"),
        (("--onto", "HERO", "--layout", "coco18"), "coco18"),
        (("--onto", "HERO", "--layout", "coco17", "--up", "north"), "up is 'north'"),
        (("--onto", "HERO", "--layout", "coco17", "--camera", "1"), "--camera"),
    ],
)
def test_wrong_options_are_named(folder, tmp_path, arguments, message):
    given = [folder / "hero.glb" if each == "HERO" else each for each in arguments]
    made = typed(folder / "takes" / "one.npy", *given, "-o", tmp_path / "no.glb")
    assert made.exit_code == 2
    assert message in made.stderr


def test_frames_stream_to_poses(folder, tmp_path):
    points = np.load(folder / "takes" / "one.npy")[:5]
    rows = [[None if np.isnan(p).any() else p.tolist() for p in frame] for frame in points]
    source = tmp_path / "frames.jsonl"
    source.write_text("\n".join(json.dumps({"t": k / 30, "points": frame}) for k, frame in enumerate(rows)))
    made = invoke("stream", source, "--onto", folder / "hero.glb", "--layout", "coco17")
    assert made.exit_code == 0, made.output
    lines = [json.loads(line) for line in made.stdout.splitlines()]
    assert [line["t"] for line in lines] == pytest.approx([k / 30 for k in range(5)], abs=1e-5)
    assert (
        invoke("stream", source, "--onto", folder / "hero.glb", "--layout", "coco17", "--vmc", "39998").exit_code == 0
    )


def test_broken_lines_of_a_stream_are_skipped(folder, tmp_path):
    good = json.dumps({"points": [None] * 17}).encode()
    source = tmp_path / "frames.jsonl"
    source.write_bytes(b"\n".join((good, b"\xff", b'{"points": [[1, 2, 3]]}', good)))
    arguments = "stream", source, "--onto", folder / "hero.glb", "--layout", "coco17"
    made = invoke(*arguments)
    assert made.exit_code == 0, made.output
    assert len(made.stdout.splitlines()) == 2
    source.write_bytes(b'{"points": [[1, 2, 3]]}\n')
    made = invoke(*arguments)
    assert made.exit_code == 2
    assert "no line is a frame; line 1: points has 1 point; expected 17" in made.stderr


def test_frames_a_second_that_are_given_are_not_assumed(folder, tmp_path):
    points = folder / "takes" / "one.npy"
    made = typed(points, "--onto", folder / "hero.glb", "--layout", "coco17", "--fps", 30, "-o", tmp_path / "new.glb")
    assert "45 frames at 30 fps, coco17" in made.stdout
