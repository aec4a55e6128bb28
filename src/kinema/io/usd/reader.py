"""Read USD: `read` is the list of steps.

A `Skeleton` lists its joints with the pose they were bound in, world space, and a rest pose, relative to the parent. It
becomes a joint where the file has it, with its joints below. The animations that the skeletons
play become a clip. Matrices of USD act on rows; ours are their transposes. Lengths become metres, and up becomes y.
"""

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from pxr import Sdf, Tf, Usd, UsdGeom, UsdShade, UsdSkel

from kinema.constants import LARGEST_FLOAT32
from kinema.errors import FileError, InputError
from kinema.io import names
from kinema.io.gltf.limits import MOST_NODES
from kinema.io.gltf.nodes import decomposed
from kinema.io.gltf.skins import to_screen
from kinema.io.source import Source
from kinema.io.surfaces import Binding, Surface, bound, fans, skinned, unit_normals
from kinema.math import arrays
from kinema.model.character import Character
from kinema.model.clip import Clip, Track
from kinema.model.clip import Path as Moved
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton

LARGEST_TEXT, MOST_KEYS = 2**30, 5_000_000
"""Bytes of a file as text, as which packed ones are read; and keys of a skeleton, each of which is a matrix first."""

_UPRIGHT = np.array([(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)])
"""From z up to y up."""

_TO_TEXT = """
import sys
from pxr import Sdf
if sys.platform == "linux":
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (2**33, 2**33))
Sdf.Layer.OpenAsAnonymous(sys.argv[1]).Export(sys.argv[2])
"""
"""The library ends the process at some damaged files, so that another one opens them."""

_PATHS: tuple[Moved, ...] = ("translation", "rotation", "scale")


@dataclass(frozen=True)
class Prim:
    """Where something stands in a file, for errors."""

    path: str
    file: str

    def fail(self, problem: str) -> NoReturn:
        raise FileError(f"{self.path} {problem}", self.file)

    def finite(self, values: Any, what: str) -> Any:
        """Return values as float64; raise if one is not finite."""
        found = np.array(values if values is not None else (), np.float64)
        if not (np.abs(found) <= LARGEST_FLOAT32).all():
            self.fail(f"has {what} that are not finite")
        return found


@dataclass(eq=False, kw_only=True)
class UsdSource(Source):
    """What a USD file says beside the character."""

    metric: bool = True
    file: str
    metres: float
    """Metres of the file's unit."""
    fps: float
    """Time codes per second."""
    turned: Any
    """(3, 3): from the file's axes to y up."""

    def place(self, prim: Any) -> Prim:
        return Prim(str(prim.GetPath()), self.file)

    def matrices(self, prim: Any, matrices: Any) -> Any:
        """Convert transforms of a prim, (..., 4, 4), to columns and metres."""
        made = np.swapaxes(self.place(prim).finite(matrices, "transforms"), -1, -2).copy()
        made[..., :3, 3] *= self.metres
        return made

    def placed(self, prim: Any, time: Any) -> Any:
        """Return where the file has a prim at a time, (4, 4), y up."""
        matrix = self.matrices(prim, UsdGeom.XformCache(time).GetLocalToWorldTransform(prim))
        matrix[:3] = self.turned @ matrix[:3]
        return matrix


@dataclass(frozen=True)
class Bones:
    """A skeleton of the file: its first joint, where the file has it, and its joints {path: index} in their order."""

    prim: Any
    first: int
    joints: dict[str, int]
    binds: Any
    """(n, 4, 4): from a joint to the world, as it was bound; None if the file does not say."""


