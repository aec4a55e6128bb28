"""Which material is put aside: no rule of bakes or games is tuned to it, and its rows are counted but not listed.

It was drawn by a seed before its issue was begun: a third of the captured takes and four rigged files.
"""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from tests.assets import FOLDER

GIVEN, ASIDE = SPLITS = ("given", "aside")

SEED, RIGS = 28, 4
"""Of the draw, and how many rigged files are put aside."""


@cache
def files_aside() -> frozenset[str]:
    """The stems of the files that are put aside."""
    takes = sorted(path.stem for path in (FOLDER / "bvh" / "cmu").glob("cmu_*.bvh"))
    rigs = sorted(path.stem for path in (FOLDER / "gltf").glob("*.glb"))
    draw = random.Random(SEED)
    return frozenset((*draw.sample(takes, len(takes) // 3), *draw.sample(rigs, min(RIGS, len(rigs)))))


def split_of(file: str) -> str:
    """Whether the clips of a file are given or put aside."""
    return ASIDE if Path(file).stem in files_aside() else GIVEN
