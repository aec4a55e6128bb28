"""Thousands of whole characters, or of limbs, in one call per frame, with the time that takes.

Space: metres, y up. Characters walk in rings (`people.py`). Limbs stand in a field; their targets move in waves.
"""

import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from kinema.constants import TOLERANCE
from kinema.demo.scenes.for_views import GROUND, PEOPLE
from kinema.demo.scenes.people import A_DRAGGED_TURN, LEVELS, People, packed_ground, packed_level, palettes_of_looks
from kinema.demo.scenes.people import APART as PEOPLE_APART
from kinema.demo.scenes.people_script import people_script
from kinema.demo.scenes.scene import Choice, Scene, SceneStatus, Slider, clamped_position
from kinema.demo.scenes.script_text import numbers
from kinema.errors import InputError
from kinema.math.arrays import smoothstep
from kinema.solvers.chain.ccd import ccd
from kinema.solvers.chain.fabrik import fabrik
from kinema.solvers.limb.two_bone import two_bone

HEIGHT = 0.9
"""Length of a limb, m."""
APART = 0.62
"""Distance between neighbouring limbs, m."""
FARTHEST = 56.0
"""Largest coordinate of the target, m: half the width of the largest crowd."""
BOUNDS = {"low": [-FARTHEST] * 3, "high": [FARTHEST] * 3}
TARGET_HEIGHT, TARGET_HEIGHT_PEOPLE = 1.1, 1.6
"""Height of the target above the ground, over limbs and over characters, m."""
DECIMALS = 6
"""Of a metre, in scripts."""
CURIOUS = 3.0
"""Distance within which limbs reach for the target, m."""
DRAGGED_FOR = 0.2
"""Seconds after a drag in which another one is expected."""


