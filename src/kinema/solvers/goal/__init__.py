"""`solve`: goals for branches of a skeleton, by the solver that fits."""
