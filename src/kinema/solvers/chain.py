"""What FABRIK and CCD share: preparing a chain, running passes over many in lanes, retrying, and the result.

A chain goes this way. Closed form if no limits are set and the target is out of reach, or there already. Else up to
`MAIN_PASSES` of its solver; then the finish; a chain that stalls there starts again from a scattered pose, and the best
pose seen is what is returned.

On the CPU two groups of `LANES` chains are under way: those in their main passes and those in the finish. A chain that
leaves a lane makes room for the next one at once, and the finish only steps when its lanes are full. What happens to a
chain depends on its own numbers alone, so the answer has the same bits in any company.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinema import edge, limits, notices
from kinema._jit import batch, kernel, like
from kinema.constants import (
    ATTEMPTS,
    ATTEMPTS_LIMITED,
    CCD_LARGEST_CURL,
    CCD_LARGEST_TURN,
    FARTHEST,
    FINISH_PASSES,
    LANES,
    MAIN_PASSES,
    MAIN_PASSES_LIMITED,
    MARGIN,
    MAX_JOINTS,
    POLE_FADE_HINTED,
    PUSH,
    PUSH_ZONE,
    ROUNDING,
    STALL_PASSES,
    STALL_SHARE,
    THREADS_FROM_ITERATIVE,
)
from kinema.errors import InputError
from kinema.math import quat, vec
from kinema.solvers.passes import FIELDS, SCRATCH, passes

FABRIK, CCD = 0, 1

_UNUSED = -1

_lanes = passes(LANES)
_fabrik, _ccd, _finish, _place = _lanes.fabrik, _lanes.ccd, _lanes.finish, _lanes.place


# --- one chain into a lane and out of it -----------------------------------------------------------------------


@kernel
def joint_of(flat, joints, chain, j):
    at = (chain * joints + j) * 3
    return (flat[at], flat[at + 1], flat[at + 2])


@kernel
def set_joint(flat, joints, chain, j, point):
    at = (chain * joints + j) * 3
    flat[at] = point[0]
    flat[at + 1] = point[1]
    flat[at + 2] = point[2]


@kernel
def get_lane(lane, width, j, k):
    at = j * FIELDS * width + k
    return (lane[at], lane[at + width], lane[at + 2 * width])


@kernel
def set_lane(lane, width, j, k, point):
    at = j * FIELDS * width + k
    lane[at] = point[0]
    lane[at + width] = point[1]
    lane[at + 2 * width] = point[2]


@kernel
def load(lane, goal, width, k, source, joints, chain, target):
    """A chain into a lane, its root at the origin. Returns the sum of its bones, the longest, and how many are zero."""
    root = joint_of(source, joints, chain, 0)
    zero = like(root[0], 0.0)
    before = root
    whole = zero
    longest = zero
    zeros = 0
    set_lane(lane, width, 0, k, (zero, zero, zero))
    for j in range(1, joints):
        here = joint_of(source, joints, chain, j)
        length = vec.length(vec.sub(here, before))
        set_lane(lane, width, j, k, vec.sub(here, root))
        lane[(j * FIELDS + 3) * width + k] = length
        whole += length
        longest = length if length > longest else longest
        zeros += 0 if length > zero else 1
        before = here
    gap = vec.sub(target, root)
    goal[k] = gap[0]
    goal[width + k] = gap[1]
    goal[2 * width + k] = gap[2]
    goal[3 * width + k] = whole
    return whole, longest, zeros


@kernel
def scale_to_one(lane, goal, width, joints, k):
    """Divide a loaded chain and its goal by the sum of the bones."""
    one = like(goal[0], 1.0)
    whole = goal[3 * width + k]
    share = one / whole
    for j in range(1, joints):
        at = j * FIELDS * width + k
        for field in range(4):
            lane[at + field * width] *= share
    # A target beyond any reach is pulled in before it is scaled: the quotient could overflow.
    gap = (goal[k], goal[width + k], goal[2 * width + k])
    distance = vec.length(gap)
    farthest = whole * like(whole, FARTHEST)
    gap = vec.scale(gap, (farthest / distance if distance > farthest else one) * share)
    goal[k] = gap[0]
    goal[width + k] = gap[1]
    goal[2 * width + k] = gap[2]


@kernel
def lay_out(lane, goal, width, joints, k, longest):
    """Closed form for a target out of reach: straight at it, or folded so that the end is nearest the root.

    Folded, the longest bone points at the target and all the others back. Unscaled: this is before `scale_to_one`.
    """
    one = like(longest, 1.0)
    zero = like(longest, 0.0)
    gap = (goal[k], goal[width + k], goal[2 * width + k])
    folded = vec.length(gap) < goal[3 * width + k]
    # Scaled first: the square of a tiny gap would vanish, and with it the direction.
    size = vec.span(gap)
    line = vec.unit_or(vec.scale(gap, one / (size if size > zero else one)), (zero, one, zero))
    here = (zero, zero, zero)
    turned = False
    for j in range(1, joints):
        length = lane[(j * FIELDS + 3) * width + k]
        back = folded and (length < longest or turned)
        turned = turned or length == longest
        here = vec.add(here, vec.scale(line, -length if back else length))
        set_lane(lane, width, j, k, here)


@kernel
def off_the_line(lane, goal, width, joints, k, to_pole):
    """Push a chain that lies on the line to its target aside, towards the pole if there is one, in an arc.

    On that line neither FABRIK nor CCD nor Gauss-Newton can tell one side from the other. The push fades out towards
    the edge of its zone, so that entering the zone is no jump.
    """
    one = like(goal[0], 1.0)
    zero = like(goal[0], 0.0)
    tip = get_lane(lane, width, joints - 1, k)
    line = vec.unit_or((goal[k], goal[width + k], goal[2 * width + k]), vec.unit_or(tip, (zero, one, zero)))
    widest = zero
    for j in range(1, joints):
        aside = vec.reject(get_lane(lane, width, j, k), line)
        square = vec.dot(aside, aside)
        widest = square if square > widest else widest
        if widest >= like(one, PUSH_ZONE * PUSH_ZONE):
            return
    near = one - math.sqrt(widest) / like(one, PUSH_ZONE)
    towards = vec.unit_or(vec.reject(to_pole, line), vec.unit_side(line))
    along = zero
    for j in range(1, joints):
        along += lane[(j * FIELDS + 3) * width + k]
        bulge = like(one, 4.0 * PUSH) * near * along * (one - along)
        set_lane(lane, width, j, k, vec.add(get_lane(lane, width, j, k), vec.scale(towards, bulge)))


@kernel
def scatter(lane, width, joints, k, base, directions, attempt):
    """Another start: every bone off the one before it in a direction of its own, gently first, then wildly."""
    one = like(lane[0], 1.0)
    zero = like(lane[0], 0.0)
    here = (zero, zero, zero)
    parent = (base[0], base[1], base[2])
    wildness = like(one, 0.25) * (one + like(one, attempt % 4))
    for j in range(1, joints):
        at = ((attempt * MAX_JOINTS + j) * 3) % directions.size
        own = (directions[at], directions[at + 1], directions[at + 2])
        parent = vec.unit_or(vec.add(parent, vec.scale(own, wildness)), parent)
        here = vec.add(here, vec.scale(parent, lane[(j * FIELDS + 3) * width + k]))
        set_lane(lane, width, j, k, here)


@kernel
def swing_to_pole(lane, width, joints, k, to_pole, planar):
    """Turn the whole chain about the line from root to end until it bulges towards the pole. The end stays."""
    zero = like(lane[0], 0.0)
    one = like(lane[0], 1.0)
    line = vec.unit_or(get_lane(lane, width, joints - 1, k), (zero, one, zero))
    bulge = (zero, zero, zero)
    for j in range(1, joints - 1):
        bulge = vec.add(bulge, vec.reject(get_lane(lane, width, j, k), line))
    pole = vec.reject(to_pole, line)
    pole_size = vec.length(pole)
    edge_size = vec.length(to_pole) * like(one, POLE_FADE_HINTED)
    if pole_size <= zero or edge_size <= zero or vec.dot(bulge, bulge) <= like(one, PUSH_ZONE * PUSH_ZONE):
        return
    pole = vec.unit_or(pole, line)
    bulge = vec.unit_or(bulge, line)
    turn = quat.from_cos_sin(line, vec.dot(bulge, pole), vec.dot(line, vec.cross(bulge, pole)))
    if pole_size < edge_size and not planar:
        share = pole_size / edge_size
        turn = quat.unit((turn[0] * share, turn[1] * share, turn[2] * share, one + (turn[3] - one) * share))
    for j in range(1, joints - 1):
        set_lane(lane, width, j, k, quat.rotate(turn, get_lane(lane, width, j, k)))


@kernel
def write(lane, width, joints, k, source, result, chain, scale):
    """A lane's chain to the result, in world space."""
    root = joint_of(source, joints, chain, 0)
    set_joint(result, joints, chain, 0, root)
    for j in range(1, joints):
        set_joint(result, joints, chain, j, vec.add(root, vec.scale(get_lane(lane, width, j, k), scale)))


