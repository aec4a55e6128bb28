"""The pictures of the documents: `python docs/pictures/make_pictures.py`.

Everything is triangles with colours and normals, drawn in parallel projection by what `kinema render` draws with.
"""

from pathlib import Path

import numpy as np

import kinema as km
from kinema.bake import BakeSettings, bake
from kinema.bake.grounds import GroundSpec
from kinema.demo import course, humanoid, quadruped, rocks, spider
from kinema.io.images import gif_bytes, png_bytes
from kinema.render.camera import along, axes_looking
from kinema.render.drawing import film, sheet, strip
from kinema.render.look import Look
from kinema.render.meshes import Mesh, joined, smoothed
from kinema.render.raster import fill
from kinema.render.renderer import coarse, shade_ground, shaded

HERE = Path(__file__).parent
SUN = np.array((-0.40, 1.0, 0.75)) / np.linalg.norm((-0.40, 1.0, 0.75))
SKY, EARTH = np.array((0.965, 0.97, 0.98)), np.array((0.80, 0.785, 0.75))
RED = np.array((0.83, 0.25, 0.20))
FINE = 3
"""Pixels drawn for each one kept, in each direction."""
SHADE = 0.5
"""How much darker the earth is in shadow."""


# --- drawing ---------------------------------------------------------------------------------------------------


def picture(bodies: list[Mesh], terrain, earth: Mesh, way: tuple, width: float, size: tuple) -> np.ndarray:
    """(height, width, 3): bodies on the earth, seen along a direction; what of them is in the ground shows through red.

    width: metres across. size: pixels, width and height.
    """
    corners = np.concatenate([mesh.vertices for mesh in bodies])
    centre = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    mesh = joined([earth, *bodies])
    axes, fine = axes_looking(way), FINE * np.array(size)
    scale = fine[0] / width
    points = along(axes, mesh.vertices - centre) * (scale, scale, 1.0) + (*(fine / 2), 0.0)
    shape, bare = (fine[1], fine[0]), len(earth.triangles)
    all_of_it, without_earth = (fill(points, triangles, shape) for triangles in (mesh.triangles, mesh.triangles[bare:]))
    values = (all_of_it.of(mesh.triangles, array) for array in (mesh.vertices, mesh.normals, mesh.colours))
    place, normal, colour = values
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    normal *= np.where(normal @ axes[2] > 0, -1.0, 1.0)[:, np.newaxis]
    image = np.broadcast_to(SKY, (*shape, 3)).copy()
    colour = shaded(colour, normal, SUN, axes[2])
    on_earth = all_of_it.owner[all_of_it.seen] < bare
    colour[on_earth] *= 1.0 - SHADE * shade_ground(joined(bodies), SUN, place[on_earth])[:, np.newaxis]
    image[all_of_it.seen] = colour
    behind = without_earth.of(mesh.triangles[bare:], mesh.vertices)
    deep = behind[:, 1] < terrain.height_and_normal(behind[:, 0], behind[:, 2])[0] - 0.01
    buried = np.zeros(shape, bool)
    buried[without_earth.seen] = deep & (all_of_it.owner[without_earth.seen] < bare)
    image[buried] = 0.35 * image[buried] + 0.65 * RED
    return coarse(np.clip(image, 0, 1), FINE)


def save(path: Path, image: np.ndarray) -> None:
    pixels = np.rint(255 * image).astype(np.uint8)
    path.write_bytes(png_bytes(pixels))
    print(f"{path.name}: {pixels.shape[1]} x {pixels.shape[0]}, {path.stat().st_size // 1024} KB")


# --- what is drawn ---------------------------------------------------------------------------------------------


def body(character: km.Character, palette: np.ndarray) -> Mesh:
    """A character's skin where a palette puts it."""
    skin = character.skins[0]
    mesh = smoothed(skin.deform(palette).astype(float), skin.triangles, SKY)
    return Mesh(mesh.vertices, mesh.triangles, mesh.normals, skin.colours.astype(float))


def block(terrain, start: float, stop: float, half_width: float, depth: float) -> Mesh:
    """A piece of a terrain, cut out like a cake."""
    x = np.linspace(-half_width, half_width, 2 + int(60 * half_width * bool(len(terrain.stones))))
    z = np.unique(terrain.mesh(0.04)[0][:, 2])
    z = np.concatenate(((start,), z[(z > start) & (z < stop)], (stop,)))
    z = np.sort(np.concatenate((z, z[1:-1] - 1e-6)))
    heights = terrain.height_and_normal(x[:, np.newaxis], z)[0]
    bottom = heights.min() - depth
    pieces = []
    top = np.stack(np.broadcast_arrays(x[:, np.newaxis], heights, z), axis=-1)
    pieces.append(_flat_shaded(top, EARTH))
    for side, line in ((0, top[0]), (-1, top[-1])):
        under = line * (1, 0, 1) + (0, bottom, 0)
        pieces.append(_flat_shaded(np.stack((line, under)[:: 1 if side else -1]), EARTH * 0.95))
    for line in (top[:, 0], top[:, -1]):
        under = line * (1, 0, 1) + (0, bottom, 0)
        pieces.append(_flat_shaded(np.stack((line, under)), EARTH * 0.95))
    return joined(pieces)


