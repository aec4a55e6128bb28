"""Skins: every vertex where a viewer shows it, whatever the file binds it to, and however it is posed."""

import time

import numpy as np
import pytest

import kinema as km
from kinema.errors import FileError
from kinema.io.gltf.document import DRACO, parse
from kinema.io.gltf.reader import read
from kinema.io.gltf.skins import to_screen
from kinema.io.surfaces import unit_normals
from tests.assets import FOLDER, asset
from tests.io.gltf.build import Build, arm
from tests.io.gltf.viewer import Viewer, matrix

REAL = [
    *("gltf/CesiumMan.glb", "gltf/Fox.glb", "gltf/RobotExpressive.glb", "gltf/m2m_snake.glb"),
    *("torture/Fox_gt_quantized.glb", "torture/RiggedSimple.glb", "torture/InterpolationTest.glb"),
    *("vrm/cryptovoxels.vrm", "vrm/VRMC_vrm_expressions_isBinary_Overridden.vrm"),
    "torture/AnimatedMorphCube_quantized/AnimatedMorphCube.gltf",
    *(f"torture/Animation_Skin/Animation_Skin_{i:02}.gltf" for i in range(12)),
    *(f"torture/Animation_SkinType/Animation_SkinType_{i:02}.gltf" for i in range(4)),
]


def check_shown(character, viewer, pose):
    """Each skin's vertices against a viewer's, in a pose of the character."""
    joints = character.source.joint_of_node
    for node, joint in enumerate(joints):
        viewer.locals[node] = matrix(pose.translations[joint], pose.rotations[joint], pose.scales[joint])
    palette = character.skeleton.palette(pose)
    shown = list(viewer.shown())
    assert len(shown) == len(character.skins)
    for skin, wanted in zip(character.skins, shown, strict=True):
        size = max(np.abs(wanted).max(initial=0.0), 1e-6)
        np.testing.assert_allclose(skin.deform(palette), wanted, atol=1e-5 * size)


def random_pose(skeleton, seed):
    """Every joint moved, rotated and scaled."""
    rng, rest = np.random.default_rng(seed), skeleton.rest
    size = np.abs(rest.translations).max() + 1
    moved = rest.translations + 0.1 * size * rng.normal(size=rest.translations.shape)
    return km.Pose(moved, rng.normal(size=rest.rotations.shape), rng.uniform(0.5, 2, rest.scales.shape))


@pytest.mark.parametrize("file", REAL)
def test_real_files_are_shown_as_a_viewer_shows_them(file):
    path = asset(file)
    character = km.load(path, rig=False)
    viewer = Viewer(path.read_bytes(), path.parent)
    check_shown(character, viewer, character.skeleton.rest)
    check_shown(character, viewer, random_pose(character.skeleton, 1))
    for clip in list(character.clips.values())[:2]:
        check_shown(character, viewer, clip.sample(clip.duration * 0.4))


def skinned(joints, binds, *, weights=None, slots=None, made=None):
    """An arm with a triangle that follows its joints."""
    made = made or arm()
    slots = [(0, 1, 2, 0)] * 3 if slots is None else slots
    weights = [(0.5, 0.3, 0.2, 0), (1, 0, 0, 0), (0, 0.5, 0.5, 0)] if weights is None else weights
    mesh = made.triangle(JOINTS_0=made.accessor(slots, "uint8"), WEIGHTS_0=made.accessor(weights))
    columns = np.array(binds, float).swapaxes(1, 2).reshape(-1, 16)
    skin = made.add("skins", joints=joints, inverseBindMatrices=made.accessor(columns))
    made.add("nodes", mesh=mesh, skin=skin, translation=[9, 9, 9])
    return made


def random_binds(seed, count=3):
    rng = np.random.default_rng(seed)
    return [matrix(rng.normal(size=3), rng.normal(size=4), rng.uniform(0.5, 2, 3)) for _ in range(count)]


def check_made(made):
    character = made.read()
    for pose in (character.skeleton.rest, random_pose(character.skeleton, 2)):
        check_shown(character, Viewer(made.glb()), pose)
    return character


def test_one_skin_keeps_its_matrices_and_its_vertices():
    binds = random_binds(3)
    character = check_made(skinned([0, 1, 2], binds))
    np.testing.assert_allclose(character.skeleton.inverse_bind[:3], binds, rtol=1e-6)
    np.testing.assert_array_equal(character.skins[0].vertices, [(0, 0, 0), (1, 0, 0), (0, 1, 0)])
    assert character.skins[0].rebind is None


