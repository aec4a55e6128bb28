"""viser: characters in its page. One message a frame."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kinema.bridges.surface import Surface
from kinema.stages.animator import Animator, Frame


def add(server: Any, animator: Animator, name: str = "/characters", *, z_up: bool = True) -> Callable[[Frame], None]:
    """Add the characters of an animator to a `viser.ViserServer`. Returns a function that shows a frame.

    name: of the node in the scene. z_up: whether the scene's z axis points up, as viser's does by default.
    """
    surface = Surface.of(animator)
    start = np.zeros((len(surface.colours), 3), np.float32)
    colour = tuple(int(value) for value in np.round(255 * surface.colours.mean(axis=0)))
    mesh = server.scene.add_mesh_simple(name, start, surface.triangles.astype(np.uint32), color=colour)

    def show(frame: Frame) -> None:
        mesh.vertices = surface.points(frame, z_up)

    return show
