"""A thread's memory on the GPU: the simulator fills it with garbage, so that tests show who reads it too soon."""

import numpy as np
import pytest

pytest.importorskip("numba_cuda")

from kinema.solvers.gpu import thread_memory


def test_simulated_memory_holds_nothing_usable_at_first():
    words = thread_memory._simulated_words(5)
    assert words.shape == (5,)
    assert words.dtype == np.uint64
    assert (words == thread_memory.GARBAGE).all()
    assert np.abs(words.view(np.float32)).min() > 0.0


def test_every_thread_has_its_own():
    first, second = thread_memory._simulated_words(3), thread_memory._simulated_words(3)
    first[:] = 0
    assert (second == thread_memory.GARBAGE).all()
