"""Balls that fall, bounce, slide and come to rest in a room with boxes, without ever gaining energy.

The scheme is symplectic Euler, velocity first and then position, in short substeps with contacts after the motion. It
differs in three ways, so that kinetic plus potential energy never grows from one step to the next, at any step size:

- A position moves by the mean velocity of the substep, which is exact under gravity and drag. With Euler's new velocity
  a ball ends half a substep's fall too low, and loses that energy.
- A ball moves only as far as its path is free (`sweep`), and gets that fraction of the change of velocity. Kinetic
  energy is convex in the fraction and potential energy is linear, so the energy is never above that of the better end.
  Euler gives the whole change at once, even to a ball that cannot move: a resting ball gains a velocity that it has not
  fallen for, and a bounce keeps part of it. Here it gains none, and lies exactly still.
- A ball never enters anything, so it never has to be pushed out. Balls move one after the other while the rest stay; a
  ball that runs into the back of another waits for the rest of the substep.

A ball that lies on other balls rests on them as on a wall. It moves them by impacts and friction, not by its weight, so
a pile of balls stands as if they were rough.

Energy enters in three ways, and `Balls.work` reports how much: impacts of a held ball, balls that a held ball pushes
aside, and balls that start inside a box or outside the room and are lifted out.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema.compile.jit import batch, kernel, routine
from kinema.constants import LARGEST_FLOAT64, LONGEST_STEP
from kinema.errors import InputError
from kinema.math import vec
from kinema.math.rows import load3, store3
from kinema.physics.contact import Support, slowed, touch
from kinema.physics.overlap import admit, part_all
from kinema.physics.state import BALL, BOX, FIXED, NOTHING, BallScene, Laws
from kinema.physics.sweep import direction_of, to_anything

SUBSTEP = 1 / 240
"""Seconds. Longest substep by default: a ball falls a tenth of a millimetre in the first one."""

MAX_SUBSTEPS = 240
"""Substeps in one step: a second at the default. A longer step is divided into as many, each longer."""

MAX_BALLS = 1024
"""Every pair of balls is checked: a million pairs at this number."""

CONTACTS_PER_SUBSTEP = 8
"""Surfaces that a ball can meet in one substep before it waits for the next. Three hold a ball at rest, and a ball that
bounces to and fro more often has hardly any room to move."""

REST_SUBSTEPS = 2.0
"""A ball that gravity would bring back within about this many substeps rests instead of bouncing. That is 0.08 m/s on
the ground and a hop of a third of a millimetre; without gravity every ball bounces."""

SMALL_DRAG = 1e-3
"""Drag times time below which its two exponential terms come from their series, whose next terms are 1e-14."""


@kernel
def flow(v, a, drag, time):
    """Return displacement and final velocity under constant acceleration and a drag of -drag * velocity, exactly."""
    z = drag * time
    if z < SMALL_DRAG:
        first = 1.0 - z * (0.5 - z * (1.0 / 6.0 - z / 24.0))
        second = 0.5 - z * (1.0 / 6.0 - z * (1.0 / 24.0 - z / 120.0))
    else:
        first = -math.expm1(-z) / z
        second = (1.0 - first) / z
    move = vec.add(vec.scale(v, time * first), vec.scale(a, time * time * second))
    return move, vec.add(vec.scale(v, 1.0 - z * first), vec.scale(a, time * first))


@routine
def advance(i, time, scene):
    """Move ball i for a time, from contact to contact. Returns the energy that it got from held balls."""
    ball, laws = scene.balls[i], scene.laws
    v = load3(ball.velocity)
    a = laws.gravity
    support = Support((0.0, 0.0, 0.0), False)
    work = 0.0
    for _ in range(CONTACTS_PER_SUBSTEP):
        move, after = flow(v, a, laws.drag, time)
        direction, length = direction_of(move)
        distance, n, met = to_anything(i, direction, length, scene)
        share = distance / length if length > 0.0 else 1.0
        square = vec.dot(v, v)
        fall = 2.0 * vec.dot(laws.gravity, direction)
        if square + fall * distance < 0.0:
            distance, met = square / -fall, NOTHING  # It has no energy to rise further.
        store3(ball.position, vec.add(load3(ball.position), vec.scale(direction, distance)))
        v = slowed(vec.add(v, vec.scale(vec.sub(after, v), share)), square + fall * distance)
        if met == NOTHING:
            break
        time *= 1.0 - share
        before = vec.dot(v, v)
        v, a, support, goes_on = touch(v, i, met, n, time, support, scene)
        if met != FIXED and scene.balls[met].inverse_mass == 0.0:
            work += max(vec.dot(v, v) - before, 0.0) * 0.5 / ball.inverse_mass
        if not goes_on:
            break
    store3(ball.velocity, v)
    return work


@batch
def _step(balls, boxes, laws, time, substeps):
    """Move every free ball, in place. Returns the energy that came from outside."""
    scene = BallScene(balls, boxes, laws)
    work = 0.0
    for i in range(balls.shape[0]):
        if balls[i].inverse_mass > 0.0:
            work += admit(i, scene)
    work += part_all(scene)
    for _ in range(substeps):
        for i in range(balls.shape[0]):
            if balls[i].inverse_mass > 0.0:
                work += advance(i, time, scene)
    return work


# --- the room --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Room:
    """A room for balls: its walls, the boxes in it, and the constants of motion.

    Examples
    --------
    >>> room = km.physics.Room((-1, 0, -1), (1, 3, 1), boxes=[((-0.2, 0, -0.2), (0.2, 0.5, 0.2))], restitution=0.8)
    """

    low: Any
    """(3,): the lower corner in world space, metres. No ball leaves the room."""
    high: Any
    """(3,): the upper corner."""
    _: KW_ONLY
    boxes: Any = ()
    """(B, 2, 3): lower and upper corner of each box. Boxes may overlap."""
    gravity: Any = (0.0, -9.81, 0.0)
    """(3,): acceleration, m/s^2."""
    drag: float = 0.1
    """Air drag, 1/s: velocity decays as exp(-drag t)."""
    restitution: float = 0.5
    """Speed after a bounce divided by the speed before it, 0 to 1."""
    friction: float = 0.1
    """Friction coefficient. Balls do not rotate, so it also stands for rolling resistance."""
    max_step: float = SUBSTEP
    """Longest substep, seconds. Longer steps are divided."""

    def __post_init__(self) -> None:
        made = {
            "low": _fixed(validation.vector("low", self.low)),
            "high": _fixed(validation.vector("high", self.high)),
            "boxes": _fixed(_boxes(self.boxes)),
            "gravity": _fixed(validation.vector("gravity", self.gravity)),
            "drag": validation.number("drag", self.drag, 0.0, LARGEST_FLOAT64),
            "restitution": validation.number("restitution", self.restitution, 0.0, 1.0),
            "friction": validation.number("friction", self.friction, 0.0, LARGEST_FLOAT64),
            "max_step": validation.number("max_step", self.max_step, 1.0 / LARGEST_FLOAT64, LONGEST_STEP),
        }
        if (made["low"] > made["high"]).any():
            raise InputError(f"low is {made['low']} and high is {made['high']}; low must not be above high")
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def _box_records(self) -> Any:
        """Return (1 + B,) of `BOX`: the room, then its boxes."""
        records = BOX.zeros(1 + len(self.boxes), np.float64)
        records.low = np.vstack([self.low, self.boxes[:, 0]])
        records.high = np.vstack([self.high, self.boxes[:, 1]])
        return records

    def _laws(self) -> Laws:
        x, y, z = self.gravity.tolist()
        rest_speed = REST_SUBSTEPS * math.hypot(x, y, z) * self.max_step
        return Laws((x, y, z), self.drag, self.restitution, self.friction, rest_speed)


def _fixed(array: Any) -> Any:
    """Return a read-only copy."""
    own = np.array(array, order="C")
    own.flags.writeable = False
    return own


def _boxes(value: ArrayLike) -> Any:
    array = validation.real("boxes", value)
    if array.size == 0:
        return np.zeros((0, 2, 3))
    if array.ndim != 3 or array.shape[1:] != (2, 3):
        raise InputError(f"boxes must have shape (B, 2, 3), got {array.shape}")
    boxes = validation.vectors("boxes", array, 3, np.float64)
    wrong = boxes[:, 0] > boxes[:, 1]
    if wrong.any():
        box = validation.first("boxes", wrong)[1][0]
        raise InputError(f"boxes[{box}] is {boxes[box].tolist()}; its low corner must not be above its high corner")
    return boxes


# --- the balls -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Balls:
    """Balls at one moment, at most 1,024. Immutable: every method returns new balls.

    A held ball is moved by its holder alone. To the other balls it is an immovable obstacle that hits them with its
    holder's velocity.

    Examples
    --------
    >>> room = km.physics.Room((-1, 0, -1), (1, 3, 1))
    >>> balls = km.physics.Balls([[0, 2, 0], [0.5, 2, 0]], radii=0.1)
    >>> balls = km.physics.step(room, balls, 1 / 60)
    """

    positions: Any
    """(N, 3): centres in world space, metres."""
    _: KW_ONLY
    radii: Any
    """(N,), or one number for all: metres."""
    velocities: Any = 0.0
    """(N, 3): m/s. The velocity of a held ball is its holder's."""
    masses: Any = 1.0
    """(N,), or one number for all: kg."""
    held: Any = False
    """(N,): whether each ball is held."""
    work: float = 0.0
    """Energy that entered in the last step, J. `energy` never grows by more than this."""

    def __post_init__(self) -> None:
        positions = validation.real("positions", self.positions)
        positions = validation.vectors("positions", positions if positions.size else np.zeros((0, 3)), 3, np.float64)
        if positions.ndim != 2 or len(positions) > MAX_BALLS:
            raise InputError(f"positions must have shape (N, 3), N at most {MAX_BALLS}, got {positions.shape}")
        count = len(positions)
        held = validation.booleans("held", self.held)
        if held.shape not in ((), (count,)):
            raise InputError(f"held must be booleans of shape ({count},) or one for all, got {held.shape}")
        made = {
            "positions": _fixed(positions),
            "radii": _fixed(_sizes("radii", self.radii, count)),
            "velocities": _fixed(_for_each("velocities", self.velocities, (count, 3))),
            "masses": _fixed(_sizes("masses", self.masses, count)),
            "held": _fixed(np.broadcast_to(held, (count,))),
            "work": validation.number("work", self.work, 0.0),
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.positions)

    def add(
        self, position: ArrayLike, *, radius: float, velocity: ArrayLike = (0.0, 0.0, 0.0), mass: float = 1.0
    ) -> Balls:
        """Return these balls and one more, which comes last. position (3,), metres; velocity (3,), m/s; mass, kg."""
        return replace(
            self,
            positions=np.vstack([self.positions, validation.vector("position", position)]),
            velocities=np.vstack([self.velocities, validation.vector("velocity", velocity)]),
            radii=np.append(self.radii, validation.number("radius", radius)),
            masses=np.append(self.masses, validation.number("mass", mass)),
            held=np.append(self.held, False),
        )

    def remove(self, ball: int) -> Balls:
        """Return these balls without one. Those after it move down by one."""
        index = self._index(ball)
        names = ("positions", "velocities", "radii", "masses", "held")
        return replace(self, **{name: np.delete(getattr(self, name), index, axis=0) for name in names})

    def hold(self, ball: int) -> Balls:
        """Return these balls with one of them held where it is."""
        return self._with(self._index(ball), held=True, velocities=0.0)

    def move(self, ball: int, position: ArrayLike, dt: float) -> Balls:
        """Return these balls with a held ball moved to a position (3,) within dt seconds.

        The ball's velocity follows from the distance and dt; it is 0 if dt is. Call this in every frame in which a ball
        is held, also when the holder does not move.
        """
        index, seconds = self._index(ball), validation.number("dt", dt, 0.0, LONGEST_STEP)
        if not self.held[index]:
            raise InputError(f"ball {index} is not held; hold it before it is moved")
        to = validation.vector("position", position)
        velocity = (to - self.positions[index]) / seconds if seconds > 0.0 else 0.0
        return self._with(index, positions=to, velocities=velocity)

    def release(self, ball: int, velocity: ArrayLike | None = None) -> Balls:
        """Return these balls with one released, at its holder's velocity or at another, (3,) in m/s."""
        index = self._index(ball)
        if velocity is None:
            return self._with(index, held=False)
        return self._with(index, held=False, velocities=validation.vector("velocity", velocity))

    def _index(self, ball: Any) -> int:
        index = validation.whole("ball", ball, 0)
        if index >= len(self):
            raise InputError(f"ball is {index}; there are {len(self)}, counted from 0")
        return index

    def _with(self, ball: int, **values: Any) -> Balls:
        """Return a copy in which one ball has other values."""
        changed = {name: getattr(self, name).copy() for name in values}
        for name, value in values.items():
            changed[name][ball] = value
        return replace(self, **changed)