@kernel
def miss_of(lane, goal, width, joints, k):
    """Distance of a lane's end from its target, in chain lengths."""
    end = get_lane(lane, width, joints - 1, k)
    return vec.length(vec.sub(end, (goal[k], goal[width + k], goal[2 * width + k])))


@kernel
def vector_of(flat, step, chain):
    at = 3 * chain * step
    return (flat[at], flat[at + 1], flat[at + 2])


@kernel
def way_to_pole(poles, step, chain, root, whole):
    """Way from a chain's root to its pole in chain lengths; zero if it has none."""
    zero = like(whole, 0.0)
    if step < 0:
        return (zero, zero, zero)
    return vec.scale(vec.sub(vector_of(poles, step, chain), root), like(whole, 1.0) / whole)


@kernel
def begin(lane, goal, width, k, chain, attempt, chains, setup, output):
    """Put a chain into a lane for an attempt, or solve it on the spot. Returns whether the lane is taken."""
    joints, source, targets, target_step, poles, pole_step = chains
    base, directions, tolerance, limited, planar = setup
    result, error, length, zeros = output
    root = joint_of(source, joints, chain, 0)
    target = vector_of(targets, target_step, chain)
    whole, longest, zeros[chain] = load(lane, goal, width, k, source, joints, chain, target)
    length[chain] = whole
    distance = vec.length(vec.sub(target, root))
    out_of_reach = distance >= whole or distance <= longest + longest - whole
    if whole <= like(whole, 0.0) or (out_of_reach and not limited):
        lay_out(lane, goal, width, joints, k, longest)
        write(lane, width, joints, k, source, result, chain, like(whole, 1.0))
        error[chain] = vec.length(vec.sub(joint_of(result, joints, chain, joints - 1), target))
        return False
    scale_to_one(lane, goal, width, joints, k)
    if attempt > 0:
        scatter(lane, width, joints, k, base, directions, attempt)
        return True
    to_pole = way_to_pole(poles, pole_step, chain, root, whole)
    if not limited and pole_step < 0 and miss_of(lane, goal, width, joints, k) <= tolerance:
        for j in range(joints):
            set_joint(result, joints, chain, j, joint_of(source, joints, chain, j))
        error[chain] = vec.length(vec.sub(joint_of(source, joints, chain, joints - 1), target))
        return False
    if limited:
        swing_to_pole(lane, width, joints, k, to_pole, planar)
    off_the_line(lane, goal, width, joints, k, to_pole)
    return True


