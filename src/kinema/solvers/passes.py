"""One pass over a chain, for FABRIK, for CCD and for the finish they share, on many chains side by side.

A pass works on a lane array: a flat row of numbers in which joint j of lane k has its fields at `(j * FIELDS + field)
* width + k`: x, y, z, the length of the bone that ends there, and four more: the axis that the bone which starts
there may turn about (or its direction, where it has no hinge), and in CCD that joint's turn. The root is the origin
and the chain's bones add up to 1. `goal` holds x, y, z of every lane's target, `scratch` has `SCRATCH` rows. `table`
holds a row of numbers per limit, `base` the direction the first limit is relative to, then cosine and sine of half
the largest turn CCD gives a joint in a pass. `limited` is 0 without limits, 1 with cones, 2 with hinges among them.
The width is a constant of the compiled pass: `LANES` on a CPU, where the loop over lanes becomes vector code, and 1
in a GPU's thread.

All limits are applied in `place`, root to tip, which is the last thing every limited pass does: what a pass leaves
behind is within its limits whatever came before.

References: Aristidou & Lasenby 2011 (FABRIK); Wang & Chen 1991 (CCD); Levenberg 1944, Marquardt 1963 (the finish).
"""

from __future__ import annotations

from types import SimpleNamespace

from kinema import limits
from kinema._jit import kernel, like, routine
from kinema.constants import DAMPING, DAMPING_FLOOR
from kinema.limits import HINGE, NONE, ROW
from kinema.math import quat, vec

FIELDS = 8
SCRATCH = 16

FREE, WITH_CONES, WITH_HINGES = 0, 1, 2


