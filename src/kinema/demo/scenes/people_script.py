"""The walking crowd as a script: the pose of everybody as it is, then the stages to go on with."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from kinema.demo.scenes.people import HILLS_EXTENT, HILLS_HEIGHT, HILLS_SPACING, People
from kinema.demo.scenes.script_text import numbers

STEPS = 1_000_000
"""Whole numbers that stand for 1 in packed arrays: micrometres."""
DECIMALS = 6
"""Of a metre."""
WIDTH = 110
"""Characters in a line of packed numbers."""


def people_script(people: People, target: Any) -> str:
    """Write a script that computes `world`, (N, J, 4, 4), the matrices of everybody as they are on the screen."""
    count, times = people.count, people.frame.reports["play"].time
    walk = people.animator.character.clips["walk"].sample(times)
    packed = [_packed(now - then) for now, then in zip(people.frame.pose.arrays(), walk.arrays(), strict=True)]
    left, right = (np.flatnonzero(rows).tolist() for rows in people.reaching.T)
    return f'''"""{count} characters walk, look at a target and reach for it, as on the screen. Metres, y up."""

import base64
import zlib

import numpy as np

import kinema as km
from kinema import demo


def unpacked(text, *shape):
    """Packed whole numbers, {STEPS} of which stand for 1."""
    packed = base64.b85decode("".join(text.split()))
    return np.frombuffer(zlib.decompress(packed), "<i4").reshape({count}, *shape) / {STEPS}


def height(x, z):
    return {HILLS_HEIGHT} * np.sin(0.31 * x) * np.cos(0.27 * z) + {0.5 * HILLS_HEIGHT} * np.sin(0.17 * x + 0.23 * z)


# Where everybody is: in the world, and in the walk.
transforms = np.tile(np.eye(4), ({count}, 1, 1))
transforms[:, :3] = unpacked("""
{_packed(people.frame.transform[:, :3])}
""", 3, 4)
times = unpacked("""
{_packed(times)}
""")

# What feet, hands and gaze change in the pose of the walk: translations, rotations and scales of all joints.
translations = unpacked("""
{packed[0]}
""", -1, 3)
turns = unpacked("""
{packed[1]}
""", -1, 4)
scales = unpacked("""
{packed[2]}
""", -1, 3)
person = demo.humanoid()
walk = person.clips["walk"].sample(times)
rotations = walk.rotations + turns
rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
pose = km.Pose(walk.translations + translations, rotations, walk.scales + scales)
world = transforms[:, None] @ person.skeleton.world(pose)
joints = world[..., :3, 3]
print(f"{count} characters between", joints.min(axis=(0, 1)).round(2), "and", joints.max(axis=(0, 1)).round(2))

# To go on from here: the same stages on the same hills.
corner, spacing = ({-HILLS_EXTENT / 2}, {-HILLS_EXTENT / 2}), {HILLS_SPACING}
along = np.arange({-HILLS_EXTENT / 2}, {HILLS_EXTENT / 2 + HILLS_SPACING / 2}, spacing)
hills = km.HeightField(height(along[:, None], along).astype(np.float32), corner, spacing)
stages = [km.Play("walk", root_motion="extract", root="root", time=times), km.Feet(), km.Hands(), km.Head()]
crowd = km.Animator(person, stages, ground=hills, count={count})
headings = np.arctan2(transforms[:, 0, 2], transforms[:, 0, 0])
crowd.set_transform(transforms[:, :3, 3], km.quat.from_axis_angle((0.0, 1.0, 0.0), headings))
crowd.look_at({numbers(target, DECIMALS)})
for arm, rows in (("left", {left}), ("right", {right})):
    if rows:
        crowd["hands"].reach(arm, {numbers(target, DECIMALS)}, rows=rows)
frame = crowd.update(1 / 60)  # Once per frame.
print(f"{count} characters: {{frame.timings['total']:.2f}} ms a frame")
'''


def _packed(values: Any) -> str:
    """Pack an array as text: whole numbers, compressed. Most of what differs from the walk is 0."""
    steps = np.rint(np.asarray(values, float) * STEPS).astype("<i4")
    text = base64.b85encode(zlib.compress(steps.tobytes())).decode()
    return "\n".join(text[start : start + WIDTH] for start in range(0, len(text), WIDTH))