@kernel
def end(lane, goal, width, k, chain, chains, setup, output):
    """Take a chain out of its lane, into the result if its end is nearer the target than what stands there."""
    joints, source, targets, target_step, poles, pole_step = chains
    _, _, _, limited, planar = setup
    result, error, _, _ = output
    whole = goal[3 * width + k]
    root = joint_of(source, joints, chain, 0)
    if pole_step >= 0 and not limited:
        swing_to_pole(lane, width, joints, k, way_to_pole(poles, pole_step, chain, root, whole), planar)
    tip = vec.add(root, vec.scale(get_lane(lane, width, joints - 1, k), whole))
    miss = vec.length(vec.sub(tip, vector_of(targets, target_step, chain)))
    if miss < error[chain]:
        error[chain] = miss
        write(lane, width, joints, k, source, result, chain, whole)


# --- many chains in lanes --------------------------------------------------------------------------------------


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
def move_over(main, main_goal, main_chain, waiting, tail, tail_goal, tail_chain, joints):
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
        for j in range(1, joints):
            for field in range(4):
                at = (j * FIELDS + field) * LANES
                tail[at + to] = main[at + k]
        for row in range(4):
            tail_goal[row * LANES + to] = main_goal[row * LANES + k]
        tail_chain[to] = main_chain[k]
        main_chain[k] = _UNUSED
        waiting[k] = False
    return waits


