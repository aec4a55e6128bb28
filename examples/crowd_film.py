"""A crowd on hills, drawn offline from its palettes with OpenGL: writes the film crowd.mp4.

    pip install "kinema[video]" moderngl
    apt install libegl1 libgl1-mesa-dri         # Where there is no screen and no driver of a GPU.
    python examples/crowd_film.py --count 100000 --seconds 10

The crowd is animated on an NVIDIA GPU if there is one (the extra `cuda`), else on the CPU. Those near the camera are
drawn with their skin, the others with a box for each bone. Without the extra `video` it writes pictures, crowd_0000.png
and so on.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import kinema as km
from kinema.demo import humanoid
from kinema.io.films import film_bytes
from kinema.io.images import png_bytes

FPS = 25
SIZE = 1280, 720
AREA = 160.0  # Metres from the middle to the sides of the field they walk on.
NEAR, MOST_NEAR = 25.0, 300  # Metres within which people have a skin, and how many of them at most.
SKY = 0.72, 0.80, 0.88

SHADED = """
    #version 330
    uniform mat4 camera;
    uniform vec3 eye, sky;
    out vec3 shade;
    void draw(vec3 at, vec3 normal, vec3 colour) {
        float light = 0.45 + 0.55 * max(dot(normalize(normal), normalize(vec3(0.5, 0.8, 0.3))), 0.0);
        shade = mix(colour * light, sky, 1.0 - exp(-distance(at, eye) / 160.0));
        gl_Position = camera * vec4(at, 1.0);
    }
"""

PEOPLE = """
    uniform sampler2D palettes;  // Three texels a joint: the rows of its matrix.
    uniform int joints, in_a_row;
    in vec3 position, normal, colour;
    in ivec4 bones;
    in vec4 weights;
    in int who;
    void main() {
        vec4 rows[3] = vec4[3](vec4(0.0), vec4(0.0), vec4(0.0));
        for (int k = 0; k < 4; k++) {
            int first = (who % in_a_row * joints + bones[k]) * 3;
            for (int c = 0; c < 3; c++)
                rows[c] += weights[k] * texelFetch(palettes, ivec2(first + c, who / in_a_row), 0);
        }
        vec4 p = vec4(position, 1.0), n = vec4(normal, 0.0);
        vec3 tint = 0.6 + 0.6 * fract(vec3(0.618, 0.414, 0.732) * float(who + 1));
        draw(vec3(dot(rows[0], p), dot(rows[1], p), dot(rows[2], p)),
             vec3(dot(rows[0], n), dot(rows[1], n), dot(rows[2], n)), colour * tint);
    }
"""

GROUND = """
    in vec3 position, normal;
    void main() { draw(position, normal, vec3(0.52, 0.60, 0.42)); }
