"""The pictures of the documents: `python docs/pictures/make_pictures.py`. NumPy and Kinema draw them, zlib packs them.

Everything is triangles with colours and normals, drawn in parallel projection into a depth buffer, once from the light
(for the shadows) and once from the eye.
"""

import struct
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

import kinema as km
from kinema.scenes import course, humanoid, quadruped, spider

HERE = Path(__file__).parent
SUN = np.array((-0.40, 1.0, 0.75)) / np.linalg.norm((-0.40, 1.0, 0.75))
SKY, EARTH = np.array((0.965, 0.97, 0.98)), np.array((0.80, 0.785, 0.75))
RED = np.array((0.83, 0.25, 0.20))
FINE = 3
"""Pixels drawn for each one kept, in each direction."""
SHADOW_DETAIL = 260
"""Pixels of the shadow map a metre."""


class Mesh(NamedTuple):
    """vertices (V, 3), triangles (T, 3), normals (V, 3), colours (V, 3)."""

    vertices: np.ndarray
    triangles: np.ndarray
    normals: np.ndarray
    colours: np.ndarray


# --- drawing ---------------------------------------------------------------------------------------------------


def fill(points: np.ndarray, triangles: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, ...]:
    """The nearest triangle of each pixel (-1: none), the shares of its corners, and the depth.

    points: (V, 3), x to the right, y down, in pixels; depth away from the eye.
    """
    nearest, owner = np.full(shape, np.inf), np.full(shape, -1)
    shares = np.zeros((*shape, 3))
    corners = points[triangles]
    low = np.maximum(np.ceil(corners[..., :2].min(axis=1) - 0.5), 0).astype(int)
    high = np.minimum(np.floor(corners[..., :2].max(axis=1) - 0.5), (shape[1] - 1, shape[0] - 1)).astype(int)
    a, b, c = (corners[:, k, :2] for k in range(3))
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    for k in np.flatnonzero((low <= high).all(axis=1) & (area != 0.0)):
        (x0, y0), (x1, y1) = low[k], high[k]
        x, y = np.arange(x0, x1 + 1) + 0.5, np.arange(y0, y1 + 1)[:, np.newaxis] + 0.5
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = corners[k]
        first = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area[k]
        second = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area[k]
        third = 1.0 - first - second
        depth = first * az + second * bz + third * cz
        window = (slice(y0, y1 + 1), slice(x0, x1 + 1))
        seen = (first >= 0) & (second >= 0) & (third >= 0) & (depth < nearest[window])
        nearest[window][seen], owner[window][seen] = depth[seen], k
        shares[window][seen] = np.stack((first, second, third), axis=-1)[seen]
    return owner, shares, nearest


def axes_looking(way: np.ndarray) -> np.ndarray:
    """(3, 3): rows are right, down and away of an eye that looks this way."""
    way = way / np.linalg.norm(way)
    right = np.cross(way, (0.0, 1.0, 0.0))
    right /= np.linalg.norm(right)
    return np.stack((right, np.cross(way, right), way))


def shadow_map(mesh: Mesh) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    axes = axes_looking(-SUN)
    points = mesh.vertices @ axes.T * (SHADOW_DETAIL, SHADOW_DETAIL, 1.0)
    low = points.min(axis=0) * (1, 1, 0)
    width, height = (np.ceil(np.ptp(points[:, :2], axis=0)) + 1).astype(int)
    return fill(points - low, mesh.triangles, (height, width))[2], axes, low


def lit(shadows: tuple[np.ndarray, ...], points: np.ndarray) -> np.ndarray:
    """0 to 1: how much of the sun points (n, 3) see, with soft edges."""
    depth, axes, low = shadows
    at = points @ axes.T * (SHADOW_DETAIL, SHADOW_DETAIL, 1.0) - low
    light = np.zeros(len(points))
    spread = np.linspace(-5, 5, 5)
    for dx in spread:
        for dy in spread:
            x = np.clip((at[:, 0] + dx).astype(int), 0, depth.shape[1] - 1)
            y = np.clip((at[:, 1] + dy).astype(int), 0, depth.shape[0] - 1)
            light += depth[y, x] > at[:, 2] - 0.03
    return light / spread.size**2


