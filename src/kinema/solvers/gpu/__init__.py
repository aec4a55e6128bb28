"""The solvers on a GPU."""
