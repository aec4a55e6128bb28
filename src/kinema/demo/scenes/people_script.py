"""The walking crowd as a script: the pose of everybody as it is, then the stages to go on with."""

import base64
import zlib
from typing import Any

import numpy as np

from kinema.demo.scenes.people import APART, HILLS_EXTENT, HILLS_HEIGHT, HILLS_SPACING, INNERMOST, SPEED, People
from kinema.demo.scenes.script_text import numbers

STEPS = 1_000_000
"""Whole numbers that stand for 1 in packed arrays: micrometres."""
DECIMALS = 6
"""Of a metre."""
WIDTH = 110
"""Characters in a line of packed numbers."""


LONGEST = 20_000
"""Characters of a script that is comfortable to copy."""

GROUND = f"""
def height(x, z):
    return {HILLS_HEIGHT} * np.sin(0.31 * x) * np.cos(0.27 * z) + {0.5 * HILLS_HEIGHT} * np.sin(0.17 * x + 0.23 * z)
"""


def people_script(people: People, time: float, target: Any) -> str:
    """Write a script that computes `world`, (N, J, 4, 4), the matrices of everybody.

    They are as on the screen to a tenth of a millimetre, where that makes a script of `LONGEST` characters at most.
    Larger crowds stand where they do on the screen, and their stages start anew.
    """
    exact = _exact_script(people, target)
    return exact if len(exact) <= LONGEST else _short_script(people, time, target)


def _short_script(people: People, time: float, target: Any) -> str:
    count = people.count
    return f'''"""{count} characters walk in rings, look at a target and reach for it, as on the screen. Metres, y up.

Places and walks are those on the screen. What feet, hands and heads remember comes from the last two seconds, without
what was dragged in them: poses are those on the screen to some centimetres.
"""

import math

import numpy as np

import kinema as km
from kinema import demo

count, time, LEAD = {count}, {time:.6f}, 120

{GROUND}

# The seats of the rings, from the inside out.
radii, phases, radius = [], [], {INNERMOST}
while len(radii) < count:
    seats = int(2 * math.pi * radius / {APART})
    for n in range(min(seats, count - len(radii))):
        radii.append(radius)
        phases.append(2 * math.pi * n / seats)
    radius += {APART}
times = np.random.default_rng({people.seed}).uniform(0.0, 1.0, count) + time - {people.began:.6f} - LEAD / 60

def place(before):
    """Put everybody where they were so many seconds ago."""
    angles = np.array(phases) + {SPEED} * (time - before) / np.array(radii)
    x, z = np.array(radii) * np.cos(angles), -np.array(radii) * np.sin(angles)
    headings = km.quat.from_axis_angle((0.0, 1.0, 0.0), angles + math.pi)
    crowd.set_transform(np.stack((x, height(x, z), z), axis=-1), headings)


person = demo.humanoid()
{_GOING_ON.replace("COUNT", str(count)).replace("TIMES", "times % person.clips['walk'].duration")}
crowd.look_at({numbers(target, DECIMALS)})
{_reaching(people, target)}
for n in range(LEAD, 0, -1):  # The last two seconds: what feet, hands and heads remember.
    place(n / 60)
    frame = crowd.update(1 / 60)
world = frame.world.copy()
joints = world[..., :3, 3]
print(f"{count} characters between", joints.min(axis=(0, 1)).round(2), "and", joints.max(axis=(0, 1)).round(2))

frame = crowd.update(1 / 60)  # Once per frame.
print(f"{count} characters: {{frame.timings['total']:.2f}} ms a frame")
'''


def _reaching(people: People, target: Any) -> str:
    left, right = (np.flatnonzero(rows).tolist() for rows in people.reaching.T)
    return f"""for arm, rows in (("left", {left}), ("right", {right})):
    if rows:
        crowd["hands"].reach(arm, {numbers(target, DECIMALS)}, rows=rows)"""


_GOING_ON = f"""corner, spacing = ({-HILLS_EXTENT / 2}, {-HILLS_EXTENT / 2}), {HILLS_SPACING}
along = np.arange({-HILLS_EXTENT / 2}, {HILLS_EXTENT / 2 + HILLS_SPACING / 2}, spacing)
hills = km.HeightField(height(along[:, None], along).astype(np.float32), corner, spacing)
stages = [km.Play("walk", root_motion="extract", root="root", time=TIMES), km.Feet(), km.Hands(), km.Head()]
crowd = km.Animator(person, stages, ground=hills, count=COUNT)"""


def _exact_script(people: People, target: Any) -> str:
    count, times = people.count, people.frame.reports["play"].time
    walk = people.animator.character.clips["walk"].sample(times)
    packed = [_packed(now - then) for now, then in zip(people.frame.pose.arrays(), walk.arrays(), strict=True)]
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

{GROUND}

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
{_GOING_ON.replace("COUNT", str(count)).replace("TIMES", "times")}
headings = np.arctan2(transforms[:, 0, 2], transforms[:, 0, 0])
crowd.set_transform(transforms[:, :3, 3], km.quat.from_axis_angle((0.0, 1.0, 0.0), headings))
crowd.look_at({numbers(target, DECIMALS)})
{_reaching(people, target)}
frame = crowd.update(1 / 60)  # Once per frame.
print(f"{count} characters: {{frame.timings['total']:.2f}} ms a frame")
'''


def _packed(values: Any) -> str:
    """Pack an array as text: whole numbers, compressed. Most of what differs from the walk is 0."""
    steps = np.rint(np.asarray(values, float) * STEPS).astype("<i4")
    text = base64.b85encode(zlib.compress(steps.tobytes())).decode()
    return "\n".join(text[start : start + WIDTH] for start in range(0, len(text), WIDTH))
