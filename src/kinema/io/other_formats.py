"""Formats that Kinema does not read, and how to convert them with Blender or FBX2glTF."""

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
    ".c3d": ("C3D", ""),
}
"""Formats by suffix: their names, and Blender's import operators. C3D holds markers only."""

WHERE = {
    ".fbx": "Blender (blender.org) or FBX2glTF (github.com/godotengine/FBX2glTF)",
    ".dae": "Blender 4 (blender.org; newer versions may lack COLLADA)",
}
"""Where to get converters, where it is not simply Blender."""

C3D = (
    "C3D files are not read: they hold markers, not joints. Export BVH from the program that recorded them, or fit a "
    "skeleton to the markers in Blender and export that as BVH"
)


def conversion(path: Path, suffix: str) -> list[str] | None:
    """Return the command of an installed converter that writes the file as .glb beside it; None without a converter."""
    if suffix == ".fbx" and shutil.which("FBX2glTF"):
        return ["FBX2glTF", "--binary", "--input", path.as_posix(), "--output", path.with_suffix(".glb").as_posix()]
    return _with_blender(path, suffix) if shutil.which("blender") and suffix != ".c3d" else None


def advice(path: Path, suffix: str) -> str | None:
    """Say how to convert a file that cannot be read; None for a suffix that is not known.

    Names the command of a converter that is installed, or else where to get one.
    """
    if suffix not in IMPORTERS or suffix == ".c3d":
        return C3D if suffix == ".c3d" else None
    start = f"{IMPORTERS[suffix][0]} files are not read; convert it to .glb first"
    command = conversion(path, suffix)
    if command is not None:
        return f"{start}: {_shown(command)}"
    where = WHERE.get(suffix, "Blender (blender.org)")
    return f"{start}. Install {where}; with Blender: {_shown(_with_blender(path, suffix))}"


def _with_blender(path: Path, suffix: str) -> list[str]:
    script = (
        "import bpy; bpy.ops.wm.read_factory_settings(use_empty=True); "
        f"bpy.ops.{IMPORTERS[suffix][1]}(filepath={path.as_posix()!r}); "
        f"bpy.ops.export_scene.gltf(filepath={path.with_suffix('.glb').as_posix()!r})"
    )
    return ["blender", "--background", "--python-exit-code", "1", "--python-expr", script]


def _shown(command: list[str]) -> str:
    """Quote a command for a shell: in double quotes where every shell reads them alike."""
    return " ".join(_quoted(word) for word in command)


def _quoted(word: str) -> str:
    quoted = shlex.quote(word)
    return quoted if quoted == word or set(word) & set('"$`\\!%') else f'"{word}"'
