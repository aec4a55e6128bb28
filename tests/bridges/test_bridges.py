"""Bridges to viewers: what a viewer gets is the surface in its own axes. A viewer that is not installed is skipped."""

import importlib
import os

import numpy as np
import pytest

import kinema as km
from kinema.bridges.surface import Surface
from kinema.demo import humanoid
from tests.assets import asset

CLIP = "walk"


def animated(count=None):
    animator = km.Animator(
        humanoid(), [km.Play(CLIP, root_motion="extract", root="root"), km.Feet()], ground=0.0, count=count
    )
    return animator, [animator.update(1 / 60) for _ in range(20)][-1]


def by_hand(animator, frame, row=...):
    """The vertices of one character, one skin after the other."""
    return np.concatenate([skin.deform(np.asarray(frame.palette)[row]) for skin in animator.character.skins])


def bridge(name):
    pytest.importorskip(name)
    return importlib.import_module(f"kinema.bridges.{name}")


def test_a_surface_has_the_vertices_of_all_characters():
    animator, frame = animated(count=3)
    surface = Surface.of(animator)
    points = surface.points(frame).reshape(3, -1, 3)
    for row in range(3):
        np.testing.assert_allclose(points[row], by_hand(animator, frame, row), atol=1e-5)
    assert surface.triangles.max() == len(surface.colours) - 1 == points.size // 3 - 1


def test_z_up_turns_a_character_that_faces_z_to_minus_y():
    animator, frame = animated()
    points, turned = (Surface.of(animator).points(frame, z_up) for z_up in (False, True))
    np.testing.assert_allclose(turned, np.stack((points[:, 0], -points[:, 2], points[:, 1]), axis=-1), atol=1e-6)


def test_normals_of_a_closed_surface_point_outwards():
    animator, frame = animated()
    surface = Surface.of(animator)
    points = surface.points(frame).astype(float)
    inwards = points - 1e-4 * surface.normals(frame)

    def volume(at):
        a, b, c = (at[surface.triangles[:, k]] for k in range(3))
        return np.einsum("tc,tc->", a, np.cross(b, c))

    assert volume(inwards) < volume(points)


def test_a_character_without_skin_shows_its_bones():
    character = km.load(asset("bvh/cmu_02_01.bvh"))
    animator = km.Animator(character, [km.Play(next(iter(character.clips)))])
    frame = animator.update(1 / 60)
    points = Surface.of(animator).points(frame)
    joints = np.asarray(frame.world)[:, :3, 3]
    nearest = np.linalg.norm(points[:, None] - joints[None], axis=-1).min(axis=0)
    assert np.quantile(nearest, 0.9) < 1e-4


def test_what_is_no_animator_is_refused():
    with pytest.raises(km.InputError, match="animator must be an Animator, got Character"):
        Surface.of(humanoid())


def test_trimesh_gets_the_surface():
    trimesh = pytest.importorskip("trimesh")
    animator, frame = animated()
    scene = trimesh.Scene()
    bridge("trimesh").add(scene, animator)(frame)
    np.testing.assert_allclose(scene.geometry["characters"].vertices, by_hand(animator, frame), atol=1e-5)


def test_rerun_records_the_surface(tmp_path):
    rerun = pytest.importorskip("rerun")
    animator, frame = animated()
    recording = rerun.RecordingStream("kinema", make_default=False)
    recording.save(tmp_path / "walk.rrd")
    show = bridge("rerun").add(recording, animator)
    for number in range(2):
        recording.set_time("frame", sequence=number)
        show(frame)
    recording.flush()
    assert (tmp_path / "walk.rrd").stat().st_size > 12 * len(by_hand(animator, frame))


def test_viser_sends_one_array_a_frame():
    viser = pytest.importorskip("viser")
    animator, frame = animated(count=2)
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        show = bridge("viser").add(server, animator)
        show(frame)
        handle = server.scene._handle_from_node_name["/characters"]
        np.testing.assert_allclose(handle.vertices, Surface.of(animator).points(frame, z_up=True), atol=1e-6)
    finally:
        server.stop()


def test_panda3d_gets_the_surface_with_z_up():
    core = pytest.importorskip("panda3d.core")
    animator, frame = animated()
    root = core.NodePath("root")
    bridge("panda3d").add(root, animator)(frame)
    data = root.find("characters").node().get_geom(0).get_vertex_data()
    rows = np.frombuffer(bytes(data.get_array(0).get_handle().get_data()), np.float32).reshape(-1, 6)
    np.testing.assert_allclose(rows[:, :3], Surface.of(animator).points(frame, z_up=True), atol=1e-6)


