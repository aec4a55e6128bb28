"""Limbs in the plane: two bones in closed form, longer chains by the chain solvers, and a rope.

Space: pixels, origin in the middle of the screen, y down.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from kinema.constants import TOLERANCE
from kinema.demo.scenes.drawn_ground import DrawnGround
from kinema.demo.scenes.scene import Button, Choice, Scene, SceneStatus, Slider, Switch, clamped_position
from kinema.demo.scenes.script_text import numbers
from kinema.errors import InputError
from kinema.physics import Rope2D
from kinema.solvers.chain.ccd import ccd
from kinema.solvers.chain.compensating import compensating
from kinema.solvers.chain.fabrik import fabrik
from kinema.solvers.limb.drawing import draw_limb
from kinema.solvers.limb.two_bone_2d import two_bone_2d

SELECTED, ALL, GROUND = "The outlined leg", "All legs", "Ground"
"""Headings of the controls."""
SOLVERS = {"fabrik": "FABRIK", "ccd": "CCD", "compensating": "Compensating angles"}
"""Solvers of longer chains, and their names on the page."""
LENGTH = 100.0
"""Length of each bone of a new chain, px."""
TARGET_ASIDE = 150.0
"""Distance of a new chain's target to the right of its root, px."""
LENGTHS = (10.0, 250.0)
"""Shortest and longest bone, px."""
MOST_BONES = 24
MOST_CHAINS = 100
FARTHEST = 20_000.0
"""Largest coordinate, px: no screen is larger."""
ROPE_ENDS = ((335.0, -190.0), (75.0, -130.0))
"""Where the rope is held at first, px: its target is clear of the text and the buttons at the top left."""
ROPE_LINKS = 24
ROPE: dict[str, Any] = {"length": 408.0, "gravity": (0.0, 1400.0), "drag": 1.6}
"""Pixels and seconds; y points down. A swing dies away in a few seconds."""
DECIMALS = 3
"""Of a pixel, in scripts."""
PEN = "ground"
"""Handle of a pen beside all targets: it draws ground."""
WANDER = (0.42, 0.68, 0.17)
"""Path of a wandering target: half its width, its depth below the root, half its height, as fractions of the reach."""
WANDER_RATE = 0.8
"""rad/s."""
WANDER_APART = 2.4
"""Phase between neighbouring chains, rad: about the golden angle, so that no two move in step."""


@dataclass
class Chain:
    """One chain."""

    root: Any
    target: Any
    lengths: Any
    """(N,): length of each bone, px."""
    bend: int = 1
    """+1 or -1: the side that a chain of two bones bends to."""
    joints: Any = field(default=None)
    """(N + 1, 2): positions from root to end, px."""
    state: Any = None
    """State of the compensating solver."""
    error: float = 0.0

    def __post_init__(self) -> None:
        if self.joints is None:
            self.straighten()

    def straighten(self) -> None:
        """Lay the chain out straight to the right."""
        along = np.concatenate(([0.0], np.cumsum(self.lengths)))
        self.joints = self.root + along[:, np.newaxis] * np.array((1.0, 0.0))
        self.state = None

    @property
    def reached(self) -> bool:
        return bool(self.error <= TOLERANCE * self.lengths.sum())


