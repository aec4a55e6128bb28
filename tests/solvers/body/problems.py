"""One character as the kernels of the full-body step take it."""

import numpy as np

import kinema as km
from kinema.solvers.body import records, solve, targets
from kinema.solvers.body.plan import PoseRows
from kinema.solvers.body.records import BodyProblem
from tests import naive, problems
from tests.compiled import from_python


def tree(rng, limits=None):
    """A trunk of three joints and two arms of three, bones anywhere: indices 0 to 2, 3 to 5 and 6 to 8."""
    parents = [-1, 0, 1, 2, 3, 4, 2, 6, 7]
    rest = km.Pose(rng.normal(size=(9, 3)) * 0.4, problems.quaternions(rng, 9))
    return km.Skeleton([f"j{n}" for n in range(9)], parents, rest, limits)


def moved(rng, rest, amount):
    """A pose near another, its joints rotated by about so many radians."""
    vectors = np.ones((len(rest.rotations), 4))
    vectors[:, :3] = rng.normal(size=(len(rest.rotations), 3)) * amount / 2
    return km.Pose(rest.translations, naive.quat_mul(rest.rotations, vectors))


def problem_of(body, pose, effectors):
    """The `BodyProblem` of a character in a pose, world matrices and rows up to date, and that of its whole body."""
    plan = body._plan(targets.signature(effectors), effectors)
    goals = targets.as_records([targets.numbers(effector) for effector in effectors], plan.effectors, ())
    unsettled, outcomes = np.zeros((1, len(body.skeleton)), bool), records.zeros(records.OUTCOME, 1)
    call = plan.call(PoseRows.of(pose, ()), None, unsettled, goals, plan.settings.copy(), outcomes)
    room, moving = plan.room(plan.rows), int(call.settings["moving"][0])
    call.settings["rank"] = call.settings["ranks"]
    from_python(solve.load_body)(call, 0, room.states)
    rest = (goals[0], room.rows, room.sweep, room.matrix, room.pulls, call.settings, room.support)
    whole = BodyProblem(call.joints[:], room.states[:], *rest)
    problem = BodyProblem(call.joints[:moving], room.states[:moving], *rest)
    from_python(solve.stand)(problem, whole)
    return problem, whole


def ancestors(problem, joint):
    """Whether each joint is a joint or above it."""
    found = np.zeros(problem.joints.size, bool)
    while joint >= 0:
        found[joint] = True
        joint = problem.joints["parent"][joint]
    return found


def jacobian(problem, count):
    """(rows, joints, 6): how fast each row's residual falls as each joint rotates and moves, from the wrenches."""
    rows, states, joints = problem.rows, problem.states, problem.joints
    out = np.zeros((count, joints.size, 6))
    for k in range(count):
        if rows["joint"][k] < 0:
            pulls = [(n, joints["mass"][n], states["mass_point"][n]) for n in range(joints.size)]
            wrenches = [(n, np.cross(at, rows["force"][k] * mass), rows["force"][k] * mass) for n, mass, at in pulls]
        else:
            wrenches = [(rows["joint"][k], rows["moment"][k], rows["force"][k])]
        if rows["other"][k] >= 0:
            wrenches.append((rows["other"][k], -rows["other_moment"][k], -rows["force"][k]))
        for joint, moment, force in wrenches:
            above = ancestors(problem, joint)
            out[k, above, :3] += moment - np.cross(states["origin"][above], force)
            out[k, above, 3:] += force
    return out
