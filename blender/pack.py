"""Pack the add-on as an extension for Blender: `python -m blender.pack build` writes build/kinema_blender-*.zip."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

ADDON = Path(__file__).with_name("kinema_addon.py")
VERSION = Path(__file__).parents[1] / "src" / "kinema" / "version.py"

MANIFEST = """schema_version = "1.0.0"
id = "kinema"
version = "{version}"
name = "Kinema"
tagline = "Feet on the scene's ground, retargeting, full-body pulls"
maintainer = "The Kinema authors"
type = "add-on"
tags = ["Animation", "Rigging"]
blender_version_min = "4.2.0"
license = ["SPDX:MIT"]

[permissions]
network = "Install Kinema with pip when you press the button"
files = "Write Kinema's modules into your Blender settings"
"""


def pack(folder: Path) -> Path:
    """Write the zip into a folder and return its path."""
    names: dict[str, str] = {}
    exec(VERSION.read_text("utf-8"), names)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"kinema_blender-{names['__version__']}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("__init__.py", ADDON.read_bytes())
        file.writestr("blender_manifest.toml", MANIFEST.format(version=names["__version__"]))
    return path


if __name__ == "__main__":
    print(pack(Path(sys.argv[1])))
