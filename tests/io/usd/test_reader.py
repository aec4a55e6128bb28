"""USD files made with Pixar's library, which also says where joints and points are."""

import random

import numpy as np
import pytest

import kinema as km
from kinema.io import other_formats

pytest.importorskip("pxr", reason="usd-core is not installed")
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, UsdUtils

TIMES = (1.0, 7.5, 13.0, 24.0)
"""Time codes, of which the middle ones lie between samples."""

JOINTS = ["hip", "hip/knee", "hip/knee/foot", "hip/tail"]


def arm(path=None, up=UsdGeom.Tokens.z, metres=0.01):
    """A stage with four joints below a transform, an animation of three of them, and a mesh of two quads."""
    stage = Usd.Stage.CreateNew(str(path)) if path else Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, up)
    UsdGeom.SetStageMetersPerUnit(stage, metres)
    stage.SetTimeCodesPerSecond(24)
    root = UsdSkel.Root.Define(stage, "/Man")
    root.AddTranslateOp().Set((10, 0, 90))
    root.AddRotateZOp().Set(30)
    skeleton = UsdSkel.Skeleton.Define(stage, "/Man/Skel")
    skeleton.CreateJointsAttr(JOINTS)
    steps = [(0, 0, 0), (0, 5, -40), (0, -5, -40), (0, -30, 0)]
    turned = Gf.Matrix4d(Gf.Rotation((1, 0, 0), 20), Gf.Vec3d(0))
    rest = [turned * Gf.Matrix4d().SetTranslate(Gf.Vec3d(step)) for step in steps]
    skeleton.CreateRestTransformsAttr(rest)
    skeleton.CreateBindTransformsAttr(list(UsdSkel.ConcatJointTransforms(UsdSkel.Topology(JOINTS), rest)))
    animation = UsdSkel.Animation.Define(stage, "/Man/Walk")
    animation.CreateJointsAttr(["hip/knee", "hip", "hip/tail"])
    chance = np.random.default_rng(0)
    for time in (1.0, 10.0, 24.0):
        quaternions = chance.normal(size=(3, 4)) * 0.2 + (1, 0, 0, 0)
        animation.CreateRotationsAttr().Set([Gf.Quatf(*map(float, q)).GetNormalized() for q in quaternions], time)
        animation.CreateTranslationsAttr().Set([Gf.Vec3f(*map(float, t)) for t in chance.normal(size=(3, 3))], time)
    animation.CreateScalesAttr().Set([Gf.Vec3h(1, 1, 1)] * 3)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(["/Man/Walk"])
    mesh = UsdGeom.Mesh.Define(stage, "/Man/Body")
    mesh.CreatePointsAttr([(-5, 0, 0), (5, 0, 0), (5, 0, -40), (-5, 0, -40), (5, 0, -80), (-5, 0, -80)])
    mesh.CreateFaceVertexCountsAttr([4, 4])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 3, 3, 2, 4, 5])
    mesh.CreateDisplayColorPrimvar(UsdGeom.Tokens.constant).Set([(1, 0, 0)])
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets(["/Man/Skel"])
    binding.CreateJointsAttr(["hip/knee/foot", "hip/knee", "hip"])
    binding.CreateJointIndicesPrimvar(False, 2).Set([2, 1, 2, 1, 1, 2, 1, 2, 0, 1, 0, 1])
    binding.CreateJointWeightsPrimvar(False, 2).Set([0.75, 0.25, 1, 0, 0.5, 0.5, 0.5, 0.5, 1, 0, 0.75, 0.25])
    binding.CreateGeomBindTransformAttr(Gf.Matrix4d().SetTranslate(Gf.Vec3d(1, 2, 3)))
    stage.SetDefaultPrim(root.GetPrim())
    return stage


def export(stage, path):
    """Write a stage; its layer lives as long as it does."""
    assert stage.GetRootLayer().Export(str(path))
    return path


