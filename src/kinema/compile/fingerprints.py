"""What a compiled function was made of, as a short hash: its own code and everything of the package that it uses.

A function that is stored under this hash is compiled again when the code of a kernel that it calls changes, or a
constant that one of them reads, and not when anything else in their modules does: a docstring, a comment, a class, a
public function.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from kinema.compile.records import Record

COMPILER = Path(__file__).parent

_BESIDE = {"field_docs.py", "kernel_cache.py", "lanes.py", "threads.py"}
"""Modules of this room that do not compile: they hold, hand out or run compiled functions, or are kernels."""

_FOREIGN = {"math", "numpy", "numba"}
"""Modules whose content numba knows itself: the files of its cache carry its version."""


def fingerprint(dispatcher: Any) -> str:
    """Hash a compiled function, all kernels that it calls, directly or not, and the constants that they read.

    Values count as they are now: a constant that was set after its import has changed.
    """
    digest = hashlib.sha256(_compiler_sources())
    for text in sorted(_parts(dispatcher)):
        digest.update(text.encode())
    return digest.hexdigest()[:16]


@cache
def _compiler_sources() -> bytes:
    """Hash the room that compiles: an edit there can change every kernel, and `like` and `record_array` are its own."""
    sources = [path.read_bytes() for path in sorted(COMPILER.glob("*.py")) if path.name not in _BESIDE]
    return hashlib.sha256(b"".join(sources)).digest()


def _parts(dispatcher: Any) -> Iterator[str]:
    """Describe each function that is compiled, in any order."""
    seen, pending = {dispatcher.py_func}, [dispatcher]
    while pending:
        current = pending.pop()
        function = current.py_func
        yield f"{function.__module__}.{function.__qualname__} {_options(current)} {_own(function)}"
        for name, value in _used(function):
            if isinstance(value, Dispatcher):
                if value.py_func not in seen:
                    seen.add(value.py_func)
                    pending.append(value)
            else:
                yield f"{function.__module__}.{function.__qualname__} {name} {_described(value)}"


def _options(dispatcher: Any) -> str:
    """How a function is compiled: inlined or not, by which compiler."""
    options = sorted(f"{key}={value}" for key, value in dispatcher.targetoptions.items())
    return f"{dispatcher._compiler.pipeline_class.__name__} {options}"


def _own(function: Any) -> str:
    """The code of a function and its default values, without its docstring and its place in the file."""
    return (
        f"{[_code(code, function.__doc__) for code in _codes(function.__code__)]} {_described(function.__defaults__)}"
    )


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of the comprehensions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _code(code: CodeType, docstring: str | None) -> tuple[Any, ...]:
    constants = [_described(c) for c in code.co_consts if not isinstance(c, CodeType) and (c is None or c != docstring)]
    return code.co_argcount, code.co_varnames, code.co_names, constants, code.co_code.hex()


def _used(function: Any) -> Iterator[tuple[str, Any]]:
    """The values outside a function that its code may name, and their names: globals, attributes of modules, and
    variables of the function around it.
    """
    names = sorted({name for code in _codes(function.__code__) for name in code.co_names})
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in _FOREIGN:
            yield from ((f"{name}.{each}", getattr(value, each)) for each in names if hasattr(value, each))
        elif name in function.__globals__:
            yield name, value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents


def _described(value: Any) -> str:
    """A value as text that differs if compiled code would. No addresses: they differ between processes."""
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(map(_described, value))})"
    if isinstance(value, frozenset):
        return f"frozenset({sorted(map(_described, value))})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype.descr} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, Record):
        return f"{value.dtype(np.float32).descr} {value.dtype(np.float64).descr}"
    if isinstance(value, FunctionType):  # Of use to a kernel only where `overload` says what it is, in this room.
        return f"{value.__qualname__} {[_described(cell.cell_contents) for cell in value.__closure__ or ()]}"
    if isinstance(value, type):
        defaults = getattr(value, "_field_defaults", {})
        return f"{value.__qualname__} {getattr(value, '_fields', ())} {[_described(v) for v in defaults.values()]}"
    if isinstance(value, ModuleType):
        return value.__name__
    return f"{type(value).__name__} " + re.sub(r"0x[0-9a-f]+", "", repr(value))
