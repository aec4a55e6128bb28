"""The library's poses on bodies of any make: where limbs point, feet on the floor, fingers curled."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid, spider
from kinema.demo.scenes.character import A_POSE, CharacterScene
from kinema.demo.scenes.pose_library import LIBRARY, library_pose
from kinema.errors import InputError
from kinema.motion.soles import sole_points
from tests.assets import asset

BODIES = ("CesiumMan.glb", "RiggedFigure.glb", "KayKit_Knight.glb")


@pytest.fixture(params=["ours", *BODIES])
def body(request):
    return humanoid() if request.param == "ours" else km.load(asset(f"gltf/{request.param}"))


def posed(body, name):
    """Where the joints are in a pose, and at rest, along (left, up, ahead)."""
    rig = body.rig
    axes = np.stack((np.cross(rig.up, rig.forward), rig.up, rig.forward))
    pose = library_pose(name, rig)
    return [rig.skeleton.world(one)[:, :3, 3] @ axes.T for one in (pose, rig.skeleton.rest)]


def test_there_are_twenty():
    assert len(LIBRARY) == 20


def test_arms_point_where_the_pose_says(body):
    for name in ("T pose", "Hands up", "Wave"):
        at, rest = posed(body, name)
        for arm in body.rig.arms[:2]:
            shoulder, hand = (int(arm.joints[k]) for k in (0, -1))
            way = at[hand] - at[shoulder]
            side = np.sign(rest[shoulder, 0] - rest[int(body.rig.hips), 0])
            if name == "T pose":
                assert side * way[0] > 0.98 * np.linalg.norm(way)
            elif name == "Hands up" or side > 0:
                assert way[1] > 0.4 * np.linalg.norm(way)
            else:
                assert way[1] < -0.9 * np.linalg.norm(way)


@pytest.mark.parametrize("name", LIBRARY)
def test_the_lowest_sole_is_on_the_floor_and_no_bone_changes_its_length(body, name):
    rig, skeleton = body.rig, body.rig.skeleton
    world = skeleton.world(library_pose(name, rig))
    heights = [sole_points(rig, one[np.newaxis]) @ np.array(rig.up) for one in (world, skeleton.rest_world)]
    assert heights[0].min() == pytest.approx(heights[1].min(), abs=1e-3 * rig.leg_length)
    children = np.flatnonzero(skeleton.parents >= 0)
    children = children[children != int(rig.hips)]
    lengths = [
        np.linalg.norm(one[children, :3, 3] - one[skeleton.parents[children], :3, 3], axis=1)
        for one in (world, skeleton.rest_world)
    ]
    assert lengths[0] == pytest.approx(lengths[1], abs=1e-4 * rig.leg_length)


def test_fingers_curl_into_a_fist():
    person = humanoid()
    index = person.skeleton.index
    for side in "lr":
        far = []
        for name in ("T pose", "Guard"):
            at = person.skeleton.world(library_pose(name, person.rig))[:, :3, 3]
            far.append(np.linalg.norm(at[index(f"middle_3_{side}")] - at[index(f"hand_{side}")]))
        assert far[1] < 0.75 * far[0]


def test_a_pose_of_the_library_is_stored_and_shown_and_bodies_that_it_does_not_fit_say_so():
    scene = CharacterScene()
    scene.set("library", "Hands up")
    assert scene.values["library"] == A_POSE
    assert scene.values["clip"] == "poses"
    assert len(scene.strip) == 1
    for _ in range(5):
        scene.step(1 / 60)
    skeleton = scene.walker.character.skeleton
    hand, head = (scene.walker.world[skeleton.index(name), 1, 3] for name in ("hand_l", "head"))
    assert hand > head + 0.2
    with pytest.raises(InputError, match="two legs"):
        library_pose("Sit", spider().rig)
    with pytest.raises(InputError, match="there is no pose 'Fly'"):
        library_pose("Fly", humanoid().rig)