def library(stage, time):
    """(joints, points) in the world, metres and y up, as the library has them."""
    cache, every, code = UsdSkel.Cache(), Usd.PrimAllPrimsPredicate, Usd.TimeCode(time)
    root = UsdSkel.Root(stage.GetPrimAtPath("/Man"))
    cache.Populate(root, every)
    (binding,) = cache.ComputeSkelBindings(root, every)
    query, target = cache.GetSkelQuery(binding.GetSkeleton()), binding.GetSkinningTargets()[0]
    world = UsdGeom.XformCache(code).GetLocalToWorldTransform(stage.GetPrimAtPath("/Man/Skel"))
    joints = np.array([np.array(m * world)[3, :3] for m in query.ComputeJointSkelTransforms(code)])
    points = UsdGeom.Mesh(target.GetPrim()).GetPointsAttr().Get()
    assert target.ComputeSkinnedPoints(query.ComputeSkinningTransforms(code), points, code)
    points = np.array([np.array(world.Transform(Gf.Vec3d(p))) for p in points])
    if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z:
        joints, points = (each @ np.array([(1, 0, 0), (0, 0, -1), (0, 1, 0)]) for each in (joints, points))
    scale = UsdGeom.GetStageMetersPerUnit(stage)
    return joints * scale, points * scale


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """{suffix: path} of the same stage."""
    folder = tmp_path_factory.mktemp("usd")
    paths = {suffix: folder / f"man{suffix}" for suffix in (".usda", ".usdc", ".usdz")}
    for suffix in (".usda", ".usdc"):
        export(arm(), paths[suffix])
    assert UsdUtils.CreateNewUsdzPackage(str(paths[".usdc"]), str(paths[".usdz"]))
    return paths


def check(character, stage):
    (clip,) = character.clips.values()
    for time in TIMES:
        joints, points = library(stage, time)
        pose = clip.sample((time - 1) / 24)
        np.testing.assert_allclose(character.skeleton.world(pose)[1:, :3, 3], joints, atol=2e-6)
        shown = character.skins[0].deform(character.skeleton.palette(pose))
        np.testing.assert_allclose(shown, points, atol=2e-6)


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usdz"])
def test_joints_and_points_are_where_the_library_has_them(files, suffix):
    character = km.load(files[suffix], rig=False)
    assert character.skeleton.names == ("Skel", "hip", "knee", "foot", "tail")
    assert list(character.clips) == ["Walk"]
    check(character, arm())


def test_metres_with_y_up_are_kept(tmp_path):
    stage = arm(up=UsdGeom.Tokens.y, metres=1.0)
    export(stage, tmp_path / "a.usda")
    check(km.load(tmp_path / "a.usda", rig=False), stage)


def test_a_transform_above_that_moves_is_part_of_the_clip(tmp_path):
    stage = arm()
    operation = UsdGeom.Xformable(stage.GetPrimAtPath("/Man")).GetOrderedXformOps()[0]
    operation.Set((0, 0, 90), 1.0)
    operation.Set((40, 0, 90), 24.0)
    export(stage, tmp_path / "a.usdc")
    check(km.load(tmp_path / "a.usdc", rig=False), stage)


def test_without_a_rest_pose_the_bound_one_is_taken(tmp_path):
    stage = arm()
    stage.GetPrimAtPath("/Man/Skel").RemoveProperty("restTransforms")
    export(stage, tmp_path / "a.usda")
    bare, whole = km.load(tmp_path / "a.usda", rig=False), arm()
    export(whole, tmp_path / "b.usda")
    np.testing.assert_allclose(
        bare.skeleton.rest_world, km.load(tmp_path / "b.usda", rig=False).skeleton.rest_world, atol=1e-9
    )


def test_a_character_becomes_a_glb(files, tmp_path):
    character = km.load(files[".usdc"], rig=False)
    km.save(tmp_path / "a.glb", character)
    again = km.load(tmp_path / "a.glb", rig=False)
    for time in (0.0, 0.4):
        one, other = (each.skeleton.world(each.clips["Walk"].sample(time)) for each in (character, again))
        np.testing.assert_allclose(other[:5], one, atol=1e-6)


