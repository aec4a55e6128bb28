"""What the suite bakes: the clips of the assets, and the grounds they are baked onto."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import kinema as km
from kinema.bake import BakeSettings
from kinema.demo import terrain
from kinema.model.character import Character
from kinema.model.clip import Clip
from kinema.model.pose import Pose
from kinema.world.rays import Hits
from tests.assets import FOLDER
from tests.motion.kinematics import RATE, flat
from tests.motion.reference import Reference, clip_times, reference_of
from tests.motion.split import split_of

LONGEST = 8.0
"""Seconds of a clip that are baked: longer ones are cut after this much, counted from their first key."""

SHORTEST = 3.0
"""Seconds of a walk in place: shorter ones are looped until they last this long, so that they get onto the stairs."""

SLOPES = {"slope12": 12.0, "slope25": 25.0}
"""Degrees."""

STAIR_RISE, STAIR_RUN, TREAD = 0.19, 0.34, 1.15
"""Leg lengths of a step: 17 cm by 30 cm for a leg of 88 cm. A tread is at least this many feet deep."""

APPROACH = 0.6
"""Leg lengths of level ground in front of the first step and the first rock."""

ROCKS_LEG = 0.9
"""Metres: leg length of the person that the rocks are sized for."""

CLOSES = 0.15
"""Leg lengths that feet are from where they began, relative to the hips, at the end of a loop, at most."""

STANDS = 0.5
"""Leg lengths of net travel below which a clip goes nowhere, and its facing says where its ground lies."""

ROCKS_GRID = 0.03
"""Metres from height to height of the rocks."""

STEPS, WIDE = 60, 100.0
"""Steps of the stairs, and leg lengths that they are wide to either side and level behind the start."""

GROUNDS = ("flat", "slope12", "slope25", "stairs", "stairs_down", "rocks")


class CaseName(NamedTuple):
    """One clip of one file."""

    name: str
    """"cmu/02_01", or "Fox/Walk"."""
    file: str
    """Path in the folder of assets."""
    clip: str
    split: str
    """"given" or "aside"."""


@dataclass(frozen=True, eq=False)
class Case:
    """One clip on one ground, ready to be baked."""

    character: Character
    clip: Clip
    settings: BakeSettings
    ground: Any
    travel: Any
    """(3,): velocity of the body where the clip walks in place; else zero."""

    @property
    def one_pass(self) -> float:
        """Seconds of a pass of the clip."""
        return float(clip_times(self.clip, np.array((0.0, np.inf))) @ (-1.0, 1.0))

    def poses_at(self, times: Any) -> Pose:
        """The poses of the clip, pass after pass, at times counted from its first key."""
        return self.clip.sample(clip_times(self.clip, times, self.one_pass))


class GroundAhead:
    """A ground that is defined along +Z from the origin, placed at a point and rotated to lie along a direction."""

    def __init__(self, ground: Any, origin: Any, forward: Any) -> None:
        self._ground = ground
        across = np.array((forward[2], 0.0, -forward[0]))
        self._axes = np.array((across, (0.0, 1.0, 0.0), forward))
        self._origin = np.array(origin, np.float64)

    def cast(self, origins: Any, directions: Any, max_distance: Any) -> Hits:
        local = (np.asarray(origins, np.float64) - self._origin) @ self._axes.T
        hits = self._ground.cast(local, np.asarray(directions, np.float64) @ self._axes.T, max_distance)
        point, normal = np.asarray(hits.point), np.asarray(hits.normal)
        return Hits(hits.hit, point @ self._axes + self._origin, normal @ self._axes, hits.distance)


def all_names() -> list[CaseName]:
    """Every clip of every rigged file of the assets, sorted: takes first, then rigs."""
    takes = {f"cmu/{path.stem.removeprefix('cmu_')}": path for path in FOLDER.glob("bvh/**/cmu_*.bvh")}
    found = [(name, path, "") for name, path in sorted(takes.items())]
    rigs: list[tuple[str, Path, str]] = []
    others = [*FOLDER.glob("bvh/[!c]*.bvh"), *FOLDER.glob("gltf/*.glb"), *FOLDER.glob("vrm/*.vrm*")]
    for path in sorted(others, key=lambda each: each.stem.lower()):
        character = loaded(str(path))
        if character.rig is not None and character.rig.legs:
            rigs += [(f"{path.stem}/{clip}", path, clip) for clip in sorted(character.clips)]
    return [
        CaseName(name, path.relative_to(FOLDER).as_posix(), clip, split_of(path.name))
        for name, path, clip in (*found, *rigs)
    ]


@lru_cache(maxsize=1)
def loaded(path: str) -> Character:
    return km.load(path)


def case_of(which: CaseName, ground: str) -> Case:
    """Load a clip, cut it to length and build its ground in front of it."""
    character = loaded(str(FOLDER / which.file))
    clip = character.clips[which.clip] if which.clip else next(iter(character.clips.values()))
    return on_ground(character, cut(clip), ground)


def on_ground(character: Character, clip: Clip, ground: str) -> Case:
    """Build the ground of a clip in front of it."""
    assert character.rig is not None
    seconds = float(clip_times(clip, np.array((0.0, np.inf))) @ (-1.0, 1.0))
    once = reference_of(character, clip, np.arange(int(seconds * RATE + 1e-6) + 1) / RATE)
    loops = max(1, math.ceil(SHORTEST / seconds - 0.01)) if once.travel.any() and _closes(once) else 1
    built = km.Plane(once.up * once.soles.floor, once.up) if ground == "flat" else ground_ahead(ground, character, once)
    return Case(character, clip, BakeSettings(ground=built, loops=loops), built, once.travel)


def _closes(reference: Reference) -> bool:
    """Whether feet end where they began, relative to the hips: what walks once in place would jump at its end."""
    soles = reference.points[[0, -1]].mean(axis=2) - reference.hips[[0, -1], np.newaxis]
    return float(np.abs(soles[1] - soles[0]).max()) < CLOSES * reference.leg


def cut(clip: Clip, first: float = 0.0, last: float = LONGEST) -> Clip:
    """Some seconds of a clip, from its first key on, at its own keys."""
    start = min((float(track.times[0]) for track in clip.tracks), default=0.0)
    if first == 0.0 and (clip.duration or 0.0) <= start + last + 0.1:
        return clip
    times = max((track.times for track in clip.tracks), key=len)
    times = times[(times >= start + first) & (times <= start + last)].astype(np.float64)
    return Clip.from_poses(clip.name, clip.skeleton, clip.sample(times), times=times - times[0])


def ground_ahead(kind: str, character: Character, reference: Reference) -> GroundAhead:
    """A ground from where the hips start, along the way that they go, or that the character faces if it stays."""
    rig, hips, leg, up = character.rig, reference.hips, reference.leg, reference.up
    assert rig is not None
    way = flat(hips[-1] - hips[0], up) + reference.travel * float(reference.times[-1])
    if np.linalg.norm(way) < STANDS * leg:
        way = flat(np.array(rig.forward, np.float64), up)
    points = reference.points[reference.begins :]
    foot = float(np.linalg.norm(points[:, :, :, np.newaxis] - points[:, :, np.newaxis], axis=-1).mean(axis=0).max())
    return GroundAhead(_ground(kind, leg, foot), flat(hips[0], up), way / np.linalg.norm(way))


def _ground(kind: str, leg: float, foot: float) -> Any:
    if kind in SLOPES:
        slope = math.radians(SLOPES[kind])
        return km.Plane((0.0, 0.0, 0.0), (0.0, math.cos(slope), -math.sin(slope)))
    if kind == "rocks":
        return _rocks(leg)
    return _stairs(
        -STAIR_RISE * leg if kind == "stairs_down" else STAIR_RISE * leg, max(STAIR_RUN * leg, TREAD * foot), leg
    )


def _stairs(rise: float, run: float, leg: float) -> Any:
    """Level ground behind and at first, then steps with upright risers, as a mesh."""
    edges = APPROACH * leg + run * np.arange(STEPS + 1)
    z = np.concatenate(((-WIDE * leg,), np.repeat(edges, 2)))
    y = rise * np.repeat(np.arange(STEPS + 2.0), 2)[: len(z)]
    x = np.array((-WIDE * leg, WIDE * leg))
    vertices = np.stack(np.broadcast_arrays(x[:, np.newaxis], y, z), axis=-1).reshape(-1, 3)
    a = np.arange(len(z) - 1)
    b, c, d = a + 1, a + len(z) + 1, a + len(z)
    return km.TriangleMesh(vertices, np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1))))


def _rocks(leg: float) -> Any:
    """Stones up to 13% of a leg and swells, on a grid; behind the start and far ahead they are mirrored."""
    size = leg / ROCKS_LEG
    heights, x, z = _rock_heights()
    return km.HeightField(heights * size, (x * size, z * size), (ROCKS_GRID * size, ROCKS_GRID * size))


@lru_cache(maxsize=1)
def _rock_heights() -> tuple[Any, float, float]:
    """(nx, nz), metres, and where the first of them is."""
    stones = terrain.rocks(seed=1, length=6.0)
    x, z = np.arange(-4.0, 4.0001, ROCKS_GRID), np.arange(-13.0, 13.0001, ROCKS_GRID)
    ahead = 2.0 + np.abs((np.maximum(np.abs(z) - APPROACH, 0.0) + 6.2) % 12.4 - 6.2)
    heights, _ = stones.height_and_normal(np.abs((x + 1.9) % 7.6 - 3.8)[:, np.newaxis] - 1.9, ahead)
    return heights, float(x[0]), float(z[0])
