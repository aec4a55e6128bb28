"""The small physics of balls: gravity, drag, bounces and rest in a room with boxes, without ever making energy.

The scheme is symplectic Euler's, velocity first and then the position, in short substeps with the contacts after the
motion. In three things it is different, so that kinetic and potential energy together never grow from one step to the
next, at any step size:

- A position moves by the mean velocity of the substep, exact under gravity and drag. By the new velocity alone, as
  Euler has it, a ball is half a substep's fall too low after each one, and loses that energy.
- A ball goes along its way only as far as it is free (`sweep`), and gets that share of the change of velocity. Kinetic
  energy is convex in the share and potential energy linear, so energy at any share is no more than at the better of
  both ends, and the end is not above the beginning. Euler gives the whole change at once, also to a ball that has no
  way to go: what lies still gets a velocity it has not fallen for, and a bounce keeps part of it. Here it gets none,
  and lies still exactly.
- Nothing is ever put inside something else, so nothing has to be lifted out again. The balls move one after the other,
  the rest of them in their places; one that runs into the back of another waits for what is left of the substep.

A ball that lies on others holds still on them as on a wall; it moves them by its blows and its friction, not by its
weight alone. A pile of balls stands, as if they were rough.

Energy comes from outside in three ways, and `Balls.work` says how much: blows of a ball that is held, balls that a held
one shoves aside, and balls that come in where none can be, inside a box or outside the room, and are lifted out.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinema import validation
from kinema._jit import batch, kernel, routine
from kinema.constants import (
    CONTACTS_A_SUBSTEP,
    LARGEST_FLOAT64,
    LONGEST_STEP,
    MAX_BALLS,
    MAX_SUBSTEPS,
    REST_SUBSTEPS,
    SMALL_DRAG,
    SUBSTEP,
)
from kinema.errors import InputError
from kinema.math import vec
from kinema.world.contact import Laws, slowed, touch
from kinema.world.overlap import admit, part_all
from kinema.world.sweep import (
    COLUMNS,
    FIXED,
    INVERSE,
    NOTHING,
    POSITION,
    RADIUS,
    VELOCITY,
    direction_of,
    get,
    put,
    to_anything,
)


@kernel
def flow(v, a, drag, time):
    """The way made, and the velocity after it, under a constant acceleration and a drag of -drag * velocity: exact."""
    z = drag * time
    if z < SMALL_DRAG:
        first = 1.0 - z * (0.5 - z * (1.0 / 6.0 - z / 24.0))
        second = 0.5 - z * (1.0 / 6.0 - z * (1.0 / 24.0 - z / 120.0))
    else:
        first = -math.expm1(-z) / z
        second = (1.0 - first) / z
    way = vec.add(vec.scale(v, time * first), vec.scale(a, time * time * second))
    return way, vec.add(vec.scale(v, 1.0 - z * first), vec.scale(a, time * first))


@routine
def advance(i, time, balls, walls, laws):
    """Move ball i for a time, from contact to contact. Returns the energy it got from held balls."""
    v = get(balls, i, VELOCITY)
    a = laws.gravity
    old = (0.0, 0.0, 0.0)
    on_old = False
    work = 0.0
    for _ in range(CONTACTS_A_SUBSTEP):
        way, after = flow(v, a, laws.drag, time)
        direction, length = direction_of(way)
        far, n, met = to_anything(i, direction, length, balls, walls)
        share = far / length if length > 0.0 else 1.0
        square = vec.dot(v, v)
        fall = 2.0 * vec.dot(laws.gravity, direction)
        if square + fall * far < 0.0:
            far, met = square / -fall, NOTHING  # It has no energy to rise further.
        put(balls, i, POSITION, vec.add(get(balls, i, POSITION), vec.scale(direction, far)))
        v = slowed(vec.add(v, vec.scale(vec.sub(after, v), share)), square + fall * far)
        if met == NOTHING:
            break
        time *= 1.0 - share
        before = vec.dot(v, v)
        v, a, old, on_old, goes_on = touch(v, i, met, n, time, balls, laws, old, on_old)
        if met != FIXED and balls[met, INVERSE] == 0.0:
            work += max(vec.dot(v, v) - before, 0.0) * 0.5 / balls[i, INVERSE]
        if not goes_on:
            break
    put(balls, i, VELOCITY, v)
    return work


@batch
def _step(balls, walls, laws, time, substeps):
    """Move every free ball, in place. Returns the energy that came from outside."""
    work = 0.0
    for i in range(balls.shape[0]):
        if balls[i, INVERSE] > 0.0:
            work += admit(i, balls, walls, laws)
    work += part_all(balls, walls, laws)
    for _ in range(substeps):
        for i in range(balls.shape[0]):
            if balls[i, INVERSE] > 0.0:
                work += advance(i, time, balls, walls, laws)
    return work


# --- the room --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Room:
    """The room that balls are in, and how they move there."""

    low: Any
    """(3,): its lower corner, world space, metres. No ball leaves the room."""
    high: Any
    """(3,): its upper corner."""
    _: KW_ONLY
    boxes: Any = ()
    """(B, 2, 3): lower and upper corner of every box that stands in it. They may overlap."""
    gravity: Any = (0.0, -9.81, 0.0)
    """(3,): m/s^2."""
    drag: float = 0.1
    """Of the air, 1/s: velocity falls off as exp(-drag t)."""
    restitution: float = 0.5
    """Speed after a bounce over speed before it, 0 to 1."""
    friction: float = 0.1
    """Force along a surface over force onto it. Balls do not turn: it stands for what slows them as they roll, too."""
    max_step: float = SUBSTEP
    """Seconds: longer steps are divided."""

    def __post_init__(self) -> None:
        made = {
            "low": _fixed(_vector("low", self.low)),
            "high": _fixed(_vector("high", self.high)),
            "boxes": _fixed(_boxes(self.boxes)),
            "gravity": _fixed(_vector("gravity", self.gravity)),
            "drag": validation.number("drag", self.drag, 0.0, LARGEST_FLOAT64),
            "restitution": validation.number("restitution", self.restitution, 0.0, 1.0),
            "friction": validation.number("friction", self.friction, 0.0, LARGEST_FLOAT64),
            "max_step": validation.number("max_step", self.max_step, 1.0 / LARGEST_FLOAT64, LONGEST_STEP),
        }
        if (made["low"] > made["high"]).any():
            raise InputError(f"low is {made['low']} and high is {made['high']}; low must not be above high")
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def walls(self) -> Any:
        """(1 + B, 2, 3): the room's corners, then the boxes', as the kernels take them."""
        return np.concatenate([np.stack([self.low, self.high])[np.newaxis], self.boxes])

    def laws(self) -> Laws:
        """What holds for every ball, as the kernels take it."""
        x, y, z = self.gravity.tolist()
        rest_speed = REST_SUBSTEPS * math.hypot(x, y, z) * self.max_step
        return Laws((x, y, z), self.drag, self.restitution, self.friction, rest_speed)


def _fixed(array: Any) -> Any:
    """A copy that nobody can change."""
    own = np.array(array, order="C")
    own.flags.writeable = False
    return own


def _vector(name: str, value: ArrayLike) -> Any:
    array = validation.vectors(name, value, 3, np.float64)
    if array.ndim != 1:
        raise InputError(f"{name} must be one vector of shape (3,), got {array.shape}")
    return array


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
    """Balls as they are at one moment, 1,024 at most. Nothing here changes: whatever moves makes new ones.

    A ball that is held is moved by its holder and by nothing else. To the others it is a thing that gives way to nobody
    and hits them with its holder's velocity.
    """

    positions: Any
    """(N, 3): centres, world space, metres."""
    _: KW_ONLY
    radii: Any
    """(N,): metres. One number may be given for all."""
    velocities: Any = 0.0
    """(N, 3): m/s; of a ball that is held, its holder's."""
    masses: Any = 1.0
    """(N,): kg. One number may be given for all."""
    held: Any = False
    """(N,): whether it is held."""
    work: float = 0.0
    """Energy that came from outside in the last step, J. `energy` never grows by more than this."""

    def __post_init__(self) -> None:
        positions = validation.real("positions", self.positions)
        positions = validation.vectors("positions", positions if positions.size else np.zeros((0, 3)), 3, np.float64)
        if positions.ndim != 2 or len(positions) > MAX_BALLS:
            raise InputError(f"positions must have shape (N, 3), N at most {MAX_BALLS}, got {positions.shape}")
        count = len(positions)
        made = {
            "positions": _fixed(positions),
            "radii": _fixed(_sizes("radii", self.radii, count)),
            "velocities": _fixed(_for_each("velocities", self.velocities, (count, 3))),
            "masses": _fixed(_sizes("masses", self.masses, count)),
            "held": _fixed(_flags("held", self.held, count)),
            "work": validation.number("work", self.work, 0.0),
        }
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.positions)

    def add(
        self, position: ArrayLike, *, radius: float, velocity: ArrayLike = (0.0, 0.0, 0.0), mass: float = 1.0
    ) -> Balls:
        """With one more ball, which comes last. position, velocity: (3,)."""
        return replace(
            self,
            positions=np.vstack([self.positions, _vector("position", position)]),
            velocities=np.vstack([self.velocities, _vector("velocity", velocity)]),
            radii=np.append(self.radii, validation.number("radius", radius)),
            masses=np.append(self.masses, validation.number("mass", mass)),
            held=np.append(self.held, False),
        )

    def remove(self, ball: int) -> Balls:
        """Without one ball; those after it move down by one."""
        index = self._index(ball)
        names = ("positions", "velocities", "radii", "masses", "held")
        return replace(self, **{name: np.delete(getattr(self, name), index, axis=0) for name in names})

    def hold(self, ball: int) -> Balls:
        """With one ball held where it is, still."""
        return self._with(self._index(ball), held=True, velocities=0.0)

    def move(self, ball: int, position: ArrayLike, dt: float) -> Balls:
        """With a held ball moved by its holder to a position, (3,), in dt seconds: that gives its velocity, and 0
        seconds give none. For every frame: a holder that stands still moves it to where it is.
        """
        index, seconds = self._index(ball), validation.number("dt", dt, 0.0, LONGEST_STEP)
        if not self.held[index]:
            raise InputError(f"ball {index} is not held; hold it before it is moved")
        place = _vector("position", position)
        velocity = (place - self.positions[index]) / seconds if seconds > 0.0 else 0.0
        return self._with(index, positions=place, velocities=velocity)

    def release(self, ball: int, velocity: ArrayLike | None = None) -> Balls:
        """With one ball let go, at its holder's velocity or at another, (3,)."""
        index = self._index(ball)
        if velocity is None:
            return self._with(index, held=False)
        return self._with(index, held=False, velocities=_vector("velocity", velocity))

    def _index(self, ball: Any) -> int:
        index = validation.whole("ball", ball, 0)
        if index >= len(self):
            raise InputError(f"ball is {index}; there are {len(self)} balls, counted from 0")
        return index

    def _with(self, ball: int, **values: Any) -> Balls:
        """A copy in which one ball has other values."""
        changed = {name: getattr(self, name).copy() for name in values}
        for name, value in values.items():
            changed[name][ball] = value
        return replace(self, **changed)


