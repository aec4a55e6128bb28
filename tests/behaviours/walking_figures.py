"""`python -m tests.behaviours.walking_figures`: walk characters over grounds and print how well they do.

Every character walks over every ground at three speeds, straight ahead and through turns, at several frame rates. The
figures come from forward kinematics of the output alone. Lengths are in leg lengths; grounds have the size of the
character. Rotations and accelerations are those of samples 1/60 s apart, whatever the frame rate.
"""

from __future__ import annotations

import argparse
import fnmatch
import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import kinema as km
from kinema import demo, metrics
from kinema.demo.terrain import TerrainBuilder
from tests.assets import FOLDER

SPEEDS = (0.5, 1.0, 1.6)
"""Leg lengths per second: slow, usual, and nearly as fast as two groups of legs go."""

TURN, TURN_TIME = 0.8, 1.5
"""Radians per second of a walker that turns, and seconds until it turns the other way."""

SECONDS = 9.0
HZ = 60
RATES = (30, 60, 120, 240)
HUMAN_LEG = 0.84
"""Metres: the leg for which the sizes of the grounds below are made."""

DIRECTIONS = ((0.0, 1.0), (1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.7, 0.7), (-0.7, 0.7), (0.0, 1.0), (0.0, -1.0))
"""Along the character's left and ahead: what a walker that changes its direction is asked for, one after the other."""

CHARACTERS = ("spider", "fox", "horse", "person")
HELD_OUT = ("m2m_fox", "m2m_spider", "CesiumMan", "KayKit_Knight")
GROUNDS = ("flat", "rocks", "slopes", "stairs", "directions")
EVENTS = ("buried", "teleport", "ground", "hitch")


# --- what walks where -------------------------------------------------------------------------------------------------


@cache
def character_of(name: str) -> km.Character:
    """One of our characters, the horse of the assets, or the file of this name."""
    made = {"spider": demo.spider, "fox": demo.quadruped, "person": demo.humanoid}
    if name in made:
        return made[name]()
    return km.load(FOLDER / "gltf" / f"{'m2m_horse' if name == 'horse' else name}.glb")


def leg_of(character: km.Character) -> float:
    """The length of a leg, metres."""
    return float(character.skeleton.length(character.rig.legs[0].joints))


@cache
def shape_of(name: str) -> tuple[Any, Any]:
    """Vertices and triangles of a ground for human legs, metres."""
    path = TerrainBuilder().level(2.0)
    if name == "rocks":
        path.rocks(0, 15.0)
    elif name == "slopes":
        path.ramp(12.0, 1.6).level(0.8).ramp(25.0, 1.6).level(1.2).ramp(-25.0, 1.6).ramp(-12.0, 1.6)
    elif name == "stairs":
        path.steps(0.18, 0.29, 6).level(1.2).steps(-0.18, 0.29, 6)
    path = path.level(14.0)
    vertices, triangles = path.build().mesh(0.05)
    wide = 1.0 if name == "rocks" else 10.0
    return vertices * (wide, 1.0, 1.0), triangles


def ground_of(name: str, size: float) -> Any:
    """A ground for legs of this length, metres."""
    if name in ("flat", "directions"):
        return km.Plane()
    vertices, triangles = shape_of(name)
    return km.TriangleMesh(vertices * (size / HUMAN_LEG), triangles)


# --- walking ----------------------------------------------------------------------------------------------------------


class Walked(NamedTuple):
    """Frames of walkers: F frames at 60 Hz or less, N walkers."""

    character: km.Character
    ground: Any
    world: Any
    """(F, N, J, 4, 4)."""
    transform: Any
    """(F, N, 4, 4)."""
    planted: Any
    """(F, N, L)."""
    asked: Any
    """(N,): leg lengths per second."""
    hz: int
    """Frames per second of these samples."""


def ask(state: Any, size: float, ground: str, seconds: float) -> None:
    """Steer the walkers: at each speed one straight ahead and one that turns; or all in changing directions."""
    speeds = np.repeat(SPEEDS, 2) * size
    turn = TURN * (1 if (seconds / TURN_TIME + 0.5) % 2 < 1 else -1)
    way = np.array((0.0, 1.0))
    if ground == "directions":
        way = np.array(DIRECTIONS[int(seconds / 1.1) % len(DIRECTIONS)])
    velocity = np.stack([way[0] * speeds, 0 * speeds, way[1] * speeds], axis=-1)
    state.walk(velocity, turn * np.tile((0.0, 1.0), len(SPEEDS)))


