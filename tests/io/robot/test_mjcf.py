"""MJCF against MuJoCo."""

import numpy as np
import pytest

import kinema as km
from tests.io.robot.build import CRANE, DEGREES
from tests.missing import missing

RADIANS = {"angle": "radian", "range": "-1.5 2", "euler": "0.2 0.3 0.5", "ref": "0.3", "euler1": "0.7"}
BODIES = ("cart", "arm1", "arm2", "tool", "box", "wrist")


def crane(folder, text):
    (folder / "crane.xml").write_text(text)
    return km.load(folder / "crane.xml")


@pytest.mark.parametrize("order", ["xyz", "XYZ", "zYx"])
@pytest.mark.parametrize("units", [DEGREES, RADIANS], ids=["degrees", "radians"])
def test_bodies_are_where_mujoco_has_them(tmp_path, units, order):
    try:
        import mujoco
    except ImportError:
        missing("judges", "mujoco")
    text = CRANE.format(order=order, **units)
    model = mujoco.MjModel.from_xml_string(text)
    state = mujoco.MjData(model)
    character = crane(tmp_path, text)
    skeleton, source = character.skeleton, character.source
    chance = np.random.default_rng(2)
    for _ in range(10):
        values = {name: chance.uniform(-0.5, 0.5) for name in source.joints.values()}
        mujoco.mj_resetData(model, state)
        for name, value in values.items():
            state.qpos[model.joint(name).qposadr[0]] = value
        mujoco.mj_kinematics(model, state)
        angles = [values[name] - source.at_rest.get(name, 0.0) for name in source.joints.values()]
        world = skeleton.world(km.from_hinge_angles(skeleton, angles, list(source.joints)))
        for name in BODIES:
            matrix = world[skeleton.index(name)]
            np.testing.assert_allclose(matrix[:3, 3], state.body(name).xpos, atol=1e-9)
            np.testing.assert_allclose(matrix[:3, :3], state.body(name).xmat.reshape(3, 3), atol=1e-9)
    for joint, name in source.joints.items():
        limit, ends = skeleton.limits[skeleton.index(joint)], model.joint(name).range
        if ends.any():
            rest = source.at_rest.get(name, 0.0)
            np.testing.assert_allclose((limit.low + rest, limit.high + rest), ends, atol=1e-12)


def test_kinds_of_joints_and_shapes(tmp_path):
    character = crane(tmp_path, CRANE.format(order="xyz", **DEGREES))
    limits = dict(zip(character.skeleton.names, character.skeleton.limits, strict=True))
    assert limits["box"] is None
    assert limits["wrist"] == km.Cone(np.radians(20))
    assert limits["rail"] == km.Slider((1, 0, 0), -1, 1)
    assert character.source.mimics["elbow"].multiplier == 0.5
    assert np.linalg.norm(character.skins[0].vertices, axis=1).max() < 4.0  # Not the shape for collisions.


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('<mujoco><include file="a.xml"/></mujoco>', "takes parts from another file"),
        ("<mujoco><worldbody/></mujoco>", "has no bodies"),
        ('<mujoco><worldbody><body><joint type="screw"/></body></worldbody></mujoco>', "'screw' joint"),
        ('<mujoco><worldbody><body><joint axis="0 0 0"/></body></worldbody></mujoco>', "axis without a direction"),
        ('<mujoco><worldbody><body pos="1 2"/></worldbody></mujoco>', "expected 3 finite numbers"),
        ('<mujoco><compiler eulerseq="abc"/><worldbody><body euler="1 2 3"/></worldbody></mujoco>', "order 'abc'"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, text, problem):
    with pytest.raises(km.FileError, match=problem):
        crane(tmp_path, text)


@pytest.mark.parametrize(
    ("inside", "names", "first"),
    [
        ("<freejoint/>", ("a",), None),
        ('<joint name="rail" type="slide" axis="1 0 0"/>', ("world", "a"), 0.0),
        ('<body name="b"><joint/></body>', ("a", "b"), 0.0),
    ],
)
def test_the_first_body_stands_unless_it_is_free(tmp_path, inside, names, first):
    character = crane(tmp_path, f'<mujoco><worldbody><body name="a">{inside}</body></worldbody></mujoco>')
    skeleton = character.skeleton
    assert skeleton.names == names
    assert getattr(skeleton.limits[0], "high", None) == first
    moved = [name for name, limit in zip(names, skeleton.limits, strict=True) if limit and limit.low < limit.high]
    assert moved == list(character.source.joints)
