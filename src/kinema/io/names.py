"""Names from files: unique, short and printable."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence

_LONGEST = 256
"""Characters kept of a name. A hostile file may have names of megabytes, and every list and message repeats them."""


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """Make names unique: the first of equal names is kept, the next become name_2, name_3."""
    taken, seen, last = set(names), set(), Counter[str]()
    result = []
    for name in names:
        new = name
        if name in seen:
            last[name] += 1
            while (new := f"{name}_{last[name] + 1}") in taken:
                last[name] += 1
            taken.add(new)
        seen.add(new)
        result.append(new)
    return tuple(result)


def shortened(name: str) -> str:
    """Return the first 256 characters of a name."""
    return name[:_LONGEST]


def readable(name: str) -> str:
    """Shorten a name, and replace lone surrogates, which JSON can hold and UTF-8 cannot, with "?"."""
    return shortened(name).encode("utf-8", "replace").decode("utf-8")


def listed(names: Iterable[str]) -> str:
    """Join names for an error message: the first dozen, and how many more there are."""
    known = [repr(name) for name in names]
    more = f" and {len(known) - 12} more" if len(known) > 12 else ""
    return (", ".join(known[:12]) + more) or "none"


def suggestion(name: str, known: Iterable[str]) -> str:
    """Suggest the names most like an unknown one, or list all of them, for an error message."""
    near = difflib.get_close_matches(shortened(name), list(known), 3, 0.4)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {listed(known)}"
