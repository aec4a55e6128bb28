"""Formats that Kinema does not read, and how to convert them."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

FBX_MAGIC = b"Kaydara FBX Binary"
"""First bytes of a binary FBX file."""

IMPORTERS = {
    ".fbx": ("FBX", "import_scene.fbx"),
    ".dae": ("COLLADA", "wm.collada_import"),
    ".usd": ("USD", "wm.usd_import"),
    ".usda": ("USD", "wm.usd_import"),
    ".usdc": ("USD", "wm.usd_import"),
    ".usdz": ("USD", "wm.usd_import"),
    ".c3d": ("C3D", "import_anim.c3d"),
}
"""Formats by suffix: their names, and Blender's import operators (C3D needs the add-on of that name)."""


def advice(name: str, suffix: str) -> str | None:
    """Say how to convert a file that cannot be read; None for a suffix that is not known.

    Names the command of a converter that is installed, or else how to get one.
    """
    if suffix not in IMPORTERS:
        return None
    kind, importer = IMPORTERS[suffix]
    stem = Path(name).stem
    start = f"{kind} files are not read; convert it to .glb first"
    if suffix == ".fbx" and shutil.which("FBX2glTF"):
        return f"{start}: FBX2glTF --binary --input {shlex.quote(name)} --output {shlex.quote(stem + '.glb')}"
    script = (
        "import bpy; bpy.ops.wm.read_factory_settings(use_empty=True); "
        f"bpy.ops.{importer}(filepath={name!r}); bpy.ops.export_scene.gltf(filepath={stem + '.glb'!r})"
    )
    command = f"blender --background --python-expr {shlex.quote(script)}"
    if shutil.which("blender"):
        return f"{start}: {command}"
    other = " or FBX2glTF (github.com/godotengine/FBX2glTF)" if suffix == ".fbx" else ""
    return f"{start}. Install Blender (blender.org){other}; with Blender: {command}"
