"""rerun: characters in its viewer and its recordings."""

from collections.abc import Callable
from typing import Any

from kinema.bridges.surface import Surface
from kinema.stages.animator import Animator, Frame


def add(recording: Any, animator: Animator, name: str = "characters") -> Callable[[Frame], None]:
    """Add the characters of an animator to a recording: the module `rerun`, or a `rerun.RecordingStream`. Returns a
    function that logs a frame. Set the time before, as with `rerun.set_time`.

    name: path of the entity.
    """
    import rerun

    surface = Surface.of(animator)
    recording.log(name, rerun.ViewCoordinates.RIGHT_HAND_Y_UP, static=True)
    fixed = rerun.Mesh3D.from_fields(
        triangle_indices=surface.triangles.astype("uint32"), vertex_colors=surface.bytes_of_colours()
    )
    recording.log(name, fixed, static=True)

    def show(frame: Frame) -> None:
        points = surface.points(frame)
        recording.log(name, rerun.Mesh3D.from_fields(vertex_positions=points, vertex_normals=surface.normals(frame)))

    return show
