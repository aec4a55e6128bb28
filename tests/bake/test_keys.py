"""A place folded into a pose: whatever is above the body, its joints end up where the place puts them."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake import BakeSettings, bake
from kinema.bake.animating import BakedFrames
from kinema.bake.clip_frames import frames_of
from kinema.bake.keys import _needed, carriers, fold
from kinema.demo import humanoid, slope, stairs
from kinema.math import arrays


def places(count, draw, turn=True):
    out = np.broadcast_to(np.eye(4), (count, 4, 4)).copy()
    if turn:
        out[:, :3, :3] = arrays.to_matrix(arrays.unit(draw.normal(size=(count, 4))))
    out[:, :3, 3] = draw.normal(size=(count, 3))
    return out


def skeleton(scale, draw):
    """A scene: a rotated, moved and scaled node above a body of three joints, and a prop beside it."""
    names, parents = ("scene", "prop", "hips", "knee", "foot"), (-1, 0, 0, 2, 3)
    rest = km.Pose(draw.normal(size=(5, 3)), arrays.unit(draw.normal(size=(5, 4))), np.array([scale, *[(1, 1, 1)] * 4]))
    return km.Skeleton(names, parents, rest)


@pytest.mark.parametrize("scale", [(1, 1, 1), (0.01, 0.01, 0.01), (-2, 2, 2)])
def test_the_body_moves_to_its_position_and_the_rest_stays(scale):
    draw = np.random.default_rng(3)
    bones = skeleton(scale, draw)
    poses = km.Pose(*(np.repeat(array[np.newaxis], 6, axis=0) for array in bones.rest.arrays()))
    where = places(6, draw)
    folded, exact = fold(bones, poses, where, [bones.index("hips")])
    before, after = bones.world(poses), bones.world(folded)
    assert exact
    assert np.allclose(after[:, 2:], where[:, np.newaxis] @ before[:, 2:], atol=1e-9)
    assert np.allclose(after[:, :2], before[:, :2])
    assert ((folded.rotations[1:] * folded.rotations[:-1]).sum(axis=-1) >= 0).all()


def test_below_uneven_scale_positions_are_exact_and_rotations_are_reported_inexact():
    draw = np.random.default_rng(4)
    bones = skeleton((1.0, 2.0, 0.5), draw)
    poses = km.Pose(*(np.repeat(array[np.newaxis], 4, axis=0) for array in bones.rest.arrays()))
    shift = places(4, draw, turn=False)
    folded, exact = fold(bones, poses, shift, [2])
    assert exact
    assert np.allclose(bones.world(folded)[:, 2:], shift[:, np.newaxis] @ bones.world(poses)[:, 2:])
    assert not fold(bones, poses, places(4, draw), [2])[1]


def test_carriers_are_as_high_as_the_clip_moves_the_body():
    person = humanoid()
    names = person.skeleton.names
    assert [names[j] for j in carriers(person, person.rig, person.clips["walk"])] == ["root"]
    idle = km.Clip("still", person.skeleton, [])
    assert [names[j] for j in carriers(person, person.rig, idle)] != []


def test_skin_beside_the_body_is_carried_too_and_props_are_not():
    """A cape on a bone of its own, beside the hips; a sword on another, which is no part of the skin."""
    names, parents = ("scene", "hips", "knee", "foot", "cape", "cape_end", "sword"), (-1, 0, 1, 2, 0, 4, 0)
    bones = km.Skeleton(names, parents, km.Pose(np.eye(7)[:, :3] + 1.0, np.tile((0.0, 0.0, 0.0, 1.0), (7, 1))))
    rig = km.Rig(skeleton=bones, hips="hips", legs=[km.Leg(name="only", joints=("hips", "knee", "foot"))])
    skin = km.Skin(
        vertices=np.eye(3),
        triangles=[(0, 1, 2)],
        joints=[(1, 5, 6, 0)] * 3,
        weights=[(0.5, 0.5, 0.0, 0.0)] * 3,
        normals=np.eye(3),
    )
    character = km.Character(bones, {}, rig, [skin])
    assert [names[j] for j in carriers(character, rig, km.Clip("none", bones, []))] == ["hips", "cape"]


@pytest.mark.parametrize(("fps", "loops"), [(60, 1), (30, 3), (24, 1), (7, 2)])
def test_keys_are_on_the_frames_that_are_asked_for(fps, loops):
    """A clip of no whole number of frames: its end is a key of its own, and the feet are where they would be."""
    person = humanoid()
    clip = person.clips["walk"].in_place(joint="root")
    clip = replace(clip, tracks=[replace(t, times=t.times * 0.9037) for t in clip.tracks], duration=None)
    baked = bake(person, clip, BakeSettings(ground=slope(10), fps=fps, loops=loops))
    times = max((track.times for track in baked.clip.tracks), key=len)
    assert np.abs(times[:-1] * fps - np.arange(len(times) - 1)).max() < 1e-5
    assert times[-1] == pytest.approx(loops * clip.duration, abs=1e-5)
    assert baked.fps == fps
    assert len(times) == baked.keys
    fine = bake(person, clip, BakeSettings(ground=slope(10), loops=loops))
    one, other = (person.skeleton.world(made.clip.sample(times)) for made in (baked, fine))
    assert np.abs(one - other)[..., :3, 3].max() < 0.05, "feet in the air are less than a frame early or late"
    figures = metrics.measure(person.rig, one, slope(10), 1 / fps, planted=_planted_at(fine, times))
    assert figures.worst_hover < 0.02
    assert figures.worst_slide < 0.02


def _planted_at(baked, times):
    """(K, L): which feet stand at some times: those that do in the samples before and after."""
    at = np.clip(times / baked.dt, 0, len(baked.after.planted) - 1)
    return baked.after.planted[np.floor(at + 1e-3).astype(int)] & baked.after.planted[np.ceil(at - 1e-3).astype(int)]


def test_keys_are_added_where_soles_would_be_off_between_them():
    """At 6 frames a second feet cut through stairs; keys are added there, and no others."""
    person = humanoid()
    sparse = person.clips["walk"].sample(np.arange(8) / 7 * person.clips["walk"].duration)
    clip = km.Clip.from_poses("sparse", person.skeleton, sparse, fps=21.0)
    ground = stairs(0.15, 0.3)
    baked = bake(person, clip, BakeSettings(ground=ground, loops=3))
    times = max((track.times for track in baked.clip.tracks), key=len)
    assert baked.fps == pytest.approx(21.0, rel=0.1)
    assert baked.keys == len(times) > 21 * times[-1] + 1


@pytest.mark.parametrize(("off", "added"), [(0.0035, False), (0.0045, True)])
def test_a_key_is_added_where_a_sole_would_be_four_thousandths_of_a_leg_off(off, added):
    """A person stands, and is higher in one frame between two keys."""
    person = humanoid()
    poses = km.Pose(*(np.repeat(array[np.newaxis], 61, axis=0) for array in person.skeleton.rest.arrays()))
    clip = km.Clip.from_poses("stand", person.skeleton, poses, times=np.arange(61) / 60)
    frames = replace(frames_of(person.rig, clip, BakeSettings()).without_lead, stride=10)
    transforms = frames.transforms.copy()
    transforms[25, 1, 3] += off * person.rig.leg_length
    world = transforms[:, np.newaxis] @ person.skeleton.world(frames.poses)
    keys = _needed(frames, BakedFrames(frames.poses, transforms, world))
    assert (25 in keys) == added
    assert len(keys) == 7 + added
