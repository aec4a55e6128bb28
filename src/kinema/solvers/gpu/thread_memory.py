"""A thread's own memory, left as it is: `cuda.local.array` fills all of it with zeros first.

What a thread of a large kernel keeps does not fit into the caches, so these zeros would go to the GPU's memory: a
quarter of all that the kernel moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinema.solvers.gpu.cuda import SIMULATED

GARBAGE = 0xA5A5_A5A5_A5A5_A5A5
"""What the simulator's memory holds at first: reading it before writing it shows in tests."""


def _simulated_words(count: int) -> Any:
    return np.full(count, GARBAGE, np.uint64)


def _compiled_words() -> Any:
    """The intrinsic that reserves words of a thread's own memory."""
    from llvmlite import ir
    from numba.cuda import types
    from numba.cuda.extending import intrinsic

    @intrinsic
    def own_words(typing_context: Any, count: Any) -> Any:
        if not isinstance(count, types.IntegerLiteral):
            return None  # numba asks again with the constant itself.
        words = types.Array(types.uint64, 1, "C")
        size = count.literal_value

        def reserve(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            with builder.goto_entry_block():
                place = builder.alloca(ir.ArrayType(ir.IntType(64), size))
                place.align = 16
            array = context.make_array(words)(context, builder)
            one, number = (context.get_constant(types.intp, n) for n in (8, size))
            data = builder.bitcast(place, array.data.type)
            context.populate_array(array, data=data, shape=[number], strides=[one], itemsize=one, meminfo=None)
            return array._getvalue()

        return words(count), reserve

    return own_words


own_words: Any = _simulated_words if SIMULATED else _compiled_words()
"""In a kernel: so many words of 64 bits of the thread's own memory, whatever they hold. `count` is a constant. View
them as the record that they are to be."""
