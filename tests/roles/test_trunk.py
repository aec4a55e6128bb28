"""Spine and neck where nothing hangs between hips and head; eyes that are meshes of their own."""

import numpy as np
import pytest

import kinema as km
from kinema import roles
from kinema.io import files
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin
from tests.assets import asset


def test_arms_of_two_joints_show_where_the_chest_is():
    rig = files.load(asset("gltf/godot_platformer_player.glb")).rig
    names = rig.skeleton.names
    assert [names[j] for j in rig.spine] == ["waist", "chest"]
    assert names[rig.neck[0]] == "neck"


def bird(names):
    """Hips, a chain up to the head, two legs, no arms."""
    parents = [*range(-1, len(names) - 1)]
    at = [(0.0, 0.5, 0.0), *[(0.0, 0.1, 0.03)] * (len(names) - 1)]
    joints = list(names)
    for side, sign in (("l", 1.0), ("r", -1.0)):
        start = len(joints)
        joints += [f"thigh_{side}", f"shin_{side}", f"foot_{side}", f"toe_{side}"]
        parents += [0, start, start + 1, start + 2]
        at += [(0.08 * sign, 0, 0), (0, -0.2, 0.05), (0, -0.22, -0.05), (0, -0.05, 0.1)]
    rest = km.Pose(np.array(at, float), np.tile((0.0, 0.0, 0.0, 1.0), (len(joints), 1)))
    return km.Skeleton(joints, parents, rest)


@pytest.mark.parametrize(
    ("names", "spine", "neck"),
    [
        (("hips", "spine1", "spine2", "neck1", "neck2", "head"), ["spine1", "spine2"], ["neck1", "neck2"]),
        (("hips", "a", "b", "c", "head"), ["a", "b"], ["c"]),
        (("hips", "spine1", "spine2", "spine3", "head"), ["spine1", "spine2", "spine3"], []),
    ],
)
def test_a_spine_without_limbs_is_not_a_neck(names, spine, neck):
    skeleton = bird(names)
    rig = roles.find(skeleton)
    assert [skeleton.names[j] for j in rig.spine] == spine
    assert [skeleton.names[j] for j in rig.neck] == neck
    assert skeleton.names[rig.head] == "head"


def test_eyes_that_are_meshes_of_their_own_are_eyes():
    """Each eyeball is a mesh that follows one joint alone, as exporters write them."""
    base = bird(("hips", "spine", "neck", "head"))
    names, parents = [*base.names, "LeftEye", "RightEye"], [*base.parents.tolist(), 3, 3]
    at = np.concatenate((base.rest.translations, [(0.04, 0.05, 0.08), (-0.04, 0.05, 0.08)]))
    skeleton = km.Skeleton(names, parents, km.Pose(at, np.tile((0.0, 0.0, 0.0, 1.0), (len(names), 1))))
    skins = [
        _skin(skeleton, range(len(names) - 2)),
        _skin(skeleton, [len(names) - 2]),
        _skin(skeleton, [len(names) - 1]),
    ]
    rig = roles.find(skeleton, skins=skins)
    assert [skeleton.names[j] for j in rig.eyes] == ["LeftEye", "RightEye"]


def _skin(skeleton, joints):
    """Three vertices around each of some joints."""
    points = np.concatenate([skeleton.rest_world[j, :3, 3] + 0.01 * np.eye(3) for j in joints])
    followed = np.zeros((len(points), 4), np.int64)
    followed[:, 0] = np.repeat(joints, 3)
    weights = np.zeros((len(points), 4))
    weights[:, 0] = 1.0
    normals = np.tile((0.0, 1.0, 0.0), (len(points), 1))
    return Skin(points, np.arange(len(points)).reshape(-1, 3), followed, weights, normals)


def shark(fin):
    """A body of seven joints along z, with a pair of fins of three joints down and out, and a tail fin."""
    names, parents, at = [], [], []
    for k, z in enumerate((0.0, 0.4, 0.8, 1.2)):
        names.append("body" if k == 0 else f"spine_{k}")
        parents.append(k - 1)
        at.append((0, 0, z and 0.4))
    names += ["head", "tail_1", "tail_2"]
    parents += [3, 0, 5]
    at += [(0, 0, 0.4), (0, 0, -0.5), (0, 0, -0.5)]
    for side, sign in (("l", 1.0), ("r", -1.0)):
        for k in range(3):
            names.append(f"{fin}_{k + 1}_{side}")
            parents.append(2 if k == 0 else len(names) - 2)
            at.append((0.15 * sign, -0.15, 0.0))
    return Skeleton(names, parents, Pose(np.array(at, float), np.tile((0.0, 0.0, 0.0, 1.0), (len(at), 1))))


def test_fins_are_no_legs():
    rig = roles.find(shark("pectoral_fin"))
    assert not rig.legs
    assert not rig.arms
    assert rig.skeleton.names[rig.head] == "head"


def test_what_may_be_fins_is_a_doubt():
    rig = roles.find(shark("part"))
    if rig.legs:
        assert any("fins" in doubt for doubt in rig.doubts)
        assert max(rig.confidence[f"legs.{leg.name}"] for leg in rig.legs) < 0.6
