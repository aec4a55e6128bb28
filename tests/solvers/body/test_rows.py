"""Rows of the full-body system: the wrench of a row is the derivative of what it measures."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.solvers.body import joints, rows
from tests import naive, problems
from tests.compiled import from_python
from tests.solvers.body.problems import jacobian, moved, problem_of, tree

TIP, OTHER = 5, 8


def effectors(rng, skeleton, pose):
    """One effector of every kind, all nearly met."""
    world = skeleton.world(pose)
    at, other = world[TIP, :3, 3], world[OTHER, :3, 3]
    rotation = naive.quat_mul(problems.quaternions(rng) * 0.02 + (0, 0, 0, 1), skeleton.world_rotations(pose)[TIP])
    along = world[TIP, :3, :3] @ (0, 0, 1) + rng.normal(size=3) * 0.05
    return {
        "position": km.Effector(TIP, at + 0.03, offset=(0.1, 0.2, -0.1)),
        "rotation": km.Effector(TIP, rotation=rotation / np.linalg.norm(rotation)),
        "direction": km.Effector(TIP, direction=along, axis=(0, 0, 1)),
        "plane": km.Effector(TIP, at + (0, 0.04, 0), normal=(0.2, 1, 0)),
        "distance": km.Effector(TIP, other=OTHER, distance=np.linalg.norm(at - other) + 0.05),
        "centre of mass": km.Effector("centre_of_mass", world[:, :3, 3].mean(axis=0)),
    }


@pytest.mark.parametrize("kind", ["position", "rotation", "direction", "plane", "distance", "centre of mass"])
def test_a_row_falls_as_fast_as_its_wrench_says(kind):
    rng = problems.generator(31)
    skeleton = tree(rng)
    body, pose = km.FullBody(skeleton), moved(rng, skeleton.rest, 0.5)
    problem, _ = problem_of(body, pose, [effectors(rng, skeleton, pose)[kind]])
    build, step = from_python(rows.build_rows), 1e-6
    count = build(problem)
    assert count == {"plane": 1, "distance": 1, "direction": 2}.get(kind, 3)
    before, expected = problem.rows["residual"][:count].copy(), jacobian(problem, count)
    directions = problem.rows["moment"][:count].copy()
    for n in range(problem.joints.size):
        start = problem.states["rotation"][n].copy()
        for c in range(3):
            turn = tuple(float(step * (k == c)) for k in range(3))
            from_python(joints.move_joint)(problem, n, turn, (0.0, 0.0, 0.0))
            from_python(joints.forward)(problem)
            build(problem)
            after = problem.rows["residual"][:count]
            if kind == "direction":  # Its rows follow the miss: compare along the rows as they were.
                after = np.array([after[0] * (problem.rows["moment"][0] @ row) for row in directions])
            near = 2e-2 if kind in ("rotation", "direction") else 1e-4
            np.testing.assert_allclose((before - after) / step, expected[:, n, c], atol=near)
            problem.states["rotation"][n] = start
    from_python(joints.forward)(problem)


def test_misses_are_cut_and_errors_are_not():
    """A step looks no farther than it can see; the report does."""
    skeleton = tree(problems.generator(32))
    body = km.FullBody(skeleton)
    far = skeleton.world(skeleton.rest)[TIP, :3, 3] + (10 * body.size, 0, 0)
    problem, _ = problem_of(body, skeleton.rest, [km.Effector(TIP, far)])
    count = from_python(rows.build_rows)(problem)
    assert np.linalg.norm(problem.rows["residual"][:count]) == pytest.approx(0.2)
    assert problem.effectors["error"][0] == pytest.approx(10.0)
    opposite = naive.quat_mul(naive.quat_from_axis_angle((0, 1, 0), 3.0), skeleton.world_rotations(skeleton.rest)[TIP])
    problem, _ = problem_of(body, skeleton.rest, [km.Effector(TIP, rotation=opposite)])
    count = from_python(rows.build_rows)(problem)
    assert np.linalg.norm(problem.rows["residual"][:count]) == pytest.approx(0.8)
    assert problem.effectors["rotation_error"][0] == pytest.approx(3.0)


def test_an_inequality_heeds_its_edge_before_it_is_crossed():
    skeleton = tree(problems.generator(33))
    body = km.FullBody(skeleton)
    at = skeleton.world(skeleton.rest)[TIP, :3, 3]
    for above, count in ((0.06, 0), (0.04, 1), (-0.04, 1)):
        plane = km.Effector(TIP, at - (0, above * body.size, 0), normal=(0, 1, 0))
        problem, _ = problem_of(body, skeleton.rest, [plane])
        assert from_python(rows.build_rows)(problem) == count
        assert problem.effectors["error"][0] == pytest.approx(max(-above, 0.0))


def test_less_weight_gives_way_by_its_fourth_power():
    share = from_python(rows.weight_share)
    assert [share(w) for w in (1.0, 0.5)] == [1.0, 0.0625]
    assert share(0.0) == pytest.approx(1e-24)


def test_priorities_beyond_the_rank_do_not_count():
    character = humanoid()
    body, pose = km.FullBody(character), character.skeleton.rest
    wanted = [km.Effector("left_hand", (1, 1, 1), priority=1), km.Effector("right_hand", (-1, 1, 1))]
    problem, _ = problem_of(body, pose, wanted)
    assert from_python(rows.build_rows)(problem) == 6
    both = from_python(rows.squared_error)(problem)
    problem.settings["rank"] = 0
    assert from_python(rows.build_rows)(problem) == 3
    assert from_python(rows.squared_error)(problem) < both