def decode(data: bytes, name: str) -> Character:
    """Read a character from the bytes of a file."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        path, text = Path(place, "a.usdz" if data[:4] == b"PK\3\4" else "a.usd"), Path(place, "text.usda")
        path.write_bytes(data)
        try:
            subprocess.run([sys.executable, "-c", _TO_TEXT, path, text], capture_output=True, timeout=60, check=True)
            return read(text, name)
        except FileError:
            raise
        except (subprocess.SubprocessError, Tf.ErrorException, TypeError, ValueError):  # Values may be of any type.
            raise FileError("the file is damaged, too large, or no USD", name) from None


def read(text: Path, name: str) -> Character:
    """Read the character of a text that refers to no other file. name: of the file."""
    if text.stat().st_size > LARGEST_TEXT:
        raise FileError(f"the file has more than {LARGEST_TEXT:,} bytes as text", name)
    layer = Sdf.Layer.OpenAsAnonymous(str(text))
    others = layer.GetCompositionAssetDependencies()
    stage = None if others else Usd.Stage.Open(layer)
    if stage is None or any(prim.HasAuthoredMetadata("clips") for prim in stage.TraverseAll()):
        raise FileError(f"the file needs others {others[:3]}; write one with `usdcat --flatten`", name)
    metres, fps = UsdGeom.GetStageMetersPerUnit(stage), stage.GetTimeCodesPerSecond()
    if not (1e-6 <= metres <= 1e6 and 1e-3 <= fps <= 1e6):
        raise FileError(f"a unit is {metres:g} metres, a second {fps:g} time codes; that is not believed", name)
    turned = _UPRIGHT if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z else np.eye(3)
    source = UsdSource(file=name, metres=metres, fps=fps, turned=turned)
    prims = list(Usd.PrimRange.Stage(stage, Usd.TraverseInstanceProxies()))
    skeleton, bones = _skeleton([prim for prim in prims if prim.IsA(UsdSkel.Skeleton)], source)
    meshes = _meshes(prims, bones, source)
    skeleton = bound(skeleton, [binding for _, binding in meshes], source.place(bones[0].prim))
    skins = [skinned(surface, binding, skeleton, source.problems) for surface, binding in meshes]
    return Character(skeleton, _clips(bones, skeleton, source), skins=skins, name=Path(name).stem, source=source)


def _skeleton(found: list[Any], source: UsdSource) -> tuple[Skeleton, list[Bones]]:
    if not found:
        raise FileError("the file has no Skeleton (UsdSkel)", source.file)
    parents: list[int] = []
    named: list[str] = []
    locals_: list[Any] = []
    bones = []
    for prim in found:
        api, first = UsdSkel.Skeleton(prim), len(named)
        paths = [str(path) for path in api.GetJointsAttr().Get() or ()]
        if not paths or first + len(paths) >= MOST_NODES or len(set(paths)) < len(paths):
            source.place(prim).fail(f"has {len(paths)} joints; allowed are 1 to {MOST_NODES - 1} with different names")
        known = {path: first + 1 + k for k, path in enumerate(paths)}
        above = [known.get(path.rpartition("/")[0], first) for path in paths]
        binds, rest = (
            source.matrices(prim, attribute.Get()) if len(attribute.Get() or ()) == len(paths) else None
            for attribute in (api.GetBindTransformsAttr(), api.GetRestTransformsAttr())
        )
        if rest is None:
            if binds is None:
                source.place(prim).fail("has neither restTransforms nor bindTransforms for its joints")
            under = [binds[parent - first - 1] if parent > first else np.eye(4) for parent in above]
            rest = np.linalg.pinv(np.array(under)) @ binds
        bones.append(Bones(prim, first, known, binds))
        parents += [-1, *above]
        named += [prim.GetName(), *(path.rpartition("/")[2] for path in paths)]
        locals_ += [source.placed(prim, Usd.TimeCode.EarliestTime()), *rest]
    try:
        rest_pose = Pose(*decomposed(np.array(locals_))[:3])
        return Skeleton(names.unique([names.readable(each) for each in named]), parents, rest_pose), bones
    except InputError as problem:
        raise FileError(f"the joints do not make a skeleton: {problem}", source.file) from None


def _clips(bones: list[Bones], skeleton: Skeleton, source: UsdSource) -> dict[str, Clip]:
    """Return what the file plays, under the name of an animation: it has one time for all of its skeletons."""
    cache, name, moved = UsdSkel.Cache(), "take", []
    for each in bones:
        above = [UsdGeom.Xformable(each.prim.GetStage().GetPrimAtPath(at)) for at in each.prim.GetPath().GetPrefixes()]
        travel = sorted({time for prim in above if prim for time in prim.GetTimeSamples()})
        if len(travel) > 1:
            moved.append(([each.first], travel, np.array([[source.placed(each.prim, time)] for time in travel])))
        query = cache.GetSkelQuery(UsdSkel.Skeleton(each.prim))
        animation = query.GetAnimQuery() if query else None
        if not animation:
            continue
        times = animation.GetJointTransformTimeSamples() or travel[:1] or [0.0]
        if len(times) * len(each.joints) > MOST_KEYS:
            source.place(each.prim).fail(f"is moved by more than {MOST_KEYS:,} keys")
        sampled = [query.ComputeJointLocalTransforms(time) or () for time in times]
        if any(len(pose) != len(each.joints) for pose in sampled):
            source.problems.append(f"{animation.GetPrim().GetPath()} does not fit its skeleton; it is ignored")
            continue
        name = animation.GetPrim().GetName()
        moved.append((list(each.joints.values()), times, source.matrices(each.prim, sampled)))
    codes = [time for _, times, _ in moved for time in times]
    tracks = []
    for joints, times, transforms in moved:
        seconds = (np.array(times) - min(codes)) / source.fps
        for path, values, rest in zip(_PATHS, decomposed(transforms), skeleton.rest.arrays(), strict=False):
            for k, joint in enumerate(joints):
                keys = arrays.continuous(values[:, k]) if path == "rotation" else values[:, k]
                if np.abs(keys - rest[joint]).max() > 0:
                    tracks.append(Track(joint, path, seconds, keys))
    return {name: Clip(name, skeleton, tracks, (max(codes) - min(codes)) / source.fps)} if codes else {}


def _meshes(prims: list[Any], bones: list[Bones], source: UsdSource) -> list[tuple[Surface, Binding]]:
    """Return the meshes that follow joints, and how each is bound."""
    cache, everything = UsdSkel.Cache(), Usd.TraverseInstanceProxies()
    by_path = {each.prim.GetPath(): each for each in bones}
    found = {}
    for root in (UsdSkel.Root(prim) for prim in prims if prim.IsA(UsdSkel.Root)):
        cache.Populate(root, everything)
        for binding in cache.ComputeSkelBindings(root, everything):
            for target in binding.GetSkinningTargets():
                found[target.GetPrim().GetPath()] = target, by_path.get(binding.GetSkeleton().GetPrim().GetPath())
    made = []
    for prim in (prim for prim in prims if prim.IsA(UsdGeom.Mesh)):
        target, own = found.get(prim.GetPath(), (None, None))
        if own is not None:
            made += _mesh(target, own, source)
        else:
            source.problems.append(f"{prim.GetPath()} follows no joint; it is not shown")
    return made


def _mesh(target: Any, bones: Bones, source: UsdSource) -> list[tuple[Surface, Binding]]:
    """Return a mesh and how it is bound; nothing if it cannot be shown."""
    prim = target.GetPrim()
    mesh, place = UsdGeom.Mesh(prim), source.place(prim)
    points = place.finite(mesh.GetPointsAttr().Get(), "points").reshape(-1, 3) * source.metres
    listed = mesh.GetFaceVertexIndicesAttr().Get(), mesh.GetFaceVertexCountsAttr().Get()
    corners, sizes = (np.array(values if values is not None else (), np.int64) for values in listed)
    joints = [bones.joints.get(str(path), -1) for path in target.GetJointOrder() or bones.joints]
    pulls = target.ComputeVaryingJointInfluences(len(points)) if len(points) else None
    if not pulls or not len(pulls[0]) or bones.binds is None or not len(corners):
        source.problems.append(f"{place.path} does not say which joints its points follow; it is not shown")
        return []
    slots, weights = (np.array(values).reshape(len(points), -1) for values in pulls)
    slots, weights = (np.pad(each, ((0, 0), (0, max(4 - each.shape[1], 0)))) for each in (slots, weights))
    if (sizes < 1).any() or sizes.sum() != len(corners) or np.any((corners < 0) | (corners >= len(points))):
        place.fail("has faces that do not fit its points")
    if min(joints) < 0 or slots.min() < 0 or slots.max() >= len(joints):
        place.fail("follows a joint that its skeleton does not have")
    triangles = corners[fans(np.cumsum(sizes) - sizes, sizes)[0]]
    if mesh.GetOrientationAttr().Get() == UsdGeom.Tokens.leftHanded:
        triangles = triangles[:, ::-1]
    if target.HasBlendShapes():
        source.problems.append(f"{place.path} has blend shapes; it is shown without them")
    chosen, weights = np.array(joints), np.maximum(place.finite(weights, "weights"), 0.0)
    to_joints = np.linalg.pinv(bones.binds[chosen - bones.first - 1])
    binding = Binding(chosen, to_joints @ source.matrices(prim, target.GetGeomBindTransform()))
    normals, colours = unit_normals(points, triangles, None), _colours(mesh, len(points))
    return [(Surface(place, points, triangles, normals, colours, slots, weights), binding)]


def _colours(mesh: Any, count: int) -> Any:
    """Return the colour of each point, (count, 3): its own, or the diffuse one of the material; None without any."""
    shown = mesh.GetDisplayColorPrimvar().ComputeFlattened()
    if not shown:
        material = UsdShade.MaterialBindingAPI(mesh.GetPrim()).ComputeBoundMaterial()[0]
        shader = material.ComputeSurfaceSource()[0] if material else None
        shown = [shader.GetInput("diffuseColor").Get()] if shader and shader.GetInput("diffuseColor") else ()
    if len(shown) not in (1, count) or shown[0] is None:
        return None
    light = np.clip(np.nan_to_num(np.array(shown, np.float64)), 0.0, 1.0)
    return np.broadcast_to(to_screen(light), (count, 3)).copy()