def test_two_skins_that_differ_by_where_their_mesh_lies():
    """As quantisation leaves them: the vertices are moved over, and nothing else is needed."""
    binds = random_binds(4)
    shift = matrix((1, 2, 3), (0, 0, 1, 1), (2, 2, 2))
    character = check_made(skinned([2, 1, 0], [bind @ shift for bind in binds[::-1]], made=skinned([0, 1, 2], binds)))
    assert [skin.rebind for skin in character.skins] == [None, None]


def test_two_skins_that_differ_joint_by_joint():
    character = check_made(skinned([0, 1, 2], random_binds(5), made=skinned([0, 1, 2], random_binds(6))))
    assert character.skins[0].rebind is None
    assert character.skins[1].rebind.shape == (5, 3, 4)


def test_matrices_without_an_inverse():
    flat = [np.diag((1.0, 0.0, 1.0, 1.0)), np.zeros((4, 4)), np.eye(4)]
    flat[1][3, 3] = 1
    check_made(skinned([0, 1, 2], flat))
    check_made(skinned([0, 1, 2], random_binds(7), made=skinned([0, 1, 2], flat)))


def test_a_surface_without_a_skin_follows_its_node():
    made = skinned([0, 1, 2], random_binds(8))
    made.json["nodes"][1]["mesh"] = made.triangle()  # A joint of a skin, with a matrix of its own.
    mirrored = made.add("nodes", scale=[2, -1, 1], mesh=made.triangle())
    hidden = made.add("nodes", scale=[0, 0, 0], mesh=made.triangle())
    character = check_made(made)
    assert set(character.skins[-1].joints[:, 0]) == {character.source.joint_of_node[hidden]}
    assert mirrored == 4
    assert character.skins[-2].triangles.tolist() == [[2, 1, 0]]


def test_a_missing_inverse_bind_does_nothing():
    made = skinned([0, 1, 2], random_binds(9))
    del made.json["skins"][0]["inverseBindMatrices"]
    character = check_made(made)
    np.testing.assert_array_equal(character.skeleton.inverse_bind[:3], np.tile(np.eye(4), (3, 1, 1)))


def test_the_four_strongest_of_eight():
    made = arm()
    weights = np.array([(0.3, 0.01, 0.2, 0.02), (0.25, 0.02, 0.1, 0.1)])
    attributes = {
        "JOINTS_0": made.accessor([(0, 1, 2, 0)] * 3, "uint8"),
        "WEIGHTS_0": made.accessor([weights[0]] * 3),
        "JOINTS_1": made.accessor([(1, 0, 2, 1)] * 3, "uint16"),
        "WEIGHTS_1": made.accessor([weights[1]] * 3),
    }
    made.add("skins", joints=[0, 1, 2])
    made.add("nodes", mesh=made.triangle(**attributes), skin=0)
    character = made.read()
    skin = character.skins[0]
    assert skin.joints[0].tolist() == [0, 1, 2, 2]
    np.testing.assert_allclose(skin.weights[0], np.array((0.3, 0.25, 0.2, 0.1)) / 0.85, rtol=1e-6)
    assert character.source.problems == [
        "meshes[0].primitives[0] uses more than four joints per vertex; the four strongest are kept"
    ]


def test_weights_that_sum_to_zero():
    character = skinned([0, 1, 2], random_binds(1), weights=[(0, 0, 0, 0), (2, 2, 0, 0), (-1, 1, 0, 0)]).read()
    np.testing.assert_array_equal(character.skins[0].weights, [(1, 0, 0, 0), (0.5, 0.5, 0, 0), (0, 1, 0, 0)])


def test_joints_without_weight_may_be_any():
    slots = [(0, 200, 200, 200), (1, 99, 0, 0), (2, 0, 0, 0)]
    character = skinned([0, 1, 2], random_binds(1), weights=[(1, 0, 0, 0)] * 3, slots=slots).read()
    assert character.skins[0].joints.max() <= 2


