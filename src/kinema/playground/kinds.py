"""The scenes as the playground plays them: some with what only it can add."""

from __future__ import annotations

from kinema.demo.scenes.character import CharacterScene
from kinema.demo.scenes.registry import kind_of
from kinema.demo.scenes.scene import Scene
from kinema.playground.played_character import PlayedCharacter

PLAYED: dict[type[Scene], type[Scene]] = {CharacterScene: PlayedCharacter}


def kind_played(name: str) -> type[Scene]:
    """A scene's class by its name."""
    kind = kind_of(name)
    return PLAYED.get(kind, kind)
