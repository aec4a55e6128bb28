"""The walking crowd as a script: everybody at the same position and the same moment of the walk."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.demo.scenes.people import APART, HILLS_EXTENT, HILLS_HEIGHT, HILLS_SPACING, INNERMOST, SPEED, People
from kinema.demo.scenes.script_text import numbers

DECIMALS = 6
"""Of a metre."""


def people_script(people: People, time: float, target: Any) -> str:
    """Write a script that builds the crowd as it is at a time, seconds, and lets gaze and hands settle."""
    count = people.animator.count
    left, right = (np.flatnonzero(rows).tolist() for rows in people.reaching.T)
    return f'''"""{count} characters walk, look at a target and reach for it, in one call per frame. Metres, y up."""

import numpy as np

import kinema as km
from kinema import demo

TIME = {time!r}
TARGET = np.array({numbers(target, DECIMALS)})


def height(x, z):
    return {HILLS_HEIGHT} * np.sin(0.31 * x) * np.cos(0.27 * z) + {0.5 * HILLS_HEIGHT} * np.sin(0.17 * x + 0.23 * z)


# Everybody walks in one of many rings.
radii, phases, radius = [], [], {INNERMOST}
while len(radii) < {count}:
    seats = int(2 * np.pi * radius / {APART})
    taken = min(seats, {count} - len(radii))
    radii += [radius] * taken
    phases += [2 * np.pi * n / seats for n in range(taken)]
    radius += {APART}
radii = np.array(radii)
angles = np.array(phases) + {SPEED} * TIME / radii
x, z = radii * np.cos(angles), -radii * np.sin(angles)
positions, headings = np.stack((x, height(x, z), z), axis=-1), angles + np.pi

draw = np.random.default_rng({people.seed})
starts = draw.uniform(0.0, 1.0, {count})
corner, spacing = ({-HILLS_EXTENT / 2}, {-HILLS_EXTENT / 2}), {HILLS_SPACING}
along = np.arange({-HILLS_EXTENT / 2}, {HILLS_EXTENT / 2 + HILLS_SPACING / 2}, spacing)
hills = km.HeightField(height(along[:, None], along).astype(np.float32), corner, spacing)
walk = km.Play("walk", root_motion="extract", root="root", speed=0.0, time=(starts + TIME) % 1.0)
crowd = km.Animator(demo.humanoid(), [walk, km.Feet(), km.Hands(), km.Head()], ground=hills, count={count})
crowd.set_transform(positions, km.quat.from_axis_angle(np.array((0.0, 1.0, 0.0)), headings))
crowd.look_at(TARGET)

# Those near the target reach for it with the hand on that side.
for arm, rows in (("left", {left}), ("right", {right})):
    if rows:
        crowd["hands"].reach(arm, TARGET, rows=rows)

for _ in range(60):  # Gaze and hands need a moment.
    frame = crowd.update(1 / 60)
joints = frame.world[..., :3, 3]
print(f"{count} characters: {{frame.timings['total']:.2f}} ms a frame")
'''
