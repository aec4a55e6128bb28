"""Where a viewer shows every vertex of a glTF file: the specification in plain NumPy, number by number."""

import base64
import json
import struct

import numpy as np

FORMATS = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
LARGEST = {5120: 127, 5121: 255, 5122: 32767, 5123: 65535}


class Viewer:
    """A file, and its nodes' local matrices, as they rest or as they are set. Without sparse accessors."""

    def __init__(self, data, folder=None):
        if data[:4] == b"glTF":
            size = struct.unpack_from("<I", data, 12)[0]
            self.json, binary = json.loads(data[20 : 20 + size]), data[28 + size :]
        else:
            self.json, binary = json.loads(data), None
        self.buffers = [self._buffer(buffer, binary, folder) for buffer in self.json.get("buffers", [])]
        self.nodes = self.json["nodes"]
        self.locals = [local(node) for node in self.nodes]
        self.parents = {child: i for i, node in enumerate(self.nodes) for child in node.get("children", [])}

    def _buffer(self, buffer, binary, folder):
        if "uri" not in buffer:
            return binary
        head, _, body = buffer["uri"].partition(",")
        return base64.b64decode(body) if head.startswith("data:") else (folder / buffer["uri"]).read_bytes()

    def array(self, index):
        accessor = self.json["accessors"][index]
        view = self.json["bufferViews"][accessor["bufferView"]]
        code, width = FORMATS[accessor["componentType"]], WIDTHS[accessor["type"]]
        row = struct.Struct("<" + code * width)
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        stride = view.get("byteStride", row.size)
        data = self.buffers[view["buffer"]]
        rows = np.array([row.unpack_from(data, start + k * stride) for k in range(accessor["count"])], float)
        return np.maximum(rows / LARGEST[accessor["componentType"]], -1) if accessor.get("normalized") else rows

    def world(self, node):
        above = self.world(self.parents[node]) if node in self.parents else np.eye(4)
        return above @ self.locals[node]

    def shown(self):
        """For each node with a mesh, for each of its primitives that are triangles: vertices (V, 3) in the world."""
        for number, node in enumerate(self.nodes):
            for primitive in self.json["meshes"][node["mesh"]]["primitives"] if "mesh" in node else ():
                yield self._vertices(number, primitive["attributes"])

    def _vertices(self, number, attributes):
        position = np.pad(self.array(attributes["POSITION"]), ((0, 0), (0, 1)), constant_values=1)
        skin = self.nodes[number].get("skin")
        if skin is None or "JOINTS_0" not in attributes:
            return (position @ self.world(number).T)[:, :3]
        skin = self.json["skins"][skin]
        binds = np.tile(np.eye(4), (len(skin["joints"]), 1, 1))
        if "inverseBindMatrices" in skin:
            binds = self.array(skin["inverseBindMatrices"]).reshape(-1, 4, 4).swapaxes(1, 2)
        moves = np.array([self.world(joint) @ bind for joint, bind in zip(skin["joints"], binds, strict=False)])
        joints = self.array(attributes["JOINTS_0"]).astype(int)
        weights = self.array(attributes["WEIGHTS_0"])
        joints[weights == 0] = 0
        each = np.einsum("vkrc,vc->vkr", moves[joints], position)
        return (np.einsum("vkr,vk->vr", each, weights) / weights.sum(axis=1, keepdims=True))[:, :3]


def local(node):
    """The matrix of a node's transform."""
    if "matrix" in node:
        return np.array(node["matrix"], float).reshape(4, 4).T
    return matrix(node.get("translation", (0, 0, 0)), node.get("rotation", (0, 0, 0, 1)), node.get("scale", (1, 1, 1)))


def matrix(translation, rotation, scale):
    x, y, z, w = np.array(rotation, float) / np.linalg.norm(rotation)
    turn = np.array(
        [
            (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
        ]
    )
    whole = np.eye(4)
    whole[:3, :3], whole[:3, 3] = turn * np.array(scale, float), translation
    return whole
