"""What follows what: by role, by side, and by the place in a limb or a spine."""

from dataclasses import replace

import pytest

from kinema.demo import humanoid, quadruped, spider
from kinema.errors import InputError
from kinema.retargeting.matching import match, other_side
from kinema.retargeting.parts import Body

PERSON = humanoid()


def matched(source, target, mirror=False):
    """Names of the source's joints by those of the target."""
    found = match(Body(source), Body(target), mirror)
    ours, theirs = source.skeleton.names, target.skeleton.names
    return {theirs[each.joint]: ours[each.first.joint] for each in found.follows}


def test_on_itself_every_joint_follows_itself():
    found = matched(PERSON.rig, PERSON.rig)
    assert found
    assert all(theirs == ours for theirs, ours in found.items())


def test_mirrored_limbs_follow_those_of_the_other_side():
    found = matched(PERSON.rig, PERSON.rig, mirror=True)
    assert found["thigh_l"] == "thigh_r"
    assert found["hand_r"] == "hand_l"
    assert found["hips"] == "hips"


@pytest.mark.parametrize(
    ("name", "other"),
    [("left", "right"), ("front_right", "front_left"), ("middle_left_2", "middle_right_2"), ("x", "x")],
)
def test_the_other_side_of_a_name(name, other):
    assert other_side(name) == other


def test_bodies_with_other_numbers_of_legs_are_refused_by_number():
    with pytest.raises(InputError, match="the source has 4 legs, the target has 2 legs"):
        match(Body(quadruped().rig), Body(PERSON.rig))


def test_animals_of_as_many_legs_match():
    found = match(Body(spider().rig), Body(spider().rig))
    assert len(found.legs) == len(spider().rig.legs)


def test_a_shorter_neck_points_between_those_of_a_longer_one():
    """Its bone points from chest to head; what rotates at its end belongs to the head."""
    rig = PERSON.rig
    first, second = (int(joint) for joint in rig.neck)
    short = match(Body(rig), Body(replace(rig, neck=(second,))))
    follow = {each.joint: each for each in short.follows}[second]
    assert (follow.first.joint, follow.second.joint) == (first, second)
    assert 0.3 < follow.weight < 0.7
    bare = match(Body(replace(rig, neck=())), Body(replace(rig, neck=(second,))))
    follow = {each.joint: each for each in bare.follows}[second]
    assert (follow.first.joint, follow.second.joint) == (int(rig.spine[-1]), int(rig.head))
    assert follow.weight == pytest.approx(0.5)
    assert not bare.missing
    assert not match(Body(replace(rig, neck=())), Body(replace(rig, neck=()))).unused


def test_a_shorter_spine_follows_by_place():
    rig = PERSON.rig
    short = replace(rig, spine=rig.spine[-1:])
    found = matched(rig, short)
    names = rig.skeleton.names
    assert found[names[int(rig.spine[-1])]] == names[int(rig.spine[-1])], "the chest follows the chest"
    assert names[int(rig.spine[0])] not in found


def test_what_has_no_counterpart_is_listed():
    armless = replace(PERSON.rig, arms=())
    found = match(Body(armless), Body(PERSON.rig))
    assert {"left arm", "right arm"} <= set(found.missing)
    assert {"left arm", "right arm"} <= set(match(Body(PERSON.rig), Body(armless)).unused)


def test_names_of_what_a_joint_follows_anyway_change_nothing():
    """A map that was saved and read again: joints between two of the source go on to follow both."""
    short = replace(PERSON.rig, spine=[PERSON.rig.spine[0], PERSON.rig.spine[-1]], neck=())
    ours, theirs = Body(short), Body(PERSON.rig)
    found = match(ours, theirs)
    names = short.skeleton.names
    saved = {names[each.joint]: names[each.main.joint] for each in found.follows}
    assert any(0.0 < each.weight < 1.0 for each in found.follows)
    assert match(ours, theirs, joints=saved) == found