@batch
def _solve_lanes(first, last, solver, chains, table, setup, floor, caps, output, iterations):
    """Chains first to last. `caps`: main passes, finish passes, attempts, and passes in all, per chain."""
    joints, source = chains[0], chains[1]
    base, tolerance, limited = setup[0], setup[2], setup[3]
    error = output[1]
    main_cap, finish_cap, attempts, budget = caps
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
    stalled = np.zeros(LANES, np.int64)
    waiting = np.zeros(LANES, np.bool_)
    tried = np.zeros(last - first, np.int64)
    retry = np.empty(last - first, np.int64)
    retries = 0
    fresh = first
    any_waits = False
    while True:
        waits = 0
        if any_waits:
            waits = move_over(main, main_goal, main_chain, waiting, tail, tail_goal, tail_chain, joints)
            any_waits = waits > 0
        live = 0
        if waits == 0:
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
                live += 1 if main_chain[k] != _UNUSED else 0
        if live > 0:
            if solver == FABRIK:
                _fabrik(main, main_goal, scratch, joints, table, base, limited)
            else:
                _ccd(main, main_goal, scratch, joints, table, base, limited)
            misses(main, main_goal, joints, miss)
            for k in range(LANES):
                chain = main_chain[k]
                if chain == _UNUSED:
                    continue
                age[k] += 1
                iterations[chain] += 1
                if miss[k] <= tolerance or iterations[chain] >= budget:
                    end(main, main_goal, LANES, k, chain, chains, setup, output)
                    main_chain[k] = _UNUSED
                elif age[k] >= main_cap:
                    waiting[k] = True
                    any_waits = True
            continue
        busy = False
        for k in range(LANES):
            busy = busy or tail_chain[k] != _UNUSED
        if not busy:
            break
        _finish(tail, tail_goal, scratch, joints, table, base, limited)
        misses(tail, tail_goal, joints, miss)
        for k in range(LANES):
            chain = tail_chain[k]
            if chain == _UNUSED:
                continue
            tail_age[k] += 1
            iterations[chain] += 1
            better = tail_age[k] == 1 or miss[k] < best[k] * like(best[k], STALL_SHARE)
            stalled[k] = 0 if better else stalled[k] + 1
            best[k] = miss[k] if better else best[k]
            spent = iterations[chain] >= budget
            through = tail_age[k] >= finish_cap or stalled[k] >= STALL_PASSES
            if miss[k] <= tolerance or spent or through:
                end(tail, tail_goal, LANES, k, chain, chains, setup, output)
                tail_chain[k] = _UNUSED
                tail_age[k] = 0
                tried[chain - first] += 1
                hopeless = spent or tried[chain - first] >= attempts
                if miss[k] > tolerance and miss[k] > floor and not hopeless:
                    retry[retries] = chain
                    retries += 1


# --- the result ------------------------------------------------------------------------------------------------


