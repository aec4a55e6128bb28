"""A new file: the nodes, the skin and the surfaces of a character made in code or loaded from another format."""

from typing import Any

import numpy as np

from kinema.io.gltf.document import ShapedNode
from kinema.io.gltf.output import INDICES, VERTICES, Output, Stored, float32, local_transform
from kinema.io.gltf.skins import to_light
from kinema.io.names import unique
from kinema.model.character import Character
from kinema.model.skeleton import Skeleton, as_4x4
from kinema.model.skin import Skin

MATERIAL = {"name": "surface", "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.8}}
"""Neither metallic nor glossy, so that vertex colours show as they are."""


def fresh(character: Character) -> Output:
    """Return all of a character but its clips. Joint i becomes node i; a node for each surface follows.

    Every joint belongs to the skin, even without a surface: that is how other programs tell bones from other nodes.
    """
    skeleton = character.skeleton
    output = Output({"asset": {"version": "2.0", "generator": "Kinema"}, "scene": 0})
    top = add_nodes(output, skeleton)
    bound_at_rest = _add_skin(output, skeleton, skeleton.inverse_bind)
    surfaces = [skin for skin in character.skins if len(skin.triangles)]
    if surfaces:
        output.add("materials", MATERIAL)
    for skin, name in zip(surfaces, unique([f"{character.name}_skin"] * len(surfaces)), strict=True):
        bound = bound_at_rest
        if skin.rebind is not None:
            bound = _add_skin(output, skeleton, skeleton.inverse_bind @ as_4x4(skin.rebind))
        mesh: dict[str, Any] = {"name": name, "primitives": [_primitive(output, skin)]}
        shaped = ShapedNode(tuple(shape.name for shape in skin.shapes), tuple(shape.weight for shape in skin.shapes))
        if skin.shapes:
            mesh |= {"weights": list(shaped.weights), "extras": {"targetNames": list(shaped.names)}}
        node = output.add("nodes", {"name": name, "mesh": output.add("meshes", mesh), "skin": bound})
        top.append(node)
        if skin.shapes:
            output.shaped[node] = shaped
    output.add("scenes", {"name": character.name, "nodes": top})
    return output


def _add_skin(output: Output, skeleton: Skeleton, inverse_bind: Any) -> int:
    """Add a skin of all joints. inverse_bind: (J, 4, 4)."""
    columns = np.swapaxes(inverse_bind, -1, -2).reshape(-1, 16)
    (accessor,) = output.add_arrays([Stored(float32(columns, "inverse_bind"))])
    return output.add("skins", {"inverseBindMatrices": accessor, "joints": list(range(len(skeleton)))})


def add_nodes(output: Output, skeleton: Skeleton) -> list[int]:
    """Add a node for each joint, and return the roots. A skin needs one root: several get a common parent."""
    for joint, name in enumerate(skeleton.names):
        children = list(skeleton.children(joint)) or None
        output.add("nodes", {"name": name, "children": children, **local_transform(skeleton, joint)})
    roots = np.flatnonzero(skeleton.parents < 0).tolist()
    return roots if len(roots) == 1 else [output.add("nodes", {"name": "roots", "children": roots})]


def _primitive(output: Output, skin: Skin) -> dict[str, Any]:
    """Return triangles with their vertex attributes; each array has its own view, as graphics APIs prefer."""
    joints, weights = _influences(skin)
    attributes = {
        "POSITION": Stored(float32(skin.vertices, "vertices"), bounded=True),
        "NORMAL": Stored(_unit(skin.normals)),
        "JOINTS_0": Stored(joints.astype("u1" if joints.max() < 256 else "<u2")),
        "WEIGHTS_0": Stored(weights),
    }
    if skin.colours is not None:
        attributes["COLOR_0"] = Stored(to_light(np.clip(skin.colours, 0.0, 1.0)).astype("<f4"))
    count = len(skin.vertices)
    targets = [{"POSITION": output.add_sparse(each.vertices, each.offsets, count)} for each in skin.shapes]
    small = len(skin.vertices) < np.iinfo(np.uint16).max  # The largest index is reserved.
    indices = Stored(skin.triangles.reshape(-1, 1).astype("<u2" if small else "<u4"))
    return {
        "attributes": {name: output.add_arrays([stored], VERTICES)[0] for name, stored in attributes.items()},
        "indices": output.add_arrays([indices], INDICES)[0],
        "material": 0,
        **({"targets": targets} if targets else {}),
    }


def add_mesh(output: Output, name: str, vertices: Any, triangles: Any) -> None:
    """Add a mesh that stands still to the scene, flat-shaded. vertices: (V, 3), metres. triangles: (T, 3)."""
    corners = np.asarray(vertices, float)[np.asarray(triangles)]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    position = Stored(float32(corners.reshape(-1, 3), name), bounded=True)
    attributes = {"POSITION": position, "NORMAL": Stored(_unit(np.repeat(faces, 3, axis=0)))}
    primitive = {"attributes": {part: output.add_arrays([array], VERTICES)[0] for part, array in attributes.items()}}
    mesh = output.add("meshes", {"name": name, "primitives": [primitive]})
    node = output.add("nodes", {"name": name, "mesh": mesh})
    if not output.listed("scenes"):
        output.add("scenes", {"nodes": []})
    shown = output.json.get("scene", 0)
    scene = output.listed("scenes")[shown]
    output.listed("scenes")[shown] = {**scene, "nodes": [*scene.get("nodes", ()), node]}


def _unit(normals: Any) -> Any:
    """Normalise; upwards where the normal is zero."""
    lengths = np.linalg.norm(normals, axis=-1, keepdims=True)
    return np.where(lengths > 0, normals / np.where(lengths > 0, lengths, 1.0), (0.0, 1.0, 0.0)).astype("<f4")


def _influences(skin: Skin) -> tuple[Any, Any]:
    """Joints and weights of vertices, (V, 4) each, as the format requires: no joint twice per vertex, joint 0 where the
    weight is 0, weights that add up to 1 in float32.
    """
    joints, weights = skin.joints.copy(), np.maximum(skin.weights.astype(np.float64), 0.0)
    for later in range(1, 4):
        for earlier in range(later):
            twice = joints[:, later] == joints[:, earlier]
            weights[twice, earlier] += weights[twice, later]
            weights[twice, later] = 0.0
    total = weights.sum(axis=1, keepdims=True)
    weights = np.where(total > 0, weights / np.where(total > 0, total, 1.0), (1.0, 0.0, 0.0, 0.0)).astype("<f4")
    return np.where(weights > 0, joints, 0), weights
