"""Small VRM files made in code: a stick figure with hair, a skirt with colliders, and joints that follow others."""

from tests.io.gltf.build import Build

BODY = {
    # bone: (parent, position relative to it)
    "hips": (None, (0, 1, 0)),
    "spine": ("hips", (0, 0.15, 0)),
    "chest": ("spine", (0, 0.15, 0)),
    "neck": ("chest", (0, 0.2, 0)),
    "head": ("neck", (0, 0.1, 0)),
    **{
        f"{side}{bone}": ((above and f"{side}{above}") or below, (x * sign, y, 0))
        for side, sign in (("left", 1), ("right", -1))
        for bone, above, below, x, y in (
            ("UpperArm", "", "chest", 0.2, 0.15),
            ("LowerArm", "UpperArm", "", 0.25, 0),
            ("Hand", "LowerArm", "", 0.25, 0),
            ("UpperLeg", "", "hips", 0.1, -0.05),
            ("LowerLeg", "UpperLeg", "", 0, -0.45),
            ("Foot", "LowerLeg", "", 0, -0.42),
        )
    },
}
"""The bones that VRM requires. Both versions at rest in a T-pose."""

META = {"name": "stick", "authors": ["test"], "licenseUrl": "https://vrm.dev/licenses/1.0/"}


def stick(version=1, turned=True):
    """A stick figure with its table of bones. turned: whether some joints are rotated at rest, which version 0 forbids.

    Returns the file and {name: node}.
    """
    made = Build(scene=0, extensionsUsed=[], extensions={})
    nodes = {}
    for name, (parent, position) in BODY.items():
        nodes[name] = add(made, nodes, name, parent, position)
    made.json["scenes"] = [{"nodes": [nodes["hips"]]}]
    if version == 1:
        bones = {bone: {"node": nodes[bone]} for bone in BODY}
        extend(made, "VRMC_vrm", {"specVersion": "1.0", "meta": META, "humanoid": {"humanBones": bones}})
    else:
        bones = [{"bone": bone, "node": nodes[bone]} for bone in BODY]
        extend(made, "VRM", {"specVersion": "0.0", "meta": {}, "humanoid": {"humanBones": bones}})
    return made, nodes


def extend(made, name, value):
    made.json["extensionsUsed"].append(name)
    made.json["extensions"][name] = value


def add(made, nodes, name, parent, position, rotation=None):
    """Add a node below another one; its index."""
    more = {} if rotation is None else {"rotation": list(rotation)}
    nodes[name] = made.add("nodes", name=name, translation=list(position), **more)
    if parent is not None:
        made.json["nodes"][nodes[parent]].setdefault("children", []).append(nodes[name])
    return nodes[name]


def chain(made, nodes, name, parent, start, step, count, rotation=None):
    """Add a chain of nodes, the first rotated at rest; their names."""
    names = [f"{name}_{n}" for n in range(count)]
    for n, each in enumerate(names):
        add(made, nodes, each, names[n - 1] if n else parent, step if n else start, None if n else rotation)
    return names


def with_springs(version=1):
    """A figure whose hair and skirt swing. Version 1 also has every kind of collider, a center, and constraints."""
    made, nodes = stick(version)
    turned = (0.0, 0.0, 0.3826834, 0.9238795) if version == 1 else None
    hair = chain(made, nodes, "hair", "head", (0, 0.1, -0.1), (0, -0.08, -0.02), 5, turned)
    skirt = chain(made, nodes, "skirt", "hips", (0.08, -0.1, 0.05), (0.03, -0.12, 0), 4)
    ribbon = chain(made, nodes, "ribbon", "chest", (0, 0.1, -0.12), (0, 0.05, -0.06), 3)
    if version == 0:
        side = chain(made, nodes, "lock", "hair_1", (0.03, -0.05, 0), (0.01, -0.06, 0), 2)
        assert side
        extend_0(made, nodes)
        return made, nodes
    extend_1(made, nodes, hair, skirt, ribbon)
    return made, nodes


