import numpy as np
import pytest

from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.limits import Hinge, SwingTwist
from tests.demo import checks

LIMBS = [("thigh", "shin", "foot"), ("upper_arm", "forearm", "hand")]


@pytest.fixture(scope="module")
def person():
    return humanoid()


def test_it_has_the_joints_it_should(person):
    names = set(person.skeleton.names)
    assert len(names) == 60
    assert {"root", "hips", "spine_1", "spine_2", "spine_3", "chest", "neck_1", "neck_2", "head", "jaw"} <= names
    for side in "lr":
        for name in ("eye", "clavicle", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe"):
            assert f"{name}_{side}" in names
        for finger in ("thumb", "index", "middle", "ring", "little"):
            assert {f"{finger}_{n}_{side}" for n in (1, 2, 3)} <= names


def test_it_is_as_tall_as_a_person_and_faces_z(person):
    at = dict(zip(person.skeleton.names, person.skeleton.rest_world[:, :3, 3], strict=True))
    assert np.ptp(person.skins[0].vertices[:, 1]) == pytest.approx(1.75, abs=0.01)
    assert np.array_equal(person.skeleton.rest_world[0], np.eye(4))
    assert at["toe_l"][2] > at["foot_l"][2]
    assert at["eye_l"][2] > at["head"][2]
    assert at["hand_l"][0] > 0.3 > -0.3 > at["hand_r"][0]


def test_joints_have_axes_of_their_own(person):
    """Bones run along their own +Y: code that takes every joint's axes for the character's goes wrong."""
    skeleton = person.skeleton
    rotated = arrays.angle_between(np.array((0.0, 0.0, 0.0, 1.0)), skeleton.rest.rotations.astype(np.float64))
    assert (rotated > 0.1).sum() > len(skeleton) / 3
    for upper, lower in (("thigh_l", "shin_l"), ("forearm_r", "hand_r"), ("index_1_l", "index_2_l")):
        world = skeleton.rest_world[skeleton.index(upper)]
        to_child = skeleton.rest_world[skeleton.index(lower), :3, 3] - world[:3, 3]
        assert world[:3, 1] @ to_child == pytest.approx(np.linalg.norm(to_child), rel=1e-5)


def test_every_joint_but_the_carriers_is_limited(person):
    limits = dict(zip(person.skeleton.names, person.skeleton.limits, strict=True))
    assert {name for name, limit in limits.items() if limit is None} == {"root", "hips"}
    for side in "lr":
        assert isinstance(limits[f"shin_{side}"], Hinge)
        assert isinstance(limits[f"forearm_{side}"], Hinge)
        assert isinstance(limits[f"thigh_{side}"], SwingTwist)


@pytest.mark.parametrize("limb", LIMBS)
@pytest.mark.parametrize("side", ["l", "r"])
def test_knees_and_elbows_cannot_bend_backwards(person, limb, side):
    """Straight is the end of their range; the other way they fold far."""
    skeleton = person.skeleton
    start, middle, end = (skeleton.index(f"{name}_{side}") for name in limb)
    limit, world = skeleton.limits[middle], skeleton.rest_world[:, :3].astype(np.float64)
    upper, lower = world[middle, :, 3] - world[start, :, 3], world[end, :, 3] - world[middle, :, 3]
    hinge = world[middle, :, :3] @ np.array(limit.axis)
    straight = np.arctan2(np.cross(upper, lower) @ hinge, upper @ lower)
    assert straight > 0.02, "at rest they are a little bent, the way that they go"
    assert -limit.low == pytest.approx(straight, abs=1e-3)
    assert limit.high + straight > np.radians(130)


def test_the_rig_has_the_expected_roles(person):
    rig, names = person.rig, person.skeleton.names
    assert [names[j] for j in rig.leg("left").joints] == ["thigh_l", "shin_l", "foot_l"]
    assert names[rig.leg("right").toe] == "toe_r"
    assert [names[j] for j in rig.arm("left").joints] == ["upper_arm_l", "forearm_l", "hand_l"]
    assert len(rig.arm("right").fingers) == 5
    assert all(len(finger) == 3 for finger in rig.arm("right").fingers)
    assert names[rig.head] == "head"
    assert [names[j] for j in rig.eyes] == ["eye_l", "eye_r"]
    assert len(rig.spine) == 4
    assert len(rig.neck) == 2


def test_the_soles_of_the_rig_are_those_of_the_skin(person):
    skin, skeleton = person.skins[0], person.skeleton
    for leg in person.rig.legs:
        ankle, toe = (skeleton.rest_world[j, :3, 3] for j in (leg.joints[-1], leg.toe))
        near = (np.abs(skin.vertices[:, 0] - ankle[0]) < 0.08) & (skin.vertices[:, 1] < 1e-5)
        back, front = skin.vertices[near, 2].min() - ankle[2], skin.vertices[near, 2].max() - ankle[2]
        assert -back == pytest.approx(leg.heel, abs=0.015)
        assert front == pytest.approx(leg.tip, abs=0.015)
        assert ankle[1] == pytest.approx(leg.sole, abs=1e-6)
        assert toe[1] == pytest.approx(leg.toe_sole, abs=1e-6)


def test_eyes_and_fingers_follow_their_joints(person):
    skin, skeleton = person.skins[0], person.skeleton
    strongest = {skeleton.names[j] for j in skin.joints[np.arange(len(skin.joints)), skin.weights.argmax(axis=1)]}
    for side in "lr":
        assert {f"eye_{side}", f"lid_{side}", f"toe_{side}", f"thumb_3_{side}", f"little_3_{side}"} <= strongest


@pytest.mark.parametrize("clip", ["idle", "walk", "run"])
@pytest.mark.parametrize("side", ["l", "r"])
def test_knees_and_elbows_bend_the_right_way_and_are_never_locked(person, clip, side):
    knee, elbow = (checks.bend(person, clip, [f"{name}_{side}" for name in limb]) for limb in LIMBS)
    assert knee.min() > 3.0
    assert knee.max() < 125.0
    assert elbow.min() > 5.0
    assert elbow.max() < 120.0


def test_a_walk_always_has_a_foot_on_the_ground_and_a_run_does_not(person):
    down = {}
    for name in ("walk", "run"):
        clip = person.clips[name]
        times = np.linspace(0.0, clip.duration, 400, endpoint=False)
        down[name] = sum(checks.planted(clip, leg, times).astype(int) for leg in person.rig.legs)
    assert down["walk"].min() == 1
    assert down["walk"].max() == 2
    assert down["run"].min() == 0
    assert down["run"].max() == 1


def test_a_walk_rolls_from_heel_to_toe(person):
    """The heel touches first, then the foot is flat, then the heel leaves while the toes stay, bent."""
    times, _, rotations, positions = checks.played(person, "walk")
    leg = person.rig.leg("left")
    heel, ball, tip = (checks.sole_points(person.rig, leg, rotations, positions)[:, n, 1] for n in range(3))
    share = times / times[-1]
    assert ball[share < 0.02].min() > 0.02
    flat = (share > 0.12) & (share < 0.30)
    assert max(np.abs(part[flat]).max() for part in (heel, ball, tip)) < 1e-3
    late = (share > 0.45) & (share < 0.53)
    assert heel[late].min() > 0.02
    assert np.abs(tip[late]).max() < 1e-3
    bent = np.degrees(arrays.angle_between(rotations[:, leg.toe], rotations[:, leg.joints[-1]]))
    assert bent[late].max() > 15.0


def test_left_and_right_do_the_same_half_a_cycle_apart(person):
    clip = person.clips["walk"]
    here = clip.sample(0.2)
    there = person.skeleton.mirrored(clip.sample(0.2 + clip.duration / 2))
    assert np.allclose(here.translations[1:], there.translations[1:], atol=1e-5)
    assert arrays.angle_between(here.rotations, there.rotations).max() < 2e-3


def test_it_blinks_while_it_stands(person):
    _, _, rotations, _ = checks.played(person, "idle")
    lid, head = person.skeleton.index("lid_l"), person.skeleton.index("head")
    shut = np.degrees(arrays.angle_between(rotations[:, head], rotations[:, lid]))
    assert shut.min() < 0.1
    assert shut.max() > 40.0


def test_seeds_change_only_the_looks(person):
    other = humanoid(3)
    assert other.skeleton is person.skeleton
    assert other.clips["walk"] is person.clips["walk"]
    assert not np.array_equal(other.skins[0].colours, person.skins[0].colours)
    assert np.array_equal(other.skins[0].vertices, person.skins[0].vertices)
