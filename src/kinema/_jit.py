"""The only place that talks to numba's compiler.

`kernel` marks a scalar function: takes and returns numbers and tuples of numbers, never allocates, never raises.
It is inlined into whoever calls it, so a loop over lanes around it becomes vector code; CUDA kernels call the same
function. `routine` is the same without inlining. `batch` marks a loop over many chains: compiled once per precision,
kept on disk, runs without the GIL.

Strict IEEE everywhere (no fastmath): a lane of a vector and a single call then give the same bits.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import config, njit, types
from numba.extending import overload

WITHOUT_KERNELS = frozenset(
    [
        "__init__",
        "__main__",
        "bake",
        "bench",
        "cli",
        "compile_ahead",
        "drawing",
        "images",
        "info",
        "io",
        "metrics",
        "pipeline",
        "playground",
        "render",
        "roles",
        "demo",
    ]
)
"""Parts of the package that no kernel is made of: editing them compiles nothing anew. A test holds them to it."""


def _sources_fingerprint() -> str:
    """Hash of every source file that kernels are made of: numba's own cache misses edits in helper files, so the
    folder's name catches them.
    """
    package = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        part = path.relative_to(package)
        if part.parts[0].removesuffix(".py") in WITHOUT_KERNELS:
            continue
        digest.update(part.as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where compiled kernels are kept: under NUMBA_CACHE_DIR if set, else in the user's cache folder."""
    if config.CACHE_DIR:
        return Path(config.CACHE_DIR) / f"kinema-{_sources_fingerprint()}"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "kinema" / _sources_fingerprint()


_CACHE_FOLDER = cache_folder()


# What only compiled code calls needs no way in from Python (a third less to compile), and since it never allocates,
# no counting of references to arrays either (atomic operations that took half the time of short functions).
_INTERNAL: dict[str, Any] = {
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


def kernel(function: Callable[..., Any]) -> Any:
    """A scalar function, inlined into its callers, on the CPU and on CUDA."""
    return njit(function, forceinline=True, **_INTERNAL)


def routine(function: Callable[..., Any]) -> Any:
    """A larger step that kernels of a batch share: compiled once and called, where inlining would only cost time."""
    return njit(function, **_INTERNAL)


def batch(function: Callable[..., Any]) -> Any:
    """A loop over many chains: no GIL, kept on disk between runs."""
    compiled = njit(function, error_model="numpy", nogil=True)
    if not config.DISABLE_JIT:
        _keep_on_disk(compiled)
    return compiled


def _keep_on_disk(compiled: Any) -> None:
    """Give one function our cache folder without touching the setting other packages see."""
    users_folder = config.CACHE_DIR
    config.CACHE_DIR = str(_CACHE_FOLDER)
    try:
        compiled.enable_caching()
    except (OSError, RuntimeError):
        pass  # Nowhere to write: it works, and compiles again next time.
    finally:
        config.CACHE_DIR = users_folder


def like(x: Any, value: float) -> Any:
    """`value` in the precision of `x`: a bare literal would turn float32 arithmetic into float64."""
    return value


@overload(like)
def _like(x, value):  # type: ignore[no-untyped-def]  # numba compares this signature with the lambda's
    real = x if isinstance(x, types.Float) else types.float64
    return lambda x, value: real(value)
