"""How compiled code calls kernels: by value, without checks for exceptions.

numba passes the parts of each argument one by one, returns results through memory, and checks the status of each call.
All of that is code for LLVM to remove again once kernels are inlined.
"""

from __future__ import annotations

import copy
import inspect
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.callconv import RETCODE_NONE, CPUCallConv, Status
from numba.core.cpu import CPUContext
from numba.core.errors import NumbaNotImplementedError

# --- conventions ------------------------------------------------------------------------------------------------------


class EntryConvention(CPUCallConv):  # type: ignore[misc]
    """numba's calling convention, without what follows a call that can fail: nothing that kernels call raises.

    numba checks the status of each call and passes it on: ten instructions and two branches for LLVM to remove.
    """

    def call_function(self, builder: Any, callee: Any, resty: Any, argtys: Any, args: Any, attrs: Any = None) -> Any:
        with builder.goto_entry_block():
            result = builder.alloca(self.get_return_type(resty).pointee)
        unused = callee.args[1].type
        flat = self._get_arg_packer(argtys).as_arguments(builder, args)
        code = builder.call(callee, [result, ir.Constant(unused, ir.Undefined), *flat])
        none = builder.icmp_signed("==", code, RETCODE_NONE)
        status = Status(code, _TRUE, none, _FALSE, _FALSE, _FALSE, _FALSE, ir.Constant(unused.pointee, ir.Undefined))
        return status, self.context.get_returned_value(builder, resty, builder.load(result))

    def return_status_propagate(self, builder: Any, status: Any) -> None:
        builder.unreachable()


_TRUE, _FALSE = ir.Constant(ir.IntType(1), 1), ir.Constant(ir.IntType(1), 0)


class KernelConvention(EntryConvention):
    """How kernels are called: arguments and results are values, whole tuples and arrays among them.

    numba passes the parts of each argument one by one and returns results through memory.
    """

    def decode_arguments(self, builder: Any, argtypes: Any, func: Any) -> Any:
        passed = iter(func.args)
        return [next(passed) if _is_passed(kind) else None for kind in argtypes]

    def return_value(self, builder: Any, retval: Any) -> None:
        builder.ret(retval)

    def return_user_exc(self, builder: Any, *exception: Any, **details: Any) -> None:
        """Return zeros. numba's code for slices and ranges refuses a step of zero, which kernels do not use."""
        builder.ret(ir.Constant(builder.function.function_type.return_type, None))


# --- contexts ---------------------------------------------------------------------------------------------------------


class EntryContext(CPUContext):  # type: ignore[misc]
    """numba's description of the CPU, for entries that do not allocate."""

    convention: type[EntryConvention] = EntryConvention

    @classmethod
    def based_on(cls, context: Any) -> Any:
        """Return a description like another, of this class."""
        same = copy.copy(context)
        same.__class__ = cls
        return same

    @property
    def call_conv(self) -> Any:
        return self.convention(self)

    def compile_subroutine(self, *arguments: Any, **options: Any) -> Any:
        """Compile a function of numba's own, with numba's conventions."""
        plain = copy.copy(self)
        plain.__class__ = CPUContext
        return plain.compile_subroutine(*arguments, **options)

    def get_arg_packer(self, fe_args: Any) -> Any:
        key = tuple(fe_args)
        found = _packers.get(key)
        if found is None:
            found = _packers[key] = super().get_arg_packer(fe_args)
        return found

    def declare_function(self, module: Any, fndesc: Any) -> Any:
        known = module.globals.get(fndesc.mangled_name)
        return super().declare_function(module, fndesc) if known is None else known

    def get_function(self, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        key = fn.get_impl_key(sig) if isinstance(fn, types.Callable) else fn
        try:
            found = self._defns[key].find(sig.as_function().args)
        except NumbaNotImplementedError:
            if key == "__array__":  # Asked for each array: only array-like classes have it.
                raise NotImplementedError(key) from None
            return super().get_function(fn, sig, _firstcall)
        return _Implementation(found, self, sig.as_function())

    def get_getattr(self, typ: Any, attr: str) -> Any:
        if not isinstance(typ, types.Record):
            return super().get_getattr(typ, attr)
        return self._getattrs[None].find((typ,))


_packers: dict[Any, Any] = {}
"""By argument types: how numba passes them."""


class _Implementation:
    """What emits the code of a function, with its context. numba inspects the signature of the emitter each time."""

    def __init__(self, emit: Any, context: Any, signature: Any) -> None:
        self._emit, self._context, self._signature = emit, context, signature
        takes_location = _takes_location.get(emit)
        if takes_location is None:
            takes_location = _takes_location[emit] = "loc" in inspect.signature(emit).parameters
        self._takes_location = takes_location

    def __call__(self, builder: Any, arguments: Any, loc: Any = None) -> Any:
        location = {"loc": loc} if self._takes_location else {}
        result = self._emit(self._context, builder, self._signature, arguments, **location)
        self._context.add_linking_libs(getattr(self._emit, "libs", ()))
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._emit, name)


_takes_location: dict[Any, bool] = {}
"""Whether an emitter takes the location of its call in the source."""


class KernelContext(EntryContext):
    """Describe the calls of kernels."""

    convention = KernelConvention


# --- calls ------------------------------------------------------------------------------------------------------------


def _is_passed(kind: Any) -> bool:
    """Whether an argument of this type is passed at all: a default value is part of its type."""
    return not isinstance(kind, types.Omitted)  # type: ignore[attr-defined]


def declare(context: Any, module: Any, kernel: Any) -> Any:
    """A kernel as a function of a module."""
    known = module.globals.get(kernel.mangled_name)
    if known is not None:
        return known
    arguments = [context.get_value_type(kind) for kind in kernel.argtypes if _is_passed(kind)]
    result = context.data_model_manager[kernel.restype].get_return_type()
    function = ir.Function(module, ir.FunctionType(result, arguments), kernel.mangled_name)
    if kernel.inline:
        function.attributes.add("alwaysinline")
    return function


def call_of(kernel: Any, library: Any) -> Any:
    """What numba runs to emit a call of a kernel."""

    def emit(context: Any, builder: Any, signature: Any, arguments: Any, loc: Any = None) -> Any:
        passed = [value for value, kind in zip(arguments, kernel.argtypes, strict=True) if _is_passed(kind)]
        result = builder.call(declare(context, builder.module, kernel), passed)
        return context.get_returned_value(builder, kernel.restype, result)

    emit.signature, emit.libs = kernel.argtypes, (library,)  # type: ignore[attr-defined]
    return emit