class CrowdScene(Scene):
    """Characters that walk in rings, or a field of limbs.

    people: None while limbs are shown.
    """

    name = "crowd"
    title = "Crowd"
    about = "Drag the green target through the crowd: everybody looks at it, and those near it reach for it."
    unit = "m"
    by_row = ("origins", "palettes")
    controls: tuple[Any, ...] = (
        Choice("show", "Show", "people", ("people", "limbs"), ("Characters", "Limbs")),
        Slider("count", "How many", 1000, 1, 10000, 1),
        Choice(
            "solver", "Solver", "two_bone", ("two_bone", "fabrik", "ccd"), ("Two-bone", "FABRIK", "CCD"), group="Limbs"
        ),
        Slider("bones", "Bones (not for two-bone)", 5, 3, 8, 1, group="Limbs"),
    )
    help: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Left mouse or a finger", "drag the green target"),
        ("Left mouse beside it", "rotate the view; the wheel or two fingers come nearer"),
    )
    hint = ("target", "Drag this through the crowd")
    needs = ("clips, float32", "feet, float32", "hands, float32", "gaze, float32")

    def __init__(self, seed: int = 0, count: int | None = None) -> None:
        super().__init__(seed)
        self.values["count"] = count or self.values["count"]
        self.target = np.array((0.0, TARGET_HEIGHT, 0.0), np.float32)
        self.wanders = True
        """Whether the target moves by itself."""
        self.waves = 1.0
        """Speed of the wave that the targets move in; 0 for reduced motion."""
        self.solve_ms = 0.0
        self.people: People | None = None
        self._since_drag = DRAGGED_FOR
        """Seconds since the target was dragged."""
        self._begin()
        self.step(0.0)

    def _begin(self) -> None:
        """Create the characters or the limbs."""
        count, shows_people = int(self.values["count"]), self.values["show"] == "people"
        self.people = People(count, self.seed, self.time) if shows_people else None
        self.target[1] = TARGET_HEIGHT_PEOPLE if shows_people else TARGET_HEIGHT
        if self.people is None:
            self._plant(count)
        else:
            self.people.complete(self.time, self.target)

    def _plant(self, count: int) -> None:
        """Position limbs on a jittered square grid, in float32."""
        side = math.ceil(math.sqrt(count))
        grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)[:count]
        positions = (grid - (side - 1) / 2 + np.random.default_rng(self.seed).uniform(-0.3, 0.3, (count, 2))) * APART
        self.roots = np.zeros((count, 3), np.float32)
        self.roots[:, [0, 2]] = positions
        self.bones = 2 if self.values["solver"] == "two_bone" else int(self.values["bones"])
        up = np.linspace(0.0, HEIGHT, self.bones + 1, dtype=np.float32)
        self.rest = np.repeat(self.roots[:, np.newaxis], self.bones + 1, axis=1)
        self.rest[:, :, 1] = up
        self.joints = self.rest
        self.errors = np.zeros(count, np.float32)

    # User input.

    def changed(self, name: str) -> None:
        if self.people is None or name in ("show", "count"):
            self._begin()

    def drag(self, handle: str, position: Sequence[float]) -> None:
        if handle == "target":
            self.wanders = False
            self._since_drag = 0.0
            self.target = clamped_position(position, 3, FARTHEST).astype(np.float32)

    def own_state(self) -> dict[str, Any]:
        return {"target": np.round(self.target.astype(float), DECIMALS).tolist(), "wanders": self.wanders}

    def restore_own(self, own: Mapping[str, Any]) -> None:
        self.target = clamped_position(own["target"], 3, FARTHEST).astype(np.float32)
        self.wanders = bool(own["wanders"])

    def restore_motion(self, motion: Mapping[str, Any]) -> None:
        super().restore_motion(motion)
        self._begin()

    def be_still(self) -> None:
        self.wanders = False
        self.waves = 0.0

    # Time.

    @classmethod
    def rehearsal(cls) -> Scene:
        return cls(count=256)

    def step(self, dt: float) -> None:
        self._pass(dt)
        if self.people is not None:
            self._step_people(self.people, dt)
            return
        self.targets = self._targets()
        began = time.perf_counter()
        if self.values["solver"] == "two_bone":
            lengths = np.full(2, HEIGHT / 2, np.float32)
            limbs = two_bone(self.roots, self.targets, lengths, hint=np.array((0, 0, 1), np.float32))
            self.joints, self.errors = np.stack((self.roots, limbs.mid, limbs.end), axis=1), limbs.error
        else:
            chains = (fabrik if self.values["solver"] == "fabrik" else ccd)(self.rest, self.targets)
            self.joints, self.errors = chains.joints, chains.error
        self.solve_ms = (time.perf_counter() - began) * 1e3

    def _pass(self, dt: float) -> None:
        """Let time pass, and the target with it if it moves by itself."""
        self.time += self.waves * dt
        if self.wanders:  # On a figure of eight through the crowd.
            apart, height = (APART, TARGET_HEIGHT) if self.people is None else (PEOPLE_APART, TARGET_HEIGHT_PEOPLE)
            way, far = 0.35 * self.time, 0.12 * apart * math.sqrt(self.values["count"])
            at = (far * math.sin(way), height + 0.2 * math.sin(3 * way), far * math.sin(2 * way) * 0.7)
            self.target = np.array(at, "f4")

    def answer(self, dt: float) -> Any:
        """Update the characters around the target; the others wait for the next step."""
        if self.people is None:
            return super().answer(dt)
        self._pass(dt)
        return self.people.answer(self.time, dt, self.target)

    def settle(self, dt: float) -> None:
        if self.people is None:
            self.step(0.0)
        else:
            self._step_people(self.people, dt)

    def _step_people(self, people: People, dt: float) -> None:
        """Update characters: fewer at a time while the target is dragged, as `answer` updates those around it."""
        self._since_drag += dt
        a_turn = A_DRAGGED_TURN if self._since_drag < DRAGGED_FOR else None
        people.step(self.time, dt, self.target, self.input_waits, a_turn)
        self.solve_ms = people.milliseconds

    def _targets(self) -> Any:
        """Return (N, 3): targets that move in a wave, or the target for limbs near it."""
        x, z = self.roots[:, 0], self.roots[:, 2]
        phase = np.float32(1.6 * self.time) + 0.8 * x
        height, back = 0.55 + 0.12 * np.cos(phase + z), 0.3 * np.cos(0.7 * phase - 0.9 * z)
        sway = np.stack((0.35 * np.sin(phase), height, back), axis=-1)
        to_target = self.target - self.roots
        far = np.linalg.norm(to_target[:, [0, 2]], axis=-1, keepdims=True)
        curious = smoothstep(np.clip(1.0 - far / np.float32(CURIOUS), 0.0, 1.0))
        return (self.roots + sway * (1.0 - curious) + to_target * curious).astype(np.float32)

    # Output.

    def frame(self) -> dict[str, Any]:
        """target: (3,). solve_ms: milliseconds of the call alone.

        Of limbs, joints: (N, B + 1, 3). Of characters, origins: (N, 4), and palettes: (N, J, 12), as `People` has them.
        """
        shared = {"target": self.target, "solve_ms": np.array([self.solve_ms])}
        if self.people is not None:
            return shared | {"origins": self.people.origins(), "palettes": self.people.palettes()}
        return shared | {"joints": self.joints}

    def description(self) -> dict[str, Any]:
        shown = {"count": int(self.values["count"]), "show": self.values["show"], "bounds": {"target": BOUNDS}}
        if self.people is not None:
            return shown | {"levels": len(LEVELS), "looks": palettes_of_looks()}
        return shown | {"bones": self.bones, "height": HEIGHT}

    def give(self, name: str) -> bytes:
        """Return what the page draws of characters: their levels of detail, and the ground."""
        files = {GROUND: packed_ground} | {PEOPLE.format(n): partial(packed_level, n) for n in range(len(LEVELS))}
        if name not in files:
            raise InputError(f"{self.title} has no file {name!r:.40}")
        return files[name]()

    def status(self) -> SceneStatus:
        if self.people is not None:
            return SceneStatus(*self.people.reached())
        reached = int((self.errors <= TOLERANCE * HEIGHT).sum())
        return SceneStatus(float(self.errors.max()), reached, len(self.roots))

    def python(self) -> str:
        return _script(self) if self.people is None else people_script(self.people, self.time, self.target)


