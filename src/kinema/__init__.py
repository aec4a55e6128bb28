"""Kinema: inverse kinematics for procedural animation.

The public names, each loaded on first use so that `import kinema` costs milliseconds. See docs/conventions.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from kinema.errors import DeviceError, InputError, KinemaError
    from kinema.solvers.two_bone import TwoBone, two_bone

_HOME = {
    "DeviceError": "kinema.errors",
    "InputError": "kinema.errors",
    "KinemaError": "kinema.errors",
    "TwoBone": "kinema.solvers.two_bone",
    "two_bone": "kinema.solvers.two_bone",
}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'kinema' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
