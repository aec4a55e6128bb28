"""Panda3D: characters as a node of its scene graph. One upload a frame."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kinema.bridges.surface import Surface
from kinema.stages.animator import Animator, Frame


def add(parent: Any, animator: Animator, name: str = "characters") -> Callable[[Frame], None]:
    """Add the characters of an animator below a `NodePath`, as `base.render`. Returns a function that shows a frame.

    Panda3D's z axis points up: y becomes z, and characters that face +z face -y. The node is `parent.find(name)`.
    """
    from panda3d import core

    surface = Surface.of(animator)
    data = core.GeomVertexData(name, core.GeomVertexFormat.get_v3n3(), core.Geom.UH_stream)
    data.unclean_set_num_rows(len(surface.colours))
    layout = core.GeomVertexArrayFormat("color", 4, core.Geom.NT_uint8, core.Geom.C_color)
    coloured = core.GeomVertexFormat(core.GeomVertexFormat.get_v3n3())
    coloured.add_array(layout)
    data.set_format(core.GeomVertexFormat.register_format(coloured))
    _fill(data, 1, surface.bytes_of_colours())
    faces = core.GeomTriangles(core.Geom.UH_static)
    faces.set_index_type(core.Geom.NT_uint32)
    faces.add_next_vertices(0)
    indices = faces.modify_vertices()
    indices.unclean_set_num_rows(surface.triangles.size)
    memoryview(indices).cast("B")[:] = np.ascontiguousarray(surface.triangles, np.uint32).tobytes()
    geometry = core.Geom(data)
    geometry.add_primitive(faces)
    node = core.GeomNode(name)
    node.add_geom(geometry)
    node.set_bounds(core.OmniBoundingVolume())  # Its bounds would be computed again in every frame.
    node.set_final(True)
    parent.attach_new_node(node)

    def show(frame: Frame) -> None:
        points = surface.points(frame, z_up=True)
        rows = np.concatenate((points, surface.normals(frame, z_up=True)), axis=1)
        _fill(node.modify_geom(0).modify_vertex_data(), 0, np.ascontiguousarray(rows, np.float32))

    return show


def _fill(data: Any, array: int, values: Any) -> None:
    memoryview(data.modify_array(array)).cast("B")[:] = values.tobytes()
