"""The machine of a measurement: hardware and versions, nothing that identifies its owner."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import kinema


def describe() -> dict[str, str | int]:
    """Return CPU model, cores, operating system, and the versions that speed depends on."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "os": _system(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba")},
        "kinema": kinema.__version__,
    }


def slug(machine: dict[str, str | int]) -> str:
    """Return a file name for a machine: its CPU model and number of cores."""
    return file_name(f"{machine['cpu']} {machine['cores']}")


def file_name(words: str) -> str:
    """Return words as a file name, without trademark signs."""
    plain = re.sub(r"\((r|tm)\)", " ", words, flags=re.IGNORECASE)
    return re.sub(r"[^a-z0-9.]+", "-", plain.lower()).strip("-")


def installed(package: str) -> str | None:
    """Return the version of a Python package, None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = f"{platform.system()} {platform.release()}"
    return f"{name}, {platform.machine()}"
