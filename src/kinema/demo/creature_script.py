"""The creature's scene as a script: the last second of its walk once more, and the tentacles as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kinema.demo import grounds
from kinema.math import arrays

if TYPE_CHECKING:
    from kinema.demo.creature import CreatureScene

TICK = 1 / 60
"""Seconds of a frame of the script."""
DECIMALS = 5
"""Of a metre."""


def script(scene: CreatureScene) -> str:
    """The script that ends with `world`, (J, 4, 4), where the joints are, and `tentacles`, (T, joints, 3)."""
    past = list(scene.past)
    start = past[0][1] if past else np.array(scene.shown.transform)
    ticks = round(sum(dt for dt, _ in past) / TICK)
    tails = "km.Tail()" if "tail" in scene.animator.stages else ""
    stages = ", ".join(filter(None, ("km.Locomotion()", tails)))
    ground = "\n".join(grounds.script_of(scene.values["ground"], 1.0))
    return f'''"""A creature that steps by itself, the last second of its way; tentacles by FABRIK. Metres, y up."""

import numpy as np

import kinema as km
from kinema import demo

{ground}
creature = demo.{scene.values["creature"]}()
animator = km.Animator(creature, [{stages}], ground=ground)
animator.set_transform({_row(start[:3, 3])}, {_row(arrays.from_matrix(start[:3, :3]))})
frame = animator.update(0.0)
animator["locomotion"].walk_to({_row(scene.goal)}, speed={scene.values["speed"]:g})
for _ in range({ticks}):
    frame = animator.update({TICK:.6g})
world = frame.world
{_tentacles(scene)}
for name, place in zip(creature.skeleton.names, world[:, :3, 3], strict=True):
    print(f"{{name}}:", np.round(place, 3).tolist())
'''


def _tentacles(scene: CreatureScene) -> str:
    if not len(scene.tentacles.joints):
        return ""
    return f"""
joints = np.array({_nested(scene.tentacles.joints)})
targets = np.array({_nested(scene.tentacles.targets)})
tentacles = km.fabrik(joints, targets).joints
print("tips of the tentacles:", np.round(tentacles[:, -1], 3).tolist())
"""


def _row(values: Any) -> str:
    return "(" + ", ".join(f"{x:g}" for x in np.round(np.asarray(values, float), DECIMALS).tolist()) + ")"


def _nested(values: Any) -> str:
    return repr(np.round(np.asarray(values, float), DECIMALS).tolist())
