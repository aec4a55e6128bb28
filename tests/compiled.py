"""What every test of a kernel needs: a way in from Python, and vectors and rotations of either precision to feed it."""

import gc
import importlib
import pkgutil
from functools import cache

import numpy as np
import pytest
from hypothesis import strategies as st
from numba import config, njit
from numba.core.dispatcher import Dispatcher

import kinema

COMPILED = not config.DISABLE_JIT

plain_python_only = pytest.mark.skipif(COMPILED, reason="tested as plain Python: make uncompiled-quick")
"""For kernels that take records: compiling a way in for each of them would take minutes."""

both_precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def kept_loops():
    """Every function of the package that is kept compiled, wherever it is held."""
    from kinema.compile.kernel_cache import KernelCache

    for module in pkgutil.walk_packages(kinema.__path__, "kinema."):
        if "__main__" not in module.name:
            importlib.import_module(module.name)
    # By type(): isinstance() asks weak references to objects that are gone what they were.
    found = [each for each in gc.get_objects() if issubclass(type(each), Dispatcher)]
    loops = [each for each in found if isinstance(each._cache, KernelCache)]
    return [loop for loop in loops if loop.py_func.__module__.startswith("kinema.")]


@cache
def _entrance(kernel):
    if not COMPILED:
        return kernel

    @njit(error_model="numpy")
    def call(*args):
        return kernel(*args)

    return call


def from_python(kernel):
    """A kernel as a function Python can call; on its own a kernel can only be called from compiled code."""
    return _entrance(kernel)


def cast(dtype, value):
    """Numbers and nested sequences of numbers as scalars and tuples of one precision."""
    if isinstance(value, (tuple, list)) or np.ndim(value):
        return tuple(cast(dtype, item) for item in value)
    # A Python float is what compiled code hands out and what users have; NumPy's float64 would warn where it is silent.
    return dtype(value) if dtype is np.float32 else float(value)


def run(kernel, dtype, *args):
    """Call a kernel with every number in one precision; the answer as float64 arrays to reason about."""
    answer = from_python(kernel)(*(cast(dtype, arg) for arg in args))
    return widened(answer)


def widened(answer):
    if isinstance(answer, tuple) and any(isinstance(item, tuple) for item in answer):
        return tuple(widened(item) for item in answer)
    return np.asarray(answer, np.float64)


def rounded(dtype, value):
    """What the kernel sees of a number or array: its value in that precision, kept in float64."""
    return np.asarray(value, np.float64).astype(dtype).astype(np.float64)


def eps(dtype):
    return float(np.finfo(dtype).eps)


def fits_float32(answer):
    """Whether no number has more digits than float32: if one has, arithmetic slipped into float64 on the way."""
    if isinstance(answer, tuple):
        return all(fits_float32(item) for item in answer)
    return float(np.float32(answer)) == float(answer)


# --- what to draw ----------------------------------------------------------------------------------------------


def _normalised(values):
    array = np.asarray(values, np.float64)
    return array / np.linalg.norm(array)


def _has_direction(values):
    return np.linalg.norm(values) > 0.1


def numbers(low, high):
    """Numbers that float32 holds as well: what its range would lose is zero."""
    return st.floats(low, high).map(lambda x: x if abs(x) > 1e-30 else 0.0)


def units(width=3):
    """Unit vectors: along an axis, diagonal, planar and anything."""
    plain = st.sampled_from([-1.0, 0.0, 1.0])
    return (
        st.lists(st.one_of(numbers(-1.0, 1.0), plain), min_size=width, max_size=width)
        .filter(_has_direction)
        .map(_normalised)
    )


def planar_units():
    return numbers(-np.pi, np.pi).map(lambda angle: np.array([np.cos(angle), np.sin(angle), 0.0]))


def rotations():
    """Unit quaternions, half revolutions and no rotation among them."""
    return units(4)


def vectors(size=10.0):
    return st.lists(numbers(-size, size), min_size=3, max_size=3).map(np.array)


def sizes():
    """A magnitude from 1e-12 to 1e12, every decade as likely."""
    return numbers(-12.0, 12.0).map(lambda exponent: 10.0**exponent)


def angles(low=-np.pi, high=np.pi):
    return numbers(low, high)


def small_angles(smallest=1e-9, largest=1e-1):
    """Angles near zero, every decade as likely."""
    return numbers(np.log10(smallest), np.log10(largest)).map(lambda exponent: 10.0**exponent)