def test_every_node_shows_a_mesh_of_its_own():
    made = Build()
    mesh = made.triangle()
    for x in range(3):
        made.add("nodes", mesh=mesh, translation=[x, 0, 0])
    character = check_made(made)
    assert [skin.joints[0, 0] for skin in character.skins] == [0, 1, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda j: j["skins"][0].update(joints=[0, 1, 9]), r"skins\[0\]\.joints\[2\] is 9; expected a whole number"),
        (lambda j: j["skins"][0].update(joints=[0, 1, 0]), r"skins\[0\] has the same joint twice"),
        (lambda j: j["skins"][0].update(joints=[]), r"skins\[0\] has no joints"),
        (
            lambda j: j["skins"][0].update(joints=[0]),
            r"meshes\[0\]\.primitives\[0\] uses joint 2 of a skin that has 1",
        ),
        (
            lambda j: j["skins"][0].update(joints=[0, 1, 2, 3]),
            r"skins\[0\]\.inverseBindMatrices are 3; there are 4 joints",
        ),
        (lambda j: j["skins"][0].update(inverseBindMatrices=0), "are not matrices"),
        (lambda j: j["nodes"][3].update(skin=1), r"nodes\[3\]\.skin is 1"),
        (lambda j: j["nodes"][3].update(mesh=-1), r"nodes\[3\]\.mesh is -1"),
    ],
)
def test_what_cannot_be_a_skin(change, message):
    made = skinned([0, 1, 2], random_binds(2))
    change(made.json)
    with pytest.raises(FileError, match=message):
        made.read()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_matrices_are_finite(value):
    binds = random_binds(2)
    binds[1][0, 0] = value
    with pytest.raises(FileError, match="inverseBindMatrices have numbers that are not finite"):
        skinned([0, 1, 2], binds).read()


def test_a_mesh_shown_more_often_than_memory_should_hold():
    made = Build()
    mesh = made.add("meshes", primitives=[{"attributes": {"POSITION": 0}}])
    made.add("accessors", componentType=5126, type="VEC3", count=100_000)
    for _ in range(100):
        made.add("nodes", mesh=mesh)
    start = time.process_time()
    with pytest.raises(FileError, match="more than the 20,000,000 allowed"):
        made.read()
    assert time.process_time() - start < 2


def test_all_assets_are_there_to_be_shown():
    if FOLDER.exists():
        assert sorted(FOLDER.glob("torture/Animation_Skin*/*.gltf"))[-1].name in REAL[-1]
    assert read(parse(arm().glb(), "a.glb")).skins == []


SQUARE = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]


def square(**members):
    """A mesh of four corners on one node; members: of its only primitive."""
    made = Build()
    attributes = {"POSITION": made.accessor(SQUARE)}
    made.add("meshes", primitives=[{"attributes": attributes, **members}])
    made.add("nodes", mesh=0)
    return made, made.json["meshes"][0]["primitives"][0]


def skin(made):
    (found,) = made.read().skins
    return found


@pytest.mark.parametrize(
    ("mode", "wanted"),
    [
        (4, [(0, 1, 2)]),  # The fourth corner begins a triangle that never comes.
        (5, [(0, 1, 2), (1, 3, 2)]),
        (6, [(1, 2, 0), (2, 3, 0)]),
    ],
)
def test_ways_of_drawing(mode, wanted):
    made, primitive = square(mode=mode)
    assert skin(made).triangles.tolist() == [list(corners) for corners in wanted]
    primitive["indices"] = made.accessor((3, 2, 1, 0), "uint8")
    del made.json["buffers"]
    wanted = [[3 - corner for corner in corners] for corners in wanted]
    assert skin(made).triangles.tolist() == wanted


@pytest.mark.parametrize("mode", [5, 6])
def test_all_triangles_of_a_flat_strip_or_fan_face_the_same_way(mode):
    corners = SQUARE if mode == 5 else [SQUARE[i] for i in (0, 1, 3, 2)]
    made = Build()
    made.add("meshes", primitives=[{"attributes": {"POSITION": made.accessor(corners)}, "mode": mode}])
    made.add("nodes", mesh=0)
    found = skin(made)
    a, b, c = (found.vertices[found.triangles[:, k]] for k in range(3))
    np.testing.assert_array_equal(np.sign(np.cross(b - a, c - a)[:, 2]), [1, 1])
    np.testing.assert_array_equal(found.normals, np.tile((0, 0, 1), (4, 1)))


def test_points_and_lines_are_left_out():
    made, _ = square(mode=1)
    made.add("meshes", primitives=[{"attributes": {"NORMAL": 0}}])
    made.add("nodes", mesh=1)
    character = made.read()
    assert character.skins == []
    assert character.source.problems == [f"meshes[{i}].primitives[0] is not a surface; it is ignored" for i in (0, 1)]


def test_quantised_corners():
    """Whole numbers as they are, or as shares, as KHR_mesh_quantization has them."""
    made = Build(extensionsUsed=["KHR_mesh_quantization"], extensionsRequired=["KHR_mesh_quantization"])
    for members in ({}, {"normalized": True}):
        padded = [(*corner, 0) for corner in np.array(SQUARE) * 100]
        position = made.accessor(padded, "int16", type="VEC3", **members)
        made.json["bufferViews"][-1]["byteStride"] = 8
        made.add("nodes", mesh=made.add("meshes", primitives=[{"attributes": {"POSITION": position}}]))
    plain, shares = made.read().skins
    np.testing.assert_array_equal(plain.vertices, np.array(SQUARE) * 100)
    np.testing.assert_allclose(shares.vertices, np.array(SQUARE) * 100 / 32767, rtol=1e-6)


