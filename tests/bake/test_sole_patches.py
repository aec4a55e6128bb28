"""Soles are where the skin of a foot is lowest, as wide as the shoe; without a skin, the points of the rig."""

from dataclasses import replace

import numpy as np
import pytest

import kinema as km
from kinema import metrics
from kinema.bake.foot_skin import FEWEST
from kinema.bake.sole_patches import LAYER, POINTS, sole_patches
from kinema.demo import humanoid
from kinema.math import arrays
from kinema.model.skin import Skin

LEG = 1.0
"""Metres."""


def body(shoe, *, carried_by="ankle", rebind=None):
    """A body of two legs of a metre, each foot of which wears a shoe: vertices (V, 3) beside its ankle."""
    names = (
        ["hips"] + [f"{joint}_{side}" for side in "lr" for joint in ("thigh", "shin", "ankle")] + ["grip_l", "grip_r"]
    )
    parents = [-1, 0, 1, 2, 0, 4, 5, -1, -1]
    at = np.zeros((9, 3))
    at[0] = (0, LEG, 0)
    for first, side in ((1, 0.1), (4, -0.1)):
        at[first], at[first + 1], at[first + 2] = (side, 0, 0), (0, -LEG / 2, 0.01), (0, -LEG / 2 + 0.08, -0.01)
    at[7], at[8] = (0.1, 0.08, 0), (-0.1, 0.08, 0)
    rest = km.Pose(at, np.tile((0, 0, 0, 1), (9, 1)))
    skeleton = km.Skeleton(names, parents, rest)
    legs = [
        km.Leg(name=name, joints=(f"thigh_{side}", f"shin_{side}", f"ankle_{side}"), sole=0.08, heel=0.05, tip=0.2)
        for name, side in (("left", "l"), ("right", "r"))
    ]
    rig = km.Rig(skeleton=skeleton, hips="hips", legs=legs)
    shoe = np.asarray(shoe, np.float32)
    vertices = np.concatenate([shoe + (side, 0.08, 0) for side in (0.1, -0.1)])
    joints = np.zeros((len(vertices), 4), int)
    joints[:, 0] = np.repeat([skeleton.index(f"{carried_by}_{side}") for side in "lr"], len(shoe))
    weights = np.tile((1.0, 0, 0, 0), (len(vertices), 1))
    normals = np.tile((0.0, 1, 0), (len(vertices), 1))
    skin = Skin(vertices, np.zeros((0, 3), int), joints, weights, normals, rebind=rebind)
    return km.Character(skeleton, rig=rig, skins=[skin])


def grid(width=0.1, *, front=0.2, back=0.05, height=0.1):
    """A shoe: a grid of vertices on its sole, and another on top. Relative to an ankle 8 cm above the ground."""
    x, z = np.meshgrid(np.linspace(-width / 2, width / 2, 5), np.linspace(-back, front, 11))
    sole = np.stack((x.ravel(), np.full(x.size, -0.08), z.ravel()), axis=-1)
    return np.concatenate((sole, sole + (0, height, 0)))


def still(character, count=5):
    pose = character.skeleton.rest.arrays()
    poses = km.Pose.of(*(np.repeat(part[np.newaxis], count, axis=0) for part in pose))
    return character.skeleton.world(poses).astype(np.float64)


def test_a_sole_is_as_wide_and_as_long_as_its_shoe():
    character = body(grid(0.12))
    world = still(character)
    patches = sole_patches(character, character.rig, world)
    points = patches.points(world)
    assert patches.seen
    assert points.shape == (len(world), 2, POINTS, 3)
    assert np.abs(points[..., 1]).max() < 1e-6
    for foot, x in enumerate((0.1, -0.1)):
        low, high = points[0, foot].min(axis=0), points[0, foot].max(axis=0)
        assert (low[0], high[0], low[2], high[2]) == pytest.approx((x - 0.06, x + 0.06, -0.05, 0.2), abs=1e-6)


