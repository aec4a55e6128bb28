"""An arm of six bones that picks up balls and sorts them into two bins.

Space: metres, y up, origin on the floor in the middle of the room.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from kinema.constants import TOLERANCE
from kinema.demo.scenes.scene import Button, Choice, Scene, SceneStatus, Slider, Switch, clamped_position, finite
from kinema.demo.scenes.script_text import nested, numbers
from kinema.demo.scenes.sorting import ALL_SORTED, CARRY, Sorter, bin_boxes, kind_of_bin
from kinema.physics import Balls, Room, step
from kinema.solvers.chain.ccd import ccd
from kinema.solvers.chain.compensating import compensating
from kinema.solvers.chain.fabrik import fabrik

ROOM = (np.array((-1.45, 0.0, -1.45)), np.array((1.45, 2.6, 1.45)))
STOOL = np.array(((-0.17, 0.0, -0.17), (0.17, 0.5, 0.17)))
SHOULDER = np.array((0.0, 0.5, 0.0))
BONES = 6
BONE = 0.36
"""Length of a bone, m: six of them reach every corner of the floor."""
POLE = np.array((0.0, 3.0, 0.0))
"""Pole of the solvers that take one: the arm bends towards the ceiling."""
HAND_SPEED = 1.5
"""Speed of the point that the arm follows to its goal, m/s."""
SOLVERS = {"compensating": "Compensating angles", "fabrik": "FABRIK", "ccd": "CCD"}
"""Solvers, and their names on the page."""
KINDS = 2
DECIMALS = 5
"""Of a metre, in scripts."""
RADII = (0.075, 0.095)
"""Smallest and largest radius of a ball, m."""
REACHABLE = (ROOM[0] + RADII[0], ROOM[1] - RADII[0])
"""Corners of the box that handles stay in, m."""
MOST_BALLS = 40
GRAVITY, DRAG, RESTITUTION = 9.82, 0.5, 0.5
"""Initial values: m/s^2, 1/s, and speed after a bounce divided by the speed before it."""
FASTEST_THROW, FASTEST_FALL = 5.0, 20.0
"""Largest speed of a ball that a user throws, and along an axis of one from a snapshot, m/s."""
HIGHEST_START = 1.0
"""Height at which the goal of the hand begins at most, m: it is below the page's buttons on any screen."""


