"""One chain into a lane and out of it: what comes before the first pass and after the last one.

Before: closed form if nothing is limited and the target is out of reach, or the chain is there already; else the
chain is moved to the origin, scaled to length 1 and, if it lies on the line to its target, pushed off it. After:
swung to its pole and, if it is the best attempt so far, written to the result in world space.

`chains` is (joints, source, targets, target_step, poles, pole_step): flat rows of numbers, where a step of 0 means
one for all and a pole_step of -1 none. `setup` is (base, directions, tolerance, limited, planar). `output` is
(result, error, length, zeros). `width` is how many chains lie side by side in a lane array, `k` which of them is
meant.
"""

import math

import numpy as np

from kinema._jit import kernel, like
from kinema.constants import CLOSED, FARTHEST, MAX_JOINTS, POLE_FADE_HINTED, PUSH, PUSH_ZONE
from kinema.math import quat, vec
from kinema.solvers.passes import FIELDS, FREE


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
def measure(lane, goal, width, k, source, joints, chain, target):
    """The lengths of a chain's bones and the way to its target into a lane, unscaled.

    Returns the sum of the bones, the longest, and how many are zero. Here and in `load` and `write` the chain and the
    lane are sliced first: an index that cannot be negative needs no check, and these run once for every chain.
    """
    points = source[chain * joints * 3 : (chain + 1) * joints * 3]
    column = lane[k:]
    root = (points[0], points[1], points[2])
    zero = like(root[0], 0.0)
    before = root
    whole = zero
    longest = zero
    zeros = 0
    for j in range(1, joints):
        here = (points[3 * j], points[3 * j + 1], points[3 * j + 2])
        length = vec.length(vec.sub(here, before))
        column[(j * FIELDS + 3) * width] = length
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
def load(lane, goal, width, k, source, joints, chain):
    """A measured chain into its lane, the root at the origin, everything divided by the sum of the bones."""
    points = source[chain * joints * 3 : (chain + 1) * joints * 3]
    column = lane[k:]
    one = like(goal[0], 1.0)
    zero = like(goal[0], 0.0)
    root = (points[0], points[1], points[2])
    whole = goal[3 * width + k]
    share = one / whole
    for c in range(3):
        column[c * width] = zero
    for j in range(1, joints):
        for c in range(3):
            column[(j * FIELDS + c) * width] = (points[3 * j + c] - root[c]) * share
        column[(j * FIELDS + 3) * width] *= share
    # A target beyond any reach is pulled in before it is scaled: the quotient could overflow.
    gap = (goal[k], goal[width + k], goal[2 * width + k])
    distance = vec.length(gap)
    farthest = whole * like(whole, FARTHEST)
    gap = vec.scale(gap, (farthest / distance if distance > farthest else one) * share)
    goal[k] = gap[0]
    goal[width + k] = gap[1]
    goal[2 * width + k] = gap[2]


@kernel
def lay_out(lane, goal, width, joints, k, longest, fallback):
    """Closed form for a target out of reach: straight at it, or folded so that the end is nearest the root.

    Folded, the longest bone points at the target (in the direction of `fallback` for a target at the root) and all
    the others back. Unscaled: this is before `load`.
    """
    one = like(longest, 1.0)
    zero = like(longest, 0.0)
    gap = (goal[k], goal[width + k], goal[2 * width + k])
    folded = vec.length(gap) < goal[3 * width + k]
    # Scaled first: the square of a tiny gap would vanish, and with it the direction.
    size = vec.span(gap)
    line = vec.unit_or(vec.scale(gap, one / (size if size > zero else one)), fallback)
    here = (zero, zero, zero)
    set_lane(lane, width, 0, k, here)
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
    closed = vec.length(get_lane(lane, width, joints - 1, k)) <= like(one, CLOSED)
    bulge = (zero, zero, zero)
    for j in range(1, joints - 1):
        point = get_lane(lane, width, j, k)
        bulge = vec.add(bulge, point if closed else vec.reject(point, line))
    if closed:
        # The chain is a loop: there is no line to turn about, the whole of it may turn any way.
        bulge = vec.unit_or(bulge, line)
        whole_turn = quat.between(bulge, vec.unit_or(to_pole, bulge), vec.hinge_of(bulge))
        for j in range(1, joints):
            set_lane(lane, width, j, k, quat.rotate(whole_turn, get_lane(lane, width, j, k)))
        return
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
    points = result[chain * joints * 3 : (chain + 1) * joints * 3]
    column = lane[k:]
    root = joint_of(source, joints, chain, 0)
    for c in range(3):
        points[c] = root[c]
    for j in range(1, joints):
        for c in range(3):
            points[3 * j + c] = root[c] + column[(j * FIELDS + c) * width] * scale


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
    whole, longest, zeros[chain] = measure(lane, goal, width, k, source, joints, chain, target)
    length[chain] = whole
    distance = vec.length(vec.sub(target, root))
    if not whole + distance < like(whole, np.inf):
        return False  # A number that cannot be used: whoever called finds it by the length.
    out_of_reach = distance >= whole or distance <= longest + longest - whole
    if whole <= like(whole, 0.0) or (out_of_reach and limited == FREE):
        zero, one = like(whole, 0.0), like(whole, 1.0)
        towards = vec.sub(vector_of(poles, pole_step, chain), root) if pole_step >= 0 else (zero, one, zero)
        lay_out(lane, goal, width, joints, k, longest, vec.unit_or(towards, (zero, one, zero)))
        write(lane, width, joints, k, source, result, chain, like(whole, 1.0))
        error[chain] = vec.length(vec.sub(joint_of(result, joints, chain, joints - 1), target))
        return False
    load(lane, goal, width, k, source, joints, chain)
    if attempt > 0:
        scatter(lane, width, joints, k, base, directions, attempt)
        return True
    to_pole = way_to_pole(poles, pole_step, chain, root, whole)
    if limited == FREE and pole_step < 0 and miss_of(lane, goal, width, joints, k) <= tolerance:
        for j in range(joints):
            set_joint(result, joints, chain, j, joint_of(source, joints, chain, j))
        error[chain] = vec.length(vec.sub(joint_of(source, joints, chain, joints - 1), target))
        return False
    if limited != FREE:
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
    if pole_step >= 0 and limited == FREE:
        swing_to_pole(lane, width, joints, k, way_to_pole(poles, pole_step, chain, root, whole), planar)
    tip = vec.add(root, vec.scale(get_lane(lane, width, joints - 1, k), whole))
    miss = vec.length(vec.sub(tip, vector_of(targets, target_step, chain)))
    if miss < error[chain]:
        error[chain] = miss
        write(lane, width, joints, k, source, result, chain, whole)
