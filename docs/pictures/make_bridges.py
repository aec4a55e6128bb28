"""Draw docs/pictures/bridges.png: the same frame in seven viewers, and measure what characters cost there.

Needs Pillow, playwright with Chromium, all viewers of the bridges, and a screen, which may be virtual. The table of
docs/bridges.md is written anew; `--figures` does that alone.
"""

import shutil
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import kinema as km
from benchmarks import machine
from kinema.bridges import mujoco as mujoco_bridge
from kinema.bridges import panda3d as panda3d_bridge
from kinema.bridges import pyglet as pyglet_bridge
from kinema.bridges import pyray as pyray_bridge
from kinema.bridges import rerun as rerun_bridge
from kinema.bridges import trimesh as trimesh_bridge
from kinema.bridges import viser as viser_bridge
from kinema.demo import humanoid

SIZE = 360
EYE, AT = (2.3, 1.5, 3.2), (0.0, 0.9, 0.45)
"""Camera and what it looks at, metres, y up."""
BACKGROUND = (246, 247, 249)


def animator_of(count=None):
    stages = [km.Play("walk", root_motion="extract", root="root"), km.Feet()]
    animator = km.Animator(humanoid(), stages, ground=0.0, count=count)
    if count:
        animator.set_transform(np.stack((np.arange(count) % 10, np.zeros(count), np.arange(count) // 10), axis=-1))
    return animator


def walked(animator, frames=23):
    return [animator.update(1 / 60) for _ in range(frames)][-1]


def cost(show, count):
    """Milliseconds of a frame, `update` and `show`: of both and of the second alone, the least of 45 frames."""
    animator = animator_of(count)
    show, both, shown = show(animator), [], []
    for _ in range(45):
        began = time.perf_counter()
        frame = animator.update(1 / 60)
        between = time.perf_counter()
        show(frame)
        ended = time.perf_counter()
        both.append(ended - began)
        shown.append(ended - between)
    return 1e3 * min(both), 1e3 * min(shown)


def z_up(point):
    return point[0], -point[2], point[1]


def raylib():
    import pyray

    pyray.set_trace_log_level(pyray.LOG_NONE)
    pyray.init_window(SIZE, SIZE, "kinema")
    animator = animator_of()
    model, show = pyray_bridge.add(animator)
    show(walked(animator))
    camera = pyray.Camera3D(EYE, AT, (0, 1, 0), 30.0, pyray.CAMERA_PERSPECTIVE)
    for _ in range(2):
        pyray.begin_drawing()
        pyray.clear_background((*BACKGROUND, 255))
        pyray.begin_mode_3d(camera)
        pyray.draw_model(model, (0, 0, 0), 1.0, pyray.WHITE)
        pyray.end_mode_3d()
        pyray.end_drawing()
    shot = pyray.load_image_from_screen()
    pixels = bytes(pyray.ffi.buffer(pyray.ffi.cast("char *", shot.data), 4 * shot.width * shot.height))
    picture = Image.frombytes("RGBA", (shot.width, shot.height), pixels).convert("RGB")
    costs = [cost(lambda each: pyray_bridge.add(each)[1], count) for count in (1, 100)]
    pyray.close_window()
    return picture, costs


def panda3d():
    from direct.showbase.ShowBase import ShowBase
    from panda3d import core

    core.load_prc_file_data("", f"window-type offscreen\nwin-size {SIZE} {SIZE}\naudio-library-name null")
    base = ShowBase()
    base.set_background_color(*(value / 255 for value in BACKGROUND))
    animator = animator_of()
    panda3d_bridge.add(base.render, animator)(walked(animator))
    for kind, strength in ((core.AmbientLight, 0.5), (core.DirectionalLight, 0.7)):
        light = kind("light")
        light.set_color((strength,) * 3 + (1,))
        node = base.render.attach_new_node(light)
        node.set_hpr(40, -50, 0)
        base.render.set_light(node)
    base.disable_mouse()
    base.camLens.set_fov(30)
    base.camera.set_pos(*z_up(EYE))
    base.camera.look_at(*z_up(AT))
    base.graphicsEngine.render_frame()
    base.graphicsEngine.render_frame()
    shot = core.PNMImage()
    base.win.get_screenshot(shot)
    with tempfile.TemporaryDirectory() as folder:
        shot.write(core.Filename(str(Path(folder) / "panda.png")))
        picture = Image.open(Path(folder) / "panda.png").convert("RGB")
    costs = [cost(lambda each: panda3d_bridge.add(core.NodePath("root"), each), count) for count in (1, 100)]
    base.destroy()
    return picture, costs


def pyglet():
    import pyglet as library
    from pyglet import gl
    from pyglet.math import Mat4, Vec3

    window = library.window.Window(SIZE, SIZE)
    batch = library.graphics.Batch()
    animator = animator_of()
    pyglet_bridge.add(batch, animator)(walked(animator))
    window.projection = Mat4.perspective_projection(1.0, 0.1, 100.0, 30.0)
    window.view = Mat4.look_at(Vec3(*EYE), Vec3(*AT), Vec3(0, 1, 0))
    gl.glClearColor(*(value / 255 for value in BACKGROUND), 1.0)
    gl.glEnable(gl.GL_DEPTH_TEST)
    window.clear()
    batch.draw()
    shot = library.image.get_buffer_manager().get_color_buffer().get_image_data()
    data = shot.get_data("RGB", -SIZE * 3)
    picture = Image.frombytes("RGB", (SIZE, SIZE), data)
    costs = [cost(lambda each: pyglet_bridge.add(library.graphics.Batch(), each), count) for count in (1, 100)]
    window.close()
    return picture, costs


def mujoco():
    import mujoco as library

    world = "<worldbody><light pos='2 -2 4' dir='-1 1 -2'/></worldbody><visual><global fovy='30'/></visual>"
    model = library.MjModel.from_xml_string(f"<mujoco>{world}</mujoco>")
    data = library.MjData(model)
    library.mj_forward(model, data)
    renderer = library.Renderer(model, SIZE, SIZE)
    camera = library.MjvCamera()
    way = np.subtract(z_up(AT), z_up(EYE))
    camera.lookat[:] = z_up(AT)
    camera.distance = np.linalg.norm(way)
    camera.azimuth, camera.elevation = (
        np.degrees(np.arctan2(way[1], way[0])),
        np.degrees(np.arcsin(way[2] / camera.distance)),
    )
    renderer.update_scene(data, camera)
    animator = animator_of()
    mujoco_bridge.add(renderer.scene, animator)(walked(animator))
    picture = Image.fromarray(renderer.render())
    scene = library.MjvScene(model, maxgeom=10_000)
    costs = [cost(lambda each: mujoco_bridge.add(_emptied(scene), each), count) for count in (1, 100)]
    renderer.close()
    return picture, costs


def _emptied(scene):
    scene.ngeom = 0
    return scene


@contextmanager
def browser():
    """A page of Chromium that draws in software."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--enable-unsafe-swiftshader"]
    path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=flags)
        yield chromium.new_page(viewport={"width": SIZE, "height": SIZE})
        chromium.close()


def shot_of(page):
    with tempfile.TemporaryDirectory() as folder:
        page.screenshot(path=Path(folder) / "page.png")
        return Image.open(Path(folder) / "page.png").convert("RGB")


def viser():
    import viser as library

    server = library.ViserServer(host="127.0.0.1", port=0, verbose=False)
    animator = animator_of()
    server.scene.set_background_image(np.full((4, 4, 3), BACKGROUND, np.uint8))
    show, frame = viser_bridge.add(server, animator), walked(animator)
    show(frame)

    @server.on_client_connect
    def look(client):
        client.camera.position, client.camera.look_at, client.camera.fov = z_up(EYE), z_up(AT), np.radians(30)

    picture = None
    if not FIGURES_ALONE:
        with browser() as page:
            page.goto(f"http://127.0.0.1:{server.get_port()}")
            page.add_style_tag(content="body *:not(canvas):not(:has(canvas)) { visibility: hidden }")  # Its panels.
            page.wait_for_timeout(12_000)
            show(frame)
            page.wait_for_timeout(4_000)
            picture = shot_of(page)
    costs = [cost(lambda each: viser_bridge.add(server, each, f"/{len(each.character.name)}"), n) for n in (1, 100)]
    server.stop()
    return picture, costs


def rerun():
    import rerun as library

    with tempfile.TemporaryDirectory() as folder:
        recording = library.RecordingStream("kinema", make_default=False)
        recording.save(Path(folder) / "walk.rrd")
        costs = [cost(lambda each: rerun_bridge.add(recording, each), count) for count in (1, 100)]
        recording.flush()
    return None, costs


def trimesh():
    import trimesh as library
    from trimesh.viewer.notebook import scene_to_html

    scene, animator, picture = library.Scene(), animator_of(), None
    trimesh_bridge.add(scene, animator)(walked(animator))
    scene.set_camera(fov=(30, 30))
    scene.camera_transform = _looking(np.array(EYE), np.array(AT))
    if not FIGURES_ALONE:
        with browser() as page, tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scene.html"
            path.write_text(scene_to_html(scene))
            page.goto(path.as_uri())
            page.wait_for_timeout(6_000)
            picture = shot_of(page)
    return picture, [cost(lambda each: trimesh_bridge.add(library.Scene(), each), count) for count in (1, 100)]


def _looking(eye, at):
    """A camera's matrix, y up, looking along its own -z."""
    back = (eye - at) / np.linalg.norm(eye - at)
    right = np.cross((0.0, 1.0, 0.0), back)
    right /= np.linalg.norm(right)
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = np.stack((right, np.cross(back, right), back), axis=-1), eye
    return matrix


VIEWERS = {
    "mujoco": mujoco,
    "viser": viser,
    "rerun": rerun,
    "panda3d": panda3d,
    "pyray": raylib,
    "pyglet": pyglet,
    "trimesh": trimesh,
}
FIGURES_ALONE = "--figures" in sys.argv
PAGE = Path(__file__).parents[1] / "bridges.md"
MARKS = "<!-- figures: python docs/pictures/make_bridges.py --figures -->", "<!-- end of the figures -->"


def table(found):
    """The table of the page: what one and a hundred characters cost."""
    about = machine.describe()
    rows = [
        f"| `{name}` | {1e3 / one[0]:,.0f} | {1e3 / many[0]:,.0f} | {one[1]:.2f} ms | {many[1]:.1f} ms |"
        for name, (one, many) in found.items()
    ]
    head = "| viewer | 1 character | 100 characters | `show` of 1 | of 100 |\n| --- | --- | --- | --- | --- |"
    where = (
        f"Measured on {about['cores']} cores of an {about['cpu']}, Python {about['python']}, NumPy {about['numpy']}."
    )
    return "\n".join((head, *rows, "", where))


def main() -> None:
    found, pictures = {}, {}
    for name, draw in VIEWERS.items():
        picture, found[name] = draw()
        if picture is not None:
            pictures[name] = picture
        print(name, found[name], flush=True)
    first, last = MARKS
    text = PAGE.read_text("utf-8")
    before, after = text.split(first)[0], text.split(last)[1]
    PAGE.write_text(f"{before}{first}\n{table(found)}\n{last}{after}", "utf-8")
    if FIGURES_ALONE:
        return
    sheet = Image.new("RGB", (SIZE * 3, 2 * (SIZE + 26)), "white")
    for k, (name, picture) in enumerate(pictures.items()):
        at = SIZE * (k % 3), (SIZE + 26) * (k // 3)
        sheet.paste(picture.resize((SIZE, SIZE)), (at[0], at[1] + 26))
        ImageDraw.Draw(sheet).text((at[0] + 10, at[1] + 7), name, fill="#333333")
    sheet.quantize(128).save(Path(__file__).with_name("bridges.png"), optimize=True)


if __name__ == "__main__":
    main()
