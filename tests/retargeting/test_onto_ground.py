"""Motions onto a ground and another body at once: which way they face, where they start, and what is odd about it."""

import numpy as np
import pytest

import kinema as km
from kinema.bake.grounds import GroundSpec
from kinema.demo import humanoid, stairs
from kinema.errors import InputError

PERSON, OTHER = humanoid(), humanoid()
STAIRS = "stairs:0.17,0.29,8"
FLOOR = GroundSpec(
    "mesh", (), (np.array(((-2.0, 0, 1), (-2, 0, 5), (2, 0, 5), (2, 0, 1))), np.array(((0, 1, 2), (0, 2, 3))))
)


@pytest.fixture(scope="module")
def aside():
    """A walk towards +X."""
    return km.retarget(PERSON, "walk", PERSON, facing=np.pi / 2)


def onto(clip, ground, **settings):
    clip, report = km.retarget(PERSON, clip, OTHER, ground=ground, report=True, **settings)
    hips = OTHER.skeleton.world(clip.sample((0.0, clip.duration)))[:, int(OTHER.rig.hips), :3, 3]
    return hips[1] - hips[0], " ".join(report.warnings)


@pytest.mark.parametrize("ground", [STAIRS, stairs(0.17, 0.29)], ids=["text", "terrain"])
def test_a_motion_faces_up_the_stairs_wherever_it_was_captured_to(aside, ground):
    way, warnings = onto(aside, ground)
    assert way[2] > 0.5
    assert way[1] > 0.17 if ground is STAIRS else way[1] >= 0.0  # Those of the demo begin after a level piece.
    assert "never meets" not in warnings or ground is not STAIRS


def test_a_heading_that_is_given_decides_and_stairs_that_are_never_met_are_told(aside):
    way, warnings = onto(aside, STAIRS, facing=np.pi / 2, at=(0.0, -2.0))
    assert way[0] > 0.7
    assert "never meets" in warnings


def test_a_start_beside_the_ground_says_where_both_are():
    with pytest.raises(InputError, match=r"at x 3 and z -?0\S*: the ground lies at x -2 to 2 and z 1 to 5; .*--at"):
        onto("walk", FLOOR, at=(3.0, 0.0))
    assert onto("walk", FLOOR, at=(0.0, 2.0))[0][2] > 0.7


@pytest.mark.parametrize(("text", "doubted"), [("0.03,0.1", True), ("0.17,0.29", False)])
def test_steps_in_another_unit_are_doubted(text, doubted):
    warnings = onto("walk", f"stairs:{text},8")[1]
    assert ("--ground-unit" in warnings) == doubted
    assert ("character's file, metres" in warnings) == doubted
