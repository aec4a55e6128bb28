"""Robot arms in the lab: forward kinematics, limits, solvers pass by pass, files."""

import json

import numpy as np
import pytest

import kinema as km
from kinema.demo.scenes.lab import PASSES, LabScene
from kinema.demo.scenes.robot_arm import SOLVERS, RobotArm, six_axes
from kinema.errors import InputError
from tests.assets import asset
from tests.demo.scripts import run

TICK = 1 / 60
TARGET = np.array((0.3, 0.5, 0.35))


def urdf(joints):
    """A robot of links in a row: name, kind, place, axis, limits."""
    text = '<robot name="one"><link name="l0"/>'
    for i, (kind, place, axis, low, high) in enumerate(joints):
        text += f'<link name="l{i + 1}"/><joint name="j{i}" type="{kind}"><parent link="l{i}"/><child link="l{i + 1}"/>'
        text += f'<origin xyz="{place}" rpy="0.3 -0.2 0.5"/><axis xyz="{axis}"/>'
        text += f'<limit lower="{low}" upper="{high}" velocity="1" effort="1"/></joint>'
    return (text + "</robot>").encode()


def arms():
    with open(asset("urdf/kuka_iiwa.urdf"), "rb") as file:
        return {"ours": six_axes(), "kuka": RobotArm(km.load(file.name), "kuka_iiwa.urdf")}


def angles_of(arm, joints):
    """Joint values that give these positions, by least squares over the skeleton's own kinematics: an oracle."""
    from scipy.optimize import least_squares

    def placed(values):
        pose = arm.skeleton.rest
        rotations = np.array(pose.rotations, float)
        for j, value in zip(arm.moving, values, strict=True):
            turn = np.array((*(np.sin(value / 2) * np.array(arm.limit(j).axis)), np.cos(value / 2)))
            rotations[j] = km.quat.mul(rotations[j], turn)
        return arm.skeleton.world(km.Pose(pose.translations, rotations))[:, :3, 3]

    found = least_squares(lambda q: (placed(q) - joints).ravel(), np.zeros(len(arm.moving)), xtol=1e-14, ftol=1e-14)
    return found.x, np.abs(placed(found.x) - joints).max()


@pytest.mark.parametrize("name", ["ours", "kuka"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_reaches_with_poses_that_the_robot_can_take(name, solver):
    pytest.importorskip("scipy")
    arm = arms()[name]
    answer = arm.solve(solver, TARGET)
    assert np.linalg.norm(answer.joints[-1] - TARGET) < 1e-3 * arm.length
    values, off = angles_of(arm, answer.joints)
    assert off < 1e-6
    first, last = arm.moving[0], arm.moving[-2]  # The last axis may point at the end: any angle gives the same.
    for j, value in zip(arm.moving, values, strict=True):
        if first <= j < last:
            assert arm.limit(j).low - 1e-3 <= (value + np.pi) % (2 * np.pi) - np.pi <= arm.limit(j).high + 1e-3


@pytest.mark.parametrize("solver", ["ccd", "body"])
def test_errors_never_grow_with_more_passes(solver):
    arm = six_axes()
    ends = [arm.solve(solver, TARGET, most).joints[-1] for most in range(PASSES + 1)]
    errors = np.linalg.norm(np.array(ends) - TARGET, axis=1)
    assert np.allclose(ends[0], arm.rest[-1])
    assert (np.diff(errors) < 1e-9).all()
    assert errors[-1] < 0.01 * errors[0]


def test_sliders_slide_and_limits_hold():
    given = [
        ("prismatic", "0 0 0.2", "0 0 1", 0.0, 0.5),
        ("revolute", "0 0 0.3", "0 1 0", -0.4, 0.4),
        ("fixed", "0 0 0.4", "1 0 0", 0, 0),
    ]
    scene = LabScene()
    scene.receive("lift.urdf", urdf(given))
    arm = scene.arm
    for solver in SOLVERS:
        joints = arm.solve(solver, np.array((0.0, 9.0, 0.0))).joints
        assert np.linalg.norm(joints[1] - arm.rest[1]) <= 0.5 + 1e-6
        assert np.linalg.norm(joints[1] - arm.rest[1]) > 0.2
        for before, after in zip(np.diff(arm.rest, axis=0)[1:], np.diff(joints, axis=0)[1:], strict=True):
            assert np.linalg.norm(after) == pytest.approx(np.linalg.norm(before), abs=1e-6)


def test_the_scene_shows_steps_keeps_and_writes_a_robot():
    scene = LabScene()
    with open(asset("urdf/kuka_iiwa.urdf"), "rb") as file:
        data = file.read()
    scene.receive("kuka.urdf", data)
    assert scene.values["chain"] == "kuka.urdf"
    assert scene.shown == ["ccd", "damped", "body"]
    scene.drag("target", TARGET)
    for _ in range(PASSES + 2):
        scene.step(TICK)
    assert scene.status().reached == 3
    assert scene.errors.shape == (3, PASSES + 1)
    lines = scene.give("kinema_lab.csv").decode().splitlines()
    assert len(lines) == 1 + 3 * (PASSES + 1)
    scene.set("next_pass", None)
    scene.step(TICK)
    assert np.allclose(scene.joints[0], scene.arm.solve("ccd", TARGET, 1).joints)
    state = json.loads(json.dumps(scene.kept()))
    other = LabScene()
    assert other.wanted_file(state) == "kuka.urdf"
    other.receive("kuka.urdf", data)
    other.restore(state)
    other.step(TICK)
    assert np.allclose(other.joints, scene.joints)
    assert other.fresh().values["chain"] == "kuka.urdf"
    scene.set("chain", "balls")
    assert scene.joints.shape == (3, 9, 3)
    scene.set("chain", "robot")
    scene.step(TICK)
    for name, joints in run(scene.python())["joints"].items():
        assert np.allclose(joints, scene.joints[scene.shown.index(name)], atol=1e-3)


@pytest.mark.parametrize(
    ("joints", "says"),
    [
        ([("fixed", "0 0 1", "0 0 1", 0, 0)], "nothing moves"),
        ([("revolute", "0 0 0", "0 0 1", -1, 1)], "one place"),
        ([("revolute", "0 0 1", "0 0 1", -1, 1)] * 40, "41 joints in a row"),
    ],
)
def test_robots_that_cannot_be_shown_are_refused_and_change_nothing(joints, says):
    scene = LabScene()
    before = scene.snapshot()
    with pytest.raises(InputError, match=says):
        scene.receive("one.urdf", urdf(joints))
    assert scene.snapshot() == before
