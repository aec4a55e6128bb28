import numpy as np

from kinema.demo.characters.bones import Bone, build
from kinema.demo.characters.skins import SkinPart, flesh_of, skin
from kinema.render.meshes import tube

BONES = [
    Bone("root", None, (0.0, 0.0, 0.0), (0.0, 0.5, 0.0)),
    Bone("upper", "root", (0.0, 0.5, 0.0), (0.0, 1.0, 0.0)),
    Bone("hand_l", "upper", (0.0, 1.0, 0.0), (0.3, 1.0, 0.0)),
    Bone("hand_r", "upper", (0.0, 1.0, 0.0), (-0.3, 1.0, 0.0)),
]
SKELETON = build(BONES)
FLESH = flesh_of(BONES, {bone.name: (0.05, 0.05) for bone in BONES})


def test_a_limb_hands_over_smoothly_from_bone_to_bone():
    heights = np.linspace(0.0, 1.0, 41)
    mesh = tube(np.stack((0 * heights, heights, 0 * heights), axis=1), np.full(41, 0.05), 8, (1, 1, 1))
    made = skin(SKELETON, FLESH, [SkinPart(mesh, ["root", "upper"])])
    upper = np.where(made.joints == SKELETON.index("upper"), made.weights, 0).sum(axis=1)[:-2].reshape(41, 8)[:, 0]
    assert upper[0] == 0
    assert upper[-1] == 1
    assert upper[20] == 0.5
    assert (np.diff(upper) >= -1e-6).all()
    assert np.diff(upper).max() < 0.25


def test_parts_follow_only_the_joints_they_name():
    mesh = tube(((0.0, 0.4, 0.0), (0.0, 0.6, 0.0)), (0.05, 0.05), 6, (1, 1, 1))
    made = skin(SKELETON, FLESH, [SkinPart(mesh, ["upper"])])
    assert (made.weights == (1, 0, 0, 0)).all()
    assert (made.joints[:, 0] == SKELETON.index("upper")).all()


def test_left_and_right_hand_over_in_the_middle():
    line = np.linspace(-0.2, 0.2, 21)
    mesh = tube(np.stack((line, 0 * line + 1.0, 0 * line), axis=1), np.full(21, 0.05), 6, (1, 1, 1))
    made = skin(SKELETON, FLESH, [SkinPart(mesh, ["hand_l", "hand_r"])])
    left = np.where(made.joints == SKELETON.index("hand_l"), made.weights, 0).sum(axis=1)
    assert (left[made.vertices[:, 0] > 0.03] == 1).all()
    assert (left[made.vertices[:, 0] < -0.03] == 0).all()


def test_parts_are_joined_into_one_skin():
    mesh = tube(((0.0, 0.4, 0.0), (0.0, 0.6, 0.0)), (0.05, 0.05), 6, (0.2, 0.4, 0.6))
    made = skin(SKELETON, FLESH, [SkinPart(mesh, ["upper"]), SkinPart(mesh, ["root"])])
    half = len(mesh.vertices)
    assert len(made.vertices) == 2 * half
    assert np.array_equal(made.triangles[len(mesh.triangles) :], mesh.triangles + half)
    assert made.vertices.dtype == np.float32
    assert np.allclose(made.colours, (0.2, 0.4, 0.6))


def test_shares_that_are_given_are_kept():
    mesh = tube(((0.0, 0.4, 0.0), (0.0, 0.6, 0.0)), (0.05, 0.05), 6, (1, 1, 1))
    shares = np.tile((0.25, 0.75), (len(mesh.vertices), 1))
    made = skin(SKELETON, {}, [SkinPart(mesh, ["root", "upper"], shares=shares)])
    upper = np.where(made.joints == SKELETON.index("upper"), made.weights, 0).sum(axis=1)
    assert np.allclose(upper, 0.75)