class PlanarScene(Scene):
    """Limbs in the plane, with targets to drag."""

    name = "planar"
    title = "Planar limbs"
    about = "Drag a green target: its leg bends to reach it. The sliders change the outlined leg."
    unit = "px"
    controls: tuple[Any, ...] = (
        Slider("length_1", "Upper bone", LENGTH, *LENGTHS, 1, "px", group=SELECTED),
        Slider("length_2", "Other bones", LENGTH, *LENGTHS, 1, "px", group=SELECTED),
        Slider("bones", "Number of bones", 2, 2, MOST_BONES, 1, group=SELECTED),
        Switch("flip", "Bend the other way", False, group=SELECTED),
        Switch("mirror", "Mirror knees", False, group=ALL),
        Choice("solver", "Three bones and more", "fabrik", tuple(SOLVERS), tuple(SOLVERS.values()), group=ALL),
        Switch("wander", "Targets move by themselves", True, group=ALL),
        Switch("sprites", "Legs as sprites", False, group=ALL),
        Switch("rope", "A rope", False, group=ALL),
        Switch("walker", "Draw ground for a walker", False, group=GROUND),
        Button("flatten", "Ground as at first", group=GROUND),
    )
    help: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Left mouse or a finger", "drag a green target"),
        ("N", "a new leg at the pointer, its target 150 px to the right"),
        ("Backspace", "remove the last leg"),
        ("B", "bend the outlined leg the other way"),
        ("M", "mirror knees: they bend towards their targets"),
        ("Draw", 'with "Draw ground for a walker", drag beside the targets: the walker goes over what you draw'),
    )
    hint = ("2", "Drag this target")
    keys = (("n", "New leg"), ("Backspace", "Remove leg"), ("b", "Bend the other way"), ("m", "Mirror knees"))
    needs = ("two_bone_2d, float64",)

    def __init__(self, seed: int = 0, chains: int = 5) -> None:
        super().__init__(seed)
        self.selected = 0
        self.rope: Rope2D | None = None
        self.ground: DrawnGround | None = None
        self.chains = [self._first_chain(i, chains) for i in range(chains)]
        self.step(0.0)

    def _first_chain(self, i: int, count: int) -> Chain:
        """Return one of a row of legs across the screen."""
        x = (i - (count - 1) / 2) * min(140.0, 800.0 / count)
        root = np.array((x, -80.0 + self.draw.uniform(-20.0, 20.0)))
        return Chain(root, root + np.array((10.0, 145.0)), np.array((LENGTH, LENGTH)))

    # User input.

    def changed(self, name: str) -> None:
        if name in ("length_1", "length_2", "bones") and self.chains:
            chain = self.chains[self.selected]
            first, other, bones = (self.values[name] for name in ("length_1", "length_2", "bones"))
            chain.lengths = np.array([first] + [other] * (int(bones) - 1))
            chain.straighten()
        elif name == "flip" and self.chains:
            self.chains[self.selected].bend = -1 if self.values["flip"] else 1
        elif name == "rope":
            self.rope = Rope2D(*ROPE_ENDS, links=ROPE_LINKS, **ROPE) if self.values["rope"] else None
        elif name == "walker":
            self.ground = DrawnGround() if self.values["walker"] else None
        elif name == "flatten" and self.ground:
            self.ground.restore(DrawnGround().state())

    def drag(self, handle: str, position: Sequence[float]) -> None:
        to = clamped_position(position, 2, FARTHEST)
        if handle == PEN:
            if self.ground:
                self.ground.draw(position)
            return
        self._take_over()
        if handle == "rope" and self.rope:
            self.rope.end = to
        elif handle.isdecimal() and int(handle) < len(self.chains):
            self._select(int(handle))
            self.chains[self.selected].target = to

    def drop(self, handle: str) -> None:
        if handle == PEN and self.ground:
            self.ground.lift()

    def _select(self, index: int) -> None:
        """Select a chain and show its lengths and its bend in the panel."""
        if index == self.selected:
            return
        self.selected = index
        chain = self.chains[index]
        lengths = chain.lengths
        shown = {"length_1": float(lengths[0]), "length_2": float(lengths[-1]), "bones": float(len(lengths))}
        shown["flip"] = chain.bend < 0
        self.values |= shown
        self.revision += 1

    def key(self, key: str, position: Sequence[float]) -> None:
        if key == "n" and len(self.chains) < MOST_CHAINS:
            self._take_over()
            root = clamped_position(position, 2, FARTHEST)
            self.chains.append(Chain(root, root + np.array((TARGET_ASIDE, 0.0)), np.array((LENGTH, LENGTH))))
            self._select(len(self.chains) - 1)
            self.revision += 1
        elif key == "Backspace" and self.chains:
            self._take_over()
            self.chains.pop()
            selected = max(min(self.selected, len(self.chains) - 1), 0)
            if self.chains:
                self._select(selected)
            self.selected = selected
            self.revision += 1
        elif key == "b" and self.chains:
            self.set("flip", not self.values["flip"])

    def own_state(self) -> dict[str, Any]:
        chains = [
            {part: np.round(getattr(chain, part), DECIMALS).tolist() for part in ("root", "target", "lengths", "bend")}
            for chain in self.chains
        ]
        end = None if self.rope is None else self.rope.end
        rope = None if end is None else np.round(end, DECIMALS).tolist()
        ground = None if self.ground is None else self.ground.state()
        return {"chains": chains, "selected": self.selected, "rope": rope, "ground": ground}

    def restore_own(self, own: Mapping[str, Any]) -> None:
        chains = [_restored(given) for given in list(own["chains"])[:MOST_CHAINS]]
        for chain, before in zip(chains, self.chains, strict=False):
            if np.array_equal(chain.lengths, before.lengths) and np.array_equal(chain.root, before.root):
                chain.joints, chain.state = before.joints, before.state
        self.chains = chains
        self.selected = min(max(int(own["selected"]), 0), max(len(chains) - 1, 0))
        if self.rope and own.get("rope") is not None:
            self.rope.end = clamped_position(own["rope"], 2, FARTHEST)
        if self.ground and own.get("ground") is not None:
            self.ground.restore(own["ground"])

    def motion(self) -> dict[str, Any]:
        return super().motion() | ({} if self.ground is None else {"walked": self.ground.walked})

    def restore_motion(self, motion: Mapping[str, Any]) -> None:
        super().restore_motion(motion)
        if self.ground and "walked" in motion:
            self.ground.walk_to(motion["walked"])

    # Time.

    def rehearse(self) -> None:
        self.set("bones", 3)
        super().rehearse()

    def step(self, dt: float) -> None:
        self.time += dt
        if self.values["wander"]:
            # Along loops below their roots, within reach.
            for i, chain in enumerate(self.chains):
                phase = WANDER_RATE * self.time + WANDER_APART * i
                reach = chain.lengths.sum()
                way = np.array((WANDER[0] * math.sin(phase), WANDER[1] + WANDER[2] * math.cos(phase)))
                chain.target = chain.root + reach * way
        if self.rope:
            self.rope.step(dt)
        if self.ground:
            self.ground.step(dt)
        self._solve(dt)

    def settle(self, dt: float) -> None:
        if self.rope:
            self.rope.step(0.0)
        if self.ground:
            self.ground.step(0.0)
        self._solve(dt)

    def _solve(self, dt: float) -> None:
        limbs = [chain for chain in self.chains if len(chain.lengths) == 2]
        if limbs:
            self._solve_limbs(limbs)
        for chain in self.chains:
            if len(chain.lengths) > 2:
                if self.values["solver"] == "compensating":
                    moved = compensating(chain.joints, chain.target, chain.state, dt=dt)
                    chain.joints, chain.error, chain.state = moved.joints, float(moved.error), moved.state
                else:
                    solver = fabrik if self.values["solver"] == "fabrik" else ccd
                    solved = solver(chain.joints, chain.target)
                    chain.joints, chain.error = solved.joints, float(solved.error)

    def _solve_limbs(self, limbs: list[Chain]) -> None:
        """Solve all limbs of two bones in one call."""
        roots, targets = np.array([chain.root for chain in limbs]), np.array([chain.target for chain in limbs])
        lengths = np.array([chain.lengths for chain in limbs])
        bends = np.array([chain.bend for chain in limbs], float)
        solved = two_bone_2d(roots, targets, lengths, bend=bends, auto_bend=self.values["mirror"])
        errors = np.linalg.norm(solved.end - targets, axis=-1)
        joints = np.stack((roots, solved.knee, solved.end), axis=1)
        for chain, row, error in zip(limbs, joints, errors.tolist(), strict=True):
            chain.joints, chain.error = row, error

    # Output.

    def frame(self) -> dict[str, Any]:
        """joints: of all chains, one after the other. targets, reached: one row per chain. limbs: see `_sprites`.
        walker: see `DrawnGround.limbs`.
        """
        joints = [chain.joints for chain in self.chains]
        return {
            "joints": np.concatenate(joints) if joints else np.zeros((0, 2)),
            "targets": np.array([chain.target for chain in self.chains]).reshape(-1, 2),
            "reached": np.array([chain.reached for chain in self.chains], float),
            "limbs": self._sprites(),
            "rope": self.rope.joints if self.rope else np.zeros((0, 2)),
            "rope_target": self.rope.end if self.rope else np.zeros(0),
            "ground": self.ground.profile if self.ground else np.zeros((0, 2)),
            "walker": self.ground.limbs() if self.ground else np.zeros((0, 2)),
        }

    def _sprites(self) -> Any:
        """Return (L, 6): position and angle in degrees of both sprites of each two-bone limb, from `draw_limb`."""
        limbs = [chain for chain in self.chains if len(chain.lengths) == 2] if self.values["sprites"] else []
        if not limbs:
            return np.zeros((0, 6))
        targets = np.array([chain.target for chain in limbs])
        roots = np.array([chain.root for chain in limbs])
        bends = np.array([chain.bend for chain in limbs])
        if self.values["mirror"]:
            bends = np.where((targets < roots)[:, 0], -1, 1)
        drawn = draw_limb(roots, targets, np.array([chain.lengths for chain in limbs]), bends)
        angles = (drawn.first_angle[:, np.newaxis], drawn.second_angle[:, np.newaxis])
        return np.hstack((drawn.first, angles[0], drawn.second, angles[1]))

    def description(self) -> dict[str, Any]:
        return {
            "lengths": [chain.lengths.tolist() for chain in self.chains],
            "selected": self.selected,
            "sprites": self.values["sprites"],
            "pen": PEN if self.ground else None,
        }

    def status(self) -> SceneStatus:
        return SceneStatus(
            max((chain.error for chain in self.chains), default=0.0),
            sum(chain.reached for chain in self.chains),
            len(self.chains),
        )

    def python(self) -> str:
        return _script(self.chains, self.values, self.rope, self.ground)


