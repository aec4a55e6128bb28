"""Field descriptions of named tuples, for `help`.

Python keeps the docstring of a class, but not the strings under its fields; `help` shows "Alias for field number 0"
instead. `describe_fields` reads them from the source.
"""

from __future__ import annotations

import inspect
import re
import sys
from typing import Any

_FIELD = re.compile(r'^    (\w+): [^\n]*\n    """(.*?)"""', re.M | re.S)
"""A field and the string under it, in the body of a class."""


def describe_fields(kind: type[Any]) -> None:
    """Set the docstring of each field of a named tuple to the string under it. Without the source, nothing changes."""
    fields = kind._fields
    for name, text in _FIELD.findall(_body(kind)):
        if name in fields:
            getattr(kind, name).__doc__ = inspect.cleandoc(text)


def _body(kind: type[Any]) -> str:
    """The source of a class, without its first line; empty if there is none."""
    try:
        source = inspect.getsource(sys.modules[kind.__module__])
    except OSError:
        return ""
    _, _, rest = source.partition(f"\nclass {kind.__name__}(NamedTuple):\n")
    return re.split(r"^\S", rest, maxsplit=1, flags=re.M)[0]
