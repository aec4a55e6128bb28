"""One step of the full body: the system inside its limits, how far a step may go, and taking it."""

from __future__ import annotations

from kinema.compile.jit import kernel, routine
from kinema.math import vec
from kinema.math.rows import load3, load4, store3, store4
from kinema.model import limits
from kinema.solvers.body.joints import (
    along_own_rail,
    along_rail,
    blocked,
    forward,
    hold,
    move_joint,
    set_along_rail,
    set_mobility,
)
from kinema.solvers.body.system import (
    factor,
    fill_matrix,
    fill_pulls,
    gather_wrenches,
    moment_at,
    motion,
    substitute,
)

ACTIVE_SETS = 5
"""Times that the limits which hold a step back are revised before it is taken,"""

RELEASES = 2
"""and times that a revision may release joints."""


# --- the system ------------------------------------------------------------------------------------------------


@routine
def revise(problem, count, release):
    """Block what would push a joint on past its edge, release what would not; drop inequalities that would pull.

    release: whether joints may be released. Returns whether anything changed.
    """
    changed = False
    for r in range(count):
        row = problem.rows[r]
        if row.one_sided and not row.off and problem.pulls[r] < 0.0:
            row.off = True
            changed = True
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        if joint.rail:
            on = vec.add(load3(state.pull_slide), vec.scale(load3(state.force), state.slide))
            ahead = vec.dot(load3(state.rail), on)
            no_swing, no_twist = False, (state.at_high and ahead > 0.0) or (state.at_low and ahead < 0.0)
        elif joint.mobility <= 0.0 or (joint.limit.kind == limits.NONE and not joint.one_sided):
            continue
        else:
            on = vec.add(load3(state.pull), vec.scale(moment_at(state), state.mobility))
            no_swing, no_twist = blocked(state, on)
        if not release:
            no_swing, no_twist = no_swing or state.no_swing, no_twist or state.no_twist
        if no_twist != state.no_twist or no_swing != state.no_swing:
            state.no_twist, state.no_swing = no_twist, no_swing
            set_mobility(joint, state)
            changed = True
    return changed


@routine
def solve_system(problem, count):
    """Find the forces l, and with them the wrench on every joint."""
    fill_pulls(problem, count)
    fill_matrix(problem, count)
    factor(problem.matrix, count)
    substitute(problem.matrix, problem.pulls, count)
    gather_wrenches(problem, count)


@routine
def solve_step(problem, count):
    """Find the forces of a step, with the limits that hold it back.

    Later revisions only block: joints that block and release each other in turns would leave forces and limits that do
    not belong together.
    """
    for k in range(ACTIVE_SETS):
        solve_system(problem, count)
        if not revise(problem, count, k < RELEASES):
            return
    solve_system(problem, count)


# --- joints ----------------------------------------------------------------------------------------------------


@kernel
def slide_of(joint, state):
    """How far a joint moves in this step, body sizes, world space."""
    slide = vec.scale(load3(state.force), state.slide)
    return along_own_rail(joint, state, vec.add(slide, load3(state.pull_slide)) if joint.slide > 0.0 else slide)


@kernel
def keep(state, kept):
    """Remember the local transform of a joint in one of its `KEPT`."""
    store4(kept.rotation, load4(state.rotation))
    store3(kept.translation, load3(state.translation))


@kernel
def restore(state, kept):
    """Give a joint a local transform that was kept."""
    store4(state.rotation, load4(kept.rotation))
    store3(state.translation, load3(kept.translation))


@kernel
def keep_start(problem):
    """Remember where a step starts."""
    for n in range(problem.joints.size):
        keep(problem.states[n], problem.states[n].start)


@routine
def move(problem, share):
    """Move every joint as the forces say, or a share of it."""
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        slide = vec.scale(slide_of(joint, state), share)
        move_joint(problem, n, vec.scale(motion(joint, state), share), slide)
    forward(problem)


@kernel
def go_to_start(problem):
    """Go to where a step started, or to a warm start. World matrices are not brought up to date."""
    for n in range(problem.joints.size):
        restore(problem.states[n], problem.states[n].start)


@routine
def take_back(problem):
    """Undo a step."""
    go_to_start(problem)
    forward(problem)


@kernel
def keep_pose(problem):
    """Remember the pose as the best one."""
    for n in range(problem.joints.size):
        keep(problem.states[n], problem.states[n].best)


@kernel
def go_back(problem):
    """Go back to the best pose."""
    for n in range(problem.joints.size):
        restore(problem.states[n], problem.states[n].best)
    forward(problem)


@routine
def begin(problem):
    """Hold the limits of joints that may move, where the pose enters outside of them."""
    for n in range(problem.joints.size):
        joint, state = problem.joints[n], problem.states[n]
        if joint.mobility > 0.0:
            hold(joint, state, problem.settings[0].rounding)
        if joint.rail and joint.slide > 0.0:
            set_along_rail(joint, state, along_rail(joint, state))
        state.no_swing, state.no_twist = False, False
    forward(problem)