def _for_each(name: str, value: ArrayLike, shape: tuple[int, ...]) -> Any:
    """Finite numbers of this shape, or one number for all of it."""
    array = validation.real(name, value)
    if array.ndim and array.shape != shape:
        raise InputError(f"{name} must have shape {shape}, one for every ball, got {array.shape}")
    array = validation.contiguous(array, np.float64)
    validation.check_finite(name, array)
    return np.broadcast_to(array, shape)


def _sizes(name: str, value: ArrayLike, count: int) -> Any:
    """Numbers above 0, whose inverse is a number, too."""
    array = _for_each(name, value, (count,))
    smallest = 1.0 / LARGEST_FLOAT64
    if (array < smallest).any():
        place, at = validation.first(name, array < smallest)
        raise InputError(f"{place} is {array[at]}; allowed are numbers above 0, from {smallest:g}")
    return array


def _flags(name: str, value: ArrayLike, count: int) -> Any:
    array = np.asarray(value)
    if array.dtype != np.bool_ or array.shape not in ((), (count,)):
        raise InputError(f"{name} must be true or false for each of {count} balls, got {array.dtype} {array.shape}")
    return np.broadcast_to(array, (count,))


# --- what happens ----------------------------------------------------------------------------------------------


def energy(room: Room, balls: Balls) -> float:
    """Kinetic and potential energy of the balls that are not held, J; potential energy is 0 at the world's origin."""
    free = ~balls.held
    kinetic = 0.5 * (balls.velocities[free] ** 2).sum(axis=1)
    return math.fsum(balls.masses[free] * (kinetic - balls.positions[free] @ room.gravity))