def walked(name: str, ground: str, hz: int = HZ, seconds: float = SECONDS, **settings: Any) -> Walked:
    """Walk a character over a ground."""
    character = character_of(name)
    size = leg_of(character)
    here = ground_of(ground, size)
    animator = km.Animator(character, [km.Locomotion(**settings)], ground=here, count=2 * len(SPEEDS))
    animator.set_transform((0.0, 0.0, 1.0 * size / HUMAN_LEG))
    world, transform, planted = [], [], []
    every = max(hz // HZ, 1)
    for frame_number in range(round(seconds * hz)):
        ask(animator["locomotion"], size, ground, frame_number / hz)
        frame = animator.update(1.0 / hz)
        if frame_number % every == 0:
            world.append(frame.world.copy())
            transform.append(frame.transform.copy())
            planted.append(frame.reports["locomotion"].planted.copy())
    asked = np.repeat(SPEEDS, 2)
    return Walked(character, here, *map(np.array, (world, transform, planted)), asked, min(hz, HZ))


# --- figures ----------------------------------------------------------------------------------------------------------


class WalkingFigures(NamedTuple):
    """The worst of a walk. Each is (N,), one per walker."""

    rotation: Any
    """Degrees that a joint rotates within 1/60 s."""
    depth: Any
    """Per cent of a leg that a sole is below the ground."""
    shin: Any
    """The same of a shin."""
    hover: Any
    """Per cent of a leg that a planted sole is above the ground: its lowest point."""
    apart: Any
    """Per cent of their distance at rest that two feet side by side are apart; below 0 they cross."""
    speed: Any
    """Per cent of the asked speed."""
    acceleration: Any
    """Leg lengths per second squared of the hips, at most."""
    slide: Any
    """Per cent of a leg that a planted ball moves within 1/60 s."""
    flips: Any
    """Knees that came to bend the other way."""
    arms: Any
    """Degrees between the most extreme directions of an upper arm, across the body."""
    joint: Any
    """The joint that rotates most."""
    when: Any
    """The sample at which it does."""


def measure(walk: Walked) -> WalkingFigures:
    """Measure a walk, without its first quarter of a second: characters start in any pose."""
    character, rig = walk.character, walk.character.rig
    size, first = leg_of(character), walk.hz // 4
    world = walk.world[first:].astype(np.float64)
    steps = metrics.rotation_steps(character.skeleton, world)
    most = np.degrees(steps.max(axis=(0, 2))) * walk.hz / HZ
    soles = metrics.soles_over(rig, world, walk.ground)
    depth = metrics.penetration(soles).max(axis=(0, 2)) / size
    shin = metrics.shin_penetration(rig, world, walk.ground).max(axis=(0, 2)) / size
    planted = walk.planted[first:]
    hover = np.where(planted, metrics.clearance(soles), 0.0).max(axis=(0, 2)) / size
    balls = soles.points[..., 1, :]
    both = planted[1:] & planted[:-1]
    slide = np.where(both, np.linalg.norm(np.diff(balls, axis=0), axis=-1), 0.0).max(axis=(0, 2)) / size
    hips = world[:, :, rig.hips, :3, 3]
    knocks = np.linalg.norm(np.diff(hips, n=2, axis=0), axis=-1).max(axis=0) * walk.hz**2 / size
    return WalkingFigures(
        most,
        100 * depth,
        100 * shin,
        100 * hover,
        100 * apart_of(walk, balls),
        100 * speed_of(walk) / walk.asked,
        knocks,
        100 * slide * walk.hz / HZ,
        metrics.knee_flips(rig, world).sum(axis=(0, 2)),
        arms_of(walk),
        np.array(character.skeleton.names)[steps.max(axis=0).argmax(axis=-1)],
        first + 1 + steps.max(axis=2).argmax(axis=0),
    )


def speed_of(walk: Walked) -> Any:
    """(N,): mean leg lengths per second over the ground, after the first half second."""
    at = walk.transform[walk.hz // 2 :, :, :3, 3] * (1.0, 0.0, 1.0)
    moved = np.linalg.norm(np.diff(at, axis=0), axis=-1)
    return moved.mean(axis=0) * walk.hz / leg_of(walk.character)


def apart_of(walk: Walked, balls: Any) -> Any:
    """(N,): the least distance of two feet side by side, across the body, as a share of that at rest."""
    rig = walk.character.rig
    transform = walk.transform[-len(balls) :].astype(np.float64)
    own = np.einsum("fnji,fnlj->fnli", transform[..., :3, :3], balls - transform[:, :, np.newaxis, :3, 3])
    own = own @ np.cross(rig.up, rig.forward)
    rest = metrics.sole_points(rig, rig.standing_world[np.newaxis].astype(np.float64))[0, :, 1]
    rest = rest @ np.cross(rig.up, rig.forward)
    names = [leg.name for leg in rig.legs]
    least = np.full(balls.shape[1], np.inf)
    for n, name in enumerate(names):
        other = name.replace("left", "right") if "left" in name else name.replace("l", "r")
        if other != name and other in names:
            k = names.index(other)
            least = np.minimum(least, ((own[..., n] - own[..., k]) / (rest[n] - rest[k])).min(axis=0))
    return least


def arms_of(walk: Walked) -> Any:
    """(N,): degrees that the upper arm which swings least swings ahead and back; NaN without arms."""
    rig = walk.character.rig
    least = np.full(walk.world.shape[1], math.nan)
    start = walk.world.shape[0] // 3
    for arm in rig.arms:
        shoulder, elbow = (int(joint) for joint in arm.joints[-3:-1])
        at = walk.world[start:, :, [shoulder, elbow]][..., :3, 3].astype(np.float64)
        way = np.einsum("fnji,fnj->fni", walk.transform[start:, :, :3, :3], at[:, :, 1] - at[:, :, 0])
        angle = np.degrees(np.arctan2(way @ np.array(rig.forward), -(way @ np.array(rig.up))))
        least = np.fmin(least, np.ptp(np.unwrap(angle, axis=0, period=360), axis=0))
    return least


# --- the table --------------------------------------------------------------------------------------------------------

SHOWN = ("rotation", "depth", "shin", "hover", "apart", "speed", "acceleration", "slide", "flips", "arms")
LEAST = ("apart", "speed", "arms")
"""Figures of which the least is the worst."""

HEADER = f"{'character':13} {'ground':10} {'Hz':>3} " + " ".join(f"{name[:8]:>8}" for name in SHOWN)


def line_of(name: str, ground: str, hz: int, figures: WalkingFigures) -> str:
    """A line of the table: the worst walker of each figure."""
    parts = []
    for shown in SHOWN:
        values = np.asarray(getattr(figures, shown), float)
        parts.append(f"{(values.min() if shown in LEAST else values.max()):8.1f}")
    return f"{name:13} {ground:10} {hz:3} " + " ".join(parts)


def details_of(figures: WalkingFigures) -> str:
    """One line per walker."""
    lines = []
    for n, asked in enumerate(np.repeat(SPEEDS, 2)):
        values = " ".join(f"{float(getattr(figures, shown)[n]):8.1f}" for shown in SHOWN)
        way = "turning" if n % 2 else "straight"
        lines.append(f"    {asked:4.1f} {way:18} {values}  {figures.joint[n]} at {figures.when[n]}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.behaviours.walking_figures", description=__doc__)
    parser.add_argument("--only", default="*", help="names of characters, as in 'f*'")
    parser.add_argument("--ground", default="*", help="names of grounds")
    parser.add_argument("--rates", type=int, nargs="+", default=[HZ], help="frames per second")
    parser.add_argument("--held-out", action="store_true", help="walk four more characters from files")
    parser.add_argument("--details", action="store_true", help="one line per walker")
    options = parser.parse_args()
    print(HEADER)
    for name in HELD_OUT if options.held_out else CHARACTERS:
        for ground in GROUNDS:
            if fnmatch.fnmatch(name, options.only) and fnmatch.fnmatch(ground, options.ground):
                for hz in options.rates:
                    figures = measure(walked(name, ground, hz))
                    print(line_of(name, ground, hz, figures), flush=True)
                    if options.details:
                        print(details_of(figures), flush=True)


if __name__ == "__main__":
    main()