def passes(width: int) -> SimpleNamespace:
    """The passes compiled for a number of lanes: `fabrik`, `ccd`, `finish`, `place`."""
    joint = FIELDS * width
    one_row = width

    @kernel
    def get3(array, row, k):
        return (array[row * one_row + k], array[(row + 1) * one_row + k], array[(row + 2) * one_row + k])

    @kernel
    def set3(array, row, k, v):
        array[row * one_row + k] = v[0]
        array[(row + 1) * one_row + k] = v[1]
        array[(row + 2) * one_row + k] = v[2]

    @kernel
    def get4(array, row, k):
        return (
            array[row * one_row + k],
            array[(row + 1) * one_row + k],
            array[(row + 2) * one_row + k],
            array[(row + 3) * one_row + k],
        )

    @kernel
    def set4(array, row, k, q):
        array[row * one_row + k] = q[0]
        array[(row + 1) * one_row + k] = q[1]
        array[(row + 2) * one_row + k] = q[2]
        array[(row + 3) * one_row + k] = q[3]

    @routine
    def place(chain, scratch, joints, table, base, limited, keep_directions):
        """Root to tip, each bone put to the direction it has (keep_directions 1) or towards where its end was (0),
        inside its limit. Leaves every bone's axis (hinge) or direction (no hinge) in fields 4 to 6 of its start.

        Scratch rows: 0 to 2 the parent bone's direction, 3 to 6 the frame carried along, 7 to 9 where the joint was.
        """
        one = like(scratch[0], 1.0)
        zero = like(scratch[0], 0.0)
        for k in range(width):
            set3(scratch, 0, k, (base[0], base[1], base[2]))
            set4(scratch, 3, k, (zero, zero, zero, one))
            set3(scratch, 7, k, (zero, zero, zero))
        for j in range(joints - 1):
            row = table[j * ROW : (j + 1) * ROW]
            w = chain[j * joint : (j + 2) * joint]
            for k in range(width):
                was = get3(w, FIELDS, k)
                origin = vec.select(keep_directions > zero, get3(scratch, 7, k), get3(w, 0, k))
                set3(w, FIELDS, k, vec.unit_or(vec.sub(was, origin), get3(scratch, 0, k)))
                set3(scratch, 7, k, was)
            hinged = row[0] == like(row[0], HINGE)
            if hinged:
                for k in range(width):
                    frame = get4(scratch, 3, k)
                    e1, e2 = (row[3], row[4], row[5]), (row[6], row[7], row[8])
                    held = limits.onto_hinge(
                        quat.rotate(quat.conj(frame), get3(w, FIELDS, k)),
                        e1,
                        e2,
                        (row[9], row[10], row[11]),
                        row[12],
                        row[13],
                        row[14],
                        row[15],
                        row[16],
                    )
                    set3(w, FIELDS, k, vec.unit_or(quat.rotate(frame, held), get3(scratch, 0, k)))
                    set3(w, 4, k, quat.rotate(frame, vec.cross(e1, e2)))
            elif row[0] != like(row[0], NONE):
                for k in range(width):
                    held = limits.into_cone(get3(scratch, 0, k), get3(w, FIELDS, k), row[1], row[2])
                    set3(w, FIELDS, k, vec.unit_or(held, get3(scratch, 0, k)))
            if limited == WITH_HINGES:
                for k in range(width):
                    parent = get3(scratch, 0, k)
                    turn = quat.between(parent, get3(w, FIELDS, k), vec.hinge_of(parent))
                    set4(scratch, 3, k, quat.unit(quat.mul(turn, get4(scratch, 3, k))))
            for k in range(width):
                direction = get3(w, FIELDS, k)
                set3(w, 4, k, vec.select(hinged, get3(w, 4, k), direction))
                set3(scratch, 0, k, direction)
                length = w[(FIELDS + 3) * one_row + k]
                set3(w, FIELDS, k, vec.add(get3(w, 0, k), vec.scale(direction, length)))

    @routine
    def backward(chain, goal, joints):
        """FABRIK's way back: the tip on the target, every joint pulled after the next one."""
        w = chain[(joints - 1) * joint : joints * joint]
        for k in range(width):
            set3(w, 0, k, get3(goal, 0, k))
        for j in range(joints - 2, 0, -1):
            w = chain[j * joint : (j + 2) * joint]
            for k in range(width):
                set3(w, 0, k, vec.reach(get3(w, FIELDS, k), get3(w, 0, k), w[(FIELDS + 3) * one_row + k]))

    @routine
    def backward_limited(chain, goal, scratch, joints, table):
        """The same with every bone held within the widest angle its child's limit allows."""
        w = chain[(joints - 1) * joint : joints * joint]
        for k in range(width):
            set3(w, 0, k, get3(goal, 0, k))
        for j in range(joints - 2, 0, -1):
            row = table[(j + 1) * ROW : (j + 2) * ROW]
            w = chain[j * joint : (j + 2) * joint]
            for k in range(width):
                child = get3(scratch, 0, k)
                back = vec.unit_or(vec.sub(get3(w, FIELDS, k), get3(w, 0, k)), child)
                set3(scratch, 10, k, back)
            if j < joints - 2 and row[0] != like(row[0], NONE):
                for k in range(width):
                    held = limits.into_cone(get3(scratch, 0, k), get3(scratch, 10, k), row[1], row[2])
                    set3(scratch, 10, k, held)
            for k in range(width):
                direction = get3(scratch, 10, k)
                set3(scratch, 0, k, direction)
                length = w[(FIELDS + 3) * one_row + k]
                set3(w, 0, k, vec.sub(get3(w, FIELDS, k), vec.scale(direction, length)))

    @routine
    def forward(chain, joints):
        """FABRIK's way forth: the root back in its place, every joint pulled after the one before."""
        for j in range(joints - 1):
            w = chain[j * joint : (j + 2) * joint]
            for k in range(width):
                set3(w, FIELDS, k, vec.reach(get3(w, 0, k), get3(w, FIELDS, k), w[(FIELDS + 3) * one_row + k]))

    @routine
    def fabrik(chain, goal, scratch, joints, table, base, limited):
        if limited != FREE:
            zero = like(scratch[0], 0.0)
            for k in range(width):
                set3(scratch, 0, k, (base[0], base[1], base[2]))
            backward_limited(chain, goal, scratch, joints, table)
            place(chain, scratch, joints, table, base, limited, zero)
        else:
            backward(chain, goal, joints)
            forward(chain, joints)

    @routine
    def ccd(chain, goal, scratch, joints, table, base, limited):
        """Tip to root, each joint turned so that the end comes nearest; then all turns applied, root to tip.

        A joint's turn moves everything after it as one piece, so the way from a joint to the end is all that the
        next joint needs to know (scratch rows 0 to 2), and a whole pass is linear in the number of joints.
        """
        one = like(scratch[0], 1.0)
        zero = like(scratch[0], 0.0)
        if limited == WITH_HINGES:
            place(chain, scratch, joints, table, base, limited, one)
        for k in range(width):
            set3(scratch, 0, k, (zero, zero, zero))
        for j in range(joints - 2, -1, -1):
            row = table[j * ROW : (j + 1) * ROW]
            hinged = row[0] == like(row[0], HINGE)
            w = chain[j * joint : (j + 2) * joint]
            for k in range(width):
                here = get3(w, 0, k)
                tail = vec.add(vec.sub(get3(w, FIELDS, k), here), get3(scratch, 0, k))
                way = vec.sub(get3(goal, 0, k), here)
                # A hinge sees only what lies across its axis.
                axis = vec.select(hinged, get3(w, 4, k), (zero, zero, zero))
                at = vec.unit_or(vec.reject(tail, axis), (zero, one, zero))
                to = vec.unit_or(vec.reject(way, axis), at)
                turn = quat.between(at, to, vec.select(hinged, axis, vec.hinge_of(at)))
                turn = quat.limited(turn, base[3], base[4])
                set4(w, 4, k, turn)
                set3(scratch, 0, k, tail)
            if limited != FREE and row[0] != like(row[0], NONE) and not hinged:
                before = chain[max(j - 1, 0) * joint : (max(j - 1, 0) + 2) * joint]
                for k in range(width):
                    bone = vec.unit_or(vec.sub(get3(w, FIELDS, k), get3(w, 0, k)), (zero, one, zero))
                    parent = vec.sub(get3(before, FIELDS, k), get3(before, 0, k))
                    straight = (base[0], base[1], base[2])
                    parent = vec.select(j == 0, straight, vec.unit_or(parent, straight))
                    held = limits.into_cone(parent, quat.rotate(get4(w, 4, k), bone), row[1], row[2])
                    set4(w, 4, k, quat.between(bone, vec.unit_or(held, bone), vec.hinge_of(bone)))
            for k in range(width):
                set3(scratch, 0, k, quat.rotate(get4(w, 4, k), get3(scratch, 0, k)))
        for k in range(width):
            set4(scratch, 3, k, (zero, zero, zero, one))
            set3(scratch, 7, k, (zero, zero, zero))
        for j in range(joints - 1):
            w = chain[j * joint : (j + 2) * joint]
            for k in range(width):
                turn = quat.unit(quat.mul(get4(scratch, 3, k), get4(w, 4, k)))
                set4(scratch, 3, k, turn)
                was = get3(w, FIELDS, k)
                here = get3(w, 0, k)
                bone = quat.rotate(turn, vec.sub(was, get3(scratch, 7, k)))
                set3(scratch, 7, k, was)
                set3(w, FIELDS, k, vec.reach(here, vec.add(here, bone), w[(FIELDS + 3) * one_row + k]))
        if limited != FREE:
            place(chain, scratch, joints, table, base, limited, one)

    @routine
    def finish(chain, goal, scratch, joints, table, base, limited):
        """One damped Gauss-Newton step on the turns of all joints.

        For a position J J^T is 3 by 3 however many bones there are: the sum of |r|^2 I - r r^T over the joints, r the
        way from joint to end. With v = a x r for the axis a left by `place`, a hinge adds only v v^T, and beside hinges
        a joint without one adds all but that: it does not twist, or the hinges after it would not stay where they are.
        Scratch rows: 0 to 5 that sum, then 0 to 2 the solution, 3 to 5 the turns summed from the root, 6 to 8 where
        the joint was, 9 to 11 where the end was.
        """
        zero = like(scratch[0], 0.0)
        one = like(scratch[0], 1.0)
        w = chain[(joints - 1) * joint : joints * joint]
        for k in range(width):
            set3(scratch, 0, k, (zero, zero, zero))
            set3(scratch, 3, k, (zero, zero, zero))
            set3(scratch, 9, k, get3(w, 0, k))
        for j in range(joints - 1):
            w = chain[j * joint : (j + 2) * joint]
            for k in range(width):
                r = vec.sub(get3(scratch, 9, k), get3(w, 0, k))
                xx, yy, zz = r[0] * r[0], r[1] * r[1], r[2] * r[2]
                set3(scratch, 0, k, vec.add(get3(scratch, 0, k), (yy + zz, xx + zz, xx + yy)))
                set3(scratch, 3, k, vec.sub(get3(scratch, 3, k), (r[0] * r[1], r[0] * r[2], r[1] * r[2])))
            if limited == WITH_HINGES:
                hinged = table[j * ROW] == like(scratch[0], HINGE)
                for k in range(width):
                    r = vec.sub(get3(scratch, 9, k), get3(w, 0, k))
                    v = vec.cross(get3(w, 4, k), r)
                    xx, yy, zz = r[0] * r[0], r[1] * r[1], r[2] * r[2]
                    own = (v[0] * v[0], v[1] * v[1], v[2] * v[2])
                    off = (v[0] * v[1], v[0] * v[2], v[1] * v[2])
                    # What was added above goes: all but v v^T for a hinge, v v^T alone for the others.
                    gone = vec.select(hinged, vec.sub((yy + zz, xx + zz, xx + yy), own), own)
                    gone_off = vec.select(
                        hinged, vec.add((r[0] * r[1], r[0] * r[2], r[1] * r[2]), off), vec.scale(off, -one)
                    )
                    set3(scratch, 0, k, vec.sub(get3(scratch, 0, k), gone))
                    set3(scratch, 3, k, vec.add(get3(scratch, 3, k), gone_off))
        for k in range(width):
            miss = vec.sub(get3(goal, 0, k), get3(scratch, 9, k))
            damping = like(one, DAMPING) * vec.dot(miss, miss) + like(one, DAMPING_FLOOR)
            diagonal = get3(scratch, 0, k)
            diagonal = vec.add(diagonal, (damping, damping, damping))
            set3(scratch, 0, k, solve_symmetric(diagonal, get3(scratch, 3, k), miss))
            set3(scratch, 3, k, (zero, zero, zero))
            set3(scratch, 6, k, (zero, zero, zero))
        for j in range(joints - 1):
            w = chain[j * joint : (j + 2) * joint]
            for k in range(width):
                was_here = get3(scratch, 6, k)
                was_next = get3(w, FIELDS, k)
                way = vec.sub(get3(scratch, 9, k), was_here)
                turn = vec.cross(way, get3(scratch, 0, k))
                if limited == WITH_HINGES:
                    axis = get3(w, 4, k)
                    about = vec.scale(axis, vec.dot(axis, turn))
                    turn = vec.select(table[j * ROW] == like(one, HINGE), about, vec.sub(turn, about))
                turn = vec.add(get3(scratch, 3, k), turn)
                bone = vec.sub(was_next, was_here)
                here = get3(w, 0, k)
                aim = vec.add(here, vec.add(bone, vec.cross(turn, bone)))
                set3(scratch, 3, k, turn)
                set3(scratch, 6, k, was_next)
                set3(w, FIELDS, k, vec.reach(here, aim, w[(FIELDS + 3) * one_row + k]))
        if limited != FREE:
            place(chain, scratch, joints, table, base, limited, one)

    return SimpleNamespace(fabrik=fabrik, ccd=ccd, finish=finish, place=place)


@kernel
def solve_symmetric(diagonal, off, right):
    """x of A x = right for a positive definite A given by its diagonal and (xy, xz, yz), by L D L^T."""
    one = like(right[0], 1.0)
    a = one / diagonal[0]
    l1 = off[0] * a
    l2 = off[1] * a
    b = one / (diagonal[1] - off[0] * l1)
    yz = off[2] - off[1] * l1
    l3 = yz * b
    c = diagonal[2] - off[1] * l2 - yz * l3
    y = right[1] - l1 * right[0]
    z = (right[2] - l2 * right[0] - l3 * y) / c
    y = y * b - l3 * z
    return (right[0] * a - l1 * y - l2 * z, y, z)
