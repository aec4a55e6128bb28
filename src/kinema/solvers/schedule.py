"""The order of passes a chain goes through, for many chains in lanes and for one by itself.

Up to `MAIN_PASSES` of its solver; then the finish; a chain that stalls there starts again from a scattered pose, and
the best pose seen is what is returned.

On the CPU two groups of `LANES` chains are under way: those in their main passes and those in the finish. A chain
that leaves a lane makes room for the next one at once, and the finish only steps when its lanes are full. What
happens to a chain depends on its own numbers alone, so the answer has the same bits in any company.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kinema._jit import batch, kernel, like
from kinema.constants import FARTHEST, LANES, STALL_PASSES, STALL_SHARE
from kinema.solvers.lane import begin, end, miss_of
from kinema.solvers.passes import FIELDS, FREE, SCRATCH, passes

FABRIK, CCD = 0, 1

_UNUSED = -1
_NEVER = 1 << 62

_lanes = passes(LANES)
_fabrik, _ccd, _finish = _lanes.fabrik, _lanes.ccd, _lanes.finish


@kernel
def misses(lane, goal, joints, miss):
    """Every lane's distance from its target."""
    tip = lane[(joints - 1) * FIELDS * LANES : joints * FIELDS * LANES]
    for k in range(LANES):
        x = tip[k] - goal[k]
        y = tip[LANES + k] - goal[LANES + k]
        z = tip[2 * LANES + k] - goal[2 * LANES + k]
        miss[k] = math.sqrt(x * x + y * y + z * z)


@kernel
def move_over(main, main_goal, main_chain, waiting, tail, tail_goal, tail_chain, joints, fields):
    """Waiting chains into free lanes of the finish. Returns how many still wait."""
    to = 0
    waits = 0
    for k in range(LANES):
        if not waiting[k]:
            continue
        while to < LANES and tail_chain[to] != _UNUSED:
            to += 1
        if to == LANES:
            waits += 1
            continue
        for j in range(joints):
            for field in range(fields):
                at = (j * FIELDS + field) * LANES
                tail[at + to] = main[at + k]
        for row in range(4):
            tail_goal[row * LANES + to] = main_goal[row * LANES + k]
        tail_chain[to] = main_chain[k]
        main_chain[k] = _UNUSED
        waiting[k] = False
    return waits


@kernel
def park(goal, cap, k):
    """Leave a lane idle: a target that is never reached, a number of passes that is never made."""
    goal[k] = like(goal[k], FARTHEST + 1.0)
    cap[k] = _NEVER


