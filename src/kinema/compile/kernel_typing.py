"""Type inference of kernels: numba's rules, applied no more often than necessary.

numba applies the rules of all statements of a function again and again until no type changes, twice at least, and
searches all implementations of an operator each time it occurs. Here a statement is looked at again only when the type
of a variable that it reads has changed, and what was found for an operator is remembered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from numba.core import errors, ir, types, typing
from numba.core.typeinfer import TypeInferer

from kinema.compile.literals import like, precision_of


def infer_types(state: Any) -> None:
    """Find the types of all variables and calls of a function, in the state of numba's compiler."""
    context, code = memory_of(state.typingctx, bool(state.flags.nrt)), state.func_ir
    warnings = errors.WarningsFixer(errors.NumbaWarning)  # type: ignore[attr-defined]
    inferer = KernelInferer(context, code, warnings)
    with context.callstack.register(state.targetctx.target, inferer, code.func_id, state.args), warnings:
        for index, (name, kind) in enumerate(zip(code.arg_names, state.args, strict=True)):
            inferer.seed_argument(name, index, kind)
        inferer.build_constraint()
        inferer.propagate()
        state.typemap, state.return_type, state.calltypes = inferer.unify()


class KernelInferer(TypeInferer):  # type: ignore[misc]
    """The type inference of one function."""

    def __init__(self, context: Any, code: Any, warnings: Any) -> None:
        super().__init__(context, code, warnings)
        self._readers: defaultdict[str, list[int]] = defaultdict(list)
        """By variable: the numbers of the constraints that read it."""
        self._due: set[int] = set()
        """Numbers of the constraints that read a variable whose type has changed since they were applied."""

    def build_constraint(self) -> None:
        rules = self.constraints.constraints
        for block in self.blocks.values():
            for statement in block.body:
                first = len(rules)
                self.constrain_statement(statement)
                new = range(first, len(rules))
                if new:
                    for name in _read_by(statement):
                        self._readers[name].extend(new)

    def propagate(self, raise_errors: bool = True) -> Any:
        """Apply all constraints in their order, then those that are due, until none is.

        If a constraint cannot be met, numba's own loop goes on, and describes the problem.
        """
        rules = self.constraints.constraints
        now: Any = range(len(rules))
        unmet = set()
        with self.warnings.catch_warnings():
            while now:
                for index in now:
                    self._due.discard(index)
                    try:
                        rules[index](self)
                        unmet.discard(index)
                    except (errors.TypingError, errors.ForceLiteralArg):
                        unmet.add(index)
                now = sorted(self._due)
        return super().propagate(raise_errors) if unmet else None

    def add_type(self, var: str, tp: Any, loc: Any, unless_locked: bool = False) -> None:
        before = self.typevars[var].type
        super().add_type(var, tp, loc, unless_locked)
        self._note_change(var, before)

    def copy_type(self, src_var: str, dest_var: str, loc: Any) -> None:
        before = self.typevars[dest_var].type
        super().copy_type(src_var, dest_var, loc)
        self._note_change(dest_var, before)

    def _note_change(self, name: str, before: Any) -> None:
        now = self.typevars[name].type
        if now is not before and now != before:
            self._due.update(self._readers[name])


def _read_by(statement: Any) -> set[str]:
    """The names of the variables that the type of a statement depends on: all but the one it assigns to."""
    source = statement.value if isinstance(statement, ir.Assign) else statement
    return {source.name} if isinstance(source, ir.Var) else {v.name for v in statement._rec_list_vars(source)}


# --- operators --------------------------------------------------------------------------------------------------------


class TypingMemory:
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
        if is_like(func) and len(args) == 2:
            return typing.signature(precision_of(args[0]), *args)
        known_kind = type(func) in (types.Function, types.Dispatcher) or not isinstance(func, types.Type)
        if kws or not known_kind:
            return self._context.resolve_function_type(func, args, kws)
        if type(func) is types.Dispatcher:
            # A kernel is compiled once for all whole numbers, not for each constant that is passed to it.
            args = tuple([kind.literal_type if isinstance(kind, types.IntegerLiteral) else kind for kind in args])
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


def is_like(func: Any) -> bool:
    """Whether a function type is that of `like`, which is a conversion and needs no call."""
    return type(func) is types.Function and func.typing_key is like


_memories: dict[Any, TypingMemory] = {}
"""By context, and whether the code may allocate: built-in functions are compiled differently if it does."""


def memory_of(context: Any, allocates: bool) -> TypingMemory:
    """The memory of a typing context, for code that may allocate or not."""
    key = context, allocates
    if key not in _memories:
        _memories[key] = TypingMemory(context)
    return _memories[key]