class ArmScene(Scene):
    """The arm in its room."""

    name = "arm"
    title = "Arm and balls"
    about = "The arm sorts balls into bins. Take a ball and throw it, or let the arm follow you."
    unit = "m"
    controls: tuple[Any, ...] = (
        Choice("solver", "Solver", "compensating", tuple(SOLVERS), tuple(SOLVERS.values())),
        Switch("by_hand", "The arm follows me", False),
        Slider("balls", "Balls", 8, 1, MOST_BALLS, 1),
        Slider("gravity", "Gravity", GRAVITY, 0.0, 20.0, 0.01, "m/s²"),
        Slider("drag", "Air drag", DRAG, 0.0, 3.0, 0.01, "1/s"),
        Slider("restitution", "Bounce", RESTITUTION, 0.0, 1.0, 0.01),
        Button("scatter", "Throw all balls in the air"),
    )
    help: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Left mouse or a finger on a ball", "take it, throw it"),
        ("Left mouse beside them", "rotate the view; right mouse or two fingers move it"),
        ("B", "one more ball"),
        ("Backspace", "one ball less"),
    )
    hint = ("6", "Take this ball and throw it")
    keys = (("b", "One more ball"), ("Backspace", "One ball less"))
    needs = ("compensating, float64", "fabrik, float64", "balls, float64")

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        boxes = np.concatenate((STOOL[np.newaxis], *(bin_boxes(kind) for kind in range(KINDS))))
        self.room = Room(*ROOM, boxes=boxes, gravity=(0.0, -GRAVITY, 0.0), drag=DRAG, restitution=RESTITUTION)
        self.joints = SHOULDER + np.arange(BONES + 1)[:, np.newaxis] * np.array((0.0, BONE, 0.0))
        self.joints = fabrik(self.joints, (0.3, 1.5, 0.6), pole=POLE).joints
        self.state: Any = None
        self.goal = self.joints[-1].copy()
        self.hand = self.goal.copy()
        self.error = 0.0
        self.dragged: int | None = None
        self.drag_to = np.zeros(3)
        self.kinds = np.zeros(0, int)
        self.balls = Balls(np.zeros((0, 3)), radii=RADII[0])
        self.sorter = Sorter()
        self._fill()

    # User input.

    def changed(self, name: str) -> None:
        if name in ("gravity", "drag", "restitution"):
            down = (0.0, -self.values["gravity"], 0.0)
            laws = {"drag": self.values["drag"], "restitution": self.values["restitution"], "gravity": down}
            self.room = replace(self.room, **laws)
        elif name == "balls":
            self._fill()
        elif name == "scatter":
            free = ~self.balls.held
            velocities = self.balls.velocities.copy()
            velocities[free] = self.draw.uniform((-1.0, 2.5, 0.2), (1.0, 5.0, 1.5), (len(self.balls), 3))[free]
            self.balls = replace(self.balls, velocities=velocities)
        elif name == "by_hand":
            self.goal = np.minimum(self.joints[-1], (np.inf, HIGHEST_START, np.inf))
            self.balls = self.sorter.let_go(self.balls)

    def drag(self, handle: str, position: Sequence[float]) -> None:
        to = np.clip(clamped_position(position, 3, 10.0), *REACHABLE)
        if handle == "target" and self.values["by_hand"]:
            self.goal = to
        elif handle.isdecimal() and int(handle) < len(self.balls):
            if (ball := int(handle)) != self.dragged:  # It may be taken from the arm.
                self.dragged = ball
                self.sorter.lose(ball)
                self.balls = self.balls.hold(ball)
            self.drag_to = to

    def drop(self, handle: str) -> None:
        if self.dragged is not None and handle == str(self.dragged):
            thrown = self.balls.velocities[self.dragged]
            slowed = FASTEST_THROW / max(float(np.linalg.norm(thrown)), FASTEST_THROW)
            self.balls = self.balls.release(self.dragged, thrown * slowed)
            self.dragged = None

    def key(self, key: str, position: Sequence[float]) -> None:
        count = len(self.balls) + {"b": 1, "Backspace": -1}.get(key, 0)
        if count != len(self.balls) and 1 <= count <= MOST_BALLS:
            self.set("balls", count)

    def own_state(self) -> dict[str, Any]:
        return {"goal": np.round(self.goal, DECIMALS).tolist() if self.values["by_hand"] else None}

    def restore_own(self, own: Mapping[str, Any]) -> None:
        goal = own["goal"]
        if self.values["by_hand"] and goal is not None:
            self.goal = np.clip(clamped_position(goal, 3, 10.0), *REACHABLE)

    def motion(self) -> dict[str, Any]:
        balls = np.column_stack((self.balls.positions, self.balls.velocities, self.balls.radii))
        return {"balls": np.round(balls, DECIMALS).tolist(), "hand": np.round(self.joints[-1], DECIMALS).tolist()}

    def restore_motion(self, motion: Mapping[str, Any]) -> None:
        rows = np.array([finite("ball", row, 7) for row in motion["balls"][: len(self.balls)]]).reshape(-1, 7)
        positions, speeds, radii = self.balls.positions.copy(), self.balls.velocities.copy(), self.balls.radii.copy()
        positions[: len(rows)] = np.clip(rows[:, :3], *REACHABLE)
        speeds[: len(rows)] = np.clip(rows[:, 3:6], -FASTEST_FALL, FASTEST_FALL)
        radii[: len(rows)] = np.clip(rows[:, 6], *RADII)
        self.balls, self.sorter, self.dragged = Balls(positions, radii=radii, velocities=speeds), Sorter(), None
        self.hand = np.clip(finite("hand", motion["hand"], 3), *REACHABLE)
        self.joints = fabrik(self.joints, self.hand, pole=POLE).joints

    def be_still(self) -> None:
        """Stop the arm. Balls still fall."""
        self.set("by_hand", True)

    # The balls.

    def _fill(self) -> None:
        """Match the number of balls to the slider: new ones fall from above, the last ones go."""
        while len(self.balls) > self.values["balls"]:
            last = len(self.balls) - 1
            if self.dragged == last:
                self.dragged = None
            self.sorter.lose(last)
            self.balls = self.balls.remove(last)
        while len(self.balls) < self.values["balls"]:
            self.balls = self.balls.add(self._somewhere_above(1)[0], radius=float(self.draw.uniform(*RADII)))
        self.kinds = np.arange(len(self.balls)) % KINDS

    def _somewhere_above(self, count: int) -> Any:
        """Return (count, 3): random positions above the floor in front of the bins."""
        return self.draw.uniform((-1.1, 1.0, -0.1), (1.1, 2.3, 1.2), (count, 3))

    # Time.

    def step(self, dt: float) -> None:
        if dt <= 0.0:
            return
        if not self.values["by_hand"]:
            self.balls, self.goal = self.sorter.decide(self.joints, self.balls, self.kinds, self.dragged, dt)
        self._reach(dt)
        self.balls = self.sorter.carry(self.joints, self.balls, dt)
        if self.dragged is not None:
            self.balls = self.balls.move(self.dragged, self.drag_to, dt)
        self.balls = step(self.room, self.balls, dt)
        if self.sorter.state == ALL_SORTED and self.sorter.waited(dt):
            self.balls = replace(self.balls, positions=self._somewhere_above(len(self.balls)), velocities=0.0)
            self.sorter = Sorter()

    def settle(self, dt: float) -> None:
        """Move the arm if it follows the user, and a dragged ball. All other balls stay where they are."""
        if self.values["by_hand"]:
            self._reach(dt)
        if self.dragged is not None:
            self.balls = self.balls.move(self.dragged, self.drag_to, dt)

    def _reach(self, dt: float) -> None:
        """Move the hand's target towards the goal, and let the arm follow it."""
        way = self.goal - self.hand
        far = float(np.linalg.norm(way))
        self.hand = self.hand + way * min(1.0, HAND_SPEED * dt / max(far, HAND_SPEED * dt))
        if self.values["solver"] == "compensating":
            moved = compensating(self.joints, self.hand, self.state, dt=dt)
            self.joints, self.state = moved.joints, moved.state
        else:
            solver = fabrik if self.values["solver"] == "fabrik" else ccd
            self.joints, self.state = solver(self.joints, self.hand, pole=POLE).joints, None
        self.error = float(np.linalg.norm(self.joints[-1] - self.goal))

    # Output.

    def frame(self) -> dict[str, Any]:
        """joints: (7, 3). balls: (B, 4), centre and radius. sorted: (B,). goal: (3,). carried: which ball, or -1."""
        return {
            "joints": self.joints,
            "balls": np.column_stack((self.balls.positions, self.balls.radii)),
            "sorted": (kind_of_bin(self.balls.positions) == self.kinds).astype(float),
            "goal": self.goal,
            "carried": np.array([-1.0 if self.sorter.ball is None or self.sorter.state != CARRY else self.sorter.ball]),
        }

    def description(self) -> dict[str, Any]:
        return {
            "room": np.stack(ROOM).tolist(),
            "stool": STOOL.tolist(),
            "bins": [bin_boxes(kind).tolist() for kind in range(KINDS)],
            "kinds": self.kinds.tolist(),
            "by_hand": self.values["by_hand"],
            "bounds": {"*": {"low": REACHABLE[0].tolist(), "high": REACHABLE[1].tolist()}},
        }

    def status(self) -> SceneStatus:
        reached = self.error <= TOLERANCE * BONES * BONE
        return SceneStatus(self.error, int(reached), 1)

    def python(self) -> str:
        return _script(self)


