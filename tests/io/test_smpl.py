"""SMPL motion: bodies of every size, z up and y up, and a plain forward kinematics of rotation vectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.demo import humanoid
from kinema.io import smpl as body

FRAMES = 30
STANDING = {"y": (0.0, 0.0, 0.0), "z": (0.5 * np.pi, 0.0, 0.0)}


def motion(count, up="z", seed=1):
    """Rotation vectors (T, 3 x joints) of somebody who stands, and positions."""
    chance = np.random.default_rng(seed)
    poses = chance.normal(scale=0.2, size=(FRAMES, count, 3))
    poses[:, 0] = STANDING[up]
    trans = np.zeros((FRAMES, 3))
    trans[:, "xyz".index(up)] = 1.1
    trans[:, 0] = np.linspace(0, 1, FRAMES)
    return poses.reshape(FRAMES, -1), trans


def load(folder, **arrays):
    np.savez(folder / "walk.npz", **arrays)
    return km.load(folder / "walk.npz")


def amass(folder, count=52, up="z", **more):
    poses, trans = motion(count, up)
    return load(folder, poses=poses, trans=trans, betas=np.zeros(16), gender="female", mocap_framerate=60.0, **more)


def matrix(vector):
    """Rodrigues' formula."""
    angle = np.linalg.norm(vector)
    x, y, z = vector / angle if angle else vector
    cross = np.array([(0, -z, y), (z, 0, -x), (-y, x, 0)])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


@pytest.mark.parametrize("count", [22, 24, 52, 55])
@pytest.mark.parametrize("up", ["y", "z"])
def test_joints_are_where_plain_matrices_put_them(tmp_path, count, up):
    character = amass(tmp_path, count, up)
    skeleton, clip = character.skeleton, character.clips["walk"]
    poses, trans = motion(count, up)
    upright = np.eye(3) if up == "y" else matrix(np.array((-0.5 * np.pi, 0.0, 0.0)))
    offsets = skeleton.rest.translations
    for frame in (0, 7, FRAMES - 1):
        rotations, places = [], []
        for j, vector in enumerate(poses[frame].reshape(-1, 3)):
            parent = skeleton.parents[j]
            above = upright if parent < 0 else rotations[parent]
            rotations.append(above @ matrix(vector))
            start = upright @ (trans[frame] + (0, body.ORIGIN[count], 0)) if parent < 0 else places[parent]
            places.append(start + (0 if parent < 0 else rotations[parent] @ offsets[j]))
        found = skeleton.world(clip.sample(frame / 60.0))
        np.testing.assert_allclose(found[:, :3, 3], places, atol=1e-6)
        np.testing.assert_allclose(found[:, :3, :3], rotations, atol=1e-6)


@pytest.mark.parametrize("count", [22, 24, 52, 55])
def test_all_roles_of_a_person_are_found(tmp_path, count):
    character = amass(tmp_path, count)
    rig, names = character.rig, character.skeleton.names
    named = {leg.name: [names[int(j)] for j in leg.joints] for leg in rig.legs}
    assert named == {side: [f"{side}_{part}" for part in ("hip", "knee", "ankle")] for side in ("left", "right")}
    arms = {arm.name: [names[int(j)] for j in arm.joints] for arm in rig.arms}
    assert arms == {side: [f"{side}_{part}" for part in ("shoulder", "elbow", "wrist")] for side in ("left", "right")}
    assert names[int(rig.hips)] == "pelvis"
    assert names[int(rig.head)] == "head"
    assert (rig.up, rig.forward) == ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    if count > 24:
        assert {names[int(j)] for j in rig.arm("left").fingers["little"]} == {f"left_pinky{k}" for k in (1, 2, 3)}


def test_what_the_file_says_is_kept_and_what_was_assumed_is_said(tmp_path):
    source = amass(tmp_path).source
    assert (source.gender, source.fps, source.up) == ("female", 60.0, "z")
    assert any("rotated to y up" in problem for problem in source.problems)
    assert any("average person" in problem for problem in source.problems)
    poses, trans = motion(22, "y")
    assert any("frame rate; 30" in problem for problem in load(tmp_path, poses=poses, trans=trans).source.problems)
    poses[:, :3] = (0, 0, 0.5 * np.pi)
    assert any("hardly stands" in problem for problem in load(tmp_path, poses=poses, trans=trans).source.problems)


