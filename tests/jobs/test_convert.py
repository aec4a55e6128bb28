"""Converted files move as the old ones."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import roles
from kinema.demo import humanoid, quadruped
from kinema.io import files
from kinema.io import smpl as body
from kinema.io.smpl import SmplSource
from kinema.jobs.convert import ConvertOrder, scaled_and_rotated
from kinema.jobs.order import run_order
from kinema.math import arrays
from tests.assets import asset
from tests.cli.invoking import invoke
from tests.io.fbx import build
from tests.io.robot.build import LIFT


@pytest.fixture(scope="module")
def person():
    return b"".join(files.encode(".glb", humanoid()))


def converted(data, name, kind, **options):
    outcome = run_order(data, name, kind, ConvertOrder(**options))
    assert outcome.report["status"] == "converted", outcome.report
    return files.load_bytes(outcome.data, f"new{kind}"), outcome.report


def problem(data, name, kind, **options):
    return run_order(data, name, kind, ConvertOrder(**options)).report["problem"]


def joints_of(character, clip, times):
    world = character.skeleton.world(character.clips[clip].sample(times))
    return {name: world[:, j, :3, 3] for j, name in enumerate(character.skeleton.names)}


def test_a_character_survives_bvh_and_back(person):
    old = files.load_bytes(person, "person.glb")
    capture, _ = converted(person, "person.glb", ".bvh", clips=("walk",), fps=60.0)
    again, _ = converted(b"".join(files.encode(".bvh", capture)), "walk.bvh", ".glb")
    times = np.arange(30) / 60.0
    before, after = joints_of(old, "walk", times), joints_of(again, next(iter(again.clips)), times)
    shared = set(before) & set(after)
    assert {"hips", "head", "hand_l", "toe_r"} <= shared
    for name in shared:
        np.testing.assert_allclose(after[name], before[name], atol=2e-5)
    for name in shared:
        one, other = (_from_rest(character, name, times) for character in (old, again))
        half_chord = np.linalg.norm(one - other, axis=(1, 2)) / np.sqrt(8.0)  # The sine of half the angle.
        assert np.degrees(2.0 * np.arcsin(half_chord)).max() < 0.01


def test_a_file_that_says_its_space_needs_no_body():
    tree = build.file([build.model(1, "A"), build.model(2, "B", Lcl_Translation=(1, 2, 3))], [("OO", 2, 1)])
    moved, _ = converted(build.binary(tree), "a.fbx", ".glb", unit="cm", up="z")
    np.testing.assert_allclose(moved.skeleton.rest_world[1, :3, 3], (1, -3, 2), atol=1e-6)


def _from_rest(character, name, times):
    """(T, 3, 3): how a joint of the only clip, or of the walk, has rotated from rest in the world."""
    clip = character.clips.get("walk") or next(iter(character.clips.values()))
    j = character.skeleton.index(name)
    now, rest = character.skeleton.world(clip.sample(times))[:, j], character.skeleton.rest_world[j]
    return _orthogonal(now[:, :3, :3]) @ np.swapaxes(_orthogonal(rest[:3, :3]), -1, -2)


def _orthogonal(matrices):
    left, _, right = np.linalg.svd(matrices.astype(float))
    return left @ right


def test_a_glb_keeps_what_is_not_converted(person):
    new, report = converted(person, "person.glb", ".glb", clips=("walk",))
    old = files.load_bytes(person, "person.glb")
    assert list(new.clips) == ["walk"]
    assert report["clips"] == ["walk"]
    assert new.source.binary.startswith(old.source.binary)
    assert len(new.skins) == len(old.skins)
    np.testing.assert_array_equal(new.clips["walk"].sample(0.3).rotations, old.clips["walk"].sample(0.3).rotations)
    every, _ = converted(person, "person.glb", ".glb")
    assert list(every.clips) == list(old.clips)


def test_a_part_of_a_clip_begins_and_ends_where_it_is_asked_to(person):
    old = files.load_bytes(person, "person.glb")
    new, _ = converted(person, "person.glb", ".glb", clips=("walk",), start=0.2, end=0.7, fps=50.0)
    clip = new.clips["walk"]
    assert clip.duration == pytest.approx(0.5)
    assert clip.fps == pytest.approx(50.0, rel=1e-5)
    before, after = (
        joints_of(old, "walk", np.array((0.2, 0.44, 0.7))),
        joints_of(new, "walk", np.array((0.0, 0.24, 0.5))),
    )
    for name, places in after.items():
        np.testing.assert_allclose(places, before[name], atol=1e-4)


@pytest.mark.parametrize("make", [humanoid, quadruped])
def test_another_unit_and_up_change_nothing_else(make):
    made = make()
    data = b"".join(files.encode(".glb", made))
    whole = arrays.from_axis_angle((1.0, 0.0, 0.0), np.pi / 2)
    moved = scaled_and_rotated(made, 100.0, whole)
    times = np.linspace(0.0, 0.8, 9)
    before, after = joints_of(made, "walk", times), joints_of(moved, "walk", times)
    for name, places in after.items():
        np.testing.assert_allclose(places, 100.0 * arrays.rotate(whole, before[name]), atol=2e-3)
    pose = made.clips["walk"].sample(0.4)
    for old, new in zip(made.skins, moved.skins, strict=True):
        there = new.deform(moved.skeleton.palette(moved.clips["walk"].sample(0.4)))
        here = old.deform(made.skeleton.palette(pose))
        np.testing.assert_allclose(there, 100.0 * arrays.rotate(whole, here), atol=5e-3)
    if make is humanoid:
        new, _ = converted(data, "person.glb", ".glb", unit="cm", up="z")
        assert new.rig.up == pytest.approx((0, 0, 1), abs=1e-6)
        assert new.rig.leg_length == pytest.approx(100.0 * made.rig.leg_length, rel=1e-4)
        assert [leg.name for leg in new.rig.legs] == ["left", "right"]


def test_real_files_are_converted_both_ways():
    take = asset("bvh/cmu_02_01.bvh").read_bytes()
    old = files.load_bytes(take, "take.bvh")
    new, _ = converted(take, "take.bvh", ".glb", unit="m")
    assert new.rig.leg_length == pytest.approx(old.rig.leg_length * 0.0254 / 0.45, rel=1e-4)
    assert new.clips["take"].duration == pytest.approx(old.clips["take"].duration)
    fox = asset("gltf/Fox.glb").read_bytes()
    walk, _ = converted(fox, "Fox.glb", ".bvh", clips=("Walk",))
    assert len(walk.rig.legs) == 4


def test_what_cannot_be_converted_is_said(person):
    assert "choose a clip" in problem(person, "person.glb", ".bvh")
    assert "matches 2" in problem(person, "person.glb", ".bvh", clips=("walk", "run"))
    assert "there is no clip 'wlk'" in problem(person, "person.glb", ".glb", clips=("wlk",))
    assert "--start and --end" in problem(person, "person.glb", ".glb", start=5.0)
    assert "--start and --end" in problem(person, "person.glb", ".glb", start=0.5, end=0.2)
    box = asset("torture/RiggedSimple.glb").read_bytes()
    assert "no body was recognised" in problem(box, "box.glb", ".glb", unit="cm")


def test_sliders_change_their_length_with_the_unit(tmp_path):
    (tmp_path / "lift.urdf").write_text(LIFT)
    lift = km.load(tmp_path / "lift.urdf")
    moved = scaled_and_rotated(lift, 100.0, np.array((0.0, 0.0, 0.0, 1.0)))
    assert moved.skeleton.limits[1] == km.Slider((0, 0, 1), -10.0, 60.0)
    assert moved.skeleton.limits[2] == lift.skeleton.limits[2]


# --- the command -----------------------------------------------------------------------------------------------


def test_a_folder_is_converted_once(tmp_path, person):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.glb").write_bytes(person)
    capture = files.load_bytes(person, "a.glb")
    km.save(tmp_path / "in" / "b.bvh", capture, clip="run")
    (tmp_path / "in" / "c.bvh").write_text("HIERARCHY nothing")
    arguments = ("convert", tmp_path / "in", "-o", tmp_path / "out", "--to", "glb", "--report", tmp_path / "r.json")
    result = invoke(*arguments)
    assert result.exit_code == 1
    assert "1 of 3 failed" in result.stderr
    assert sorted(path.name for path in (tmp_path / "out").glob("*.glb")) == ["a.glb", "b.glb"]
    again = invoke(*arguments)
    assert "2 of 3 done before" in again.output


def test_robots_and_smpl_motion_pass_through_the_commands(tmp_path):
    """A captured walk as SMPL motion, then as the joint values of a robot."""
    (tmp_path / "robot.urdf").write_bytes(asset("urdf/simple_humanoid.urdf").read_bytes())
    person = replace(smpl_body(), source=SmplSource(offset=np.zeros(3)))
    walk = km.retarget(humanoid(), "walk", person)
    km.save(tmp_path / "walk.npz", person, clip=walk)
    for made in ("walk.bvh", "walk.glb"):
        result = invoke("convert", tmp_path / "walk.npz", "-o", tmp_path / made)
        assert result.exit_code == 0, result.output
        joints = joints_of(km.load(tmp_path / made), "walk", np.array((0.0, 0.3)))
        for name, places in joints_of(km.load(tmp_path / "walk.npz"), "walk", np.array((0.0, 0.3))).items():
            np.testing.assert_allclose(joints[name], places, atol=1e-4)
    result = invoke("info", tmp_path / "robot.urdf")
    assert "up +Z, faces +X" in result.output
    for kind in ("npz", "csv"):
        arguments = ("retarget", tmp_path / "walk.npz", "--onto", tmp_path / "robot.urdf")
        result = invoke(*arguments, "-o", tmp_path / f"robot_walk.{kind}")
        assert result.exit_code == 0, result.output
    with np.load(tmp_path / "robot_walk.npz") as file:
        values, names, robot = file["dof_pos"], file["joint_names"].tolist(), km.load(tmp_path / "robot.urdf")
    limits = {name: robot.skeleton.limits[robot.skeleton.index(link)] for link, name in robot.source.joints.items()}
    low, high = (np.array([getattr(limits[name], end) for name in names]) for end in ("low", "high"))
    assert (values >= low - 1e-6).all()
    assert (values <= high + 1e-6).all()
    np.testing.assert_allclose(np.loadtxt(tmp_path / "robot_walk.csv", delimiter=",")[:, 7:], values, atol=1e-6)


def smpl_body():
    """An average person with 24 joints and its roles."""
    skeleton = body.average_person(24)
    return km.Character(skeleton, {}, roles.find(skeleton, {}), name="walk")


def test_one_file_is_converted_to_the_name_that_is_given(tmp_path, person):
    (tmp_path / "a.glb").write_bytes(person)
    result = invoke("convert", tmp_path / "a.glb", "-o", tmp_path / "b.bvh", "--clip", "walk")
    assert result.exit_code == 0, result.output
    assert "1 clip" in result.output
    assert km.load(tmp_path / "b.bvh").rig.arm("left").name == "left"
    assert invoke("convert", tmp_path / "a.glb", "-o", tmp_path / "b.bvh", "--clip", "walk").exit_code == 2


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--fps", "-3", "--fps is -3"),
        ("--start", "-1", "--start is -1"),
        ("--unit", "miles", "--unit"),
        ("--up", "x", "--up"),
        ("--to", "fbx", "allowed are"),
    ],
)
def test_wrong_options_are_named(option, value, message, tmp_path):
    result = invoke("convert", "nothing.glb", "-o", tmp_path / "out.glb", option, value)
    assert result.exit_code == 2
    assert message in result.stderr


def test_blend_shapes_are_cut_sampled_scaled_and_rotated(tmp_path):
    data = build.binary(build.leg())
    character = files.load_bytes(data, "leg.fbx", rig=False)
    whole, again, inches = (
        converted(data, "leg.fbx", ".glb", **options)[0]
        for options in ({}, {"start": 0.2, "end": 0.8, "fps": 50.0}, {"unit": "cm", "up": "z"})
    )
    old = character.clips["Walk"]
    (resampled,) = again.clips.values()
    for time in (0.0, 0.25, 0.6):
        assert resampled.shape_weights(time)["Smile"] == pytest.approx(old.shape_weights(0.2 + time)["Smile"], abs=1e-5)
    for time in (0.1, 0.6):
        one, other = (
            skin.deform(each.skeleton.palette(each.clips["Walk"].sample(time)), each.clips["Walk"].shape_weights(time))
            for each, skin in ((whole, whole.skins[0]), (inches, inches.skins[0]))
        )
        np.testing.assert_allclose(other / 100, one @ np.array([(1, 0, 0), (0, 0, 1), (0, -1, 0)]), atol=1e-5)
        assert old.shape_weights(time)["Smile"] > 0.1
