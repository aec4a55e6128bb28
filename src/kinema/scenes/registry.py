"""The scenes of the playground, in the order of their tabs. A new one is a line here, and one in `web/src/views.ts`."""

from __future__ import annotations

from kinema.errors import InputError
from kinema.scenes.arm import Arm
from kinema.scenes.character import CharacterScene
from kinema.scenes.creature import CreatureScene
from kinema.scenes.crowd import Crowd
from kinema.scenes.lab import Lab
from kinema.scenes.planar import Planar
from kinema.scenes.scene import Scene

SCENES: dict[str, type[Scene]] = {kind.name: kind for kind in (Planar, Arm, CharacterScene, CreatureScene, Crowd, Lab)}


def scene(name: str, seed: int = 0) -> Scene:
    """A fresh scene by its name."""
    return kind_of(name)(seed)


def kind_of(name: str) -> type[Scene]:
    """A scene's class by its name."""
    if name not in SCENES:
        raise InputError(f"there is no scene {name!r:.40}; there are {', '.join(SCENES)}")
    return SCENES[name]
