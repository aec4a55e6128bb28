"""Extensions that a file requires."""

from __future__ import annotations

from kinema.io.gltf.document import Document

DRACO = "KHR_draco_mesh_compression"
"""Compressed meshes, which are not decoded; nodes and animations are not affected."""

HARMLESS = ("KHR_mesh_quantization", "KHR_animation_pointer", "MSFT_texture_dds", "VRM", DRACO)
"""Extensions that are supported or do not affect skeletons and animations."""

HARMLESS_FAMILIES = (
    "KHR_materials_",
    "KHR_texture_",
    "KHR_lights_",
    "KHR_node_",
    "KHR_xmp",
    "EXT_texture_",
    "EXT_lights_",
    "VRMC_",
)
"""Prefixes of extensions about appearance, or about the parts of a VRM character."""

MESHOPT = ("EXT_meshopt_compression", "KHR_meshopt_compression")
"""Compression of whole buffers, including those of animations."""


def check_required(document: Document) -> None:
    """Raise for a required extension without which the skeleton or its animations cannot be read."""
    for cursor in document.root.each("extensionsRequired"):
        name = cursor.value
        if not isinstance(name, str):
            cursor.wrong("a string")
        if name not in HARMLESS and not name.startswith(HARMLESS_FAMILIES):
            why = "save the file again without that compression" if name in MESHOPT else "it is unknown"
            cursor.fail(f"is {name[:60]!r}, which is not supported: {why}")
    if requires(document, DRACO):
        document.problems.append(f"meshes compressed with {DRACO} are ignored; the skeleton and its clips are read")


def requires(document: Document, name: str) -> bool:
    return name in document.json.get("extensionsRequired", [])
