"""Whole characters of a crowd: they walk in rings over hills, look at a target, and reach for it where it is near.

All of them are one `Animator`: clips, feet on the ground, hands and head of thousands in one call. A crowd that is too
large for one frame is updated in turns, and those around the target as soon as it moves.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from kinema.demo.characters.humanoid import humanoid, skin_of
from kinema.demo.characters.humanoid_body import colours
from kinema.demo.characters.sheet import sheet
from kinema.demo.characters.shells import Detail
from kinema.demo.scenes.character_files import packed_mesh
from kinema.demo.scenes.for_views import LOOKS, STEPS_A_METRE
from kinema.math import arrays
from kinema.model.skeleton import Skeleton
from kinema.model.skin import Skin
from kinema.stages.animator import Animator
from kinema.stages.arms.hands import Hands
from kinema.stages.feet.feet import Feet
from kinema.stages.gaze.head import Head
from kinema.stages.play import Play
from kinema.world.height_field import HeightField

APART = 0.95
"""Distance between neighbours along and across the rings, m."""
INNERMOST = 2.0
"""Radius of the first ring, m."""
SPEED = 1.35
"""Of the walk, m/s."""
NEAR = 1.2
"""Distance along the ground within which characters reach for the target, m."""
HILLS_EXTENT, HILLS_SPACING, HILLS_HEIGHT = 128.0, 2.0, 0.35
"""Width of the ground, distance between its heights, and their amplitude, m."""
AROUND = 2.5
"""Distance along the ground within which a moved target is answered at once, m: about twenty characters."""
PORTION = 250
"""Most characters in one call: about 5 ms. An input that arrives meanwhile is answered after it."""
A_TURN = 1000
"""Most characters in one step: about 20 ms. Larger crowds take turns."""
A_DRAGGED_TURN = 200
"""Most characters in one step while the target is dragged: about 4 ms, so that the next drag is answered soon."""
SAME_SPEED = 1e-6
"""Difference up to which two speeds of the walk count as the same: sums of seconds are rounded."""
LEVELS = (Detail(), *(Detail(share, small=False) for share in (0.5, 0.25, 0.12)))
"""Levels of detail, finest first."""

_SIDES = ("l", "r")
DRAWN = (
    "hips",
    "spine_2",
    "chest",
    "neck_1",
    "head",
    *(f"{name}_{side}" for side in _SIDES for name in ("clavicle", "upper_arm", "forearm", "hand")),
    *(f"{name}_{side}" for side in _SIDES for name in ("thigh", "shin", "foot", "toe")),
)
"""Joints that the page draws; fingers and the face follow them."""


class People:
    """Characters in concentric rings.

    seed: of their colours, and of where in the walk each begins. time: seconds that they have walked already, which
    decide where they start. a_turn: most characters in one step.
    """

    def __init__(self, count: int, seed: int, time: float = 0.0, a_turn: int = A_TURN) -> None:
        draw = np.random.default_rng(seed)
        self.seed, self.began = seed, time
        self.radii, self.phases = _rings(count)
        starts = draw.uniform(0.0, 1.0, count)
        looks = draw.integers(0, LOOKS, count)
        person = humanoid()
        stages = [Play("walk", root_motion="extract", root="root", time=starts), Feet(), Hands()]
        self.animator = Animator(person, [*stages, Head()], ground=hills(), count=count)
        self.frame: Any = None
        """The last frame."""
        self.reaching = np.zeros((count, 2), bool)
        """(N, 2): who reaches with the left and with the right hand."""
        self.milliseconds = 0.0
        """Duration of an update of everybody, by the last turn."""
        self._clock = 0.0
        """Seconds of all steps and answers so far."""
        self._updated, self._walked = np.zeros(count), np.full(count, time)
        """(N,): the clock at the last update of each, and the seconds that each has walked."""
        self._a_turn, self._turn = a_turn, 0
        """Most characters in a turn, and the index of the first one of the next turn."""
        self._drawn = np.array([person.skeleton.index(name) for name in DRAWN])
        self._origins = np.column_stack((*self.transforms(time)[0].T, looks)).astype(np.float32)
        self._palettes = np.zeros((count, len(DRAWN), 12), np.int16)

    @property
    def count(self) -> int:
        """How many they are."""
        return self.animator.count

    # Time.

    def step(
        self, time: float, dt: float, target: Any, waits: Callable[[], bool] = lambda: False, a_turn: int | None = None
    ) -> None:
        """Update those whose turn it is: everybody, in a crowd that is small enough.

        time: seconds of walking at the end of the step; everybody stands while it does not change. dt: seconds since
        the last step or answer. target: (3,), what everybody looks at. waits: whether an input waits; then the rest of
        the turn comes with the next step. a_turn: most characters in this step; default: as many as in any other.
        """
        self._clock += dt
        took, done, most = 0.0, 0, min(a_turn or self._a_turn, self.count)
        while done < most and not (done and waits()):
            rows = np.arange(self._turn, min(self._turn + PORTION, self._turn + most - done, self.count))
            self._turn = int(rows[-1] + 1) % self.count
            took += self._bring(rows, time, target)
            done += len(rows)
        self.milliseconds = took * self.count / done

    def answer(self, time: float, dt: float, target: Any) -> Any:
        """Update those around the target, in the same way. The others wait for their turn.

        Returns (n,): the indices of those that were updated.
        """
        self._clock += dt
        away = self._origins[:, [0, 2]] - np.asarray(target, np.float32)[[0, 2]]
        rows = np.flatnonzero(np.hypot(*away.T) < AROUND)
        self._bring(rows, time, target)
        return rows

    def complete(self, time: float, target: Any) -> None:
        """Update everybody."""
        for _ in range(0, self.count, self._a_turn):
            self.step(time, 0.0, target)

    def _bring(self, rows: Any, time: float, target: Any) -> float:
        """Bring characters up to date: those that were updated together before in one call. Returns milliseconds."""
        took = 0.0
        for before in np.unique(self._updated[rows]):
            some = rows[self._updated[rows] == before]
            took += self._update(some, time, self._clock - float(before), target)
        self._updated[rows], self._walked[rows] = self._clock, time
        return took

    def _update(self, rows: Any, time: float, dt: float, target: Any) -> float:
        """Make a frame of some characters, from where they are; the walk moves them on. Returns milliseconds."""
        some = None if len(rows) == self.count else rows
        start = float(self._walked[rows[0]])
        speed = (time - start) / dt if dt else 1.0
        position, heading = self.transforms(start, rows)
        self.animator.set_transform(position, arrays.from_axis_angle(np.array((0.0, 1.0, 0.0)), heading), rows=some)
        self.animator.look_at(target, rows=some)
        self._reach(rows, position, heading, target)
        speed = 1.0 if abs(speed - 1.0) < SAME_SPEED else speed
        if speed != 1.0:
            self.animator["play"].play("walk", speed=speed, rows=some)
        self.frame = None  # The next one uses its arrays again.
        self.frame = self.animator.update(dt, rows=some)
        if speed != 1.0:
            self.animator["play"].play("walk", speed=1.0, rows=some)
        self._pack(rows)
        return float(self.frame.timings["total"])

    def transforms(self, time: float, rows: Any = slice(None)) -> tuple[Any, Any]:
        """Return positions (n, 3) and headings (n,), radians, after so many seconds."""
        radii = self.radii[rows]
        angle = self.phases[rows] + SPEED * time / radii
        x, z = radii * np.cos(angle), -radii * np.sin(angle)
        return np.stack((x, hill_height(x, z), z), axis=-1), angle + math.pi

    def _reach(self, rows: Any, position: Any, heading: Any, target: Any) -> None:
        """Let those near the target reach for it with the hand on that side."""
        away = target - position
        near = np.hypot(away[:, 0], away[:, 2]) < NEAR
        on_left = away[:, 0] * np.cos(heading) - away[:, 2] * np.sin(heading) > 0
        hands, before = self.animator["hands"], self.reaching[rows]
        for n, (arm, on_side) in enumerate((("left", on_left), ("right", ~on_left))):
            reaching = near & (on_side | before[:, n]) & ~self.reaching[rows, 1 - n]
            if reaching.any():
                hands.reach(arm, target, rows=rows[reaching])
            if (gone := before[:, n] & ~reaching).any():
                hands.release(arm, rows=rows[gone])
            self.reaching[rows, n] = reaching

    # Output.

    @property
    def joints(self) -> Any:
        """(N, J, 3): positions of all joints."""
        return self.frame.world[..., :3, 3]

    def reached(self) -> tuple[float, int, int]:
        """Return the largest distance of a reaching hand from the target, how many are there, and how many reach."""
        report = self.frame.reports["hands"]
        errors = np.asarray(report.error)[self.reaching]
        return float(errors.max(initial=0.0)), int(np.asarray(report.reached)[self.reaching].sum()), len(errors)

    def _pack(self, rows: Any) -> None:
        """Store what the page draws of some characters."""
        position = self.frame.transform[rows, :3, 3]
        self._origins[rows, :3] = position
        matrices = self.frame.palette_of(rows)[:, self._drawn]
        matrices[..., 3] -= position[:, np.newaxis]
        steps = np.clip(matrices.reshape(len(rows), len(DRAWN), 12) * STEPS_A_METRE, -32768, 32767)
        self._palettes[rows] = steps.astype(np.int16)

    def origins(self) -> Any:
        """Return (N, 4), float32: position of each character, and the number of its colouring."""
        return self._origins.copy()

    def palettes(self) -> Any:
        """Return (N, J, 12), int16: 3x4 skinning matrices of the drawn joints, relative to the character's position.

        `STEPS_A_METRE` stand for 1.
        """
        return self._palettes.copy()


def _rings(count: int) -> tuple[Any, Any]:
    """Return radii (N,), metres, and angles (N,), radians, of characters in rings, from the inside out."""
    radii: list[float] = []
    angles: list[float] = []
    radius = INNERMOST
    while len(radii) < count:
        seats = int(2 * math.pi * radius / APART)
        taken = min(seats, count - len(radii))
        radii += [radius] * taken
        angles += [2 * math.pi * n / seats for n in range(taken)]
        radius += APART
    return np.array(radii), np.array(angles)


# --- the ground ------------------------------------------------------------------------------------------------


def hill_height(x: Any, z: Any) -> Any:
    """Return heights of the hills, metres."""
    return HILLS_HEIGHT * np.sin(0.31 * x) * np.cos(0.27 * z) + 0.5 * HILLS_HEIGHT * np.sin(0.17 * x + 0.23 * z)


@cache
def hills() -> HeightField:
    along = np.arange(-HILLS_EXTENT / 2, HILLS_EXTENT / 2 + HILLS_SPACING / 2, HILLS_SPACING)
    heights = hill_height(along[:, np.newaxis], along)
    return HeightField(heights.astype(np.float32), (-HILLS_EXTENT / 2, -HILLS_EXTENT / 2), HILLS_SPACING)


# --- for the page ----------------------------------------------------------------------------------------------


@cache
def packed_ground() -> bytes:
    """Return the hills for the page, as `packed_mesh` packs them."""
    side = round(HILLS_EXTENT / HILLS_SPACING) + 1
    along = np.linspace(-HILLS_EXTENT / 2, HILLS_EXTENT / 2, side)
    x, z = (each.reshape(-1) for each in np.meshgrid(along, along, indexing="ij"))
    corner = np.arange(side * side).reshape(side, side)
    a, b, c, d = (each.reshape(-1) for each in (corner[:-1, :-1], corner[:-1, 1:], corner[1:, 1:], corner[1:, :-1]))
    triangles = np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))
    vertices = np.stack((x, hill_height(x, z), z), axis=-1)
    return packed_mesh(vertices, triangles)


@cache
def packed_level(number: int) -> bytes:
    """Return a level of detail for the page: counts, then its arrays, 32-bit little-endian numbers.

    For each vertex: position, normal, colour, two joints, two weights, and the slot of its colour in
    `palettes_of_looks`, or -1. Then the triangles.
    """
    skin = skin_of(LEVELS[number])
    joints, weights = followed(skin, humanoid().skeleton, DRAWN)
    slots = np.full(len(skin.vertices), -1.0)
    for slot, colour in enumerate(_palette(0)):
        slots[np.abs(skin.colours - colour).max(axis=1) < 1e-4] = slot
    counts = np.array((len(skin.vertices), len(skin.triangles)), "<u4")
    reals = (skin.vertices, skin.normals, skin.colours, joints, weights, slots)
    packed = [np.asarray(array, "<f4").tobytes() for array in reals]
    return b"".join((counts.tobytes(), *packed, skin.triangles.astype("<u4").tobytes()))


def _palette(seed: int) -> list[Any]:
    return [colour for part, colour in colours(sheet("humanoid"), seed).items() if part != "joint"]


def palettes_of_looks() -> list[list[Any]]:
    """Return the colours of each look, by slot."""
    return [_palette(seed) for seed in range(LOOKS)]


def followed(skin: Skin, skeleton: Skeleton, kept: Sequence[str]) -> tuple[Any, Any]:
    """Reduce what a skin follows to the joints named in `kept`: two indices into it, and their shares, (V, 2) each.

    What another joint moves follows the nearest one above it in the list; the first one if there is none.
    """
    index, nearest = {name: n for n, name in enumerate(kept)}, np.zeros(len(skeleton), int)
    for j, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents, strict=True)):
        nearest[j] = index.get(name, nearest[parent] if parent >= 0 else 0)
    shares = np.zeros((len(skin.vertices), len(kept)))
    np.add.at(shares, (np.arange(len(shares))[:, np.newaxis], nearest[skin.joints]), skin.weights)
    most = np.argsort(-shares, axis=1, kind="stable")[:, :2]
    weights = np.take_along_axis(shares, most, axis=1)
    return most, weights / weights.sum(axis=1, keepdims=True)