def test_meshes_that_follow_nothing_are_named(tmp_path):
    stage = arm()
    UsdGeom.Mesh.Define(stage, "/Man/Table").CreatePointsAttr([(0, 0, 0)])
    export(stage, tmp_path / "a.usda")
    assert km.load(tmp_path / "a.usda", rig=False).source.problems == ["/Man/Table follows no joint; it is not shown"]


# --- what is refused -------------------------------------------------------------------------------------------


def test_other_files_are_not_opened(files, tmp_path):
    stage = Usd.Stage.CreateInMemory()
    stage.DefinePrim("/A").GetReferences().AddReference(str(files[".usda"]))
    export(stage, tmp_path / "a.usda")
    with pytest.raises(km.FileError, match=r"a\.usda: the file needs others \['.*man\.usda'\]; write one with `usdcat"):
        km.load(tmp_path / "a.usda")


def test_value_clips_are_refused(tmp_path):
    stage = arm()
    Usd.ClipsAPI(stage.GetPrimAtPath("/Man")).SetClipAssetPaths([Sdf.AssetPath("/etc/hosts")])
    export(stage, tmp_path / "a.usda")
    with pytest.raises(km.FileError, match="the file needs others"):
        km.load(tmp_path / "a.usda")


def test_files_without_a_skeleton_say_so(tmp_path):
    (tmp_path / "a.usda").write_text('#usda 1.0\ndef Xform "A" {}\n')
    with pytest.raises(km.FileError, match=r"a\.usda: the file has no Skeleton"):
        km.load(tmp_path / "a.usda")


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"hip/knee/foot", "hip/tail"', '"hip/knee/foot", "hip"', "4 joints; allowed are 1 to 4095"),
        ("[4, 4]", "[4, 5]", "faces that do not fit its points"),
        ("[0, 1, 2, 3, 3", "[0, 1, 2, 3, 99", "faces that do not fit its points"),
        ("[2, 1, 2, 1, 1,", "[2, 1, 2, 1, 9,", "follows a joint that its skeleton does not have"),
        ("(-5, 0, 0)", "(-5, nan, 0)", "points that are not finite"),
        ("color3f[] primvars:displayColor = [(1, 0, 0)]", "int primvars:displayColor = 3", "the file is damaged"),
        ("metersPerUnit = 0.01", "metersPerUnit = -1", "that is not believed"),
    ],
)
def test_what_does_not_fit_is_refused(files, tmp_path, old, new, problem):
    text = files[".usda"].read_text()
    assert old in text
    (tmp_path / "a.usda").write_text(text.replace(old, new))
    with pytest.raises(km.FileError, match=problem):
        km.load(tmp_path / "a.usda", rig=False)


def test_damaged_files_are_read_or_refused(files, tmp_path):
    words = files[".usda"].read_text().split(" ")
    for seed in range(6):
        chance, changed = random.Random(seed), list(words)
        for _ in range(chance.choice((1, 2, 5))):
            new = chance.choice((*words[:40], "nan", "-1", "1e40", "0", "[]", "{", "}", "", "999999999", "None"))
            changed[chance.randrange(len(changed))] = new
        (tmp_path / "a.usda").write_text(" ".join(changed))
        try:
            character = km.load(tmp_path / "a.usda", rig=False)
        except km.FileError:
            continue
        assert np.isfinite(character.skeleton.rest_world).all()
        for clip in character.clips.values():
            assert np.isfinite(clip.sample(0.5).rotations).all()


def test_other_content_is_not_taken_for_it(tmp_path):
    (tmp_path / "a.usd").write_bytes(b"whatever it holds")
    with pytest.raises(km.FileError, match=r"a\.usd: the content is not USD"):
        km.load(tmp_path / "a.usd")


def test_without_the_library_the_error_says_how_to_install_it(files, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(km.FileError, match=r'USD files are not read; `pip install "kinema\[usd\]"`, or convert it'):
        km.load(files[".usdc"])
    assert other_formats.convertible(files[".usdc"]) is not None
