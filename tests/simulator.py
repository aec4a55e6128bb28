"""numba's CUDA simulator, for tests of what runs on a GPU where none is.

The simulator is chosen when numba is imported, so a test file runs itself in a process of its own: outside the
simulator it has one test, which starts that process; inside it are all the others.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"


def run_in_simulator(file):
    """Run the tests of a file in the simulator: all must pass, and none may be skipped. `make test` leaves out those
    that are marked as slow there; `make test-all` runs every one.
    """
    quick = ["-m", "not slow_simulated"] if settings.get_current_profile_name() == "quick" else []
    # Without the compiler kernels are plain Python functions, which is what the simulator runs.
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:cov", "-rs", *quick, file],
        env=environment,
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed" in run.stdout, run.stdout
    assert "skipped" not in run.stdout, run.stdout


@pytest.fixture
def device(monkeypatch):
    """Moves arrays to the simulated device, which is first given what a real one has and it lacks."""
    from numba import cuda
    from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray
    from numba.cuda.simulator.kernel import _get_kernel_context
    from numba.cuda.simulator.kernelapi import FakeCUDAAtomic, FakeCUDALocal

    class RecordLocal(FakeCUDALocal):
        """Local memory whose records have attributes, as they have in compiled code."""

        def array(self, shape, dtype):
            return super().array(shape, dtype).view(np.recarray)

    # What says that an array is on a device, and the way in for one that says so.
    def described(array):
        return {"shape": array._ary.shape, "data": (0, False), "typestr": array._ary.dtype.str}

    monkeypatch.setattr(FakeCUDAArray, "__cuda_array_interface__", property(described), raising=False)
    monkeypatch.setattr(cuda, "as_cuda_array", lambda array: getattr(array, "_array", array), raising=False)
    # The simulator's shapes refuse to be indexed from the end, which real ones allow outside of kernels.
    monkeypatch.setattr(FakeCUDAArray, "shape", property(lambda array: array._ary.shape))
    # It replaces `cuda` inside a kernel only where that is a global name; those of solvers are made by functions.
    monkeypatch.setattr(cuda, "grid", lambda axes: _get_kernel_context().grid(axes), raising=False)
    monkeypatch.setattr(cuda, "atomic", FakeCUDAAtomic(), raising=False)
    monkeypatch.setattr(cuda, "local", RecordLocal(), raising=False)
    return lambda array: cuda.to_device(np.ascontiguousarray(array))
