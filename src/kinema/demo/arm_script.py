"""The arm's scene as a script."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from kinema.demo.arm import Arm

DECIMALS = 5
"""Of a metre."""


def script(arm: Arm) -> str:
    """The script that holds the room as it is, and goes on for a second: the arm reaches, the balls fall."""
    room, balls = arm.room, arm.balls
    return f'''"""The arm and the balls as they are now, then a second of what comes. Metres, y up."""

import numpy as np

import kinema as km
from kinema.physics import step

room = km.Room(
    {_row(room.low)},
    {_row(room.high)},
    boxes={_nested(room.boxes)},
    gravity={_row(room.gravity)},
    drag={room.drag:g},
    restitution={room.restitution:g},
)
balls = km.Balls(
    {_nested(balls.positions)},
    radii={_row(balls.radii)},
    velocities={_nested(balls.velocities)},
    held={balls.held.tolist()},
)
joints = np.array({_nested(arm.joints)})
target = np.array({_row(arm.goal)})

print("hand:", np.round(joints[-1], 3).tolist(), " balls:", np.round(balls.positions, 3).tolist())
{_motion(arm)}
print("hand:", np.round(joints[-1], 3).tolist(), " balls:", np.round(balls.positions, 3).tolist())
'''


def _motion(arm: Arm) -> str:
    if arm.values["solver"] == "compensating":
        state = "None" if arm.state is None else f"np.array({_row(arm.state)})"
        return f"""state = {state}
for _ in range(60):
    arm = km.compensating(joints, target, state, dt=1 / 60)
    joints, state = arm.joints, arm.state
    balls = step(room, balls, 1 / 60)"""
    return f"""for _ in range(60):
    balls = step(room, balls, 1 / 60)
joints = km.{arm.values["solver"]}(joints, target, pole=(0, 3, 0)).joints"""


def _row(values: Any) -> str:
    return "(" + ", ".join(f"{x:g}" for x in np.round(np.asarray(values, float), DECIMALS).tolist()) + ",)"


def _nested(values: Any) -> str:
    return repr(np.round(np.asarray(values, float), DECIMALS).tolist())