def test_mujoco_gets_a_capsule_for_each_bone():
    mujoco = pytest.importorskip("mujoco")
    animator, frame = animated()
    scene = mujoco.MjvScene(mujoco.MjModel.from_xml_string("<mujoco/>"), maxgeom=200)
    bridge("mujoco").add(scene, animator)(frame)
    character = animator.character
    assert scene.ngeom == len(character.skeleton.below([character.rig.hips])) - 1
    middles = np.array([scene.geoms[k].pos for k in range(scene.ngeom)])
    assert middles[:, 2].max() > 1.2
    with pytest.raises(km.InputError, match="room for 1 more"):
        bridge("mujoco").add(mujoco.MjvScene(mujoco.MjModel.from_xml_string("<mujoco/>"), maxgeom=1), animator)


def seen(picture):
    """The share of a picture, (height, width, 3), that is not black, by column: where characters are."""
    return (np.asarray(picture)[..., :3] > 10).any(axis=-1).mean(axis=0)


@pytest.mark.skipif("DISPLAY" not in os.environ, reason="raylib opens a window")
@pytest.mark.parametrize("count", [None, 4])
def test_raylib_draws_all_triangles(count):
    """Four characters need more vertices than one of raylib's meshes can have."""
    pyray = pytest.importorskip("pyray")
    animator, _ = animated(count)
    if count:
        animator.set_transform([(0.8 * k - 1.2, 0, 0) for k in range(count)])
    frame = animator.update(0.0)
    pyray.init_window(320, 240, "kinema")
    try:
        model, show = bridge("pyray").add(animator)
        show(frame)
        triangles = sum(model.meshes[k].triangleCount for k in range(model.meshCount))
        assert triangles == len(Surface.of(animator).triangles)
        assert model.meshCount == (3 if count else 1)
        camera = pyray.Camera3D((0, 1, 6), (0, 1, 0), (0, 1, 0), 40.0, pyray.CAMERA_PERSPECTIVE)
        for _ in range(2):
            pyray.begin_drawing()
            pyray.clear_background((0, 0, 0, 255))
            pyray.begin_mode_3d(camera)
            pyray.draw_model(model, (0, 0, 0), 1.0, pyray.WHITE)
            pyray.end_mode_3d()
            pyray.end_drawing()
        shot = pyray.load_image_from_screen()
        pixels = pyray.ffi.buffer(pyray.ffi.cast("char *", shot.data), 4 * shot.width * shot.height)
        columns = seen(np.frombuffer(pixels, np.uint8).reshape(shot.height, shot.width, 4))
        bodies = np.count_nonzero(np.diff((columns > 0.2).astype(int)) == 1)
        assert bodies == (count or 1)
        pyray.unload_model(model)
    finally:
        pyray.close_window()


@pytest.mark.skipif("DISPLAY" not in os.environ, reason="pyglet opens a window")
def test_pyglet_draws_the_surface():
    pyglet = pytest.importorskip("pyglet")
    from pyglet.math import Mat4, Vec3

    animator, _ = animated()
    animator.set_transform((0.0, 0.0, 0.0))
    window = pyglet.window.Window(320, 240, visible=False)
    batch = pyglet.graphics.Batch()
    show = bridge("pyglet").add(batch, animator)
    window.projection = Mat4.perspective_projection(320 / 240, 0.1, 100.0, 40.0)
    window.view = Mat4.look_at(Vec3(0, 1, 6), Vec3(0, 1, 0), Vec3(0, 1, 0))
    drawn = []
    for aside in (0.0, 1.0):
        animator.set_transform((aside, 0.0, 0.0))
        show(animator.update(0.0))
        window.clear()
        batch.draw()
        data = pyglet.image.get_buffer_manager().get_color_buffer().get_image_data().get_data("RGB", -320 * 3)
        drawn.append(np.flatnonzero(seen(np.frombuffer(data, np.uint8).reshape(240, 320, 3)) > 0.2).mean())
    window.close()
    # 240 pixels are 2 * 6 m * tan(20 degrees) high there.
    assert drawn[0] == pytest.approx(160, abs=6)
    assert drawn[1] - drawn[0] == pytest.approx(240 / (12 * np.tan(np.radians(20))), rel=0.1)
