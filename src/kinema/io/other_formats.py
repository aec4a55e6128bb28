"""Formats that Kinema does not read: how to recognise them, and how to convert them."""

import importlib.util
import re
import shlex
import shutil
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

_BLENDER = "Blender (blender.org)"


@dataclass(frozen=True)
class OtherFormat:
    """A format that is not read. Either Blender converts it, or `advice` says what to do."""

    name: str
    suffixes: tuple[str, ...]
    content: bytes = b""
    """Pattern found in the first bytes of its files; empty if they have nothing in common."""
    operator: str = ""
    """Blender's operator that opens a file."""
    converters: str = _BLENDER
    """What converts it, and where to get that."""
    advice: str = ""
    package: str = ""
    """Module with which it is read, and the extra of Kinema that installs it, as "module extra"."""
    archive: bool = False
    """Whether its files hold files of any format, so that the suffix says more than the content."""

    @property
    def installed(self) -> bool:
        """Whether the package is there with which it is read."""
        return bool(self.package) and importlib.util.find_spec(self.package.split()[0]) is not None


_POINTS = "they hold points, not joints: `kinema fit` moves a character by them, `km.load_points` reads them"
_CHARACTER = "a character is a file with joints, such as .glb or .bvh"
_EXPORT = "export glTF (.glb) or BVH from the program that made them"

OTHERS = (
    OtherFormat(
        "COLLADA",
        (".dae",),
        b"<COLLADA",
        "wm.collada_import",
        "Blender 4 (blender.org; newer versions may lack COLLADA)",
    ),
    OtherFormat(
        "USD",
        (".usd", ".usda", ".usdc", ".usdz"),
        rb"\A(?:PXR-USDC|#usda|PK\x03\x04.{26}[^\0]{1,99}\.usd)",
        "wm.usd_import",
        package="pxr usd",
    ),
    OtherFormat("Alembic", (".abc",), rb"\A(?:Ogawa|\x89HDF)", "wm.alembic_import"),
    OtherFormat("X3D", (".x3d", ".wrl"), rb"(?:<X3D|\A#VRML)", advice=_EXPORT),
    OtherFormat("Blender", (".blend",), rb"\ABLENDER", "wm.open_mainfile"),
    OtherFormat("C3D", (".c3d",), advice=_POINTS),
    OtherFormat("TRC", (".trc",), rb"\APathFileType", advice=_POINTS),
    OtherFormat("NumPy", (".npy",), rb"\A\x93NUMPY", advice=_POINTS),
    OtherFormat("point table", (".csv", ".tsv", ".txt"), advice=_POINTS),
    OtherFormat("Acclaim", (".asf", ".amc"), rb"\A:", advice="convert the .asf and the .amc together to BVH first"),
    OtherFormat("OpenSim", (".osim", ".mot", ".sto"), b"<OpenSimDocument", advice=_EXPORT),
    OtherFormat("MVNX", (".mvnx",), b"<mvnx", advice=_EXPORT),
    OtherFormat(
        "robot description",
        (".xacro", ".sdf"),
        rb"<sdf[\s>]",
        advice="make URDF of them first, for example with `xacro robot.xacro > robot.urdf`",
    ),
    OtherFormat("MikuMikuDance", (".pmx", ".pmd", ".vmd"), rb"\A(?:PMX |Pmd|Vocaloid)", advice=_EXPORT),
    OtherFormat(
        "project",
        (".max", ".bip", ".ma", ".mb", ".c4d", ".lxo", ".hip", ".uasset", ".unitypackage", ".prefab", ".anim"),
        advice=_EXPORT,
    ),
    OtherFormat("game model", (".smd", ".mdl", ".md5mesh", ".md5anim", ".psk", ".psa", ".nif", ".x"), advice=_EXPORT),
    OtherFormat("capture project", (".vsk", ".tak", ".bag", ".v", ".nev"), advice=_EXPORT),
    OtherFormat(
        "video",
        (".mp4", ".mov", ".avi", ".webm", ".mkv"),
        rb"\A(?:.{4}ftyp|\x1aE\xdf\xa3|RIFF.{4}AVI )",
        advice=_CHARACTER,
    ),
    OtherFormat(
        "mesh",
        (".obj", ".stl", ".ply", ".3ds", ".3mf", ".off"),
        advice="they hold surfaces without joints. Rig the surface in a modelling program and export it as .glb",
    ),
    OtherFormat(
        "picture", (".png", ".jpg", ".jpeg", ".gif", ".webp"), rb"\A(?:\x89PNG|\xff\xd8\xff|GIF8)", advice=_CHARACTER
    ),
    OtherFormat(
        "compressed",
        (".gz", ".zip", ".7z", ".rar", ".tar", ".tgz", ".xz", ".bz2", ".zst"),
        rb"\A(?:\x1f\x8b|PK\x03\x04|7z\xbc\xaf|Rar!|\xfd7zXZ|BZh)",
        advice="unpack them first",
        archive=True,
    ),
)
"""In the order in which they are tried: by content, then by suffix, then archives by content."""


def recognised(head: bytes, suffix: str) -> OtherFormat | None:
    """Return the format of a file that is not read, from its first bytes and its suffix; None if it is not known."""
    by_content = [other for other in OTHERS if other.content and re.search(other.content, head, re.DOTALL)]
    return next(
        chain(
            (other for other in by_content if not other.archive),
            (other for other in OTHERS if suffix.lower() in other.suffixes),
            by_content,
        ),
        None,
    )


def convertible(path: Path) -> OtherFormat | None:
    """Return the format of a file that a converter may turn into .glb, by its suffix; None for all others."""
    found = next((other for other in OTHERS if other.operator and path.suffix.lower() in other.suffixes), None)
    return None if found is None or found.installed else found


def conversion(path: Path, other: OtherFormat) -> list[str] | None:
    """Return the command of an installed converter that writes the file as .glb beside it; None without a converter."""
    return _with_blender(path, other) if other.operator and shutil.which("blender") else None


def hint(head: bytes, path: Path) -> str | None:
    """Say what to do with a file that cannot be read; None if its format is not known. head: its first bytes.

    Names the command of a converter that is installed, or else where to get one.
    """
    other = recognised(head, path.suffix)
    if other is None:
        return None
    if not other.operator:
        return f"{other.name} files are not read; {other.advice}"
    if other.installed:
        return f"the content is not {other.name}"
    start = f"{other.name} files are not read; convert it to .glb first"
    if other.package:
        extra = other.package.split()[1]
        start = f'{other.name} files are not read; `pip install "kinema[{extra}]"`, or convert it to .glb first'
    command = conversion(path, other)
    if command is not None:
        return f"{start}: {_shown(command)}"
    return f"{start}. Install {other.converters}; with Blender: {_shown(_with_blender(path, other))}"


def _with_blender(path: Path, other: OtherFormat) -> list[str]:
    script = (
        "import bpy; bpy.ops.wm.read_factory_settings(use_empty=True); "
        f"bpy.ops.{other.operator}(filepath={path.as_posix()!r}); "
        f"bpy.ops.export_scene.gltf(filepath={path.with_suffix('.glb').as_posix()!r})"
    )
    return ["blender", "--background", "--python-exit-code", "1", "--python-expr", script]


def _shown(command: list[str]) -> str:
    """Quote a command for a shell: in double quotes where every shell reads them alike."""
    quoted = ((word, shlex.quote(word)) for word in command)
    return " ".join(q if q == word or set(word) & set('"$`\\!%') else f'"{word}"' for word, q in quoted)
