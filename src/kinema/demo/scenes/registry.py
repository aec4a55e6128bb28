"""All scenes, in the order of their tabs. To add a scene, add a line here and one in `web/src/views.ts`."""

from kinema.demo.scenes.arm import ArmScene
from kinema.demo.scenes.character import CharacterScene
from kinema.demo.scenes.creature import CreatureScene
from kinema.demo.scenes.crowd import CrowdScene
from kinema.demo.scenes.lab import LabScene
from kinema.demo.scenes.planar import PlanarScene
from kinema.demo.scenes.scene import Scene
from kinema.errors import InputError

SCENES: dict[str, type[Scene]] = {
    kind.name: kind for kind in (CharacterScene, CreatureScene, PlanarScene, ArmScene, CrowdScene, LabScene)
}


def scene(name: str, seed: int = 0) -> Scene:
    """Make a scene by name. Raises InputError for an unknown name."""
    return kind_of(name)(seed)


def kind_of(name: str) -> type[Scene]:
    """Return a scene's class by name. Raises InputError for an unknown name."""
    if name not in SCENES:
        raise InputError(f"there is no scene {name!r:.40}; there are {', '.join(SCENES)}")
    return SCENES[name]
