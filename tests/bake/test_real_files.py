"""Walks of real files on slopes and stairs, judged when they are played back: people, animals, a spider; any unit."""

import dataclasses

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings, bake
from kinema.bake.clip_frames import frames_of
from kinema.bake.grounds import GroundSpec
from kinema.roles import find, handles
from tests.assets import asset
from tests.motion.cases import CaseName, case_of
from tests.motion.figures import measure_bake

WALKS = {
    "gltf/KayKit_Knight.glb": "Walking_A",
    "gltf/m2m_mixamo-names.glb": "Walking",
    "gltf/babylon_HVGirl.glb": "Walking",
    "gltf/CesiumMan.glb": "clip_0",
    "gltf/Fox.glb": "Walk",
    "gltf/m2m_fox.glb": "Walk",
    "gltf/m2m_horse.glb": "Walk",
    "gltf/m2m_spider.glb": "Walk",
}
"""What each file's walk is called. All of them walk in place."""


def baked_on(name, kind, *sizes):
    """A walk of four seconds on a ground, lengths in legs: the character, what was baked, figures of what plays."""
    character = km.load(asset(name))
    clip = character.clips[WALKS[name]]
    leg = float(np.mean([character.skeleton.length(leg.joints) for leg in character.rig.legs]))
    foot = max(leg.heel + leg.tip for leg in character.rig.legs)
    if kind == "stairs":  # A tread holds a foot, as treads do.
        rise, run = sizes
        ground = GroundSpec("stairs", (rise * leg, max(run * leg, 1.15 * foot), 60)).build()
    else:
        ground = GroundSpec("slope", sizes).build()
    baked = bake(character, clip, BakeSettings(ground=ground, loops=max(2, round(4 / clip.duration))))
    assert baked.leg == pytest.approx(leg)
    world = character.skeleton.world(baked.clip.sample(np.arange(len(baked.after.planted)) * baked.dt))
    figures = metrics.measure(character.rig, world, ground, baked.dt, planted=baked.after.planted)
    return baked, figures, world[:, character.rig.hips, :3, 3] / leg


def near(figures, leg):
    """(planted feet in frames,): whether each planted sole is within 2% of the leg's length of the ground."""
    off = np.maximum(figures.penetration, figures.hover) / leg
    return off[figures.planted] < 0.02


@pytest.mark.parametrize("degrees", [12, -15])
@pytest.mark.parametrize("name", WALKS)
def test_slopes(name, degrees):
    baked, figures, hips = baked_on(name, "slope", np.radians(degrees))
    assert baked.in_place
    assert hips[-1, 2] - hips[0, 2] > 1.5
    assert len(figures.steps.slide) >= 4
    assert near(figures, baked.leg).all()
    for before, after in ((baked.before.worst_slide, figures.worst_slide), _means(baked.before, figures)):
        assert before > 0.01 * baked.leg > after or before > 5 * after
    assert figures.knee_flips == 0
    assert np.isfinite(hips).all()


@pytest.mark.parametrize("name", WALKS)
def test_stairs(name):
    """HVGirl, who lands on heels that hang over an edge, and CesiumMan, between his 24 keys a second, have
    single frames in which a foot is not down yet.
    """
    baked, figures, hips = baked_on(name, "stairs", 0.15, 0.4)
    assert hips[-1, 1] - hips[0, 1] > 0.3
    down = near(figures, baked.leg)
    assert down.all() or (("HVGirl" in name or "Cesium" in name) and down.mean() > 0.96)
    for before, after in ((baked.before.worst_slide, figures.worst_slide), _means(baked.before, figures)):
        assert before > 0.01 * baked.leg > after or before > 5 * after
    assert figures.knee_flips == 0


def _means(before, after):
    return before.steps.slide.mean(), after.steps.slide.mean()


def test_captured_feet_are_locked():
    character = km.load(asset("bvh/cmu_02_01.bvh"))
    (clip,) = character.clips.values()
    baked = bake(character, clip, BakeSettings(lock_feet=True))
    assert not baked.in_place
    assert len(baked.before.steps.slide) >= 4
    assert baked.before.worst_slide > 0.03 * baked.leg
    assert baked.after.worst_slide < 0.011 * baked.leg  # The tips: captured toes twist a little on the floor.
    before, after = _means(baked.before, baked.after)
    assert before > 3 * after
    assert baked.after.worst_hover < 0.02 * baked.leg
    assert baked.after.worst_penetration < 0.01 * baked.leg


def test_what_is_not_the_character_stays():
    """Fox.glb has a node for its mesh beside its bones: only the bones get tracks, and the mesh's node stays."""
    character = km.load(asset("gltf/Fox.glb"))
    baked = bake(character, "Walk", BakeSettings(ground=km.Plane((0, 40, 0)), at=(100.0, 50.0)))
    world = character.skeleton.world(baked.clip.sample(0.3))
    mesh = character.skeleton.index("fox")
    assert np.allclose(world[mesh], character.skeleton.rest_world[mesh])
    assert world[character.rig.hips, 0, 3] == pytest.approx(100.0, abs=5)


