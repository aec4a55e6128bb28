"""The picture of baked walks: `python docs/pictures/make_walks.py FOLDER`, the folder of the characters' files.

Six files of other people, whose names and licences are below the picture: each walk is baked onto stairs or a slope and
drawn where it stands at some moments.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import kinema as km
from kinema.bake import BakeSettings, bake
from kinema.bake.grounds import GroundSpec
from kinema.io.images import png_bytes
from kinema.render.drawing import strip
from kinema.render.look import Look

HERE = Path(__file__).parent
SIZE = 560, 300
WALKS = {
    "KayKit_Knight.glb": ("Walking_A", "stairs", 6.4, 3),
    "m2m_mixamo-names.glb": ("Walking", "slope", 2.4, 5),
    "CesiumMan.glb": ("clip_0", "stairs", 4.0, 5),
    "m2m_fox.glb": ("Walk", "stairs", 4.8, 3),
    "m2m_horse.glb": ("Walk", "slope", 4.8, 3),
    "m2m_spider.glb": ("Walk", "stairs", 6.0, 3),
}
"""The clip, the ground, seconds of it (at least), and how many poses are drawn."""


def ground_for(rig: km.Rig, kind: str):
    """Stairs or a slope that suit the length of a rig's legs and feet."""
    leg = float(np.mean([rig.skeleton.length(leg.joints) for leg in rig.legs]))
    foot = max(leg.heel + leg.tip for leg in rig.legs)
    if kind == "stairs":
        return GroundSpec("stairs", (0.15 * leg, max(0.4 * leg, 1.15 * foot), 60)).build()
    return GroundSpec("slope", (np.radians(12),)).build()


def walk(path: Path, name: str, kind: str, seconds: float, poses: int) -> np.ndarray:
    """(height, width, 3): a baked walk, seen from the side."""
    character = km.load(path)
    ground = ground_for(character.rig, kind)
    clip = character.clips[name]
    baked = bake(character, clip, BakeSettings(ground=ground, loops=max(1, round(seconds / clip.duration))))
    character = replace(character, clips={baked.clip.name: baked.clip})
    show = "skin" if character.skins else "bones"
    look = Look(view=(90, 8), size=SIZE, show=show, ground=ground)
    return strip(character, baked.clip, (0.0, baked.clip.duration), poses, look)


def main() -> None:
    folder = Path(sys.argv[1])
    pictures = [walk(folder / name, *how) for name, how in WALKS.items()]
    rows = [np.concatenate(pictures[k : k + 2], axis=1) for k in range(0, len(pictures), 2)]
    (HERE / "walks.png").write_bytes(png_bytes(np.concatenate(rows)))


if __name__ == "__main__":
    main()
