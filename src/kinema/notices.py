"""Warnings about chains in trouble, at most one per call site and second. They go to the logger "kinema"."""

from __future__ import annotations

import logging
import sys
from collections import OrderedDict
from time import monotonic
from typing import Any

from kinema.compile.jit import kernel, like

logger: logging.Logger = logging.getLogger("kinema")

OUT_OF_REACH = 1
ZERO_BONE = 2
DEGENERATE = 4

_MEANING = {
    OUT_OF_REACH: "the target is out of reach; the closest reachable pose is returned",
    ZERO_BONE: "a bone has length zero",
    DEGENERATE: "the whole chain has length zero; it stays at its root",
}


@kernel
def flags_of(shortest: Any, whole: Any, beyond: Any) -> Any:
    """The troubles of a chain, by the length of its shortest bone, of all its bones, and whether its target is beyond
    its reach.
    """
    zero = like(whole, 0.0)
    flags = OUT_OF_REACH if beyond else 0
    if not shortest > zero:
        flags |= ZERO_BONE if whole > zero else DEGENERATE
    return flags


_QUIET = 1.0
"""Seconds for which a call site is not warned again of the same trouble."""

_CALL_SITES = 256
"""Call sites whose last warning is remembered. Of more, the oldest are forgotten, and may be warned again too soon."""


_last_warning: OrderedDict[tuple[str, int, str], float] = OrderedDict()
"""When a call site was last given a warning: file, line, message -> seconds."""


def report(solver: str, flags: int) -> None:
    """Warn of the problems of a solver, at most once per call site and second."""
    for flag, meaning in _MEANING.items():
        if flags & flag:
            warn(f"{solver}: {meaning}")


def warn(message: str) -> None:
    """Warn the nearest caller outside this package, at most once per call site and second."""
    key = (*_call_site(), message)
    now = monotonic()
    if key in _last_warning and now - _last_warning[key] < _QUIET:
        return
    _last_warning[key] = now
    _last_warning.move_to_end(key)
    while len(_last_warning) > _CALL_SITES:
        _last_warning.popitem(last=False)
    logger.warning("%s", message)


def forget() -> None:
    """Forget when call sites were warned."""
    _last_warning.clear()


def _call_site() -> tuple[str, int]:
    """File and line of the nearest caller outside this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "kinema":
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