def _for_each(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Any:
    """Return finite numbers of this shape, from numbers of this shape or one number."""
    array = validation.real(name, value)
    if array.ndim and array.shape != shape:
        raise InputError(f"{name} must have shape {shape}, one for every ball, got {array.shape}")
    array = validation.contiguous(array, np.float64)
    validation.check_finite(name, array)
    return np.broadcast_to(array, shape)


def _sizes(name: str, value: ArrayLike, count: int) -> Any:
    """Return positive numbers (count,) whose inverse is finite."""
    array = _for_each(name, value, (count,))
    smallest = 1.0 / LARGEST_FLOAT64
    if (array < smallest).any():
        where, at = validation.first(name, array < smallest)
        raise InputError(f"{where} is {array[at]}; allowed are numbers above 0, from {smallest:g}")
    return array


# --- motion ----------------------------------------------------------------------------------------------------


def energy(room: Room, balls: Balls) -> float:
    """Return the kinetic and potential energy of all balls that are not held, in joules.

    Potential energy is 0 at the world's origin.
    """
    validation.instance("room", room, Room)
    validation.instance("balls", balls, Balls)
    free = ~balls.held
    kinetic = 0.5 * (balls.velocities[free] ** 2).sum(axis=1)
    return math.fsum(balls.masses[free] * (kinetic - balls.positions[free] @ room.gravity))


def step(room: Room, balls: Balls, dt: float) -> Balls:
    """Return the balls dt seconds later.

    Every ball ends inside the room and outside of every box, to 1e-5 of its radius; a ball that starts elsewhere is
    moved there if a short way is found. Balls that do not overlap never will; overlapping balls are moved apart as far
    as there is room. `energy` grows by no more than the result's `work`, up to rounding, and `work` is 0 unless balls
    are held or start inside something.

    Parameters
    ----------
    room
        The room and the laws of motion in it.
    balls
        The balls; not modified.
    dt
        Seconds, 0 to a million. Steps longer than `room.max_step` are divided.

    Raises
    ------
    InputError
        If dt is out of range or a ball does not fit into the room.
    """
    validation.instance("room", room, Room)
    validation.instance("balls", balls, Balls)
    seconds = validation.number("dt", dt, 0.0, LONGEST_STEP)
    _check_fit(room, balls)
    substeps = math.ceil(min(seconds / room.max_step, MAX_SUBSTEPS))
    records = BALL.zeros(len(balls), np.float64)
    records.position = balls.positions
    records.velocity = balls.velocities
    records.radius = balls.radii
    records.inverse_mass = np.where(balls.held, 0.0, 1.0 / balls.masses)
    work = _step(records, room._box_records(), room._laws(), seconds / max(substeps, 1), substeps)
    moved = copy(balls)
    object.__setattr__(moved, "positions", _fixed(records.position))
    object.__setattr__(moved, "velocities", _fixed(records.velocity))
    object.__setattr__(moved, "work", float(work))
    return moved


def _check_fit(room: Room, balls: Balls) -> None:
    width = (room.high - room.low).min()
    wrong = 2.0 * balls.radii > width
    if wrong.any():
        where, at = validation.first("radii", wrong)
        raise InputError(f"{where} is {balls.radii[at]}; the room is {width} wide, and every ball must fit into it")