def _flat_shaded(grid: np.ndarray, colour: np.ndarray) -> Mesh:
    """A grid of points (a, b, 3) as triangles that share no corners, each with a normal of its own."""
    a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
    corners = np.concatenate([np.stack(three, axis=-2).reshape(-1, 3, 3) for three in ((a, b, c), (a, c, d))])
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    corners, normals = corners[np.any(normals != 0, axis=1)], normals[np.any(normals != 0, axis=1)]
    normals = np.repeat(normals / np.linalg.norm(normals, axis=1, keepdims=True), 3, axis=0)
    vertices = corners.reshape(-1, 3)
    return Mesh(vertices, np.arange(len(vertices)).reshape(-1, 3), normals, np.tile(colour, (len(vertices), 1)))


def walked(character: km.Character, terrain, seconds: float, feet: bool, start: float = 0.0) -> list:
    """Palettes and places of every frame at 60 Hz. Without feet the body has the height of the ground below it."""
    stages = [km.Play("walk", root_motion="extract", root="root"), *([km.Feet()] if feet else [])]
    animator = km.Animator(character, stages, ground=terrain)
    animator.set_transform((0.0, float(terrain.height_and_normal(0.0, start)[0]), start))
    frames = []
    for k in range(round(seconds * 60)):
        frame = animator.update(1 / 60 if k else 0.0)
        palette, place = frame.palette.copy(), frame.transform[:3, 3].copy()
        if not feet:
            lift = terrain.height_and_normal(place[0], place[2])[0] - place[1]
            palette[:, 1, 3] += lift
        frames.append((palette, place))
    return frames


def course_strip() -> np.ndarray:
    """The person on slope, stairs and rocks: above by the clip alone, below with its feet on the ground."""
    person, ground = humanoid(), course()
    rows = []
    for feet in (False, True):
        frames = walked(person, ground, 14.0, feet)
        views = ((7.45, -0.55), (11.65, 0.55), (16.1, -0.55))
        rows.append(np.hstack([_course_view(person, ground, frames, *view) for view in views]))
    return np.vstack((rows[0], np.ones((8, rows[0].shape[1], 3)), rows[1]))


def _course_view(person: km.Character, ground, frames: list, middle: float, ahead: float) -> np.ndarray:
    """Two moments of the walk, one metre apart. ahead: how far the eye looks along the way; below 0, against it."""
    places = np.array([place[2] for _, place in frames])
    people = [body(person, frames[int(np.argmin(np.abs(places - z)))][0]) for z in (middle - 0.5, middle + 0.5)]
    earth = block(ground, middle - 1.3, middle + 1.3, 0.55, 0.3)
    return picture(people, ground, earth, (1.0, -0.32, ahead), 2.45, (372, 368))


def stepping() -> np.ndarray:
    """Four moments of a spider that steps by itself over rocks."""
    creature, terrain = spider(), rocks()
    animator = km.Animator(creature, [km.Locomotion()], ground=terrain)
    animator.set_transform((0.0, 0.0, 1.4))
    animator["locomotion"].walk((0.0, 0.0, 0.7))
    frames = [animator.update(1 / 60) for _ in range(330)]
    images = []
    for k in (135, 185, 247, 318):
        z = float(frames[k].transform[2, 3])
        earth = block(terrain, z - 0.95, z + 0.95, 0.8, 0.12)
        images.append(
            picture([body(creature, frames[k].palette)], terrain, earth, (-0.6, -0.55, -0.6), 1.9, (480, 320))
        )
    return np.vstack((np.hstack(images[:2]), np.hstack(images[2:])))


def walk_strip() -> np.ndarray:
    person = humanoid()
    return strip(person, person.clips["walk"], (0.0, 1.0), 7, Look())


def walk_film() -> list[np.ndarray]:
    creature = spider()
    clip = creature.clips["walk"].in_place(joint="root")
    return list(film(creature, clip, (0.0, clip.duration), 25, Look(theme="dark", size=(400, 260))))


def climbing_film() -> list[np.ndarray]:
    """A walk that was baked onto stairs, on them."""
    person, ground = humanoid(), GroundSpec("stairs", (0.17, 0.29, 60)).build()
    climbing = bake(person, "walk", BakeSettings(ground=ground, loops=2)).clip
    return list(film(person, climbing, (0.0, climbing.duration), 12, Look(show="skin", ground=ground, size=(480, 360))))


if __name__ == "__main__":
    save(HERE / "course.png", course_strip())
    save(HERE / "spider.png", stepping())
    (HERE / "strip.png").write_bytes(png_bytes(walk_strip()))
    fox = quadruped()
    (HERE / "sheet.png").write_bytes(png_bytes(sheet(fox, list(fox.clips.values()), 6, Look(show="skin"))))
    (HERE / "walk.gif").write_bytes(gif_bytes(walk_film(), 25))
    (HERE / "stairs.gif").write_bytes(gif_bytes(climbing_film(), 12))
