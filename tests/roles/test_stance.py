"""A skeleton that lies at rest walks over a slope, looks and reaches as one that stands."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import metrics, roles
from kinema.errors import InputError
from kinema.math import arrays
from kinema.world.plane import Plane
from tests.assets import asset
from tests.roles.bodies import MADE, lying, plain

GROUND = Plane((0.0, 0.0, 0.0), (0.15, 0.97, 0.1))


def walked(character):
    """World matrices of a second and a half of walking, its feet on the ground and its eyes on something."""
    stages = [km.Play("walk", root_motion="extract", root="root"), km.Feet(), km.Head()]
    animator = km.Animator(character, stages, ground=GROUND)
    animator.look_at((1.0, 1.6, 3.0))
    return np.array([animator.update(1 / 30 if k else 0.0).world for k in range(45)])


def test_a_character_that_lies_at_rest_walks_and_looks_as_one_that_stands():
    made = MADE["humanoid"]()
    down = lying(plain(made)).character
    rig = roles.find(down.skeleton, down.clips, skins=down.skins)
    assert rig.stance is not None
    world = walked(replace(down, rig=rig))
    upright = walked(replace(plain(made).character, rig=made.rig))
    # Its clips were sampled anew, and its soles measured: a centimetre.
    np.testing.assert_allclose(world[..., :3, 3], upright[..., :3, 3], atol=0.012)
    figures = metrics.measure(rig, world, GROUND, 1 / 30)
    assert figures.worst_penetration < 0.003
    assert figures.knee_flips == 0


def test_feet_that_hang_at_rest_are_measured_where_they_stand():
    """A person whose feet point down at rest, as in a jump."""
    made = MADE["humanoid"]()
    rest = made.skeleton.rest
    rotations = rest.rotations.astype(np.float64)
    for side in "lr":
        foot = made.skeleton.index(f"foot_{side}")
        rotations[foot] = arrays.mul(rotations[foot], arrays.from_axis_angle((1.0, 0.0, 0.0), 1.0))  # Toes down.
    skeleton = km.Skeleton(
        made.skeleton.names,
        made.skeleton.parents,
        km.Pose(rest.translations, rotations.astype(np.float32)),
        None,
        made.skeleton.inverse_bind,
    )
    clips = {
        name: km.Clip.from_poses(name, skeleton, clip.sample(np.linspace(0, clip.duration, 40)), fps=39 / clip.duration)
        for name, clip in made.clips.items()
    }
    rig = roles.find(skeleton, clips, skins=made.skins)
    assert rig.stance is not None
    for leg, truth in zip(rig.legs, made.rig.legs, strict=True):
        assert leg.joints == truth.joints
        assert leg.sole == pytest.approx(truth.sole, abs=0.003)
    assert rig.floor == pytest.approx(0.0, abs=0.002)


def test_a_stance_is_one_pose_of_the_skeleton():
    made = MADE["humanoid"]()
    batch = made.clips["walk"].sample([0.0, 0.5])
    with pytest.raises(InputError, match="stance must be one pose"):
        replace(made.rig, stance=batch)
    with pytest.raises(InputError, match="joints"):
        replace(made.rig, stance=MADE["spider"]().skeleton.rest)
    standing = replace(made.rig, stance=made.skeleton.rest)
    np.testing.assert_array_equal(standing.standing_world, made.rig.standing_world)


def test_the_stance_is_a_moment_whose_trunk_is_not_twisted():
    """Someone whose feet lie below the ground at rest, who twists and untwists the trunk."""
    made = MADE["humanoid"]()
    down = lying(plain(made)).character
    still = down.clips["idle"].sample(np.zeros(41)).astype(np.float64)
    rotations = still.rotations.copy()
    spine = down.skeleton.index("spine_1")
    hips = down.skeleton.index("hips")
    twist = np.radians(35.0) * np.cos(np.linspace(0.0, np.pi, 41))
    up = arrays.from_axis_angle((0.0, 1.0, 0.0), twist)
    rotations[:, hips] = arrays.mul(rotations[:, hips], up)
    rotations[:, spine] = arrays.mul(rotations[:, spine], arrays.conj(arrays.mul(up, up)))
    for side in "lr":
        thigh = down.skeleton.index(f"thigh_{side}")
        rotations[:, thigh] = arrays.mul(arrays.conj(up), rotations[:, thigh])
    clip = km.Clip.from_poses("sway", down.skeleton, km.Pose(still.translations, rotations), fps=20.0)
    rig = roles.find(down.skeleton, {"sway": clip})
    assert rig.stance is not None
    assert rig.forward == pytest.approx((0, 0, 1), abs=0.06)


def twisted(made, hips, chest):
    """A person whose hips and chest are rotated about y at rest, degrees, and whose feet point ahead."""
    old, rig = made.skeleton, made.rig
    rotations = old.rest.rotations.astype(np.float64)

    def rotate(joint, degrees):
        parent = int(old.parents[joint])
        own = km.Pose(old.rest.translations.astype(np.float64), rotations, old.rest.scales.astype(np.float64))
        world = old.world_rotations(own)
        above = world[parent] if parent >= 0 else np.array((0.0, 0.0, 0.0, 1.0))
        spun = arrays.mul(arrays.from_axis_angle((0.0, 1.0, 0.0), np.radians(degrees)), world[joint])
        rotations[joint] = arrays.mul(arrays.conj(above), spun)

    rotate(rig.hips, hips)
    rotate(rig.spine[0], chest - hips)
    for leg in rig.legs:
        rotate(leg.joints[0], -hips)
    rest = km.Pose(old.rest.translations.astype(np.float64), rotations, old.rest.scales.astype(np.float64))
    return km.Skeleton(old.names, old.parents, rest, None, old.inverse_bind)


@pytest.mark.parametrize(("hips", "chest"), [(14, -14), (14, 14), (20, -10), (-25, 10)])
def test_a_twisted_rest_pose_faces_where_hips_chest_and_feet_do_together(hips, chest):
    made = MADE["humanoid"]()
    skeleton = twisted(made, hips, chest)
    for skins in (made.skins, ()):
        assert roles.find(skeleton, skins=skins).forward == pytest.approx((0, 0, 1), abs=0.01)


FACING_AHEAD = ("three_mixamo", "cmu_91_48")
"""A rest pose with one shoulder drawn ahead; legs with a joint more above, whose last one is the ankle."""


@pytest.mark.parametrize("name", FACING_AHEAD)
def test_a_body_faces_across_its_hips_and_shoulders_however_its_arms_are_held(name):
    rig = km.load(asset(f"fbx/{name}.fbx")).rig
    np.testing.assert_allclose(rig.forward, (0, 0, 1), atol=1e-6)
