"""Scalar kernels on tuples: `vec`, `quat`, `xform`, `spring`. Short verbs in noun modules: `quat.mul(a, b)`."""
