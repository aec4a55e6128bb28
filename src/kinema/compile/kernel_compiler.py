"""How kernels are compiled: numba's compiler, without the work that kernels do not need.

numba translates each function into machine code and optimises it once more in every caller. Only compiled code calls a
kernel, so here a kernel stops at LLVM's intermediate code; an entry (a `batch`) links every kernel it needs once, and
LLVM optimises the whole. numba's passes for closures, exceptions and array expressions are left out: kernels use none
of these. Kernels take and return whole values, and their callers do not check for exceptions: that leaves half of the
code that numba would hand to LLVM.
"""

from __future__ import annotations

import gc
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding, ir
from numba import _dynfunc, config
from numba.core import cgutils, typed_passes, types, untyped_passes
from numba.core import ir as numba_ir
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.errors import UnsupportedError
from numba.core.interpreter import Interpreter
from numba.core.ir_utils import build_definitions
from numba.core.lowering import Lower
from numba.core.rewrites import rewrite_registry
from numba.core.ssa import reconstruct_ssa
from numba.core.transforms import canonicalize_cfg

from kinema.compile.kernel_calls import EntryContext, KernelContext, call_of, declare
from kinema.compile.kernel_typing import infer_types, is_like, memory_of

# --- what LLVM gets ---------------------------------------------------------------------------------------------------


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """What the libraries of kernels and entries share."""

    calls_in_loops = False
    """Whether the function calls kernels from a loop."""
    _linking_libraries: list[Any]

    def _optimize_functions(self, ll_module: Any) -> None:
        """Simplify the code of a kernel, which is not yet linked with those that it calls.

        A loop with calls stays a loop: before its kernels are linked it looks small, and once unrolled it could not
        become vector code. Short loops without calls are unrolled, so that a loop around them can.
        """
        ll_module.data_layout = self._codegen._data_layout
        options = binding.create_pipeline_tuning_options(int(config.OPT))
        options.loop_vectorization = options.slp_vectorization = False
        options.loop_unrolling = not self.calls_in_loops
        builder = binding.create_pass_builder(self._codegen._tm, options)
        passes = builder.getFunctionPassManager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def add_linking_library(self, library: Any) -> None:
        self._linking_libraries.append(library)


class KernelLibrary(_Library):
    """The intermediate code of one kernel, and the libraries of the functions that it calls."""

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


class EntryLibrary(_Library):
    """The code of an entry and of every kernel that it needs."""

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
        state.func_ir = KernelInterpreter(state.func_id).interpret(state.bc)
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


class KernelInterpreter(Interpreter):  # type: ignore[misc]
    """From bytecode to numba's intermediate code. Kernels have no `with` and no dictionaries to be rewritten."""

    def post_process(self, peepholes: Any, func_ir: Any) -> Any:
        return super().post_process([step for step in peepholes if step.__name__ not in _LEFT_OUT], func_ir)


_LEFT_OUT = {"peep_hole_split_at_pop_block", "peep_hole_delete_with_exit", "peep_hole_fuse_dict_add_updates"}


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


# --- lowering ---------------------------------------------------------------------------------------------------------


class KernelLower(Lower):  # type: ignore[misc]
    """From typed code to LLVM's, with operators as the type inference has found them: numba searches them again."""

    def setup_function(self, fndesc: Any) -> None:
        if isinstance(self.context, KernelContext):
            self.function = declare(self.context, self.module, fndesc)
            self.entry_block = self.function.append_basic_block("entry")
            self.builder = ir.IRBuilder(self.entry_block)
            self.call_helper = self.call_conv.init_call_helper(self.builder)
        else:
            super().setup_function(fndesc)

    def lower_block(self, block: Any) -> None:
        self.pre_block(block)
        for statement in block.body:
            self.loc = statement.loc
            self.lower_inst(statement)
        self.post_block(block)

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        return cgutils.alloca_once(self.builder, lltype, name=name)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if self.context.enable_nrt:
            super().storevar(value, name, argidx)
        elif name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.varmap[name])

    def _lower_call_normal(self, fnty: Any, expr: Any, signature: Any) -> Any:
        if not is_like(fnty):
            return super()._lower_call_normal(fnty, expr, signature)
        value = expr.args[1].name
        return self.context.cast(self.builder, self.loadvar(value), self.typeof(value), signature.return_type)

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


def _run_lowering(state: Any, kind: type[EntryContext]) -> None:
    context = state.targetctx
    state.library.calls_in_loops = _calls_in_loops(state)
    if not state.flags.nrt:
        state.targetctx = kind.based_on(context)
    _run(KernelLowering, state)
    state.targetctx = context


def _calls_in_loops(state: Any) -> bool:
    """Whether a function calls kernels from a loop."""
    blocks = state.func_ir.blocks
    loops = compute_cfg_from_blocks(blocks).loops().values()
    inside = {label for loop in loops for label in loop.body}
    calls = (call for label in inside for call in blocks[label].find_exprs("call"))
    return any(isinstance(state.typemap[call.func.name], types.Dispatcher) for call in calls)


@register_pass(mutates_CFG=False, analysis_only=False)
class KernelBackEnd(_Pass):
    """From typed code to a `KernelLibrary`."""

    _name = "kinema_kernel"

    def run(self, state: Any) -> None:
        if not state.flags.nrt:
            _refuse_exceptions(state)
        state.library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        _run_lowering(state, KernelContext)
        lowered = state["cr"]
        name = lowered.fndesc.qualname.split(".")[-1]
        # Calls find a function by this object. Its address is 0: Python cannot call it, with numba's passes neither.
        key = _dynfunc.make_function(lowered.fndesc.lookup_module(), name, "", 0, lowered.env, (state.library,))
        if state.flags.nrt:
            state.targetctx.insert_user_function(key, lowered.fndesc, [state.library])
        else:
            call = call_of(lowered.fndesc, state.library)
            state.targetctx._defns[key].append(call, call.signature)
        state["cr"] = lowered._replace(cfunc=key)
        _run(typed_passes.NoPythonBackend, state)


def _refuse_exceptions(state: Any) -> None:
    """Raise UnsupportedError for a kernel that raises: its callers do not check for exceptions."""
    for block in state.func_ir.blocks.values():
        if isinstance(block.terminator, _RAISES):
            raise UnsupportedError("a kernel cannot raise", block.terminator.loc)


_RAISES = numba_ir.StaticRaise, numba_ir.DynamicRaise, numba_ir.StaticTryRaise, numba_ir.DynamicTryRaise


@register_pass(mutates_CFG=False, analysis_only=False)
class EntryBackEnd(_Pass):
    """From typed code to machine code."""

    _name = "kinema_entry"
    library: type[EntryLibrary] = EntryLibrary

    def run(self, state: Any) -> None:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        _run_lowering(state, EntryContext)
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
