"""Descent from any pose: lower errors, other starts, priorities; and how many steps that takes."""

import numpy as np
import pytest

import kinema as km
from kinema.demo import humanoid
from kinema.solvers.body import descent, rows
from tests import naive, problems
from tests.compiled import from_python
from tests.solvers.body.problems import moved, problem_of, tree


def test_descending_never_makes_it_worse_and_ends_at_what_can_be_reached():
    rng = problems.generator(71)
    skeleton = tree(rng)
    body = km.FullBody(skeleton)
    for amount in (0.2, 1.0):
        targets = skeleton.world(moved(rng, skeleton.rest, amount))[:, :3, 3]
        problem, _ = problem_of(body, skeleton.rest, [km.Effector(j, targets[j]) for j in (5, 8)])
        from_python(rows.build_rows)(problem)
        before = from_python(rows.squared_error)(problem)
        steps, after = from_python(descent.descend)(problem, 0)
        assert 0 < steps <= 40
        assert after < before
        assert from_python(rows.is_reached)(problem)


def test_it_stops_where_nothing_gets_better():
    """Far out of reach, with any number of steps."""
    skeleton = tree(problems.generator(72))
    far = km.Effector(5, (50.0, 20.0, 10.0))
    problem, _ = problem_of(km.FullBody(skeleton, root="fixed", max_steps=1000), skeleton.rest, [far])
    steps, _ = from_python(descent.descend)(problem, 0)
    assert 10 < steps < 600


def test_steps_that_lose_what_is_met_are_not_taken():
    """A trunk held at its end, an arm pulled far away with less priority: the trunk stays, the arm comes nearer."""
    rng = problems.generator(75)
    skeleton = tree(rng)
    at = skeleton.world(skeleton.rest)[:, :3, 3]
    pulls = [km.Effector(2, at[2], priority=1), km.Effector(5, at[5] + (3.0, 1.0, 2.0))]
    problem, _ = problem_of(km.FullBody(skeleton), skeleton.rest, pulls)
    from_python(rows.build_rows)(problem)
    before = from_python(rows.squared_error)(problem)
    _, after = from_python(descent.descend)(problem, 1)
    assert after < 0.9 * before
    assert problem.effectors["error"][problem.effectors["rank"] == 0].max() <= problem.settings["tolerance"][0]


def test_other_starts_are_inside_limits_and_differ_by_attempt():
    rng = problems.generator(73)
    limits = [None, None, None, km.Hinge((0, 0, 1), 0.0, 1.0), km.Hinge((0, 1, 0), -0.5, 0.5), None, None, None, None]
    skeleton = tree(rng, limits)
    problem, _ = problem_of(km.FullBody(skeleton), skeleton.rest, [km.Effector(5, (0, 0, 0))])
    seen = []
    for attempt in (1, 2, 1):
        from_python(descent.scatter)(problem, attempt)
        seen.append(problem.states["rotation"].copy())
        for n, node in enumerate(problem.joints["node"]):
            away = naive.quat_mul(naive.quat_conj(skeleton.rest.rotations[node]), problem.states["rotation"][n])
            if isinstance(limits[node], km.Hinge):
                bone = skeleton.joint_limits(np.float64).bones[node]
                assert naive.angle_between_rotations(away, limits[node].project(away, bone)) < 1e-7
            else:
                assert naive.rotation_angle(away) <= 0.8 + 1e-9
    np.testing.assert_array_equal(seen[0], seen[2])
    assert (seen[0] != seen[1]).any()


@pytest.mark.slow_uncompiled
def test_how_many_steps_a_person_needs():
    """Pins the tuning of the descent: another damping or another end of it changes these."""
    rng = problems.generator(74)
    character = humanoid()
    body, rest = km.FullBody(character), character.skeleton.rest
    start = character.skeleton.world(rest)[body.joint("left_hand"), :3, 3]
    near = start + problems.units(rng, 100) * 0.3
    _, report = body.solve(rest, [km.Effector("left_hand", near), km.Effector("left_foot", pin=True)])
    assert report.reached.mean() > 0.95
    assert 2.8 < report.steps[report.reached].mean() < 3.2
    _, far = body.solve(rest, [km.Effector("left_hand", start + (4.0, 0, 0)), km.Effector("left_foot", pin=True)])
    assert not far.reached
    assert 60 < far.steps < 320
