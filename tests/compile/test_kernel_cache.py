"""The kernel cache: shipped kernels first, then the user's folder, then the compiler; damage is survived."""

import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path

import numba
import numpy as np
import pytest
from numba import config, njit
from numba.core.caching import IndexDataCacheFile

from kinema.compile import kernel_cache
from kinema.compile.fingerprints import fingerprint
from kinema.solvers.chain import ccd, fabrik

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")


def double(values):
    for i in range(values.size):
        values[i] += values[i]


class Kernels:
    """One kernel as each new process finds it: shipped folder, user's folder."""

    def __init__(self, monkeypatch, tmp_path):
        self.patch = monkeypatch
        self.shipped, self.user = tmp_path / "shipped", tmp_path / "user"
        monkeypatch.setattr(kernel_cache, "SHIPPED", self.shipped)
        monkeypatch.setattr(kernel_cache, "user_folder", lambda: self.user)
        monkeypatch.setattr(kernel_cache, "_warned", threading.Event())

    def ship(self):
        """Compile into the shipped folder, as the build does."""
        self.patch.setenv(kernel_cache.BUILD_FOLDER, str(self.shipped))
        self.patch.setattr(config, "CPU_NAME", kernel_cache.baseline())
        self.run()
        self.patch.delenv(kernel_cache.BUILD_FOLDER)
        self.patch.setattr(config, "CPU_NAME", None)

    def run(self):
        """Call the kernel as a new process would; whether it had to be compiled."""
        fresh = njit(double)
        kernel_cache.attach(fresh)
        values = np.arange(4.0)
        fresh(values)
        np.testing.assert_array_equal(values, (0, 2, 4, 6))
        return sum(fresh.stats.cache_misses.values()) > 0 and not self._loaded(fresh)

    @staticmethod
    def _loaded(dispatcher):
        return sum(dispatcher.stats.cache_hits.values()) > 0

    def files(self, folder, ending):
        return sorted(Path(folder).rglob(f"*.{ending}"))


@pytest.fixture
def kernels(monkeypatch, tmp_path):
    return Kernels(monkeypatch, tmp_path)


def test_a_kernel_is_compiled_once_per_machine(kernels):
    assert kernels.run()
    assert len(kernels.files(kernels.user, "nbc")) == 1
    assert not kernels.run()


@pytest.mark.skipif(kernel_cache.baseline() is None, reason="no baseline for this CPU")
class TestShipped:
    def test_shipped_kernels_come_first(self, kernels):
        kernels.ship()
        assert not kernels.run()
        assert kernels.files(kernels.user, "nbc") == []

    def test_another_cpu_compiles(self, kernels, monkeypatch):
        kernels.ship()
        monkeypatch.setattr(kernel_cache, "baseline", lambda: None)
        assert kernels.run()
        assert not kernels.run()

    def test_a_cpu_chosen_by_the_user_compiles(self, kernels, monkeypatch):
        kernels.ship()
        monkeypatch.setattr(config, "CPU_NAME", "generic")
        assert kernels.run()

    def test_other_sources_compile(self, kernels, monkeypatch):
        kernels.ship()
        monkeypatch.setattr(kernel_cache, "fingerprint", lambda dispatcher: "edited")
        assert kernels.run()

    def test_another_numba_compiles(self, kernels, monkeypatch):
        kernels.ship()
        monkeypatch.setattr(numba, "__version__", "0.0.1")
        assert kernels.run()

    @pytest.mark.parametrize("ending", ["nbi", "nbc"])
    @pytest.mark.parametrize("content", [b"", b"\x80", b"not a pickle", pickle.dumps("foreign")])
    def test_a_damaged_shipped_file_is_ignored(self, kernels, ending, content):
        kernels.ship()
        for path in kernels.files(kernels.shipped, ending):
            path.write_bytes(content)
        assert kernels.run()
        assert not kernels.run()


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_truncated_cache_file_is_replaced_without_a_warning(kernels, ending, caplog):
    kernels.run()
    for path in kernels.files(kernels.user, ending):
        path.write_bytes(path.read_bytes()[:20])
    assert kernels.run()
    assert not kernels.run()

    assert warnings_of(caplog) == []


def warnings_of(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "kinema"]


def test_a_folder_that_cannot_be_written_costs_time_and_one_warning(kernels, caplog):
    kernels.user.write_text("a file where the folder should be")
    assert kernels.run()
    assert kernels.run()
    (warning,) = warnings_of(caplog)
    assert warning.startswith(f"compiled kernels cannot be stored in {kernels.user}")
    assert "NUMBA_CACHE_DIR" in warning


def test_a_full_disk_costs_time_and_one_warning_with_its_reason(kernels, monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile._save_data", full)
    assert kernels.run()
    assert kernels.run()
    (warning,) = warnings_of(caplog)
    assert "No space left on device" in warning


def test_long_compiling_is_announced(kernels, monkeypatch, capfd):
    monkeypatch.setattr(kernel_cache, "PATIENCE", 0.0)
    kernels.run()
    time.sleep(0.1)
    assert "kinema: compiling" in capfd.readouterr().err


def test_compiling_can_be_silent(kernels, monkeypatch, capfd):
    monkeypatch.setattr(kernel_cache, "PATIENCE", 0.0)
    with kernel_cache.silent():
        kernels.run()
    time.sleep(0.1)
    assert capfd.readouterr().err == ""


def test_quick_compiling_is_not_announced(kernels, monkeypatch, capfd):
    monkeypatch.setattr(kernel_cache, "PATIENCE", 60.0)
    kernels.run()
    assert capfd.readouterr().err == ""


def test_loops_around_kernels_that_differ_are_kept_apart():
    """Those of chain solvers have one name and code, and the kernel of the pass is a variable around them."""
    joints = np.array(((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 2.0, 0.0), (0.0, 3.0, 0.0)))
    loops = (fabrik._FABRIK.solve_few, ccd._CCD.solve_few)
    fabrik.fabrik(joints, (1.0, 1.0, 1.0))
    ccd.ccd(joints, (1.0, 1.0, 1.0))
    folder, stamps = Path(loops[0]._cache.cache_path), {fingerprint(loop) for loop in loops}
    assert len(stamps) == 2
    assert all(list(folder.glob(f"*solve_few*{stamp}*.nbi")) for stamp in stamps)


def test_a_loop_around_a_kernel_is_found_by_another_process(tmp_path):
    """numba would pickle the kernel, which gives other bytes in every process."""
    code = "import kinema as km; km.ccd([(0.0, 0, 0), (0, 1, 0), (0, 2, 0)], (1.0, 1, 0))"
    for compiled in (True, False):
        before = set(tmp_path.rglob("*.nbi"))
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=300)
        assert (set(tmp_path.rglob("*.nbi")) > before) == compiled


def test_two_processes_that_save_at_once_do_not_mix_up_their_signatures(tmp_path, monkeypatch):
    """Each has seen an empty index before the other saved."""
    files = kernel_cache._FilesBySignature(str(tmp_path), "solve", "stamp")
    with monkeypatch.context() as at_once:
        at_once.setattr(IndexDataCacheFile, "_load_index", lambda self: {})
        files.save(("float32", "cpu"), b"single")
        files.save(("float64", "cpu"), b"double")
    assert files.load(("float32", "cpu")) == b"single"
    assert files.load(("float64", "cpu")) == b"double"
    files.flush()
    assert files.load(("float32", "cpu")) is None
