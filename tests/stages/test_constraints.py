"""Constraints rotate joints as VRM's specification says, each after those it depends on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from tests.stages.swinging import follow

NAMES = ("root", "arm", "hand", "twist", "aim", "helper")
PARENTS = (-1, 0, 1, 1, 0, 2)


def body(seed, kind=np.float64):
    """A small skeleton with random rests."""
    rng = np.random.default_rng(seed)
    r = rng.normal(size=(6, 4)) + (0, 0, 0, 2)
    t = rng.normal(size=(6, 3))
    rest = km.Pose(t, r / np.linalg.norm(r, axis=-1, keepdims=True), np.ones((6, 3)))
    return km.Skeleton(NAMES, PARENTS, rest.astype(kind))


def moved(skeleton, seed, size=1.0):
    rng = np.random.default_rng(seed)
    rest = skeleton.rest.astype(np.float64)
    r = rest.rotations + size * rng.normal(size=(6, 4)) * 0.4
    return km.Pose(rest.translations, r / np.linalg.norm(r, axis=-1, keepdims=True), rest.scales)


def angle(a, b):
    return 2 * np.arccos(np.minimum(np.abs((a * b).sum(-1)), 1.0))


@given(
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(["roll", "aim", "rotation"]),
    axis=st.sampled_from([(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (1, 2, 3)]),
    weight=st.floats(0.0, 1.0),
)
def test_each_kind_is_the_specifications(seed, kind, axis, weight):
    skeleton = body(seed)
    constraint = km.Constraint(joint="twist", source="hand", kind=kind, axis=axis, weight=weight)
    pose = moved(skeleton, seed + 1)
    frame = km.Animator(skeleton, [km.Constraints(constraints=[constraint])]).update(1 / 60, pose=pose)
    assert angle(frame.pose.rotations[3], follow(skeleton, pose, constraint)) < 1e-6
    others = [0, 1, 2, 4, 5]
    assert np.array_equal(frame.pose.rotations[others], pose.rotations[others])
    assert frame.reports["constraints"].angle[0] == pytest.approx(
        angle(frame.pose.rotations[3], skeleton.rest.rotations[3]), abs=1e-6
    )


def test_at_rest_roll_and_rotation_do_nothing():
    skeleton = body(1)
    for kind in ("roll", "rotation"):
        constraint = km.Constraint(joint="twist", source="hand", kind=kind)
        frame = km.Animator(skeleton, [km.Constraints(constraints=[constraint])]).update(1 / 60)
        assert angle(frame.pose.rotations, skeleton.rest.rotations).max() < 1e-7


def test_one_that_depends_on_another_comes_after_it():
    skeleton, pose = body(4), moved(body(4), 5)
    first = km.Constraint(joint="arm", source="root", kind="rotation", weight=0.5)
    second = km.Constraint(joint="aim", source="helper", kind="aim")
    third = km.Constraint(joint="twist", source="aim", kind="roll")
    state = km.Animator(skeleton, [km.Constraints(constraints=[third, second, first])])
    assert state["constraints"].joints.tolist() == [1, 4, 3]
    frame = state.update(1 / 60, pose=pose)
    r = pose.rotations.copy()
    for constraint in (first, second, third):
        r[skeleton.index(constraint.joint)] = follow(skeleton, km.Pose(pose.translations, r, pose.scales), constraint)
    assert angle(frame.pose.rotations, r).max() < 1e-6


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_crowd_is_many_singles(kind):
    skeleton = body(2, kind)
    constraints = (
        km.Constraint(joint="twist", source="hand", kind="roll", weight=0.5),
        km.Constraint(joint="aim", source="hand", kind="aim"),
    )
    character = km.Character(skeleton, constraints=constraints)
    poses = [moved(skeleton, n).astype(kind) for n in range(20)]
    together = km.Pose(
        *(np.array([getattr(p, part) for p in poses]) for part in ("translations", "rotations", "scales"))
    )
    crowd = km.Animator(character, [km.Constraints()], count=20).update(1 / 60, pose=together)
    for n in (0, 13):
        one = km.Animator(character, [km.Constraints()]).update(1 / 60, pose=poses[n])
        assert np.array_equal(one.world, crowd.world[n])


def test_weights_of_the_stage():
    skeleton, pose = body(2), moved(body(2), 3)
    constraint = km.Constraint(joint="twist", source="hand", kind="rotation")
    full = km.Animator(skeleton, [km.Constraints(constraints=[constraint])]).update(0.1, pose=pose)
    half = km.Animator(skeleton, [km.Constraints(constraints=[constraint], weight=0.5)]).update(0.1, pose=pose)
    none = km.Animator(skeleton, [km.Constraints(constraints=[constraint], weight=0.0)]).update(0.1, pose=pose)
    whole = angle(full.pose.rotations[3], pose.rotations[3])
    assert angle(half.pose.rotations[3], pose.rotations[3]) == pytest.approx(whole / 2, abs=1e-6)
    assert np.array_equal(none.pose.rotations, pose.rotations)


def test_a_joint_at_its_source_stays_at_rest():
    rest = km.Pose(np.zeros((3, 3)), np.tile((0.0, 0.0, 0.0, 1.0), (3, 1)), np.ones((3, 3)))
    skeleton = km.Skeleton(("root", "a", "b"), (-1, 0, 0), rest)
    constraint = km.Constraint(joint="a", source="b", kind="aim")
    frame = km.Animator(skeleton, [km.Constraints(constraints=[constraint])]).update(0.1)
    assert np.array_equal(frame.pose.rotations, skeleton.rest.rotations)


def test_wrong_settings_are_refused():
    with pytest.raises(km.InputError, match=r"has none, give Constraints"):
        km.Animator(body(0), [km.Constraints()])
    constraint = km.Constraint(joint="foot", source="hand", kind="aim")
    with pytest.raises(km.InputError, match="there is no joint 'foot'"):
        km.Animator(body(0), [km.Constraints(constraints=[constraint])])