"""

PIXEL = "#version 330\nin vec3 shade; out vec4 pixel; void main() { pixel = vec4(sqrt(shade), 1.0); }"


def hills() -> km.HeightField:
    """Gentle hills under the crowd."""
    along = np.arange(201) * 2.0
    heights = 1.2 * np.sin(0.05 * along[:, None]) * np.cos(0.041 * along) + 0.1 * np.sin(0.7 * along + along[:, None])
    return km.HeightField(heights, (-200.0, -200.0), 2.0)


def walking_crowd(count: int, ground: km.HeightField) -> km.Animator:
    """People who walk towards the camera, each at another phase, on a GPU if there is one."""
    draw = np.random.default_rng(0)
    stages = [km.Play("walk", root_motion="extract", time=draw.uniform(0.0, 1.0, count)), km.Feet(), km.Head()]
    try:
        crowd = km.Animator(humanoid(), stages, ground=ground, count=count, device="cuda")
    except km.DeviceError as problem:
        print(f"animated on the CPU: {problem}")
        crowd = km.Animator(humanoid(), stages, ground=ground, count=count)
    crowd.set_transform(draw.uniform((-AREA, 0.0, -AREA), (AREA, 0.0, AREA), (count, 3)).astype(np.float32))
    crowd.look_at((0.0, 4.0, AREA))
    return crowd


def on_host(array) -> np.ndarray:
    """An array of a frame, wherever it is."""
    return array.copy_to_host() if hasattr(array, "copy_to_host") else array


# --- what is drawn ---------------------------------------------------------------------------------------------


def boxes(skeleton: km.Skeleton, head: int) -> tuple[np.ndarray, np.ndarray]:
    """A box for every long bone, and one for the head: vertices of `LAYOUT`, six sides of two triangles each."""
    at = skeleton.rest_world[:, :3, 3]
    bones = [(p, at[p], at[j]) for j, p in enumerate(skeleton.parents) if p > 0 and np.ptp([at[p], at[j]]) > 0.06]
    bones.append((head, at[head], at[head] + (0.0, 0.2, 0.0)))
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    sides = [(c, sign) for c in range(3) for sign in (-1, 1)]
    vertices, triangles = [], []
    for joint, start, end in bones:
        along = end - start
        length = np.linalg.norm(along)
        y = along / length
        x = np.cross(y, (0.0, 0.0, 1.0) if abs(y[2]) < 0.9 else (1.0, 0.0, 0.0))
        x /= np.linalg.norm(x)
        axes, half = (
            np.stack((x, y, np.cross(x, y))),
            (max(0.13 * length, 0.045), 0.5 * length, max(0.13 * length, 0.045)),
        )
        for c, sign in sides:
            first = len(vertices)
            for corner in corners[corners[:, c] == sign]:
                where = (start + end) / 2 + (corner * half) @ axes
                vertices.append((where, sign * axes[c], (0.45, 0.45, 0.48), (joint, 0, 0, 0), (1.0, 0.0, 0.0, 0.0)))
            triangles += [(first, first + 1, first + 2), (first + 1, first + 3, first + 2)]
    return np.array(vertices, LAYOUT), np.array(triangles, np.int32)


LAYOUT = np.dtype(
    [("position", "f4", 3), ("normal", "f4", 3), ("colour", "f4", 3), ("bones", "i4", 4), ("weights", "f4", 4)]
)
"""A vertex that follows up to four joints."""


def skinned(skin: km.Skin) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of a skin."""
    vertices = np.zeros(len(skin.vertices), LAYOUT)
    vertices["position"], vertices["normal"], vertices["colour"] = skin.vertices, skin.normals, skin.colours
    vertices["bones"], vertices["weights"] = skin.joints, skin.weights
    return vertices, np.asarray(skin.triangles, np.int32)


def terrain(ground: km.HeightField) -> tuple[np.ndarray, np.ndarray]:
    """The ground as a grid of triangles."""
    side = np.arange(-198.0, 198.1, 2.0)
    x, z = np.meshgrid(side, side, indexing="ij")
    found = ground.cast(np.stack((x, 0 * x + 50.0, z), axis=-1), (0.0, -1.0, 0.0), 100.0)
    vertices = np.zeros(x.size, [("position", "f4", 3), ("normal", "f4", 3)])
    vertices["position"], vertices["normal"] = found.point.reshape(-1, 3), found.normal.reshape(-1, 3)
    n = np.arange(x.size).reshape(x.shape)
    a, b, c, d = n[:-1, :-1].ravel(), n[:-1, 1:].ravel(), n[1:, :-1].ravel(), n[1:, 1:].ravel()
    return vertices, np.concatenate((np.stack((a, b, c), -1), np.stack((c, b, d), -1))).astype(np.int32)


def camera_at(seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """The matrix of the camera, which rises slowly, and where it is."""
    eye = np.array((6.0 * np.sin(0.15 * seconds), 5.0 + 0.5 * seconds, 0.55 * AREA))
    ahead = np.array((0.0, -4.0, 0.2 * AREA)) - eye
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, (0.0, 1.0, 0.0))
    right /= np.linalg.norm(right)
    view = np.eye(4)
    view[:3, :3] = right, np.cross(right, ahead), -ahead
    view[:3, 3] = -view[:3, :3] @ eye
    near, far, focal = 0.3, 800.0, 1.6
    lens = np.diag((focal * SIZE[1] / SIZE[0], focal, (near + far) / (near - far), 0.0))
    lens[2, 3], lens[3, 2] = 2 * near * far / (near - far), -1.0
    return lens @ view, eye


