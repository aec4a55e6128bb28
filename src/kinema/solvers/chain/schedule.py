"""The order of passes that a chain goes through: alone, and many chains in lanes.

First up to `main_passes` of its solver, which give the pose its character; then the finish (`gauss_newton.py`). A chain
that stalls there starts again from another pose. The best pose seen is what is returned.

`solve_one` is the specification; the GPU runs it in each of its threads. `solve_lanes` takes every chain through
exactly the same steps, many of them at a time. Two groups of lanes are under way: chains in their main passes, which
start together, and chains in the finish, where the next one moves in as soon as one leaves. The finish only steps when
its lanes are full or nothing else is left to do. What happens to a chain depends on its own numbers alone, so the
answer has the same bits in any company.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kinema import notices
from kinema.compile.jit import allocating_batch, kernel, like, routine
from kinema.compile.lanes import load3, store3
from kinema.math import vec
from kinema.solvers.chain.attempt import end_attempt, start_attempts
from kinema.solvers.chain.chain_records import NO_CHAIN, Answer, ChainProblem, many_lanes, one_lane, queue_of_lanes
from kinema.solvers.chain.gauss_newton import finish_pass

STALL_SHARE = 0.9
"""An error counts as better below this share of the best one."""

STALL_PASSES = 6
"""Finish passes without a better error after which a chain has stalled."""

PROGRESS = 1e-3
"""What a pass inside limits must improve on, in chain lengths, to count as progress: the error of a target that the
limits keep out of reach never becomes small, so no share of it says whether the chain still moves."""

# --- steps of one chain, in lane k -----------------------------------------------------------------------------


@kernel
def clear(outcome):
    """Forget what an outcome record held before."""
    outcome.error = like(outcome.error, np.inf)
    outcome.iterations = 0
    outcome.attempts = 0


@kernel
def start_main(group, k, settings, outcome):
    """Start counting a chain's main passes, which never count as stalled."""
    group.passes[k] = 0
    group.stalled[k] = 0
    group.cap[k] = min(settings.main_passes, settings.budget - outcome.iterations)


@kernel
def start_finish(group, k, settings, outcome):
    """Start counting a chain's finish passes."""
    group.passes[k] = 0
    group.cap[k] = min(settings.finish_passes, settings.budget - outcome.iterations)
    group.stalled[k] = 0
    group.nearest[k] = like(group.miss[k], np.inf)
    group.to_beat[k] = group.miss[k]


@kernel
def count_finish_pass(group, k, settings):
    """Count a finish pass, and the passes since the last one that was progress."""
    miss, to_beat = group.miss[k], group.to_beat[k]
    group.passes[k] += 1
    better = miss < to_beat * like(to_beat, STALL_SHARE)
    better |= settings.limited & (miss < to_beat - like(to_beat, PROGRESS))
    group.stalled[k] = 0 if better else group.stalled[k] + 1
    group.to_beat[k] = miss if better else to_beat


@kernel
def is_over(group, k):
    """Whether a chain leaves its lane: it has reached its target, has made all its passes, or has stalled."""
    reached = group.miss[k] <= group.tolerance[k]
    return reached | (group.passes[k] >= group.cap[k]) | (group.stalled[k] >= STALL_PASSES)


@routine
def end_main(work, k, problem, answer, i):
    """Take a chain out of its main passes. Returns whether it goes on to the finish; if not, its attempt is over."""
    group, outcome = work.group[0], answer.outcomes[i]
    outcome.iterations += group.passes[k]
    over = group.miss[k] <= group.tolerance[k] or outcome.iterations >= problem.settings[0].budget
    if over:
        end_attempt(work, k, problem, answer, i)
    return not over


@routine
def end_finish(work, k, problem, answer, i):
    """Take a chain out of the finish with its best pose. Returns whether another attempt is worth it."""
    chain, group = work.chain, work.group[0]
    settings, outcome = problem.settings[0], answer.outcomes[i]
    outcome.iterations += group.passes[k]
    if group.nearest[k] < group.miss[k]:
        group.miss[k] = group.nearest[k]
        for joint in chain:
            store3(joint.position, k, load3(joint.best, k))
    end_attempt(work, k, problem, answer, i)
    outcome.attempts += 1
    hopeless = outcome.iterations >= settings.budget or outcome.attempts >= settings.attempts
    return group.miss[k] > group.tolerance[k] and group.miss[k] > settings.floor and not hopeless


