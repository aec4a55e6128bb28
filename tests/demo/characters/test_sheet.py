import math

import pytest

from kinema.demo.characters.sheet import sheet

NAMES = ("humanoid", "quadruped", "spider")


@pytest.mark.parametrize("name", NAMES)
def test_the_right_side_is_the_image_of_the_left(name):
    bones = sheet(name).bones
    left = [bone for bone in bones.values() if bone.name.endswith("_l")]
    assert left
    for bone in left:
        other = bones[bone.name[:-2] + "_r"]
        assert (other.start, other.end) == tuple((-x, y, z) for x, y, z in (bone.start, bone.end))
        assert other.limit == bone.limit


def test_a_bone_starts_where_its_parent_ends_unless_the_table_says_where():
    bones = sheet("humanoid").bones
    assert "start" not in sheet("humanoid").data["bones"]["shin_l"]
    assert bones["shin_l"].start == bones["thigh_l"].end
    assert bones["thigh_l"].start != bones["hips"].end


def test_angles_are_degrees_in_the_table_and_radians_in_the_gait():
    walk, table = sheet("humanoid").gaits["walk"], sheet("humanoid").data["gaits"]["walk"]
    assert walk.numbers["inward"] == math.radians(table["degrees"]["inward"])
    assert walk.waves["yaw"](0.0) == math.radians(table["degrees"]["yaw"][0])
    assert walk.steps["foot"].out == math.radians(table["steps"]["foot"]["out"])
    height = table["metres"]["height"]
    assert walk.waves["height"](height[1]) == height[0] + height[3]


def test_the_right_leg_mirrors_the_left_and_stands_behind_it():
    gait = sheet("humanoid").gaits["idle"]
    left, right = gait.step("foot", 1.0), gait.step("foot", -1.0)
    assert (left.side, left.out) == (-right.side, -right.out)
    assert left.ahead - right.ahead == pytest.approx(2 * gait.steps["foot"].stagger)


@pytest.mark.parametrize("name", NAMES)
def test_every_leg_of_the_rig_has_a_start_in_every_gait(name):
    own = sheet(name)
    for gait in own.gaits.values():
        assert set(gait.starts) == {leg.name for leg in own.rig.legs}
