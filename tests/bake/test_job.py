"""One file after another way of going wrong: no clips, the wrong way, ground in another unit, parts of clips."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import kinema as km
from kinema.bake import BakeSettings, MovingPoint, bake
from kinema.bake.grounds import GroundSpec, build_for, parse
from kinema.bake.job import LEAST_REST, BakeOrder, _ground_problems
from kinema.demo import humanoid
from kinema.errors import InputError
from kinema.io import files
from kinema.jobs.order import run_order
from kinema.math import arrays
from kinema.roles import find

STAIRS = parse("stairs:0.17,0.29,8")


def encoded(character):
    return b"".join(files.encode(".glb", character))


def turned(character, angle):
    """The character and its clips, rotated about up as a whole."""
    root = int(character.skeleton.index("root"))
    rotation = arrays.from_axis_angle(np.array((0.0, 1.0, 0.0)), np.array(angle))

    def about(poses):
        translations, rotations, scales = (array.copy() for array in poses.arrays())
        translations[..., root, :] = arrays.rotate(rotation, translations[..., root, :])
        rotations[..., root, :] = arrays.mul(rotation, rotations[..., root, :])
        return km.Pose.of(translations, rotations, scales)

    rest = about(character.skeleton.rest)
    skeleton = km.Skeleton(character.skeleton.names, character.skeleton.parents, rest)
    clips = {}
    for name, clip in character.clips.items():
        times = np.arange(0.0, float(clip.duration) + 1e-6, 1 / 30)
        clips[name] = km.Clip.from_poses(name, skeleton, about(clip.sample(times)), times=times)
    return km.Character(skeleton, clips, find(skeleton, clips.values()))


@pytest.fixture(scope="module")
def person():
    return humanoid()


def baked(character, order, name="person.glb"):
    outcome = run_order(encoded(character), name, ".glb", order)
    assert outcome.data is not None, outcome.report
    return files.load_bytes(outcome.data, name), outcome.report["clips"][0]


@pytest.mark.parametrize("angle", [0.0, np.pi, 1.5])
def test_a_character_starts_up_the_stairs_whatever_way_it_faces(person, angle):
    character, report = baked(
        turned(person, angle), BakeOrder(settings=BakeSettings(loops=3), ground=STAIRS, clips=("walk",))
    )
    rig, clip = character.rig, character.clips["walk baked"]
    hips = character.skeleton.world(clip.sample((0.0, float(clip.duration))))[:, rig.hips, :3, 3]
    assert hips[1, 2] - hips[0, 2] > 1.0
    assert hips[1, 1] - hips[0, 1] > 0.17 * 3
    assert not any("never meets" in problem for problem in report["problems"])


def test_a_heading_that_is_given_is_kept_and_ground_that_is_never_met_is_told(person):
    away = BakeSettings(heading=np.pi)
    _, report = baked(person, BakeOrder(settings=away, ground=STAIRS, clips=("walk",)))
    assert any("never meets" in problem for problem in report["problems"])
    _, report = baked(person, BakeOrder(settings=away, ground=parse("slope:10"), clips=("walk",)))
    assert not any("never meets" in problem for problem in report["problems"])


@pytest.mark.parametrize("text", ["0", "slope:0"])
def test_level_ground_has_nothing_to_meet(person, text):
    _, report = baked(person, BakeOrder(settings=BakeSettings(), ground=parse(text), clips=("walk",)))
    assert not any("never meets" in problem for problem in report["problems"])


def test_a_run_that_treads_in_place_keeps_its_strides(person):
    """It goes nowhere, so nothing of its way is shorter."""
    run = person.clips["run"].in_place()
    baked = bake(person, run, BakeSettings(ground=STAIRS.build(), travel=False, loops=2))
    assert baked.strides == 1.0
    assert bake(person, run, BakeSettings(ground=STAIRS.build(), loops=4)).strides < 0.95


@pytest.mark.parametrize(("climbed", "met"), [(0.008, False), (0.012, True)])
def test_ground_that_differs_by_a_hundredth_of_a_leg_was_met(climbed, met):
    problems = list(_ground_problems(STAIRS, SimpleNamespace(climbed=0.9 * climbed, leg=0.9)))
    assert any("never meets" in problem for problem in problems) != met


# --- no clips ---------------------------------------------------------------------------------------------------


def test_a_file_without_clips_reaches_from_its_rest_pose(person):
    wanted = (0.45, 1.1, 0.35)
    settings = BakeSettings(pull={"left_hand": MovingPoint.fixed(wanted)})
    character, report = baked(replace(person, clips={}), BakeOrder(settings=settings))
    clip = character.clips["rest pose baked"]
    assert float(clip.duration) == pytest.approx(LEAST_REST, abs=1e-5)
    world = character.skeleton.world(clip.sample((0.0, LEAST_REST)))
    hand = next(arm.joints[-1] for arm in character.rig.arms if arm.name == "left")
    np.testing.assert_allclose(world[:, hand, :3, 3], np.tile(wanted, (2, 1)), atol=0.01)
    assert report["problems"] == []


def test_the_rest_pose_lasts_as_long_as_its_targets_move(person):
    path = MovingPoint(np.array((0.0, 2.5)), np.array(((0.4, 1.0, 0.4), (0.4, 1.2, 0.4))))
    character, _ = baked(replace(person, clips={}), BakeOrder(settings=BakeSettings(reach={"left_hand": path})))
    assert float(character.clips["rest pose baked"].duration) == pytest.approx(2.5, abs=1e-4)


def test_a_file_without_clips_and_targets_says_what_it_takes(person):
    outcome = run_order(
        encoded(replace(person, clips={})), "person.glb", ".glb", BakeOrder(settings=BakeSettings(), ground=STAIRS)
    )
    assert "--pull" in outcome.report["problem"]


# --- parts of clips ---------------------------------------------------------------------------------------------


def test_a_part_of_a_clip_is_baked(person):
    idle = person.clips["idle"]
    part = bake(person, idle, BakeSettings(start=1.0, end=2.5)).clip
    assert float(part.duration) == pytest.approx(1.5, abs=1e-4)
    times = np.arange(0.0, 1.5, 0.1)
    np.testing.assert_allclose(
        person.skeleton.world(part.sample(times)), person.skeleton.world(idle.sample(times + 1.0)), atol=2e-3
    )


@pytest.mark.parametrize(("start", "end"), [(2.0, 1.0), (0.0, 9.0), (-1.0, None), (4.0, None), (1.0, 1.0)])
def test_a_part_that_is_not_there_is_refused(person, start, end):
    with pytest.raises(InputError, match="goes from 0 to 4 s"):
        bake(person, person.clips["idle"], BakeSettings(start=start, end=end))


# --- units ------------------------------------------------------------------------------------------------------


def test_stairs_in_metres_suit_a_file_in_centimetres(person):
    rig = person.rig
    large = km.Skeleton(
        person.skeleton.names,
        person.skeleton.parents,
        km.Pose.of(
            *(array * size for array, size in zip(person.skeleton.rest.arrays(), (100.0, 1.0, 1.0), strict=True))
        ),
    )
    inside = find(large)
    for unit, size in (("m", 1.0), ("cm", 100.0), ("", 1.0)):
        spec = parse(f"stairs:{0.17 * size},{0.29 * size},8", unit=unit)
        assert build_for(spec, rig)[0].numbers == pytest.approx((0.17 if unit else 0.17 * size, 0.29, 8.0))
        expected = (17.0, 29.0, 8.0) if unit else (0.17, 0.29, 8.0)
        assert build_for(spec, inside)[0].numbers == pytest.approx(expected)
    assert list(build_for(parse("stairs:0.17,0.29", unit="m"), inside)[0].doubts(90.0)) == []
    assert list(parse("stairs:0.17,0.29").doubts(90.0)) != []


def test_all_kinds_of_ground_have_a_unit():
    in_feet = {
        "plane": (GroundSpec("plane", (1.0,), unit="ft"), (0.3048,)),
        "slope": (GroundSpec("slope", (0.2,), unit="ft"), (0.2,)),
        "stairs": (GroundSpec("stairs", (1.0, 2.0, 5.0), unit="ft"), (0.3048, 0.6096, 5.0)),
        "heights": (GroundSpec("heights", (-1.0, -1.0, 2.0, 2.0), (np.ones((2, 2)),), unit="ft"), None),
    }
    for spec, numbers in in_feet.values():
        found = spec.in_unit(1.0)
        assert found.numbers == pytest.approx(numbers or (-0.3048, -0.3048, 0.6096, 0.6096))
        assert found.unit == ""
    mesh = GroundSpec("mesh", (), (np.ones((3, 3)), np.array(((0, 1, 2),))), unit="cm").in_unit(1.0)
    np.testing.assert_allclose(mesh.arrays[0], 0.01)
    np.testing.assert_array_equal(mesh.arrays[1], ((0, 1, 2),))


def test_an_unknown_unit_is_refused():
    with pytest.raises(InputError, match="allowed are m, dm, cm"):
        parse("0.2", unit="furlong")


def test_forty_files_are_looked_at_for_soles_that_they_share():
    files = iter([(f"{n}.bvh", b"no motion") for n in range(100)])
    BakeOrder(settings=BakeSettings()).informed(files)
    assert next(files)[0] == "40.bvh"