# --- as a script -----------------------------------------------------------------------------------------------


def _script(arm: ArmScene) -> str:
    """Write a script that sets up arm and balls as they are now, with a function that goes on from there."""
    room, balls = arm.room, arm.balls
    return f'''"""The arm and the balls as they are on the screen, and what moves them. Metres, y up."""

import numpy as np

import kinema as km
from kinema.physics import step

room = km.Room(
    {numbers(room.low, DECIMALS)},
    {numbers(room.high, DECIMALS)},
    boxes={nested(room.boxes, DECIMALS)},
    gravity={numbers(room.gravity, DECIMALS)},
    drag={room.drag:g},
    restitution={room.restitution:g},
)
balls = km.Balls(
    {nested(balls.positions, DECIMALS)},
    radii={numbers(balls.radii, DECIMALS)},
    velocities={nested(balls.velocities, DECIMALS)},
    held={balls.held.tolist()},
)
target = np.array({numbers(arm.hand, DECIMALS)})
start = np.array({nested(arm.joints, DECIMALS)})
{_motion(arm)}
print("hand:", np.round(joints[-1], 3).tolist())
print("balls:", np.round(balls.positions, 3).tolist())
'''


def _motion(arm: ArmScene) -> str:
    if arm.values["solver"] == "compensating":
        state = "None" if arm.state is None else f"np.array({numbers(arm.state, DECIMALS)})"
        return f"""state = {state}
joints = km.compensating(start, target, state, steps=0).joints


def go_on(joints, state, balls, dt=1 / 60):
    \"\"\"One frame: the arm moves on towards its target, the balls fall.\"\"\"
    moved = km.compensating(joints, target, state, dt=dt)
    return moved.joints, moved.state, step(room, balls, dt)

"""
    return f"""joints = km.{arm.values["solver"]}(start, target, pole={numbers(POLE, DECIMALS)}).joints


def go_on(joints, balls, dt=1 / 60):
    \"\"\"One frame: the arm reaches for its target, the balls fall.\"\"\"
    joints = km.{arm.values["solver"]}(joints, target, pole={numbers(POLE, DECIMALS)}).joints
    return joints, step(room, balls, dt)

"""