class Drawing:
    """OpenGL without a window."""

    def __init__(self, count: int, character: km.Character, ground: km.HeightField) -> None:
        import moderngl

        self.gl = gl = moderngl.create_context(standalone=True, backend="egl")
        gl.enable(moderngl.DEPTH_TEST)
        joints = len(character.skeleton)
        self.in_a_row = min(count, gl.info["GL_MAX_TEXTURE_SIZE"] // (3 * joints))
        size = 3 * joints * self.in_a_row, -(-count // self.in_a_row)
        if size[1] > gl.info["GL_MAX_TEXTURE_SIZE"]:
            sys.exit(f"{count} palettes do not fit into one texture of this driver")
        self.palettes = gl.texture(size, 4, dtype="f4")
        self.texels = np.zeros((size[1] * self.in_a_row, joints, 3, 4), np.float32)
        people, land = (gl.program(vertex_shader=SHADED + rest, fragment_shader=PIXEL) for rest in (PEOPLE, GROUND))
        people["joints"], people["in_a_row"] = joints, self.in_a_row
        self.programs = people, land
        self.who = [gl.buffer(reserve=4 * max(number, 1)) for number in (MOST_NEAR, count)]
        meshes = skinned(character.skins[0]), boxes(character.skeleton, int(character.rig.head))
        self.crowd = [
            gl.vertex_array(
                people,
                [(gl.buffer(vertices), "3f 3f 3f 4i 4f", *LAYOUT.names), (who, "1i/i", "who")],
                gl.buffer(triangles),
            )
            for (vertices, triangles), who in zip(meshes, self.who, strict=True)
        ]
        vertices, triangles = terrain(ground)
        self.land = gl.vertex_array(land, [(gl.buffer(vertices), "3f 3f", "position", "normal")], gl.buffer(triangles))
        self.target = gl.simple_framebuffer(SIZE)
        self.target.use()

    def draw(self, frame: km.Frame, seconds: float) -> np.ndarray:
        """Draw one frame. Returns the picture, (height, width, 3)."""
        camera, eye = camera_at(seconds)
        palette = on_host(frame.palette)
        self.texels[: len(palette)] = palette
        self.palettes.write(self.texels)
        self.palettes.use()
        for program in self.programs:
            program["camera"].write(np.ascontiguousarray(camera.T, np.float32))
            program["eye"], program["sky"] = tuple(eye), SKY
        self.target.clear(*np.sqrt(SKY))
        self.land.render()
        for mesh, buffer, who in zip(self.crowd, self.who, self._visible(frame, camera, eye), strict=True):
            if who.size:
                buffer.write(who.astype(np.int32))
                mesh.render(instances=who.size)
        picture = np.frombuffer(self.target.read(components=3), np.uint8)
        return picture.reshape(SIZE[1], SIZE[0], 3)[::-1]

    def _visible(self, frame: km.Frame, camera: np.ndarray, eye: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Who is before the camera: those near it, and the others."""
        at = on_host(frame.transform)[:, :3, 3] + (0.0, 1.0, 0.0)
        seen = at @ camera[:, :3].T + camera[:, 3]
        ahead = np.flatnonzero((np.abs(seen[:, 0]) < seen[:, 3] + 2.0) & (seen[:, 3] > -2.0))
        away = np.linalg.norm(at[ahead] - eye, axis=-1)
        order = ahead[np.argsort(away, kind="stable")]
        near = min(int((away < NEAR).sum()), MOST_NEAR)
        return order[:near], order[near:]


def pictures(count: int, frames: int):
    """Every picture of the film."""
    ground = hills()
    crowd = walking_crowd(count, ground)
    drawing = Drawing(count, crowd.character, ground)
    print(f"drawn by {drawing.gl.info['GL_RENDERER']}")
    for n in range(frames):
        yield drawing.draw(crowd.update(1 / FPS), n / FPS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="people; default 100000")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of the film; default 10")
    options = parser.parse_args()
    try:
        import moderngl  # noqa: F401
    except ImportError:
        sys.exit("this example needs moderngl: pip install moderngl")
    frames = max(1, round(options.seconds * FPS))
    every = pictures(options.count, frames)
    try:
        import imageio_ffmpeg  # noqa: F401
    except ImportError:
        for n, picture in enumerate(every):
            Path(f"crowd_{n:04}.png").write_bytes(png_bytes(picture))
        print(f"{frames} pictures, crowd_0000.png and on")
        return
    Path("crowd.mp4").write_bytes(film_bytes(every, FPS, ".mp4"))
    print(f"crowd.mp4: {options.count:,} people, {frames} frames")


if __name__ == "__main__":
    main()