def test_normals_are_given_or_made():
    made, primitive = square()
    primitive["attributes"]["NORMAL"] = made.accessor([(0, 2, 0), (0, 0, 0), (1, 1, 0), (0, 0, -1)])
    normals = skin(made).normals
    np.testing.assert_allclose(normals[[0, 2, 3]], [(0, 1, 0), (0.5**0.5, 0.5**0.5, 0), (0, 0, -1)], rtol=1e-6)
    np.testing.assert_array_equal(normals[1], (0, 0, 1))


def test_normals_where_there_is_no_area():
    vertices = np.array([(0.0, 0, 0), (1e-60, 0, 0), (0, 1e-60, 0), (5, 5, 5)])
    found = unit_normals(vertices, np.array([(0, 1, 2), (3, 3, 3)]), None)
    np.testing.assert_array_equal(found, [(0, 0, 1)] * 3 + [(0, 1, 0)])


def test_colours():
    made, primitive = square()
    assert skin(made).colours is None
    primitive["material"] = made.add("materials", pbrMetallicRoughness={"baseColorFactor": [1, 0.5, 0, 1]})
    np.testing.assert_allclose(skin(made).colours, np.tile((1, 0.7353570, 0), (4, 1)), atol=1e-6)
    primitive["attributes"]["COLOR_0"] = made.accessor([(255, 255, 255, 0), (0, 0, 0, 0)] * 2, "uint8", normalized=True)
    del made.json["buffers"]
    np.testing.assert_allclose(skin(made).colours[:2], [(1, 0.7353570, 0), (0, 0, 0)], atol=1e-6)
    made.json["materials"][0] = {}
    np.testing.assert_array_equal(skin(made).colours[:2], [(1, 1, 1), (0, 0, 0)])


def test_light_on_a_screen():
    np.testing.assert_allclose(to_screen(np.array((0, 0.002, 0.21404, 1))), (0, 0.02584, 0.5, 1), atol=1e-5)


def test_compressed_meshes_are_left_out_where_nothing_else_is_there():
    made, _ = square(extensions={DRACO: {"bufferView": 0, "attributes": {}}})
    assert len(made.read().skins) == 1
    made.json["extensionsRequired"] = [DRACO]
    character = made.read()
    assert character.skins == []
    assert DRACO in character.source.problems[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m, p: p.pop("attributes"), r"meshes\[0\]\.primitives\[0\] has no 'attributes'"),
        (lambda m, p: p.update(mode=7), r"primitives\[0\]\.mode is 7"),
        (lambda m, p: p["attributes"].update(POSITION=9), r"primitives\[0\]\.attributes\.POSITION is 9"),
        (lambda m, p: p["attributes"].update(NORMAL=m.accessor([(0, 0, 1)])), r"NORMAL has 1 elements; there are 4"),
        (lambda m, p: p["attributes"].update(POSITION=m.accessor([1, 2, 3])), "POSITION has elements of 1 numbers"),
        (lambda m, p: p.update(indices=m.accessor((0, 1, 4), "uint8")), r"indices refer to vertex 4 of 4"),
        (
            lambda m, p: p.update(indices=m.accessor((0, 1, 2))),
            "indices are float32 of width 1; expected whole numbers",
        ),
        (
            lambda m, p: p["attributes"].update(POSITION=m.accessor([(0, 0, np.nan)])),
            "POSITION has numbers that are not",
        ),
        (
            lambda m, p: p["attributes"].update(POSITION=m.accessor([(0, 0, 1e30)] * 3)),
            r"primitives\[0\] does not make a skin",
        ),
        (lambda m, p: p.update(material=0), r"primitives\[0\]\.material is 0; expected none, as there are none"),
        (lambda m, p: p.update(targets=3), r"primitives\[0\]\.targets is 3"),
    ],
)
def test_what_cannot_be_a_surface(change, message):
    made, primitive = square()
    change(made, primitive)
    with pytest.raises(FileError, match=message):
        made.read()


def test_joints_and_weights_that_cannot_be():
    made, primitive = square()
    made.add("skins", joints=[0])
    made.json["nodes"][0]["skin"] = 0
    weights = made.accessor([(1, 0, 0, 0)] * 4)
    primitive["attributes"].update(JOINTS_0=made.accessor([(0, 0, 0, 0)] * 4), WEIGHTS_0=weights)
    with pytest.raises(FileError, match=r"attributes\.JOINTS_0 are float32; expected whole numbers"):
        made.read()