@batch
def solve_lanes(first, last, solver, chains, table, setup, floor, caps, output, iterations):
    """Chains first to last. `caps`: main passes, finish passes, attempts, and passes in all, per chain."""
    joints, source = chains[0], chains[1]
    base, tolerance, limited = setup[0], setup[2], setup[3]
    error = output[1]
    main_cap, finish_cap, attempts, budget = caps
    fields = 4 if limited == FREE else FIELDS
    dtype = source.dtype
    main = np.zeros(joints * FIELDS * LANES, dtype)
    tail = np.zeros(joints * FIELDS * LANES, dtype)
    main_goal = np.zeros(4 * LANES, dtype)
    tail_goal = np.zeros(4 * LANES, dtype)
    scratch = np.zeros(SCRATCH * LANES, dtype)
    miss = np.zeros(LANES, dtype)
    best = np.zeros(LANES, dtype)
    main_chain = np.full(LANES, _UNUSED, np.int64)
    tail_chain = np.full(LANES, _UNUSED, np.int64)
    age = np.zeros(LANES, np.int64)
    tail_age = np.zeros(LANES, np.int64)
    cap = np.zeros(LANES, np.int64)
    tail_cap = np.zeros(LANES, np.int64)
    stalled = np.zeros(LANES, np.int64)
    waiting = np.zeros(LANES, np.bool_)
    tried = np.zeros(last - first, np.int64)
    retry = np.empty(last - first, np.int64)
    retries = 0
    fresh = first
    live = 0
    any_waits = False
    busy = 0
    for k in range(LANES):
        park(main_goal, cap, k)
        park(tail_goal, tail_cap, k)
    while True:
        waits = 0
        if any_waits:
            waits = move_over(main, main_goal, main_chain, waiting, tail, tail_goal, tail_chain, joints, fields)
            any_waits = waits > 0
            busy = 0
            for k in range(LANES):
                chain = tail_chain[k]
                if chain != _UNUSED:
                    busy += 1
                    if tail_cap[k] == _NEVER:
                        tail_age[k] = 0
                        tail_cap[k] = min(finish_cap, budget - iterations[chain])
        if waits == 0:
            live = 0
            for k in range(LANES):
                while main_chain[k] == _UNUSED and (fresh < last or retries > 0):
                    if fresh < last:
                        chain = fresh
                        fresh += 1
                        error[chain] = like(error[chain], np.inf)
                        iterations[chain] = 0
                    else:
                        retries -= 1
                        chain = retry[retries]
                    if begin(main, main_goal, LANES, k, chain, tried[chain - first], chains, setup, output):
                        main_chain[k] = chain
                        age[k] = 0
                        cap[k] = min(main_cap, budget - iterations[chain])
                if main_chain[k] == _UNUSED:
                    park(main_goal, cap, k)
                else:
                    live += 1
        if waits == 0 and live > 0:
            if solver == FABRIK:
                _fabrik(main, main_goal, scratch, joints, table, base, limited)
            else:
                _ccd(main, main_goal, scratch, joints, table, base, limited)
            misses(main, main_goal, joints, miss)
            for k in range(LANES):
                age[k] += 1
            for k in range(LANES):
                # A lane without a chain still holds the numbers of the last one, which may lie near its parked goal.
                if main_chain[k] != _UNUSED and (miss[k] <= tolerance or age[k] >= cap[k]):
                    chain = main_chain[k]
                    iterations[chain] += age[k]
                    if miss[k] <= tolerance or iterations[chain] >= budget:
                        end(main, main_goal, LANES, k, chain, chains, setup, output)
                        main_chain[k] = _UNUSED
                    else:
                        waiting[k] = True
                        any_waits = True
            continue
        if busy == 0:
            break
        _finish(tail, tail_goal, scratch, joints, table, base, limited)
        misses(tail, tail_goal, joints, miss)
        for k in range(LANES):
            tail_age[k] += 1
            better = tail_age[k] == 1 or miss[k] < best[k] * like(best[k], STALL_SHARE)
            stalled[k] = 0 if better else stalled[k] + 1
            best[k] = miss[k] if better else best[k]
            if miss[k] <= tolerance or tail_age[k] >= tail_cap[k] or stalled[k] >= STALL_PASSES:
                chain = tail_chain[k]
                if chain == _UNUSED:
                    continue
                iterations[chain] += tail_age[k]
                end(tail, tail_goal, LANES, k, chain, chains, setup, output)
                tail_chain[k] = _UNUSED
                park(tail_goal, tail_cap, k)
                busy -= 1
                tried[chain - first] += 1
                hopeless = iterations[chain] >= budget or tried[chain - first] >= attempts
                if miss[k] > tolerance and miss[k] > floor and not hopeless:
                    retry[retries] = chain
                    retries += 1


def alone(width_one: Any) -> Any:
    """The same way for one chain by itself, with passes of one lane: what a GPU's thread does.

    `width_one`: what `passes(1)` gives. The answer has the same bits as the lanes' where the arithmetic has.
    """
    fabrik_pass, ccd_pass, finish_pass = width_one.fabrik, width_one.ccd, width_one.finish

    @kernel
    def solve_alone(lane, goal, scratch, chain, solver, chains, table, setup, floor, caps, output, iterations):
        joints = chains[0]
        base, tolerance, limited = setup[0], setup[2], setup[3]
        main_cap, finish_cap, attempts, budget = caps
        output[1][chain] = like(tolerance, np.inf)
        spent = 0
        attempt = 0
        going = True
        while going and begin(lane, goal, 1, 0, chain, attempt, chains, setup, output):
            attempt += 1
            miss = like(tolerance, FARTHEST + 1.0)
            main = 0
            while main < main_cap and spent < budget and miss > tolerance:
                if solver == FABRIK:
                    fabrik_pass(lane, goal, scratch, joints, table, base, limited)
                else:
                    ccd_pass(lane, goal, scratch, joints, table, base, limited)
                miss = miss_of(lane, goal, 1, joints, 0)
                main += 1
                spent += 1
            best = miss
            stalled = 0
            finish = 0
            while finish < finish_cap and spent < budget and miss > tolerance and stalled < STALL_PASSES:
                finish_pass(lane, goal, scratch, joints, table, base, limited)
                miss = miss_of(lane, goal, 1, joints, 0)
                finish += 1
                spent += 1
                better = finish == 1 or miss < best * like(best, STALL_SHARE)
                stalled = 0 if better else stalled + 1
                best = miss if better else best
            end(lane, goal, 1, 0, chain, chains, setup, output)
            going = miss > tolerance and miss > floor and spent < budget and attempt < attempts
        iterations[chain] = spent

    return solve_alone