def picture(bodies: list[Mesh], terrain, earth: Mesh, way: tuple, width: float, size: tuple) -> np.ndarray:
    """(height, width, 3): bodies on the earth, seen along a direction; what of them is in the ground shows through red.

    width: metres across. size: pixels, width and height.
    """
    corners = np.concatenate([mesh.vertices for mesh in bodies])
    centre = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    mesh = joined([earth, *bodies])
    axes, fine = axes_looking(np.array(way, float)), FINE * np.array(size)
    scale = fine[0] / width
    points = (mesh.vertices - centre) @ axes.T * (scale, scale, 1.0) + (*(fine / 2), 0.0)
    owner, shares, _ = fill(points, mesh.triangles, (fine[1], fine[0]))
    bare = len(earth.triangles)
    inside, body_shares, _ = fill(points, mesh.triangles[bare:], (fine[1], fine[0]))
    hidden = (inside >= 0) & (owner < bare)
    behind = (mesh.vertices[mesh.triangles[bare + inside[hidden]]] * body_shares[hidden][..., np.newaxis]).sum(axis=1)
    buried = np.zeros_like(hidden)
    buried[hidden] = behind[:, 1] < terrain.height_and_normal(behind[:, 0], behind[:, 2])[0] - 0.01
    seen = owner >= 0
    corners, part = mesh.triangles[owner[seen]], shares[seen][..., np.newaxis]
    place, normal, colour = (
        (array[corners] * part).sum(axis=1) for array in (mesh.vertices, mesh.normals, mesh.colours)
    )
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    normal *= np.where(normal @ axes[2] > 0, -1.0, 1.0)[:, np.newaxis]
    sun = np.clip(normal @ SUN, 0, 1) * lit(shadow_map(mesh), place + 0.004 * normal)
    half = (SUN - axes[2]) / np.linalg.norm(SUN - axes[2])
    shine = 0.10 * np.clip(normal @ half, 0, 1) ** 24 * (sun > 0.05)
    light = 0.50 + 0.14 * normal[:, 1:2] + 0.58 * sun[:, np.newaxis]
    image = np.broadcast_to(SKY, (*owner.shape, 3)).copy()
    image[seen] = colour * light + shine[:, np.newaxis]
    image[buried] = 0.35 * image[buried] + 0.65 * RED
    return np.clip(image, 0, 1).reshape(size[1], FINE, size[0], FINE, 3).mean(axis=(1, 3))


def save(path: Path, image: np.ndarray) -> None:
    """A PNG. Each row is stored as differences to the row above, which pack well."""
    pixels = np.rint(255 * image).astype(np.uint8)
    height, width, _ = pixels.shape
    rows = pixels.reshape(height, width * 3)
    above = np.vstack((np.zeros_like(rows[:1]), rows[:-1]))
    data = np.hstack((np.full((height, 1), 2, np.uint8), rows - above)).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(data, 9)), (b"IEND", b""))
    body = b"".join(struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    print(f"{path.name}: {width} x {height}, {path.stat().st_size // 1024} KB")


# --- what is drawn ---------------------------------------------------------------------------------------------


def joined(meshes: list[Mesh]) -> Mesh:
    offsets = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    triangles = np.concatenate([mesh.triangles + offset for mesh, offset in zip(meshes, offsets, strict=True)])
    parts = (np.concatenate([mesh[k] for mesh in meshes]) for k in (0, 2, 3))
    vertices, normals, colours = parts
    return Mesh(vertices, triangles, normals, colours)


def body(character: km.Character, palette: np.ndarray) -> Mesh:
    """A character's skin where a palette puts it."""
    skin = character.skins[0]
    vertices, triangles = skin.deform(palette).astype(float), skin.triangles
    normals = np.zeros_like(vertices)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    for k in range(3):
        np.add.at(normals, triangles[:, k], np.cross(b - a, c - a))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    return Mesh(vertices, triangles, normals, skin.colours.astype(float))


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
    animator.put((0.0, float(terrain.height_and_normal(0.0, start)[0]), start))
    frames = []
    for k in range(round(seconds * 60)):
        frame = animator.update(1 / 60 if k else 0.0)
        palette, place = frame.palette.copy(), frame.place[:3, 3].copy()
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


def creatures() -> np.ndarray:
    """The four-legged and the eight-legged one on slopes."""
    images = []
    for make, terrain, z, wide in ((quadruped, course(), 7.4, 1.7), (spider, course(), 4.9, 1.25)):
        character = make()
        frames = walked(character, terrain, 13.0, True, start=0.5)
        palette = frames[int(np.argmin(np.abs(np.array([place[2] for _, place in frames]) - z)))][0]
        earth = block(terrain, z - 0.6 * wide, z + 0.6 * wide, 0.4 * wide, 0.12)
        images.append(picture([body(character, palette)], terrain, earth, (1.0, -0.5, -0.75), wide, (480, 340)))
    return np.hstack(images)


if __name__ == "__main__":
    save(HERE / "course.png", course_strip())
    save(HERE / "creatures.png", creatures())
