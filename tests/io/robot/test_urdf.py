"""URDF against yourdfpy, and robots made in code."""

import numpy as np
import pytest

import kinema as km
from tests.assets import asset
from tests.io.robot.build import LIFT
from tests.missing import missing


def robot(folder, text=LIFT):
    (folder / "lift.urdf").write_text(text, encoding="utf-8")
    return km.load(folder / "lift.urdf")


@pytest.mark.parametrize("name", ["kuka_iiwa", "barkour_v0", "simple_humanoid"])
def test_links_are_where_yourdfpy_has_them(name):
    path = asset(f"urdf/{name}.urdf")
    try:
        import yourdfpy
    except ImportError:
        missing("judges", "yourdfpy")
    judge = yourdfpy.URDF.load(str(path), load_meshes=False, build_scene_graph=True)
    character = km.load(path)
    skeleton, joints = character.skeleton, character.source.joints
    limits = [skeleton.limits[skeleton.index(joint)] for joint in joints]
    assert [limit.high for limit in limits] == [judge.joint_map[name].limit.upper for name in joints.values()]
    chance = np.random.default_rng(1)
    values = np.array([[chance.uniform(limit.low, limit.high) for limit in limits] for _ in range(10)])
    worlds = skeleton.world(km.from_hinge_angles(skeleton, values, list(joints)))
    for row, world in zip(values, worlds, strict=True):
        judge.update_cfg(dict(zip(joints.values(), row, strict=True)))
        for link, matrix in zip(skeleton.names, world, strict=True):
            np.testing.assert_allclose(matrix, judge.get_transform(link), atol=1e-9)


def test_hinges_sliders_mimics_and_speeds(tmp_path):
    character = robot(tmp_path)
    skeleton, source = character.skeleton, character.source
    assert skeleton.names == ("base", "mast", "arm", "left", "right", "camera")
    assert skeleton.limits[1] == km.Slider((0, 0, 1), -0.1, 0.6)
    assert isinstance(skeleton.limits[2], km.Hinge)
    assert (skeleton.limits[2].low, skeleton.limits[2].high) == (-np.pi, np.pi)
    assert skeleton.limits[5].low == skeleton.limits[5].high == 0.0
    assert skeleton.limits[0].low == skeleton.limits[0].high == 0.0
    assert source.joints == {"mast": "lift", "arm": "swing", "left": "grip", "right": "grip_too"}
    assert source.velocities == {"lift": 0.5}
    mimic = source.mimics["grip_too"]
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("grip", 2.0, 0.01)


def test_boxes_cylinders_and_balls_are_drawn_where_they_are(tmp_path):
    character = robot(tmp_path)
    (skin,) = character.skins
    of_base = skin.vertices[skin.joints[:, 0] == 0]
    np.testing.assert_allclose(of_base.min(axis=0), (-0.2, -0.1, 0.0), atol=1e-6)
    np.testing.assert_allclose(of_base.max(axis=0), (0.2, 0.1, 0.2), atol=1e-6)
    np.testing.assert_allclose(skin.colours[skin.joints[:, 0] == 0], np.tile((1.0, 0.0, 0.0), (len(of_base), 1)))
    arm = character.skeleton.rest_world[2, :3, 3]
    ball = skin.vertices[skin.joints[:, 0] == 2]
    np.testing.assert_allclose(np.linalg.norm(ball - arm, axis=1), 0.1, atol=1e-6)
    outward = np.einsum("ij,ij->i", skin.normals[skin.joints[:, 0] == 2], ball - arm)
    assert (outward > 0.05).all()


def test_a_robot_knows_up_and_forward():
    rig = km.load(asset("urdf/simple_humanoid.urdf")).rig
    assert (rig.up, rig.forward) == ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    assert len(rig.legs) == len(rig.arms) == 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            ('<child link="arm"/>', '<child link="leg"/>'),
            r"line 10: <joint> 'swing' refers to the link 'leg'",
        ),
        (('<child link="left"/>', '<child link="arm"/>'), "the link 'arm' has a parent already"),
        (('type="fixed"', 'type="magic"'), "'mount' is 'magic'"),
        (('xyz="1 1 0"', 'xyz="0 0 0"'), "'swing' has an axis without a direction"),
        (('lower="-0.1"', 'lower="low"'), "line 9: <limit> has lower='low'; expected numbers"),
        (('rpy="0.3 -0.2 1.1"', 'rpy="0.3 nan 1.1"'), "expected 3 finite numbers"),
        (("</robot>", ""), "not XML"),
        (('<?xml version="1.0"?>', '<!DOCTYPE x [<!ENTITY a "b">]>'), "a DOCTYPE is not allowed"),
        (('<?xml version="1.0"?>', '<?xml version="1.0" encoding="klingon"?>'), "not XML"),
        (('<parent link="base"/>', ""), "'lift' has no <parent>"),
        (('<link name="left"/>', "<link/>"), "<link> has no 'name'"),
        (('<link name="left"/>', '<xacro:arm side="left"/>'), "is a macro; expand the file first"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, change, problem):
    assert change[0] in LIFT
    with pytest.raises(km.FileError, match=problem):
        robot(tmp_path, LIFT.replace(*change, 1))