def extend_0(made, nodes):
    made.json["extensions"]["VRM"]["secondaryAnimation"] = {
        "colliderGroups": [
            {"node": nodes["head"], "colliders": [{"offset": {"x": 0, "y": 0.05, "z": 0.02}, "radius": 0.11}]},
            {"node": nodes["leftUpperLeg"], "colliders": [{"offset": {"x": 0, "y": -0.1, "z": 0}, "radius": 0.09}]},
        ],
        "boneGroups": [
            {
                "stiffiness": 0.8,
                "gravityPower": 0.3,
                "gravityDir": {"x": 0, "y": -1, "z": 0},
                "dragForce": 0.3,
                "center": -1,
                "hitRadius": 0.02,
                "bones": [nodes["hair_0"]],
                "colliderGroups": [0],
            },
            {
                "stiffiness": 1.5,
                "gravityPower": 0.1,
                "gravityDir": {"x": 0, "y": -1, "z": 0},
                "dragForce": 0.5,
                "center": nodes["hips"],
                "hitRadius": 0.03,
                "bones": [nodes["skirt_0"], nodes["ribbon_0"]],
                "colliderGroups": [0, 1],
            },
        ],
    }


def extend_1(made, nodes, hair, skirt, ribbon):
    def joints(names, **settings):
        return [{"node": nodes[name], **settings} for name in names]

    def extended(shape):
        version = {"specVersion": "1.0", "shape": shape}
        return {"VRMC_springBone_extended_collider": version}

    far = {"sphere": {"offset": [0, -10000, 0], "radius": 0}}
    colliders = [
        {"node": nodes["head"], "shape": {"sphere": {"offset": [0, 0.05, 0], "radius": 0.1}}},
        {
            "node": nodes["leftUpperLeg"],
            "shape": {"capsule": {"offset": [0, 0, 0], "tail": [0, -0.4, 0], "radius": 0.08}},
        },
        {"node": nodes["chest"], "shape": far, "extensions": extended({"plane": {"normal": [0, 0, -1]}})},
        {
            "node": nodes["chest"],
            "shape": far,
            "extensions": extended({"sphere": {"offset": [0, 0.1, -0.1], "radius": 0.16, "inside": True}}),
        },
    ]
    groups = [{"colliders": [0]}, {"colliders": [1]}, {"colliders": [2, 3]}]
    springs = [
        {
            "joints": joints(hair, stiffness=0.8, gravityPower=0.3, dragForce=0.3, hitRadius=0.02),
            "colliderGroups": [0],
        },
        {
            "joints": joints(
                skirt, stiffness=1.5, dragForce=0.5, hitRadius=0.03, gravityPower=0.2, gravityDir=[1, -2, 0]
            ),
            "colliderGroups": [1],
            "center": nodes["hips"],
        },
        {"joints": joints(ribbon, stiffness=2.0), "colliderGroups": [2]},
    ]
    springs[0]["joints"][2]["stiffness"] = 3.0
    table = {"specVersion": "1.0", "colliders": colliders, "colliderGroups": groups, "springs": springs}
    extend(made, "VRMC_springBone", table)
    made.json["extensionsUsed"] += ["VRMC_springBone_extended_collider", "VRMC_node_constraint"]
    add(made, nodes, "twist", "leftLowerArm", (0.12, 0, 0), (0.1, 0.2, 0.3, 0.9273618))
    add(made, nodes, "sleeve", "chest", (0.2, 0.15, 0), (0, 0, 0.3826834, 0.9238795))
    add(made, nodes, "helper", "rightUpperArm", (-0.1, 0, 0))
    constrain(made, nodes, "twist", roll={"source": nodes["leftHand"], "rollAxis": "X", "weight": 0.5})
    constrain(made, nodes, "sleeve", aim={"source": nodes["leftLowerArm"], "aimAxis": "PositiveX"})
    constrain(made, nodes, "helper", rotation={"source": nodes["twist"], "weight": 0.7})


def constrain(made, nodes, name, **constraint):
    extension = {"specVersion": "1.0", "constraint": constraint}
    made.json["nodes"][nodes[name]]["extensions"] = {"VRMC_node_constraint": extension}
