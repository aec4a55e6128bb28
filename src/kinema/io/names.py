"""Names from files, where several things may be called the same."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Sequence


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """The same names, each one different: the first to be called so keeps its name, the next become name_2, name_3."""
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


def readable(name: str) -> str:
    """The same name where it can be written as UTF-8; halves of characters, which JSON can hold, become "?"."""
    return name.encode("utf-8", "replace").decode("utf-8")


def listed(names: Iterable[str]) -> str:
    """Names for a sentence, the first dozen of them."""
    known = [repr(name) for name in names]
    more = f" and {len(known) - 12} more" if len(known) > 12 else ""
    return (", ".join(known[:12]) + more) or "none"


def meant(name: str, known: Iterable[str]) -> str:
    """For a sentence about a name that is not known: those that are like it, or else those that there are."""
    near = difflib.get_close_matches(name, list(known), 3, 0.4)
    return f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {listed(known)}"
