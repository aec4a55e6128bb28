"""trimesh: characters as a mesh of its scenes, for exports and collision queries."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kinema.bridges.surface import Surface
from kinema.stages.animator import Animator, Frame


def add(scene: Any, animator: Animator, name: str = "characters") -> Callable[[Frame], None]:
    """Add the characters of an animator to a `trimesh.Scene`. Returns a function that shows a frame.

    name: of the geometry in the scene.
    """
    import trimesh

    surface = Surface.of(animator)
    start = np.zeros((len(surface.colours), 3))
    mesh = trimesh.Trimesh(start, surface.triangles, vertex_colors=surface.bytes_of_colours(), process=False)
    scene.add_geometry(mesh, geom_name=name, node_name=name)

    def show(frame: Frame) -> None:
        mesh.vertices = surface.points(frame)

    return show