def _restored(given: Mapping[str, Any]) -> Chain:
    """Return a chain from a snapshot, which may come from outside."""
    lengths = np.clip(np.array(given["lengths"], float).reshape(-1)[:MOST_BONES], *LENGTHS)
    if len(lengths) < 2 or not np.isfinite(lengths).all():
        raise InputError("a chain needs two bones at least")
    bend = -1 if float(given["bend"]) < 0 else 1
    root, target = (clamped_position(given[part], 2, FARTHEST) for part in ("root", "target"))
    return Chain(root, target, lengths, bend)


# --- as a script -----------------------------------------------------------------------------------------------


def _script(chains: Any, values: Mapping[str, Any], rope: Any, ground: DrawnGround | None) -> str:
    """Write a script that solves these chains; `joints` then holds every chain."""
    parts = ['"""Limbs in the plane. Pixels, y down: `joints` holds every chain, root to end."""', ""]
    parts += ["import numpy as np", "", "import kinema as km", "", f"joints = [None] * {len(chains)}"]
    limbs = [i for i, chain in enumerate(chains) if len(chain.lengths) == 2]
    if limbs:
        parts += _limb_lines([chains[i] for i in limbs], limbs, values["mirror"])
    for i, chain in enumerate(chains):
        if len(chain.lengths) > 2:
            parts += _chain_lines(i, chain, values["solver"])
    if rope:
        parts += [
            "",
            "# A rope: each link has its length, both ends are where they are held.",
            _array_text("links", rope.joints),
        ]
        parts += [f"rope = km.fabrik(links, target={numbers(rope.end, DECIMALS)}).joints"]
    parts += ground.script() if ground else []
    parts += ["", "for i, chain in enumerate(joints):", '    print(f"chain {i}:", np.round(chain, 2).tolist())', ""]
    return "\n".join(parts)


def _limb_lines(limbs: Any, indices: list[int], mirror: bool) -> list[str]:
    return [
        "",
        "# Two bones: the law of cosines, all limbs in one call.",
        _array_text("roots", [chain.root for chain in limbs]),
        _array_text("targets", [chain.target for chain in limbs]),
        _array_text("lengths", [chain.lengths for chain in limbs]),
        f"bends = {[chain.bend for chain in limbs]}",
        f"limbs = km.two_bone_2d(roots, targets, lengths, bend=bends, auto_bend={mirror})",
        f"for row, i in enumerate({indices}):",
        "    joints[i] = np.array([roots[row], limbs.knee[row], limbs.end[row]])",
    ]


def _chain_lines(i: int, chain: Any, solver: str) -> list[str]:
    call = f"km.{solver}(start, target={numbers(chain.target, DECIMALS)}"
    call += ", steps=0)" if solver == "compensating" else ")"
    return ["", f"# {len(chain.lengths)} bones.", _array_text("start", chain.joints), f"joints[{i}] = {call}.joints"]


def _array_text(name: str, rows: Any) -> str:
    lines = "".join(f"    {numbers(row, DECIMALS)},\n" for row in rows)
    return f"{name} = np.array([\n{lines}])"
