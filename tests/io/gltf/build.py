"""Small glTF files made in code."""

import base64
import json
import struct
import tracemalloc
from contextlib import contextmanager

import numpy as np

from kinema.io.gltf.document import parse
from kinema.io.gltf.reader import read

CODES = {"int8": 5120, "uint8": 5121, "int16": 5122, "uint16": 5123, "uint32": 5125, "float32": 5126}
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class Build:
    """A glTF file in the making: `json` may be changed at will until it is put together."""

    def __init__(self, **json_members):
        self.json = {"asset": {"version": "2.0"}, "accessors": [], "bufferViews": [], **json_members}
        self.data = bytearray()

    def add(self, what, **members):
        """A node, mesh, skin or animation; its index."""
        self.json.setdefault(what, []).append(members)
        return len(self.json[what]) - 1

    def view(self, data, **members):
        self.data += bytes(-len(self.data) % 4)
        start, self.data = len(self.data), self.data + data
        return self.add("bufferViews", buffer=0, byteOffset=start, byteLength=len(data), **members)

    def accessor(self, values, kind="float32", **members):
        """An accessor of these rows (or of numbers, one a row); its index. kind: of its numbers."""
        array = np.asarray(values, kind)
        array = array.reshape(len(array), -1)
        view = self.view(array.tobytes())
        shape = {"count": len(array), "type": TYPES[array.shape[1]], "componentType": CODES[kind]}
        return self.add("accessors", bufferView=view, **{**shape, **members})

    def animation(self, *channels, name=None, how="LINEAR"):
        """channels: (node, path, times, values)."""
        samplers, made = [], []
        for node, path, times, values in channels:
            target = {"path": path} if node is None else {"node": node, "path": path}
            made.append({"sampler": len(samplers), "target": target})
            keys = {"input": self.accessor(times), "output": self.accessor(values)}
            samplers.append({**keys, "interpolation": how})
        named = {} if name is None else {"name": name}
        return self.add("animations", channels=made, samplers=samplers, **named)

    def triangle(self, **attributes):
        """A mesh of one triangle; further attributes as indices of accessors."""
        position = self.accessor([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
        return self.add("meshes", primitives=[{"attributes": {"POSITION": position, **attributes}}])

    def glb(self):
        if self.data:
            self.json.setdefault("buffers", [{"byteLength": len(self.data)}])
        return glb(self.json, bytes(self.data))

    def gltf(self):
        """The same as text, its binary inside."""
        uri = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
        return json.dumps({**self.json, "buffers": [{"byteLength": len(self.data), "uri": uri}]}).encode()

    def read(self):
        return read(parse(self.glb(), "made.glb"))


def glb(tree, binary=b""):
    """The bytes of a binary file. tree: JSON, or text that should be some."""
    text = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    binary += bytes(-len(binary) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    if binary:
        chunks += struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def arm(**json_members):
    """Two bones and a hand: node 0 above 1 above 2."""
    made = Build(**json_members)
    made.add("nodes", name="upper", children=[1])
    made.add("nodes", name="lower", children=[2], translation=[0, 1, 0])
    made.add("nodes", name="hand", translation=[0, 1, 0])
    return made


@contextmanager
def memory():
    """Gives a function that tells the most memory, bytes, that was in use at once since."""
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
