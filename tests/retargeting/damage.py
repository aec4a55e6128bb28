"""Faults that captured and generated motion has, added to clips of known quality."""

from __future__ import annotations

from typing import Any

import numpy as np

import kinema as km
from tests import problems


def keyed(clip: Any, longest: float = 8.0) -> tuple[Any, Any]:
    """Evenly spaced moments of a clip, from its first key, and its poses there."""
    start = min((float(track.times[0]) for track in clip.tracks), default=0.0)
    end = min(float(clip.duration), start + longest)
    fps = clip.fps if clip.fps >= 20 else 30.0
    times = np.linspace(0.0, end - start, max(round((end - start) * fps), 2) + 1)
    return times, clip.sample(start + times)


class Motion:
    """A clip in keys, with the path of its hips in the world to work on."""

    def __init__(self, character: Any, clip: Any) -> None:
        self.rig, self.name, self.skeleton = character.rig, clip.name, character.skeleton
        self.times, poses = keyed(clip)
        self.t, self.r, self.s = (array.astype(np.float64).copy() for array in poses.arrays())
        self.up, self.leg = np.array(self.rig.up), self.rig.leg_length
        self.dt = float(self.times[1])
        ahead = np.array(self.rig.forward)
        self.axes = np.stack((np.cross(self.up, ahead), self.up, ahead), -1)

    def move(self, by: Any) -> None:
        """Move the hips by (K, 3), leg lengths, along left, up and ahead."""
        hips = int(self.rig.hips)
        world = self.skeleton.world(km.Pose(self.t, self.r, self.s))
        parent = int(self.skeleton.parents[hips])
        way = by @ self.axes.T * self.leg
        if parent >= 0:
            way = np.einsum("frc,fc->fr", np.linalg.inv(world[:, parent, :3, :3]), way)
        self.t[:, hips] += way

    def clip(self) -> Any:
        poses = km.Pose(self.t, self.r, self.s).astype(self.skeleton.rest.precision)
        return km.Clip.from_poses(self.name, self.skeleton, poses, times=self.times)


def untouched(motion: Motion, rng: Any) -> None:
    """Nothing is added."""


def drift(motion: Motion, rng: Any) -> None:
    """The whole body drifts by 4% of a leg a second, and sinks by 1%."""
    way = rng.normal(size=2)
    way = 0.04 * way / np.linalg.norm(way)
    motion.move(motion.times[:, np.newaxis] * (way[0], -0.01, way[1]))


def noise(motion: Motion, rng: Any) -> None:
    """The root shakes by 0.8% of a leg."""
    motion.move(rng.normal(0.0, 0.008, (len(motion.times), 3)))


def skate(motion: Motion, rng: Any) -> None:
    """The body wanders by some percent of a leg in waves of one to three seconds, as generated motion does."""
    by = np.zeros((len(motion.times), 3))
    for period in (1.1, 1.7, 2.9):
        phase = rng.uniform(0, 2 * np.pi, 2)
        waves = 0.02 * np.sin(2 * np.pi * motion.times[:, np.newaxis] / period + phase)
        by += np.stack((waves[:, 0], 0 * motion.times, waves[:, 1]), -1)
    motion.move(by)


def pops(motion: Motion, rng: Any) -> None:
    """Four joints are off by 25 to 60 degrees for one or two keys."""
    legs = [int(joint) for leg in motion.rig.legs for joint in leg.joints[:-1]]
    for _ in range(4):
        joint = int(rng.choice([*legs, int(motion.rig.hips)]))
        length = int(rng.integers(1, max(2, round(0.05 / motion.dt)) + 1))
        at = int(rng.integers(3, max(len(motion.times) - length - 3, 4)))
        axis = problems.units(rng, 1)[0]
        half = 0.5 * np.radians(rng.uniform(25, 60))
        turn = np.array((*(axis * np.sin(half)), np.cos(half)))
        motion.r[at : at + length, joint] = multiplied(motion.r[at : at + length, joint], turn)


def sunken(motion: Motion, rng: Any) -> None:
    """The floor is 4% of a leg too low or too high."""
    motion.move(np.array((0.0, rng.choice((-0.04, 0.04)), 0.0)) + np.zeros((len(motion.times), 3)))


def slope(motion: Motion, rng: Any) -> None:
    """The floor was captured with a tilt of 4 degrees: the whole motion is rotated."""
    angle, heading = np.radians(4.0), rng.uniform(0, 2 * np.pi)
    axis = motion.axes @ np.array((np.cos(heading), 0.0, np.sin(heading)))
    turn = np.array((*(axis * np.sin(angle / 2)), np.cos(angle / 2)))
    roots = np.flatnonzero(motion.skeleton.parents < 0)
    motion.r[:, roots] = multiplied(turn, motion.r[:, roots])
    motion.t[:, roots] = rotated(turn, motion.t[:, roots])


DAMAGES = (untouched, drift, noise, skate, pops, sunken, slope)


def multiplied(a: Any, b: Any) -> Any:
    a, b = np.broadcast_arrays(a, b)
    v, w = a[..., :3], a[..., 3:]
    u, x = b[..., :3], b[..., 3:]
    return np.concatenate((w * u + x * v + np.cross(v, u), w * x - (v * u).sum(-1, keepdims=True)), -1)


def rotated(q: Any, v: Any) -> Any:
    t = 2 * np.cross(q[:3], v)
    return v + q[3] * t + np.cross(q[:3], t)
