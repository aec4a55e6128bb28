"""The step that the full-body solver and `solve` share: joints at their limits, the system, rotations as vectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kinema as km
from kinema.compile.jit import batch
from kinema.math import quat
from kinema.model.limits import in_precision
from kinema.solvers.body import joints, records, system
from tests import compiled, naive, problems
from tests.compiled import cast, from_python, run, widened
from tests.solvers.limit_kinds import LIMITS, kinds


@given(compiled.vectors(4.0), st.floats(0.01, 3.0))
def test_a_rotation_vector_is_its_axis_times_its_angle(v, largest):
    rotation = run(quat.from_vector, np.float64, v, largest)
    angle = min(float(np.linalg.norm(v)), largest)
    assert naive.rotation_angle(rotation) == pytest.approx(angle if angle <= np.pi else 2 * np.pi - angle, abs=1e-9)
    if angle > 1e-9:
        expected = naive.quat_from_axis_angle(v, angle)
        np.testing.assert_allclose(rotation, expected, atol=1e-12)


@given(compiled.rotations())
def test_a_rotation_is_its_vector(q):
    v = run(quat.to_vector, np.float64, q)
    assert np.linalg.norm(v) <= np.pi + 1e-9
    back = run(quat.from_vector, np.float64, v, 4.0)
    assert naive.angle_between_rotations(back, q) < 1e-7


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


# --- the system ------------------------------------------------------------------------------------------------


def test_the_factor_solves_the_system():
    rng = problems.generator(8)
    half = rng.normal(size=(7, 9))
    matrix, right = half @ half.T + np.eye(7) * 0.1, rng.normal(size=7)
    factor, x = matrix.copy(), right.copy()
    compiled.from_python(system.factor)(factor, 7)
    compiled.from_python(system.substitute)(factor, x, 7)
    np.testing.assert_allclose(matrix @ x, right, atol=1e-10)
    upper = np.triu(factor)
    np.testing.assert_allclose(upper.T @ upper, matrix, atol=1e-12)


def test_a_singular_system_has_a_finite_answer():
    factor, x = np.ones((3, 3)), np.array((1.0, 2.0, 3.0))
    compiled.from_python(system.factor)(factor, 3)
    compiled.from_python(system.substitute)(factor, x, 3)
    assert np.isfinite(x).all()
