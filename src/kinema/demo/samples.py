"""Example files for every command: characters, a capture, grounds, a moving point."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from kinema.demo.characters.humanoid import humanoid
from kinema.demo.characters.quadruped import quadruped
from kinema.demo.characters.spider import spider
from kinema.demo.terrain import stairs
from kinema.errors import FileError, InputError, suggestion
from kinema.io import atomic, files, formats
from kinema.io.surfaces import unit_normals
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin

CAPTURE_SECONDS, CAPTURE_FPS, CAPTURE_SWAY = 4.0, 60, 0.02
"""The capture's length, its frame rate, and how far its root sways back and forth, metres: the feet slide by it."""

HILLS_SIZE, HILLS_SPACING, HILLS_HEIGHT = 20.0, 0.25, 0.4
"""Extent of the hills along x and z, distance between their heights, and their amplitude, metres."""

_FILE_SUFFIXES = (*formats.READ, ".npy", ".csv", ".txt", ".json", ".png", ".zip")
"""Suffixes that no folder is meant to have."""


def write(wanted: Sequence[str], folder: Path, *, force: bool = False) -> list[Path]:
    """Write example files to a folder and return their paths.

    Raises `InputError` for an unknown name and `FileError` for a file that exists, before anything is written.
    """
    if folder.suffix.lower() in _FILE_SUFFIXES and not folder.is_dir():
        raise InputError(f"--output is {str(folder)!r}, which is the name of a file; expected a folder")
    for name in wanted:
        if name not in SAMPLES:
            raise InputError(f"there is no sample {name!r:.60}; {suggestion(name, SAMPLES)}")
        if (folder / name).exists() and not force:
            raise FileError("the file exists; --force replaces it", str(folder / name))
    folder.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        atomic.write(folder / name, SAMPLES[name]())
    return [folder / name for name in wanted]


def _capture() -> Iterable[bytes]:
    """A walk of several steps whose root sways, so that planted feet slide as in a real capture."""
    person = humanoid()
    walk = person.clips["walk"]
    times = np.arange(int(CAPTURE_SECONDS * CAPTURE_FPS) + 1) / CAPTURE_FPS
    pose = walk.sample(times, loop=True)
    duration = float(walk.duration or 1.0)
    root = person.skeleton.index("root")
    passes = np.floor(times / duration)[:, np.newaxis]
    step = walk.sample(np.array((0.0, duration))).translations[:, root]
    translations = pose.translations.copy()
    translations[:, root] += passes * (step[1] - step[0])
    translations[:, root, 2] += CAPTURE_SWAY * np.sin(2.0 * np.pi * 0.7 * times)
    clip = Clip.from_poses(
        "capture", person.skeleton, Pose(translations, pose.rotations, pose.scales), fps=float(CAPTURE_FPS)
    )
    return files.encode(".bvh", Character(person.skeleton, {"capture": clip}, name="capture"), fps=CAPTURE_FPS)


def _stairs() -> Iterable[bytes]:
    """The mesh of ten steps, as a file with one node."""
    vertices, triangles = stairs(0.17, 0.29, 10).mesh()
    vertices = vertices - (0.0, 0.0, 1.0)  # Ground behind the origin too, where heels are.
    skeleton = Skeleton(["stairs"], [-1], Pose(np.zeros((1, 3)), [(0.0, 0.0, 0.0, 1.0)]))
    weights = np.tile((1.0, 0.0, 0.0, 0.0), (len(vertices), 1))
    joints = np.zeros((len(vertices), 4), int)
    skin = Skin(vertices, triangles, joints, weights, unit_normals(vertices, triangles, None))
    return files.encode(".glb", Character(skeleton, {}, skins=[skin], name="stairs"))


def _hills() -> Iterable[bytes]:
    along = np.arange(-HILLS_SIZE / 2, HILLS_SIZE / 2 + HILLS_SPACING / 2, HILLS_SPACING)
    x, z = np.meshgrid(along, along)
    data = io.BytesIO()
    np.save(data, HILLS_HEIGHT * np.sin(0.9 * x) * np.cos(0.7 * z))
    return [data.getvalue()]


def _ball() -> Iterable[bytes]:
    times = np.arange(41) / 10
    points = [(0.3 + 0.1 * np.sin(t), 1.2 + 0.1 * np.cos(2 * t), 0.4) for t in times]
    rows = [f"{t:.2f},{x:.3f},{y:.3f},{z:.3f}" for t, (x, y, z) in zip(times, points, strict=True)]
    return ["\n".join(["t,x,y,z", *rows, ""]).encode()]


SAMPLES: dict[str, Callable[[], Iterable[bytes]]] = {
    "person.glb": lambda: files.encode(".glb", humanoid()),
    "fox.glb": lambda: files.encode(".glb", quadruped()),
    "spider.glb": lambda: files.encode(".glb", spider()),
    "capture.bvh": _capture,
    "stairs.glb": _stairs,
    "hills.npy": _hills,
    "ball.csv": _ball,
}
"""How each file is made."""
