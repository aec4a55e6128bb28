"""A character, ours or from a file, that walks over uneven ground. Its hands, feet and gaze can be dragged.

Space: the character's unit, y up. The ground is scaled to its legs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from kinema.demo.characters.humanoid import humanoid
from kinema.demo.characters.quadruped import quadruped
from kinema.demo.characters.spider import spider
from kinema.demo.scenes import character_kernels, grounds
from kinema.demo.scenes.actor import Actor, clip_motion, joints_by_role
from kinema.demo.scenes.character_files import loaded, model, packed
from kinema.demo.scenes.character_script import script
from kinema.demo.scenes.scene import Button, Choice, Control, Scene, Slider, Status, Switch, clamped_position
from kinema.demo.scenes.walker import Walker
from kinema.rig import Rig

OURS = {"humanoid": humanoid, "quadruped": quadruped, "spider": spider}
LABELS = {"humanoid": "Person", "quadruped": "Fox", "spider": "Spider"}
"""Our characters as the page names them."""
FARTHEST = 20.0
"""Largest distance of a handle from the character, metres for a person."""
REACHED = 2e-3
"""Distance from its handle at which a limb counts as there, metres for a person."""
MODEL, GROUND = "model.glb", "ground.bin"
"""Files that the page draws."""
AT_REST = "at rest"
"""Shown for a character without clips."""
SHOWN = {"with IK": "With IK", "both": "Both", "without IK": "Clip alone"}
"""What can be shown, and how the page says it."""
WEIGHTS = {
    "play": "Clip",
    "breathing": "Breathing",
    "feet": "Feet on the ground",
    "hands": "Hands to their rings",
    "head": "Head to the gaze",
    "eyes": "Eyes to the gaze",
}
WEIGHTS_GROUP, WALK_GROUP, SHOW_GROUP = "How much each part does", "Walk", "Show"
"""Headings of the controls."""


class CharacterScene(Scene):
    """One character and its stages."""

    shows: int
    walker: Walker

    name = "character"
    title = "Character"
    about = "Drag a hand, a foot or the gaze. Drop a GLB, VRM or BVH file here to bring your own character."
    unit = "m"
    takes: ClassVar[tuple[str, ...]] = (".glb", ".gltf", ".vrm", ".bvh")
    judge = staticmethod(clip_motion)
    """Finds how the clips of a file travel."""
    controls: tuple[Control, ...] = ()
    help: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Left mouse or a finger", "drag a hand, a foot, or the gaze ahead of the head"),
        ("Double-click a ring", "release it"),
        ("Backspace", "release all handles"),
        ("Drag beside it", "rotate the view; wheel or two fingers: nearer and farther"),
        ("Drop a file", ".glb, .vrm, .bvh, or a .gltf in one piece; it does not leave this machine"),
    )

    hint = ("hand left", "Grab this hand and pull")
    keys = (("Backspace", "Release all handles"),)

    def __init__(self, seed: int = 0, guest: Actor | None = None) -> None:
        super().__init__(seed)
        self.guest = guest
        self._still = False
        self.shows = 0
        """Number of characters shown so far."""
        self._show(self._begin(guest or self._actor("humanoid")))

    def _actor(self, label: str) -> Actor:
        if self.guest is not None and label == self.guest.label:
            return self.guest
        return Actor(OURS[label](), root="root")

    def fresh(self) -> Scene:
        """Return a new scene that keeps a character from a file."""
        return type(self)(self.seed, self.guest)

    # Files.

    def receive(self, name: str, data: bytes) -> None:
        self.welcome(Actor(loaded(name, data), file=name, judge=self.judge))

    def give(self, name: str) -> bytes:
        """`MODEL`: the current character's skin as glTF. `GROUND`: see `packed`."""
        if name == MODEL:
            return model(self.walker.actor)
        if name == GROUND:
            return packed(self.walker.ground)
        return super().give(name)

    # Character and ground.

    def welcome(self, guest: Actor) -> None:
        """Show a character from a file. If that fails, nothing changes."""
        walker = self._begin(guest)
        self.guest = guest
        self._show(walker)
        self.revision += 1

    def _begin(self, actor: Actor) -> Walker:
        """Return a walker at the start of the current ground."""
        speed, weights = (0.0, {"breathing": 0.0}) if self._still else (1.0, {})
        clip = actor.clips.get(_first_clip(actor))
        return Walker(actor, self.values.get("ground", "course"), clip, weights, speed=speed, still=self._still)

    def _show(self, walker: Walker) -> None:
        """Show a walker and its controls."""
        self.walker, actor = walker, walker.actor
        self.shows += 1
        self.controls = self._controls()
        own = {"character": actor.label, "ground": walker.ground, "clip": _first_clip(actor), "speed": walker.speed}
        own |= {"bones": not actor.has_surface, **walker.weights}
        self.values = {control.name: own.get(control.name, control.value) for control in self.controls}

    def _controls(self) -> tuple[Control, ...]:
        """Return the controls of the current character."""
        walker = self.walker
        actors = tuple(OURS) if self.guest is None else (self.guest.label, *OURS)
        clips = tuple(walker.actor.clips) or (AT_REST,)
        stages = [
            Slider(name, label, 1.0, 0.0, 1.0, 0.01, group=WEIGHTS_GROUP)
            for name, label in WEIGHTS.items()
            if name in walker.stage_names
        ]
        names = tuple(LABELS.get(actor, actor) for actor in actors)
        return (
            Choice("character", "Character", actors[0], actors, names, group=WALK_GROUP),
            Choice("ground", "Ground", "course", grounds.NAMES, grounds.LABELS, group=WALK_GROUP),
            Choice("clip", "Clip", clips[0], clips, group=WALK_GROUP),
            Slider("speed", "Speed", 1.0, 0.0, 2.0, 0.05, group=WALK_GROUP),
            Choice("show", "Motion", next(iter(SHOWN)), tuple(SHOWN), tuple(SHOWN.values()), group=SHOW_GROUP),
            Switch("bones", "Bones and roles", False, group=SHOW_GROUP),
            *stages,
            Button("let_go", "Release all handles"),
        )

    # User input.

    def changed(self, name: str) -> None:
        value = self.values[name]
        if name == "character":
            self._show(self._begin(self._actor(value)))
        elif name == "ground":
            self.walker.move_to(value)
        elif name == "clip":
            self.walker.play(self.walker.actor.clips.get(value))
        elif name == "speed":
            self.walker.set_speed(value)
        elif name in WEIGHTS:
            self.walker.set_weight(name, value)
        elif name == "let_go":
            self.walker.held.let_go()

    def drag(self, handle: str, position: Sequence[float]) -> None:
        """position: relative to the origin of the character's space, along the world's axes."""
        away = clamped_position(position, 3, FARTHEST * self.walker.actor.size)
        turn = np.asarray(self.walker.frame.transform[:3, :3], float)
        self.walker.held.take(handle, turn.T @ away)

    def release(self, handle: str) -> None:
        self.walker.held.release(handle)

    def own_state(self) -> dict[str, Any]:
        places = self.walker.held.places
        return {"held": {handle: np.round(place, 6).tolist() for handle, place in places.items()}}

    def restore_own(self, own: Mapping[str, Any]) -> None:
        far, held = FARTHEST * self.walker.actor.size, self.walker.held
        places = {str(handle): clamped_position(place, 3, far) for handle, place in own["held"].items()}
        held.let_go()
        for handle, place in places.items():
            held.take(handle, place)

    def key(self, key: str, position: Sequence[float]) -> None:
        if key == "Backspace":
            self.walker.held.let_go()

    def be_still(self) -> None:
        self._still = True
        self._show(self._begin(self.walker.actor))
        self.revision += 1

    # Time.

    @classmethod
    def kernels(cls) -> Mapping[str, Callable[[], Any]]:
        return character_kernels.first()

    @classmethod
    def later_kernels(cls) -> Mapping[str, Callable[[], Any]]:
        return character_kernels.later()

    def step(self, dt: float) -> None:
        self.walker.step(dt)

    def settle(self, dt: float) -> None:
        self.walker.settle(dt)

    # Output.

    def frame(self) -> dict[str, Any]:
        """world, alone: (J, 12), a 3x4 matrix per joint, with all stages and with the clip alone; empty if hidden.
        handles: (H, 3). held: (H,), whether each is dragged. origin: (3,), of the character's space. middle:
        (3,), what the camera looks at.
        """
        walker, none = self.walker, np.zeros((0, 12))
        held = walker.held
        return {
            "world": _rows(walker.world),
            "alone": none if self.values["show"] == "with IK" else _rows(walker.alone),
            "handles": held.shown(walker.frame, walker.world),
            "held": np.array([handle in held.places for handle in held.grips], float),
            "origin": walker.frame.transform[:3, 3],
            "middle": walker.middle,
        }

    def description(self) -> dict[str, Any]:
        actor, rig = self.walker.actor, self.walker.character.rig
        return {
            "model": self.shows,
            "name": actor.name,
            "title": LABELS.get(actor.label, actor.name),
            "guest": bool(actor.file),
            "surface": actor.has_surface,
            "nodes": actor.nodes,
            "parents": actor.character.skeleton.parents.tolist(),
            "size": actor.size,
            "extent": actor.extent,
            "ground": self.values["ground"],
            "handles": [[handle, grip.joint] for handle, grip in self.walker.held.grips.items()],
            "bounds": {"*": {"low": [-FARTHEST * actor.size] * 3, "high": [FARTHEST * actor.size] * 3}},
            "show": self.values["show"],
            "bones": self.values["bones"],
            "roles": [] if rig is None else _roles(rig),
            "doubts": ["No legs, arms or head were found in it."] if rig is None else list(rig.doubts)[:8],
        }

    def status(self) -> Status:
        errors = [error / self.walker.actor.size for error in self.walker.errors()]
        return Status(max(errors, default=0.0), sum(error <= REACHED for error in errors), len(errors))

    def python(self) -> str:
        return script(self.walker)


def _first_clip(actor: Actor) -> str:
    """Return the first clip to play: a walk, if there is one."""
    clips = list(actor.clips) or [AT_REST]
    return next((clip for clip in clips if "walk" in clip.lower()), clips[0])


def _rows(world: Any) -> Any:
    return world[:, :3].reshape(-1, 12)


def _roles(rig: Rig) -> list[dict[str, Any]]:
    """Return the joints of each role and its confidence: 0 to 1, None if it was given."""
    found = joints_by_role(rig).items()
    return [{"name": name, "joints": joints, "confidence": rig.confidence.get(name)} for name, joints in found]