# --- as a script -----------------------------------------------------------------------------------------------


def _script(crowd: CrowdScene) -> str:
    """Write a script that positions all limbs and their targets and solves them in one call."""
    count, bones, solver = len(crowd.roots), crowd.bones, crowd.values["solver"]
    half = HEIGHT / 2
    call = f"km.two_bone(roots, targets, np.full(2, {half:g}, np.float32), hint=np.array((0, 0, 1), np.float32))"
    joints = "np.stack((roots, solved.mid, solved.end), axis=1)"
    if bones > 2:
        call, joints = f"km.{solver}(rest, targets)", "solved.joints"
    return f'''"""{count} limbs, each with a target of its own, in one call. Metres, y up."""

import time

import numpy as np

import kinema as km

# Limbs on a square grid, each moved a little.
side = {math.ceil(math.sqrt(count))}
grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2)[:{count}]
positions = (grid - (side - 1) / 2 + np.random.default_rng({crowd.seed}).uniform(-0.3, 0.3, ({count}, 2))) * {APART}
roots = np.zeros(({count}, 3), np.float32)
roots[:, [0, 2]] = positions
rest = np.repeat(roots[:, np.newaxis], {bones + 1}, axis=1)
rest[:, :, 1] = np.linspace(0, {HEIGHT}, {bones + 1}, dtype=np.float32)

# Targets sway in a wave; limbs near the common target reach for it.
target = np.array({numbers(crowd.target, DECIMALS)}, np.float32)
x, z = roots[:, 0], roots[:, 2]
phase = np.float32({1.6 * crowd.time!r}) + 0.8 * x
height, back = 0.55 + 0.12 * np.cos(phase + z), 0.3 * np.cos(0.7 * phase - 0.9 * z)
sway = np.stack((0.35 * np.sin(phase), height, back), axis=-1)
near = np.clip(1 - np.linalg.norm((target - roots)[:, [0, 2]], axis=-1, keepdims=True) / {CURIOUS:g}, 0, 1)
near = near * near * (3 - 2 * near)
targets = (roots + sway * (1 - near) + (target - roots) * near).astype(np.float32)

began = time.perf_counter()
solved = {call}
seconds = time.perf_counter() - began
joints = {joints}
print(f"{count} limbs of {bones} bones: {{seconds * 1e3:.2f}} ms, {{solved.reached.sum()}} reached")
'''
