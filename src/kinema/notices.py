"""One warning when something starts to go wrong, none for the frames after it.

The solvers are plain functions without memory, so the memory is here: which chains are known to be in trouble. A
chain is known by who solved it and by the size of its bones, the two things that stay the same from frame to frame.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Hashable

logger = logging.getLogger("kinema")

OUT_OF_REACH = 1
ZERO_BONE = 2
DEGENERATE = 4

_MEANING = {
    OUT_OF_REACH: "the target is out of reach; the closest reachable pose is returned",
    ZERO_BONE: "a bone has length zero",
    DEGENERATE: "the whole chain has length zero; it stays at its root",
}

_REMEMBERED = 4096
"""Chains remembered. The oldest are forgotten first: at worst a warning is given again."""

_troubled: OrderedDict[Hashable, int] = OrderedDict()


def watched() -> bool:
    """Whether any chain is in trouble: while none is, a solver that met no trouble has nothing to say here."""
    return bool(_troubled)


def report(solver: str, chain: Hashable, flags: int) -> None:
    """Say what is new about a chain; forget what is over."""
    key = (solver, chain)
    before = _troubled.get(key, 0)
    if flags:
        _troubled[key] = flags
        _troubled.move_to_end(key)
        while len(_troubled) > _REMEMBERED:
            _troubled.popitem(last=False)
    elif before:
        _troubled.pop(key, None)
    for flag, meaning in _MEANING.items():
        if flags & flag and not before & flag:
            logger.warning("%s: %s", solver, meaning)


def forget() -> None:
    """Forget every chain, so that trouble that goes on is reported once more."""
    _troubled.clear()
