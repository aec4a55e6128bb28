"""The scene classes that the playground runs: some are extended by what only the playground can do."""

from __future__ import annotations

from kinema.demo.scenes.character import CharacterScene
from kinema.demo.scenes.registry import kind_of
from kinema.demo.scenes.scene import Scene
from kinema.playground.played_character import PlayedCharacter

PLAYED: dict[type[Scene], type[Scene]] = {CharacterScene: PlayedCharacter}


def kind_played(name: str) -> type[Scene]:
    """Return the class of a scene by its name."""
    kind = kind_of(name)
    return PLAYED.get(kind, kind)
