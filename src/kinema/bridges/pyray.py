"""raylib: characters as a model that `pyray.draw_model` draws. One upload for each of its meshes a frame."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kinema.bridges.surface import Surface
from kinema.stages.animator import Animator, Frame

POSITIONS, NORMALS = 0, 2
"""Numbers of a mesh's buffers in raylib."""

CORNERS = 3 * (65_536 // 3)
"""Corners of triangles in a mesh: indices have 16 bits, so it has no more vertices than they can number."""


def add(animator: Animator) -> tuple[Any, Callable[[Frame], None]]:
    """Make a model of the characters of an animator, after `pyray.init_window`. Returns the model and a function that
    shows a frame: call it, then `pyray.draw_model(model, (0, 0, 0), 1.0, pyray.WHITE)`.
    """
    import pyray

    surface = Surface.of(animator)
    corners, colours = surface.triangles.reshape(-1), surface.bytes_of_colours()
    parts = [np.unique(corners[k : k + CORNERS], return_inverse=True) for k in range(0, len(corners), CORNERS)]
    meshes = [_mesh(pyray, colours[used], indices) for used, indices in parts]
    model = pyray.load_model_from_mesh(meshes[0])
    pyray.mem_free(model.meshes)
    pyray.mem_free(model.meshMaterial)
    model.meshCount = len(meshes)
    records = (pyray.ffi.buffer(pyray.ffi.addressof(mesh)) for mesh in meshes)
    model.meshes = _allocated(pyray, "Mesh *", b"".join(records))
    model.meshMaterial = _allocated(pyray, "int *", np.zeros(len(meshes), np.int32))

    def show(frame: Frame) -> None:
        for buffer, values in ((POSITIONS, surface.points(frame)), (NORMALS, surface.normals(frame))):
            for mesh, (used, _) in zip(meshes, parts, strict=True):
                data = values[used]
                memory = pyray.ffi.cast("void *", pyray.ffi.from_buffer(data))
                pyray.update_mesh_buffer(mesh, buffer, memory, data.nbytes, 0)

    return model, show


def _mesh(pyray: Any, colours: Any, indices: Any) -> Any:
    """A mesh on the graphics card whose vertices have these colours and no places yet."""
    mesh = pyray.Mesh()
    mesh.vertexCount, mesh.triangleCount = len(colours), len(indices) // 3
    mesh.vertices, mesh.normals = (
        _allocated(pyray, "float *", np.zeros((len(colours), 3), np.float32)) for _ in range(2)
    )
    mesh.colors = _allocated(pyray, "unsigned char *", colours)
    mesh.indices = _allocated(pyray, "unsigned short *", indices.astype(np.uint16))
    pyray.upload_mesh(mesh, True)
    return mesh


def _allocated(pyray: Any, kind: str, data: Any) -> Any:
    """A copy of an array or of bytes in memory that raylib frees."""
    size = memoryview(data).nbytes
    memory = pyray.mem_alloc(size)
    pyray.ffi.memmove(memory, pyray.ffi.from_buffer(data), size)
    return pyray.ffi.cast(kind, memory)
