"""FBX files for tests: a tree of elements, written in either form of the format and any version.

An element is a list: its name, its values, the elements inside. A list among the values is an array.
"""

import struct
import zlib

import numpy as np

from kinema.io.fbx import decode

TICKS = 46_186_158_000

HIPS, KNEE, MESH, SHAPE, SKIN, LOW, HIGH, SKY, TAKE, LAYER, OTHER = range(101, 112)


def element(name, *values, inside=()):
    return [name, list(values), list(inside)]


# --- writing ---------------------------------------------------------------------------------------------------


def binary(tree, version=7400, *, deflate=False, footer=b"\xfa\xbc" * 8):
    """The bytes of a binary file."""
    data = bytearray(b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", version))
    for each in tree:
        _write(data, each, version, deflate)
    return bytes(data) + bytes(25 if version >= 7500 else 13) + footer


def _write(data, each, version, deflate):
    wide = version >= 7500
    head = struct.Struct("<QQQB" if wide else "<IIIB")
    name, values, inside = _parts(each)
    if version < 7000:  # There are no arrays: their numbers are values.
        values = [one for value in values for one in (value if isinstance(value, list) else [value])]
    start = len(data)
    data += bytes(head.size) + name
    at = len(data)
    for value in values:
        data += _value(value, version, deflate)
    size = len(data) - at
    for below in inside:
        _write(data, below, version, deflate)
    if inside:
        data += bytes(head.size)
    head.pack_into(data, start, len(data), len(values), size, len(name))


def _parts(each):
    """Name, values and inside of an element, whatever damage has made of it."""
    each = each if isinstance(each, list) else [str(each), [], []]
    name, values, inside = (*each, [], [], [])[:3] if each else ("", [], [])
    return (
        str(name).encode("utf-8", "replace")[:255],
        values if isinstance(values, list) else [values],
        inside if isinstance(inside, list) else [],
    )


def _value(value, version, deflate):
    if isinstance(value, bool):
        return b"C" + bytes([value])
    if isinstance(value, int):
        return b"L" + struct.pack("<q", value) if abs(value) < 2**63 else b"D" + struct.pack("<d", float(value))
    if isinstance(value, float):
        return b"D" + struct.pack("<d", value)
    if isinstance(value, list) and all(type(each) in (int, float) for each in value):
        kind = "<f8" if any(isinstance(each, float) for each in value) else "<i8"
        with np.errstate(all="ignore"):
            raw = np.array(value, "<f8").astype(kind).tobytes() if value else b""
        packed = zlib.compress(raw) if deflate else raw
        return (b"d" if kind == "<f8" else b"l") + struct.pack("<III", len(value), int(deflate), len(packed)) + packed
    if version < 7000 and isinstance(value, str) and len(value) == 1 and value.isascii():
        return b"C" + value.encode()
    text = value.encode("utf-8", "replace") if isinstance(value, str) else value
    raw = text if isinstance(text, bytes) else repr(value).encode("utf-8", "replace")
    if b"::" in raw:  # A binary file writes the class behind the name.
        kind, name = raw.split(b"::", 1)
        raw = name + b"\0\1" + kind
    return b"S" + struct.pack("<I", len(raw)) + raw


def text(tree, version=7400):
    """The bytes of a text."""
    lines = [f"; FBX {version // 1000}.{version // 100 % 10}.{version // 10 % 10} project file", "; ----", ""]
    for each in tree:
        _lines(lines, each, 0, version)
    return "\n".join(lines).encode("utf-8", "replace") + b"\n"


def _lines(lines, each, depth, version):
    name, values, inside = _parts(each)
    written, indent = [], "\t" * depth
    for value in values:
        if isinstance(value, list) and version >= 7000:
            numbers = ",".join(map(str, value))
            lines += [f"{indent}{name.decode()}: *{len(value)} {{", f"{indent}\ta: {numbers}", f"{indent}}}"]
            return
        written += [_word(each) for each in (value if isinstance(value, list) else [value])]
    line = f"{indent}{name.decode()}: {','.join(written)}"
    if not inside:
        lines.append(line)
        return
    lines.append(line + " {")
    for below in inside:
        _lines(lines, below, depth + 1, version)
    lines.append(f"{indent}}}")


def _word(value):
    if isinstance(value, bool):
        return "T" if value else "F"
    return str(value) if isinstance(value, int | float) else '"' + str(value).replace('"', "&quot;") + '"'


# --- parts of a file -------------------------------------------------------------------------------------------


def properties(**named):
    """Properties of version 7; an underscore stands for a blank."""
    return element(
        "Properties70",
        inside=[element("P", name.replace("_", " "), "", "", "", *_listed(v)) for name, v in named.items()],
    )


def _listed(value):
    return list(value) if isinstance(value, tuple) else [value]


def model(key, name, kind="LimbNode", **named):
    named = {name: tuple(map(float, v)) if isinstance(v, tuple) else v for name, v in named.items()}
    return element(
        "Model", key, f"Model::{name}", kind, inside=[properties(**{"RotationActive": 1, "InheritType": 1, **named})]
    )


def curve(key, times, values, flags=None, data=None, weights=None, **more):
    """A curve; times in seconds, flags as in the file (linear unless given)."""
    flags = [4] if flags is None else flags
    runs = [len(times)] if len(flags) == 1 else [1] * len(flags)
    numbers = np.zeros((len(flags), 4), np.float32) if data is None else np.array(data, np.float32)
    inside = [
        element("KeyTime", [round(time * TICKS) for time in times]),
        element("KeyValueFloat", [float(value) for value in values]),
        element("KeyAttrFlags", flags),
        element("KeyAttrDataFloat", [int(bits) for bits in numbers.reshape(-1).view(np.int32)]),
        element("KeyAttrRefCount", runs),
    ]
    inside += [element(f"{end}-Extrapolation", inside=[element("Type", kind)]) for end, kind in more.items()]
    return element("AnimationCurve", key, "AnimCurve::", "", inside=inside)


def file(objects, links, **settings):
    """All elements of a file of version 7."""
    return [
        element("FBXHeaderExtension", inside=[element("FBXVersion", 7400)]),
        element("GlobalSettings", inside=[properties(**settings)]),
        element("Objects", inside=objects),
        element("Connections", inside=[element("C", *link) for link in links]),
    ]


def animated(node, property, curves, *, key=900, static=(), layer=LAYER):
    """Objects and links of curves on a property of a node: {axis: arguments of `curve`}."""
    values = {f"d|{axis}": float(value) for axis, value in zip("XYZ", static, strict=False)}
    objects = [element("AnimationCurveNode", key, "AnimCurveNode::T", "", inside=[properties(**values)])]
    links = [("OO", key, layer), ("OP", key, node, property)]
    for n, (axis, given) in enumerate(curves.items(), 1):
        objects.append(curve(key + n, *given[:2], **(given[2] if len(given) > 2 else {})))
        links.append(("OP", key + n, key, f"d|{axis}"))
    return objects, links


def take(name="Walk", start=0.0, stop=1.0, layers=((LAYER, {}),)):
    """Objects and links of a take: {property: value} of each layer."""
    span = {"LocalStart": round(start * TICKS), "LocalStop": round(stop * TICKS)}
    objects = [element("AnimationStack", TAKE, f"AnimStack::{name}", "", inside=[properties(**span)])]
    objects += [element("AnimationLayer", key, "AnimLayer::L", "", inside=[properties(**p)]) for key, p in layers]
    return objects, [("OO", key, TAKE) for key, _ in layers]


def square(key=SHAPE, materials=(), normals=()):
    """A square of four corners and a triangle beside it."""
    inside = [
        element("Vertices", [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 2.0, 0.5, 0.0]),
        element("PolygonVertexIndex", [0, 1, 2, -4, 1, 4, -3]),
    ]
    if normals:
        inside.append(_layer("Normal", "Normals", [float(n) for n in normals], "ByPolygonVertex", "Direct"))
    if materials:
        inside.append(_layer("Material", "Materials", list(materials), "ByPolygon", "IndexToDirect"))
    return element("Geometry", key, "Geometry::", "Mesh", inside=inside)


def _layer(kind, name, values, mapping, reference):
    inside = [element("MappingInformationType", mapping), element("ReferenceInformationType", reference)]
    return element(f"LayerElement{kind}", 0, inside=[*inside, element(name, values)])


def cluster(key, indices, weights, transform, link):
    """A cluster; its matrices act on columns."""
    inside = [element("Indexes", list(indices)), element("Weights", [float(w) for w in weights])]
    for name, matrix in (("Transform", transform), ("TransformLink", link)):
        inside.append(element(name, [float(each) for each in np.asarray(matrix).T.reshape(-1)]))
    return element("Deformer", key, "SubDeformer::", "Cluster", inside=inside)


def shape(key, name, positions, offsets):
    """A shape that moves positions."""
    inside = [element("Indexes", list(positions)), element("Vertices", [float(v) for each in offsets for v in each])]
    return element("Geometry", key, f"Geometry::{name}", "Shape", inside=inside)


def shapes(key, mesh, made, percent=0.0, full=()):
    """Objects and links of shapes that a channel drives: the key of the channel is the one after `key`."""
    inside = [element("DeformPercent", float(percent)), element("FullWeights", [float(each) for each in full])]
    objects = [element("Deformer", key, "Deformer::", "BlendShape")]
    objects += [element("Deformer", key + 1, "SubDeformer::Mood", "BlendShapeChannel", inside=inside), *made]
    return objects, [("OO", key, mesh), ("OO", key + 1, key), *(("OO", each[1][0], key + 1) for each in made)]


def moved(x, y, z):
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def leg():
    """A file with a little of all there is: two joints, a skin on two nodes, two materials, two blend shapes, a take of
    two layers.
    """
    objects = [
        model(HIPS, "Hips", Lcl_Translation=(0, 100, 0)),
        model(KNEE, "Knee", Lcl_Translation=(0, -50, 0), PreRotation=(0, 0, 10), RotationOrder=2, InheritType=2),
        model(MESH, "Skin", "Mesh", GeometricTranslation=(1, 2, 3)),
        square(materials=(0, 1), normals=(0, 0, 1) * 7),
        element("Deformer", SKIN, "Deformer::", "Skin"),
        cluster(LOW, (0, 1), (1, 0.5), moved(0, -50, 0), moved(0, 50, 0)),
        cluster(HIGH, (1, 2), (0.5, 1), moved(0, -100, 0), moved(0, 100, 0)),
        element("Material", SKY, "Material::sky", "", inside=[properties(DiffuseColor=(0.25, 0.5, 1.0))]),
    ]
    links = [("OO", HIPS, 0), ("OO", KNEE, HIPS), ("OO", MESH, 0), ("OO", SHAPE, MESH), ("OO", SKIN, SHAPE)]
    links += [("OO", LOW, SKIN), ("OO", HIGH, SKIN), ("OO", KNEE, LOW), ("OO", HIPS, HIGH), ("OO", SKY, MESH)]
    weight = ("Weight", 50.0)
    smiles = [shape(501, "Smile", (0, 2), [(0, 0, 5), (0, 2, 0)]), shape(502, "Grin", (2,), [(0, 0, 9)])]
    objects.append(model(OTHER, "Other", "Mesh", Lcl_Translation=(80, 0, 0), Lcl_Rotation=(0, 90, 0)))
    links += [("OO", OTHER, 0), ("OO", SHAPE, OTHER)]
    percents = {"X": ((0, 1), (0, 100))}
    parts = [
        shapes(400, SHAPE, smiles, full=(50, 100)),
        animated(401, "DeformPercent", percents, key=980),
        take(layers=((LAYER, {}), (777, dict([weight])))),
        animated(HIPS, "Lcl Translation", {"Y": ((0, 0.5, 1), (100, 90, 100))}, static=(0, 100, 0)),
        animated(KNEE, "Lcl Rotation", {"X": ((0, 1), (0, 60), {"flags": [8 | 0x100, 8 | 0x4100]})}, key=920),
        animated(HIPS, "Lcl Scaling", {"X": ((0, 1), (1, 2), {"flags": [2, 2]})}, key=940, static=(1, 1, 1)),
        animated(KNEE, "Lcl Rotation", {"Y": ((0, 1), (0, 10))}, key=960, layer=777),
    ]
    for more, joined in parts:
        objects, links = objects + more, links + joined
    return file(objects, links, UpAxis=2, UpAxisSign=1, FrontAxis=1, FrontAxisSign=-1, UnitScaleFactor=1.0)


def old_leg():
    """Much of it as versions before 7 write it."""

    def old(**named):
        inside = [element("Property", name.replace("_", " "), "", "", *_listed(v)) for name, v in named.items()]
        return element("Properties60", inside=inside)

    def node(name, kind, *inside, **named):
        return element("Model", f"Model::{name}", kind, inside=[old(RotationActive=1, InheritType=1, **named), *inside])

    shape = square(materials=(0, 0))[2]
    low = cluster(0, (0, 1), (1, 1), moved(0, -50, 0), moved(0, 50, 0))
    objects = [
        node("Hips", "LimbNode", Lcl_Translation=(0.0, 100.0, 0.0)),
        node("Knee", "LimbNode", Lcl_Translation=(0.0, -50.0, 0.0)),
        node("Skin", "Mesh", *shape),
        element("Deformer", "Deformer::S", "Skin"),
        element("Deformer", "SubDeformer::C", "Cluster", inside=low[2]),
        element("GlobalSettings", inside=[old(UpAxis=1, TimeMode=11)]),
    ]
    links = [("Model::Hips", "Model::Scene"), ("Model::Knee", "Model::Hips"), ("Model::Skin", "Model::Scene")]
    links += [("Deformer::S", "Model::Skin"), ("SubDeformer::C", "Deformer::S"), ("Model::Knee", "SubDeformer::C")]
    keys = [0, 0.0, "U", "s", 0.0, 30.0, "r", 0.4, TICKS // 2, 45.0, "U", "a", "n", TICKS, 0.0, "L"]
    x = element("Channel", "X", inside=[element("Default", 0.0), element("KeyCount", 3), element("Key", *keys)])
    y = element(
        "Channel", "Y", inside=[element("Default", 5.0), element("Key", 0, 5.0, "C", "n", TICKS, 7.0, "C", "s")]
    )
    transform = element("Channel", "Transform", inside=[element("Channel", "R", inside=[x, y])])
    knee = element("Model", "Model::Knee", inside=[element("Version", 1.1), transform])
    walk = element("Take", "Walk", inside=[element("LocalTime", 0, TICKS), knee])
    return [
        element("FBXHeaderExtension", inside=[element("FBXVersion", 6100)]),
        element("Objects", inside=objects),
        element("Connections", inside=[element("Connect", "OO", *link) for link in links]),
        element("Takes", inside=[element("Current", "Walk"), walk]),
    ]


def read(tree, version=7400, form=binary):
    """The character of a tree of elements, written and read."""
    return decode(form(tree, version), "made.fbx", None, 2**20)


FORMS = [(binary, 7100), (binary, 7400), (binary, 7500), (binary, 7700), (text, 7100), (text, 7400), (text, 7700)]