def step(room: Room, balls: Balls, dt: float) -> Balls:
    """The balls dt seconds later; dt is 0 to a million.

    Every ball ends inside the room and outside of every box, to CONTACT_GAP of its radius; one that comes in elsewhere
    is put there by a short way, if one is found. Balls that do not overlap never come to; those that do are moved apart
    as far as there is room. `energy` grows by no more than the result's `work`, to rounding, and that is 0 unless balls
    are held or come in where none can be.
    """
    seconds = validation.number("dt", dt, 0.0, LONGEST_STEP)
    _check_fit(room, balls)
    substeps = math.ceil(min(seconds / room.max_step, MAX_SUBSTEPS))
    table = np.empty((len(balls), COLUMNS))
    table[:, POSITION : POSITION + 3] = balls.positions
    table[:, VELOCITY : VELOCITY + 3] = balls.velocities
    table[:, RADIUS] = balls.radii
    table[:, INVERSE] = np.where(balls.held, 0.0, 1.0 / balls.masses)
    work = _step(table, room.walls(), room.laws(), seconds / max(substeps, 1), substeps)
    moved = copy(balls)
    object.__setattr__(moved, "positions", _fixed(table[:, POSITION : POSITION + 3]))
    object.__setattr__(moved, "velocities", _fixed(table[:, VELOCITY : VELOCITY + 3]))
    object.__setattr__(moved, "work", float(work))
    return moved


def _check_fit(room: Room, balls: Balls) -> None:
    width = (room.high - room.low).min()
    wrong = 2.0 * balls.radii > width
    if wrong.any():
        place, at = validation.first("radii", wrong)
        raise InputError(f"{place} is {balls.radii[at]}; the room is {width} wide, and every ball must fit into it")
