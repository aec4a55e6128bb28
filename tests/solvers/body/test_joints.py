"""Joints of the full-body step: forward kinematics, limits and their edges, applying a step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.compile.jit import batch
from kinema.model.limits import in_precision
from kinema.solvers.body import joints, records
from tests import compiled, naive, problems
from tests.compiled import cast, from_python, widened
from tests.solvers.body.problems import moved, problem_of, tree
from tests.solvers.limit_kinds import LIMITS, kinds


def test_world_matrices_and_rotations_are_those_of_the_skeleton():
    rng = problems.generator(21)
    skeleton = tree(rng)
    body, pose = km.FullBody(skeleton), moved(rng, skeleton.rest, 0.5)
    problem, _ = problem_of(body, pose, [km.Effector(8, (0, 0, 0))])
    world, nodes = skeleton.world(pose), problem.joints["node"]
    np.testing.assert_allclose(problem.states["world"].reshape(-1, 3, 4), world[nodes, :3], atol=1e-12)
    centre = world[body.root, :3, 3]
    np.testing.assert_allclose(problem.states["origin"], (world[nodes, :3, 3] - centre) / body.size, atol=1e-12)
    for n, node in enumerate(nodes):
        found = widened(from_python(joints.world_rotation)(problem, n))
        assert naive.angle_between_rotations(found, skeleton.world_rotations(pose)[node]) < 1e-9


def test_a_step_rotates_a_joint_in_world_space_up_to_a_largest_angle():
    rng = problems.generator(22)
    skeleton = tree(rng)
    for size, largest in ((0.3, 0.3), (5.0, 0.8)):
        problem, _ = problem_of(km.FullBody(skeleton), skeleton.rest, [km.Effector(8, (0, 0, 0))])
        before = widened(from_python(joints.world_rotation)(problem, 2))
        vector = naive.unit(rng.normal(size=3)) * size
        from_python(joints.move_joint)(problem, 2, cast(np.float64, vector), (0.0, 0.0, 0.0))
        expected = naive.quat_mul(naive.quat_from_axis_angle(vector, largest), before)
        after = widened(from_python(joints.world_rotation)(problem, 2))
        assert naive.angle_between_rotations(after, expected) < 1e-9


@pytest.mark.parametrize("bend", [0.4, -0.4])
def test_an_elbow_that_is_bent_back_is_straightened(bend):
    """One that is bent the right way stays as it is, bit for bit."""
    joint, state = records.zeros(records.JOINT, 1), records.zeros(records.JOINT_STATE, 1)
    joint["one_sided"], joint["lower"], joint["side"] = True, (1, 0, 0), (0, 1, 0)
    state["rotation"] = naive.quat_from_axis_angle((0, 0, 1), bend)
    before = state["rotation"].copy()
    from_python(joints.hold)(joint[0], state[0], 1e-13)
    expected = before if bend > 0 else [(0, 0, 0, 1)]
    np.testing.assert_allclose(state["rotation"], expected, atol=1e-12 if bend < 0 else 0)


# --- limits ----------------------------------------------------------------------------------------------------


def some_rotation(bone, limit, u, v, w):
    record = in_precision(np.atleast_1d(limit.record(tuple(bone))), np.float64)[0]
    return widened(from_python(joints.some_rotation)(cast(np.float64, bone), record, u, v, w))


@kinds
@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_a_scattered_rotation_is_inside_its_limit(limit, u, v, w):
    bone = naive.unit((1, 2, -1))
    q = some_rotation(bone, limit, u, v, w)
    assert naive.angle_between_rotations(q, limit.project(q, bone)) < 1e-7


def test_scattered_rotations_cover_the_allowed_range():
    rng = problems.generator(5)
    bone = naive.unit((1, 2, -1))
    count = 400 if compiled.COMPILED else 100
    for limit, axis, span in (
        (LIMITS[0], (0, 0, 1), (-0.4, 1.1)),
        (LIMITS[4], bone, (-0.2, 0.9)),
        (LIMITS[3], bone, (-3, 3)),
    ):
        rotations = [some_rotation(bone, limit, *rng.uniform(size=3)) for _ in range(count)]
        found = np.array([naive.twist_angle(q, axis) for q in rotations])
        filled, _ = np.histogram(found, 8, span)
        assert filled.min() > 0


@batch
def _step_at_edge(joint, state, wanted, rounding):
    """Find the edges, block what pushes past them, and leave in `pull` what is left of a wanted rotation."""
    for n in range(joint.size):
        joints.find_edges(joint[n], state[n], rounding)
        on = (wanted[n, 0], wanted[n, 1], wanted[n, 2])
        state[n].no_swing, state[n].no_twist = joints.blocked(state[n], on)
        kept = joints.allowed(joint[n], state[n], on)
        state[n].pull[0], state[n].pull[1], state[n].pull[2] = kept[0], kept[1], kept[2]


@kinds
def test_what_pushes_past_an_edge_is_blocked(limit):
    """What a small step would break, and only that, is taken from it."""
    rng = problems.generator(6)
    count = 100 if compiled.COMPILED else 20
    bone, rest = naive.unit((1, 2, -1)), problems.quaternions(rng)
    away = limit.project(problems.quaternions(rng, count), bone)
    wanted = problems.units(rng, count)
    if isinstance(limit, km.Hinge):
        wanted = np.array(limit.axis) * rng.choice([-1, 1], (count, 1))
    joint, state = records.zeros(records.JOINT, count), records.zeros(records.JOINT_STATE, count)
    joint["mobility"], joint["rest"], joint["bone"], joint["limit"] = 1, rest, bone, limit.record(tuple(bone))
    state["rotation"] = naive.quat_mul(rest, away)
    state["x"], state["y"], state["z"] = np.eye(3)
    _step_at_edge(joint, state, wanted, 1e-13)
    for i in range(count):
        held = bool(state["no_swing"][i] or state["no_twist"][i])
        assert past(limit, away[i], bone, state["pull"][i]) < 1e-2
        assert (past(limit, away[i], bone, wanted[i]) > 1e-3) == held


def past(limit, away, bone, turn, step=1e-6):
    """How fast a rotation leaves a limit, radians per radian."""
    if not np.any(turn):
        return 0.0
    after = naive.quat_mul(away, naive.quat_from_axis_angle(turn, step * np.linalg.norm(turn)))
    return naive.angle_between_rotations(after, limit.project(after, bone)) / step
