"""Draw docs/pictures/bridges.png: the same frame in four viewers, and print what `show` costs.

Needs Pillow, panda3d, pyglet, pyray (raylib), mujoco and a screen, which may be virtual.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import kinema as km
from kinema.bridges import mujoco as mujoco_bridge
from kinema.bridges import panda3d as panda3d_bridge
from kinema.bridges import pyglet as pyglet_bridge
from kinema.bridges import pyray as pyray_bridge
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
    """Milliseconds of `show`, the least of some calls."""
    animator = animator_of(count)
    show, frame = show(animator), walked(animator, 2)
    times = []
    for _ in range(12):
        began = time.perf_counter()
        show(frame)
        times.append(time.perf_counter() - began)
    return 1e3 * min(times)


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


def main() -> None:
    viewers = {"MuJoCo": mujoco, "raylib": raylib, "Panda3D": panda3d, "pyglet": pyglet}
    sheet = Image.new("RGB", (SIZE * len(viewers), SIZE + 26), "white")
    for k, (name, draw) in enumerate(viewers.items()):
        picture, costs = draw()
        sheet.paste(picture.resize((SIZE, SIZE)), (k * SIZE, 26))
        ImageDraw.Draw(sheet).text((k * SIZE + 10, 7), name, fill="#333333")
        print(f"{name}: show takes {costs[0]:.2f} ms for 1 character, {costs[1]:.1f} ms for 100")
    path = Path(__file__).with_name("bridges.png")
    sheet.quantize(128).save(path, optimize=True)


if __name__ == "__main__":
    main()