def test_points_are_spread_over_the_sole():
    character = body(grid(0.1))
    world = still(character, 1)
    points = sole_patches(character, character.rig, world).points(world)[0, 0]
    away = np.linalg.norm(points[:, np.newaxis] - points, axis=-1) + np.eye(POINTS)
    assert away.min() > 0.04


@pytest.mark.parametrize(("above", "part"), [(LAYER - 0.002, True), (LAYER + 0.002, False)])
def test_what_is_a_centimetre_above_the_lowest_of_a_shoe_is_no_part_of_its_sole(above, part):
    """Here the front of the sole is bent up."""
    shoe = grid()
    shoe[:, 1] += above * LEG * (shoe[:, 2] > 0.15)
    character = body(shoe)
    world = still(character)
    points = sole_patches(character, character.rig, world).points(world)[0, 0]
    assert (points[:, 2].max() > 0.15) == part


def test_a_sole_is_what_is_lowest_at_any_time():
    """The front of a curved sole is lowest while its heel is up."""
    shoe = grid()
    shoe[:, 1] += 0.03 * (shoe[:, 2] > 0.15)
    character = body(shoe)
    world = still(character, 9)
    raised = world.copy()
    turn = arrays.to_matrix(arrays.from_axis_angle(np.array((1.0, 0, 0)), np.radians(30.0)))
    ankles = [int(leg.joints[-1]) for leg in character.rig.legs]
    raised[4:, ankles, :3, :3] = turn
    raised[4:, ankles, 1, 3] = 0.16
    points = sole_patches(character, character.rig, raised).points(world)[0, 0]
    assert points[:, 2].max() > 0.15
    assert points[:, 2].min() < -0.04


def test_points_follow_the_skin():
    """Each is a vertex of it, wherever the joints are."""
    person = humanoid()
    clip = person.clips["walk"]
    poses = clip.sample(np.linspace(0.0, clip.duration, 7))
    world = person.skeleton.world(poses).astype(np.float64)
    points = sole_patches(person, person.rig, world).points(world)
    skin = person.skins[0].deform(person.skeleton.palette(poses))
    for frame in range(7):
        away = np.linalg.norm(points[frame].reshape(-1, 1, 3) - skin[frame], axis=-1).min(axis=-1)
        assert away.max() < 1e-5


def test_a_skin_bound_in_another_pose_lies_where_it_is_drawn():
    rebind = np.tile(np.eye(4)[:3], (9, 1, 1))
    rebind[:, :, 3] = (0.0, 0.3, 0.1)
    shoe = grid() - (0.0, 0.3, 0.1)
    character = body(shoe, rebind=rebind)
    world = still(character)
    points = sole_patches(character, character.rig, world).points(world)
    assert np.abs(points[..., 1]).max() < 1e-6
    assert points[..., 2].max() == pytest.approx(0.2, abs=1e-6)


def test_a_foot_may_hang_from_elsewhere():
    """A joint that lies on the ankle, but hangs from the root, carries the shoe."""
    character = body(grid(), carried_by="grip")
    world = still(character)
    patches = sole_patches(character, character.rig, world)
    assert patches.seen
    assert set(np.unique(patches.skin.joints[0][patches.skin.weights[0] > 0])) == {character.skeleton.index("grip_l")}


@pytest.mark.parametrize(("vertices", "seen"), [(FEWEST - 1, False), (FEWEST, True)])
def test_two_vertices_show_no_foot(vertices, seen):
    character = body(grid()[:vertices])
    assert sole_patches(character, character.rig, still(character)).seen == seen


def test_without_a_skin_soles_are_those_of_the_rig():
    character = replace(body(grid()), skins=())
    world = still(character)
    patches = sole_patches(character, character.rig, world)
    assert not patches.seen
    assert patches.points(world) == pytest.approx(metrics.sole_points(character.rig, world))