@pytest.mark.parametrize("unit", [0.01, 100.0])
def test_any_unit(unit):
    """The same file in centimetres or in hundreds of metres: the same figures, in leg lengths."""
    made = []
    for scale in (1.0, unit):
        character = scaled(km.load(asset("gltf/m2m_fox.glb"), rig=False), scale)
        character = dataclasses.replace(character, rig=find(character.skeleton, character.clips))
        made.append(bake(character, "Walk", BakeSettings(ground=GroundSpec("slope", (0.2,)).build(), fps=30)))
    one, other = made
    assert other.leg == pytest.approx(unit * one.leg, rel=1e-3)
    assert other.speed == pytest.approx(unit * one.speed, rel=0.01)
    assert other.after.worst_hover / other.leg == pytest.approx(one.after.worst_hover / one.leg, abs=2e-3)


def scaled(character, unit):
    """A character in another unit: its root node scaled, as exporters do."""
    rest = character.skeleton.rest
    scales = rest.scales.copy()
    roots = character.skeleton.parents < 0
    scales[roots] *= unit
    translations = rest.translations.copy()
    translations[roots] *= unit
    skeleton = km.Skeleton(
        character.skeleton.names, character.skeleton.parents, km.Pose(translations, rest.rotations, scales)
    )
    tracks = {name: clip.tracks for name, clip in character.clips.items()}
    clips = {name: km.Clip(name, skeleton, tracks[name]) for name in ("Walk", "Idle")}
    return km.Character(skeleton, clips, name=character.name)


NOT_WALKING = {
    "gltf/KayKit_Knight.glb": ("Death_B", "Lie_Down", "Throw", "Dodge_Backward", "Hit_A", "2H_Melee_Attack_Spinning"),
    "gltf/m2m_spider.glb": ("Attack", "Death"),
    "gltf/godot_mannequiny.glb": ("dash_root.001",),
}


@pytest.mark.parametrize("name", NOT_WALKING)
def test_only_walking_characters_move(name):
    """Put on a floor, what falls, throws or dodges goes as far as it does by itself."""
    character = km.load(asset(name))
    for clip in NOT_WALKING[name]:
        baked = bake(character, clip, BakeSettings(ground=km.Plane((0, character.rig.floor, 0)), fps=30))
        ends = character.skeleton.world(baked.clip.sample(np.array((0.0, baked.clip.duration))))
        own = character.skeleton.world(character.clips[clip].sample(np.array((0.0, character.clips[clip].duration))))
        hips = character.rig.hips
        moved = (ends[1] - ends[0])[hips, :3, 3] - (own[1] - own[0])[hips, :3, 3]
        assert np.linalg.norm(moved[[0, 2]]) < 0.05 * baked.leg, clip


@pytest.mark.slow_uncompiled
@pytest.mark.parametrize(
    ("take", "ground"),
    [
        ("136_01", "slope25"),  # Feet are held over a floor that drifts.
        ("136_01", "stairs"),
        ("29_01", "stairs_down"),  # A heel that passes an edge between two frames.
        ("45_01", "stairs"),
        ("141_01", "flat"),  # A sprint.
        ("12_01", "slope12"),
    ],
)
def test_captured_takes_are_clean(take, ground):
    file = f"bvh/cmu/cmu_{take}.bvh"
    asset(file)
    case = case_of(CaseName(f"cmu/{take}", file, "", "given"), ground)
    figures = measure_bake(case, bake(case.character, case.clip, case.settings).clip)
    assert figures.clean, figures


@pytest.mark.parametrize(("take", "farthest"), [("cmu_113_19", 0.6), ("cmu_111_27", 0.4)])
def test_feet_stay_near_the_clip_however_long_they_are_off_the_floor(take, farthest):
    """In these takes feet stand on boxes or are in the air for seconds: what is not on the floor counts as a swing."""
    character = km.load(asset(f"bvh/cmu/{take}.bvh"))
    (clip,) = character.clips.values()
    leg = character.rig.leg_length
    stairs = GroundSpec("stairs", (0.19 * leg, 0.34 * leg, 60)).build()
    frames = frames_of(character.rig, clip, BakeSettings(lock_feet=True)).without_lead
    baked = character.skeleton.world(bake(character, clip, BakeSettings(ground=stairs)).clip.sample(frames.times))
    ankles, hips = [each.joints[-1] for each in character.rig.legs], character.rig.hips
    ways = [(world[:, ankles] - world[:, [hips]])[..., :3, 3] for world in (frames.world, baked)]
    strayed = np.linalg.norm((ways[1] - ways[0])[..., (0, 2)], axis=-1)
    assert strayed.max() < farthest * leg


@pytest.mark.parametrize("clip", ["Walking", "Running"])
def test_feet_that_hang_on_the_root_stay_at_their_shins(clip):
    """The robot's foot bones are no children of its shins: where strides are made shorter, they must come along."""
    character = km.load(asset("gltf/RobotExpressive.glb"))
    baked = bake(character, clip, BakeSettings(ground=GroundSpec("slope", (np.radians(25.0),)).build(), loops=2))
    skeleton, times = character.skeleton, np.arange(60) / 60 * character.clips[clip].duration
    for leg in character.rig.legs:
        shin, foot = int(leg.joints[-1]), min(handles(character.rig)[int(leg.joints[-1])])
        gaps = []
        for each in (character.clips[clip], baked.clip):
            world = skeleton.world(each.sample(times))
            gaps.append(np.linalg.norm(world[:, shin, :3, 3] - world[:, foot, :3, 3], axis=-1))
        np.testing.assert_allclose(gaps[1], gaps[0], atol=0.02 * baked.leg)
