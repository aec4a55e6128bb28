"""Where compiled kernels come from: the package, else the user's cache folder, else the compiler.

A wheel ships the kernels as machine code for a baseline CPU (see `BASELINES`), so the first use does not wait for a
compiler. Shipped code is used when its Python, numba, platform and sources are the ones at hand and the CPU has every
feature of the baseline. Otherwise a kernel is compiled for this CPU once and kept in the user's cache folder.

A file that is damaged, foreign or unreadable counts as absent. Where nothing can be written, kernels are compiled again
in every process; a warning says so, once per process.

`python -m kinema.compile.kernel_cache FOLDER` compiles every kernel for the baseline into FOLDER, as the build hook
does.
"""

from __future__ import annotations

import glob
import hashlib
import logging
import os
import platform
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator

from kinema.compile.fingerprints import fingerprint

PACKAGE = Path(__file__).parents[1]
SHIPPED = PACKAGE / "_kernels"
"""Kernels that came with the wheel. Absent in a source checkout."""

BUILD_FOLDER = "KINEMA_KERNEL_FOLDER"
"""Environment variable: write baseline kernels there. Set by `build` for the processes that it starts."""

BASELINES = {
    "x86_64": ("x86-64-v3", {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}),
    "AMD64": ("x86-64-v3", {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}),
    "aarch64": ("generic", {"neon"}),
    "arm64": ("generic", {"neon"}),
}
"""The CPU that shipped kernels are compiled for, by machine, and the features it must have."""

PATIENCE = 1.0
"""Seconds of compiling after which a line on standard error says so."""


# --- where ------------------------------------------------------------------------------------------------------------


