"""`retarget`: whole clips onto other bodies, judged by their joints; settings, errors and the report."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import roles
from kinema.demo import humanoid, quadruped
from tests.assets import asset
from tests.retargeting.variants import Variant, joint_positions, vary

PERSON = humanoid()
OTHER = vary(PERSON, Variant(axes=1, scale=100.0, arms=0.7))


@pytest.fixture(scope="module")
def walked():
    return km.retarget(PERSON, "walk", OTHER, report=True)


def positions(character, clip, times):
    return joint_positions(character, clip.sample(times).astype(np.float64))


def test_a_walk_moves_another_body_alike(walked):
    clip, _ = walked
    times = np.linspace(0, clip.duration, 31)
    ours, theirs = positions(PERSON, PERSON.clips["walk"], times) * 100.0, positions(OTHER, clip, times)
    joints = [int(joint) for limb in (*PERSON.rig.legs, *PERSON.rig.arms) for joint in limb.joints]
    assert np.abs(ours - theirs)[:, joints].max() < 0.005 * OTHER.rig.leg_length


FILES = (np.eye(3), np.diag((-1.0, 1.0, -1.0)), np.array(((1.0, 0, 0), (0, 0, -1), (0, 1, 0))))
"""As it is, facing -z, and z up."""


@pytest.mark.parametrize("file", ["", "gltf/m2m_mixamo-names.glb", "gltf/RiggedFigure.glb"])
@pytest.mark.parametrize("number", range(len(FILES)))
def test_bodies_with_scrambled_names_axes_sizes_and_rest_poses_move_alike(file, number):
    """Their roles are found anew: nothing but the skeleton at rest is known."""
    body = km.load(asset(file)) if file else PERSON
    variant = Variant(29 + number, 10.0 ** (number - 1), FILES[number], 0.4 * number, 7 + number)
    made = vary(replace(body, skins=(), clips={}), variant)
    found = replace(made, rig=roles.find(made.skeleton))
    clip, report = km.retarget(PERSON, "walk", found, contacts=False, report=True)
    times = np.linspace(0, clip.duration, 16)
    ours, theirs = positions(PERSON, PERSON.clips["walk"], times), positions(found, clip, times) @ variant.turn
    known = {limb.name: limb for limb in made.rig.legs}, {limb.name: limb for limb in made.rig.arms}
    for limbs, others in zip((PERSON.rig.legs, PERSON.rig.arms), known, strict=True):
        for limb in limbs:
            a, b = ([int(joint) for joint in each.joints] for each in (limb, others[limb.name]))
            bones = [np.diff(at[:, joints], axis=1) for at, joints in ((ours, a), (theirs, b))]
            units = [each / np.linalg.norm(each, axis=-1, keepdims=True) for each in bones]
            assert np.abs(units[0] - units[1]).max() < np.radians(0.3)
    assert report.warnings == ()


def test_the_report_says_what_was_done(walked):
    clip, report = walked
    assert report.scale == pytest.approx(100.0)
    assert report.missing == ()
    assert report.contacts > 0
    assert report.slide[1] < 0.005
    assert report.sink[1] < 0.005
    assert abs(report.raised) < 0.01
    assert report.joints["hips"] == "hips"
    assert [event.name for event in clip.events] == [event.name for event in PERSON.clips["walk"].events]


def test_onto_itself_nothing_changes():
    clip = km.retarget(PERSON, "walk", PERSON)
    keys = clip.tracks[0].times
    ours, again = positions(PERSON, PERSON.clips["walk"], keys), positions(PERSON, clip, keys)
    assert np.abs(ours - again).max() < 1e-5 * PERSON.rig.leg_length


def test_onto_itself_controls_of_a_rig_stay_as_they_are_too():
    knight = km.load(asset("gltf/KayKit_Knight.glb"))
    for name in ("Dodge_Left", "Unarmed_Melee_Attack_Punch_A"):
        clip = km.retarget(knight, name, knight)
        keys = clip.tracks[0].times
        ours, again = positions(knight, knight.clips[name], keys), positions(knight, clip, keys)
        assert np.abs(ours - again).max() < 1e-5 * knight.rig.leg_length


def test_a_scale_that_is_asked_for_counts_on_the_same_body():
    clip = km.retarget(PERSON, "walk", PERSON, scale=2.0, contacts=False)
    hips = [
        positions(PERSON, each, np.array((0.0, 0.5)))[:, int(PERSON.rig.hips), 2]
        for each in (PERSON.clips["walk"], clip)
    ]
    assert np.ptp(hips[1]) == pytest.approx(2.0 * np.ptp(hips[0]), rel=1e-3)


def test_mirrored_steps_swap_their_events():
    clip = km.retarget(PERSON, "walk", PERSON, mirror=True)
    first = {event.name: event.time for event in PERSON.clips["walk"].events}
    assert {event.name: event.time for event in clip.events}["right_down"] == first["left_down"]


def test_a_loop_stays_a_loop():
    clip = km.retarget(PERSON, "walk", OTHER)
    ends = positions(OTHER, clip, np.array((0.0, clip.duration)))
    ends -= ends[:, [int(OTHER.rig.hips)]] * (1.0, 0.0, 1.0)
    moved = [joint for joint in range(len(OTHER.skeleton)) if joint not in OTHER.skeleton.above([OTHER.rig.hips])]
    assert np.abs(ends[0] - ends[1])[moved].max() < 1e-3 * OTHER.rig.leg_length


def test_the_scale_can_be_given():
    clip, report = km.retarget(PERSON, "walk", OTHER, scale=50.0, report=True)
    assert report.scale == 50.0
    assert clip.duration == pytest.approx(PERSON.clips["walk"].duration)


@pytest.mark.parametrize("fps", [10.0, 90.0])
def test_keys_come_at_the_rate_that_is_asked_for(fps):
    clip = km.retarget(PERSON, "walk", OTHER, fps=fps)
    assert clip.fps == pytest.approx(fps, rel=0.05)


def test_strides_are_as_long_as_feet_make_them():
    """A foot as long as the leg rolls farther in each step; with a scale that is asked for the way is as long as it
    says, and legs make up for that.
    """
    take, knight = km.load(asset("bvh/cmu_02_01.bvh")), km.load(asset("gltf/KayKit_Knight.glb"))
    size, name = knight.rig.leg_length / take.rig.leg_length, next(iter(take.clips))
    turned, ways = [], []
    for scale in (None, size):
        clip, report = km.retarget(take, name, knight, scale=scale, report=True)
        times = np.linspace(0, clip.duration, 61)
        start = take.clips[name].tracks[0].times[0]
        ours, theirs = positions(take, take.clips[name], start + times), positions(knight, clip, times)
        thighs = [
            np.diff(at[:, [int(joint) for joint in leg.joints[:2]]], axis=1)[:, 0]
            for character, at in ((take, ours), (knight, theirs))
            for leg in character.rig.legs
        ]
        units = [each / np.linalg.norm(each, axis=-1, keepdims=True) for each in thighs]
        turned.append(max(np.linalg.norm(units[side] - units[side + 2], axis=-1).mean() for side in (0, 1)))
        far = [
            np.linalg.norm(np.ptp(at[:, int(c.rig.hips), ::2], axis=0)) for c, at in ((take, ours), (knight, theirs))
        ]
        ways.append(far[1] / far[0] / size)
        assert ways[-1] == pytest.approx(report.strides, rel=0.06)
    assert ways[0] > 1.05
    assert ways[1] == pytest.approx(1.0, abs=0.06)
    assert turned[0] < 0.8 * turned[1]


def test_a_motion_that_is_brought_onto_one_floor_says_so():
    take = km.load(asset("bvh/cmu/cmu_113_19.bvh"))
    clip = next(iter(take.clips.values()))
    for ground, levelled in (("auto", True), ("keep", False)):
        report = km.retarget(take, clip, PERSON, ground=ground, report=True)[1]
        assert report.levelled == levelled
        assert any("one floor" in warning for warning in report.warnings) == levelled


def test_a_ground_composes_a_bake():
    slope = km.Plane(normal=(0.0, 1.0, -0.2))
    clip = km.retarget(PERSON, "walk", OTHER, ground=slope)
    hips = positions(OTHER, clip, np.linspace(0, clip.duration, 5))[:, int(OTHER.rig.hips)]
    assert np.polyfit(hips[:, 2], hips[:, 1], 1)[0] == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ground": "flat"}, "'auto', 'keep', 'level'"),
        ({"scale": -1.0}, "scale is -1"),
        ({"scale": float("nan")}, "scale"),
        ({"facing": "north"}, "facing"),
        ({"at": 3.0, "ground": 0.0}, "at must be a sequence"),
        ({"at": (1.0, float("nan")), "ground": 0.0}, "at\\[1\\]"),
        ({"fps": 0.0}, "fps"),
        ({"facing": np.zeros(3)}, "facing must be one number"),
        ({"joints": ["head"]}, "joints must be a dict"),
        ({"mirror": np.array([1, 2])}, "mirror must be true or false"),
        ({"clip": []}, "clip must be a Clip or a str, got list"),
        ({"source": PERSON.skeleton}, "source must be a Character, got Skeleton"),
        ({"clip": quadruped().clips["walk"]}, "clip 'walk' is made for another skeleton"),
    ],
)
def test_wrong_settings_are_named(change, message):
    with pytest.raises(km.InputError, match=message):
        km.retarget(**{"source": PERSON, "clip": "walk", "target": OTHER} | change)


def test_what_cannot_be_matched_is_refused():
    with pytest.raises(km.InputError, match="humanoid has 2 legs, quadruped has 4 legs"):
        km.retarget(PERSON, "walk", quadruped())
    with pytest.raises(km.InputError, match="no rig"):
        km.retarget(PERSON, "walk", replace(OTHER, rig=None))
    with pytest.raises(km.InputError, match="there is no clip 'fly'"):
        km.retarget(PERSON, "fly", OTHER)


def test_a_body_without_limbs_is_refused_by_name():
    rig = replace(PERSON.rig, legs=(), arms=())
    snake = replace(PERSON, rig=rig, name="Kaa")
    for pair in ((snake, "walk", PERSON), (PERSON, "walk", snake)):
        with pytest.raises(km.InputError, match="Kaa has neither legs nor arms"):
            km.retarget(*pair)


def test_bodies_without_arms_are_warned_of():
    armless = replace(PERSON, rig=replace(PERSON.rig, arms=()))
    _, report = km.retarget(armless, "walk", OTHER, report=True)
    assert "left arm" in report.missing
    assert any("no arms were found in the source" in warning for warning in report.warnings)
