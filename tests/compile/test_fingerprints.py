"""What an edit recompiles: the functions that use what was edited, and no others."""

import ast
import subprocess
import sys
import textwrap
from types import ModuleType

import numpy as np
import pytest
from numba import config, njit
from numba.core.dispatcher import Dispatcher

from kinema.compile import fingerprints
from kinema.compile.fingerprints import fingerprint
from kinema.compile.kernel_cache import PACKAGE, KernelCache
from kinema.math import quat
from kinema.solvers.chain import fabrik
from kinema.stages.feet import character_step, clip_landings, foot_hold
from tests.compiled import kept_loops

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

SOURCE = '''
from typing import NamedTuple
import math
import numpy as np

DEEP = 0.5
UNUSED = 1.0
PAIR = (1.0, 2)
TABLE = np.array((1.0, 2.0))


class Answer(NamedTuple):
    """Two numbers."""
    first: float
    second: float = 0.0


@kernel
def inner(x):
    """Multiply."""
    return math.sqrt(x * DEEP) + PAIR[0]


@kernel
def outer(x, scale=2.0):
    return Answer(inner(x), TABLE[1]).first * scale


@entry
def loop(values):
    """A loop."""
    for i in range(values.size):
        values[i] = outer(values[i])
'''


def compiled(source):
    """The entry of a module with this source."""
    options = {"kernel": njit(forceinline=True), "entry": njit, "routine": njit}
    namespace = {"__name__": "tests.sample", **options}
    exec(compile(source, "sample.py", "exec"), namespace)
    return namespace["loop"]


EDITS = {
    "a constant that a kernel reads": ("DEEP = 0.5", "DEEP = 0.6"),
    "the tuple that a kernel reads": ("PAIR = (1.0, 2)", "PAIR = (1.1, 2)"),
    "the array that a kernel reads": ("np.array((1.0, 2.0))", "np.array((1.0, 2.5))"),
    "the code of a kernel": ("x * DEEP", "x + DEEP"),
    "a literal": ("TABLE[1]", "TABLE[0]"),
    "a default value": ("scale=2.0", "scale=3.0"),
    "the default value of a field": ("second: float = 0.0", "second: float = 1.0"),
    "the order of fields": ("    first: float\n    second: float = 0.0", "    second: float\n    first: float = 0.0"),
    "how a kernel is compiled": ("@kernel\ndef inner", "@routine\ndef inner"),
    "the type of a constant": ("DEEP = 0.5", "DEEP = np.float32(0.5)"),
}
OTHER = {
    "a docstring": ('"""Multiply."""', '"""Multiply two numbers."""'),
    "a comment": ("import math", "import math  # for the root\n\n"),
    "a constant that no kernel reads": ("UNUSED = 1.0", "UNUSED = 2.0"),
    "a function of Python": ("class Answer", "def public():\n    return loop\n\n\nclass Answer"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_what_is_compiled_changes_the_hash(edit):
    before, after = EDITS[edit]
    assert before in SOURCE
    assert fingerprint(compiled(SOURCE)) != fingerprint(compiled(SOURCE.replace(before, after)))


@pytest.mark.parametrize("edit", OTHER)
def test_any_other_edit_does_not(edit):
    before, after = OTHER[edit]
    assert before in SOURCE
    assert fingerprint(compiled(SOURCE)) == fingerprint(compiled(SOURCE.replace(before, after)))


def test_a_kernel_in_another_module_counts(monkeypatch):
    """`quat.mul` is reached by its module's name."""
    before = fingerprint(fabrik._FABRIK.solve_few), fingerprint(character_step.step_characters)
    monkeypatch.setattr(quat, "mul", njit(lambda a, b: a))
    assert fingerprint(character_step.step_characters) != before[1]


def test_a_constant_of_a_foot_recompiles_the_step_of_feet_alone(monkeypatch):
    entries = {character_step.step_characters, *(entry for entry in vars(clip_landings).values() if is_entry(entry))}
    before = {entry: fingerprint(entry) for entry in entries}
    monkeypatch.setattr(foot_hold, "SLOW_POINT", foot_hold.SLOW_POINT * 2)
    assert [entry for entry in entries if fingerprint(entry) != before[entry]] == [character_step.step_characters]


def test_an_edit_of_the_compiler_recompiles_everything(monkeypatch, tmp_path):
    before = fingerprint(character_step.step_characters)
    (tmp_path / "jit.py").write_text("# edited")
    monkeypatch.setattr(fingerprints, "COMPILER", tmp_path)
    monkeypatch.setattr(fingerprints, "_compiler_sources", fingerprints._compiler_sources.__wrapped__)
    assert fingerprint(character_step.step_characters) != before


def is_entry(value):
    return isinstance(value, Dispatcher) and isinstance(value._cache, KernelCache)


KNOWN = (int, float, bool, str, type(None), np.generic, np.ndarray, ModuleType, fingerprints.Record)


def test_everything_that_kernels_use_is_of_a_kind_that_is_compared_by_its_value():
    """Another kind of global would be compared by its `repr`, which need not say all that it holds."""
    pending, seen = kept_loops(), set()
    while pending:
        function = pending.pop().py_func
        for name, value in fingerprints._used(function):
            values = value if isinstance(value, (tuple, list, frozenset)) else (value,)
            for each in values:
                if isinstance(each, Dispatcher) and each not in seen:
                    seen.add(each)
                    pending.append(each)
                assert isinstance(each, KNOWN) or callable(each), (function.__module__, name, type(each))
    assert len(seen) > 300


def test_only_the_compiler_room_says_how_functions_are_compiled():
    """A function with an `overload` elsewhere could change without its users' hashes. What CUDA kernels alone use may:
    no compiled CUDA kernel is kept.
    """
    for path in PACKAGE.rglob("*.py"):
        if path.parent != fingerprints.COMPILER and path != PACKAGE / "solvers" / "gpu" / "thread_memory.py":
            imported = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
            names = {alias.name for node in imported if (node.module or "") != "typing" for alias in node.names}
            assert not names & {"overload", "intrinsic", "register_jitable"}, path


def test_the_hash_is_that_of_any_process():
    """Addresses and the order of sets differ between processes; a wheel's hashes are made in another one."""
    code = textwrap.dedent("""
        from kinema.compile.fingerprints import fingerprint
        from kinema.solvers.chain import fabrik
        from kinema.stages.feet import character_step
        print(fingerprint(fabrik._FABRIK.solve_few), fingerprint(character_step.step_characters))
    """)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert run.stdout.split() == [fingerprint(fabrik._FABRIK.solve_few), fingerprint(character_step.step_characters)]