def test_an_axis_may_be_very_short(tmp_path):
    skeleton = robot(tmp_path, LIFT.replace('xyz="1 1 0"', 'xyz="1e-200 1e-200 0"')).skeleton
    np.testing.assert_allclose(skeleton.limits[2].axis, np.array((1, 1, 0)) / np.sqrt(2))


def test_a_ring_of_links_has_no_root(tmp_path):
    links = '<robot name="r"><link name="a"/><link name="b"/>'
    ring = "".join(
        f'<joint name="{a}{b}" type="fixed"><parent link="{a}"/><child link="{b}"/></joint>' for a, b in ("ab", "ba")
    )
    with pytest.raises(km.FileError, match="2 links and 0 roots"):
        robot(tmp_path, links + ring + "</robot>")


def test_a_file_inside_out_is_refused_in_time(tmp_path):
    with pytest.raises(km.FileError, match="inside each other"):
        robot(tmp_path, '<robot name="r">' + "<a>" * 100_000)
    with pytest.raises(km.FileError, match="allowed are up to"):
        robot(tmp_path, '<robot name="r">' + "".join(f'<link name="{i}"/>' for i in range(5_000)) + "</robot>")


def test_an_axis_or_a_place_that_is_left_out(tmp_path):
    text = LIFT.replace('<axis xyz="1 1 0"/>', "").replace('<origin xyz="0 0.2 0"/>', "")
    skeleton = robot(tmp_path, text).skeleton
    np.testing.assert_array_equal(skeleton.limits[2].axis, (1.0, 0.0, 0.0))
    np.testing.assert_array_equal(skeleton.rest.translations[2], (0.0, 0.0, 0.0))


def reached_by_hinges(skeleton, chain, goals):
    """Distances of the tip from goals in the poses that hinge angles alone make."""
    pose, report = km.solve(skeleton, skeleton.rest, chain, km.Goal(goals))
    assert report.reached.all()
    made = skeleton.world(km.from_hinge_angles(skeleton, km.hinge_angles(skeleton, pose)))
    return np.linalg.norm(made[..., chain[-1], :3, 3] - goals, axis=-1)


def test_hinges_alone_reach_what_a_loaded_arm_reaches():
    skeleton = km.load(asset("urdf/kuka_iiwa.urdf"), rig=False).skeleton
    ends = np.array([(limit.low, limit.high) for limit in skeleton.limits[1:]])
    values = np.random.default_rng(3).uniform(*ends.T, (50, len(ends)))
    tip = len(skeleton) - 1
    goals = skeleton.world(km.from_hinge_angles(skeleton, values))[:, tip, :3, 3]
    assert reached_by_hinges(skeleton, skeleton.chain(0, tip), goals).max() < 2e-3


LINK = '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{0}"/><limit lower="0" upper="1"/></joint>'


@pytest.mark.parametrize(
    ("joints", "stands"),
    [
        (("a revolute base",), True),
        (("a fixed base", "b revolute a", "c revolute b", "d revolute b"), True),
        (("a revolute base", "b fixed base", "c revolute b"), False),
        (("a prismatic base", "b prismatic a", "c revolute b"), False),
        (("a floating base", "b revolute base"), True),
        ((), False),
    ],
)
def test_a_base_stands_if_one_chain_hangs_on_it(tmp_path, joints, stands):
    rows = [row.split() for row in joints]
    links = "".join(f'<link name="{name}"/>' for name in ("base", *(row[0] for row in rows)))
    text = f'<robot name="r">{links}{"".join(LINK.format(*row) for row in rows)}</robot>'
    assert (robot(tmp_path, text).skeleton.limits[0] is not None) == stands