# --- steps of all lanes ----------------------------------------------------------------------------------------


@kernel
def measure_misses(work):
    """Measure every lane's distance from its goal."""
    chain, group = work.chain, work.group[0]
    tip = chain[chain.size - 1]
    for k in range(group.miss.size):
        group.miss[k] = vec.length(vec.sub(load3(tip.position, k), load3(group.goal, k)))


@routine
def keep_best(work):
    """Keep poses that are nearer than any before, before a finish pass changes them."""
    chain, group = work.chain, work.group[0]
    for j in range(1, chain.size):
        joint = chain[j]
        for k in range(group.miss.size):
            nearer = group.miss[k] < group.nearest[k]
            store3(joint.best, k, vec.select(nearer, load3(joint.position, k), load3(joint.best, k)))
    for k in range(group.miss.size):
        group.nearest[k] = group.miss[k] if group.miss[k] < group.nearest[k] else group.nearest[k]


# --- one chain -------------------------------------------------------------------------------------------------


@kernel  # Inlined: a function passed as an argument to one that is not inlined would keep its caller from being cached.
def solve_one(main_pass, work, problem, answer, i):
    """Solve chain i of a problem in a workspace of one lane, with passes of FABRIK or CCD."""
    table, settings, outcome = problem.table, problem.settings[0], answer.outcomes[i]
    group = work.group[0]
    clear(outcome)
    group.chain[0] = i
    while start_attempts(work, problem, answer) > 0:
        start_main(group, 0, settings, outcome)
        while group.passes[0] == 0 or not is_over(group, 0):
            main_pass(work, table, settings)
            measure_misses(work)
            group.passes[0] += 1
        if not end_main(work, 0, problem, answer, i):
            break
        start_finish(group, 0, settings, outcome)
        while not is_over(group, 0):
            keep_best(work)
            finish_pass(work, table, settings)
            measure_misses(work)
            count_finish_pass(group, 0, settings)
        if not end_finish(work, 0, problem, answer, i):
            break
    conclude(outcome, settings)


@kernel
def conclude(outcome, settings):
    """Set whether the error that is returned counts as reached, and the chain's troubles.

    Without limits the closed form knows what is out of reach. Inside limits it is what no attempt came near, unless the
    passes that were given ended before the attempts.
    """
    outcome.reached = outcome.error <= settings.tolerance * outcome.length + settings.tolerance_m
    gave_up = settings.limited and not settings.capped
    beyond = not outcome.reached and (outcome.iterations == 0 or gave_up)
    outcome.trouble = notices.flags_of(outcome.shortest, outcome.length, beyond)


# --- many chains -----------------------------------------------------------------------------------------------


@kernel
def solve_lanes(main_pass, main, finish, queues, problem, answer):
    """Solve all chains of a problem in two workspaces of many lanes, for main passes and for the finish."""
    table, settings, queue = problem.table, problem.settings[0], queues[0]
    queue.fresh, queue.retry = 0, NO_CHAIN
    for k in range(finish.group[0].miss.size):
        park(finish.group[0], k)
    while chains_left(queue, answer):
        under_way = fill(main, queue, problem, answer)
        while under_way > 0:
            main_pass(main, table, settings)
            measure_misses(main)
            under_way = leave_main(main, problem, answer)
        while True:
            waiting = move_to_finish(main, finish, problem, answer)
            draining = any_taken(finish.group[0]) and not chains_left(queue, answer)
            if waiting == 0 and not draining:
                break
            keep_best(finish)
            finish_pass(finish, table, settings)
            measure_misses(finish)
            leave_finish(finish, queue, problem, answer)
    for i in range(answer.outcomes.size):
        conclude(answer.outcomes[i], settings)


@kernel
def park(group, k):
    """Leave a lane idle. Passes go on over whatever numbers are in it."""
    group.chain[k] = NO_CHAIN
    group.stalled[k] = 0


@kernel
def any_taken(group):
    taken = False
    for k in range(group.miss.size):
        taken |= group.chain[k] != NO_CHAIN
    return taken


@kernel
def chains_left(queue, answer):
    """Whether any chain waits to be loaded into a lane."""
    return queue.fresh < answer.outcomes.size or queue.retry != NO_CHAIN


