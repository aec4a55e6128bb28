"""The motion of robots as base poses and joint values: rebuilt by another program's forward kinematics."""

import logging
import pickle

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from tests.assets import asset
from tests.io.robot.build import LIFT
from tests.missing import missing

FPS = 50.0


def moving(character, seed=0, frames=40, slow=0.02):
    """A clip of a robot whose base and joints wander inside their limits; and its base poses and values."""
    skeleton = character.skeleton
    joints = list(character.source.joints)
    limits = [skeleton.limits[skeleton.index(joint)] for joint in joints]
    low, high = (np.array([getattr(limit, end) for limit in limits]) for end in ("low", "high"))
    chance = np.random.default_rng(seed)
    start = chance.uniform(low, high)
    values = np.clip(start + np.cumsum(chance.normal(scale=slow, size=(frames, len(joints))), axis=0), low, high)
    pose = km.from_hinge_angles(skeleton, values, joints)
    turn = km.quat.from_axis_angle((0.1, 0.3, 0.9), np.linspace(0, 2, frames))
    pose.translations[:, 0] += np.linspace((0, 0, 0), (1, 2, 0.1), frames)
    pose.rotations[:, 0] = km.quat.mul(turn, pose.rotations[:, 0])
    return km.Clip.from_poses("move", skeleton, pose, fps=FPS), values


def save(folder, name, character, clip):
    km.save(folder / name, character, clip=clip)
    return folder / name


@pytest.mark.parametrize("name", ["simple_humanoid", "barkour_v0"])
def test_another_program_rebuilds_every_link(tmp_path, name):
    path = asset(f"urdf/{name}.urdf")
    try:
        import yourdfpy
    except ImportError:
        missing("judges", "yourdfpy")
    judge = yourdfpy.URDF.load(str(path), load_meshes=False, build_scene_graph=True)
    character = km.load(path)
    clip, _ = moving(character)
    with np.load(save(tmp_path, "move.npz", character, clip)) as file:
        found = dict(file)
    assert float(found["fps"]) == FPS
    for frame in (0, 13, 39):
        judge.update_cfg(dict(zip(found["joint_names"].tolist(), found["dof_pos"][frame], strict=True)))
        base = np.eye(4)
        base[:3, :3], base[:3, 3] = km.quat.to_matrix(found["root_rot"][frame]), found["root_pos"][frame]
        world = character.skeleton.world(clip.sample(frame / FPS))
        for link, matrix in zip(character.skeleton.names, world, strict=True):
            np.testing.assert_allclose(base @ judge.get_transform(link), matrix, atol=1e-5)


def test_a_table_holds_the_same(tmp_path):
    character = km.load(asset("urdf/simple_humanoid.urdf"))
    clip, values = moving(character)
    path = save(tmp_path, "move.csv", character, clip)
    head = path.read_text().splitlines()[0]
    rows = np.loadtxt(path, delimiter=",")
    assert head.startswith("# fps=50 root_x,root_y,root_z,root_qx,root_qy,root_qz,root_qw,RLEG_HIP_R,")
    assert rows.shape == (40, 7 + 29)
    np.testing.assert_allclose(rows[:, 7:], values, atol=1e-6)


def test_a_pickle_holds_the_same_arrays(tmp_path):
    character = km.load(asset("urdf/simple_humanoid.urdf"))
    clip, values = moving(character)
    found = pickle.loads(save(tmp_path, "move.pkl", character, clip).read_bytes())
    np.testing.assert_allclose(found.pop("dof_pos"), values, atol=1e-6)
    assert (found.pop("fps"), found.pop("local_body_pos"), found.pop("link_body_list")) == (FPS, None, None)
    with np.load(save(tmp_path, "move.npz", character, clip)) as file:
        assert all((file[name] == array).all() for name, array in found.items())


def test_the_hips_may_move_instead_of_the_base(tmp_path):
    """The body of simple_humanoid is fixed to its base: bakes move it."""
    character = km.load(asset("urdf/simple_humanoid.urdf"))
    skeleton = character.skeleton
    pose = km.from_hinge_angles(skeleton, np.zeros((3, 29)))
    pose.translations[:, 1] += [(0, 0, 0.25), (0, 0, 0.3), (0, 0, 0.35)]
    clip = km.Clip.from_poses("lift", skeleton, pose, fps=FPS)
    with np.load(save(tmp_path, "lift.npz", character, clip)) as file:
        np.testing.assert_allclose(file["root_pos"], [(0, 0, 0.25), (0, 0, 0.3), (0, 0, 0.35)], atol=1e-9)


@pytest.fixture
def lift(tmp_path):
    (tmp_path / "lift.urdf").write_text(LIFT)
    return km.load(tmp_path / "lift.urdf")


def test_mimics_follow_and_turns_are_counted_on(tmp_path, lift):
    skeleton = lift.skeleton
    turns = np.linspace(0, 20, 60)
    values = np.stack([np.zeros(60), turns, np.full(60, 0.03), np.zeros(60)], axis=1)
    clip = km.Clip.from_poses("turn", skeleton, km.from_hinge_angles(skeleton, values), fps=FPS)
    with np.load(save(tmp_path, "turn.npz", lift, clip)) as file:
        assert file["joint_names"].tolist() == ["lift", "swing", "grip", "grip_too"]
        np.testing.assert_allclose(file["dof_pos"][:, 1], turns, atol=1e-6)
        np.testing.assert_allclose(file["dof_pos"][:, 3], 2 * 0.03 + 0.01, atol=1e-6)


def test_what_a_robot_cannot_follow_is_said(tmp_path, lift, caplog):
    skeleton = lift.skeleton
    values = np.zeros((3, 4))
    values[1, 0] = 0.5
    pose = km.from_hinge_angles(skeleton, values)
    pose.rotations[:, 2] = km.quat.from_axis_angle((0, 0, 1), 0.5)
    with caplog.at_level(logging.WARNING, "kinema"):
        save(tmp_path, "a.npz", lift, km.Clip.from_poses("a", skeleton, pose, fps=FPS))
    assert "'lift' at 25.0 a second, allowed are 0.5" in caplog.text
    assert "degrees where its joints do not let it" in caplog.text


def test_bodies_without_hinges_are_refused(tmp_path):
    with pytest.raises(km.InputError, match="not all of its joints are hinges and sliders"):
        km.save(tmp_path / "a.csv", humanoid(), clip="walk")
    assert not (tmp_path / "a.csv").exists()


def test_values_are_not_read_back(tmp_path, lift):
    clip, _ = moving(lift)
    with pytest.raises(km.FileError, match=r"no SMPL motion"):
        km.load(save(tmp_path, "a.npz", lift, clip))
