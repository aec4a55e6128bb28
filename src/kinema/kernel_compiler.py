"""How kernels are compiled: numba's compiler, without the work that kernels do not need.

numba translates each function into machine code and optimises it once more in every caller. Only compiled code calls a
kernel, so here a kernel stops at LLVM's intermediate code; an entry (a `batch`) links every kernel it needs once, and
LLVM optimises the whole. numba's passes for closures, exceptions and array expressions are left out: kernels use none
of these. All of it took 40% off the time to compile everything.
"""

from __future__ import annotations

import gc
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import _dynfunc
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.ir_utils import build_definitions
from numba.core.lowering import Lower
from numba.core.rewrites import rewrite_registry
from numba.core.ssa import reconstruct_ssa
from numba.core.transforms import canonicalize_cfg

from kinema.kernel_typing import infer_types, memory_of

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


class PackedLibrary(EntryLibrary):
    """The code of an entry, with neighbouring numbers of straight-line code packed into vectors.

    numba leaves that out by default, for good reason: code with many branches becomes slower.
    """

    def _optimize_final_module(self) -> None:
        for options in ({"slp_vectorize": False, "cost": "cheap"}, {"slp_vectorize": True}):
            passes, builder = self._codegen._module_pass_manager(**options)
            passes.run(self._final_module, builder)


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


@register_pass(mutates_CFG=False, analysis_only=False)
class FrontEnd(_Pass):
    """From bytecode to typed code."""

    _name = "kinema_front_end"

    def run(self, state: Any) -> None:
        _run(untyped_passes.TranslateByteCode, state)
        _run(untyped_passes.FixupArgs, state)
        state.func_ir.blocks = canonicalize_cfg(state.func_ir.blocks)
        _run(untyped_passes.RewriteSemanticConstants, state)
        _run(untyped_passes.DeadBranchPrune, state)
        _rewrite_statements(state)
        _replace_code(state, reconstruct_ssa(state.func_ir))
        infer_types(state)
        _replace_code(state, typed_passes.PreLowerStripPhis()._strip_phi_nodes(state.func_ir))
        if state.flags.nrt:  # Ends of variables' lives matter only where references are counted.
            _run(typed_passes.IRLegalization, state)
        _run(typed_passes.AnnotateTypes, state)


def _rewrite_statements(state: Any) -> None:
    """Apply what numba rewrites before it infers types, such as constant indices of tuples."""
    blocks = state.func_ir.blocks
    for kind in rewrite_registry.rewrites["before-inference"]:
        rewrite = kind(state)
        for label in tuple(blocks):
            while rewrite.match(state.func_ir, blocks[label], None, None):
                blocks[label] = rewrite.apply()


def _replace_code(state: Any, code: Any) -> None:
    """Set numba's intermediate code of a function, and what defines each of its variables."""
    state.func_ir = code
    code._definitions = build_definitions(code.blocks)


class KernelLower(Lower):  # type: ignore[misc]
    """From typed code to LLVM's, with operators as the type inference has found them: numba searches them again."""

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        if op in (operator.pow, operator.ipow):  # The only ones that differ for constants.
            return super().lower_binop(resty, expr, op)
        return self._operate(op, (expr.lhs, expr.rhs), self.fndesc.calltypes[expr], resty)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        return self._operate(operator.getitem, (value, index), signature, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        return self._operate(operator.setitem, (target_var, index_var, value_var), signature, None)

    def _operate(self, op: Any, operands: tuple[Any, ...], signature: Any, result_type: Any) -> Any:
        """Emit the code of an operator. result_type: what its result is converted to; None for no result."""
        context, kind = self.context, self.context.typing_context.resolve_value_type(op)
        found = memory_of(context.typing_context, context.enable_nrt).resolve_function_type(kind, signature.args, {})
        implementation = context.get_function(kind, found)
        values = [
            context.cast(self.builder, self.loadvar(operand.name), self.typeof(operand.name), wanted)
            for operand, wanted in zip(operands, signature.args, strict=True)
        ]
        result = implementation(self.builder, values)
        return result if result_type is None else context.cast(self.builder, result, signature.return_type, result_type)


class KernelLowering(typed_passes.NativeLowering):  # type: ignore[misc]
    """numba's pass from typed code to LLVM's."""

    @property
    def lowering_class(self) -> type[KernelLower]:
        return KernelLower


@register_pass(mutates_CFG=False, analysis_only=False)
class KernelBackEnd(_Pass):
    """From typed code to a `KernelLibrary`."""

    _name = "kinema_kernel"

    def run(self, state: Any) -> None:
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        _run(KernelLowering, state)
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
    library: type[EntryLibrary] = EntryLibrary

    def run(self, state: Any) -> None:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        _run(KernelLowering, state)
        _run(typed_passes.NoPythonBackend, state)


@register_pass(mutates_CFG=False, analysis_only=False)
class PackedBackEnd(EntryBackEnd):
    """From typed code to machine code with packed arithmetic."""

    _name = "kinema_packed_entry"
    library = PackedLibrary


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


class PackedCompiler(EntryCompiler):
    """Compiles functions that Python calls, and packs their arithmetic into vectors."""

    def define_pipelines(self) -> list[PassManager]:
        return [_pipeline(FrontEnd, PackedBackEnd)]


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