@cache
def user_folder() -> Path:
    """The folder of kernels compiled on this machine: below NUMBA_CACHE_DIR if set, else in the user's cache folder."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR) / "kinema"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "kinema"


@cache
def baseline() -> str | None:
    """The baseline that this CPU can run, None if there is none."""
    from llvmlite import binding

    name, needed = BASELINES.get(platform.machine(), (None, set()))
    if name is None:
        return None
    has = binding.get_host_cpu_features()
    return name if all(has.get(feature, False) for feature in needed) else None


# --- one folder of kernels, in the terms of numba ---------------------------------------------------------------------


class _Locator(_CacheLocator):  # type: ignore[misc]
    """A folder per module, and files per function and state of what it is made of."""

    def __init__(self, function: Any, file: str, folder: Path, stamp: str) -> None:
        self._py_file = file  # Named by numba where it warns.
        self._folder, self._stamp = folder / function.__module__, stamp

    def get_cache_path(self) -> str:
        return str(self._folder)

    def get_source_stamp(self) -> str:
        return self._stamp

    def get_disambiguator(self) -> str:
        return self._stamp


def _folder_cache(function: Any, stamp: str, folder: Path, cpu: str | None) -> Any:
    """numba's cache of one function in one folder.

    stamp: the hash of what it is made of. cpu: the baseline that the folder holds; None: whatever CPU compiles.
    """

    class Locator(_Locator):
        @classmethod
        def from_function(cls, py_func: Any, py_file: str) -> _Locator:
            return cls(py_func, py_file, folder, stamp)

    class Files(CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (Locator,)

    class FolderCache(FunctionCache):  # type: ignore[misc]
        _impl_class = Files

        def __init__(self, py_func: Any) -> None:
            super().__init__(py_func)
            self._cache_file = _FilesBySignature(self._cache_path, self._impl.filename_base, stamp)

        def _index_key(self, signature: Any, codegen: Any) -> Any:
            target = codegen.magic_tuple()
            if self._py_func.__closure__ is None:
                signature, target, code = super()._index_key(signature, codegen)
            else:  # numba would pickle the kernels around it, other bytes in every process. The stamp has hashed them.
                code = stamp
            return signature, target if cpu is None else (target[0], cpu), code

    return FolderCache(function)


class _FilesBySignature:
    """Files of one function, an index and its data for each signature.

    numba keeps one index for all signatures and numbers their data. Two processes that compile two signatures at once
    then take the same number, and one signature is given the code of the other.
    """

    def __init__(self, folder: str, name: str, stamp: str) -> None:
        self._folder, self._name, self._stamp = folder, name, stamp

    def _files(self, key: Any) -> Any:
        text = re.sub(r"0x[0-9a-f]+", "", repr(key))  # Without addresses of functions in it.
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        return IndexDataCacheFile(self._folder, f"{self._name}-{digest}", self._stamp)

    def load(self, key: Any) -> Any:
        return self._files(key).load(key)

    def save(self, key: Any, data: Any) -> None:
        self._files(key).save(key, data)

    def flush(self) -> None:
        for index in Path(self._folder).glob(f"{glob.escape(self._name)}-*.nbi"):
            index.unlink(missing_ok=True)


class KernelCache:
    """The cache of one compiled function: shipped kernels first, then the user's folder. Never raises."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher, function = dispatcher, dispatcher.py_func
        self._name = f"{function.__module__.removeprefix('kinema.')}.{function.__name__}"
        self._notice: Any = None

    @cached_property
    def _readable(self) -> list[Any]:
        """The folders to look in. Made at the first call: until then, kernels below the function are not defined."""
        function, stamp = self._dispatcher.py_func, fingerprint(self._dispatcher)
        building = os.environ.get(BUILD_FOLDER)
        if building:
            return [_folder_cache(function, stamp, Path(building), config.CPU_NAME)]
        folders = [_folder_cache(function, stamp, user_folder(), None)]
        if SHIPPED.is_dir() and baseline() and not config.CPU_NAME:
            folders.insert(0, _folder_cache(function, stamp, SHIPPED, baseline()))
        return folders

    @property
    def _writable(self) -> Any:
        return self._readable[-1]

    @property
    def cache_path(self) -> str:
        return str(self._writable.cache_path)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled function for a signature, None if it must be compiled."""
        for folder in self._readable:
            found = _attempt(partial(folder.load_overload, signature, target_context))
            if found is not None:
                return found
        self._notice = _announce(self._name)
        return None

    def save_overload(self, signature: Any, data: Any) -> None:
        """Store a compiled function. A damaged index is replaced; if that does not help either, a warning says why."""
        if self._notice is not None:
            self._notice.cancel()
        if _problem_of(lambda: self._writable.save_overload(signature, data)) is None:
            return
        _attempt(self._writable.flush)
        problem = _problem_of(lambda: self._writable.save_overload(signature, data))
        if problem is not None:
            _warn_once(self._writable.cache_path, problem)

    def enable(self) -> None:
        for folder in self._readable:
            folder.enable()

    def disable(self) -> None:
        for folder in self._readable:
            folder.disable()

    def flush(self) -> None:
        _attempt(self._writable.flush)


def _attempt(action: Callable[[], Any]) -> Any:
    """The result of an action, None if it fails: unpickling a damaged file can raise anything."""
    try:
        return action()
    except Exception:
        return None


def _problem_of(action: Callable[[], Any]) -> Exception | None:
    """The exception that an action raises, None if it succeeds."""
    try:
        action()
    except Exception as problem:
        return problem
    return None


_warned = threading.Event()
"""Set once this process has warned that kernels cannot be stored."""


def _warn_once(folder: str, problem: Exception) -> None:
    """Warn that kernels cannot be stored, the first time it happens in this process."""
    if _warned.is_set():
        return
    _warned.set()
    logging.getLogger("kinema").warning(
        "compiled kernels cannot be stored in %s (%s: %s); every process compiles them again. "
        "Set NUMBA_CACHE_DIR to a folder that can be written",
        folder,
        type(problem).__name__,
        problem,
    )


def attach(dispatcher: Any) -> None:
    """Give a compiled function this cache."""
    dispatcher._cache = KernelCache(dispatcher)


# --- a line for people who wait ---------------------------------------------------------------------------------------

_silenced = threading.local()


@contextmanager
def silent() -> Iterator[None]:
    """Compile without a line on standard error, for callers that show their own progress."""
    _silenced.on = True
    try:
        yield
    finally:
        _silenced.on = False


def _announce(name: str) -> threading.Timer | None:
    """Write a line if compiling takes longer than `PATIENCE`; cancel the timer when it is done."""
    if getattr(_silenced, "on", False) or sys.stderr is None:
        return None
    line = f"kinema: compiling {name}, once per environment (`kinema warmup` compiles everything)\n"
    timer = threading.Timer(PATIENCE, lambda: _attempt(lambda: sys.stderr.write(line)))
    timer.daemon = True
    timer.start()
    return timer


# --- building ---------------------------------------------------------------------------------------------------------


def build(folder: Path) -> None:
    """Compile every kernel for the baseline CPU into a folder. Raises RuntimeError where there is no baseline."""
    name = baseline()
    if name is None:
        raise RuntimeError(f"no baseline CPU is known for {platform.machine()}; known are {', '.join(BASELINES)}")
    settings = {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": "", BUILD_FOLDER: str(folder.resolve())}
    subprocess.run(
        [sys.executable, "-c", "from kinema.compile_ahead import warmup; warmup()"],
        env={**os.environ, **settings, "PYTHONPATH": str(PACKAGE.parent)},
        check=True,
        timeout=1800,
    )


if __name__ == "__main__":
    build(Path(sys.argv[1]))
