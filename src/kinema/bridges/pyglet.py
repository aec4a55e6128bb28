"""pyglet: characters as a vertex list of a batch. One upload a frame."""

from collections.abc import Callable
from typing import Any

import numpy as np

from kinema.bridges.surface import Surface
from kinema.stages.animator import Animator, Frame

VERTEX = """#version 330 core
in vec3 position; in vec3 normals; in vec4 colors;
out vec3 direction; out vec4 colour;
uniform WindowBlock { mat4 projection; mat4 view; } window;
void main() {
    direction = normals; colour = colors;
    gl_Position = window.projection * window.view * vec4(position, 1.0);
}"""
FRAGMENT = """#version 330 core
in vec3 direction; in vec4 colour;
out vec4 shown;
void main() {
    float light = 0.45 + 0.55 * max(dot(normalize(direction), normalize(vec3(0.4, 0.8, 0.5))), 0.0);
    shown = vec4(colour.rgb * light, colour.a);
}"""


def add(batch: Any, animator: Animator) -> Callable[[Frame], None]:
    """Add the characters of an animator to a `pyglet.graphics.Batch`, once there is a window. Returns a function that
    shows a frame; the window's `projection` and `view` are the camera. Turn on depth tests, as with `glEnable`.
    """
    from pyglet.gl import GL_TRIANGLES
    from pyglet.graphics import shader

    surface = Surface.of(animator)
    program = shader.ShaderProgram(shader.Shader(VERTEX, "vertex"), shader.Shader(FRAGMENT, "fragment"))
    count = len(surface.colours)
    drawn = program.vertex_list_indexed(
        count,
        GL_TRIANGLES,
        surface.triangles.reshape(-1).tolist(),
        batch,
        position=("f", [0.0] * (3 * count)),
        normals=("f", [0.0] * (3 * count)),
        colors=("Bn", surface.bytes_of_colours().reshape(-1).tolist()),
    )

    def show(frame: Frame) -> None:
        # Asking for an attribute marks it for upload; its memory takes an array, number by number it would be slow.
        np.frombuffer(drawn.position, np.float32)[:] = surface.points(frame).reshape(-1)
        np.frombuffer(drawn.normals, np.float32)[:] = surface.normals(frame).reshape(-1)

    return show
