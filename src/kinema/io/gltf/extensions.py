"""Extensions that a file says it cannot be read without."""

from __future__ import annotations

from kinema.io.gltf.document import Document

DRACO = "KHR_draco_mesh_compression"
"""Meshes in a form that is not decoded here; nodes and animations stay as they are."""

HARMLESS = ("KHR_mesh_quantization", "KHR_animation_pointer", "MSFT_texture_dds", "VRM", DRACO)
"""Extensions that are understood, or that change nothing in skeletons and their animations."""

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
"""How the names of extensions begin that are about looks, or about a VRM character's parts."""

MESHOPT = ("EXT_meshopt_compression", "KHR_meshopt_compression")
"""Compression of whole buffers, those of animations too."""


def check_required(document: Document) -> None:
    """Raise for the first extension the file requires that would leave the skeleton or its animations unread."""
    for cursor in document.root.each("extensionsRequired"):
        name = cursor.value
        if not isinstance(name, str):
            cursor.wrong("a text")
        if name not in HARMLESS and not name.startswith(HARMLESS_FAMILIES):
            why = "save the file again without that compression" if name in MESHOPT else "an extension unknown here"
            cursor.fail(f"is {name[:60]!r}, which is not read: {why}")
    if requires(document, DRACO):
        document.problems.append(f"meshes compressed with {DRACO} are left out; the skeleton and its clips are not")


def requires(document: Document, name: str) -> bool:
    return name in document.json.get("extensionsRequired", [])