def test_parts_of_a_pose_in_arrays_of_their_own(tmp_path):
    poses, trans = motion(55)
    parts = {"root_orient": poses[:, :3], "pose_body": poses[:, 3:66], "pose_jaw": poses[:, 66:69]}
    parts |= {"pose_eye": poses[:, 69:75], "pose_hand": poses[:, 75:], "trans": trans, "mocap_frame_rate": 120}
    character = load(tmp_path, **parts)
    whole = load(tmp_path, poses=poses, trans=trans, mocap_frame_rate=120)
    assert character.clips["walk"].fps == pytest.approx(120)
    np.testing.assert_allclose(
        character.clips["walk"].sample(0.1).rotations, whole.clips["walk"].sample(0.1).rotations, atol=1e-12
    )


@pytest.mark.parametrize("up", ["y", "z"])
def test_written_again_it_is_the_same_file(tmp_path, up):
    character = amass(tmp_path, 52, up)
    km.save(tmp_path / "again.npz", character)
    poses, trans = motion(52, up)
    with np.load(tmp_path / "again.npz") as again:
        np.testing.assert_allclose(again["poses"], poses, atol=1e-6)
        np.testing.assert_allclose(again["trans"], trans, atol=1e-6)
        assert (str(again["gender"]), float(again["mocap_framerate"])) == ("female", 60.0)
    assert km.load(tmp_path / "again.npz").source.up == up


def test_a_motion_goes_there_and_comes_back(tmp_path):
    """A walk of another body moves the average person, is written and is loaded again as it was."""
    person = humanoid()
    target = amass(tmp_path, 24)
    clip = km.retarget(person, "walk", target)
    km.save(tmp_path / "moved.npz", target, clip=clip)
    again = km.load(tmp_path / "moved.npz")
    (read,) = again.clips.values()
    times = np.arange(10) / 60.0
    np.testing.assert_allclose(
        again.skeleton.world(read.sample(times)), target.skeleton.world(clip.sample(times)), atol=1e-3
    )


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ({"points": np.zeros((3, 17, 3))}, r"no SMPL motion \('poses'\).*'points'; km\.load_points reads points"),
        ({"poses": np.zeros((3, 70))}, "poses have 70 numbers a frame"),
        ({"poses": np.zeros((0, 72))}, "shapes"),
        ({"poses": np.zeros(72)}, "shapes"),
        ({"poses": np.full((3, 72), np.nan)}, "frame 0: poses are not finite"),
        ({"poses": np.eye(4, 72, -3) * 1e200}, "frame 3: poses are not finite, or beyond 1e"),
        ({"poses": np.zeros((3, 72)), "trans": np.zeros((2, 3))}, r"'trans' has the shape \(2, 3\); expected \(3, 3\)"),
        ({"poses": np.zeros((3, 72)), "trans": np.full((3, 3), np.inf)}, "not finite"),
        ({"poses": np.zeros((3, 72)), "mocap_framerate": 0.0}, "rate is 0"),
        ({"poses": np.array(["a"] * 72)}, "expected numbers"),
        ({"poses": np.array([None])}, "km.load_points"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, arrays, problem):
    with pytest.raises(km.FileError, match=problem):
        load(tmp_path, **arrays)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=8))
def test_no_damage_crashes(tmp_path_factory, changes):
    folder = tmp_path_factory.mktemp("smpl")
    amass(folder, 22)
    data = bytearray((folder / "walk.npz").read_bytes())
    for at, value in changes:
        data[at % len(data)] = value
    (folder / "walk.npz").write_bytes(bytes(data))
    try:
        character = km.load(folder / "walk.npz")
    except km.FileError:
        return
    assert np.isfinite(character.skeleton.world(character.clips["walk"].sample(0.1))).all()