@batch
def _bone_rotations(flat, joints, axis, rotations):
    """The smallest turn from a unit axis to every bone of every chain; none for a bone without length."""
    along = (axis[0], axis[1], axis[2])
    for chain in range(rotations.size // (4 * (joints - 1))):
        for j in range(joints - 1):
            bone = vec.sub(joint_of(flat, joints, chain, j + 1), joint_of(flat, joints, chain, j))
            # Scaled first: the square of a very small or very large bone would leave the range of float32.
            size = vec.span(bone)
            bone = vec.scale(bone, like(size, 1.0) / size) if size > like(size, 0.0) else along
            q = quat.between(along, vec.unit_or(bone, along), vec.hinge_of(along))
            at = (chain * (joints - 1) + j) * 4
            for c in range(4):
                rotations[at + c] = q[c]


def bone_rotations(joints: Any, axis: ArrayLike) -> Any:
    """Turns from an axis to each bone: (..., N-1, 4) for joints in space, angles (..., N-1) for planar joints."""
    if joints.shape[-1] == 2:
        x, y, _ = edge.axis("axis", [*np.asarray(axis, np.float64).reshape(-1)[:2], 0.0])
        bones = np.diff(joints, axis=-2)
        ahead, aside = bones @ np.array([x, y], joints.dtype), bones @ np.array([-y, x], joints.dtype)
        return np.arctan2(aside, ahead)
    unit = np.asarray(edge.axis("axis", axis), joints.dtype)
    rotations = np.empty((*joints.shape[:-2], joints.shape[-2] - 1, 4), joints.dtype)
    _bone_rotations(np.ascontiguousarray(joints).reshape(-1), joints.shape[-2], unit, rotations.reshape(-1))
    return rotations


class ChainResult(NamedTuple):
    """What `fabrik` and `ccd` return. ... is the batch's shape, D is 2 or 3 as in the input."""

    joints: Any
    """(..., N, D): every joint, in the space of the input."""
    error: Any
    """(...): distance from the last joint to the target."""
    iterations: Any
    """(...): passes made over the chain; 0 if it was solved in closed form or was there already."""
    reached: Any
    """(...): whether the error is within tolerance."""

    def rotations(self, axis: ArrayLike = (0.0, 1.0, 0.0)) -> Any:
        """(..., N-1, 4): the smallest turn from axis to each bone; (..., N-1) signed angles for a planar chain."""
        return bone_rotations(self.joints, axis)


# --- the public edge -------------------------------------------------------------------------------------------


@cache
def _directions(planar: bool, dtype: Any) -> Any:
    """Unit vectors spread evenly (a golden-ratio sequence), on the circle or the sphere, as one flat row."""
    table = np.zeros((1024, 3))
    for i in range(len(table)):
        u, v = (0.5 + i * 0.7548776662466927) % 1.0, (0.5 + i * 0.5698402909980532) % 1.0
        z = 0.0 if planar else 2.0 * u - 1.0
        r, angle = math.sqrt(1.0 - z * z), 2.0 * math.pi * v
        table[i] = r * math.cos(angle), r * math.sin(angle), z
    return table.astype(dtype).reshape(-1)


def chain_joints(value: Any, dtype: Any) -> Any:
    """Joints (..., N, 2 or 3) as (..., N, 3), and whether they are planar."""
    array = edge.real("joints", value)
    if array.ndim < 2 or array.shape[-1] not in (2, 3) or not 2 <= array.shape[-2] <= MAX_JOINTS:
        raise InputError(
            f"joints must have shape (..., N, 2) or (..., N, 3) with N from 2 to {MAX_JOINTS}, got {array.shape}"
        )
    array = np.ascontiguousarray(array, dtype)
    edge.check_finite("joints", array)
    return in_space(array), array.shape[-1] == 2


def in_space(array: Any) -> Any:
    """Planar vectors get z = 0."""
    if array.shape[-1] == 3:
        return array
    result = np.zeros((*array.shape[:-1], 3), array.dtype)
    result[..., :2] = array
    return result


class Problem(NamedTuple):
    """Chains ready for the kernels."""

    shape: tuple[int, ...]
    joints: Any
    source: Any
    target: Any
    target_step: int
    pole: Any
    pole_step: int
    table: Any
    base: Any
    limited: bool
    planar: bool
    tolerance: float
    caps: tuple[int, int, int, int]


def prepare(joints: Any, target: Any, pole: Any, chain_limits: Any, base: Any, tolerance: Any, max_iterations: Any):
    """Check everything and lay it out flat."""
    dtype = edge.precision(joints, target, pole)
    source, planar = chain_joints(joints, dtype)
    width = 2 if planar else 3
    named = {"joints": source, "target": in_space(edge.vectors("target", target, width, dtype))}
    if pole is not None:
        named["pole"] = in_space(edge.vectors("pole", pole, width, dtype))
    shape = edge.batch_shape(named, {"joints": 2})
    straight = _straight(base, planar)
    table = limits.rows(chain_limits, source.shape[-2] - 1, straight)
    if planar:
        _refuse_to_leave_the_plane(chain_limits)
    limited = bool(table[:, 0].any())
    target_row, target_step = edge.tiled(named["target"], shape, 1)
    pole_row, pole_step = edge.tiled(named["pole"], shape, 1) if pole is not None else (target_row, -1)
    return Problem(
        shape,
        source.shape[-2],
        edge.flat(source, 2, shape),
        target_row,
        target_step,
        pole_row,
        pole_step,
        table.astype(dtype).reshape(-1),
        np.asarray((*straight, *_half_turn(source.shape[-2])), dtype),
        limited,
        planar,
        edge.number("tolerance", tolerance, 0.0),
        _caps(limited, max_iterations),
    )


def _half_turn(joints: int) -> tuple[float, float]:
    """Cosine and sine of half the largest turn of a joint in a CCD pass."""
    half = min(CCD_LARGEST_TURN, CCD_LARGEST_CURL / joints) / 2.0
    return math.cos(half), math.sin(half)


def _straight(base: Any, planar: bool) -> tuple[float, ...]:
    if base is None:
        return (0.0, 1.0, 0.0)
    if planar:
        base = in_space(edge.vectors("base", base, 2, np.float64))
    return edge.axis("base", base)


def _refuse_to_leave_the_plane(chain_limits: Any) -> None:
    for i, limit in enumerate(chain_limits or ()):
        if isinstance(limit, limits.Hinge) and (limit.axis[0] != 0.0 or limit.axis[1] != 0.0):  # type: ignore[index]
            raise InputError(f"limits[{i}] turns about {limit.axis}; a planar chain's hinges turn about (0, 0, 1)")


def _caps(limited: bool, max_iterations: Any) -> tuple[int, int, int, int]:
    """Main passes, finish passes, attempts, passes in all."""
    main = MAIN_PASSES_LIMITED if limited else MAIN_PASSES
    attempts = ATTEMPTS_LIMITED if limited else ATTEMPTS
    if max_iterations is None:
        return main, FINISH_PASSES, attempts, attempts * (main + FINISH_PASSES)
    return main, FINISH_PASSES, MAX_RESTARTS, edge.whole("max_iterations", max_iterations, 1)


MAX_RESTARTS = 1 << 20
"""With a number of passes given, that number alone decides when to stop."""


def solve_chain(
    name: str,
    solver: int,
    joints: Any,
    target: Any,
    pole: Any,
    chain_limits: Any,
    base: Any,
    tolerance: Any,
    max_iterations: Any,
) -> ChainResult:
    """The public function of both solvers."""
    if edge.place(joints, target, pole) == "gpu":
        from kinema.solvers import cuda

        return ChainResult(*cuda.chain(solver, joints, target, pole, chain_limits, base, tolerance, max_iterations))
    p = prepare(joints, target, pole, chain_limits, base, tolerance, max_iterations)
    count = math.prod(p.shape)
    dtype = p.source.dtype.type
    result = np.empty((count, p.joints, 3), dtype)
    error, length = np.empty(count, dtype), np.empty(count, dtype)
    iterations, zeros = np.empty(count, np.int64), np.empty(count, np.int8)
    chains = (p.joints, p.source, p.target, p.target_step, p.pole, p.pole_step)
    setup = (p.base, _directions(p.planar, dtype), dtype(p.tolerance * MARGIN), p.limited, p.planar)
    output = (result.reshape(-1), error, length, zeros)
    floor = dtype(np.finfo(dtype).eps * ROUNDING)
    edge.in_chunks(
        lambda start, stop: _solve_lanes(
            start, stop, solver, chains, p.table, setup, floor, p.caps, output, iterations
        ),
        count,
        THREADS_FROM_ITERATIVE,
        1,
    )
    reached = error <= dtype(p.tolerance) * length
    flags = 0 if reached.all() else notices.OUT_OF_REACH
    if zeros.any():
        flags |= notices.ZERO_BONE if length.all() else notices.DEGENERATE
    if flags or notices.watched():
        notices.report(name, _identity(p), flags)
    joints_out = result[..., :2] if p.planar else result
    return ChainResult(
        np.ascontiguousarray(joints_out).reshape(*p.shape, p.joints, joints_out.shape[-1]),
        error.reshape(p.shape)[()],
        iterations.reshape(p.shape)[()],
        reached.reshape(p.shape)[()],
    )


def _identity(p: Problem) -> Any:
    """What stays the same of a chain from frame to frame: the shape of the batch, or one chain's proportions."""
    if p.shape:
        return p.shape, p.joints
    sizes = np.linalg.norm(np.diff(p.source.reshape(-1, 3), axis=0), axis=-1)
    return tuple(np.round(sizes / max(float(sizes.sum()), 1e-300), 3).tolist())
