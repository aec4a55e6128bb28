"""What the package uses of numba's decorators, or plain Python in their place.

With the environment variable NUMBA_DISABLE_JIT set to 1, kernels are plain Python functions, and numba, whose import
takes longer than a look at a file, is not imported.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any


def _is_compiled() -> bool:
    if "numba" not in sys.modules and os.environ.get("NUMBA_DISABLE_JIT", "").strip() == "1":
        return False
    from numba import config  # Has the last word: numba also reads a settings file.

    return not config.DISABLE_JIT


IS_COMPILED = _is_compiled()
"""Whether kernels are compiled in this process."""

if IS_COMPILED:
    from numba import njit, types, version_info
    from numba.extending import overload

    VERSION: tuple[int, ...] = tuple(version_info.short)
else:
    types, VERSION = None, ()

    def njit(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
        """The function itself."""
        return function

    def overload(function: Callable[..., Any]) -> Callable[..., Any]:
        """Ignore how a function is to be compiled."""
        return lambda implementation: implementation


__all__ = ["IS_COMPILED", "VERSION", "njit", "overload", "types"]
