"""DLPack capsules of arrays, read by NumPy: from the host's memory, since that is what NumPy reads."""

import gc

import numpy as np
import pytest

from kinema.stages.device import device_view

HOST = 1  # kDLCPU of dlpack.h.


class Lent:
    """An array that is only handed over by a capsule of ours."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return HOST, 0

    def __dlpack__(self, **options):
        address, device = self.array.ctypes.data, device_view._Device(HOST, 0)
        return device_view.dlpack_capsule(self.array, address, self.array.shape, self.array.dtype, device)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int64, np.uint8, np.bool_])
@pytest.mark.parametrize("shape", [(4,), (2, 3), (2, 3, 4), (1, 1)])
def test_a_consumer_sees_the_same_memory(kind, shape):
    array = np.arange(np.prod(shape)).reshape(shape).astype(kind)
    seen = np.from_dlpack(Lent(array))
    np.testing.assert_array_equal(seen, array)
    assert seen.dtype == array.dtype
    assert seen.ctypes.data == array.ctypes.data


def test_memory_is_kept_while_a_consumer_has_it_and_then_given_back():
    before = len(device_view._lent)
    seen = np.from_dlpack(Lent(np.arange(5.0)))
    gc.collect()
    np.testing.assert_array_equal(seen, np.arange(5.0))
    assert len(device_view._lent) == before + 1
    del seen
    gc.collect()
    assert len(device_view._lent) == before


def test_a_capsule_that_nobody_takes_gives_its_memory_back():
    before = len(device_view._lent)
    capsule = Lent(np.arange(5.0)).__dlpack__()
    assert len(device_view._lent) == before + 1
    del capsule
    gc.collect()
    assert len(device_view._lent) == before
