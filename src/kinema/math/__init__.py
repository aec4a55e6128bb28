"""Scalar kernels on tuples: `vec`, `quat`, `xform`, `spring`, `chance`; and `rows`, which loads and stores them.

Functions are short verbs in noun modules: `quat.mul(a, b)`. `arrays` does the same for NumPy arrays.
"""
