"""Ground transforms: their algebra, against complex numbers. `test_clip` moves whole characters by them."""

import cmath
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinema.model import root_motion
from tests.compiled import from_python

UP = (0.0, 1.0, 0.0)
transforms = st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(-4, 4))


def ground(x, z, yaw):
    return ((x, 0.0, z), yaw)


def as_complex(transform):
    """A rotation and a shift of the plane: z ahead, x to the left of it."""
    (x, _, z), yaw = transform
    return cmath.exp(1j * yaw), complex(z, x)


def close(found, rotation, shift):
    turn, move = as_complex(found)
    assert abs(turn - rotation) < 1e-9
    assert abs(move - shift) < 1e-8
    assert -math.pi - 1e-12 <= found[1] <= math.pi + 1e-12


@given(transforms, transforms)
def test_one_after_the_other(a, b):
    (r, s), (q, t) = as_complex(ground(*a)), as_complex(ground(*b))
    close(from_python(root_motion.then)(ground(*a), ground(*b), UP), r * q, s + r * t)


@given(transforms)
def test_the_inverse_leads_back(a):
    a = ground(*a)
    close(from_python(root_motion.then)(a, from_python(root_motion.inverse)(a, UP), UP), 1, 0)


@given(transforms, st.integers(-5, 5))
def test_repeated_is_one_after_the_other_many_times(a, count):
    r, s = as_complex(ground(*a))
    if count < 0:
        r, s = 1 / r, -s / r
    rotation, shift = 1 + 0j, 0j
    for _ in range(abs(count)):
        rotation, shift = rotation * r, shift + rotation * s
    if abs(math.sin(a[2] / 2)) > 1e-3 or a[2] == 0:
        close(from_python(root_motion.repeated)(ground(*a), float(count), UP), rotation, shift)


@pytest.mark.parametrize("angle", [-7.0, -math.pi, 0.0, 1.0, 3.2, 100.0])
def test_wrapped_angles_are_the_same_from_minus_pi_to_pi(angle):
    found = from_python(root_motion.wrapped)(angle)
    assert -math.pi <= found <= math.pi
    assert np.exp(1j * found) == pytest.approx(np.exp(1j * angle), abs=1e-12)
