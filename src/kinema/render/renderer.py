"""`Renderer`: draw bodies on their ground in the light of one sun."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kinema.math import arrays
from kinema.render.body import DrawnBody
from kinema.render.camera import PictureCamera, along, axes_looking
from kinema.render.ground_image import GroundImage
from kinema.render.look import Theme
from kinema.render.meshes import Mesh
from kinema.render.raster import facing, fill

VEIL = 0.45
"""Opacity of the skin where bones show through it, 0 to 1."""

SUN = (-0.38, 1.0, 0.40)
"""Direction of the light as seen from the camera: left, up, and from behind it."""

AMBIENT, SKYLIGHT, SUNLIGHT = 0.50, 0.14, 0.58
"""Brightness of a surface as a fraction of its colour: from everywhere, from above, and from the sun. Their sum is a
little more than 1."""

SHINE, SHINE_POWER, SHINE_FROM = 0.12, 24, 0.05
"""Highlight: its brightness, its sharpness, and the least sunlight that makes one."""


DETAIL = 220
"""Pixels of the silhouette per body size."""

LONGEST_SIDE = 2048
"""Pixels: longest side of the silhouette. Larger scenes get less detail."""

SOFT = 4
"""Pixels of the silhouette over which each of two passes blurs its edge, to either side."""


@dataclass(frozen=True)
class Renderer:
    """Everything that stays the same from frame to frame."""

    camera: PictureCamera
    floor: GroundImage
    sun: Any
    theme: Theme
    fine: int
    """Samples per pixel of a body, in each direction."""

    def picture(self, body: DrawnBody) -> Any:
        """Return (height, width, 3), uint8: a body on its ground."""
        meshes = [mesh for mesh in (body.bones, body.skin) if mesh is not None]
        floor = self.floor
        light = np.ones(floor.depth.shape)
        shade = shade_ground(meshes[-1], self.sun, floor.point)
        light.reshape(-1)[floor.shown] -= self.theme.shade * floor.presence * shade
        image = coarse(floor.colour * light[..., np.newaxis], floor.fine)
        for mesh in meshes:
            veiled = mesh is body.skin and body.bones is not None
            image = self._over(image, mesh, VEIL if veiled else 1.0, closed=mesh is body.bones)
        return np.rint(255 * np.clip(image, 0.0, 1.0)).astype(np.uint8)

    def _over(self, image: Any, mesh: Mesh, opacity: float, closed: bool) -> Any:
        """Draw a mesh over an image (height, width, 3), 0 to 1. closed: whether only its front faces are visible."""
        seen, colour = self._visible(mesh, closed)
        height, width = image.shape[:2]
        share = opacity / self.fine**2
        counts = np.bincount(seen, minlength=height * width).reshape(height, width, 1)
        sums = [np.bincount(seen, colour[:, k], height * width).reshape(height, width) for k in range(3)]
        return image * (1.0 - share * counts) + share * np.stack(sums, axis=-1)

    def _visible(self, body: Mesh, closed: bool) -> tuple[Any, Any]:
        """Return the visible samples of a body: the flat index of the pixel of each, (n,), and its colour, (n, 3)."""
        camera = self.camera.finer(self.fine)
        points = camera.project(body.vertices)
        triangles = facing(points, body.triangles) if closed else body.triangles
        fragments = fill(points, triangles, camera.size[::-1])
        normal, colour = (fragments.of(triangles, each) for each in (body.normals, body.colours))
        normal = arrays.unit(normal)
        if not closed:  # The visible side is the front.
            away = along(camera.axes[2:], normal) > 0
            normal = np.where(away, -normal, normal)
        row, column = np.nonzero(fragments.seen)
        ground = self.floor.depth[row * self.floor.fine // self.fine, column * self.floor.fine // self.fine]
        in_front = fragments.depth[row, column] < ground
        kept = (row // self.fine) * self.camera.size[0] + column // self.fine
        return kept[in_front], shaded(colour, normal, self.sun, camera.axes[2])[in_front]


def sun_for(camera: PictureCamera) -> Any:
    """Return the direction (3,) towards the sun, over the camera's shoulder, so that every view is lit alike."""
    right = camera.axes[0]
    behind = arrays.unit(np.cross(right, (0.0, 1.0, 0.0)))
    return arrays.unit(SUN[0] * right + SUN[1] * np.array((0.0, 1.0, 0.0)) + SUN[2] * behind)


def shaded(colour: Any, normal: Any, sun: Any, way: Any) -> Any:
    """Return colours (n, 3) in the light.

    normal: (n, 3). sun: (3,), direction towards it. way: (3,), the camera's direction.
    """
    towards_sun, towards_shine = along(np.stack((sun, arrays.unit(sun - way))), normal).T
    direct = np.clip(towards_sun, 0.0, 1.0)
    shine = SHINE * np.clip(towards_shine, 0.0, 1.0) ** SHINE_POWER * (direct > SHINE_FROM)
    light = AMBIENT + SKYLIGHT * normal[:, 1] + SUNLIGHT * direct
    return colour * light[:, np.newaxis] + shine[:, np.newaxis]


def coarse(image: Any, fine: int) -> Any:
    """Return (height, width, 3): each pixel the mean of `fine` by `fine` samples."""
    height, width, _ = image.shape
    return image.reshape(height // fine, fine, width // fine, fine, 3).mean(axis=(1, 3))


def shade_ground(mesh: Mesh, sun: Any, points: Any) -> Any:
    """Return (n,): how dark the shadow of a mesh is at points (n, 3) of the ground, 0 to 1.

    sun: (3,), direction towards the sun. Ground above the mesh is shaded as ground below it is.
    """
    axes, border = axes_looking(-np.asarray(sun))[:2], 2 * SOFT
    outline, at = along(axes, mesh.vertices), along(axes, points)
    corner = outline.min(axis=0)
    detail = min(DETAIL, LONGEST_SIDE / max(float((outline.max(axis=0) - corner).max()), LONGEST_SIDE / DETAIL))
    outline, at = ((each - corner) * detail + border for each in (outline, at))
    width, height = np.ceil(outline.max(axis=0)).astype(int) + 1 + border
    flat = np.concatenate((outline, np.zeros((len(outline), 1))), axis=1)
    dark = fill(flat, mesh.triangles, (height, width)).seen.astype(float)
    for axis in (0, 1, 0, 1):  # Two box blurs make a tent: no visible edge remains.
        dark = sum(np.roll(dark, k, axis) for k in range(-SOFT, SOFT + 1)) / (2 * SOFT + 1)
    column, row = np.floor(at).astype(np.int64).T
    reached = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    shade = np.zeros(len(points))
    shade[reached] = dark[row[reached], column[reached]]
    return shade
