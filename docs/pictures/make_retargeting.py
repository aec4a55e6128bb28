"""The picture of one motion on eight bodies: `python docs/pictures/make_retargeting.py FOLDER`, the folder of files.

A captured pirouette and seven characters of other people, whose names and licences are below the picture, and our own
person. Every cell shows the same moments; the first one is the capture.
"""

import sys
from pathlib import Path

import numpy as np

import kinema as km
from kinema.demo import humanoid
from kinema.io.images import png_bytes
from kinema.render.drawing import strip
from kinema.render.look import Look

HERE = Path(__file__).parent
MOTION = "bvh/three_pirouette.bvh"
BODIES = (
    "gltf/CesiumMan.glb",
    "gltf/RiggedFigure.glb",
    "gltf/godot_mannequiny.glb",
    "gltf/m2m_mixamo-names.glb",
    "vrm/cryptovoxels.vrm",
    "gltf/RobotExpressive.glb",
    "gltf/KayKit_Knight.glb",
)
SIZE, COLUMNS = (420, 250), 3
SECONDS, POSES = (1.0, 3.4), 4
"""The part of the motion that is drawn, and how many poses of it."""


def main() -> None:
    folder = Path(sys.argv[1])
    source = km.load(folder / MOTION)
    clip = next(iter(source.clips.values()))
    cells = [cell(source, clip)]
    for target in (humanoid(), *(km.load(folder / name) for name in BODIES)):
        cells.append(cell(target, km.retarget(source, clip, target)))
    rows = [np.concatenate(cells[k : k + COLUMNS], axis=1) for k in range(0, len(cells), COLUMNS)]
    (HERE / "retargeting.png").write_bytes(png_bytes(np.concatenate(rows)))


def cell(character: km.Character, clip: km.Clip) -> np.ndarray:
    """(height, width, 3): some moments of a clip, seen from the front."""
    look = Look(view=(20, 8), size=SIZE, show="skin" if character.skins else "bones")
    return strip(character, clip, SECONDS, POSES, look)[..., :3]


if __name__ == "__main__":
    main()