@kernel
def next_chain(queue, answer):
    """The next chain to load into a lane: a fresh one, else one that tries again, else NO_CHAIN."""
    if queue.fresh < answer.outcomes.size:
        i = queue.fresh
        queue.fresh += 1
        clear(answer.outcomes[i])
        return i
    i = queue.retry
    if i != NO_CHAIN:
        queue.retry = answer.outcomes[i].next_retry
    return i


@routine
def fill(main, queue, problem, answer):
    """Load chains into all lanes of the main group, none of which is taken. Returns how many need passes."""
    group, settings = main.group[0], problem.settings[0]
    for k in range(group.miss.size):
        group.chain[k] = next_chain(queue, answer)
    taken = start_attempts(main, problem, answer)
    for k in range(group.miss.size):
        if group.chain[k] != NO_CHAIN:
            start_main(group, k, settings, answer.outcomes[group.chain[k]])
    return taken


@routine
def leave_main(main, problem, answer):
    """Count a main pass. Chains whose attempt is over leave their lane. Returns how many need another main pass.

    Those that go on to the finish stay. All lanes started together, so they do so after the same pass, the last one.
    """
    group = main.group[0]
    for k in range(group.miss.size):
        group.passes[k] += 1
    under_way = 0
    for k in range(group.miss.size):
        i = group.chain[k]
        if i == NO_CHAIN:
            continue
        if not is_over(group, k):
            under_way += 1
        elif not end_main(main, k, problem, answer, i):
            park(group, k)
    return under_way


@routine
def move_to_finish(main, finish, problem, answer):
    """Move chains from the main group into free lanes of the finish. Returns how many still wait for one."""
    group, waiting, to = main.group[0], 0, 0
    lanes = group.miss.size
    for k in range(lanes):
        i = group.chain[k]
        if i == NO_CHAIN:
            continue
        while to < lanes and finish.group[0].chain[to] != NO_CHAIN:
            to += 1
        if to == lanes:
            waiting += 1
            continue
        copy_lane(main, k, finish, to, problem.table)
        start_finish(finish.group[0], to, problem.settings[0], answer.outcomes[i])
        park(group, k)
    return waiting


@kernel
def copy_lane(source, k, target, to, table):
    """Copy a chain from one lane to another: every field that `start_finish` does not set and the finish reads."""
    for j in range(source.chain.size):
        a, b = source.chain[j], target.chain[j]
        store3(b.position, to, load3(a.position, k))
        b.length[to] = a.length[k]
        if table is not None:
            store3(b.axis, to, load3(a.axis, k))
            store3(b.edge, to, load3(a.edge, k))
    main, finish = source.group[0], target.group[0]
    store3(finish.goal, to, load3(main.goal, k))
    finish.whole[to] = main.whole[k]
    finish.tolerance[to] = main.tolerance[k]
    finish.miss[to] = main.miss[k]
    finish.chain[to] = main.chain[k]


@routine
def leave_finish(finish, queue, problem, answer):
    """Count a finish pass. Chains that are done leave their lane, some of them to try again."""
    group, settings = finish.group[0], problem.settings[0]
    for k in range(group.miss.size):
        count_finish_pass(group, k, settings)
    for k in range(group.miss.size):
        i = group.chain[k]
        if i == NO_CHAIN or not is_over(group, k):
            continue
        if end_finish(finish, k, problem, answer, i):
            answer.outcomes[i].next_retry = queue.retry
            queue.retry = i
        park(group, k)


# --- the loops of a solver -------------------------------------------------------------------------------------


def loops_of(main_pass: Any) -> tuple[Callable[..., None], Callable[..., None]]:
    """Make the loops of a solver, from the kernel of its pass: over a few chains one by one, over many side by side."""

    @allocating_batch
    def solve_few(source, targets, poles, table, settings, joints, outcomes):
        """Solve chains one after the other."""
        problem, answer = ChainProblem(source, targets, poles, table, settings), Answer(joints, outcomes)
        work = one_lane(source.shape[1], settings[0].floor)
        for i in range(source.shape[0]):
            solve_one(main_pass, work, problem, answer, i)

    @allocating_batch
    def solve_many(source, targets, poles, table, settings, joints, outcomes):
        """Solve chains side by side."""
        problem, answer = ChainProblem(source, targets, poles, table, settings), Answer(joints, outcomes)
        size, x = source.shape[1], settings[0].floor
        solve_lanes(main_pass, many_lanes(size, x), many_lanes(size, x), queue_of_lanes(1, x), problem, answer)

    return solve_few, solve_many
