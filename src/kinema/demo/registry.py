"""The scenes of the playground, in the order of their tabs. A new one is a line here, and one in `web/src/views.ts`."""

from __future__ import annotations

from kinema.demo.arm import Arm
from kinema.demo.character import CharacterScene
from kinema.demo.creature import CreatureScene
from kinema.demo.crowd import CrowdScene
from kinema.demo.lab import Lab
from kinema.demo.planar import Planar
from kinema.demo.scene import Scene
from kinema.errors import InputError

SCENES: dict[str, type[Scene]] = {
    kind.name: kind for kind in (Planar, Arm, CharacterScene, CreatureScene, CrowdScene, Lab)
}


def scene(name: str, seed: int = 0) -> Scene:
    """A fresh scene by its name."""
    return kind_of(name)(seed)


def kind_of(name: str) -> type[Scene]:
    """A scene's class by its name."""
    if name not in SCENES:
        raise InputError(f"there is no scene {name!r:.40}; there are {', '.join(SCENES)}")
    return SCENES[name]
