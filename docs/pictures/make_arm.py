"""The film of the arm that sorts balls: `python docs/pictures/make_arm.py` writes arm.gif."""

from pathlib import Path

import numpy as np

from kinema.demo.scenes.arm import STOOL, ArmScene
from kinema.demo.scenes.sorting import bin_boxes
from kinema.io.images import gif_bytes
from kinema.render.body import DrawnBody
from kinema.render.camera import DrawingSpace, PictureCamera
from kinema.render.ground_image import GroundImage
from kinema.render.look import THEMES
from kinema.render.meshes import Mesh, globe, joined, tube
from kinema.render.renderer import Renderer, sun_for
from kinema.world.plane import Plane

SIZE, VIEW, FPS, SECONDS, START = (400, 280), (24.0, 20.0), 12, 7.0, 1.5
"""Pixels, degrees, frames per second, and the seconds that are shown, from when on."""
BLUE, ORANGE, GREY = (0.25, 0.53, 0.84), (0.91, 0.51, 0.23), (0.55, 0.58, 0.63)


def box(low: np.ndarray, high: np.ndarray, colour: tuple) -> Mesh:
    """A box whose faces share no corners, so that its edges are sharp."""
    vertices, normals = [], []
    for axis in range(3):
        u, v = np.eye(3)[[(axis + 1) % 3, (axis + 2) % 3]]
        for sign in (1.0, -1.0):
            out = sign * np.eye(3)[axis]
            corners = [out - u - sign * v, out + u - sign * v, out + u + sign * v, out - u + sign * v]
            vertices += [0.5 * (low + high) + 0.5 * corner * (high - low) for corner in corners]
            normals += [out] * 4
    first = 4 * np.arange(6)[:, np.newaxis]
    triangles = np.concatenate((first + (0, 1, 2), first + (0, 2, 3)))
    return Mesh(np.array(vertices), triangles, np.array(normals), np.tile(colour, (24, 1)))


def furniture() -> list[Mesh]:
    """The stool and both bins."""
    bins = [box(*wall, colour) for kind, colour in enumerate((BLUE, ORANGE)) for wall in bin_boxes(kind)]
    return [box(*STOOL, GREY), *bins]


def things(scene: ArmScene) -> list[Mesh]:
    """The arm and the balls as they are now."""
    bones = [tube(scene.joints[n : n + 2], (0.035, 0.028), 10, GREY, bulge=0.3) for n in range(len(scene.joints) - 1)]
    knobs = [globe(tuple(joint), 0.05, (0.0, 1.0, 0.0), [(np.pi, GREY)], 12) for joint in scene.joints]
    balls = zip(scene.balls.positions, scene.balls.radii, scene.kinds, strict=True)
    colours = (BLUE, ORANGE)
    return [*bones, *knobs, *(globe(tuple(p), r, (0.0, 1.0, 0.0), [(np.pi, colours[k])], 16) for p, r, k in balls)]


def main() -> None:
    scene, still = ArmScene(seed=3), furniture()
    corners = np.array([(x, y, z) for x in (-1.25, 1.25) for y in (0.0, 1.5) for z in (-1.3, 1.2)])
    camera = PictureCamera.fitted(corners, VIEW, SIZE)
    space, sun, theme = DrawingSpace(np.eye(3), 1.0, 0.0), sun_for(camera), THEMES["light"]
    ground = GroundImage.seen(Plane(), space, camera, 1, sun, corners[np.newaxis], theme)
    renderer = Renderer(camera, ground, sun, theme, 2)
    for _ in range(round(60 * START)):
        scene.step(1 / 60)
    frames = []
    for _ in range(round(SECONDS * FPS)):
        for _ in range(60 // FPS):
            scene.step(1 / 60)
        frames.append(renderer.picture(DrawnBody(joined([*still, *things(scene)]))))
    path = Path(__file__).parent / "arm.gif"
    path.write_bytes(gif_bytes(frames, FPS))
    print(f"{path.name}: {len(frames)} frames, {path.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
