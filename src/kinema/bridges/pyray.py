"""raylib: characters as a model that `pyray.draw_model` draws. One upload a frame."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kinema.bridges.surface import Surface
from kinema.stages.animator import Animator, Frame

POSITIONS, NORMALS = 0, 2
"""Numbers of a mesh's buffers in raylib."""


def add(animator: Animator) -> tuple[Any, Callable[[Frame], None]]:
    """Make a model of the characters of an animator, after `pyray.init_window`. Returns the model and a function that
    shows a frame: call it, then `pyray.draw_model(model, (0, 0, 0), 1.0, pyray.WHITE)`.
    """
    import pyray

    surface = Surface.of(animator)
    # Its indices have 16 bits, so triangles get vertices of their own.
    corners = surface.triangles.reshape(-1)
    mesh = pyray.Mesh()
    mesh.vertexCount, mesh.triangleCount = len(corners), len(surface.triangles)
    kept = [np.zeros((len(corners), 3), np.float32), np.zeros((len(corners), 3), np.float32)]
    mesh.vertices, mesh.normals = (_allocated(pyray, "float *", array) for array in kept)
    mesh.colors = _allocated(pyray, "unsigned char *", surface.bytes_of_colours()[corners])
    pyray.upload_mesh(mesh, True)
    model = pyray.load_model_from_mesh(mesh)

    def show(frame: Frame) -> None:
        points = surface.points(frame)
        directions = surface.normals(frame)
        for buffer, values in ((POSITIONS, points), (NORMALS, directions)):
            data = np.ascontiguousarray(values[corners])
            memory = pyray.ffi.cast("void *", pyray.ffi.from_buffer(data))
            pyray.update_mesh_buffer(model.meshes[0], buffer, memory, data.nbytes, 0)

    return model, show


def _allocated(pyray: Any, kind: str, array: Any) -> Any:
    """A copy of an array in memory that raylib frees."""
    data = np.ascontiguousarray(array)
    memory = pyray.mem_alloc(data.nbytes)
    pyray.ffi.memmove(memory, pyray.ffi.from_buffer(data), data.nbytes)
    return pyray.ffi.cast(kind, memory)
