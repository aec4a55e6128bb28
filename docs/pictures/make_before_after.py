"""The picture of walks before and after: `python docs/pictures/make_before_after.py BEFORE AFTER`.

Two folders with the same files, each baked onto a ground by two versions of Kinema. BEFORE also has `grounds.json`: for
each file the ground it was baked onto, "slope" or "stairs". Each file is drawn at the same moments, before on the left.
"""

import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image

import kinema as km
from kinema.bake.grounds import GroundSpec
from kinema.render.drawing import strip
from kinema.render.look import Look

HERE = Path(__file__).parent
SIZE = 360, 180
SECONDS, POSES = 3.0, 4
COLOURS = 96


def ground_for(rig: km.Rig, kind: str):
    """Stairs or a slope that suit the length of a rig's legs and feet."""
    foot = max(leg.heel + leg.tip for leg in rig.legs)
    if kind == "stairs":
        return GroundSpec("stairs", (0.19 * rig.leg_length, max(0.34 * rig.leg_length, 1.15 * foot), 60)).build()
    return GroundSpec("slope", (np.radians(25),)).build()


def drawn(path: Path, kind: str) -> np.ndarray:
    """(height, width, 3): a baked clip, seen from the side."""
    character = km.load(path)
    clip = character.clips.get("baked", next(iter(character.clips.values())))
    look = Look(
        view=(90, 8), size=SIZE, show="skin" if character.skins else "bones", ground=ground_for(character.rig, kind)
    )
    return strip(character, clip, (0.0, min(SECONDS, clip.duration)), POSES, look)


def main() -> None:
    before, after = map(Path, sys.argv[1:3])
    grounds = json.loads((before / "grounds.json").read_text(encoding="utf-8"))
    pairs = [[drawn(folder / name, kind) for folder in (before, after)] for name, kind in grounds.items()]
    rows = [np.concatenate(pair, axis=1) for pair in pairs]
    picture = Image.fromarray(np.concatenate(rows)[..., :3]).quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(HERE / "before_after.png", optimize=True)


if __name__ == "__main__":
    main()
