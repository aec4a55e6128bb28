"""What the suite's judge may not hold against a bake."""

import numpy as np

import kinema as km
from kinema.bake import BakeSettings, bake
from kinema.bake.grounds import GroundSpec
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.pose import Pose
from kinema.world.plane import Plane
from tests.assets import asset
from tests.motion.__main__ import KEEPS
from tests.motion.cases import Case
from tests.motion.figures import _fastest_near, _flips
from tests.motion.judging import found_contacts
from tests.motion.kinematics import RATE
from tests.motion.reference import reference_of


def case_of(person, clip):
    settings = BakeSettings(ground=Plane(), loops=1)
    return Case(person, clip, settings, settings.ground, np.zeros(3))


def knees(person, degrees):
    """Matrices of a person whose left knee bends by these degrees, frame by frame."""
    pose = person.skeleton.rest.arrays()
    parts = [np.repeat(part[np.newaxis], len(degrees), axis=0).astype(np.float64) for part in pose]
    knee = int(person.rig.legs[0].joints[1])
    half = np.radians(degrees) / 2
    turn = np.stack((np.sin(half), 0 * half, 0 * half, np.cos(half)), axis=-1)
    parts[1][:, knee] = arrays.mul(parts[1][:, knee], turn)
    return person.skeleton.world(Pose.of(*parts)).astype(np.float64)


def test_a_knee_that_bends_the_way_of_its_clip_has_not_flipped():
    person = humanoid()
    clip = person.clips["walk"]
    reference = reference_of(person, clip, np.arange(int(clip.duration * RATE)) / RATE)
    way = np.concatenate((np.full(20, 30.0), np.full(20, -30.0)))
    little = np.concatenate((np.full(20, 30.0), np.full(20, -8.0)))
    other = np.full(40, 30.0)
    assert _flips(reference, knees(person, way), knees(person, other)).sum() == 1
    assert _flips(reference, knees(person, way), knees(person, little)).sum() == 0


def test_contacts_on_steps_are_found_where_the_bake_brings_them_to_one_level():
    person = humanoid()
    ground = GroundSpec("stairs", (0.16, 0.35, 40)).build()
    clip = bake(person, "walk", BakeSettings(ground=ground, loops=3)).clip
    case = case_of(person, clip)
    reference = reference_of(person, clip, np.arange(int(clip.duration * RATE)) / RATE)
    assert found_contacts(case, reference) >= KEEPS


def test_a_body_that_falls_stands_on_nothing():
    """A foot that is still for a moment in the air, far above where the other clips of its file stand."""
    character = km.load(asset("gltf/m2m_fox.glb"))
    times = np.arange(int(character.clips["Fall"].duration * RATE)) / RATE
    assert not reference_of(character, character.clips["Fall"], times).contacts
    assert reference_of(character, character.clips["Idle"], times).contacts


def test_a_jump_of_the_clip_may_come_a_frame_early():
    steps = np.zeros((12, 1))
    steps[6] = 30.0
    assert _fastest_near(steps)[4:9].min() == 30.0
    assert _fastest_near(steps)[[2, 10]].max() == 0.0


def test_captured_toes_bend_beside_a_ball_that_stands():
    """The toes of this take bend 4% of a leg through the floor and move by as much while their ball stands."""
    character = km.load(asset("bvh/cmu/cmu_137_28.bvh"))
    clip = next(iter(character.clips.values()))
    reference = reference_of(character, clip, np.arange(int(5.4 * RATE)) / RATE)
    stands, toes = reference.stands, reference.soles.toes
    assert stands[..., 1].any()
    assert not (stands[..., toes] & stands[..., 1]).any()
