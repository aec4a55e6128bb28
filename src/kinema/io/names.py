"""Names from files: unique, short and printable."""

from collections import Counter
from collections.abc import Sequence

from kinema.errors import shortened


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


def readable(name: str) -> str:
    """Shorten a name, and replace lone surrogates, which JSON can hold and UTF-8 cannot, with "?"."""
    return shortened(name).encode("utf-8", "replace").decode("utf-8")
