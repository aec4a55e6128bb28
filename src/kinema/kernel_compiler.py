"""How kernels are compiled: numba's compiler, without the work that kernels do not need.

numba translates each function into machine code and optimises it once more in every caller. Only compiled code calls a
kernel, so here a kernel stops at LLVM's intermediate code; an entry (a `batch`) links every kernel it needs once, and
LLVM optimises the whole. numba's passes for closures, exceptions and array expressions are left out: kernels use none
of these. All of it took 40% off the time to compile everything.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba import _dynfunc
from numba.core import typed_passes, types, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass

# --- what LLVM gets ---------------------------------------------------------------------------------------------------


class KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The intermediate code of one kernel, and the libraries of the functions that it calls."""

    _linking_libraries: list[Any]

    def add_linking_library(self, library: Any) -> None:
        self._linking_libraries.append(library)

    def finalize(self) -> None:
        self._finalized = True

    def module(self) -> Any:
        """The code of this kernel alone."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        """The code of this kernel and of all that it calls, for functions that numba's own compiler compiles."""
        whole = self.module().clone()
        for library in _needed(self._linking_libraries):
            whole.link_in(_module(library), preserve=True)
        return whole


class EntryLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of an entry and of every kernel that it needs."""

    _linking_libraries: list[Any]

    def add_linking_library(self, library: Any) -> None:
        self._linking_libraries.append(library)

    def finalize(self) -> None:
        for library in _needed(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(_module(library), preserve=True)
        self._linking_libraries = []
        super().finalize()


def _needed(libraries: list[Any]) -> list[Any]:
    """Libraries and all that they need, each once."""
    needed = dict.fromkeys(libraries)
    pending = list(needed)
    while pending:
        library = pending.pop()
        if isinstance(library, KernelLibrary):
            new = [called for called in library._linking_libraries if called not in needed]
            needed.update(dict.fromkeys(new))
            pending.extend(new)
    return list(needed)


def _module(library: Any) -> Any:
    """The code of one library, to be copied."""
    library._ensure_finalized()
    return library.module() if isinstance(library, KernelLibrary) else library._get_module_for_linking()


# --- passes -----------------------------------------------------------------------------------------------------------


class _Pass(LoweringPass):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        self.run(state)
        return False

    def run(self, state: Any) -> None:
        raise NotImplementedError


def _run(kind: Any, state: Any) -> None:
    """Run one of numba's passes, without what numba records, checks and repeats after each."""
    step = kind()
    step.analysis = {kind: None}
    step.run_pass(state)


class _TypingMemory:
    """numba's typing context, which remembers what a built-in function returns for which argument types.

    numba searches all implementations of an operator each time it occurs, a fifth of the time to compile a kernel.
    """

    def __init__(self, context: Any) -> None:
        self._context = context
        self._known: dict[Any, Any] = {}
        self._implementations: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        built_in = type(func) is types.Function or not isinstance(func, types.Type)
        if kws or not built_in:
            return self._context.resolve_function_type(func, args, kws)
        signature = self._remember((func, *args), lambda: self._context.resolve_function_type(func, args, kws))
        self._choose_implementation((func, *args), func, signature)
        return signature

    def _choose_implementation(self, key: Any, func: Any, signature: Any) -> None:
        """Let the function's type refer to the implementation that was found for this context.

        The type is shared with other contexts: a kernel that is also compiled for a GPU refers to that one since.
        """
        kind: Any = func if isinstance(func, types.Type) else self._context._lookup_global(func)
        if signature is not None and signature.args in getattr(kind, "_impl_keys", {}):
            found = self._implementations.setdefault(key, kind._impl_keys[signature.args])
            kind._impl_keys[signature.args] = found

    def resolve_setitem(self, target: Any, index: Any, value: Any) -> Any:
        key = "setitem", target, index, value
        return self._remember(key, lambda: self._context.resolve_setitem(target, index, value))

    def resolve_getattr(self, typ: Any, attr: str) -> Any:
        return self._remember(("getattr", typ, attr), lambda: self._context.resolve_getattr(typ, attr))

    def _remember(self, key: Any, resolve: Callable[[], Any]) -> Any:
        """What was resolved before for this key. A failure is not remembered."""
        found = self._known.get(key)
        if found is None:
            found = resolve()
            if found is not None:
                self._known[key] = found
        return found


_memories: dict[Any, _TypingMemory] = {}
"""By context, and whether the code may allocate: built-in functions are compiled differently if it does."""


@register_pass(mutates_CFG=False, analysis_only=False)
class FrontEnd(_Pass):
    """From bytecode to typed code."""

    _name = "kinema_front_end"

    def run(self, state: Any) -> None:
        for step in (
            untyped_passes.TranslateByteCode,
            untyped_passes.FixupArgs,
            untyped_passes.IRProcessing,
            untyped_passes.RewriteSemanticConstants,
            untyped_passes.DeadBranchPrune,
            untyped_passes.GenericRewrites,
            untyped_passes.ReconstructSSA,
        ):
            _run(step, state)
        context = state.typingctx
        key = context, bool(state.flags.nrt)
        if key not in _memories:
            _memories[key] = _TypingMemory(context)
        state.typingctx = _memories[key]
        try:
            _run(typed_passes.NopythonTypeInference, state)
        finally:
            state.typingctx = context
        _run(typed_passes.PreLowerStripPhis, state)
        _run(typed_passes.IRLegalization, state)
        _run(typed_passes.AnnotateTypes, state)


@register_pass(mutates_CFG=False, analysis_only=False)
class KernelBackEnd(_Pass):
    """From typed code to a `KernelLibrary`."""

    _name = "kinema_kernel"

    def run(self, state: Any) -> None:
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        _run(typed_passes.NativeLowering, state)
        lowered = state["cr"]
        name = lowered.fndesc.qualname.split(".")[-1]
        # Calls find a function by this object. Its address is 0: Python cannot call it, with numba's passes neither.
        key = _dynfunc.make_function(lowered.fndesc.lookup_module(), name, "", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=key)
        _run(typed_passes.NoPythonBackend, state)


@register_pass(mutates_CFG=False, analysis_only=False)
class EntryBackEnd(_Pass):
    """From typed code to machine code."""

    _name = "kinema_entry"

    def run(self, state: Any) -> None:
        state.library = EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        _run(typed_passes.NativeLowering, state)
        _run(typed_passes.NoPythonBackend, state)


# --- compilers --------------------------------------------------------------------------------------------------------


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles functions that only compiled code calls."""

    def define_pipelines(self) -> list[PassManager]:
        return [_pipeline(FrontEnd, KernelBackEnd)]


class EntryCompiler(CompilerBase):  # type: ignore[misc]
    """Compiles functions that Python calls."""

    def define_pipelines(self) -> list[PassManager]:
        return [_pipeline(FrontEnd, EntryBackEnd)]

    def compile_extra(self, func: Any) -> Any:
        with _without_garbage_collection():
            return super().compile_extra(func)


def _pipeline(*steps: Any) -> PassManager:
    passes = PassManager("kinema")
    for step in steps:
        passes.add_pass(step, step.__doc__)
    passes.finalize()
    return passes


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """The compiler makes many long-lived objects, and Python would search them for garbage again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
