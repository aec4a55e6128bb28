"""The same input gives the same bits: twice in a process, in another process, and for some solvers on any machine.

The inputs are small fractions made of integers, so they are the same numbers everywhere; no random generator, whose
stream might change with a release, has a part in them.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kinema as km
from tests.compiled import COMPILED

ROOT = Path(__file__).parents[1]

LIMITS = [km.Cone(0.75), km.Hinge((1, 0, 0), -0.5, 1.25), None, km.SwingTwist(0.5, -1, 1)]


# --- problems --------------------------------------------------------------------------------------------------


def fractions(count, width, salt, dtype):
    """(count, width) multiples of 1/512 from -2 to 2: exact in both precisions."""
    i = np.arange(count * width, dtype=np.int64)
    scrambled = (i * 7919 + salt * 104_729 + (i * i) % 613 * 31) % 2048
    return ((scrambled - 1024) / 512).reshape(count, width).astype(dtype)


def lengths(count, width, salt, dtype):
    """(count, width) multiples of 1/512 from 1/2 to 1 and a half."""
    return (fractions(count, width, salt, np.float64) / 4 + 1).astype(dtype)


def chains(count, joints, width, salt, dtype):
    """Zigzags of one bone along an axis after the other; some of them straight."""
    bones = np.zeros((count, joints - 1, width))
    sizes = lengths(count, joints - 1, salt, np.float64)
    for i in range(count):
        for j in range(joints - 1):
            bones[i, j, 1 if i % 5 == 0 else (i * 3 + j * 2) % width] = sizes[i, j] * (1 if (i + j) % 3 else -1)
    points = np.concatenate([np.zeros((count, 1, width)), np.cumsum(bones, axis=1)], axis=1)
    return (points + fractions(count, width, salt + 1, np.float64)[:, None]).astype(dtype)


def worlds(count, dtype):
    """World matrices (count, 3, 4, 4): axes permuted, scaled by powers of two, some mirrored."""
    result = np.zeros((count, 3, 4, 4))
    points = chains(count, 3, 3, 11, np.float64)
    for i in range(count):
        for j in range(3):
            axes = np.roll(np.eye(3), i + j, axis=0) * (1.0 if (i + j) % 2 else 2.0)
            axes[:, 0] *= -1.0 if i % 3 == 0 else 1.0
            result[i, j, :3, :3], result[i, j, :3, 3], result[i, j, 3, 3] = axes, points[i, j], 1.0
    return result.astype(dtype)


# --- answers ---------------------------------------------------------------------------------------------------


def two_bone(dtype):
    root, target, pole, hint = (fractions(300, 3, salt, dtype) for salt in (1, 2, 3, 4))
    bones = lengths(300, 2, 5, dtype)
    yield km.two_bone(root, target, bones)
    yield km.two_bone(root, target, bones, pole=pole, hint=hint, soften=0.875)
    yield km.two_bone(root[:20], target[:20], bones[:20], pole=pole[0])


def long_chains(solve, dtype, count=40):
    for width, joints in ((2, 4), (3, 3), (3, 6), (3, 12)):
        start = chains(count, joints, width, 6, dtype)
        target = start[:, 0] + fractions(count, width, 7, dtype)
        yield solve(start, target)
        yield solve(start, target, pole=fractions(count, width, 8, dtype))


def fabrik(dtype):
    yield from long_chains(km.fabrik, dtype)


def ccd(dtype):
    yield from long_chains(km.ccd, dtype)


def limited(dtype):
    start = chains(12, 5, 3, 9, dtype)
    target = start[:, 0] + fractions(12, 3, 10, dtype)
    for solve in (km.fabrik, km.ccd):
        yield solve(start, target, limits=LIMITS, base=(0.25, 1, 0.5), max_iterations=40)


def two_bone_2d(dtype):
    root, target = fractions(100, 2, 1, dtype), fractions(100, 2, 2, dtype)
    bones = lengths(100, 2, 3, dtype)
    yield km.two_bone_2d(root, target, bones, bend=-1)
    yield km.two_bone_2d(root, target, bones, auto_bend=True)


def two_bone_rotations(dtype):
    world, target = worlds(60, dtype), fractions(60, 3, 12, dtype)
    yield km.two_bone_rotations(world, target)
    yield km.two_bone_rotations(world, target, axis=(1, 0.5, 0), pole=(1, 2, 3), soften=0.875, weight=0.75)


def aim(dtype):
    yield km.aim(worlds(60, dtype)[:, 0], fractions(60, 3, 13, dtype), offset=(0.25, 0.5, 0), weight=0.5)


def look_at(dtype):
    yield (km.look_at(fractions(100, 3, 14, dtype), fractions(100, 3, 15, dtype)),)


def compensating(dtype):
    start = chains(20, 6, 3, 16, dtype)
    target, state = start[:, 0] + fractions(20, 3, 17, dtype), None
    for _ in range(3):
        r = km.compensating(start, target, state=state, steps=4)
        start, state = r.joints, r.state
        yield r


def rotations(dtype):
    start = chains(20, 6, 3, 18, dtype)
    yield (km.fabrik(start, fractions(20, 3, 19, dtype)).rotations(),)
    rotations = fractions(50, 4, 20, dtype) + np.array([0, 0, 0, 4], dtype)
    yield tuple(limit.project(rotations) for limit in LIMITS if limit is not None)


SOLVERS = (
    two_bone,
    fabrik,
    ccd,
    limited,
    two_bone_2d,
    two_bone_rotations,
    aim,
    look_at,
    compensating,
    rotations,
)


def digest(solver, dtype):
    """SHA-256 over the bytes of every field of every answer but the root, which is as given, little-endian."""
    found = hashlib.sha256()
    for answer in solver(dtype):
        named = answer._asdict() if hasattr(answer, "_asdict") else dict(enumerate(answer))
        for field in (value for name, value in named.items() if name != "root"):
            array = np.ascontiguousarray(field)
            found.update(f"{array.dtype.name} {array.shape} ".encode())
            found.update(array.astype(array.dtype.newbyteorder("<")).tobytes())
    return found.hexdigest()


def all_digests():
    return {f"{s.__name__} {t.__name__}": digest(s, t) for s in SOLVERS for t in (np.float64, np.float32)}


# --- tests -----------------------------------------------------------------------------------------------------

every_solver = pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.__name__)
precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


@every_solver
@precisions
def test_twice_in_this_process(solver, dtype):
    assert digest(solver, dtype) == digest(solver, dtype)


def test_the_digest_sees_a_single_bit():
    """The check checks: one number moved by the least there is makes another digest."""

    def moved(dtype):
        for answer in two_bone(dtype):
            mid = answer.mid.copy()
            mid[7, 1] = np.nextafter(mid[7, 1], 2)
            yield answer._replace(mid=mid)

    assert digest(moved, np.float64) != digest(two_bone, np.float64)


def test_in_another_process():
    code = "import json; from tests.test_determinism import all_digests; print(json.dumps(all_digests()))"
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    assert json.loads(run.stdout.splitlines()[-1]) == all_digests()


GOLDEN = {
    "two_bone float64": "21edd184c1b2452c5fa4fc30275d1d3266a4c60b983de9203fc0e02fdacc9724",
    "two_bone float32": "05947e993a3e57e2d38d37939aa53711e46caaabc16d868d51f92b89c7849065",
    "fabrik float64": "086685600fe9e2e815f8d95eaf6f63a3bb38519d92574d9e7b44d5d6f0582354",
    "fabrik float32": "bb0ee5a3674a305ee4fe4fef31c9ea4ffeb39860c1296cc1e77dda0d1892f456",
    "ccd float64": "6d3214bea648505e99147d14ce0d5001d588a449118d411c941a34f69599f37f",
    "ccd float32": "78e05072d2a52cd79bf1d0c938648efb2ed5a0cc4eaba895953de8c9dc1ddf9c",
}
"""What the solvers that use nothing but + - * / and square roots give on every machine. A change of the mathematics
changes them: the failing test prints the new value."""


@pytest.mark.parametrize("solver", [two_bone, fabrik, ccd], ids=lambda solver: solver.__name__)
@precisions
def test_on_every_machine(solver, dtype):
    if dtype is np.float32 and not COMPILED:
        pytest.skip("uncompiled code mixes float32 with Python's floats")
    name = f"{solver.__name__} {dtype.__name__}"
    new = digest(solver, dtype)
    assert new == GOLDEN[name], f'\n    "{name}": "{new}",'
